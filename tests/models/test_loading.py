"""``load_model``: which form a name has, and one line for what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.models import load_model
from goldlabel.models.loading import FORMS


@pytest.mark.parametrize(
    "name", ["nothing-here", r"C:\models\esim", "C:/models/esim", "http://a.b#c", "a b:c", "f:", "hf", ""]
)
def test_what_is_no_model_is_told_the_five_forms(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(InputError, match=r"is no model|is not a run folder") as refused:
        load_model(name)
    if name:
        assert all(form in str(refused.value) for form in FORMS)


def test_a_name_that_has_to_be_trained_says_so() -> None:
    with pytest.raises(InputError, match="'esim' has to be trained first; run 'goldlabel train esim"):
        load_model("esim")


def test_a_file_that_is_missing_is_no_function_and_no_folder() -> None:
    with pytest.raises(InputError, match=r"gone/predictions.parquet: there is no such file"):
        load_model("gone/predictions.parquet")


def test_a_folder_is_a_run_even_where_its_name_looks_like_something_else(tmp_path: Path) -> None:
    (tmp_path / "hf:x").mkdir()
    with pytest.raises(InputError, match="is not a run folder"):
        load_model(tmp_path / "hf:x")
    with pytest.raises(InputError, match="has no option 'label_space'; it has none"):
        load_model(tmp_path / "hf:x", label_space="nli3")


def test_device_and_precision_are_checked_for_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="device 'gpu' is not known"):
        load_model("mine:f", device="gpu")
    with pytest.raises(InputError, match="precision 'fp8' is not known"):
        load_model("mine:f", precision="fp8")

"""What the models' own options allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from goldlabel.errors import InputError  # noqa: E402
from goldlabel.models import MODELS  # noqa: E402
from goldlabel.models.linear import Linear  # noqa: E402
from goldlabel.models.options import check_options  # noqa: E402
from goldlabel.models.pretrained import _options  # noqa: E402
from goldlabel.pairs.labels import NLI3  # noqa: E402
from goldlabel.train import train  # noqa: E402
from goldlabel.train.options import model_options  # noqa: E402
from tests.train.samples import with_dev  # noqa: E402


@pytest.mark.parametrize("name", list(MODELS))
def test_every_number_that_a_model_takes_has_its_limits(name: str) -> None:
    """A new model's options are refused at the door like all others', without a line of its own."""
    member = MODELS.get(name)
    function = _options if name == "hf" else member if member.fitted_by_trainer else member.fit
    for option, default in model_options(name).items():
        check_options(name, function, {option: default})
        for value in (-1, float("nan"), True) if isinstance(default, int | float) else ("no such word", 3):
            with pytest.raises(InputError, match=f"^{name}: {option} .* is not (a|one of) ") as refusal:
                check_options(name, function, {option: value})
            assert "\n" not in str(refusal.value)
        if isinstance(default, int):
            with pytest.raises(InputError, match="is not a whole number from"):
                check_options(name, function, {option: 2.5})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cbow", {"hidden": 0}, "cbow: hidden 0 is not a whole number from 1 on"),
        ("cbow", {"dropout": 2.0}, "cbow: dropout 2.0 is not a number from 0 on and below 1"),
        ("esim", {"dropout": 1.0}, "esim: dropout 1.0 is not a number from 0 on and below 1"),
        ("linear", {"regularisation": -1.0}, "linear: regularisation -1.0 is not a number above 0"),
        ("linear", {"regularisation": 0.0}, "linear: regularisation 0.0 is not a number above 0"),
        ("hom", {"options.epochs": 0}, "hom: epochs 0 is not a whole number from 1 on"),
        ("bilstm", {"pooling": "maxi"}, "bilstm: pooling 'maxi' is not one of mean, max"),
        ("diin", {"length": 7}, "diin: length 7 is not a whole number from 8 on"),
        ("decomposable-attention", {"spread": 0.0}, "spread 0.0 is not a number above 0"),
    ],
)
def test_values_that_are_not_allowed_are_refused_before_anything_is_written(
    name: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        train(name, with_dev(), tmp_path / "run", device="cpu", **options)
    assert not (tmp_path / "run").exists()


def test_fit_refuses_them_too() -> None:
    with pytest.raises(InputError, match="linear: regularisation 0 is not a number above 0"):
        Linear.fit(["It rains."], ["It snows."], ["neutral"], NLI3, regularisation=0)

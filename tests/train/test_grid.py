"""Grids of values to try."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch")

from goldlabel.errors import InputError
from goldlabel.models.options import parse_options
from goldlabel.train import TrainOptions, read_grid, shipped_grids
from goldlabel.train.grid import GRIDS, parse_grid, point_name, points
from goldlabel.train.options import change_options

PUBLISHED = {
    "adv": {"debias.alpha": [0.1, 0.2, 0.5, 1, 2], "debias.beta": [0.1, 0.2, 0.5, 1, 2]},
    "weighting": {"debias.smooth": [0.1, 0.01, 0.02, 0.001, 0]},
    "learned-mixin-h": {"debias.w": [1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001]},
}
"""Appendix D of the cross-dataset evaluation."""


def test_every_shipped_grid_is_known_here() -> None:
    assert set(shipped_grids()) == {*PUBLISHED, "esim"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_grids_have_exactly_the_published_values(name: str) -> None:
    assert yaml.safe_load((GRIDS / f"{name}.yaml").read_text()) == PUBLISHED[name]
    assert read_grid(name, "bilstm-siamese", name) == PUBLISHED[name]
    with pytest.raises(InputError, match=rf"grid {name}\.yaml: debias\.\w+ is an option of a debiasing method; pass"):
        read_grid(name, "bilstm-siamese")
    with pytest.raises(InputError, match=rf"grid {name}\.yaml: focal has no option '\w+'; .*allowed: aggregate, gamma"):
        read_grid(name, "bilstm-siamese", "focal")


def test_options_of_a_method_go_to_the_method() -> None:
    chosen = change_options(TrainOptions(debias="adv"), {"debias.alpha": 0.5, "epochs": 3, "hidden": 8})
    assert (chosen.debias_options, chosen.options, chosen.epochs) == ({"alpha": 0.5}, {"hidden": 8}, 3)
    grid = parse_grid({"bias": ["overlap", "pmi"]}, "cbow", "drift")
    assert [change_options(TrainOptions(debias="drift"), point).bias for point in points(grid)] == [
        ("overlap",),
        ("pmi",),
    ]


def test_the_grid_of_esim_can_be_trained() -> None:
    grid = read_grid("esim", "esim")
    assert grid == {"lr": [0.0002, 0.0004, 0.001], "dropout": [0.2, 0.35, 0.5]}
    assert len(points(grid)) == 9
    chosen = change_options(TrainOptions(seed=3), points(grid)[1])
    assert (chosen.lr, dict(chosen.options), chosen.seed) == (0.0002, {"dropout": 0.35}, 3)


def test_values_are_of_the_kind_of_their_option(tmp_path: Path) -> None:
    """YAML takes 1e-3 for a word."""
    path = tmp_path / "grid.yaml"
    path.write_text(
        "lr: [1e-3, 4e-4]\noptions.hidden: [200]\ntrain_vectors: [yes, no]\nreads: hypothesis\npatience: 3\n"
    )
    grid = read_grid(path, "cbow")
    assert grid["lr"] == [0.001, 0.0004]
    assert grid["options.hidden"] == [200]
    assert grid["train_vectors"] == [True, False]
    assert (grid["reads"], grid["patience"]) == (["hypothesis"], [3])
    assert len(points(grid)) == 4
    assert points(None) == [{}]


def test_points_have_readable_names() -> None:
    assert point_name({"lr": 0.001, "options.hidden": 200}) == "lr-0.001_hidden-200"
    assert (
        point_name({"vectors": "/data/glove 6B.txt", "train_vectors": True})
        == "vectors-glove-6B.txt_train_vectors-True"
    )


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({"lrr": [1]}, "training cbow has no option 'lrr'; did you mean 'lr'"),
        ({"options.hiden": [1]}, "has no option 'options.hiden'; did you mean 'hidden'"),
        ({"lr": ["fast"]}, "lr=fast is not a number"),
        ({"hidden": [1.5]}, "hidden=1.5 is not a whole number"),
        ({"train_vectors": ["perhaps"]}, "train_vectors=perhaps is neither yes nor no"),
        ({"lr": []}, "the values of lr are not a list of numbers or words"),
        ({"lr": [[1, 2]]}, "the values of lr are not a list"),
        ({"lr": [0.1, 0.1]}, "a value of lr is given twice"),
        ({"seed": [1, 2]}, "seed is not for grids; use --seeds"),
        ({"size": [10]}, "size is not for grids; use --sizes"),
        ({"options": [1]}, "options is not for grids; use options.NAME"),
        ({"debias_options": [1]}, "debias_options is not for grids; use debias.NAME"),
        (["lr"], "is not a mapping of options to lists of values"),
        ({}, "is not a mapping"),
        (None, "is not a mapping"),
    ],
)
def test_grids_that_cannot_be_tried(held: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_grid(held, "cbow")


def test_files_that_are_no_grids(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file and no grid 'esmi'; did you mean 'esim'"):
        read_grid("esmi", "esim")
    (tmp_path / "broken.yaml").write_text("lr: [1, 2\n")
    with pytest.raises(InputError, match=r"broken\.yaml: is not YAML"):
        read_grid(tmp_path / "broken.yaml", "esim")


def test_options_of_a_model_from_words() -> None:
    known = {"hidden": 300, "dropout": 0.1, "pooling": "mean", "gated": False, "path": None}
    given = {"hidden": "20", "dropout": "0", "pooling": "max", "gated": "yes", "path": "x"}
    assert parse_options(given, known, "bilstm") == {
        "hidden": 20, "dropout": 0.0, "pooling": "max", "gated": True, "path": "x"
    }  # fmt: skip
    with pytest.raises(InputError, match="bilstm has no option 'poling'; did you mean 'pooling'"):
        parse_options({"poling": "max"}, known, "bilstm")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": -1}, "seed -1 is not a whole number from 0 to"),
        ({"epochs": 0}, "epochs 0 is not a number from 1 on"),
        ({"batch_tokens": 0}, "batch-tokens 0 is not a number from 1 on"),
        ({"lr": 0.0}, "lr 0.0 is not above 0"),
        ({"clip": float("nan")}, "clip nan is not above 0"),
        ({"device": "gpu"}, "device 'gpu' is not known; .*allowed: auto, cpu, cuda"),
        ({"reads": "hypotheses"}, "did you mean 'hypothesis'"),
        ({"tokenizer": "word"}, "did you mean 'words'"),
        ({"debias": "drfit"}, "debias 'drfit' is not known; did you mean 'drift'"),
        ({"bias": ("audit",)}, "--bias is about a debiasing method; say with --debias METHOD which: adv, confidence"),
        ({"debias_options": {"alpha": 1}}, "--debias-set is about a debiasing method"),
        ({"debias": "adv", "fixed": True, "start": "x"}, "nothing is trained with --fixed; leave out --debias"),
    ],
)
def test_options_out_of_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TrainOptions(**changes)

"""Every network learns: 32 pairs by heart, through the trainer, with its own optimiser.

Layers are small, and so that few steps are enough, nothing is dropped out and the learning rate is high and stays.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

import goldlabel as gl  # noqa: E402
from goldlabel.models import MODELS  # noqa: E402
from goldlabel.models.network import Network  # noqa: E402
from goldlabel.models.options import own_options  # noqa: E402
from goldlabel.pairs import Pairs  # noqa: E402
from goldlabel.sources.fragments import fragment_pairs  # noqa: E402
from goldlabel.train import train  # noqa: E402
from goldlabel.train.trainer import Interrupted, Trainer  # noqa: E402
from tests.train.samples import weights, write_vectors  # noqa: E402

NETWORKS = sorted(name for name in MODELS if issubclass(MODELS.get(name), Network))
SMALL: dict[str, dict[str, Any]] = {
    "bilstm": {"hidden": 24},
    "bilstm-siamese": {"hidden": 24},
    "bimpm": {"character": 4, "spelling": 6, "hidden": 16, "perspectives": 4},
    "cbow": {"hidden": 32},
    # The published spread of the first weights is that of layers of 200.
    "decomposable-attention": {"hidden": 32, "spread": 0.2},
    "decomposable-attention-300": {"hidden": 32, "spread": 0.2},
    "decomposable-attention-intra": {"hidden": 32, "spread": 0.2},
    "diin": {"character": 4, "filters": 8, "length": 16, "growth": 6, "layers": 2},
    "disan": {"hidden": 24},
    "esim": {"hidden": 24},
    "esim-nyu": {"hidden": 24},
    "hbmp": {"hidden": 24},
    "infersent": {"hidden": 32, "layer": 32},
    "lstm": {"hidden": 32},
}
RATES = {"adam": 0.004, "sgd": 0.5, "adadelta": 1.0, "adagrad": 0.05}
EPOCHS = 100


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    """Generated pairs, whose labels no hypothesis tells."""
    return fragment_pairs("en", 32, seed=3, phenomena=["negation", "numbers", "voice"])


@pytest.fixture(scope="module")
def vectors(pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> str:
    from goldlabel.pairs.tokens import TOKENIZERS

    frame = pairs.collect()
    texts = pl.concat([frame["premise"], frame["hypothesis"]])
    words = set(TOKENIZERS.get("words")(texts, signs=True).explode())
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    write_vectors(path, sorted(words), size=24)
    return str(path)


@pytest.mark.parametrize("name", NETWORKS)
def test_32_pairs_are_learnt_by_heart(
    name: str, pairs: Pairs, vectors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network: Any = MODELS.get(name)
    monkeypatch.setattr(network, "recipe", replace(network.recipe, drop=1.0, decay=1.0, floor=0.0))
    is_over = Trainer._is_over
    monkeypatch.setattr(Trainer, "_is_over", lambda self: self.best == 1.0 or is_over(self))
    options = {"epochs": EPOCHS, "patience": EPOCHS, "batch": 8, "lr": RATES[network.recipe.optimiser], "device": "cpu"}
    options |= {"dropout": 0.0} if "dropout" in own_options(network) else {}
    result = train(name, pairs, tmp_path / "run", dev=pairs, vectors=vectors, **options, **SMALL.get(name, {}))
    frame = pairs.collect()
    model = gl.load_model(tmp_path / "run")
    assert gl.predict_labels(model, frame["premise"], frame["hypothesis"]) == frame["label"].to_list(), (
        f"best accuracy after {result.epochs} epochs: {result.accuracies}"
    )


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("side", ["hypothesis", "premise"])
def test_a_partial_form_ignores_the_other_sentence_after_training(
    name: str, side: str, pairs: Pairs, vectors: str, tmp_path: Path
) -> None:
    rate = RATES[MODELS.get(name).recipe.optimiser]
    options = {"epochs": 3, "batch": 8, "lr": rate, "device": "cpu", **SMALL.get(name, {})}
    train(name, pairs, tmp_path / "run", reads=side, vectors=vectors, **options)
    model = gl.load_model(tmp_path / "run")
    frame = pairs.collect()
    texts = {one: frame[one].to_list() for one in ("premise", "hypothesis")}
    other = "premise" if side == "hypothesis" else "hypothesis"
    changed = texts | {other: ["Nobody had ever seen 12 herons there."] * len(frame)}
    before, after = (model.predict(one["premise"], one["hypothesis"]) for one in (texts, changed))
    np.testing.assert_allclose(before, after, atol=1e-6)
    kept = texts | {side: ["Nobody had ever seen 12 herons there."] * len(frame)}
    assert np.abs(model.predict(kept["premise"], kept["hypothesis"]) - before).max() > 1e-5


@pytest.mark.parametrize("name", NETWORKS)
def test_a_stopped_run_goes_on_exactly(name: str, pairs: Pairs, vectors: str, tmp_path: Path) -> None:
    """Also with dropout, and with schedules that a network keeps itself."""
    options: dict[str, Any] = {"epochs": 2, "batch": 16, "device": "cpu", "vectors": vectors, **SMALL.get(name, {})}
    with pytest.raises(Interrupted):
        train(name, pairs, tmp_path / "run", on_step=lambda step: step.pairs == 16, **options)
    train(name, pairs, tmp_path / "run", **options)
    train(name, pairs, tmp_path / "whole", **options)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")

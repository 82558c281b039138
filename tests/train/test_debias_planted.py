"""Each debiasing method on planted truth: an artifact that the training set has and the test set turns around."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

pytest.importorskip("torch")

from goldlabel.train.debias import DEBIAS
from tests.train.planted import Planted, make_options, make_planted, score

RECIPE = {"epochs": 10, "lr": 0.005}
SLOWLY = {"epochs": 20, "lr": 0.002}
"""For an adversary, which needs the time."""
FALL = 0.3
"""What the artifact takes from the plain model at the least; it was 0.5 when this was written."""
WON_BACK, COST = 0.15, 0.15
"""What each method wins back of it at the least, and what it costs at the most where no artifact is planted."""
CHANGES: dict[str, dict[str, Any]] = {
    "adv": {**SLOWLY, "debias_options": {"beta": 1.0}},
    "jtt": {"debias_options": {"times": 10}},
}


@cache
def planted() -> Planted:
    return make_planted(2000, 600, 0)


@cache
def plain(which: str, epochs: int, lr: float) -> float:
    """The plain model's accuracy where the artifact misleads, trained with it or without."""
    pairs = planted().biased if which == "biased" else planted().clean
    return score(pairs, planted().reversed, make_options(epochs=epochs, lr=lr)).defined


@pytest.mark.parametrize("name", list(DEBIAS))
def test_every_method_wins_back_what_an_artifact_takes(name: str) -> None:
    changes = RECIPE | CHANGES.get(name, {})
    biased, clean = (plain(which, changes["epochs"], changes["lr"]) for which in ("biased", "clean"))
    assert clean - biased > FALL
    options = make_options(debias=name, **changes)
    debiased = score(planted().biased, planted().reversed, options).defined
    assert debiased - biased > WON_BACK * (clean - biased)
    assert score(planted().clean, planted().reversed, options).defined > clean - COST

"""Logistic regression that converges, or says that it did not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goldlabel.errors import GoldlabelError
from goldlabel.models import linear
from goldlabel.models.linear import Linear
from goldlabel.pairs.labels import NLI3
from goldlabel.train import train
from goldlabel.train.run import Step
from tests.train.samples import make_rows, with_dev

ROWS = make_rows(30)
PREMISES, HYPOTHESES, LABELS = ([row[column] for row in ROWS] for column in ("premise", "hypothesis", "label"))


def test_many_passes_lead_where_few_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weak regularisation takes many passes; no warning of a library is left to the user, as warnings fail tests."""
    whole = Linear.fit(PREMISES, HYPOTHESES, LABELS, NLI3, regularisation=1e-3)
    told: list[tuple[int, int, float]] = []
    monkeypatch.setattr(linear, "PASSES_AT_ONCE", 3)
    parts = Linear.fit(PREMISES, HYPOTHESES, LABELS, NLI3, lambda *passes: told.append(passes), regularisation=1e-3)
    np.testing.assert_allclose(parts.predict(PREMISES, HYPOTHESES), whole.predict(PREMISES, HYPOTHESES), atol=2e-3)
    assert len(told) > 2, "it took several rounds"
    assert [passes for passes, _, _ in told] == [3 * (number + 1) for number in range(len(told))]
    assert told[-1][2] < told[0][2]


def test_what_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "PASSES_AT_ONCE", 2)
    monkeypatch.setattr(linear, "MOST_PASSES", 4)
    with pytest.raises(
        GoldlabelError, match=r"linear: did not converge in 4 passes .* a higher regularisation than 0\.001"
    ):
        Linear.fit(PREMISES, HYPOTHESES, LABELS, NLI3, regularisation=1e-3)


def test_training_tells_of_the_passes(tmp_path: Path) -> None:
    steps: list[Step] = []
    train("linear", with_dev(), tmp_path / "run", on_step=steps.append)
    assert steps
    assert (steps[-1].of, steps[-1].epochs) == (48, linear.MOST_PASSES)
    assert np.isfinite(steps[-1].loss)

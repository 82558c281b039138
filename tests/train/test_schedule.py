"""How the learning rate changes from step to step."""

from __future__ import annotations

import pytest

from goldlabel.train.options import SCHEDULES
from goldlabel.train.schedule import rate_factor

LINEAR = [0.0, 1 / 3, 2 / 3, 1.0, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7]
"""Of ten steps, three of them warm-up."""
COSINE = [0.0, 1 / 3, 2 / 3, 1.0, 0.95048, 0.81174, 0.61126, 0.38874, 0.18826, 0.04952]


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [("constant", [0.0, 1 / 3, 2 / 3, *[1.0] * 7]), ("linear", LINEAR), ("cosine", COSINE)],
)
def test_factors_step_by_step(schedule: str, factors: list[float]) -> None:
    assert [rate_factor(schedule, 0.3, step / 10) for step in range(10)] == pytest.approx(factors, abs=1e-5)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.5])
def test_where_schedules_begin_and_end(warmup: float) -> None:
    for schedule in SCHEDULES:
        assert rate_factor(schedule, warmup, 0.0) == (0.0 if warmup else 1.0)
        assert rate_factor(schedule, warmup, warmup) == 1.0
        assert rate_factor(schedule, warmup, 1.0) == (1.0 if schedule == "constant" else 0.0)


@pytest.mark.parametrize("warm", [0, 1, 6, 25])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_factors_are_those_of_transformers(schedule: str, warm: int) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    optimiser, steps = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0), 60
    theirs = transformers.get_scheduler(
        "constant_with_warmup" if schedule == "constant" else schedule, optimiser, warm, steps
    )
    for step in range(steps):
        assert rate_factor(schedule, warm / steps, step / steps) == pytest.approx(theirs.get_last_lr()[0], abs=1e-9)
        optimiser.step()
        theirs.step()

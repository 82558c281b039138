"""Objectives: what they are given, and that what they own is trained, kept and gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from goldlabel.models.model import find_member, label_indices  # noqa: E402
from goldlabel.models.torch_model import Outputs  # noqa: E402
from goldlabel.train import TrainOptions  # noqa: E402
from goldlabel.train.encoded import encode_task  # noqa: E402
from goldlabel.train.group import Group  # noqa: E402
from goldlabel.train.objective import CrossEntropy, Objective  # noqa: E402
from goldlabel.train.run import OnStep, RunFolder  # noqa: E402
from goldlabel.train.task import Task, gather_task  # noqa: E402
from goldlabel.train.trainer import Interrupted, Trainer, resolve_recipe  # noqa: E402
from tests.train.samples import LABELS, weights, with_dev  # noqa: E402


def make_task() -> Task:
    own = {"hidden": 8, "dropout": 0.2}
    return gather_task("cbow", [with_dev()], TrainOptions(epochs=3, batch=8, lr=0.01, device="cpu", options=own))


def fit(folder: Path, objective: Objective, on_step: OnStep | None = None) -> Trainer:
    """Train towards an objective; what is there half done goes on."""
    task, member, run = make_task(), find_member("cbow"), RunFolder(folder)
    encoded = encode_task(task, None, folder.parent / "encoded")
    torch.manual_seed(0)
    model = member.build(task.choices, encoded.preparation, task.gold.space, LABELS, None)
    with run.open(task.settings, {}, task.fingerprints):
        recipe = resolve_recipe(member.recipe, task.options)
        trainer = Trainer(task, model, objective, encoded, recipe, run, on_step, Group())
        trainer.run()
    return trainer


class Tilted(Objective):
    """Adds a trained score to each label, and counts the pairs that it has seen."""

    sides = True
    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.tilt = nn.Parameter(torch.zeros(3))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        labels = label_indices(make_task().gold.frame["label"].to_list(), make_task().gold.space)
        self.register_buffer("gold", torch.from_numpy(labels), persistent=False)

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        assert outputs.premise is not None
        assert outputs.hypothesis is not None
        assert len(outputs.hidden) == len(outputs.premise) == len(outputs.hypothesis) == len(rows)
        assert torch.equal(self.get_buffer("gold")[rows], labels), "rows are those of the training data"
        self.seen += len(rows)
        return functional.cross_entropy(outputs.logits + self.tilt, labels) + (self.tilt - 0.5).square().sum()


def test_what_an_objective_owns_is_trained_and_survives_an_interruption(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        fit(tmp_path / "run", Tilted(), lambda step: step.epoch == 2 and step.pairs == 24)
    gone_on, whole = Tilted(), Tilted()
    fit(tmp_path / "run", gone_on)
    fit(tmp_path / "whole", whole)
    assert whole.tilt.detach().min() > 0.05
    assert whole.seen == 3 * 48
    for name, value in whole.state_dict().items():
        assert torch.equal(gone_on.state_dict()[name], value), name
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_the_sides_are_computed_where_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from goldlabel.models.cbow import CBOW

    asked: list[bool] = []
    forward = CBOW.forward

    def spy(self: CBOW, *arguments: Any, sides: bool = False) -> Outputs:
        if self.training:
            asked.append(sides)
        return forward(self, *arguments, sides=sides)

    monkeypatch.setattr(CBOW, "forward", spy)
    fit(tmp_path / "plain", CrossEntropy())
    assert not any(asked)
    asked.clear()
    fit(tmp_path / "tilted", Tilted())
    assert all(asked)


def test_an_objective_draws_the_rows_of_an_epoch(tmp_path: Path) -> None:
    class Drawing(CrossEntropy):
        """Takes the first pair eight times, and seven others."""

        def __init__(self) -> None:
            super().__init__()
            self.asked: list[tuple[int, ...]] = []
            self.seen: list[int] = []

        def draw(self, rows: np.typing.NDArray[np.int64], seed: Sequence[int]) -> np.typing.NDArray[np.int64]:
            self.asked.append(tuple(seed))
            return np.repeat(rows[:8], [8, *[1] * 7])

        def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
            self.seen += rows.tolist()
            return super().forward(outputs, rows, labels)

    objective = Drawing()
    trainer = fit(tmp_path / "run", objective)
    assert objective.asked == [(0, 1), (0, 2), (0, 3)]
    assert sorted(objective.seen) == sorted(3 * [*[0] * 8, *range(1, 8)])
    assert trainer.steps == 3 * 2

"""``export_tasks``: a suite's evaluation sets for other evaluation harnesses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.export.inspect_ai import write_inspect
from goldlabel.evaluate.export.lm_eval import write_lm_eval
from goldlabel.evaluate.export.questions import Questions, questions_of
from goldlabel.files import atomic_folder
from goldlabel.pairs import Result
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.evaluate.suite import SuitePlan

EXPORT = "export.json"
"""Says what was exported, and that a folder is one that an export may take the place of."""

_WRITERS: dict[str, Callable[[Path, str, Sequence[Questions]], str]] = {
    "lm-eval": write_lm_eval,
    "inspect": write_inspect,
}
KINDS = tuple(_WRITERS)


@dataclass(frozen=True, repr=False)
class Exported(Result):
    """The tasks that were written."""

    suite: str
    kind: str
    folder: Path
    command: str
    """What runs them, in the folder."""
    asked: tuple[Questions, ...]
    missing: Mapping[str, str]
    """Sets that the suite has and the user has not, and why."""

    @property
    def title(self) -> str:
        """How many tasks were written for what."""
        return f"{len(self.asked)} tasks of {self.suite} for {self.kind}; in {self.folder} run: {self.command}"

    @property
    def table(self) -> pl.DataFrame:
        """The tasks, one row each."""
        return pl.DataFrame(
            [
                {
                    "task": questions.task,
                    "set": questions.set,
                    "pairs": len(questions.pairs),
                    "examples": 0 if questions.shots is None else len(questions.shots),
                    "labels": questions.space,
                    "prompt": questions.prompt.name,
                    "in the mean": questions.counts,
                }
                for questions in self.asked
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the tasks and the command that runs them."""
        about = {"suite": self.suite, "kind": self.kind, "output": str(self.folder), "command": self.command}
        return about | {"tasks": self.table.to_dicts(), "missing": list(self.missing)}


def export_tasks(plan: SuitePlan, folder: str | Path, kind: str, *, suite: str) -> Exported:
    """Write the evaluation sets of a plan as tasks of ``lm-eval`` or ``inspect``, whole or not at all."""
    write = _WRITERS[one_of("export", kind, KINDS)]
    folder = Path(folder)
    if not plan.sets:
        raise InputError(f"{suite}: has no evaluation set that could be exported")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / EXPORT).exists():
        raise InputError(f"{folder}: is not empty and no export of tasks; choose another folder for the output")
    asked = questions_of(plan, suite)
    with atomic_folder(folder) as temporary:
        command = write(temporary, suite, asked)
        exported = Exported(suite, kind, folder, command, tuple(asked), plan.missing)
        (temporary / EXPORT).write_text(json.dumps(exported.to_dict(), indent=2) + "\n", encoding="utf-8")
    return exported

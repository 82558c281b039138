"""How far a bench is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from goldlabel.evaluate.answers import OnPairs
from goldlabel.executors import Failure
from goldlabel.train.run import Run


@dataclass(frozen=True, kw_only=True)
class BenchProgress:
    """Whom to tell how far a bench is."""

    on_run: Callable[[str, Run | Failure], None] | None = None
    """Called with the name of a run that has been trained, and what came of it."""
    on_step: Callable[[str, Any], bool | None] | None = None
    on_pairs: OnPairs | None = None
    on_phase: Callable[[str, int | None], None] | None = None
    """Called with what is done next, and with the number of pairs that it is done with, where that is known."""

    def begin(self, phase: str, total: int | None = None) -> None:
        """Tell what is done next."""
        if self.on_phase is not None:
            self.on_phase(phase, total)

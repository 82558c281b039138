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

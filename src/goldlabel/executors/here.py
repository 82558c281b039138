"""Work done in this process, one piece after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from goldlabel.executors.executor import OnDone, OnTold, Work, attempt


class Here:
    """One piece after the other, in this process."""

    def run(
        self,
        function: Callable[..., Any],
        work: Work,
        on_done: OnDone,
        *,
        on_told: OnTold | None = None,
        paths: Sequence[Path] = (),
    ) -> None:
        """Call the function with each piece's arguments."""
        for name, arguments in work.items():

            def tell(state: Any, name: str = name) -> bool:
                return bool(on_told and on_told(name, state))

            on_done(name, attempt(function, tell, arguments))

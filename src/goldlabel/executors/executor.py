"""What an executor does, and what becomes of one piece of work."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from goldlabel.errors import GoldlabelError, InputError, PieceError
from goldlabel.files import write_text

DIED = "its process died, for want of memory perhaps; run again with fewer --jobs"
TELL_EVERY = 0.1
"""Seconds between two words of a worker on how far its piece is."""


@dataclass(frozen=True)
class Failure:
    """Why a piece of work has no result."""

    message: str
    trace: str = ""
    """Where it happened; empty where the input is at fault."""

    def leave(self, path: Path) -> str:
        """Write where it happened, if that is known, into a file, and return one line that names it."""
        if not self.trace:
            return self.message
        write_text(path, self.trace)
        return f"{self.message} (see {path})"


Work = Mapping[str, tuple[Any, ...]]
"""The arguments of each piece, by its name."""
OnDone = Callable[[str, Any], None]
"""Called with the name of a piece and its result, or the ``Failure``, in whichever order they end."""
OnTold = Callable[[str, Any], "bool | None"]
"""Called with the name of a piece and how far it is; True asks a piece of this process to stop."""
Tell = Callable[[Any], bool]
"""Says how far a piece is, as it stands: not every word arrives, the last one counts. True asks it to stop."""


class Executor(Protocol):
    """Does pieces of work."""

    def run(
        self,
        function: Callable[..., Any],
        work: Work,
        on_done: OnDone,
        *,
        on_told: OnTold | None = None,
        paths: Sequence[Path] = (),
    ) -> None:
        """Call the function with a ``Tell`` and each piece's arguments; all that works must see the ``paths``."""
        ...


def collect(
    executor: Executor,
    function: Callable[..., Any],
    work: Work,
    *,
    on_done: OnDone | None = None,
    on_told: OnTold | None = None,
    paths: Sequence[Path] = (),
) -> dict[str, Any]:
    """Do pieces of which every one is needed, and return their results in the order of the work.

    The first that fails ends the others: in one line, which names a file where the fault is not the input's.
    """
    outcomes: dict[str, Any] = {}

    def done(name: str, outcome: Any) -> None:
        if isinstance(outcome, Failure):
            if not outcome.trace:
                raise InputError(outcome.message)
            raise PieceError(f"{name}: {outcome.leave(Path(tempfile.mkdtemp(prefix='goldlabel-'), 'error.txt'))}")
        outcomes[name] = outcome
        if on_done is not None:
            on_done(name, outcome)

    executor.run(function, work, done, on_told=on_told, paths=paths)
    return {name: outcomes[name] for name in work}


def attempt(function: Callable[..., Any], tell: Tell, arguments: tuple[Any, ...]) -> Any:
    """Return what the function returns, or why it failed."""
    try:
        return function(tell, *arguments)
    except GoldlabelError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())

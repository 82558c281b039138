"""What the store says no to; each kind is told apart because a page answers it differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldlabel.errors import InputError

if TYPE_CHECKING:
    from goldlabel.collect.rules import Violation


class Missing(InputError):  # noqa: N818 - named as what is said, not as what broke
    """There is no such thing, or it is not for this person to know of."""


class Forbidden(InputError):  # noqa: N818
    """This person may not do that."""


class Conflict(InputError):  # noqa: N818
    """Things have moved on: answered before, passed on to someone else, the name is taken."""


class Expired(InputError):  # noqa: N818
    """A link or a login whose time is over."""


class TooMany(InputError):  # noqa: N818
    """Too many tries; ``retry_after`` says in how many seconds the next may be made."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BrokenRules(InputError):  # noqa: N818
    """Hypotheses that break the rules of their condition."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        more = f" ({len(violations) - 1} more)" if len(violations) > 1 else ""
        super().__init__(violations[0].message + more)
        self.violations = list(violations)

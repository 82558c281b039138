"""What the store says no to; each kind is told apart because a page answers it differently.

A refusal is raised with the name of a message and its parameters: ``raise Missing("no_task", id=7)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from goldlabel.collect.messages import message
from goldlabel.errors import InputError

if TYPE_CHECKING:
    from goldlabel.collect.work.rules import Violation


class Refusal(InputError):  # noqa: N818 - named as what is said, not as what broke
    """A message to whoever asked; in English it is the error's text."""

    def __init__(self, name: str, /, **parameters: object) -> None:
        self.message = message(name, **parameters)
        super().__init__(str(self.message))

    def __reduce__(self) -> tuple[object, ...]:
        return _raised_again, (type(self), self.message.name, self.message.parameters)


class Invalid(Refusal):
    """What was given cannot be used as it is."""


class Missing(Refusal):
    """There is no such thing, or it is not for this person to know of."""


class Forbidden(Refusal):
    """This person may not do that."""


class Conflict(Refusal):
    """Things have moved on: answered before, passed on to someone else, the name is taken."""


class Expired(Refusal):
    """A link or a login whose time is over."""


class TooMany(Refusal):
    """Too many tries; ``retry_after`` says in how many seconds the next may be made."""

    def __init__(self, name: str, /, *, seconds: int) -> None:
        super().__init__(name, seconds=seconds)
        self.retry_after = seconds


class BrokenRules(Refusal):
    """Hypotheses that break the rules of their condition."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        first = violations[0].message
        if len(violations) == 1:
            super().__init__(first.name, **first.parameters)
        else:
            super().__init__("more_broken", first=first, n=len(violations) - 1)
        self.violations = list(violations)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.violations,)


def _raised_again(kind: type[Refusal], name: str, parameters: Mapping[str, object]) -> Refusal:
    """Remake a refusal that came from another process."""
    return kind(name, **parameters)

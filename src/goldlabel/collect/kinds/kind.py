"""What a kind of collection is: plain data and a few functions, which each kind fills in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goldlabel.collect.data.figures import Figures
    from goldlabel.collect.data.snapshot import Snapshot
    from goldlabel.collect.projects import Project
    from goldlabel.collect.protocols import Condition, Protocol
    from goldlabel.collect.store import Transaction
    from goldlabel.collect.work.verdicts import Policy
    from goldlabel.pairs.splits import Plan


def N_(message: str) -> str:  # noqa: N802 - the name by which Babel finds it
    """Mark a message that is translated where it is shown."""
    return message


@dataclass(frozen=True, kw_only=True)
class Work:
    """What people of one role do.

    ``tasks`` are the kinds of task that a person may be given who asks for this work: a question with a known answer
    looks like any other. ``held`` is how many of them they have in hand at a time.
    """

    name: str
    role: str
    tasks: tuple[str, ...]
    held: int


WRITE = Work(name="write", role="writer", tasks=("write",), held=1)
VERIFY = Work(name="verify", role="verifier", tasks=("verify", "gold"), held=2)
"""A verifier, who needs seconds, has the next pair at hand; a premise would lie idle."""
WORKS = {work.name: work for work in (WRITE, VERIFY)}

JUDGING_SETTINGS = (
    "verifying.lease_seconds",
    "verifying.suggestions",
    "verifying.models",
    "qualification.training",
    "qualification.threshold",
    "qualification.gold_rate",
    "qualification.trust",
    "qualification.pause",
    "qualification.feedback",
    "qualification.second_factor",
    "pay.currency",
    "pay.label",
    "pay.rejected",
    "pay.floor",
    "pay.budget",
)
"""The settings of whatever is judged."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of collection.

    ``works`` follow from one another: what comes out of one is what the next is about. ``own`` is where the pairs
    come from that a project is about (``written`` in it or ``imported``), ``imports`` as what others may be brought.
    ``judging_text`` names the instructions for verifiers, ``training_texts`` the practice of each role that comes
    before the usual one of its labels. ``policy`` says when a pair is decided; ``relabels`` that this is its label.
    ``protocols`` are the names of ready-made protocols, which ``make`` makes in a language; where these are
    ``conditions`` of writing, each told ``about`` in a line, several may be joined. Where a kind ``has_rounds``, people
    write against models while a round is open. ``decided`` is called whenever a pair's verdict changes (with the pair's
    id and whose answer changed it). ``words`` are its own for labels and settings, in the place of the usual ones.
    """

    name: str
    title: str
    summary: str
    works: tuple[Work, ...]
    own: str
    imports: tuple[str, ...]
    settings: tuple[str, ...]
    judging_text: str
    protocols: tuple[str, ...]
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    make: Callable[[Sequence[str], str], Protocol]
    policy: Callable[[Protocol], Policy]
    figures: Callable[[Snapshot, int], Figures]
    splits: Callable[[Snapshot], Plan | None]
    decided: Callable[[Transaction, Project, int, int | None], None] | None = None
    has_conditions: bool = False
    has_rounds: bool = False
    relabels: bool = True
    training_texts: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether people write the pairs, which then have an author."""
        return WRITE in self.works

    @property
    def asks(self) -> list[str]:
        """The names of the works after which questions of the requester's own are asked; tries end otherwise."""
        return [work.name for work in self.works if work is not WRITE or not self.has_rounds]

    @property
    def joins_conditions(self) -> bool:
        """Whether there is a choice of conditions, several of which one project may have."""
        return self.has_conditions and len(self.protocols) > 1

    @property
    def workers(self) -> tuple[str, ...]:
        """The roles of those who work."""
        return tuple(work.role for work in self.works)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that a person can have, in the order of the work."""
        return (*self.workers, "expert", "requester")

    def before(self, name: str) -> list[Work]:
        """Return the works that come before one."""
        names = [work.name for work in self.works]
        return list(self.works[: names.index(name)])

    def texts(self, protocol: Protocol) -> list[str]:
        """Return the names of the instructions that a project shows."""
        return [*(condition.name for condition in protocol.conditions), self.judging_text]

    def text_for(self, role: str, condition: str) -> str:
        """Return the name of the instructions for somebody in a role."""
        return condition if role == WRITE.role else self.judging_text

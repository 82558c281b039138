"""Verdicts: when a pair is decided, and as what.

A pair is drawn with the votes that its policy wants at first. When the last of those asked for comes in, the policy
decides, or wants one more. The pair's row is held meanwhile, so that of two votes at the same moment the second sees
the first. A vote that was asked for stays asked for, also where one is taken back that led to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from sqlalchemy import bindparam, func, select

from goldlabel.collect.schema import answers, model_votes, pairs, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.webhooks import PAIR_VERIFIED, announce
from goldlabel.collect.work import drawing
from goldlabel.pairs.labels import NO_GOLD

if TYPE_CHECKING:
    from goldlabel.collect.projects import Project
    from goldlabel.collect.protocols import Protocol


class Policy(Interface):
    """Says how many votes a pair is to have at first, and what these and later ones decide."""

    @property
    def first(self) -> int:
        """How many votes are asked for when a pair is drawn."""

    @property
    def last(self) -> int:
        """How many votes are asked for at the most."""

    def describe(self) -> str:
        """Say in a few words by what rule."""

    def decide(self, author: str | None, votes: Sequence[str]) -> str | None:
        """Return what answers decide, ``-`` where they decide for no label, or ``None`` where one more is wanted."""


@dataclass(frozen=True)
class Panel:
    """So many verifiers, and the author where there is one: what more than half of them say.

    Three of the author and four verifiers in Hu et al. (2020, section 3.3), after Bowman et al. (2015).
    """

    first: int

    @property
    def last(self) -> int:
        """How many votes are asked for at the most."""
        return self.first

    def describe(self) -> str:
        """Say in a few words by what rule."""
        return "majority"

    def decide(self, author: str | None, votes: Sequence[str]) -> str:
        """Return the answer of more than half."""
        cast = [*votes] if author is None else [author, *votes]
        answer, count = Counter(cast).most_common(1)[0]
        return answer if 2 * count > len(cast) else NO_GOLD


def panel(protocol: Protocol) -> Panel:
    """Return a panel of as many as a protocol wants."""
    return Panel(protocol.verifying.verifiers)


@dataclass(frozen=True)
class TwoPlusOne:
    """Two verifiers, and a third where they differ (Nie et al. 2020, section 2.1).

    What two of them say stands, whether it is the author's label or overrules it; where all three differ the pair has
    no label. ``goldlabel.verify.two_plus_one`` is the same rule for votes that are there already.
    """

    first: int = 2
    last: int = 3

    def describe(self) -> str:
        """Say in a few words by what rule."""
        return "two-plus-one"

    def decide(self, author: str | None, votes: Sequence[str]) -> str | None:
        """Return what two of the first three say; the author is not asked."""
        answer, count = Counter(votes[:3]).most_common(1)[0]
        if count > 1:
            return answer
        return None if len(votes) < 3 else NO_GOLD


def verdict_of(
    project: Project, author: str | None, votes: Sequence[str], asked: int, models: Sequence[str] = ()
) -> str | None:
    """Return a pair's verdict: a label or ``-``; ``None`` while votes are missing or one more is wanted.

    What ``models`` say counts after the people's votes, where the project says so.
    """
    if not votes or len(votes) < asked:
        return None
    answer = project.policy.decide(author, [*votes, *(models if project.protocol.verifying.models else ())])
    return answer if answer is None or answer in project.protocol.label_space else NO_GOLD


def lock_pairs(tx: Transaction, pair_ids: Sequence[int]) -> None:
    """Hold pairs and the votes asked for on them until the transaction ends: tasks before pairs, as whoever votes."""
    tx.lock_all(tasks, tasks.c.pair_id.in_(pair_ids))
    tx.lock_all(pairs, pairs.c.id.in_(pair_ids))


def settle(tx: Transaction, project: Project, pair_id: int, by: int | None) -> None:
    """Bring a pair's verdict up to date after a vote came in or was taken back, or ask for one vote more.

    A pair that is not in the data any more has no verdict, and no vote more is asked for.
    """
    tx.lock(pairs, pair_id)
    rows = tx.all(_VOTES_ON, pair_id=pair_id)
    if rows[0].state != "counted":
        return
    row, votes = rows[0], [one.vote for one in rows if one.vote is not None]
    author = None if row.writer_id is None else row.label
    said = select(model_votes.c.label).where(model_votes.c.pair_id == pair_id).order_by(model_votes.c.id)
    models = [one.label for one in tx.all(said)] if project.protocol.verifying.models else []
    verdict = verdict_of(project, author, votes, row.asked, models)
    if verdict is None and votes and len(votes) >= row.asked and row.hidden is None:
        drawing.ask(tx, project, pair_id, len(votes) + 1, by)
    if verdict != row.verdict:
        tx.change(pairs, pair_id, verdict=verdict)
        if verdict is not None:
            announce(tx, project.id, PAIR_VERIFIED, pair=pair_id, verdict=verdict, votes=len(votes))
        if project.kind.decided is not None:
            project.kind.decided(tx, project, pair_id, by)


_VOTES_ON = (
    select(
        pairs.c.label,
        pairs.c.state,
        pairs.c.hidden,
        pairs.c.writer_id,
        pairs.c.verdict,
        select(func.count())
        .where(tasks.c.pair_id == pairs.c.id, tasks.c.kind == "verify")
        .scalar_subquery()
        .label("asked"),
        answers.c.label.label("vote"),
    )
    .outerjoin(
        answers, (answers.c.pair_id == pairs.c.id) & (answers.c.kind == "verify") & (answers.c.state == "counted")
    )
    .where(pairs.c.id == bindparam("pair_id"))
    .order_by(answers.c.id)
)
"""A pair as often as it has counted votes, the first one first; once without any."""

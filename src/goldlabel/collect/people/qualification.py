"""Qualification: training before work, questions with known answers during it, and what both say about a person.

Trust is the share of such questions that a person got right. Someone is flagged when even the upper end of its
Wilson interval is below the threshold, so that one slip among few questions flags nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Any

from sqlalchemy import case, func, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.money.ledger import in_currency, totals
from goldlabel.collect.people.people import Member, require_role, roles, set_member
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.projects import Project, project
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import answers, assignments, members, pairs, training_answers
from goldlabel.collect.store import Transaction
from goldlabel.collect.texts import training_examples
from goldlabel.messages import Word
from goldlabel.metrics import Estimate, wilson

WORKERS = ("writer", "verifier")

Attempts = dict[int, dict[int, tuple[str, bool]]]
"""Of each attempt at the training the answers to its examples, and whether they were right."""


@dataclass(frozen=True)
class Training:
    """Where a person stands: ``open``, ``passed`` or ``failed``; ``given`` are the answers of this attempt."""

    state: str
    attempt: int
    given: dict[int, str]
    right: int
    total: int


@dataclass(frozen=True)
class Trust:
    """How many questions with a known answer a person got, and how many right; no share without questions."""

    right: int
    n: int
    share: Estimate | None
    flagged: bool


@dataclass(frozen=True)
class PersonFlags:
    """How a person stands, and why a requester may want to look at them."""

    pseudonym: str
    roles: dict[str, Member]
    training: Training
    trust: Trust
    flags: list[str]


@dataclass(frozen=True)
class PersonOverview:
    """All that a requester sees of one person; seconds are medians per premise and per vote."""

    person_id: int
    pseudonym: str
    roles: dict[str, Member]
    training: Training
    premises: int
    pairs: int
    unusable: int
    votes: int
    late: int
    skipped: int
    lost: int
    leased: int
    seconds_writing: float | None
    seconds_voting: float | None
    trust: Trust
    owed: Decimal
    last_answer: datetime | None
    flags: list[str]


def training(tx: Transaction, project_id: int, person_id: int, role: str) -> Training:
    """Return where a person stands in a project's training for a role."""
    return _training(tx, project(tx, project_id), person_id, role)


def is_qualified(tx: Transaction, found: Project, person_id: int, role: str) -> bool:
    """Say whether a person may work in a role: training is passed, or the project has none."""
    return found.protocol.qualification.training == 0 or _training(tx, found, person_id, role).state == "passed"


def answer_training(tx: Transaction, project_id: int, person_id: int, role: str, example: int, label: str) -> bool:
    """Store the answer to an example by its number and say whether it is right; the first answer stands."""
    require_role(tx, project_id, person_id, role)
    found = project(tx, project_id)
    shown = training_examples(found.protocol, role)
    if example not in shown:
        raise Invalid("no_example", n=example, role=Word(role), allowed=", ".join(map(str, shown)))
    if label not in found.protocol.answers:
        raise Invalid("answer", answer=label, answers=words(found.protocol.answers))
    stands = _training(tx, found, person_id, role)
    if example in stands.given:
        return stands.given[example] == shown[example].label
    correct = label == shown[example].label
    added = tx.insert_new(
        training_answers,
        project_id=project_id,
        person_id=person_id,
        attempt=stands.attempt,
        example=example,
        label=label,
        correct=correct,
        created_at=tx.now,
    )
    if added:
        data = {"attempt": stands.attempt, "example": example, "label": label, "correct": correct}
        _record(tx, "training.answered", project_id, person_id, person_id, **data)
    return correct


def allow_attempt(tx: Transaction, project_id: int, person_id: int, *, by: int | None) -> None:
    """Let a person who failed the training take it once more."""
    held = [role for role in roles(tx, project_id, person_id) if role in WORKERS]
    if all(training(tx, project_id, person_id, role).state != "failed" for role in held):
        raise Conflict("training_not_failed")
    own = (members.c.project_id == project_id, members.c.person_id == person_id)
    tx.run(members.update().where(*own).values(attempts=members.c.attempts + 1))
    _record(tx, "training.allowed", project_id, person_id, by)


def trust(tx: Transaction, project_id: int, person_id: int) -> Trust:
    """Return how well a person does on questions with known answers."""
    found = project(tx, project_id)
    return _trusts(tx, found, person_id).get(person_id, _NO_TRUST)


def suspend_untrusted(tx: Transaction, found: Project, person_id: int) -> None:
    """Pause a verifier who is flagged, where the project wants that; the requester can let them go on."""
    if not found.protocol.qualification.pause or not trust(tx, found.id, person_id).flagged:
        return
    member = roles(tx, found.id, person_id).get("verifier")
    if member is not None and member.state == "active":
        set_member(tx, found.id, person_id, "verifier", state="paused", by=None)


def people_flags(tx: Transaction, project_id: int) -> dict[int, PersonFlags]:
    """Return how everybody in a project stands, those to look at first."""
    found = project(tx, project_id)
    held: dict[int, dict[str, Member]] = defaultdict(dict)
    for row in tx.all(select(members).where(members.c.project_id == project_id).order_by(members.c.role)):
        held[row.person_id][row.role] = Member(**row._mapping)
    names, trusts, attempts = pseudonyms_of(tx, project_id), _trusts(tx, found), _attempts(tx, project_id)
    standing = {}
    for person_id, member in held.items():
        learnt = _in_all_roles(found, attempts.get(person_id, {}), member)
        trusted = trusts.get(person_id, _NO_TRUST)
        flags = ["untrusted"] * trusted.flagged + ["untrained"] * (learnt.state == "failed")
        flags += sorted({role.state for role in member.values()} - {"active"})
        standing[person_id] = PersonFlags(names[person_id], member, learnt, trusted, flags)
    return dict(sorted(standing.items(), key=lambda one: (not one[1].flags, one[1].pseudonym)))


def people_overview(tx: Transaction, project_id: int) -> list[PersonOverview]:
    """Return everybody in a project: what they did, how fast and how well, and what they are owed."""
    owed, written = totals(tx, project_id), _pairs_written(tx, project_id)
    states, paces, last = _assignment_states(tx, project_id), _paces(tx, project_id), _last_answers(tx, project_id)
    overviews = []
    for person_id, stands in people_flags(tx, project_id).items():
        count = states[person_id]
        overviews.append(
            PersonOverview(
                person_id=person_id,
                pseudonym=stands.pseudonym,
                roles=stands.roles,
                training=stands.training,
                premises=count["write", "answered"],
                pairs=written.get(person_id, 0),
                unusable=count["write", "unusable"],
                votes=count["verify", "answered"],
                late=sum(count[kind, "late"] for kind in ("write", "verify", "gold")),
                skipped=sum(count[kind, "skipped"] for kind in ("write", "verify", "gold")),
                lost=sum(count[kind, "passed"] for kind in ("write", "verify", "gold")),
                leased=sum(count[kind, "leased"] for kind in ("write", "verify", "gold")),
                seconds_writing=paces.get((person_id, "write")),
                seconds_voting=paces.get((person_id, "verify")),
                trust=stands.trust,
                owed=owed.get(person_id, in_currency(0)),
                last_answer=last.get(person_id),
                flags=stands.flags,
            )
        )
    return overviews


_NO_TRUST = Trust(0, 0, None, False)
_TELLING = ("counted", "set_aside")
"""What a person answered still tells about them when the requester has set it aside."""


def _training(tx: Transaction, found: Project, person_id: int, role: str) -> Training:
    attempts = _attempts(tx, found.id, person_id).get(person_id, {})
    return _judge_training(found, attempts, roles(tx, found.id, person_id), role)


def _attempts(tx: Transaction, project_id: int, person_id: int | None = None) -> dict[int, Attempts]:
    """Return the answers of one person, or of everybody, to the training's examples, by attempt."""
    query = select(training_answers).where(training_answers.c.project_id == project_id)
    if person_id is not None:
        query = query.where(training_answers.c.person_id == person_id)
    attempts: dict[int, Attempts] = defaultdict(lambda: defaultdict(dict))
    for row in tx.all(query):
        attempts[row.person_id][row.attempt][row.example] = row.label, row.correct
    return attempts


def _in_all_roles(found: Project, attempts: Attempts, held: Mapping[str, Member]) -> Training:
    """Return where a person stands in the training of all their roles together."""
    own = [role for role in WORKERS if role in held] or [*found.kind.workers[:1]]
    learnt = [_judge_training(found, attempts, held, role) for role in own]
    state = next((state for state in ("failed", "open") if state in [one.state for one in learnt]), "passed")
    given = {example: label for one in learnt for example, label in one.given.items()}
    examples = {number for role in own for number in training_examples(found.protocol, role)}
    attempt = max(one.attempt for one in learnt)
    right = sum(correct for example, (_, correct) in attempts.get(attempt, {}).items() if example in given)
    return Training(state, attempt, given, right, len(examples))


def _judge_training(found: Project, attempts: Attempts, held: Mapping[str, Member], role: str) -> Training:
    """Return where a person with some roles stands after some attempts, in the training of one of them."""
    rules, asked = found.protocol.qualification, training_examples(found.protocol, role)
    own = {attempt: {n: one for n, one in answers.items() if n in asked} for attempt, answers in attempts.items()}
    allowed = max((member.attempts for member in held.values()), default=1)
    states = {attempt: _judged(answers, len(asked), rules.threshold) for attempt, answers in own.items()}
    # What was passed stays so, also where examples are answered once more for another role.
    passed = [attempt for attempt, state in states.items() if state == "passed"]
    last = max(passed or (attempt for attempt, answers in own.items() if answers), default=1)
    given = own.get(last, {})
    state = states.get(last, _judged(given, len(asked), rules.threshold))
    if state == "failed" and last < allowed:
        state, last, given = "open", last + 1, {}
    right = sum(correct for _, correct in given.values())
    return Training(state, last, {example: label for example, (label, _) in given.items()}, right, len(asked))


def _judged(given: dict[int, tuple[str, bool]], total: int, threshold: float) -> str:
    if len(given) < total:
        return "open"
    return "passed" if sum(correct for _, correct in given.values()) >= threshold * total - 1e-9 else "failed"


def _trusts(tx: Transaction, found: Project, person_id: int | None = None) -> dict[int, Trust]:
    query = (
        select(
            answers.c.person_id,
            func.count().label("n"),
            func.sum(case((answers.c.label == pairs.c.label, 1), else_=0)).label("right"),
        )
        .join(pairs, pairs.c.id == answers.c.pair_id)
        .where(answers.c.project_id == found.id, answers.c.kind == "gold", answers.c.state.in_(_TELLING))
        .group_by(answers.c.person_id)
    )
    if person_id is not None:
        query = query.where(answers.c.person_id == person_id)
    trusts = {}
    for row in tx.all(query):
        share = wilson(int(row.right), row.n)
        flagged = share.high is not None and share.high < found.protocol.qualification.trust
        trusts[row.person_id] = Trust(int(row.right), row.n, share, flagged)
    return trusts


def _assignment_states(tx: Transaction, project_id: int) -> dict[int, dict[tuple[str, str], int]]:
    keys = (assignments.c.person_id, assignments.c.kind, assignments.c.state)
    counts: dict[int, dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    query = select(*keys, func.count().label("n")).where(assignments.c.project_id == project_id).group_by(*keys)
    for row in tx.all(query):
        counts[row.person_id][row.kind, row.state] = row.n
    return counts


def _paces(tx: Transaction, project_id: int) -> dict[tuple[int, str], float]:
    """Return the median seconds of each person for each kind of task."""
    seconds: dict[tuple[int, str], list[float]] = defaultdict(list)
    query = select(answers.c.person_id, answers.c.kind, answers.c.seconds).where(
        answers.c.project_id == project_id, answers.c.state == "counted", answers.c.seconds.is_not(None)
    )
    for row in tx.all(query):
        seconds[row.person_id, row.kind].append(row.seconds)
    return {key: median(values) for key, values in seconds.items()}


def _last_answers(tx: Transaction, project_id: int) -> dict[int, datetime]:
    query = (
        select(answers.c.person_id, func.max(answers.c.created_at).label("at"))
        .where(answers.c.project_id == project_id)
        .group_by(answers.c.person_id)
    )
    return {row.person_id: row.at for row in tx.all(query)}


def _pairs_written(tx: Transaction, project_id: int) -> dict[int, int]:
    query = (
        select(pairs.c.writer_id, func.count().label("n"))
        .where(pairs.c.project_id == project_id, pairs.c.state == "counted", pairs.c.writer_id.is_not(None))
        .group_by(pairs.c.writer_id)
    )
    return {row.writer_id: row.n for row in tx.all(query)}


def _record(tx: Transaction, kind: str, project_id: int, person_id: int, by: int | None, **data: Any) -> None:
    record(tx, kind, project_id=project_id, person_id=by, subject=f"person {person_id}", data=data)

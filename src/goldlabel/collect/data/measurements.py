"""Measurements: what a worker measured of a project's pairs, kept in the database, so that every server shows the same.

Measuring reads every pair, so it is asked for when somebody looks, and again only after something happened and a
little time has passed. A measurement keeps when it was made; pages say so.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

import polars as pl
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import select

from goldlabel.collect.data.marks import Marks
from goldlabel.collect.events import newest_event
from goldlabel.collect.jobs import ask, latest_job
from goldlabel.collect.money.forecast import Forecast
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.schema import measurements
from goldlabel.collect.store import Store, Transaction
from goldlabel.messages import Message
from goldlabel.metrics import Estimate
from goldlabel.pairs.groups import ALL, Key

MEASURE = "measure"
"""The kind of job that measures."""
PATIENCE = timedelta(seconds=30)


@dataclass(frozen=True)
class GroupAgreement:
    """How far people agree on some pairs: on all, or on those of a condition."""

    key: Key
    relabelled: int
    figures: Mapping[str, Estimate]


@dataclass(frozen=True)
class PersonAgreement:
    """How far one person agrees with the others, and why that may be a reason to look."""

    name: str
    votes: int
    agreement: Estimate
    flags: tuple[Message, ...]


@dataclass(frozen=True)
class Agreement:
    """How far people agree."""

    by_group: Sequence[GroupAgreement]
    people: Sequence[PersonAgreement]

    @property
    def groups(self) -> dict[Key, GroupAgreement]:
        """The groups by their keys; the whole is under ``()``."""
        return {group.key: group for group in self.by_group}

    @property
    def whole(self) -> GroupAgreement:
        """All pairs together."""
        return self.groups[ALL]


@dataclass(frozen=True)
class Baseline:
    """How well people do on pairs of another dataset."""

    figures: Mapping[str, Estimate]


@dataclass(frozen=True)
class PageFigures:
    """What the votes of a project say; ``None`` where there are too few, or where it is another kind of project."""

    verification: Agreement | None
    baseline: Baseline | None


@dataclass(frozen=True)
class Blind:
    """How well labels are told without the premise, beside always saying the most frequent one."""

    accuracy: Estimate
    majority: Estimate
    gain: Estimate
    significant: bool


@dataclass(frozen=True)
class Group:
    """The meter of some pairs: of a condition, or of one writer."""

    name: str
    pairs: int
    blind: Blind | None
    negated: Mapping[str, Estimate]
    """Hypotheses with a negator, per label."""
    overlap: float | None
    overlaps: Sequence[int]
    """Pairs per tenth of overlap with the premise."""
    words: Mapping[str, int] = field(default_factory=dict)
    """Of the words that tell a label, those in most of these sentences, and in how many."""


@dataclass(frozen=True)
class Stretch:
    """Pairs written one after another, and how many of them are labelled right without the premise."""

    first: int
    last: int
    right: Estimate


@dataclass(frozen=True)
class TellingWord:
    """A word that tells a label: ``count`` of the ``total`` hypotheses with the word have it."""

    word: str
    label: str
    count: int
    total: int


@dataclass(frozen=True)
class Written:
    """A sentence that was just written, and what it gives away.

    ``probability`` is what a simple model that does not see the premise gives its label.
    """

    id: int
    writer: str
    text: str
    label: str
    probability: float
    negated: bool
    overlap: float | None
    words: Sequence[str]


@dataclass(frozen=True)
class Meter:
    """The artifact meter: what labels give away.

    ``newest`` are the last sentences of all, ``last`` the last one of each writer.
    """

    whole: Group
    conditions: Sequence[Group]
    writers: Sequence[Group]
    over_time: Mapping[str, Sequence[Stretch]]
    words: Sequence[TellingWord]
    rounds: Sequence[Group] = ()
    newest: Sequence[Written] = ()
    last: Mapping[str, Written] = field(default_factory=dict)

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest share over time, with a little room: one scale for all conditions."""
        ends = [end for part in self.over_time.values() for stretch in part for end in stretch.right.interval or ()]
        ends += [group.blind.majority.value or 0.0 for group in self.conditions if group.blind]
        return max(0.0, min(ends, default=0.0) - 0.05), min(1.0, max(ends, default=1.0) + 0.05)


@dataclass(frozen=True)
class Measured:
    """A project as it was measured at a moment, when its newest event was ``event``."""

    at: datetime
    event: int
    figures: PageFigures
    meter: Meter | None
    too_few: str
    """Why there is no meter, where there is none."""
    forecast: Forecast | None = None

    @property
    def people(self) -> dict[str, PersonAgreement]:
        """How far each person agrees with the others, by pseudonym, where there are votes enough."""
        agreement = self.figures.verification
        return {} if agreement is None else {person.name: person for person in agreement.people}


@dataclass(frozen=True)
class Measuring:
    """What is known of a project by now: the last measurement, and whether another one is under way or failed."""

    measured: Measured | None
    pending: bool
    problem: Message | None


def save_measured(tx: Transaction, project_id: int, measured: Measured, marks: Marks) -> None:
    """Keep a measurement in place of the one before."""
    packed = io.BytesIO()
    marks.frame.write_parquet(packed)
    tx.run(measurements.delete().where(measurements.c.project_id == project_id))
    figures = _adapter().dump_json(measured).decode()
    tx.insert(measurements, project_id=project_id, at=measured.at, figures=figures, marks=packed.getvalue())


def load_measured(tx: Transaction, project_id: int) -> Measured | None:
    """Return what was measured last; what another version of the code measured, and this one cannot read, is none."""
    text = tx.value(select(measurements.c.figures).where(measurements.c.project_id == project_id))
    if text is None:
        return None
    try:
        return _adapter().validate_json(text)
    except ValidationError:
        return None


def load_marks(tx: Transaction, project_id: int) -> Marks | None:
    """Return in which figures of the last measurement each pair is counted."""
    packed = tx.value(select(measurements.c.marks).where(measurements.c.project_id == project_id))
    return None if packed is None else Marks(pl.read_parquet(io.BytesIO(packed)))


def look_up(store: Store, project_id: int) -> Measuring:
    """Return what is known of a project, and see to it that what is out of date is measured again."""
    with store.read() as tx:
        measured, last = load_measured(tx, project_id), latest_job(tx, project_id, MEASURE)
        outdated = measured is None or measured.event != newest_event(tx, project_id)
        ends = [measured.at] if measured else []
        ends += [last.finished_at] if last and last.finished_at else []
        rested = all(tx.now - end >= PATIENCE for end in ends)
    pending = last is not None and not last.is_over
    if outdated and rested and not pending:
        with store.write() as tx:
            ask(tx, project_id, MEASURE)
        pending = True
    return Measuring(measured, pending, last.problem if last and not pending else None)


@dataclass(frozen=True)
class OwnMeter:
    """What is shown to a writer of their own sentences, and when it was measured."""

    at: datetime
    group: Group
    last: Written | None


def own_meter(store: Store, project_id: int, person_id: int) -> OwnMeter | None:
    """Return what was measured of one writer, and see to it that what is out of date is measured again."""
    measured = look_up(store, project_id).measured
    if measured is None or measured.meter is None:
        return None
    with store.read() as tx:
        name = pseudonyms_of(tx, project_id).get(person_id)
    group = next((one for one in measured.meter.writers if one.name == name), None)
    return None if group is None else OwnMeter(measured.at, group, measured.meter.last.get(group.name))


@cache
def _adapter() -> TypeAdapter[Measured]:
    return TypeAdapter(Measured)

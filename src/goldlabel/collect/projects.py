"""Projects: their configuration, the premises to write about, and pairs that were written elsewhere."""

from __future__ import annotations

import json
import random
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, func, select

from goldlabel.collect.data.fixed_splits import refuse_two_in_pool, refuse_two_splits
from goldlabel.collect.data.importing.tables import refuse_long
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.events import record
from goldlabel.collect.kinds import KINDS, Kind
from goldlabel.collect.messages import message, words
from goldlabel.collect.money.ledger import in_units
from goldlabel.collect.people.pseudonyms import give_pseudonym
from goldlabel.collect.people.second_factor import has_factor
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.rounds.contexts import is_used_up
from goldlabel.collect.schema import members, model_votes, pairs, premises, projects, subsets, tasks
from goldlabel.collect.store import Transaction
from goldlabel.collect.texts import training_examples
from goldlabel.collect.work import drawing
from goldlabel.collect.work.rules import clean_text
from goldlabel.collect.work.verdicts import settle
from goldlabel.messages import Word
from goldlabel.pairs.labels import NO_GOLD

if TYPE_CHECKING:
    from goldlabel.collect.work.verdicts import Policy

STATES = ("running", "paused")
ARCHIVED, DELETED = "archived", "deleted"
IMPORTS = ("imported", "foreign", "gold")
LONGEST_NAME = 100
LONGEST_TEXT = 20_000
"""Characters of a sentence that comes with an imported pair."""


@dataclass(frozen=True)
class Project:
    """A project as it stands."""

    id: int
    name: str
    protocol: Protocol
    seed: int
    state: str
    created_at: datetime

    @property
    def kind(self) -> Kind:
        """What kind of collection it is."""
        return KINDS.get(self.protocol.kind)

    @property
    def policy(self) -> Policy:
        """When its pairs are decided."""
        return self.kind.policy(self.protocol)

    def random(self, *purpose: object) -> random.Random:
        """Return a generator that depends on the project's seed and on what it is for, never on earlier draws."""
        return random.Random("/".join(map(str, (self.seed, *purpose))))


@dataclass(frozen=True, kw_only=True)
class NewVote:
    """What somebody said of a pair elsewhere, under the name they have there."""

    annotator: str
    label: str
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class NewPair:
    """A pair written elsewhere. ``label`` is its own gold label, ``-`` if it has none; ``votes`` are to count.

    ``suggestion`` is a label that something, ``suggested_by``, proposes; ``split`` is where the pairs of its premise
    are to be, if that is fixed.
    """

    premise: str
    hypothesis: str
    label: str = NO_GOLD
    genre: str | None = None
    level: str | None = None
    original_id: str | None = None
    meta: Mapping[str, Any] | None = None
    votes: tuple[NewVote, ...] = ()
    suggestion: str | None = None
    suggested_by: str | None = None
    split: str | None = None


@dataclass(frozen=True)
class QueueLine:
    """How far one kind of work has come in one condition and genre."""

    kind: str
    origin: str
    condition: str
    genre: str
    waiting: int
    leased: int
    lapsed: int
    answered: int
    unusable: int


def create_project(
    tx: Transaction, name: str, protocol: Protocol, *, by: int | None = None, seed: int | None = None
) -> Project:
    """Make a project; who makes it becomes its requester. ``seed`` decides all that is drawn at random."""
    name = check_name(name)
    _check(protocol)
    values = {
        "name": name,
        "kind": protocol.kind,
        "config": dump_protocol(protocol),
        "seed": secrets.randbits(62) if seed is None else seed,
        "state": "running",
        "created_by": by,
        "created_at": tx.now,
    }
    if not tx.insert_new(projects, **values):
        raise Conflict("project_name_taken", name=name)
    made = project_named(tx, name)
    if by is not None:
        give_pseudonym(tx, made.id, by)
        tx.insert(
            members,
            project_id=made.id,
            person_id=by,
            role="requester",
            condition="",
            exclusive=False,
            state="active",
            attempts=1,
            joined_at=tx.now,
        )
    _record(tx, "project.created", made, by, config=protocol.to_dict())
    return made


def check_name(name: str) -> str:
    """Return a project's name as it is stored, or say what is wrong with it."""
    name = clean_text(name)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Invalid("project_name_length", n=len(name), longest=LONGEST_NAME)
    return name


def project(tx: Transaction, project_id: int) -> Project:
    """Return a project by its id."""
    row = tx.row(projects, id=project_id)
    if row is None or row.state == DELETED:
        raise Missing("no_project", name=project_id)
    return _project(row)


def project_named(tx: Transaction, name: str) -> Project:
    """Return a project by its name."""
    row = tx.one(select(projects).where(projects.c.name == name))
    if row is None:
        raise Missing("no_project_named", name=name)
    return _project(row)


def all_projects(tx: Transaction) -> list[Project]:
    """Return every project, the oldest first."""
    return [
        _project(row) for row in tx.all(select(projects).where(projects.c.state != DELETED).order_by(projects.c.id))
    ]


def projects_of(tx: Transaction, person_id: int) -> list[tuple[Project, list[str]]]:
    """Return the projects that a person has or had a role in, and the roles that they can use now."""
    roles: dict[int, list[str]] = defaultdict(list)
    for row in tx.all(select(members).where(members.c.person_id == person_id).order_by(members.c.role)):
        usable = ("active",) if row.role == "requester" else ("active", "paused")
        roles[row.project_id] += [row.role] if row.state in usable else []
    return [(one, roles[one.id]) for one in all_projects(tx) if one.id in roles]


def require_open(found: Project) -> None:
    """Refuse to change anything in a project that is archived."""
    if found.state == ARCHIVED:
        raise Conflict("project_archived", name=found.name)


def set_state(tx: Transaction, project_id: int, state: str, *, by: int | None) -> None:
    """Pause a project or let it run; a paused one gives out no tasks but takes answers."""
    if state not in STATES:
        raise Invalid("project_state", state=state, allowed=words(STATES))
    found = _locked(tx, project_id)
    if found.state != state:
        tx.run(projects.update().where(projects.c.id == project_id).values(state=state))
        _record(tx, f"project.{state}", found, by)


def configure(tx: Transaction, project_id: int, protocol: Protocol, *, by: int | None) -> Project:
    """Change a project's configuration; new conditions and larger shares take effect on what is there already."""
    found = _locked(tx, project_id)
    for name in ("kind", "language", "labels"):
        old, new = getattr(found.protocol, name), getattr(protocol, name)
        if old != new:
            raise Invalid("setting_stays", name=name, old=Word(old), new=Word(new))
    gone = {one.name for one in found.protocol.conditions} - {one.name for one in protocol.conditions}
    if gone:
        raise Invalid("condition_stays", name=Word(min(gone)))
    _check(protocol)
    wanted = protocol.qualification.second_factor and not found.protocol.qualification.second_factor
    if wanted and by is not None and not has_factor(tx, by):
        raise Invalid("own_factor_first")
    refuse_two_in_pool(tx, project_id, protocol)
    tx.run(projects.update().where(projects.c.id == project_id).values(config=dump_protocol(protocol)))
    changed = project(tx, project_id)
    _record(tx, "project.configured", changed, by, config=protocol.to_dict())
    _open_writing(tx, changed)
    drawing.draw_all(tx, changed, by)
    if found.protocol.verifying.models != protocol.verifying.models:
        judged = select(model_votes.c.pair_id).where(model_votes.c.project_id == project_id).distinct()
        for row in tx.all(judged.order_by(model_votes.c.pair_id)):
            settle(tx, changed, row.pair_id, by)
    return changed


def add_premises(tx: Transaction, project_id: int, new: Iterable[Premise], *, by: int | None) -> int:
    """Add premises to the pool and to the writers' queues, in random order; return how many were added."""
    rows = list(new)
    ranks = Ranks.draw(tx, _locked(tx, project_id), [one.genre or "" for one in rows])
    added = add_batch(tx, project_id, rows, ranks, by=by)
    tx.analyse(premises, tasks)
    return added


@dataclass(frozen=True)
class Ranks:
    """The places of new premises in the writers' queues: a random order over all of them, also if they come in parts.

    ``last`` is the last place that was taken in each condition and genre; ``left`` are the places after it, from which
    each premise takes the next.
    """

    last: Mapping[tuple[str, str], int]
    sizes: Mapping[str, int]
    left: Mapping[tuple[str, str], list[int]]
    chance: random.Random

    @classmethod
    def draw(cls, tx: Transaction, found: Project, genres: Sequence[str]) -> Ranks:
        """Draw places for premises of these genres."""
        own = (tasks.c.project_id == found.id, tasks.c.kind == "write")
        highest = select(tasks.c.condition, tasks.c.genre, func.max(tasks.c.rank).label("last")).where(*own)
        last = {
            (row.condition, row.genre): row.last for row in tx.all(highest.group_by(tasks.c.condition, tasks.c.genre))
        }
        sizes = Counter(genres)
        chance = found.random("writing", sum(last.values()), len(genres))
        left = {}
        for condition in found.protocol.conditions:
            for genre, size in sizes.items():
                left[condition.name, genre] = places = list(range(1, size + 1))
                chance.shuffle(places)
        return cls(last, sizes, left, chance)

    def next(self, condition: str, genre: str, writers: int) -> list[int]:
        """Return the next place for each writer of a premise; every premise has its first before any has a second."""
        place = self.last.get((condition, genre), 0) + self.left[condition, genre].pop()
        return [place + slot * self.sizes[genre] for slot in range(writers)]


def require_writing(found: Project) -> None:
    """Refuse premises where nobody writes."""
    if not found.kind.writes:
        raise Invalid("no_premises_taken", name=found.name, kind=Word(found.kind.name))


def add_batch(tx: Transaction, project_id: int, new: Sequence[Premise], ranks: Ranks, *, by: int | None) -> int:
    """Add some premises of those that places were drawn for; return how many."""
    found = _locked(tx, project_id)
    require_writing(found)
    refuse_two_splits(found.protocol, new)
    size = tx.value(select(func.max(premises.c.number)).where(premises.c.project_id == project_id)) or 0
    rows = [
        {
            "project_id": project_id,
            "number": number,
            "text": one.text,
            "genre": one.genre or "",
            "source": one.source,
            "original_id": one.original_id,
            "meta": one.meta or None,
            "split": one.split,
            "created_at": tx.now,
        }
        for number, one in enumerate(new, start=size + 1)
    ]
    ids = tx.insert_returning(premises, rows)
    _record(tx, "premises.added", found, by, first=size + 1, last=size + len(rows))
    writers = found.protocol.writing.writers_per_premise
    queued = [
        _writing(found, condition.name, one.genre or "", premise_id, slot, rank, ranks.chance)
        for condition in found.protocol.conditions
        for premise_id, one in zip(ids, new, strict=True)
        for slot, rank in enumerate(ranks.next(condition.name, one.genre or "", writers))
    ]
    tx.insert_all(tasks, queued)
    return len(rows)


def import_pairs(tx: Transaction, project_id: int, new: Iterable[NewPair], *, origin: str, by: int | None) -> int:
    """Add pairs written elsewhere: to be judged (``imported``), mixed in (``foreign``), or as questions (``gold``)."""
    rows = list(new)
    found = _locked(tx, project_id)
    count = check_import(found, rows, origin)
    place_pairs(tx, project_id, rows, {}, origin=origin, by=by)
    drawing.draw_imported(tx, found, origin, by)
    tx.analyse(premises, pairs, tasks)
    return count


def check_import(found: Project, new: Iterable[NewPair], origin: str) -> int:
    """Refuse pairs that a project cannot take for a purpose, at the first of them; return how many there are."""
    if origin not in IMPORTS:
        raise Invalid("origin", origin=origin, allowed=words(IMPORTS))
    if origin not in found.kind.imports:
        raise Invalid("pairs_are_written", name=found.name)
    number, splits = 0, dict[str, str | None]()
    for number, one in enumerate(new, 1):
        _check_pair(one, number, origin, found.protocol)
        refuse_two_splits(found.protocol, [Premise(text=one.premise, genre=one.genre, split=one.split)])
        before = splits.setdefault(clean_text(one.premise), one.split)
        if before != one.split:
            where = message("pair_at", n=number, id=one.original_id or "")
            raise Invalid("split_twice", where=where, one=Word(one.split or "none"), other=Word(before or "none"))
    return number


def place_pairs(
    tx: Transaction, project_id: int, new: Sequence[NewPair], known: dict[str, int], *, origin: str, by: int | None
) -> list[int]:
    """Add pairs that were checked and return their ids.

    ``known`` are the premises of the same import that are there, and is added to.
    """
    found = _locked(tx, project_id)
    by_genre: dict[str, list[NewPair]] = defaultdict(list)
    for one in new:
        by_genre[one.genre or ""].append(one)
    placed: dict[str, Iterator[int]] = {}
    for genre in sorted(by_genre):
        subset_id = drawing.lock_subset(tx, project_id, origin, "", genre)
        ids = _premises_of(tx, project_id, by_genre[genre], known)
        pair_ids = drawing.place(
            tx,
            subset_id,
            [
                {
                    "project_id": project_id,
                    "premise_id": premise_id,
                    "hypothesis": clean_text(one.hypothesis),
                    "label": one.label,
                    "level": one.level,
                    "original_id": one.original_id,
                    "meta": dict(one.meta) if one.meta else None,
                    "suggestion": one.suggestion,
                    "suggested_by": one.suggested_by,
                }
                for one, premise_id in zip(by_genre[genre], ids, strict=True)
            ],
        )
        placed[genre] = iter(pair_ids)
    _record(tx, "pairs.imported", found, by, origin=origin, genres={genre: len(by_genre[genre]) for genre in by_genre})
    return [next(placed[one.genre or ""]) for one in new]


def queue_progress(tx: Transaction, project_id: int) -> list[QueueLine]:
    """Return how many tasks of each kind and subset wait, are in someone's hands, or are done."""
    keys = (tasks.c.kind, tasks.c.condition, tasks.c.genre, tasks.c.subset_id)
    own = (tasks.c.project_id == project_id, tasks.c.kind != "gold")
    counts: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    n = func.count().label("n")
    for row in tx.all(select(*keys, tasks.c.state, n).where(*own).group_by(*keys, tasks.c.state)):
        counts[row[:4]][row.state] = row.n
    for row in tx.all(select(*keys, n).where(*own, tasks.c.lease_until <= tx.now).group_by(*keys)):
        counts[row[:4]].update(lapsed=row.n, leased=-row.n)
    drawn = {row.id: row for row in tx.all(select(subsets).where(subsets.c.project_id == project_id))}
    lines = [
        QueueLine(
            kind=kind,
            origin=drawn[subset_id].origin if subset_id else "written",
            condition=drawn[subset_id].condition if subset_id else condition,
            genre=genre,
            waiting=count["open"],
            leased=count["leased"],
            lapsed=count["lapsed"],
            answered=count["answered"],
            unusable=count["unusable"],
        )
        for (kind, condition, genre, subset_id), count in counts.items()
    ]
    return sorted(lines, key=lambda line: (line.kind, line.origin, line.condition, line.genre))


def _locked(tx: Transaction, project_id: int) -> Project:
    """Return a project whose row is held until the transaction ends; refuse one that is for reading only."""
    tx.lock(projects, project_id)
    held = project(tx, project_id)
    require_open(held)
    return held


def _project(row: Row[Any]) -> Project:
    return Project(row.id, row.name, _loaded(row.config), row.seed, row.state, row.created_at)


@lru_cache(maxsize=128)
def _loaded(config: str) -> Protocol:
    return Protocol.from_dict(json.loads(config))


def dump_protocol(protocol: Protocol) -> str:
    """Return a protocol as a project's row keeps it."""
    return json.dumps(protocol.to_dict(), ensure_ascii=False)


def _check(protocol: Protocol) -> None:
    """Refuse what only shows when people work: money too fine to pay, fewer training examples than asked for."""
    training_examples(protocol)
    for name in ("pair", "label", "bonus", "penalty", "floor", "budget"):
        in_units(getattr(protocol.pay, name))


def _record(tx: Transaction, kind: str, found: Project, by: int | None, **data: Any) -> None:
    record(tx, kind, project_id=found.id, person_id=by, subject=f"project {found.id}", data=data)


def _open_writing(tx: Transaction, found: Project) -> None:
    """Give every premise of the pool its writing tasks, as many as the configuration wants and it does not have."""
    for condition in found.protocol.conditions:
        for slot in range(found.protocol.writing.writers_per_premise):
            has = select(tasks.c.id).where(
                tasks.c.premise_id == premises.c.id,
                tasks.c.kind == "write",
                tasks.c.condition == condition.name,
                tasks.c.slot == slot,
            )
            wanted = tx.all(
                select(premises.c.id, premises.c.genre)
                .where(premises.c.project_id == found.id, premises.c.number.is_not(None), ~has.exists())
                .where(premises.c.hidden.is_(None), ~is_used_up(premises.c.id))
                .order_by(premises.c.number)
            )
            _queue_writing(tx, found, condition.name, slot, wanted)


def _queue_writing(tx: Transaction, found: Project, condition: str, slot: int, wanted: Sequence[Row[Any]]) -> None:
    own = (tasks.c.project_id == found.id, tasks.c.kind == "write", tasks.c.condition == condition)
    taken = tx.all(select(tasks.c.genre, func.max(tasks.c.rank).label("last")).where(*own).group_by(tasks.c.genre))
    ranks = defaultdict(int, [(row.genre, row.last) for row in taken])
    rows = list(wanted)
    chance = found.random("writing", condition, slot, sum(ranks.values()))
    chance.shuffle(rows)
    queued = []
    for row in rows:
        ranks[row.genre] += 1
        queued.append(_writing(found, condition, row.genre, row.id, slot, ranks[row.genre], chance))
    tx.insert_all(tasks, queued)


def _writing(
    found: Project, condition: str, genre: str, premise_id: int, slot: int, rank: int, chance: random.Random
) -> dict[str, Any]:
    return {
        "project_id": found.id,
        "kind": "write",
        "condition": condition,
        "genre": genre,
        "premise_id": premise_id,
        "slot": slot,
        "rank": rank,
        "tie": chance.getrandbits(31),
        "state": "open",
    }


def _check_pair(one: NewPair, number: int, origin: str, protocol: Protocol) -> None:
    told = {"n": number, "id": one.original_id or ""}
    for name in ("premise", "hypothesis"):
        size = len(clean_text(getattr(one, name)[: 2 * LONGEST_TEXT]))
        if not size:
            raise Invalid("pair_empty", **told, name=Word(name))
        if size > LONGEST_TEXT:
            raise Invalid("pair_long", **told, name=Word(name), longest=LONGEST_TEXT)
    refuse_long(one, message("pair_at", **told))
    allowed = protocol.answers if origin == "gold" else (*protocol.label_space.labels, NO_GOLD)
    if one.label not in allowed:
        raise Invalid("pair_label", **told, label=one.label, labels=words(allowed))
    if one.suggestion is not None and one.suggestion not in protocol.answers:
        raise Invalid("pair_suggestion", **told, label=one.suggestion, labels=words(protocol.answers))


def _premises_of(tx: Transaction, project_id: int, new: Sequence[NewPair], known: dict[str, int]) -> list[int]:
    """Return the id of each pair's premise; pairs of one import with the same premise share it."""
    texts = [clean_text(one.premise) for one in new]
    fresh = {text: one for text, one in zip(texts, new, strict=True) if text not in known}
    rows = [
        {"project_id": project_id, "text": text, "genre": one.genre or "", "split": one.split, "created_at": tx.now}
        for text, one in fresh.items()
    ]
    known.update(zip(fresh, tx.insert_returning(premises, rows), strict=True))
    return [known[text] for text in texts]

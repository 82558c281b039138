"""Trying a project out as an annotator, without leaving traces in it.

A try-out is a small collection of its own in a temporary folder: a copy of the settings with some of the premises and
pairs, and nobody in it but the requester. Every page of the annotators works on it as on any other, and answers go
through the same rules; the real project is read once, when it begins, and never written. Where people write against
models, those of its last round answer, asked by the same worker as ever. It is known by its numbers:
those of its project and its assignments lie above all others, in a range of its own.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

from sqlalchemy import func, select

from goldlabel.collect.data.new_pairs import NewPair, place_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.events import record
from goldlabel.collect.kinds.kind import WRITE
from goldlabel.collect.people.accounts import Session
from goldlabel.collect.people.membership import give_role
from goldlabel.collect.projects import Project, dump_protocol, project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.rounds.rounds import open_round, rounds_of
from goldlabel.collect.schema import accounts, assignments, events, pairs, people, premises, projects, tasks
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.texts import known_examples
from goldlabel.collect.work import drawing
from goldlabel.collect.work.pool import add_premises

FIRST = 1 << 50
"""The lowest number of a try-out; a page's script counts exactly to eight times as many."""
_BITS = 20
"""So many bits of a number are for the things within one try-out."""
SHOWN = 20
"""Premises and pairs that are copied."""
KEPT_SECONDS = 24 * 3600
_MOST_OPEN = 16
_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)
_open: OrderedDict[int, Store] = OrderedDict()
_guard = threading.Lock()


def is_tryout(number: int) -> bool:
    """Say whether a project's or an assignment's number is that of a try-out."""
    return number >= FIRST


def tryout_number(text: str | None) -> int | None:
    """Return the number in an address, if it is that of a try-out."""
    return int(text) if text and _NUMBER.fullmatch(text) and is_tryout(int(text)) else None


def begin(store: Store, project_id: int, person: Session, *, condition: str = "", training: bool = False) -> int:
    """Copy a project for one requester and return the copy's number."""
    with store.read() as tx:
        original = project(tx, project_id)
        texts, written = _premises(tx, original), _pairs(tx, original)
        fought = rounds_of(tx, project_id)[-1:] if original.kind.has_rounds else []
    if original.kind.has_rounds and not fought:
        raise Invalid("tryout_rounds")
    if original.kind.has_conditions:
        condition = condition or original.protocol.conditions[0].name
        original.protocol.condition(condition)
    if not written or (original.kind.writes and not texts):
        raise Invalid("tryout_empty", name=original.name)
    _clear_old()
    number = FIRST | secrets.randbits(50 - _BITS) << _BITS
    trial = Store.create(_place(number))
    try:
        with trial.write() as tx:
            _fill(tx, number, original, person, condition, _protocol(original, training), texts, written)
            for one in fought:
                open_round(
                    tx, number, one.adversaries, number_of_tries=one.tries, pay=one.pay, contexts_follow=True, by=None
                )
    except BaseException:
        trial.close()
        shutil.rmtree(_place(number), ignore_errors=True)
        raise
    _keep(number, trial)
    return number


def trial_places() -> list[Path]:
    """Return where the try-outs lie: whoever answers tries answers those made in them, too."""
    return sorted(place for place in _folder().iterdir() if place.is_dir()) if _named_folder().exists() else []


def trial_store(number: int) -> Store:
    """Return the collection of the try-out that a number belongs to."""
    with _guard:
        known = _open.get(number >> _BITS)
    if known is not None:
        return known
    if not _place(number).is_dir():
        raise Missing("no_project", name=number)
    return _keep(number, Store.open(_place(number)))


def end(number: int) -> int:
    """Throw a try-out away and return the project that it was of."""
    with trial_store(number).read() as tx:
        data = tx.value(select(events.c.data).where(events.c.kind == "tryout.begun"))
    with _guard:
        trial = _open.pop(number >> _BITS, None)
    if trial is not None:
        trial.close()
    shutil.rmtree(_place(number), ignore_errors=True)
    return int(data["project"])


def _premises(tx: Transaction, original: Project) -> list[Premise]:
    own = (premises.c.project_id == original.id, premises.c.number.is_not(None))
    rows = tx.all(select(premises).where(*own).order_by(premises.c.number).limit(SHOWN))
    return [Premise(text=row.text, genre=row.genre or None, source=row.source) for row in rows]


def _pairs(tx: Transaction, original: Project) -> list[NewPair]:
    """Return pairs of a project to judge; where it has none yet, examples of a training, if there is one or not."""
    query = (
        select(pairs.c.hypothesis, premises.c.text, premises.c.genre)
        .join(premises, premises.c.id == pairs.c.premise_id)
        .where(pairs.c.project_id == original.id, pairs.c.state == "counted")
        .order_by(pairs.c.id)
        .limit(SHOWN)
    )
    found = [NewPair(premise=row.text, hypothesis=row.hypothesis, genre=row.genre or None) for row in tx.all(query)]
    return found or [
        NewPair(premise=one.premise, hypothesis=one.hypothesis)
        for one in (original.protocol.examples or known_examples(original.protocol))[:SHOWN]
    ]


def _protocol(original: Project, training: bool) -> Protocol:
    """Return the settings with which every copied pair is judged once, with or without the training before."""
    protocol = original.protocol
    wanted = protocol.qualification.training if training else 0
    return replace(
        protocol,
        verifying=replace(protocol.verifying, share=0.0 if original.kind.writes else 1.0, foreign=SHOWN, verifiers=1),
        qualification=replace(protocol.qualification, gold_rate=0.0, training=wanted),
    )


def _fill(
    tx: Transaction,
    number: int,
    original: Project,
    person: Session,
    condition: str,
    protocol: Protocol,
    texts: list[Premise],
    written: list[NewPair],
) -> None:
    tx.insert(people, id=person.person_id, pseudonym=str(person.person_id), created_at=tx.now)
    account = {"login": person.login, "password_hash": "none", "requester": False}
    tx.insert(accounts, person_id=person.person_id, created_at=tx.now, **account)
    tx.insert(
        projects,
        id=number,
        name=original.name,
        kind=protocol.kind,
        config=dump_protocol(protocol),
        seed=secrets.randbits(62),
        state="running",
        created_at=tx.now,
    )
    data = {"project": original.id}
    record(tx, "tryout.begun", project_id=number, person_id=person.person_id, subject=f"project {number}", data=data)
    for work in original.kind.works:
        give_role(tx, number, person.person_id, work.role, condition=condition if work is WRITE else "")
    if original.kind.writes:
        add_premises(tx, number, texts, by=None)
    origin = "foreign" if original.kind.writes else original.kind.own
    place_pairs(tx, number, written, {}, origin=origin, by=None)
    drawing.draw_imported(tx, project(tx, number), origin, None)
    _begin_numbers(tx, number)


def _begin_numbers(tx: Transaction, number: int) -> None:
    """Let assignments be numbered from the try-out's own number on: SQLite goes on from the largest there is."""
    task = tx.one(select(tasks).limit(1))
    assert task is not None
    nobody = tx.insert(people, pseudonym="-", created_at=tx.now)
    tx.insert(
        assignments,
        id=number,
        project_id=number,
        task_id=task.id,
        person_id=nobody,
        kind=task.kind,
        rank=0,
        state="skipped",
        leased_at=tx.now,
        expires_at=tx.now,
    )
    assert tx.value(select(func.max(assignments.c.id))) == number


def _keep(number: int, trial: Store) -> Store:
    with _guard:
        kept = _open.setdefault(number >> _BITS, trial)
        if kept is not trial:
            trial.close()
        while len(_open) > _MOST_OPEN:
            _open.popitem(last=False)[1].close()
    return kept


def _place(number: int) -> Path:
    return _folder() / str(number >> _BITS)


def _named_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"goldlabel-tryouts-{os.getuid()}"


def _folder() -> Path:
    """Return the folder of all try-outs of who runs the server, which nobody else can read or prepare."""
    folder = _named_folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if folder.is_symlink() or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise Invalid("tryout_folder", folder=folder)
    return folder


def _clear_old() -> None:
    for place in _folder().iterdir():
        if time.time() - place.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(place, ignore_errors=True)

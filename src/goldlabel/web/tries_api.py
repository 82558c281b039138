"""What the page sends and fetches on which people write against a model: tries, and the end of a job.

A try is stored, and the request waits a moment for the worker to have it answered; what takes longer the page asks for
again. Waiting holds neither a thread nor a transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Annotated
from weakref import WeakKeyDictionary

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from goldlabel.collect.rounds import fooling, tries
from goldlabel.collect.rounds.proposals import proposal_for
from goldlabel.collect.rounds.records import Try
from goldlabel.collect.rounds.rounds import open_round_of
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.leases import own_assignment
from goldlabel.errors import StorageError
from goldlabel.web.annotator_api import Answered, Key, answered
from goldlabel.web.security import ObjectId, Person, Stored
from goldlabel.web.work import LONGEST_TEXT, Name, Seconds

router = APIRouter(tags=["annotators"])

PATIENCE = 1.5
"""Seconds that a request waits for a model."""
PAUSE = 0.03


class NewTry(BaseModel):
    """A sentence against the model."""

    key: Key
    text: str = Field(max_length=LONGEST_TEXT)


class ShownTry(BaseModel):
    """A try as its page shows it; ``state`` is ``waiting``, ``failed``, ``right`` (the model) or ``fooled``.

    Where the model is not to be seen it is ``sent``.
    """

    number: int
    key: str
    text: str
    state: str
    scores: dict[str, float] | None


class Tries(BaseModel):
    """The tries of a job, the label that it asks for, and how many tries are left of how many.

    ``suggestion`` is a sentence to begin with, where there is one.
    """

    target: str
    shows_model: bool
    suggestion: str | None
    left: int
    most: int
    tries: list[ShownTry]


class Finish(BaseModel):
    """The end of a job, with the writer's reasons where the model was fooled."""

    key: Key
    reasons: dict[Annotated[str, Field(max_length=20)], Annotated[str, Field(max_length=LONGEST_TEXT)]] = Field(
        default={}, max_length=10
    )
    timings: dict[Name, Seconds] = Field(default={}, max_length=100)


@router.get("/assignments/{assignment_id}/tries")
async def show(assignment_id: ObjectId, person: Person, store: Stored) -> Tries:
    """Return the tries of a job, the last one with the model's answer if it comes soon."""
    shown = await run_in_threadpool(_view, store, assignment_id, person.person_id)
    if not any(one.state == "waiting" for one in shown.tries):
        return shown
    await _wait(store, assignment_id)
    return await run_in_threadpool(_view, store, assignment_id, person.person_id)


@router.post("/assignments/{assignment_id}/tries")
async def add(assignment_id: ObjectId, sent: NewTry, person: Person, store: Stored) -> Tries:
    """Keep a try, and return it with the model's answer if that comes soon."""
    if await run_in_threadpool(_add, store, assignment_id, person.person_id, sent):
        await _wait(store, assignment_id)
    return await run_in_threadpool(_view, store, assignment_id, person.person_id)


@router.post("/assignments/{assignment_id}/finish")
def finish(assignment_id: ObjectId, sent: Finish, person: Person, store: Stored) -> Answered:
    """End a job."""
    with store.write(repeatable=True) as tx:
        receipt = fooling.finish(
            tx, assignment_id, person.person_id, key=sent.key, reasons=sent.reasons, timings=sent.timings
        )
    return answered(store, person.person_id, receipt, "write")


def _add(store: Store, assignment_id: int, person_id: int, sent: NewTry) -> bool:
    """Keep a try; say whether its writer waits for a model."""
    with store.write(repeatable=True) as tx:
        return tries.add_try(tx, assignment_id, person_id, key=sent.key, text=sent.text).waits


async def _wait(store: Store, assignment_id: int) -> None:
    await _WAITING_ROOMS.setdefault(store, WaitingRoom()).wait(store, assignment_id)


@dataclass
class WaitingRoom:
    """Those who wait for models to answer, and one look into the database for all of them, now and then.

    If each looked for themselves, fifty writers would keep the server from whatever else it has to do.
    """

    gates: dict[asyncio.Event, int] = field(default_factory=dict)
    """Whoever waits, by the assignment they wait for."""
    looking: asyncio.Task[None] | None = None

    async def wait(self, store: Store, assignment_id: int) -> None:
        """Wait until no try of a job waits any more, or patience is at its end."""
        gate = asyncio.Event()
        self.gates[gate] = assignment_id
        if self.looking is None:
            self.looking = asyncio.create_task(self._look(store))
        try:
            async with asyncio.timeout(PATIENCE):
                await gate.wait()
        except TimeoutError:
            pass
        finally:
            del self.gates[gate]

    async def _look(self, store: Store) -> None:
        """Look as long as somebody waits; where nobody can look, those who wait are told so as they look themselves."""
        try:
            while self.gates:
                await asyncio.sleep(PAUSE)
                asked = {*self.gates.values()}
                try:
                    waiting = await run_in_threadpool(_waiting, store, asked)
                except StorageError:
                    waiting = set()
                for gate, assignment_id in self.gates.items():
                    if assignment_id in asked - waiting:
                        gate.set()
        finally:
            self.looking = None


_WAITING_ROOMS: WeakKeyDictionary[Store, WaitingRoom] = WeakKeyDictionary()


def _waiting(store: Store, assignment_ids: Collection[int]) -> set[int]:
    with store.read() as tx:
        return tries.waiting_jobs(tx, assignment_ids)


def view(tx: Transaction, assignment_id: int, person_id: int) -> Tries:
    """Return the tries of a person's job as its page shows them."""
    row = own_assignment(tx, assignment_id, person_id)
    job, fought = tries.job_of(tx, row), open_round_of(tx, row.project_id)
    suggested = proposal_for(tx, row.premise_id, job.target) if job.arm.assisted else None
    return Tries(
        target=job.target,
        shows_model=job.arm.shows_model,
        suggestion=suggested.text if suggested else None,
        left=tries.tries_left(job.arm, fought, job.tries) if fought is not None else 0,
        most=tries.most_tries(job.arm, fought) if fought is not None else 0,
        tries=[_shown(one, job.arm.shows_model) for one in job.tries],
    )


def _view(store: Store, assignment_id: int, person_id: int) -> Tries:
    with store.read() as tx:
        return view(tx, assignment_id, person_id)


def _shown(one: Try, shows_model: bool) -> ShownTry:
    if not shows_model:
        return ShownTry(number=one.number, key=one.key, text=one.text, state="sent", scores=None)
    state = "waiting" if one.decided_at is None else "failed" if one.failed else "fooled" if one.fooled else "right"
    return ShownTry(
        number=one.number,
        key=one.key,
        text=one.text,
        state=state,
        scores=None if one.scores is None else dict(one.scores),
    )

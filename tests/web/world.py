"""A small world for the pages' tests: two projects of two requesters, people in every role, and things to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.export import EXPORT
from goldlabel.collect.data.measurements import Measured, load_measured
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.jobs import ask, end_job, take_job
from goldlabel.collect.money import by_hand
from goldlabel.collect.people import accounts, letters, people, rejection
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.schema import answers, checks, decisions, invites, jobs, pairs
from goldlabel.collect.schema import ledger as ledger_lines
from goldlabel.collect.schema import letters as letters_sent
from goldlabel.collect.schema import premises as premise_rows
from goldlabel.collect.schema import remarks as remarks_made
from goldlabel.collect.store import Store, system_clock
from goldlabel.collect.work import assignment, remarks
from goldlabel.collect.work.pool import add_premises
from goldlabel.web.app import create_app
from goldlabel.web.security import SESSION
from goldlabel.worker.measuring import measure_project
from goldlabel.worker.work import work_once
from tests.collect.campaign import ANIMALS, GENRES, bring_pairs, small_protocol, verify_all, write_all

PASSWORD = "four random words here"
ROLES = ("requester", "writer", "verifier", "expert")


def login_of(name: str) -> str:
    """Return the login of a person: something that stands nowhere else."""
    return f"{name.replace(' ', '-')}@label.example"


class Visitor:
    """Somebody with a browser, logged in or not."""

    def __init__(
        self, app: FastAPI, session: accounts.NewSession | None = None, base: str = "http://localhost"
    ) -> None:
        self.client = TestClient(app, base_url=base, raise_server_exceptions=False, follow_redirects=False)
        if session is not None:
            self.client.cookies.set(SESSION, session.token)
        self.csrf = session.csrf_secret if session else ""

    def get(self, path: str, **options: Any) -> Any:
        """Look at a page."""
        return self.client.get(path, **options)

    def post(self, path: str, data: dict[str, Any] | None = None, **options: Any) -> Any:
        """Send a form with its token."""
        return self.client.post(path, data={"csrf": self.token(), **(data or {})}, **options)

    def send(self, path: str, data: dict[str, Any] | None = None, **options: Any) -> Any:
        """Send a form with its token and go where the answer leads."""
        answer = self.post(path, data, **options)
        return self.get(answer.headers["location"]) if answer.status_code == 303 else answer

    def token(self) -> str:
        """Return the token of the session, or the visitor's."""
        if not self.csrf:
            return str(self.client.get("/api/session").json()["csrf"])
        return self.csrf


@dataclass
class World:
    """A store being served, and who and what is in it."""

    store: Store
    app: FastAPI
    people: dict[str, int] = field(default_factory=dict)
    project: int = 0
    other: int = 0

    def visitor(self, name: str | None = None, **options: Any) -> Visitor:
        """Return a browser of somebody who is logged in, or of a stranger."""
        if name is None:
            return Visitor(self.app, **options)
        with self.store.write() as tx:
            session = accounts.open_session(tx, self.people[name], lifetime=timedelta(hours=1))
        return Visitor(self.app, session, **options)

    def called(self, name: str, project_id: int = 0) -> str:
        """Return the pseudonym that somebody has in a project: the first one, unless told another."""
        with self.store.read() as tx:
            return pseudonyms_of(tx, project_id or self.project)[self.people[name]]

    def work_off(self) -> None:
        """Do what a worker would."""
        while work_once(self.store, "worker"):
            pass

    def export(self, visitor: Visitor, project_id: int, **options: str) -> Any:
        """Have an export made and download it."""
        home = f"/projects/{project_id}"
        asked = visitor.post(f"{home}/export", options)
        assert (asked.status_code, asked.headers["location"]) == (303, f"{home}/export")
        assert "<progress" in visitor.get(f"{home}/export").text
        self.work_off()
        link = re.search(rf'href="({home}/exports/\d+)"', visitor.get(f"{home}/export").text)
        assert link is not None
        return visitor.get(link[1])

    def measured(self) -> Measured:
        """Measure the project as it is now."""
        measure_project(self.store, self.project)
        with self.store.read() as tx:
            measured = load_measured(tx, self.project)
        assert measured is not None
        return measured

    def one(self, query: Any) -> Any:
        """Return the first value of a query."""
        with self.store.read() as tx:
            return tx.value(query)


@contextmanager
def opened(place: Path | str, clock: Any = system_clock) -> Iterator[World]:
    """Serve a new, empty store, with its first requester."""
    store = Store.create(place, clock=clock)
    world = World(store, create_app(store))
    with store.write() as tx:
        world.people["boss"] = accounts.create_account(tx, login_of("boss"), HASH, requester=True)
    try:
        yield world
    finally:
        store.close()


def populate(world: World, protocol: Protocol | None = None, *, premises: int = 12) -> World:
    """Fill a world: a project in which people wrote and judged, and one of somebody else."""
    store = world.store
    chosen = protocol or small_protocol("multi-constraint", verifiers=2)
    chosen = replace(chosen, conditions=tuple(replace(one, checked_share=1.0) for one in chosen.conditions))
    with store.write() as tx:
        boss = world.people["boss"]
        world.people["rival"] = accounts.create_account(tx, login_of("rival"), HASH, requester=True)
        for number, owner in enumerate((boss, world.people["rival"])):
            made = create_project(tx, ("meadow", "marsh")[number], chosen, by=owner, seed=7)
            pool = [
                Premise(text=f"Yesterday a {animal} crossed the wet road number {n}.", genre=GENRES[n % 2])
                for n, animal in enumerate(ANIMALS[:premises])
            ]
            add_premises(tx, made.id, pool, by=owner)
            if number == 0:
                world.project = made.id
            else:
                world.other = made.id
        for project_id, prefix in ((world.project, ""), (world.other, "rival's ")):
            for role in ROLES[1:]:
                for place in range(2):
                    name = f"{prefix}{role}{place or ''}"
                    world.people[name] = accounts.create_account(tx, login_of(name), HASH)
                    people.add_member(tx, project_id, world.people[name], role, by=None)
        world.people["nobody"] = accounts.create_account(tx, login_of("nobody"), HASH)
    for project_id, prefix in ((world.project, ""), (world.other, "rival's ")):
        write_all(store, project_id, [world.people[f"{prefix}writer"]], most=premises - 2)
        verify_all(store, project_id, [world.people[f"{prefix}verifier{place}"] for place in ("", "1")], most=40)
        bring_pairs(store, project_id, 3, origin="gold", labels=("entailment", "neutral"))
        _think_again(world, project_id, world.people[f"{prefix}verifier1"])
        with store.write() as tx:
            owner = world.people["rival" if prefix else "boss"]
            writer = world.people[f"{prefix}writer"]
            people.invite(tx, project_id=project_id, role="writer", lifetime=timedelta(days=1), by=owner)
            by_hand.give(tx, project_id, writer, kind="bonus", amount=Decimal("1.50"), reason="kind", key="k", by=owner)
            [held] = assignment.claim(tx, project_id, writer, "write").tasks
            ask(tx, project_id, EXPORT, by=owner)
            done = take_job(tx, "worker")
            assert done is not None
            end_job(tx, done.id)
            letters.write_letter(tx, project_id, "Thank you all.", to=None, by=owner)
            remarks.make_remark(tx, project_id, held.assignment_id, writer, "a word is missing")
            assignment.claim(tx, project_id, world.people[f"{prefix}verifier"], "verify")
    return world


def _think_again(world: World, project_id: int, person_id: int) -> None:
    """Set a person's judgements aside, and take the decision back."""
    with world.store.write() as tx:
        decision_id = rejection.decide(tx, project_id, person_id, "requeue", reason="in doubt", by=None)
    rejection.carry_out(world.store, project_id, decision_id, by=None)
    with world.store.write() as tx:
        rejection.take_back(tx, project_id, decision_id, by=None)
    rejection.carry_out(world.store, project_id, decision_id, by=None)


def objects(world: World, project_id: int) -> dict[str, int]:
    """Return the ids of things in a project, by the names that addresses have for them."""
    prefix = "" if project_id == world.project else "rival's "
    return {
        "project_id": project_id,
        "pair_id": world.one(
            select(pairs.c.id).where(pairs.c.project_id == project_id, pairs.c.writer_id.is_not(None))
        ),
        "premise_id": world.one(
            select(premise_rows.c.id).where(premise_rows.c.project_id == project_id, premise_rows.c.number.is_not(None))
        ),
        "pseudonym": world.called(f"{prefix}writer", project_id),
        "invite_id": world.one(select(invites.c.id).where(invites.c.project_id == project_id)),
        "line_id": world.one(select(ledger_lines.c.id).where(ledger_lines.c.project_id == project_id)),
        "decision_id": world.one(select(decisions.c.id).where(decisions.c.project_id == project_id)),
        "letter_id": world.one(select(letters_sent.c.id).where(letters_sent.c.project_id == project_id)),
        "remark_id": world.one(select(remarks_made.c.id).where(remarks_made.c.project_id == project_id)),
        "answer_id": world.one(select(answers.c.id).where(answers.c.project_id == project_id)),
        "job_id": world.one(select(jobs.c.id).where(jobs.c.project_id == project_id)),
        "check_id": world.one(select(checks.c.id).where(checks.c.project_id == project_id)),
    }


HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)

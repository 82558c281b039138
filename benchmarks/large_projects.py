"""What the size of a project costs: the export, a requester's pages, and votes while premises are imported."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from statistics import median
from typing import Any

WORDS = ("river", "stone", "lamp", "meadow", "barn", "ferry", "cloud", "market", "window", "garden", "letter", "winter")


def texts(count: int) -> Iterator[str]:
    """Different sentences."""
    chance = random.Random(0)
    for number in range(count):
        yield f"The {' '.join(chance.choices(WORDS, k=8))} number {number} was seen."


def fill(place: str, pairs: int) -> int:
    """Make a project with so many written pairs, 15 % of them verified by four; return its id."""
    from goldlabel.collect.configuration import create_project
    from goldlabel.collect.data.premises import Premise
    from goldlabel.collect.people.accounts import create_account
    from goldlabel.collect.people.people import add_member
    from goldlabel.collect.protocols import make_protocol
    from goldlabel.collect.store import Store
    from goldlabel.collect.work.assignment import claim
    from goldlabel.collect.work.pool import add_premises
    from goldlabel.collect.work.rules import Hypothesis
    from goldlabel.collect.work.verifying import vote
    from goldlabel.collect.work.writing import submit

    protocol = make_protocol("multi", "en")
    rules = replace(protocol.qualification, training=0)
    protocol = replace(protocol, qualification=rules, writing=replace(protocol.writing, cap=None))
    slots = protocol.slots("multi")
    store = Store.create(place)
    with store.write() as tx:
        made = create_project(tx, "export", protocol, seed=0)
        add_premises(tx, made.id, (Premise(text=text, genre="news") for text in texts(-(-pairs // 9))), by=None)
        people = [create_account(tx, f"person-{number}", "not a hash") for number in range(5)]
        add_member(tx, made.id, people[0], "writer", condition="multi", by=None)
        for person_id in people[1:]:
            add_member(tx, made.id, person_id, "verifier", by=None)
    chance, more = random.Random(0), True
    while more:
        with store.write() as tx:
            for _ in range(500):
                given = claim(tx, made.id, people[0], "write").tasks
                more = bool(given)
                if not more:
                    break
                written = [
                    Hypothesis(label=label, level=level, text=f"{chance.getrandbits(60):x} sits {level} {label}")
                    for label, level in slots
                ]
                submit(tx, given[0].assignment_id, people[0], key="k", hypotheses=written, timings={"total": 60.0})
    for person_id in people[1:]:
        with store.write() as tx:
            while given := claim(tx, made.id, person_id, "verify", hold=100).tasks:
                for one in given:
                    label = (one.hypothesis or "").split()[-1] if chance.random() < 0.9 else "neutral"
                    vote(tx, one.assignment_id, person_id, key="k", label=label, seconds=3.0)
    store.close()
    return made.id


def run_export(place: str, project_id: int, folder: str) -> int:
    from goldlabel.collect.data.export import export_project
    from goldlabel.collect.store import Store

    store = Store.open(place)
    return len(export_project(store, project_id, folder).splits)


PROJECT = "/projects/{project_id}"
PAGES = (
    "/",
    *(
        PROJECT + page
        for page in (
            "",
            "/figures",
            "/pairs",
            "/pairs?verified=yes",
            "/people",
            "/ledger",
            "/premises",
            "/queue",
            "/payouts",
            "/export",
        )
    ),
)


def measure_pages(place: str, project_id: int) -> dict[str, dict[str, float]]:
    """Return how many milliseconds of processor each page of a requester takes, the best of three, and statements."""
    from fastapi.testclient import TestClient
    from sqlalchemy import Engine, event

    from goldlabel.collect.people.accounts import create_account, open_session
    from goldlabel.collect.people.people import add_member
    from goldlabel.collect.store import Store
    from goldlabel.web.app import create_app
    from goldlabel.worker.measuring import measure_project

    store = Store.open(place)
    with store.write() as tx:
        person_id = create_account(tx, "requester", "not a hash")
        add_member(tx, project_id, person_id, "requester", by=None)
        session = open_session(tx, person_id, lifetime=timedelta(hours=1))
    measure_project(store, project_id)
    client = TestClient(create_app(store), base_url="http://localhost", cookies={"goldlabel_session": session.token})

    statements = [0]

    def note(*_: object) -> None:
        statements[0] += 1

    def look(page: str) -> tuple[float, int]:
        start, statements[0] = time.process_time(), 0
        client.get(page.format(project_id=project_id)).raise_for_status()
        return 1000 * (time.process_time() - start), statements[0]

    event.listen(Engine, "before_cursor_execute", note)
    taken = {}
    for page in PAGES:
        milliseconds, counts = zip(*(look(page) for _ in range(3)), strict=True)
        taken[page] = {"milliseconds": min(milliseconds), "statements": min(counts)}
    event.remove(Engine, "before_cursor_execute", note)
    store.close()
    return taken


def measure_import(place: str, premises: int) -> dict[str, Any]:
    """Vote without pause while premises are imported; return how long the import took and how long votes waited.

    Beside it, what a vote waits where nothing is imported, in the same run.
    """
    from goldlabel.collect.configuration import create_project
    from goldlabel.collect.data.importing.batches import add_all_premises
    from goldlabel.collect.data.new_pairs import NewPair, import_pairs
    from goldlabel.collect.data.premises import Premise
    from goldlabel.collect.people.accounts import create_account
    from goldlabel.collect.people.people import add_member
    from goldlabel.collect.protocols import make_protocol
    from goldlabel.collect.store import Store
    from goldlabel.collect.work.assignment import claim
    from goldlabel.collect.work.verifying import vote

    protocol = make_protocol("multi", "en")
    protocol = replace(
        protocol,
        qualification=replace(protocol.qualification, training=0),
        verifying=replace(protocol.verifying, foreign=20_000, verifiers=1),
    )
    store = Store.create(place)
    with store.write() as tx:
        made = create_project(tx, "import", protocol, seed=0)
        person = create_account(tx, "verifier", "not a hash")
        add_member(tx, made.id, person, "verifier", by=None)
        pool = [NewPair(premise=text, hypothesis=f"{text} It is so.") for text in texts(20_000)]
        import_pairs(tx, made.id, pool, origin="foreign", by=None)

    def votes_until(stop: Callable[[int], bool]) -> list[float]:
        waits: list[float] = []
        while not stop(len(waits)):
            start = time.perf_counter()
            with store.write() as tx:
                (task,) = claim(tx, made.id, person, "verify").tasks
                vote(tx, task.assignment_id, person, key="k", label="neutral")
            waits.append(time.perf_counter() - start)
        return waits

    alone = votes_until(lambda count: count == 200)
    new = [Premise(text=text, genre="news") for text in texts(premises)]
    with ThreadPoolExecutor(1) as pool_of_threads:
        start = time.perf_counter()
        added = pool_of_threads.submit(add_all_premises, store, made.id, new, by=None)
        waits = votes_until(lambda count: added.done() or count == 15_000)
        added.result()
        seconds = time.perf_counter() - start
    store.close()
    return {
        "premises": premises,
        "seconds": seconds,
        "votes": len(waits),
        "longest_wait": max(waits),
        "median_wait": median(waits),
        "longest_wait_alone": max(alone),
        "median_wait_alone": median(alone),
    }

"""Many hands at once, in threads and in processes, and processes that are killed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.money.recount import check
from goldlabel.collect.schema import answers, assignments, ledger, pairs, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises
from tests.collect.campaign import join, small_protocol, write_all
from tests.collect.test_assignment import pool

ROOT = Path(__file__).parents[2]
VERIFIERS = 3


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.collect.workers", name, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def written(place: str, *, premises: int) -> tuple[Store, int]:
    """A collection with all written; leases of verifiers last a second."""
    store = Store.create(place)
    protocol = small_protocol("single", verifiers=VERIFIERS)
    with store.write() as tx:
        short = replace(protocol, verifying=replace(protocol.verifying, lease_seconds=1))
        project_id = create_project(tx, "meadow", short, seed=2).id
        add_premises(tx, project_id, pool({"news": premises - 2, "letters": 2}), by=None)
    write_all(store, project_id, join(store, project_id, "writer", 2))
    return store, project_id


def test_sixteen_claimers_in_four_processes_vote_exactly(place: str) -> None:
    store, project_id = written(place, premises=8)
    people = join(store, project_id, "verifier", 16)
    processes = [start("vote", place, project_id, *people[part::4]) for part in range(4)]
    told = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, told
    with store.read() as tx:
        counted = tx.all(select(answers).where(answers.c.kind == "verify", answers.c.state == "counted"))
        given = tx.all(select(assignments).where(assignments.c.kind == "verify"))
        assert check(tx, project_id) == []
    store.close()
    votes = Counter(row.pair_id for row in counted)
    assert (len(votes), set(votes.values())) == (24, {VERIFIERS})
    assert max(Counter((row.person_id, row.pair_id) for row in given).values()) == 1


def test_sixteen_threads_never_hold_one_task_together(store: Store) -> None:
    protocol = small_protocol("single")
    with store.write() as tx:
        project_id = create_project(tx, "meadow", protocol, seed=2).id
        add_premises(tx, project_id, pool({"news": 12, "letters": 12}), by=None)
    writers = join(store, project_id, "writer", 16)
    together = threading.Barrier(16)
    held: list[int] = []

    def work(person_id: int) -> None:
        together.wait()
        for hold in (1, 2):
            with store.write() as tx:
                claim(tx, project_id, person_id, "write", hold=hold)

    threads = [threading.Thread(target=work, args=(person_id,)) for person_id in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as tx:
        held = [row.task_id for row in tx.all(select(assignments).where(assignments.c.state == "leased"))]
        states = Counter(row.state for row in tx.all(select(tasks.c.state)))
        assert check(tx, project_id) == []
    assert len(held) == len(set(held)) == 24
    assert states == {"leased": 24}


def test_one_person_in_two_windows_gets_one_task(store: Store) -> None:
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol("single"), seed=2).id
        add_premises(tx, project_id, pool({"news": 9}), by=None)
    [writer] = join(store, project_id, "writer", 1)
    together, seen = threading.Barrier(6), []

    def work() -> None:
        together.wait()
        with store.write() as tx:
            got = claim(tx, project_id, writer, "write").tasks
        seen.extend(one.assignment_id for one in got)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(seen), len(set(seen))) == (6, 1)


def test_what_was_acknowledged_survives_a_kill(place: str) -> None:
    store = Store.create(place)
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol("single", share=0.5), seed=2).id
        add_premises(tx, project_id, pool({"news": 400}), by=None)
    [writer] = join(store, project_id, "writer", 1)
    chance, acknowledged = random.Random(11), []
    for _ in range(4):
        process = start("write", place, project_id, writer)
        assert process.stdout is not None
        for _ in range(chance.randint(3, 25)):
            acknowledged.append(process.stdout.readline().strip())
        threading.Event().wait(chance.random() * 0.02)
        process.kill()
        rest, told = process.communicate(timeout=300)
        assert process.returncode == -9, told
        acknowledged += [line for line in rest.splitlines() if line.startswith("answer to ")]
    with store.read() as tx:
        stored = [row.key for row in tx.all(select(answers))]
        made = Counter(row.answer_id for row in tx.all(select(pairs)))
        paid = Counter(row.answer_id for row in tx.all(select(ledger)))
        assert check(tx, project_id) == []
    store.close()
    assert "" not in acknowledged
    assert {*acknowledged} <= {*stored}
    assert len(stored) == len({*stored}) == len(made) == len(paid)
    assert (set(made.values()), set(paid.values())) == ({3}, {1})

"""Large imports: in batches that let others write between them, once however often the file comes."""

from __future__ import annotations

import gzip
import io
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.importing import batches, tables
from goldlabel.collect.data.importing.batches import add_all_pairs, add_all_premises
from goldlabel.collect.data.importing.pairs import NewPairs, read_pairs
from goldlabel.collect.data.importing.uploads import plain_file
from goldlabel.collect.data.new_pairs import LONGEST_TEXT, NewPair
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money.recount import check
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import events, pairs, premises, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.turns import Turns
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.verifying import vote
from goldlabel.errors import InputError, StorageError
from tests.collect.campaign import bring_pairs, join, small_protocol


def pool(count: int, start: int = 0) -> list[Premise]:
    return [
        Premise(text=f"The barge number {n} lay at the pier.", genre=("news", "letters")[n % 3 == 0])
        for n in range(start, start + count)
    ]


def brought(count: int) -> list[NewPair]:
    return [
        NewPair(premise=f"The barge number {n // 3} lay at the pier.", hypothesis=f"Barge {n} is there.")
        for n in range(count)
    ]


def made(store: Store, name: str = "multi", **changes: object) -> int:
    protocol = replace(small_protocol(name, verifiers=2), **changes)  # type: ignore[arg-type]
    with store.write() as tx:
        return create_project(tx, "meadow", protocol, seed=7).id


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "ROWS", 20)


def test_votes_get_in_between_the_batches_of_an_import(store: Store) -> None:
    """After each batch the import goes on only when one more vote is in: no batch holds the others' lock."""
    project_id = made(store, verifying=replace(make_protocol("multi", "en").verifying, foreign=100, verifiers=2))
    bring_pairs(store, project_id, 30, origin="foreign", labels=("neutral",))
    (person,) = join(store, project_id, "verifier", 1)
    asked, voted = threading.Event(), threading.Event()
    rounds = []

    def verify() -> None:
        while asked.wait(60) and not stop:
            asked.clear()
            with store.write() as tx:
                (task,) = claim(tx, project_id, person, "verify").tasks
                vote(tx, task.assignment_id, person, key="k", label="neutral")
            voted.set()

    def told(count: int) -> None:
        voted.clear()
        asked.set()
        assert voted.wait(30), "a vote had to wait for the import"
        rounds.append(count)

    stop = False
    voter = threading.Thread(target=verify, daemon=True)
    voter.start()
    assert add_all_premises(store, project_id, pool(95), by=None, told=told) == 95
    stop = True
    asked.set()
    voter.join()
    assert rounds == [10] * 9 + [5]
    with store.read() as tx:
        kinds = [row.kind for row in tx.all(select(events.c.kind).order_by(events.c.id))]
        assert not check(tx, project_id)
    between = [kind for kind in kinds if kind in ("premises.added", "answer.verify")]
    assert between == ["premises.added", "answer.verify"] * 10


def test_a_lock_goes_to_who_waited_longest() -> None:
    lock, order, waiting = Turns(), [], threading.Event()

    def second() -> None:
        waiting.set()
        with lock:
            order.append("second")

    thread = threading.Thread(target=second)
    with lock:
        thread.start()
        waiting.wait(30)
        while not lock._waiting:
            pass
    with lock:
        order.append("first again")
    thread.join()
    assert order == ["second", "first again"]


def test_the_same_premises_twice_add_nothing(store: Store) -> None:
    project_id = made(store)
    assert add_all_premises(store, project_id, pool(50), by=None) == 50
    assert add_all_premises(store, project_id, pool(50), by=None) == 0
    assert add_all_premises(store, project_id, [*pool(60), *pool(60)], by=None) == 10
    with store.read() as tx:
        numbers = [row.number for row in tx.all(select(premises.c.number).order_by(premises.c.id))]
        assert not check(tx, project_id)
    assert numbers == list(range(1, 61))


def test_two_uploads_of_one_file_at_once_add_it_once(store: Store) -> None:
    project_id = made(store)
    first = threading.Event()
    added = []

    def bring() -> None:
        first.wait(30)
        added.append(add_all_premises(store, project_id, pool(40), by=None))

    thread = threading.Thread(target=bring)
    thread.start()
    added.append(add_all_premises(store, project_id, pool(40), by=None, told=lambda _: first.set()))
    thread.join()
    assert sum(added) == 40
    with store.read() as tx:
        assert tx.value(select(func.count()).select_from(premises)) == 40
        assert not check(tx, project_id)


def test_the_order_of_writing_is_random_over_all_batches(store: Store) -> None:
    """Of two hundred premises in batches of ten, the first ten in the queue come from more than two batches."""
    project_id = made(store, writing=replace(make_protocol("multi", "en").writing, writers_per_premise=2))
    new = [replace(one, genre="news") for one in pool(200)]
    add_all_premises(store, project_id, new, by=None)
    with store.read() as tx:
        queue = tx.all(
            select(premises.c.number, tasks.c.slot, tasks.c.rank)
            .join(tasks, tasks.c.premise_id == premises.c.id)
            .order_by(tasks.c.rank)
        )
    assert [row.rank for row in queue] == list(range(1, 401))
    assert [row.slot for row in queue] == [0] * 200 + [1] * 200
    assert len({row.number // 10 for row in queue[:10]}) > 2


@pytest.mark.parametrize("origin", ["imported", "gold", "foreign"])
def test_the_same_pairs_twice_add_nothing(store: Store, origin: str) -> None:
    verifying = replace(small_protocol("vetting").verifying, foreign=7, verifiers=3)
    project_id = made(store, "vetting", verifying=verifying)
    new = [replace(one, label="likely") for one in brought(45)]
    assert add_all_pairs(store, project_id, new, origin=origin, by=None) == (45, 45)
    assert add_all_pairs(store, project_id, [*new, *new], origin=origin, by=None) == (90, 0)
    with store.read() as tx:
        wanted = {"imported": 45, "gold": 0, "foreign": 7}[origin]
        drawn = select(func.count()).select_from(pairs).where(pairs.c.draw_number.is_not(None))
        assert tx.value(drawn) == wanted
        assert tx.value(select(func.count()).select_from(tasks)) == 3 * wanted
        assert tx.value(select(func.count()).select_from(premises)) == 15
        assert not check(tx, project_id)


@pytest.mark.parametrize(("share", "drawn"), [(1.0, 45), (0.4, 18)])
def test_pairs_are_drawn_at_random_over_all_batches(store: Store, share: float, drawn: int) -> None:
    project_id = made(store, "vetting", verifying=replace(small_protocol("vetting").verifying, share=share))
    add_all_pairs(store, project_id, brought(45), origin="imported", by=None)
    query = select(pairs.c.number).where(pairs.c.draw_number.is_not(None)).order_by(pairs.c.draw_number)
    with store.read() as tx:
        order = [row.number for row in tx.all(query)]
        assert not tx.all(select(pairs.c.id).where(pairs.c.considered.is_(False)))
    assert len(order) - drawn in (0, 1)
    assert len({number // 10 for number in order[:6]}) > 2


def test_a_pair_that_cannot_be_used_leaves_nothing_behind(store: Store) -> None:
    project_id = made(store, "vetting")
    for wrong, told in (
        (NewPair(premise="x" * (LONGEST_TEXT + 1), hypothesis="y"), r"pair 46: premise is longer than 20000"),
        (NewPair(premise="x", hypothesis="y " * 30_000_000), r"pair 46: hypothesis is longer"),
        (NewPair(premise="x", hypothesis="y", genre="g" * 201), r"pair 46: genre has 201 characters"),
        (NewPair(premise="x", hypothesis="y", meta={"a": "b" * 30_000}), r"pair 46: meta has \d+ characters"),
    ):
        with pytest.raises(InputError, match=told):
            add_all_pairs(store, project_id, [*brought(45), wrong], origin="imported", by=None)
    with store.read() as tx:
        assert tx.value(select(func.count()).select_from(pairs)) == 0


def test_an_import_that_the_database_stops_says_how_far_it_came(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project_id = made(store)
    real, calls = batches.add_batch, Counter[str]()

    def failing(*given: object, **named: object) -> int:
        calls["n"] += 1
        if calls["n"] == 3:
            raise StorageError("the disk is full")
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "add_batch", failing)
    with pytest.raises(InputError, match=r"20 of 45 were added, then the database refused .*disk is full.* again"):
        add_all_premises(store, project_id, pool(45), by=None)
    assert add_all_premises(store, project_id, pool(45), by=None) == 25
    with store.read() as tx:
        assert not check(tx, project_id)


def test_pairs_may_have_no_label(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"premise": "a b", "hypothesis": "c"}\n{"premise": "d", "hypothesis": "e", "label": "likely"}\n')
    found = NewPairs(read_pairs(path, "ordinal5"), make_protocol("vetting", "en"), "imported")
    assert [one.label for one in found] == ["-", "likely"]
    path.write_text('{"premise": "a b", "hypothesis": "c"}\n')
    assert [one.label for one in NewPairs(read_pairs(path, "ordinal5"), found.protocol, "imported")] == ["-"]


def test_a_packed_upload_is_unpacked_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    with plain_file(io.BytesIO(gzip.compress(b"one\ntwo\n")), "pool.txt.gz") as path:
        assert (path.name, path.read_bytes()) == ("pool.txt", b"one\ntwo\n")
    assert not path.exists()
    monkeypatch.setattr(tables, "MOST_BYTES", 1 << 20)
    bomb = gzip.compress(bytes(64 << 20))
    with (
        pytest.raises(InputError, match=r"pool.txt.gz: is larger than 1 MB"),
        plain_file(io.BytesIO(bomb), "pool.txt.gz"),
    ):
        raise AssertionError
    cut = gzip.compress(b"one\n" * 1000)[:-20]
    with pytest.raises(InputError, match=r"pool.txt.gz: .*cut short"), plain_file(io.BytesIO(cut), "pool.txt.gz"):
        raise AssertionError

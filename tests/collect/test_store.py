from __future__ import annotations

import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError

from goldlabel.collect.collection import collection_key
from goldlabel.collect.events import record
from goldlabel.collect.schema import events, ledger, people
from goldlabel.collect.store import Store
from goldlabel.errors import InputError, StorageError
from tests.collect.conftest import MovableClock


def names(store: Store) -> list[str]:
    with store.read() as tx:
        return [row.pseudonym for row in tx.all(select(people).order_by(people.c.id))]


def add(store: Store, name: str) -> int:
    with store.write() as tx:
        return tx.insert(people, pseudonym=name, created_at=tx.now)


def test_what_a_block_writes_is_kept_whole(store: Store) -> None:
    add(store, "heron")
    assert names(store) == ["heron"]


def test_a_block_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write() as tx:
            tx.insert(people, pseudonym="heron", created_at=tx.now)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert names(store) == []


def test_a_write_block_within_another_is_a_fault(store: Store) -> None:
    with store.write() as tx:
        with pytest.raises(RuntimeError, match="a write block stands within another"), store.write():
            pass
        tx.insert(people, pseudonym="heron", created_at=tx.now)
    assert names(store) == ["heron"]


def test_a_reader_sees_one_snapshot(store: Store) -> None:
    add(store, "heron")
    with store.read() as tx:
        before = tx.value(select(func.count()).select_from(people))
        add(store, "otter")
        assert tx.value(select(func.count()).select_from(people)) == before == 1
    assert names(store) == ["heron", "otter"]


def test_a_read_block_cannot_write(store: Store) -> None:
    def write() -> None:
        with store.read() as tx:
            tx.insert(people, pseudonym="heron", created_at=tx.now)

    with pytest.raises((StorageError, DBAPIError), match="read"):
        write()
    assert names(store) == []


def test_time_is_the_clocks_and_stands_still_in_a_block(store: Store, clock: MovableClock) -> None:
    with store.write() as tx:
        began = tx.now
        clock.move(hours=1)
        assert tx.now == began
        tx.insert(people, pseudonym="heron", created_at=tx.now)
    with store.read() as tx:
        assert tx.value(select(people.c.created_at)) == began
        assert tx.now == clock.now


def test_many_rows_get_their_ids_in_order(store: Store) -> None:
    with store.write() as tx:
        rows = [{"pseudonym": f"p{number}", "created_at": tx.now} for number in range(2500)]
        ids = tx.insert_returning(people, rows)
        found = {row.id: row.pseudonym for row in tx.all(select(people))}
    assert [found[key] for key in ids] == [row["pseudonym"] for row in rows]


def test_a_row_that_is_there_is_not_inserted_again(store: Store) -> None:
    with store.write() as tx:
        assert tx.insert_new(people, pseudonym="heron", created_at=tx.now)
        assert not tx.insert_new(people, pseudonym="heron", created_at=tx.now)
    assert names(store) == ["heron"]


@pytest.mark.parametrize("table", [events, ledger])
@pytest.mark.parametrize("action", ["update", "delete"])
def test_events_and_ledger_are_append_only(store: Store, table: object, action: str) -> None:
    with store.write() as tx:
        person_id = tx.insert(people, pseudonym="heron", created_at=tx.now)
        project_id = tx.value(
            text(
                "INSERT INTO projects (name, kind, config, seed, state, created_at) "
                "VALUES ('meadow', 'elicitation', '{}', 1, 'running', 0) RETURNING id"
            )
        )
        event_id = record(tx, "something", project_id=project_id, person_id=person_id, subject="person 1")
        tx.insert(
            ledger,
            project_id=project_id,
            person_id=person_id,
            event_id=event_id,
            kind="bonus",
            amount=1,
            reason="kindness",
            key="k",
            at=tx.now,
        )

    def change() -> None:
        with store.write() as tx:
            tx.run(table.update().values(kind="other") if action == "update" else table.delete())  # type: ignore[attr-defined]

    with pytest.raises(DBAPIError, match="append-only"):
        change()
    with store.read() as tx:
        assert tx.one(select(table)).kind in ("something", "bonus")  # type: ignore[call-overload, union-attr]


def test_a_collection_is_made_once(place: str) -> None:
    Store.create(place).close()
    with pytest.raises(InputError, match="holds a collection already; open it"):
        Store.create(place)


def test_opening_again_finds_what_was_there(place: str) -> None:
    store = Store.create(place)
    add(store, "heron")
    store.close()
    again = Store.open(place)
    assert names(again) == ["heron"]
    again.close()


def test_opening_where_there_is_none_says_how_to_make_one(place: str) -> None:
    with pytest.raises(InputError, match="holds no collection; make one with: goldlabel collect init"):
        Store.open(place)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("mysql://someone:secret@host/name", "cannot hold a collection"),
        ("sqlite://", "cannot hold a collection"),
        ("postgresql://someone:secret@host:port/name", "is no address of a database"),
    ],
)
def test_addresses_that_hold_no_collection(place: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as told:
        Store.open(place)
    assert "secret" not in str(told.value)


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(StorageError, match="cannot be used") as told:
        Store.open("postgresql://someone:secret@127.0.0.1:1/name")
    assert "secret" not in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / Store.file).write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(InputError, match="is not a database of Goldlabel"):
        Store.open(tmp_path)


def test_the_file_is_the_owners_alone_and_durable(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    assert stat.S_IMODE((tmp_path / Store.file).stat().st_mode) == 0o600
    with store.write() as tx:
        settings = [tx.value(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous", "foreign_keys")]
    store.close()
    assert settings == ["wal", 2, 1]


def test_two_stores_of_one_process_take_turns(tmp_path: Path) -> None:
    stores = [Store.create(tmp_path), Store.open(tmp_path)]

    def work(store: Store, name: str) -> None:
        for number in range(20):
            add(store, f"{name}{number}")

    threads = [threading.Thread(target=work, args=(store, f"s{n}-")) for n, store in enumerate(stores * 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names(stores[0])) == 160
    for store in stores:
        store.close()


def test_another_programs_lock_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldlabel.collect.databases.BUSY_SECONDS", 0)
    store = Store.create(tmp_path)
    other = sqlite3.connect(tmp_path / Store.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"database is locked.*nothing was changed"):
        add(store, "heron")
    other.execute("COMMIT")
    other.close()
    add(store, "heron")
    assert names(store) == ["heron"]
    store.close()


def test_a_collection_keeps_a_key_that_no_other_has(tmp_path: Path) -> None:
    keys = []
    for name, opening in (("one", Store.create), ("one", Store.open), ("two", Store.create)):
        store = opening(tmp_path / name)
        with store.read() as tx:
            keys.append(collection_key(tx))
        store.close()
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) == len(keys[2]) == 32

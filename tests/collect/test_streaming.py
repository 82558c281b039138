"""An export holds no more than a block of a project's rows at a time, however large the project is."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data import records, settled
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.money import ledger
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.store import Store, Transaction
from tests.collect.campaign import Projects, bring_pairs, join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock

BLOCK = 5


@pytest.fixture
def rows_held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows the database gave at once, each time."""
    sizes: list[int] = []
    ask_all, ask_blocks = Transaction.all, Transaction.blocks

    def all_rows(self: Transaction, query: Any, **values: Any) -> Sequence[Any]:
        rows = ask_all(self, query, **values)
        sizes.append(len(rows))
        return rows

    def blocks(self: Transaction, query: Any, size: int) -> Iterator[Sequence[Any]]:
        for rows in ask_blocks(self, query, size):
            sizes.append(len(rows))
            yield rows

    monkeypatch.setattr(Transaction, "all", all_rows)
    monkeypatch.setattr(Transaction, "blocks", blocks)
    return sizes


def played(projects: Projects, place: str, premises: int) -> tuple[Store, int]:
    """A project whose clock stands still: an export says in which minute it was made."""
    store, project_id = projects.open(place, small_protocol(), premises=premises, clock=MovableClock())
    write_all(store, project_id, join(store, project_id, "writer", 2))
    bring_pairs(store, project_id, 2 * premises, origin="foreign", labels=("neutral",))
    verify_all(store, project_id, join(store, project_id, "verifier", 4))
    return store, project_id


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_no_more_rows_are_held_of_a_larger_project(
    place: str, tmp_path: Path, rows_held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Projects() as projects:
        store, project_id = played(projects, place, premises=3)
        export_project(store, project_id, tmp_path / "whole")
        monkeypatch.setattr(records, "BLOCK", BLOCK)
        monkeypatch.setattr(ledger, "BLOCK", BLOCK)
        rows_held.clear()
        export_project(store, project_id, tmp_path / "blocks")
    # The most that belongs to a block are the four votes on each of its pairs.
    assert max(rows_held) == 4 * BLOCK < 27
    assert digests(tmp_path / "whole") == digests(tmp_path / "blocks")


def peak_of_export(folder: Path, pairs: int) -> int:
    """Return the most bytes that Python and NumPy held at once while so many pairs were exported."""
    store = Store.create(folder / "site")
    with store.write() as tx:
        made = create_project(tx, "meadow", make_protocol("vetting", "en"), seed=7)
        new = [NewPair(premise=f"Lamp {n // 3} burns.", hypothesis=f"Lamp {n} is lit.") for n in range(pairs)]
        import_pairs(tx, made.id, new, origin="imported", by=None)
    del new
    tracemalloc.start()
    try:
        exported = export_project(store, made.id, folder / "out")
        assert len(exported.pairs) == pairs
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        store.close()


def test_memory_hardly_grows_with_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BLOCK", 100)
    monkeypatch.setattr(settled, "BLOCK", 100)
    _, small, large = (peak_of_export(tmp_path / name, pairs) for name, pairs in (("a", 10), ("b", 400), ("c", 1600)))
    # A few numbers of each pair may be held; its row alone, as the database gives it, takes 500 bytes and more.
    assert (large - small) / 1200 < 100


def test_a_snapshot_in_files_is_the_one_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BLOCK", BLOCK)
    with Projects() as projects:
        store, project_id = played(projects, str(tmp_path / "site"), premises=3)
        with store.read() as tx:
            held, filed = take_snapshot(tx, project_id), take_snapshot(tx, project_id, scratch=tmp_path)
    assert len(held.own) == 27
    assert held.own.collect().equals(filed.own.collect())
    assert held.foreign.collect().equals(filed.foreign.collect())
    assert held.verdicts.equals(filed.verdicts)

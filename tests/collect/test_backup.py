"""Backup and restore: what comes back is what was there, on either database."""

from __future__ import annotations

import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from goldlabel.collect.backup import MANIFEST, back_up, restore
from goldlabel.collect.configuration import create_project
from goldlabel.collect.money.recount import check
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from tests.collect.campaign import join, small_protocol, verify_all, write_all
from tests.collect.test_assignment import pool


@pytest.fixture
def project_id(store: Store) -> int:
    """A project with people, texts in Chinese, pairs, votes and money."""
    with store.write() as tx:
        made = create_project(tx, "湿地", small_protocol("single"), seed=2).id
        add_premises(tx, made, pool({"news": 6}), by=None)
    write_all(store, made, join(store, made, "writer", 2), most=4)
    verify_all(store, made, join(store, made, "verifier", 4))
    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Another place, on each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "elsewhere")
    return str(request.getfixturevalue("cluster").new_database())


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}


def test_what_comes_back_is_what_was_there(store: Store, project_id: int, elsewhere: str, tmp_path: Path) -> None:
    manifest = back_up(store, tmp_path / "first.zip")
    assert manifest.rows["answers"] > 12
    restore(tmp_path / "first.zip", elsewhere)
    with closing(Store.open(elsewhere)) as restored:
        back_up(restored, tmp_path / "second.zip")
        with restored.read() as tx:
            assert check(tx, project_id) == []
        # Work goes on: numbers that rows have are not given out again.
        assert write_all(restored, project_id, join(restored, project_id, "writer", 1, exclusive=True), most=1) == 1
    assert contents(tmp_path / "first.zip") == contents(tmp_path / "second.zip")


def test_a_backup_while_people_work_is_of_one_moment(store: Store, project_id: int, tmp_path: Path) -> None:
    [writer] = join(store, project_id, "writer", 1, exclusive=True)
    back_up(store, tmp_path / "before.zip")
    written = []
    back_up(
        store,
        tmp_path / "busy.zip",
        lambda _: written.append(write_all(store, project_id, [writer], most=1)),
    )
    assert sum(written) > 1
    assert contents(tmp_path / "busy.zip") == contents(tmp_path / "before.zip")


def test_only_its_owner_may_read_it(store: Store, tmp_path: Path) -> None:
    back_up(store, tmp_path / "first.zip")
    assert (tmp_path / "first.zip").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("database", ["sqlite"])
def test_nothing_is_restored_over_a_collection(store: Store, tmp_path: Path) -> None:
    back_up(store, tmp_path / "first.zip")
    with pytest.raises(Invalid, match="holds a collection already"):
        restore(tmp_path / "first.zip", tmp_path / "collection")
    assert (tmp_path / "collection" / Store.file).exists()


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_damaged_backup_restores_nothing(store: Store, project_id: int, tmp_path: Path) -> None:
    back_up(store, tmp_path / "first.zip")
    with zipfile.ZipFile(tmp_path / "first.zip") as whole, zipfile.ZipFile(tmp_path / "less.zip", "w") as less:
        for name in whole.namelist():
            rows = whole.read(name)
            less.writestr(name, rows if name != "answers.jsonl" else rows.splitlines(keepends=True)[0])
    with pytest.raises(Invalid, match="table answers has 1 rows"):
        restore(tmp_path / "less.zip", tmp_path / "nowhere")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "first.zip").read_bytes()[:-200])
    with pytest.raises(Invalid, match="is no backup"):
        restore(tmp_path / "cut.zip", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere" / Store.file).exists()

from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.evaluate.suite import SuitePlan
from goldlabel.leaderboard.board import Limits, PlannedSuite, make_board, open_board, read_board
from goldlabel.leaderboard.schema import metadata
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submitters import bearer, make_token, withdraw_tokens
from goldlabel.leaderboard.trail import steps
from tests.leaderboard.boards import GOLD, Leaderboard, Make, opened, plan


def test_what_is_given_out_tells_no_label(board: Leaderboard) -> None:
    for part in board.board.sets:
        rows = [json.loads(line) for line in part.questions()]
        assert {name for row in rows for name in row} == {"id", "premise", "hypothesis"}
        assert not {row["id"] for row in rows} & {*part.gold.frame["id"]}
        assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
        texts = pl.DataFrame(rows)["hypothesis"].to_list()
        assert sorted(texts) == sorted(part.gold.frame["hypothesis"])
        assert texts != part.gold.frame["hypothesis"].to_list(), "the order of a corpus can tell its labels"


def test_gold_is_the_owners_alone(board: Leaderboard) -> None:
    assert stat.S_IMODE((board.folder / "gold").stat().st_mode) == 0o700
    files = [*(board.folder / "gold").iterdir()]
    assert len(files) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert [*board.board.suites[0].find("pond").gold.frame["label"]] == GOLD["pond"]


def test_the_schema_is_what_the_migration_makes(tmp_path: Path, place: str | None) -> None:
    made = opened(tmp_path / "board", database=place)
    with made.store.read() as tx:
        found = inspect(tx.connection)
        tables = {name: {column["name"] for column in found.get_columns(name)} for name in found.get_table_names()}
        indexes = {index["name"] for name in tables for index in found.get_indexes(name)}
    tables.pop("alembic_version")
    assert tables == {table.name: {column.name for column in table.columns} for table in metadata.sorted_tables}
    assert {index.name for table in metadata.sorted_tables for index in table.indexes} <= indexes
    with pytest.raises(DBAPIError, match="append-only"), made.store.write() as tx:
        tx.connection.execute(text("DELETE FROM trail"))
    made.store.close()


def test_a_folder_and_a_database_belong_together(tmp_path: Path, make: Make) -> None:
    first = make("first")
    make("second")
    with pytest.raises(InputError, match="is not the database of the leaderboard"):
        open_board(first.folder, str(tmp_path / "second"))
    with pytest.raises(InputError, match="holds a leaderboard already"):
        make("first")
    with pytest.raises(InputError, match="holds no leaderboard"):
        read_board(tmp_path)
    Store.create(tmp_path / "collection").close()
    with pytest.raises(InputError, match="holds no leaderboard"):
        BoardStore.open(tmp_path / "collection")


def test_nothing_is_left_of_a_board_that_cannot_be_made(tmp_path: Path) -> None:
    fields = PlannedSuite(name="fields", plan=plan())
    with pytest.raises(InputError, match="cannot hold"):
        make_board(tmp_path / "board", [fields], database="mysql://nowhere/x")
    assert not [*(tmp_path / "board").glob("gold/*")]
    empty = SuitePlan(sets=(), systems=(), missing={"lake": "add it"})
    with pytest.raises(InputError, match="there is no set to score by \\(lake: add it\\)"):
        make_board(tmp_path / "other", [fields, PlannedSuite(name="lakes", plan=empty)])
    with pytest.raises(InputError, match="two suites are called 'fields'"):
        make_board(tmp_path / "other", [fields, fields])
    for limits in ({"per_day": 0}, {"per_day": 5, "per_week": 4}):
        with pytest.raises(InputError, match="cannot be"):
            Limits(**limits)
    assert not (tmp_path / "other").exists()


def test_tokens_are_kept_as_hashes_and_can_be_withdrawn(board: Leaderboard) -> None:
    submitter = board.join("Reed Lab")
    first = board.tokens["Reed Lab"]
    with board.store.write() as tx:
        second = make_token(tx, "  Reed   Lab ")
        assert bearer(tx, second) == submitter == bearer(tx, first)
        assert bearer(tx, first[:-1]) is None
    raw = (board.folder / BoardStore.file).read_bytes() + (board.folder / f"{BoardStore.file}-wal").read_bytes()
    assert first.encode() not in raw
    with board.store.write() as tx:
        assert withdraw_tokens(tx, "Reed Lab") == 2
        assert bearer(tx, first) is bearer(tx, second) is None
        assert [step.kind for step in steps(tx)] == ["board.made", "token.made", "token.made", "tokens.withdrawn"]
        with pytest.raises(InputError, match="no submitter called 'Nobody'"):
            withdraw_tokens(tx, "Nobody")
        for name in ("", " \u200b ", "x" * 101):
            with pytest.raises(InputError, match="1 to 100 characters"):
                make_token(tx, name)

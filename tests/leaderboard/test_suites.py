"""Several suites on one leaderboard, each answered, scored and ranked by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from goldlabel.errors import InputError
from goldlabel.leaderboard.board import FILE, Limits, open_board
from goldlabel.leaderboard.migrations import REVISIONS
from goldlabel.leaderboard.store import BoardStore
from goldlabel.web.leaderboard.site import build_leaderboard
from tests.cli.commands import run
from tests.leaderboard.boards import GOLD, Leaderboard, answers, csv, one_csv, opened
from tests.leaderboard.test_web import visitors


@pytest.fixture
def two(make: object) -> Leaderboard:
    assert callable(make)
    board: Leaderboard = make(beside={"ponds": ["pond"]}, limits=Limits(per_day=4, per_week=4))
    return board


def test_each_suite_is_ranked_by_itself(two: Leaderboard, tmp_path: Path) -> None:
    """The best of one suite is the worst of the other; the same file answers either."""
    pond = {wrong: one_csv("pond", answers(wrong)["pond"]) for wrong in (0, 30)}
    with visitors(two, "Reed Lab") as (anybody, submitter):
        names = [suite["name"] for suite in anybody.get("/api/v1/board").json()["suites"]]
        assert names == ["fields", "ponds"]
        for name, suite, data in (
            ("early", "fields", csv(answers(0))),
            ("late", "fields", csv(answers(30))),
            ("early", "ponds", pond[30]),
            ("late", "ponds", pond[0]),
        ):
            assert submitter.send(data, file="pond.csv", name=name, suite=suite).status_code == 201
        two.work()
        listed = [(entry.suite, entry.name, entry.rank) for entry in two.entries()]
        assert listed == [("fields", "early", 1), ("fields", "late", 2), ("ponds", "late", 1), ("ponds", "early", 2)]
        page = anybody.get("/").text
        assert "fields: early leads" in page
        assert "ponds: late leads" in page
        assert anybody.get("/board-2.csv").text.count("\n") == 3
        assert ",meadow" not in anybody.get("/board-2.csv").text
        assert "of ponds" in anybody.get("/entries/3").text
        fifth = submitter.send(pond[0], file="pond.csv", name="fifth", suite="ponds")
        assert fifth.status_code == 429, "a set may be part of two suites: limits count for all of them"
        build_leaderboard(two.folder, tmp_path / "site")
    assert (tmp_path / "site" / "board-2.csv").is_file()
    assert 'href="board-2.csv"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_a_submission_answers_one_suite(two: Leaderboard) -> None:
    with visitors(two, "Reed Lab") as (_, submitter):
        nothing = submitter.send(csv(answers()))
        assert (nothing.status_code, "name one of fields, ponds" in nothing.json()["message"]) == (422, True)
        assert "no suite called 'lakes'" in submitter.send(csv(answers()), suite="lakes").json()["message"]
        submitter.send(one_csv("pond", GOLD["pond"]), file="pond.csv", suite="fields")
        submitter.send(csv(answers()), suite="ponds")
        two.work()
        problems = [told["problem"] for told in submitter.get("/api/v1/submissions").json()["submissions"]]
        assert "dataset 'meadow' is no set here" in problems[0]
        assert "no predictions for meadow" in problems[1]
        assert two.entries() == []


def test_a_leaderboard_of_an_older_version(tmp_path: Path, place: str | None) -> None:
    """It is refused with the command that brings it up to date; nothing of it is lost."""
    board = opened(tmp_path / "board", database=place)
    board.send(board.join("Reed Lab"), csv(answers(6)))
    board.work()
    document = json.loads((board.folder / FILE).read_text(encoding="utf-8"))
    [suite] = document.pop("suites")
    before = {**document, "format": 1, "suite": suite["name"], **{key: suite[key] for key in ("sets", "references")}}
    (board.folder / FILE).write_text(json.dumps(before), encoding="utf-8")
    with board.store._writer.begin() as connection:
        connection.execute(text("ALTER TABLE submissions DROP COLUMN suite"))
        connection.execute(text("UPDATE alembic_version SET version_num = 'board_0001'"))
    board.store.close()
    with pytest.raises(InputError, match="goldlabel leaderboard migrate"):
        open_board(board.folder, place)
    where = [] if place is None else ["--database", place]
    assert run("leaderboard", "migrate", board.folder, *where).stdout == f"schema board_0001 is now {REVISIONS.head}\n"
    assert "nothing to do" in run("leaderboard", "migrate", board.folder, *where).stdout
    migrated = Leaderboard(*open_board(board.folder, place), board.folder)
    assert [(entry.rank, entry.suite) for entry in migrated.entries()] == [(None, "fields")]
    migrated.work()
    assert [(entry.name, entry.rank) for entry in migrated.entries()] == [("model", 1)]
    migrated.store.close()


def test_what_is_no_leaderboard_is_not_migrated(tmp_path: Path) -> None:
    (tmp_path / BoardStore.file).touch()
    assert run("leaderboard", "migrate", tmp_path).returncode == 2

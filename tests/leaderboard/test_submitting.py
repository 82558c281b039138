"""Submitting on a page, as a browser does it: cookies, forms and redirects."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from goldlabel.leaderboard.board import Limits
from goldlabel.leaderboard.schema import submissions
from goldlabel.leaderboard.submissions import MOST_BYTES
from goldlabel.leaderboard.submitters import withdraw_tokens
from goldlabel.web.leaderboard.app import create_board_app
from goldlabel.web.leaderboard.submitting import TOKEN
from goldlabel.web.security import SMALL_BODY
from tests.leaderboard.boards import Leaderboard, Make, answers, csv, packed

NASTY = '"><script>alert(1)</script>'


class Browser:
    """A browser in which a submitter may be logged in."""

    def __init__(self, board: Leaderboard, name: str | None = None) -> None:
        self.client = TestClient(create_board_app(board.board, board.store), raise_server_exceptions=False)
        if name is not None:
            board.join(name)
            assert self.log_in(board.tokens[name]).status_code == 200

    def page(self) -> str:
        return str(self.client.get("/submit").text)

    def csrf(self) -> str:
        found = re.search('name="csrf" value="([0-9a-f]+)"', self.page())
        assert found is not None
        return found[1]

    def log_in(self, token: str) -> Any:
        return self.post("/login", {"token": token})

    def post(self, path: str, data: dict[str, str], **options: Any) -> Any:
        return self.client.post(path, data={"csrf": self.csrf(), **data}, **options)

    def send(self, data: bytes, file: str = "all.csv", **fields: str) -> Any:
        return self.post("/submit", {"name": "model", **fields}, files={"file": (file, data)})


def count(board: Leaderboard) -> int:
    with board.store.read() as tx:
        return int(tx.value(select(func.count()).select_from(submissions)))


def test_from_logging_in_to_the_table_and_back(board: Leaderboard) -> None:
    reed = Browser(board, "Reed Lab")
    assert "You submit as <strong>Reed Lab</strong>. Left: 2 today" in reed.page()
    sent = reed.send(csv(answers(6)), training="fragments", description="Small.")
    assert [answer.status_code for answer in sent.history] == [303]
    assert "number 1: waiting" in reed.page()
    board.work()
    assert '<a href="/entries/1">' in reed.page()
    [entry] = board.entries()
    assert (entry.name, entry.training, entry.description) == ("model", ("fragments",), "Small.")
    reed.send(csv(answers(6)).rpartition(b"\npond")[0], name="half")
    board.work()
    assert "are not predicted" in reed.page()
    assert "Left: 1 today" in reed.page(), "what is refused does not count"
    moss = Browser(board, "Moss Lab")
    assert "number 1" not in moss.page()
    assert moss.post("/submit/1/withdraw", {}).status_code == 404
    assert [entry.id for entry in board.entries()] == [1]
    assert reed.post("/submit/1/withdraw", {}).status_code == 200
    assert board.entries() == []
    reed.post("/logout", {})
    assert "Your token" in reed.page()
    assert reed.send(csv(answers())).status_code == 401


def test_whose_token_is_withdrawn_is_logged_out(board: Leaderboard) -> None:
    reed = Browser(board, "Reed Lab")
    with board.store.write() as tx:
        withdraw_tokens(tx, "Reed Lab")
    assert "Your token" in reed.page()
    assert reed.send(csv(answers())).status_code == 401
    guessed = reed.log_in("goldlabel_guess")
    assert (guessed.status_code, "No submitter of this leaderboard has that token" in guessed.text) == (403, True)
    assert [reed.log_in(f"goldlabel_{number}").status_code for number in range(40)][-1] == 429, "no token is guessed"
    assert count(board) == 0


def test_forms_of_others_are_refused(board: Leaderboard) -> None:
    """No other site's page sends something in a submitter's name."""
    reed = Browser(board, "Reed Lab")
    cookie = next(cookie for cookie in reed.client.cookies.jar if cookie.name == TOKEN)
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert str(cookie.get_nonstandard_attr("SameSite")).lower() == "lax"
    files = {"file": ("all.csv", csv(answers()))}
    assert reed.client.post("/submit", data={"name": "x"}, files=files).status_code == 403
    stranger = Browser(board).csrf()
    assert reed.client.post("/submit", data={"name": "x", "csrf": stranger}, files=files).status_code == 403
    foreign = {"sec-fetch-site": "cross-site"}
    assert reed.post("/submit", {"name": "x"}, files=files, headers=foreign).status_code == 403
    for path in ("/logout", "/submit/1/withdraw"):
        assert reed.client.post(path, data={}).status_code == 403
    assert count(board) == 0
    assert "You submit as" in reed.page()


def test_what_a_form_may_hold(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = make(limits=Limits(per_day=2, per_week=9))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    reed = Browser(board, "Reed Lab")
    for fields, said in (
        ({"file": "all.exe"}, "ends in none of"),
        ({"file": ""}, "is empty"),
        ({"name": "\u200b"}, "1 to 100 characters"),
        ({"description": "x" * 2001}, "more than 2000 characters"),
        ({"suite": "lakes"}, "no suite called"),
    ):
        answer = reed.send(csv(answers()), **fields)
        assert (answer.status_code, said in answer.text) == (422, True), fields
    assert "is empty" in reed.send(b"").text
    huge = reed.send(b"0" * (MOST_BYTES + SMALL_BODY + 1))
    assert (huge.status_code, "larger than 64 MB" in huge.text) == (413, True)
    assert Browser(board).send(b"0" * (MOST_BYTES + SMALL_BODY + 1)).status_code == 401, "of nobody it is not read"
    assert count(board) == 0
    assert reed.send(packed({"meadow.csv": b"0" * (200 << 20)}), "bomb.zip", name=NASTY).status_code == 200
    board.work()
    assert "times its size, as no predictions do" in reed.page()
    assert "<script>alert" not in reed.page()
    for wrong in range(2):
        assert reed.send(csv(answers(wrong)), name=f"{wrong}").status_code == 200
    assert reed.send(csv(answers(3)), name="third").status_code == 429
    assert [reed.send(b"", name="x").status_code for _ in range(30)][-1] == 429, "files are counted, too"
    assert [*temporary.iterdir()] == []

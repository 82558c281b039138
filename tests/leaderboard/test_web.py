from __future__ import annotations

import asyncio
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from goldlabel.leaderboard.board import Limits
from goldlabel.leaderboard.schema import scores, submissions, trail, uploads
from goldlabel.leaderboard.submissions import MOST_BYTES
from goldlabel.web.leaderboard import site
from goldlabel.web.leaderboard.app import create_board_app
from goldlabel.web.leaderboard.site import build_leaderboard
from goldlabel.worker import scoring
from tests.leaderboard.boards import GOLD, Leaderboard, Make, answers, csv, one_csv, opened, packed

NASTY = "<script>alert(1)</script> \\input{x} ../../x $\\frac"


class Visitor:
    """A program with a token, or without."""

    def __init__(self, app: FastAPI, token: str | None = None) -> None:
        self.client = TestClient(app, raise_server_exceptions=False)
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}

    def get(self, path: str) -> Any:
        return self.client.get(path, headers=self.headers)

    def post(self, path: str, **options: Any) -> Any:
        return self.client.post(path, headers=self.headers, **options)

    def send(self, data: bytes, *, file: str = "all.csv", name: str = "model", **query: str) -> Any:
        return self.post("/api/v1/submissions", params={"name": name, "file": file, **query}, content=data)


@contextmanager
def visitors(board: Leaderboard, *names: str) -> Iterator[list[Visitor]]:
    app = create_board_app(board.board, board.store)
    for name in names:
        board.join(name)
    yield [Visitor(app), *(Visitor(app, board.tokens[name]) for name in names)]


def test_from_sending_to_the_table(board: Leaderboard) -> None:
    with visitors(board, "Reed Lab") as (anybody, submitter):
        assert "Nobody has submitted yet" in anybody.get("/").text
        told = anybody.get("/api/v1/board").json()
        [suite] = told["suites"]
        assert [(part["name"], part["pairs"]) for part in suite["sets"]] == [("meadow", 60), ("pond", 40)]
        lines = submitter.get("/api/v1/sets/2/questions").text.splitlines()
        assert len(lines) == 40
        assert "label" not in lines[0]
        answer = submitter.send(csv(answers(6)), training="fragments", description="A small one.")
        assert (answer.status_code, answer.json()["state"]) == (201, "waiting")
        again = submitter.send(csv(answers(6)), training="fragments", description="A small one.")
        assert (again.status_code, again.json()["id"]) == (200, answer.json()["id"])
        board.work()
        [told] = submitter.get("/api/v1/submissions").json()["submissions"]
        assert told["state"] == "scored"
        page = anybody.get("/").text
        for text in ("model leads with 87.5", "fragments", "Reed Lab", "/entries/1", "2 a day"):
            assert text in page
        assert "A small one." in anybody.get("/entries/1").text
        assert anybody.get("/entries/2").status_code == 404
        assert anybody.get("/board.csv").text.startswith("model,model_note,rank,mean,mean_low,mean_high,")
        assert "leaderboard submit" in anybody.get("/submit").text
        assert submitter.post("/api/v1/submissions/1/withdraw").json()["state"] == "withdrawn"
        assert anybody.get("/entries/1").status_code == 404
        assert anybody.get("/api/v1/entries").json() == []
        kinds = [step["kind"] for step in submitter.get("/api/v1/trail").json()]
        assert kinds == [
            "token.made",
            "submission.received",
            "submission.scored",
            "submission.withdrawn",
        ]


def test_every_route_refuses_who_has_no_business_there(board: Leaderboard) -> None:
    with visitors(board, "Reed Lab", "Moss Lab") as (anybody, owner, stranger):
        number = owner.send(csv(answers())).json()["id"]
        board.work()
        operations = anybody.get("/api/openapi.json").json()["paths"]
        public = {"/", "/submit", "/board.csv", "/entries/{submission_id}", "/healthz", "/readyz"}
        public |= {"/api/v1/board", "/api/v1/entries"}
        forms = {"/login", "/logout", "/submit/{submission_id}/withdraw"}
        walked = set()
        for path, methods in operations.items():
            for method in methods:
                address = path.format(submission_id=number, number=1)
                query = "?name=x&file=x.csv" if path == "/api/v1/submissions" else ""
                for visitor in (anybody, Visitor(anybody.client.app, "goldlabel_guess")):  # type: ignore[arg-type]
                    got = visitor.client.request(method, address + query, headers=visitor.headers)
                    status = 200 if path in public and method == "get" else 403 if path in forms else 401
                    assert got.status_code == status, (method, path)
                if "{submission_id}" in path and path not in public | forms:
                    got = stranger.client.request(method, address, headers=stranger.headers)
                    assert got.status_code == 404, (method, path)
                    walked.add(path)
        assert walked == {"/api/v1/submissions/{submission_id}", "/api/v1/submissions/{submission_id}/withdraw"}
        assert stranger.get("/api/v1/submissions").json()["submissions"] == []
        assert [step["kind"] for step in stranger.get("/api/v1/trail").json()] == ["token.made"]
        assert [entry.id for entry in board.entries()] == [number], "nothing was withdrawn"


def test_no_gold_label_leaves(board: Leaderboard) -> None:
    """Whoever knows every answer of the server knows no label: gold ids and labels stand nowhere together."""
    with visitors(board, "Reed Lab") as (_, submitter):
        submitter.send(one_csv("meadow", GOLD["meadow"])[:-9], file="meadow.csv")
        submitter.send(csv(answers(5)))
        board.work()
        paths = submitter.get("/api/openapi.json").json()["paths"]
        for path in [path for path, methods in paths.items() if "get" in methods]:
            text = submitter.get(path.format(submission_id=1, number=1)).text
            assert "meadow-1" not in text.replace("meadow-58", "").replace("meadow-59", ""), path


def test_what_cannot_be_sent(board: Leaderboard) -> None:
    with visitors(board, "Reed Lab") as (_, submitter):
        for query, status in (
            ({"file": "all.exe"}, 422),
            ({"file": ""}, 422),
            ({"name": ""}, 422),
            ({"name": "\u200b"}, 422),
            ({"name": "x" * 101}, 422),
            ({"description": "x" * 2001}, 422),
        ):
            answer = submitter.send(csv(answers()), **query)
            assert answer.status_code == status, query
            assert {*answer.json()} >= {"error", "message"}
        assert "is empty" in submitter.send(b"").json()["message"]
        assert submitter.get("/api/v1/sets/3/questions").status_code == 404
        assert submitter.get("/api/v1/submissions/99999999999999999999").status_code == 422
        assert [submitter.send(b"x", name=str(number)).status_code for number in range(40)][-1] == 429


def test_texts_can_be_kept(make: Make) -> None:
    board = make(texts=False)
    with visitors(board, "Reed Lab") as (_, submitter):
        answer = submitter.get("/api/v1/sets/1/questions")
        assert (answer.status_code, "does not give out its texts" in answer.json()["message"]) == (403, True)
        assert "does not give out its texts" in submitter.get("/submit").text


@pytest.mark.parametrize("announced", [True, False])
def test_two_gigabytes_are_refused_without_being_kept(
    board: Leaderboard, announced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    size, piece = 2 << 30, b"0" * (1 << 20)
    taken, answers_sent = 0, []

    async def stream() -> dict[str, Any]:
        nonlocal taken
        taken += len(piece)
        return {"type": "http.request", "body": piece, "more_body": taken < size}

    async def keep(message: Any) -> None:
        answers_sent.append(message)

    with visitors(board, "Reed Lab"):
        app = create_board_app(board.board, board.store)
    headers = [(b"authorization", f"Bearer {board.tokens['Reed Lab']}".encode())]
    headers += [(b"content-length", str(size).encode())] if announced else []
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/submissions",
        "query_string": b"name=x&file=x.csv",
        "headers": headers,
        "scheme": "http",
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
        "root_path": "",
    }
    asyncio.run(app(scope, stream, keep))
    assert answers_sent[0]["status"] == 413
    assert b"larger than 64 MB" in answers_sent[1]["body"]
    assert taken <= (0 if announced else MOST_BYTES + len(piece))
    assert [*temporary.iterdir()] == []
    with board.store.read() as tx:
        assert tx.value(select(func.count()).select_from(submissions)) == 0


def test_fifty_at_once_none_lost_none_doubled(
    tmp_path: Path, place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten submitters send five files each, all at once and each twice; two workers score them."""
    monkeypatch.setattr(scoring, "rank_entries", lambda board, hits: {})  # which would be done many times meanwhile
    board = opened(tmp_path / "board", database=place, names=("meadow",), limits=Limits(per_day=5, per_week=5))
    names = [f"Lab {number}" for number in range(10)]
    with visitors(board, *names) as (_, *submitters):
        together, codes = threading.Barrier(50), []

        def send(number: int) -> None:
            data = one_csv("meadow", answers(number % 5, shift=number)["meadow"])
            together.wait()
            for _ in range(2):
                answer = submitters[number % 10].send(data, name=f"model {number}")
                codes.append((number, answer.status_code, answer.json().get("id")))

        threads = [threading.Thread(target=send, args=(number,)) for number in range(50)]
        workers = [threading.Thread(target=work_until, args=(board, f"worker {number}", 50)) for number in range(2)]
        for thread in [*threads, *workers]:
            thread.start()
        for thread in [*threads, *workers]:
            thread.join()
    assert Counter(status for _, status, _ in codes) == {201: 50, 200: 50}
    assert len({number for _, _, number in codes}) == len({(number, id_) for number, _, id_ in codes}) == 50
    with board.store.read() as tx:
        assert tx.value(select(func.count()).select_from(submissions)) == 50
        assert tx.value(select(func.count()).select_from(scores)) == 50
        assert tx.value(select(func.count()).select_from(uploads)) == 0
        kinds = Counter(row.kind for row in tx.all(select(trail.c.kind)))
    assert (kinds["submission.received"], kinds["submission.scored"]) == (50, 50)
    board.store.close()


def work_until(board: Leaderboard, worker: str, number: int) -> None:
    while True:
        scoring.score_once(board.board, board.store, worker)
        with board.store.read() as tx:
            if tx.value(select(func.count()).select_from(scores)) == number:
                return


def test_one_submitter_at_once_does_not_get_past_the_limit(tmp_path: Path, place: str | None) -> None:
    board = opened(tmp_path / "board", database=place, limits=Limits(per_day=3, per_week=4))
    with visitors(board, "Reed Lab") as (_, submitter):
        together, codes = threading.Barrier(12), []

        def send(number: int) -> None:
            together.wait()
            codes.append(submitter.send(csv(answers(number)), name=f"model {number}").status_code)

        threads = [threading.Thread(target=send, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert Counter(codes) == {201: 3, 429: 9}
    board.store.close()


def test_headers_let_nothing_in(board: Leaderboard) -> None:
    with visitors(board) as (anybody,):
        page = anybody.get("/")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'sha256-" in policy
        assert "unsafe" not in policy.partition("style-src")[0]
        assert page.headers["x-content-type-options"] == "nosniff"
        missing = anybody.get("/nothing")
        assert (missing.status_code, "There is nothing at this address" in missing.text) == (404, True)
        assert anybody.client.head("/").text == ""


def test_names_are_shown_as_text_everywhere(board: Leaderboard, tmp_path: Path) -> None:
    members = {f"{name}.csv": one_csv(name, own) for name, own in answers(4).items()}
    members["README.md"] = (
        b"---\nlicense: mit\n---\n# Title\n<script>alert(2)</script> [x](javascript:alert(3)) ![i](x.png)"
    )
    with visitors(board, NASTY) as (anybody, submitter):
        submitter.send(packed(members), file="../<b>.zip", name=NASTY, training=NASTY, description=NASTY)
        board.work()
        assert [entry.name for entry in board.entries()] == [NASTY]
        live = [anybody.get(path).text for path in ("/", "/entries/1", "/submit")]
        build_leaderboard(board.folder, tmp_path / "site")
    pages = [path.read_text(encoding="utf-8") for path in sorted((tmp_path / "site").glob("*.html"))]
    for text in (*live, *pages):
        assert "<script>alert" not in text
        assert 'href="javascript' not in text
        assert "<img" not in text
        assert "license: mit" not in text
    assert "&lt;script&gt;alert(1)" in live[0]
    latex = (tmp_path / "site" / "board.tex").read_text(encoding="utf-8")
    assert "\\input{x}" not in latex
    assert r"\textbackslash{}input\{x\}" in latex


def test_the_site_is_the_live_page_without_a_server(board: Leaderboard, tmp_path: Path) -> None:
    with visitors(board, "Reed Lab") as (anybody, submitter):
        submitter.send(csv(answers(3)))
        board.work()
        [entry] = build_leaderboard(board.folder, tmp_path / "site", address="https://board.example")
        live = anybody.get("/").text
    folder = tmp_path / "site"
    static = (folder / "index.html").read_text(encoding="utf-8")
    links = {"/entries/1": "entry-1.html", '"/"': '"index.html"', "/submit": "submit.html", "/board.csv": "board.csv"}
    for address, file in links.items():
        live = live.replace(address, file)
    assert live == static
    assert "src=" not in static
    assert "https://board.example" in (folder / "submit.html").read_text(encoding="utf-8")
    names = {"index.html", "submit.html", f"entry-{entry.id}.html", "board.json", "board.csv", "board.md", "board.tex"}
    assert {path.name for path in folder.iterdir()} == names
    build_leaderboard(board.folder, folder)
    (folder / site.RESULTS).unlink()
    with pytest.raises(Exception, match="holds something else"):
        build_leaderboard(board.folder, folder)

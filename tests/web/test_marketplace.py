"""People from Prolific and Mechanical Turk, tested against stand-ins on this machine: neither is asked anything."""

from __future__ import annotations

import re
import threading
from html import unescape
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import func, select

from goldlabel.collect.people import marketplaces
from goldlabel.collect.people.people import roles
from goldlabel.collect.schema import accounts, outsiders, visits
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.verifying import vote
from goldlabel.web.security import SESSION
from tests.web.world import Visitor, World, opened, populate

WORKER = {"PROLIFIC_PID": "5f0c1d", "STUDY_ID": "st1", "SESSION_ID": "se1"}
TURK = {"workerId": "A1B2", "hitId": "H1", "assignmentId": "AS1", "turkSubmitTo": "https://workersandbox.mturk.com"}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with opened(tmp_path_factory.mktemp("market") / "collection") as world:
        yield populate(world, premises=6)


def link(world: World, provider: str, **form: Any) -> str:
    form = {"provider": provider, "role": "verifier", "quota": 2, "code": "C0DE7", **form}
    answer = world.visitor("boss").send(f"/projects/{world.project}/marketplace", form)
    shown = re.search(r'value="http://localhost(/enter/[^"?]+)([^"]*)"', answer.text)
    assert shown is not None, answer.text
    if provider == "prolific":
        assert all(f"{name}={{{{%{name}%}}}}" in unescape(shown[2]) for name in WORKER)
    return shown[1]


def enter(world: World, path: str, sent: dict[str, str]) -> tuple[Visitor, Any]:
    visitor = world.visitor()
    page = visitor.get(f"{path}?{urlencode({**sent, 'window': '1'})}")
    assert page.status_code == 200, page.text
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    assert {name: hidden[name] for name in sent} == sent
    answer = visitor.client.post(path, data=hidden)
    assert answer.status_code == 303, answer.text
    assert SESSION in visitor.client.cookies
    return visitor, answer


def judge(world: World, person_id: int, count: int) -> None:
    for number in range(count):
        with world.store.write() as tx:
            task = claim(tx, world.project, person_id, "verify").tasks[0].assignment_id
            vote(tx, task, person_id, key=f"k{number}", label="neutral", seconds=2)


def person_of(world: World, worker: str) -> int:
    return int(world.one(select(outsiders.c.person_id).where(outsiders.c.worker == worker)))


def test_prolific_from_the_link_to_the_code(crowd: World) -> None:
    path = link(crowd, "prolific")
    assert "a judgement 0.20 USD" in crowd.visitor().get(f"{path}?{urlencode(WORKER)}").text
    visitor, answer = enter(crowd, path, WORKER)
    place = f"/projects/{crowd.project}"
    assert answer.headers["location"] == f"{place}/instructions/verifier"
    assert visitor.get(f"{place}/verify").status_code == 200
    assert "0 of 2 answers" in visitor.get(f"{place}/completion").text
    person_id = person_of(crowd, "5f0c1d")
    judge(crowd, person_id, 1)
    assert "C0DE7" not in visitor.get(f"{place}/completion").text
    judge(crowd, person_id, 1)
    assert visitor.get(f"{place}/verify").headers["location"] == f"{place}/completion"
    page = visitor.get(f"{place}/completion").text
    assert 'href="https://app.prolific.com/submissions/complete?cc=C0DE7"' in page
    listed = crowd.visitor("boss").get(f"{place}/marketplace").text
    assert "5f0c1d" in listed
    assert crowd.one(select(visits.c.completed_at).where(visits.c.person_id == person_id)) is not None
    # The same worker again: the same person, and another visit that asks for as much again.
    visitor, _ = enter(crowd, path, {**WORKER, "SESSION_ID": "se2"})
    assert person_of(crowd, "5f0c1d") == person_id
    assert "0 of 2 answers" in visitor.get(f"{place}/completion").text
    assert visitor.get(f"{place}/verify").status_code == 200
    with crowd.store.read() as tx:
        assert {*roles(tx, crowd.project, person_id)} == {"verifier"}


def test_what_a_marketplace_calls_people_stays_apart(crowd: World) -> None:
    path = link(crowd, "prolific")
    enter(crowd, path, {**WORKER, "PROLIFIC_PID": "77aa"})
    row = crowd.one(select(accounts.c.login).where(accounts.c.person_id == person_of(crowd, "77aa")))
    assert "77aa" not in row
    stranger = crowd.visitor()
    for password in ("none", "", "77aa"):
        assert stranger.post("/login", {"login": row, "password": password}).status_code in (403, 422)
    assert "77aa" not in crowd.visitor("boss").get(f"/projects/{crowd.project}/people").text


def test_mechanical_turk_from_the_frame_to_the_form(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[dict[str, list[str]]] = []

    class StandIn(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/mturk/externalSubmit"
            taken.append(parse_qs(self.rfile.read(int(self.headers["content-length"])).decode()))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), StandIn) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(marketplaces, "SUBMIT_HOSTS", (host,))
        path, turk = link(crowd, "mturk", quota=1), {**TURK, "turkSubmitTo": host}
        preview = crowd.visitor().get(f"{path}?hitId=H1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
        assert "This is a preview" in preview.text
        framed = crowd.visitor().get(f"{path}?{urlencode(turk)}")
        assert 'target="_blank"' in framed.text
        assert "<form" not in framed.text.partition("<main")[2].partition("</main")[0]
        assert "frame-ancestors https://www.mturk.com" in framed.headers["content-security-policy"]
        visitor, _ = enter(crowd, path, turk)
        judge(crowd, person_of(crowd, "A1B2"), 1)
        page = visitor.get(f"/projects/{crowd.project}/completion")
        assert f"form-action 'self' {host};" in page.headers["content-security-policy"]
        form = page.text.partition('<form method="post" action="')[2]
        address, fields = form.partition('"')[0], dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        assert "csrf" not in fields
        with urlopen(Request(address, urlencode(fields).encode())) as answer:
            assert answer.status == 200
        assert taken == [{"assignmentId": ["AS1"], "code": [fields["code"]]}]
        server.shutdown()


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {**WORKER, "PROLIFIC_PID": ""},
        {**WORKER, "SESSION_ID": "<script>"},
        {**WORKER, "STUDY_ID": "x" * 101},
        {"workerId": "A1", "hitId": "H", "assignmentId": "A"},
    ],
)
def test_a_link_that_does_not_say_who(crowd: World, sent: dict[str, str]) -> None:
    path, before = link(crowd, "prolific"), crowd.one(select(func.count()).select_from(visits))
    visitor = crowd.visitor()
    assert visitor.get(f"{path}?{urlencode(sent)}").status_code == 422
    assert visitor.post(path, sent).status_code == 422
    assert crowd.one(select(func.count()).select_from(visits)) == before


def test_a_form_goes_to_mechanical_turk_only(crowd: World) -> None:
    path = link(crowd, "mturk")
    for host in ("https://evil.example", "http://www.mturk.com", ""):
        assert crowd.visitor().post(path, {**TURK, "turkSubmitTo": host}).status_code == 422


def test_other_links_are_not_for_marketplaces(crowd: World) -> None:
    visitor = crowd.visitor()
    assert visitor.get("/enter/guess?" + urlencode(WORKER)).status_code == 404
    boss = crowd.visitor("boss")
    made = boss.post(f"/projects/{crowd.project}/marketplace", {"provider": "prolific", "role": "verifier"})
    assert made.status_code == 422
    assert crowd.visitor("verifier").get(f"/projects/{crowd.project}/completion").status_code == 404

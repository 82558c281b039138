"""What somebody tries who means harm: floods, monsters, numbers that are none, addresses that nobody types."""

from __future__ import annotations

import ast
import asyncio
import itertools
import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

import goldlabel
from goldlabel.collect.people import passwords
from goldlabel.collect.people.limits import Allowance
from goldlabel.collect.schema import premises
from goldlabel.collect.work import assignment, review
from goldlabel.collect.work.rules import Hypothesis, measure_hypotheses
from goldlabel.web import security
from goldlabel.web.app import create_app
from goldlabel.web.security import BODY, HEADERS, SESSION
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock
from tests.web.test_account import invited
from tests.web.test_security import BODIES, filled, routes
from tests.web.world import PASSWORD, World, login_of, objects, populate

FLOOD = 60


class Hasher:
    """Makes whoever checks a password wait, and counts how many wait at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.inside = self.most = self.done = 0
        self._lock = threading.Lock()

    def verify(self, *_: object) -> bool:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.go.wait(60)
        with self._lock:
            self.inside -= 1
            self.done += 1
        return True


def test_a_flood_of_log_ins_takes_few_hashes_at_once_and_no_thread_from_others(
    empty: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hash takes 64 MiB: sixty at once took 2 GB, and all threads of the server."""
    hasher = Hasher()
    monkeypatch.setattr(passwords, "_HASHER", hasher)

    async def flood() -> list[int]:
        transport = httpx.ASGITransport(app=empty.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            csrf = (await client.get("/api/session")).json()["csrf"]
            forms = [{"csrf": csrf, "login": f"guess{number}", "password": PASSWORD} for number in range(FLOOD)]
            tries = [asyncio.create_task(client.post("/login", data=form)) for form in forms]
            while hasher.inside < passwords.MOST_AT_ONCE:
                await asyncio.sleep(0.01)
            page = await asyncio.wait_for(client.get("/account/second-factor"), 60)
            assert page.status_code == 303
            assert hasher.done == 0
            hasher.go.set()
            return [answer.status_code for answer in await asyncio.gather(*tries)]

    assert set(asyncio.run(flood())) == {403}
    assert (hasher.most, hasher.done) == (passwords.MOST_AT_ONCE, FLOOD)


def test_no_password_is_hashed_within_a_transaction(empty: World, monkeypatch: pytest.MonkeyPatch) -> None:
    open_blocks = 0

    def count(by: int) -> None:
        nonlocal open_blocks
        open_blocks += by

    for name in ("read", "write"):
        monkeypatch.setattr(type(empty.store), name, _counted(getattr(type(empty.store), name), count))
    seen = []

    def noted(method: Any) -> Any:
        def hashing(*given: Any) -> Any:
            seen.append(open_blocks)
            return method(*given)

        return hashing

    hasher = passwords._HASHER
    noting = SimpleNamespace(hash=noted(hasher.hash), verify=noted(hasher.verify))
    monkeypatch.setattr(passwords, "_HASHER", noting)
    link, visitor = invited(empty), empty.visitor()
    assert visitor.post(f"{link}/account", {"login": "anna", "password": PASSWORD}).status_code == 303
    visitor.csrf = visitor.get("/api/session").json()["csrf"]
    form = {"old": PASSWORD, "new": "a new password"}
    assert visitor.post("/account/password", form).status_code == 303
    assert empty.visitor().post("/login", {"login": "anna", "password": "a new password"}).status_code == 303
    assert seen == [0, 0, 0, 0]


def _counted(block: Any, count: Any) -> Any:
    @contextmanager
    def counted(*given: Any, **named: Any) -> Any:
        with block(*given, **named) as tx:
            count(1)
            try:
                yield tx
            finally:
                count(-1)

    return counted


@pytest.mark.parametrize("spelling", ["capital", "spaced", "wide"])
def test_a_name_is_counted_however_it_is_written(empty: World, spelling: str) -> None:
    name = login_of("boss")
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in name)
    spelt = {"capital": name.upper(), "spaced": f" {name} ", "wide": wide}[spelling]
    visitor = empty.visitor()
    for written in (name, spelt) * 5:
        assert visitor.post("/login", {"login": written, "password": "wrong one"}).status_code == 403
    assert visitor.post("/login", {"login": spelt, "password": PASSWORD}).status_code == 429


def test_addresses_of_one_customer_are_counted_together(empty: World) -> None:
    codes = set()
    for number in range(61):
        address = (f"2001:db8:0:7:{number:x}::1", 5000)
        with TestClient(empty.app, base_url="http://127.0.0.1:8000", client=address) as client:
            codes.add(client.get(f"/password/guess{number}").status_code)
    assert codes == {410, 429}
    with TestClient(empty.app, base_url="http://127.0.0.1:8000", client=("2001:db8:0:8::1", 5000)) as client:
        assert client.get("/password/guess").status_code == 410


def test_a_class_behind_one_address_gets_in(empty: World) -> None:
    link = invited(empty, uses=65)
    codes = [
        empty.visitor().post(f"{link}/account", {"login": f"pupil{number}", "password": PASSWORD}).status_code
        for number in range(65)
    ]
    assert set(codes) == {303}


def test_a_link_is_not_tried_for_ever(empty: World) -> None:
    link, visitor = invited(empty), empty.visitor()
    codes = [
        visitor.post(f"{link}/account", {"login": "two words", "password": PASSWORD}).status_code for _ in range(63)
    ]
    assert (set(codes), codes[-1]) == ({422, 429}, 429)


def test_calls_of_a_person_are_limited_over_all_processes(
    empty: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "MOST_CALLS", 40)
    world = World(empty.store, create_app(empty.store), empty.people)
    second = World(empty.store, create_app(empty.store), empty.people)
    visitors = [world.visitor("boss"), second.visitor("boss")]
    codes = [visitors[number % 2].get("/api/session").status_code for number in range(60)]
    assert 40 <= codes.count(200) <= 40 + 2 * (40 // Allowance.PARTS)
    refused = visitors[0].get("/api/session")
    assert (refused.status_code, refused.json()["error"]) == (429, "too_many")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert visitors[0].get("/account").status_code == 200, "pages are not calls"
    clock.move(minutes=1, seconds=1)
    assert visitors[0].get("/api/session").status_code == 200


def given_task(world: World) -> Any:
    with world.store.write() as tx:
        return assignment.claim(tx, world.project, world.people["writer"], "write").tasks[0]


def test_rules_are_asked_before_anything_is_locked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine long sentences take a while to measure; nobody's vote waits for that."""
    asked = []
    real = review.check_hypotheses

    def check(*given: Any) -> Any:
        asked.append(getattr(world.store._writing, "on", False))
        return real(*given)

    monkeypatch.setattr(review, "check_hypotheses", check)
    visitor, task = world.visitor("writer"), given_task(world)
    body = {"key": "k", "hypotheses": [{"label": "neutral", "level": "easy", "text": "Rain fell."}]}
    answer = visitor.client.post(
        f"/api/assignments/{task.assignment_id}/submit", json=body, headers={"x-csrf-token": visitor.csrf}
    )
    assert answer.status_code == 422
    assert asked == [False]


def test_what_nobody_asked_for_is_not_even_measured(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldlabel.collect.work.rules.measure_hypotheses", _never)
    visitor, task = world.visitor("writer"), given_task(world)
    texts = [{"label": "neutral", "level": "easy", "text": "not " * 2000} for _ in range(100)]
    for action in ("check", "submit"):
        answer = visitor.client.post(
            f"/api/assignments/{task.assignment_id}/{action}",
            json={"key": "k", "hypotheses": texts},
            headers={"x-csrf-token": visitor.csrf},
        )
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")


def test_bodies_that_are_too_large_are_not_read(world: World) -> None:
    visitor, task = world.visitor("writer"), given_task(world)
    body = b'{"key": "k", "hypotheses": [' + b" " * BODY + b"]}"
    headers = {"x-csrf-token": visitor.csrf, "content-type": "application/json"}
    answer = visitor.client.post(f"/api/assignments/{task.assignment_id}/submit", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (413, "large")


def test_a_premise_of_thirty_megabytes_is_left_out(empty: World) -> None:
    world = populate(empty, premises=4)
    boss, before = world.visitor("boss"), world.one(select(func.count()).select_from(premises))
    huge = ("word " * (30 << 20))[: 30 << 20].encode()
    answer = boss.client.post(
        f"/projects/{world.project}/premises",
        files={"file": ("huge.txt", huge, "text/plain")},
        data={"csrf": boss.token()},
    )
    assert answer.status_code < 500, answer.text[:300]
    assert world.one(select(func.count()).select_from(premises)) == before
    assert boss.get(f"/projects/{world.project}/premises").status_code == 200


NUMBERS = ("NaN", "Infinity", "-Infinity", "1e400", "-1", "1e308", "9" * 5000, '"1e9"', "[[]]")


def test_numbers_that_are_none_are_refused_everywhere(world: World) -> None:
    """Every number that a JSON route takes, each in turn, becomes one that nobody can have meant."""
    mine = objects(world, world.project)
    visitor, tried = world.visitor("writer"), 0
    task = given_task(world)
    headers = {"x-csrf-token": visitor.csrf, "content-type": "application/json"}
    for method, path in routes(world):
        body = BODIES.get(path.rsplit("/", 1)[-1])
        if not path.startswith("/api/") or path.startswith("/api/v1/") or body is None:
            continue
        address = filled(path, mine | {"assignment_id": task.assignment_id})
        whole = _with_numbers(path.rsplit("/", 1)[-1], body)
        for spot in _spots(whole):
            for number in NUMBERS:
                text = json.dumps(_put(whole, spot, "\0")).replace('"\\u0000"', number)
                answer = visitor.client.request(method, address, content=text, headers=headers)
                assert answer.status_code in (400, 404, 409, 422), (path, spot, number[:20], answer.status_code)
                tried += 1
    assert tried > 30


def _with_numbers(name: str, body: dict[str, Any]) -> dict[str, Any]:
    extra: dict[str, dict[str, Any]] = {
        "submit": {"timings": {"total": 1.0}},
        "vote": {"seconds": 1.0},
        "draft": {"content": {"seconds": {"entailment easy": 1.0}}},
    }
    return body | extra.get(name, {})


def _spots(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where numbers stand in a JSON value."""
    if isinstance(value, dict):
        return [spot for key, one in value.items() for spot in _spots(one, (*at, key))]
    if isinstance(value, list):
        return [spot for place, one in enumerate(value) for spot in _spots(one, (*at, place))]
    return [at] if isinstance(value, int | float) else []


def _put(value: Any, spot: tuple[Any, ...], new: str) -> Any:
    if not spot:
        return new
    if isinstance(value, dict):
        return {key: _put(one, spot[1:], new) if key == spot[0] else one for key, one in value.items()}
    return [_put(one, spot[1:], new) if place == spot[0] else one for place, one in enumerate(value)]


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "{",
        "\ud800",
        "null",
        '"text"',
        '{"key": "\\ud800"}',
        "\ufeff{}",
        '{"key":' + "9" * 9000 + "}",
    ],
)
def test_bodies_that_are_no_bodies(world: World, body: str) -> None:
    visitor, task = world.visitor("writer"), given_task(world)
    headers = {"x-csrf-token": visitor.csrf, "content-type": "application/json"}
    for action in ("submit", "check", "draft"):
        address = f"/api/assignments/{task.assignment_id}/{action}"
        content = body.encode("utf-8", "surrogatepass")
        answer = visitor.client.request(
            "PUT" if action == "draft" else "POST", address, content=content, headers=headers
        )
        assert answer.status_code in (400, 422), (action, answer.status_code)


ADDRESSES = (
    "/projects/0", "/projects/-1", "/projects/1e3", "/projects/" + "9" * 400, "/projects/٣", "/projects/%00",
    "/projects/1%2F..%2F2", "/%ff%fe", "/..%2f..%2fetc/passwd", "/static/..%2f..%2fapp.py", "/static/%00",
    "//evil.example/", "/login?next=" + "%2F" * 400, "/login?next=%00", "/login?next=%ff", "/?" + "a=1&" * 5000,
    "/password/" + "x" * 190, "/password/" + "x" * 5000, "/invite/%00", "/invite/%F0%9F%98%80",
    "/language/" + "z" * 500, "/theme/%0d%0aset-cookie:%20a=b", "/projects/1/people?before=-1",
    "/projects/1/pairs?" + "overlap=nan&first=1e400",
)  # fmt: skip


def test_addresses_that_nobody_types(world: World) -> None:
    visitors = (world.visitor(), world.visitor("boss"))
    for visitor, address in itertools.product(visitors, ADDRESSES):
        answer = visitor.get(address)
        assert answer.status_code < 500, address
        assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
        assert "evil.example" not in answer.headers.get("location", "")
        assert "a=b" not in str(answer.headers.get_list("set-cookie"))


ODD_HEADERS = (
    {"cookie": "x" * 8000}, {"cookie": "; ".join(f"c{n}=1" for n in range(1000))}, {"cookie": f"{SESSION}="},
    {"cookie": f"{SESSION}={'é' * 100}"}, {"cookie": "=;=;;;"}, {"accept-language": "zh;q=" + "9" * 5000},
    {"accept-language": ",".join(["zh;q=0.5"] * 3000)}, {"accept-language": " " * 5000 + "q=1"},
    {"accept": "\x7f" * 10}, {"authorization": "Bearer " + "x" * 5000}, {"authorization": "Basic eDp5"},
    {"host": "evil.example"}, {"x-forwarded-for": "1.2.3.4" * 1000}, {"range": "bytes=0-" + "9" * 400},
    {"if-none-match": '"' * 3000},
    {"content-length": "9" * 400}, {"content-type": "multipart/form-data"},
    {"content-type": "application/json; charset=x"},
)  # fmt: skip


def test_headers_that_no_browser_sends(world: World) -> None:
    visitors = (world.visitor(), world.visitor("boss"))
    for visitor, headers in itertools.product(visitors, ODD_HEADERS):
        raw = {name: value.encode("latin-1") for name, value in headers.items()}
        for path in ("/login", "/api/session", "/api/v1/projects"):
            assert visitor.client.get(path, headers=raw).status_code < 500, headers  # type: ignore[arg-type]
        answer = visitor.client.post("/login", content=b"x=1", headers=raw)  # type: ignore[arg-type]
        assert answer.status_code < 500
    for method in ("TRACE", "PROPFIND", "CONNECT", "x" * 300):
        assert world.visitor().client.request(method, "/login").status_code < 500


def test_a_form_of_many_fields(world: World) -> None:
    visitor = world.visitor("boss")
    fields = "&".join(f"f{number}=1" for number in range(20_000))
    headers = {"x-csrf-token": visitor.csrf, "content-type": "application/x-www-form-urlencoded"}
    answer = visitor.client.post(f"/projects/{world.project}/settings", content=fields, headers=headers)
    assert answer.status_code < 500


ROOMS = ("collect", "web", "messages.py", "pairs/tokens.py", "pairs/delimited.py", "pairs/jsonl.py", "pairs/reading.py")
PIECES = (
    " ",
    "\t",
    "a",
    "1",
    "1.",
    "-",
    "_",
    "'",
    '"',
    ",",
    "a ",
    "ab",
    "不",
    "\u00ad",
    "/",
    "%",
    "=",
    ";",
    "&",
    "<",
    "\\",
)
LONG = 100_000


def patterns() -> set[tuple[str, str]]:
    """Every pattern that is written out in code which reads what people send, and how it is used."""
    root, found = Path(goldlabel.__file__).parent, set()
    for room in ROOMS:
        place = root / room
        for path in place.rglob("*.py") if place.is_dir() else [place]:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "re"
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                ):
                    found.add((node.func.attr, str(node.args[0].value)))
    return found


MATCH = """
import json, re, sys
for (use, pattern), text in json.load(sys.stdin):
    print(ascii((use, pattern[:60], text[:3])), flush=True)
    compiled = re.compile(pattern)
    if use in ("compile", "sub"):
        compiled.sub("", text)
    if use != "sub":
        getattr(compiled, "search" if use == "compile" else use)(text + "\\0")
print("done")
"""


def test_no_pattern_is_slow_on_a_long_line() -> None:
    """A line of 3 KB once stopped the server for 27 s; a hundred thousand characters take a pattern no time."""
    found = patterns()
    assert len(found) >= 5
    cases = list(itertools.product(sorted(found), [(piece * LONG)[:LONG] for piece in PIECES]))
    run = subprocess.run(
        [sys.executable, "-c", MATCH], input=json.dumps(cases), capture_output=True, text=True, timeout=300, check=True
    )
    assert run.stdout.endswith("done\n"), run.stdout[-200:]


@pytest.mark.parametrize("piece", ["a'", "1.", "n't ", "不但", "\u200d", "о", "½", "👩\u200d", "e\u0301"])
def test_long_lines_are_measured_and_refused_by_their_length(world: World, piece: str) -> None:
    visitor, task = world.visitor("writer"), given_task(world)
    text = (piece * 20_000)[:20_000]
    body = {"hypotheses": [{"label": "neutral", "level": "easy", "text": text}]}
    answer = visitor.client.post(
        f"/api/assignments/{task.assignment_id}/check", json=body, headers={"x-csrf-token": visitor.csrf}
    )
    assert answer.status_code == 200
    assert {"long", "missing"} & {one["rule"] for one in answer.json()}


def test_a_pattern_of_a_requester_takes_linear_time(empty: World) -> None:
    """Patterns in settings are Rust's, which never go back."""
    slow = replace(small_protocol("single"), negators=replace(small_protocol().negators, pattern="(a+)+b"))
    (measure,) = measure_hypotheses("It.", [Hypothesis(label="neutral", level="only", text="a" * 20_000)], slow)
    assert measure.negators == ()


def _never(*_: object) -> Any:
    raise AssertionError("this should not be reached")

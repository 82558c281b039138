"""What a client may send: every number, key and amount has bounds, and they hold at the door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal
from html import unescape
from typing import Any, get_type_hints

import pytest
from sqlalchemy import select

from goldlabel.collect import projects
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money.ledger import in_units
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.schema import answers, ledger
from goldlabel.collect.settings import bounds_of
from goldlabel.collect.work import assignment
from goldlabel.collect.work.answering import MOST_SECONDS
from goldlabel.errors import InputError
from goldlabel.web.requester.settings import MONEY, SETTINGS, SHARE, WHOLE
from tests.web.world import World

NUMBERS = (WHOLE, SHARE, MONEY)
NO_NUMBERS = (
    "sNaN",
    "NaN",
    "9E999999",
    "1_000",
    "1e5",
    "-1",
    "+1",
    "٣",
    "１００",
    "一百",
    "½",
    "∞",
    "Infinity",
    "0x1",
    "1,5",
    "",
    " ",
    "1" * 40,
)


def lent(world: World, name: str, kind: str) -> assignment.Assignment:
    with world.store.write() as tx:
        return assignment.claim(tx, world.project, world.people[name], kind).tasks[0]


def send(world: World, name: str, path: str, body: str) -> Any:
    visitor = world.visitor(name)
    headers = {"x-csrf-token": visitor.csrf, "content-type": "application/json"}
    method = visitor.client.put if path.endswith("draft") else visitor.client.post
    return method(path, content=body, headers=headers)


@pytest.mark.parametrize("seconds", ["1e300", "-1", "NaN", "Infinity", str(MOST_SECONDS + 1), "1" * 400])
def test_times_that_nobody_took_are_refused(world: World, seconds: str) -> None:
    """One vote of 1e300 seconds made the page of people fail for good."""
    judged, written = lent(world, "verifier", "verify"), lent(world, "writer", "write")
    vote = f'{{"key": "k1", "label": "neutral", "seconds": {seconds}}}'
    submission = f'{{"key": "k1", "hypotheses": [], "timings": {{"total": {seconds}}}}}'
    draft = f'{{"revision": 1, "content": {{"seconds": {{"total": {seconds}}}}}}}'
    for name, path, body in (
        ("verifier", f"/api/assignments/{judged.assignment_id}/vote", vote),
        ("writer", f"/api/assignments/{written.assignment_id}/submit", submission),
        ("writer", f"/api/assignments/{written.assignment_id}/draft", draft),
    ):
        answer = send(world, name, path, body)
        assert answer.status_code in (400, 422), path
        assert answer.json()["error"] == "invalid"
    assert world.visitor("boss").get(f"/projects/{world.project}/people").status_code == 200


def test_the_longest_time_is_taken_and_shown(world: World) -> None:
    judged = lent(world, "verifier", "verify")
    body = json.dumps({"key": "k1", "label": "neutral", "seconds": MOST_SECONDS})
    assert send(world, "verifier", f"/api/assignments/{judged.assignment_id}/vote", body).status_code == 200
    assert world.one(select(answers.c.seconds).order_by(answers.c.id.desc()).limit(1)) == MOST_SECONDS
    assert world.visitor("boss").get(f"/projects/{world.project}/people").status_code == 200


@pytest.mark.parametrize(
    ("revision", "content"),
    [
        (2**53 + 1, {}),
        (-1, {}),
        (1, {"seconds": {"x" * 101: 1}}),
        (1, {"seconds": {str(n): 1 for n in range(101)}}),
        (1, {"texts": {"x" * 101: "a"}}),
        (1, {"note": "x" * 20_001}),
    ],
)
def test_drafts_are_bounded(world: World, revision: int, content: dict[str, Any]) -> None:
    path = f"/api/assignments/{lent(world, 'writer', 'write').assignment_id}/draft"
    answer = send(world, "writer", path, json.dumps({"revision": revision, "content": content}))
    assert answer.status_code == 422


def test_everything_that_is_sent_is_bounded(world: World) -> None:
    """The schemas say the least and the most of each number, the longest of each text, the most of each list."""
    schema = world.app.openapi()

    def loose(part: Any, where: str) -> Iterator[str]:
        if isinstance(part, dict):
            if "$ref" in part:
                yield from loose(schema["components"]["schemas"][part["$ref"].rpartition("/")[2]], where)
            kind = part.get("type")
            if kind in ("integer", "number") and not {"minimum", "maximum"} <= {*part}:
                yield where
            if kind == "string" and not {"maxLength", "enum", "const", "format", "pattern", "contentMediaType"} & {
                *part
            }:
                yield where
            if kind == "array" and "maxItems" not in part:
                yield where
            for name, inner in part.items():
                if name not in ("default", "example", "examples", "enum", "title", "description"):
                    yield from loose(inner, f"{where}/{name}")
        elif isinstance(part, list):
            for inner in part:
                yield from loose(inner, where)

    sent = {
        f"{method} {path}": body
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if (body := [operation.get("requestBody", {}), operation.get("parameters", [])])
    }
    assert len(sent) >= 40
    assert not [place for name, body in sent.items() for place in loose(body, name)]


@pytest.mark.parametrize("text", [*NO_NUMBERS, "0.00001", "1000000001"])
def test_amounts_are_digits_and_a_point(world: World, text: str) -> None:
    boss = world.visitor("boss")
    boss.get("/language/en")
    before = world.one(select(ledger.c.id).order_by(ledger.c.id.desc()).limit(1))
    form = {"to": world.called("writer"), "kind": "bonus", "amount": text, "reason": "kind", "key": "k2"}
    answer = boss.post(f"/projects/{world.project}/ledger", form)
    sent = {"to": world.called("writer"), "amount": text, "on": "2030-01-01", "key": "k3"}
    for refused in (answer, boss.post(f"/projects/{world.project}/payouts", sent)):
        assert refused.status_code == 422
        if 0 < len(text) <= 30:
            says = f"Amount: '{text}' cannot be used; give an amount from 0 to 1000000000, such as 0.30"
            assert says in unescape(refused.text)
    assert world.one(select(ledger.c.id).order_by(ledger.c.id.desc()).limit(1)) == before


@pytest.mark.parametrize("text", ["sNaN", "NaN", "Infinity", "9E999999", "1E-999999", "0.00001", "1E+10"])
def test_amounts_in_code_are_bounded_too(text: str) -> None:
    with pytest.raises(InputError, match="is no amount of money"):
        in_units(Decimal(text))


WRITTEN = [one for one in SETTINGS if one.kind in NUMBERS and one.key in KINDS.get("elicitation").settings]


@pytest.mark.parametrize("setting", WRITTEN, ids=lambda one: one.key)
def test_a_setting_that_cannot_be_is_named_in_the_words_of_its_field(world: World, setting: Any) -> None:
    address = f"/projects/{world.project}/settings"
    low, high = setting.bounds
    with world.store.read() as tx:
        protocol = projects.project(tx, world.project).protocol
    boss = world.visitor("boss")
    for language, refusal in (("en", "cannot be used; give"), ("zh", "不可用；请填")):
        boss.get(f"/language/{language}")
        says = boss.get(address).text.partition(f'<label for="{setting.key}">')[2].partition("</label>")[0]
        for text in ("1_000", str(low - 1), str(high + 1)):
            answer = boss.post(address, {setting.key: text})
            assert answer.status_code == 422, text
            notice = unescape(answer.text).partition('role="alert">')[2].partition("</p>")[0]
            assert notice.startswith(unescape(says)), notice
            assert refusal in notice
            assert str(low) in notice
            assert str(high) in notice
    with world.store.read() as tx:
        assert projects.project(tx, world.project).protocol == protocol


@pytest.mark.parametrize("key", ["verifying.lease_seconds", "verifying.share", "pay.pair", "pay.budget"])
def test_numbers_in_forms_are_digits(world: World, key: str) -> None:
    boss = world.visitor("boss")
    for text in NO_NUMBERS:
        assert boss.post(f"/projects/{world.project}/settings", {key: text}).status_code == 422, text


def test_every_number_of_a_protocol_has_bounds() -> None:
    def numbers(kind: type, path: str) -> Iterator[str]:
        for one in fields(kind):
            hint = get_type_hints(kind)[one.name]
            if is_dataclass(hint):
                yield from numbers(hint, f"{path}{one.name}.")
            elif hint in (int, float, Decimal, int | None, float | None):
                yield f"{path}{one.name}"

    found = [*numbers(Protocol, "")]
    assert {one.key for one in SETTINGS if one.kind in NUMBERS} <= {*found}
    for path in found:
        low, high = bounds_of(Protocol, path)
        assert 0 <= low < high <= 10**9

"""The interface for programs: who gets in, what is done once, and that it does what the pages do."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from goldlabel.collect.money.recount import check
from goldlabel.collect.people import tokens
from goldlabel.collect.people.accounts import person_of
from goldlabel.collect.people.passwords import hash_token
from goldlabel.collect.schema import events, invites, jobs, pairs, premises
from goldlabel.collect.schema import tokens as token_rows
from tests.collect.conftest import MovableClock
from tests.web.site import serving
from tests.web.test_openapi import send_made_up
from tests.web.world import World, objects

DOCS = Path(__file__).parents[2] / "docs" / "api.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "collect_api.py"
BODIES: dict[str, Any] = {
    "POST /projects": {"name": "n", "protocol": "multi", "language": "en"},
    "PATCH /projects/{project_id}": {"state": "running"},
    "PATCH /projects/{project_id}/settings": {"writing.batch": 50},
    "POST /projects/{project_id}/premises": {"premises": [{"text": "A swallow flew over the harbour at noon."}]},
    "POST /projects/{project_id}/pairs": {
        "origin": "gold",
        "pairs": [{"premise": "It rains.", "hypothesis": "It is wet.", "label": "entailment"}],
    },
    "PATCH /projects/{project_id}/people/{pseudonym}/{role}": {"state": "active"},
    "POST /projects/{project_id}/invitations": {"role": "writer"},
    "POST /projects/{project_id}/claim": {"kind": "write"},
}


class Program:
    """Something that holds a token."""

    def __init__(self, world: World, name: str, *scopes: str, lifetime: timedelta = timedelta(days=1)) -> None:
        with world.store.write() as tx:
            allowed = scopes or tokens.allowed_scopes(tx, world.people[name])
            made = tokens.make_token(tx, world.people[name], name="nightly", scopes=allowed, lifetime=lifetime)
            self.id, self.token = made
        self.client = TestClient(world.app, base_url="http://localhost", raise_server_exceptions=False)

    def __call__(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        headers = {"authorization": f"Bearer {self.token}", **({"idempotency-key": key} if key else {})}
        return self.client.request(method, f"/api/v1{path}", json=body, headers=headers)


def routes(world: World) -> list[tuple[str, str]]:
    """Every method and path for programs, without the part that all have in common."""
    described = world.visitor().get("/api/v1/openapi.json").json()
    return [
        (method.upper(), path.removeprefix("/api/v1"))
        for path, operations in described["paths"].items()
        for method in operations
    ]


def for_annotators(path: str) -> bool:
    return path.startswith("/assignments/") or path.endswith("/claim")


def test_every_route_wants_a_token_of_its_scope_and_its_person(world: World) -> None:
    mine = objects(world, world.project) | {"role": "writer", "assignment_id": 1, "job_id": 1}
    boss, writer = Program(world, "boss"), Program(world, "writer")
    rival, nobody = Program(world, "rival"), world.visitor("boss")
    walked = routes(world)
    assert len(walked) > 20
    for method, path in walked:
        address, body = path.format(**mine), BODIES.get(f"{method} {path}")
        for headers in ({}, {"authorization": "Bearer guess"}, {"authorization": f"Basic {boss.token}"}):
            answer = boss.client.request(method, f"/api/v1{address}", json=body, headers=headers)
            assert answer.status_code == 401, (method, path)
            assert answer.json()["error"] == "signed_out"
        headers = {"x-csrf-token": nobody.token()}
        assert nobody.client.request(method, f"/api/v1{address}", json=body, headers=headers).status_code == 401
        if path == "/projects" and method == "GET":
            continue
        other = boss if for_annotators(path) else writer
        answer = other(method, address, body)
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden"), (method, path)
        if "{project_id}" in path and not for_annotators(path):
            assert rival(method, address, body).status_code == 404, (method, path)


def test_a_token_opens_nothing_but_the_interface(world: World) -> None:
    program = Program(world, "boss")
    headers = {"authorization": f"Bearer {program.token}"}
    for path in ("/", "/account", f"/projects/{world.project}/ledger"):
        assert program.client.get(path, headers=headers, follow_redirects=False).status_code == 303
    assert program.client.get("/api/session", headers=headers).json()["signed_in"] is False


def test_things_of_another_project_do_not_exist_for_a_token(world: World) -> None:
    mine, theirs = objects(world, world.project), objects(world, world.other)
    boss = Program(world, "boss")
    person = f"/projects/{mine['project_id']}/people/{theirs['pseudonym']}/writer"
    assert boss("PATCH", person, {"state": "paused"}).status_code == 404
    assert boss("DELETE", f"/projects/{mine['project_id']}/invitations/{theirs['invite_id']}").status_code == 404


def test_tokens_are_made_and_withdrawn_on_their_page(world: World) -> None:
    boss = world.visitor("boss")
    answer = boss.send("/account/tokens", {"name": "nightly export", "scopes": ["requester"], "days": "3"})
    shown = re.search(r'value="(goldlabel_[\w-]+)"', answer.text)
    assert shown is not None
    row = world.one(select(token_rows.c.token_hash).order_by(token_rows.c.id.desc()).limit(1))
    assert row == hash_token(shown[1])
    page = boss.get("/account/tokens").text
    assert "nightly export" in page
    assert shown[1] not in page
    ask = {"authorization": f"Bearer {shown[1]}"}
    assert boss.client.get("/api/v1/projects", headers=ask).status_code == 200
    number = world.one(select(func.max(token_rows.c.id)))
    assert world.one(select(token_rows.c.used_at).where(token_rows.c.id == number)) is not None
    assert world.visitor("rival").post(f"/account/tokens/{number}/withdraw").status_code == 404
    assert boss.post(f"/account/tokens/{number}/withdraw").status_code == 303
    assert boss.client.get("/api/v1/projects", headers=ask).status_code == 401
    kinds = [world.one(select(func.count()).where(events.c.kind == kind)) for kind in ("token.made", "token.withdrawn")]
    assert min(kinds) >= 1


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("boss", {"name": "x", "scopes": "annotator"}),
        ("writer", {"name": "x", "scopes": "requester"}),
        ("writer", {"name": "x", "scopes": ["annotator", "requester"]}),
        ("boss", {"name": " ", "scopes": "requester"}),
        ("boss", {"name": "x"}),
        ("boss", {"name": "x", "scopes": "requester", "days": "366"}),
        ("nobody", {"name": "x", "scopes": "annotator"}),
    ],
)
def test_a_token_is_for_what_its_person_does(world: World, name: str, form: dict[str, Any]) -> None:
    before = world.one(select(func.count()).select_from(token_rows))
    assert world.visitor(name).post("/account/tokens", form).status_code == 422
    assert world.one(select(func.count()).select_from(token_rows)) == before


def test_a_token_ends(empty: World, clock: MovableClock) -> None:
    program = Program(empty, "boss", lifetime=timedelta(days=2))
    assert program("GET", "/projects").json() == []
    clock.move(days=2)
    assert program("GET", "/projects").status_code == 401


def test_a_change_is_made_once_under_its_key(world: World) -> None:
    boss = Program(world, "boss")
    body = {"premises": [{"text": "An owl sat on the mill all night long."}, {"text": "short"}]}
    path = f"/projects/{world.project}/premises"
    first = boss("POST", path, body, key="k1")
    assert first.status_code == 201
    assert first.json() == {"added": 1, "left_out": [{"reason": "shorter than 20 characters", "n": 1}]}
    assert boss("POST", path, body, key="k1").json() == first.json()
    assert boss("POST", path, body, key="k2").json()["added"] == 0
    other = boss("POST", path, {"premises": [{"text": "A quite different sentence stands here."}]}, key="k1")
    assert (other.status_code, other.json()["error"]) == (409, "conflict")
    assert Program(world, "rival")("POST", f"/projects/{world.other}/premises", body, key="k1").json()["added"] == 1
    path = f"/projects/{world.project}/invitations"
    made = boss("POST", path, {"role": "writer", "uses": 3}, key="k3").json()
    token = made["link"].rpartition("/")[2]
    assert world.one(select(invites.c.token_hash).where(invites.c.id == made["id"])) == hash_token(token)
    assert boss("POST", path, {"role": "writer", "uses": 3}, key="k3").json() == {"id": made["id"], "link": None}
    assert boss("DELETE", f"{path}/{made['id']}").status_code == 204
    assert world.visitor().get(f"/invite/{token}").status_code == 410


def test_a_request_that_fails_leaves_its_key_free(world: World) -> None:
    boss, path = Program(world, "boss"), f"/projects/{world.project}/pairs"
    pair = {"premise": "It rains.", "hypothesis": "It is wet.", "label": "perhaps"}
    assert boss("POST", path, {"origin": "gold", "pairs": [pair]}, key="k9").status_code == 422
    good = {"origin": "gold", "pairs": [pair | {"label": "entailment"}]}
    assert boss("POST", path, good, key="k9").json()["added"] == 1


def test_a_pair_brings_its_suggestion(world: World) -> None:
    boss, path = Program(world, "boss"), f"/projects/{world.project}/pairs"
    pair = {"premise": "It hails.", "hypothesis": "It is cold.", "suggestion": "neutral", "suggested_by": "m1"}
    wrong = {"origin": "foreign", "pairs": [pair | {"suggestion": "perhaps"}]}
    assert boss("POST", path, wrong).status_code == 422
    assert boss("POST", path, {"origin": "foreign", "pairs": [pair]}).json()["added"] == 1
    row = world.one(select(pairs.c.suggestion).where(pairs.c.hypothesis == "It is cold."))
    assert (row, world.one(select(pairs.c.suggested_by).where(pairs.c.suggestion == row))) == ("neutral", "m1")


def test_a_premise_keeps_the_split_that_it_first_came_with(empty: World) -> None:
    boss = Program(empty, "boss")
    made = boss("POST", "/projects", {"name": "herons", "protocol": "human-baseline", "language": "en"}).json()

    def bring(hypothesis: str, split: str | None, origin: str = "imported") -> Any:
        pair = {"premise": "It rains.", "hypothesis": hypothesis, "label": "neutral", "split": split}
        return boss("POST", f"/projects/{made['id']}/pairs", {"origin": origin, "pairs": [pair]})

    assert bring("It is wet.", "dev").json()["added"] == 1
    assert empty.one(select(premises.c.split)) == "dev"
    assert bring("It is grey.", "validation").status_code == 422
    for told in (bring("It is grey.", "test"), bring("It is wet.", "test"), bring("It is grey.", "dev", "gold")):
        assert told.status_code == 422
        assert "split" in told.json()["message"]
    assert empty.one(select(func.count()).select_from(pairs)) == 1, "nothing was imported"
    place = boss("POST", "/projects", {"name": "owls", "protocol": "single", "language": "en"}).json()["id"]
    sentence = {"text": "An owl sat on the mill all night long."}
    for split, status in (("test", 201), ("dev", 422), (None, 201)):
        body = {"premises": [sentence | {"split": split}]}
        assert boss("POST", f"/projects/{place}/premises", body).status_code == status


def test_a_project_from_end_to_end(empty: World) -> None:
    boss = Program(empty, "boss", "requester")
    settings = {"qualification.training": 0, "verifying.share": 1, "verifying.verifiers": 1, "pay.pair": "0.40"}
    body = {"name": "rivers", "protocol": "single", "language": "en", "settings": settings}
    made = boss("POST", "/projects", body).json()
    place = f"/projects/{made['id']}"
    assert boss("GET", f"{place}/settings").json()["pay"]["pair"] == "0.40"
    assert boss("PATCH", f"{place}/settings", {"pay.pair": "0.50"}).json()["pay"]["pair"] == "0.50"
    refused = boss("PATCH", f"{place}/settings", {"pay.pear": "0.50"})
    assert refused.status_code == 422
    assert "did you mean 'pair'" in refused.json()["message"]
    text = "The old ferry crossed the river before the storm."
    assert boss("POST", f"{place}/premises", {"premises": [{"text": text, "genre": "ports"}]}).json()["added"] == 1
    for role in ("writer", "verifier"):
        link = boss("POST", f"{place}/invitations", {"role": role}).json()["link"]
        visitor = empty.visitor()
        path = link.removeprefix("http://localhost")
        assert visitor.post(f"{path}/account", {"login": role, "password": "four random words"}).status_code == 303
        with empty.store.read() as tx:
            empty.people[role] = person_of(tx, role)
    writer, verifier = Program(empty, "writer"), Program(empty, "verifier")
    task = writer("POST", f"{place}/claim", {"kind": "write"}).json()["tasks"][0]
    assert task["premise"] == text
    texts = {"entailment": "A boat moved.", "neutral": "It carried sheep.", "contradiction": "Every boat stayed put."}
    boxes = [{"label": label, "level": "only", "text": one} for label, one in texts.items()]
    sent = {"key": "w1", "hypotheses": boxes, "timings": {"total": 60}}
    answer = writer("POST", f"/assignments/{task['assignment']}/submit", sent)
    assert (answer.json()["state"], answer.json()["amount"]) == ("counted", "1.50")
    assert writer("POST", f"/assignments/{task['assignment']}/submit", sent).json()["repeated"] is True
    work = verifier("POST", f"{place}/claim", {"kind": "verify"}).json()
    while work and work["tasks"]:
        path = f"/assignments/{work['tasks'][0]['assignment']}/vote"
        work = verifier("POST", path, {"key": "v1", "label": "neutral", "seconds": 3}).json()["work"]
    stats = boss("GET", f"{place}/stats").json()
    assert {line["kind"]: line["answered"] for line in stats["queue"]} == {"write": 1, "verify": 3}
    assert (stats["owed"], stats["currency"]) == ("2.10", "USD")
    assert (stats["questions"], stats["suggestions"]) == ([], None)
    people = boss("GET", f"{place}/people").json()
    assert sorted((one["pairs"], one["votes"]) for one in people) == [(0, 0), (0, 3), (3, 0)]
    assert boss("GET", f"{place}/figures").json() == {
        "measured_at": None,
        "pending": True,
        "figures": None,
        "forecast": None,
    }
    empty.work_off()
    told = boss("GET", f"{place}/figures").json()
    assert (told["forecast"]["basis"], told["forecast"]["currency"]) == ("pace", "USD")
    figures = told["figures"]
    assert figures["verification"]["by_group"][0]["relabelled"] == 3
    measuring = empty.one(select(jobs.c.id).where(jobs.c.kind == "measure"))
    assert boss("GET", f"{place}/exports/{measuring}").status_code == 404
    assert boss("GET", f"{place}/exports/{measuring}/file").status_code == 404
    export = boss("POST", f"{place}/exports", {}).json()
    assert export["state"] == "waiting"
    path = f"{place}/exports/{export['id']}"
    assert boss("GET", f"{path}/file").status_code == 409
    empty.work_off()
    assert (boss("GET", path).json()["state"], boss("GET", path).json()["share"]) == ("done", 1)
    with zipfile.ZipFile(io.BytesIO(boss("GET", f"{path}/file").content)) as archive:
        assert {"card.json", "ledger.csv"} <= {*archive.namelist()}
    assert boss("PATCH", place, {"state": "paused"}).json()["state"] == "paused"
    assert writer("POST", f"{place}/claim", {"kind": "write"}).json()["status"] == "paused"
    with empty.store.read() as tx:
        assert check(tx, made["id"]) == []


def test_requests_made_up_from_the_description_never_fail(world: World) -> None:
    described = schemathesis.openapi.from_asgi("/api/v1/openapi.json", world.app)
    described.validate()
    operations = [one.ok() for one in described.get_all_operations()]
    assert len(operations) == len(routes(world))
    programs = {True: Program(world, "writer"), False: Program(world, "boss")}
    known = {**objects(world, world.project), "assignment_id": 1, "role": "writer"}
    for operation in operations:
        program = programs[for_annotators(operation.path.removeprefix("/api/v1"))]
        headers = {"authorization": f"Bearer {program.token}"}
        statuses = send_made_up(operation, known, headers=headers)
        assert {*statuses} - {401, 403, 429}, (operation.label, statuses)


def test_every_route_is_in_the_documentation(world: World) -> None:
    told = set(re.findall(r"^\| `(GET|POST|PUT|PATCH|DELETE)` \| `(/[^`]*)` \|", DOCS.read_text(), re.MULTILINE))
    assert told == {(method, re.sub(r"_id\}", "}", path)) for method, path in routes(world)}


def test_the_example_runs_against_a_server(empty: World) -> None:
    program = Program(empty, "boss", "requester")
    with serving(empty.store) as site:
        known = {"GOLDLABEL_ADDRESS": site.address, "GOLDLABEL_TOKEN": program.token}
        run = subprocess.run(
            [sys.executable, EXAMPLE], env={**os.environ, **known}, capture_output=True, text=True, encoding="utf-8"
        )
        assert run.returncode == 0, run.stderr
        assert "project rivers: 3 premises added; writers join at http://127.0.0.1:" in run.stdout
        assert "write in multi: 3 waiting, 0 done" in run.stdout
        assert run.stdout.endswith("now paused\n")
        again = subprocess.run(
            [sys.executable, EXAMPLE], env={**os.environ, **known}, capture_output=True, text=True, encoding="utf-8"
        )
        assert again.stderr == "POST /projects: There is a project 'rivers' already; choose another name.\n"


def test_json_that_is_nested_too_deeply_is_refused(world: World) -> None:
    boss = Program(world, "boss")
    headers = {"authorization": f"Bearer {boss.token}", "content-type": "application/json"}
    for text in ('{"writing.batch":' + "[" * 200_000, '{"writing.batch": ' + "[" * 20_000 + "]" * 20_000 + "}"):
        answer = boss.client.patch(f"/api/v1/projects/{world.project}/settings", content=text, headers=headers)
        assert answer.status_code == 400, answer.text

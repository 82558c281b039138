"""Requests made up from the description of the application: whatever is sent, nothing fails with a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from sqlalchemy import select

from goldlabel.collect.schema import assignments
from goldlabel.web.security import API, SESSION
from tests.web.world import World, objects, opened, populate

ENDING = ("/logout", "/account/password", "/account/delete")
"""These end the session, or the account, that the other requests need."""
FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(tmp_path_factory.mktemp("openapi") / "collection") as world:
        yield populate(world, premises=4)


def test_the_description_is_served(crowd: World) -> None:
    told = crowd.visitor().get("/api/openapi.json").json()
    assert told["info"]["title"] == "Goldlabel"
    assert "/api/assignments/{assignment_id}/vote" in told["paths"]


def test_nothing_fails(crowd: World) -> None:
    visitors = {name: crowd.visitor(name) for name in ("boss", "writer", "verifier")}
    found = schemathesis.openapi.from_asgi("/api/openapi.json", crowd.app).get_all_operations()
    operations = [one.ok() for one in found]
    assert len(operations) > 45
    for operation in operations:
        if operation.path in ENDING or operation.path.startswith(API):
            continue
        name = _who(operation.path)
        held = crowd.one(select(assignments.c.id).where(assignments.c.person_id == crowd.people[name]))
        known = {**objects(crowd, crowd.project), "assignment_id": held or 1, "role": "writer"}
        visitor = visitors[name]
        session = {"cookies": {SESSION: visitor.client.cookies[SESSION]}, "headers": {"x-csrf-token": visitor.csrf}}
        statuses = send_made_up(operation, known, **session)
        assert {*statuses} - {401, 403, 429}, (operation.label, statuses)


def send_made_up(operation: Any, known: dict[str, Any], **sent: Any) -> list[int]:
    """Send made-up requests to one operation, mostly about things that exist; return how they were answered."""
    statuses: list[int] = []

    @given(case=operation.as_strategy())
    @FEW
    def send(case: Any) -> None:
        for name, value in case.path_parameters.items():
            if name in known and not (isinstance(value, int) and value % 3 == 0):
                case.path_parameters[name] = known[name]
        answer = case.call(**sent)
        assert answer.status_code < 500, (case.method, case.path, case.body, answer.status_code, answer.text[-500:])
        assert "content-security-policy" in answer.headers
        statuses.append(answer.status_code)

    send()
    return statuses


def _who(path: str) -> str:
    if path.endswith(("/vote", "/undo", "/verify")):
        return "verifier"
    works = path.startswith("/api/") or path.endswith(("/write", "/instructions/{role}", "/training/{role}"))
    return "writer" if works else "boss"

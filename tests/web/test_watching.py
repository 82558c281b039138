"""What is said of a server to whoever watches over it."""

from __future__ import annotations

import json
import logging
import re

import pytest
from sqlalchemy import text

from goldlabel.web.serving import logging_of
from goldlabel.web.watching import HEADER, TOKEN, JsonLines
from tests.web.world import World


def figures(world: World) -> dict[str, float]:
    """Return every figure by its name and labels."""
    answer = world.visitor().get("/metrics", headers={"authorization": "Bearer a-token"})
    assert answer.status_code == 200, answer.text
    lines = [line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def test_figures_are_for_whoever_knows_the_token(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = world.visitor()
    right = {"authorization": "Bearer a-token"}
    assert stranger.get("/metrics", headers=right).status_code == 404
    monkeypatch.setenv(TOKEN, "a-token")
    assert stranger.get("/metrics").status_code == 404
    assert stranger.get("/metrics", headers={"authorization": "Bearer another"}).status_code == 404
    assert stranger.get("/metrics", headers=right).status_code == 200


def test_requests_are_counted_by_route_and_rows_by_state(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "a-token")
    name = 'goldlabel_requests_total{method="GET",route="/enter/{token}",status="404"}'
    before = figures(world)
    for secret in ("one-secret", "another-secret"):
        assert world.visitor().get(f"/enter/{secret}").status_code == 404
    after = figures(world)
    assert after[name] - before.get(name, 0) == 2
    assert not any("secret" in line for line in after)
    counted = sum(value for line, value in after.items() if line.startswith("goldlabel_answers{"))
    with world.store.read() as tx:
        assert counted == tx.value(text("SELECT count(*) FROM answers")) > 0


def test_a_request_keeps_the_id_that_a_proxy_gave_it(world: World) -> None:
    stranger = world.visitor()
    assert stranger.get("/healthz", headers={HEADER: "from-a-proxy"}).headers[HEADER] == "from-a-proxy"
    for forged in ("short", "new\tline is no id", "x" * 65):
        assert re.fullmatch(r"[0-9a-f]{16}", stranger.get("/healthz", headers={HEADER: forged}).headers[HEADER])


def test_logs_are_objects_with_the_request_and_without_its_address(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "goldlabel.requests"):
        world.visitor().get("/enter/a-secret", headers={HEADER: "from-a-proxy"})
    [record] = [one for one in caplog.records if one.name == "goldlabel.requests"]
    line = json.loads(JsonLines().format(record))
    assert line["message"] == "GET /enter/{token} 404"
    assert (line["status"], line["level"]) == (404, "info")
    assert line["milliseconds"] > 0
    assert "secret" not in json.dumps(line)


def test_requests_are_logged_for_programs_alone() -> None:
    levels = {form: logging_of(form)["loggers"]["goldlabel.requests"]["level"] for form in ("plain", "json")}
    assert levels == {"plain": "WARNING", "json": "INFO"}


def test_a_server_is_not_ready_for_another_schema(empty: World) -> None:
    stranger = empty.visitor()
    assert stranger.get("/readyz").status_code == 200
    with empty.store.write() as tx:
        tx.connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    assert stranger.get("/readyz").status_code == 503
    assert stranger.get("/healthz").status_code == 200

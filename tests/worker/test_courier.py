"""Webhooks: told once what happened, signed, later again where nobody answers, and never into a private network."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.schema import deliveries
from goldlabel.collect.store import Store
from goldlabel.collect.webhooks import (
    MOST_ATTEMPTS,
    SIGNATURE,
    TOLD,
    add_webhook,
    announce,
    announce_finished,
    delivery_log,
    pause_after,
    remove_webhook,
)
from goldlabel.worker import courier
from goldlabel.worker.courier import Refused, address_of, carry_once, is_outside
from tests.collect.campaign import Projects, join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock
from tests.web.world import World

HERE = ("127.0.0.1",)


class Receiver:
    """A server that writes down what it is told, and answers as it is bidden."""

    def __init__(self) -> None:
        self.told: list[tuple[dict[str, str], str]] = []
        self.status = 200


@contextmanager
def receiving() -> Iterator[tuple[Receiver, str]]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            receiver.told.append((dict(self.headers), body))
            self.send_response(receiver.status)
            if 300 <= receiver.status < 400:
                self.send_header("location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield receiver, f"http://127.0.0.1:{server.server_port}/hook?of=meadow"
        server.shutdown()
        thread.join()


def carried(store: Store) -> int:
    count = 0
    while carry_once(store, HERE):
        count += 1
    return count


def test_what_happens_is_told_signed_and_once(tmp_path: Path) -> None:
    with Projects() as projects, receiving() as (receiver, url):
        store, project_id = projects.open(tmp_path / "c", small_protocol("single", verifiers=2), premises=1)
        with store.write() as tx:
            secret = add_webhook(tx, project_id, url, TOLD, by=None)
        writer = join(store, project_id, "writer", 1)
        verifiers = join(store, project_id, "verifier", 2)
        write_all(store, project_id, writer)
        with store.write() as tx:
            announce_finished(tx)
        verify_all(store, project_id, verifiers)
        for _ in range(2):
            with store.write() as tx:
                announce_finished(tx)
        assert carried(store) == 3 + 3 + 1
        assert carried(store) == 0
        told = [json.loads(body) for _, body in receiver.told]
        assert [one["event"] for one in told] == ["person.joined"] * 3 + ["pair.verified"] * 3 + ["project.finished"]
        assert {one["project"]["name"] for one in told} == {"meadow"}
        assert told[0]["data"]["role"] == "writer"
        assert sorted(one["data"]["verdict"] for one in told[3:6]) == ["contradiction", "entailment", "neutral"]
        assert len({one["id"] for one in told}) == 7
        for headers, body in receiver.told:
            at, _, digest = headers[SIGNATURE].removeprefix("t=").partition(",v1=")
            assert digest == hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()


def test_an_address_that_fails_is_tried_later_and_what_waits_for_it_waits(store: Store, clock: MovableClock) -> None:
    project_id = made(store)
    with receiving() as (receiver, url):
        with store.write() as tx:
            add_webhook(tx, project_id, url, TOLD, by=None)
            announce(tx, project_id, "person.joined", person=1)
            announce(tx, project_id, "person.joined", person=2)
        receiver.status = 503
        assert carried(store) == 1
        clock.move(seconds=31)
        receiver.status = 302
        assert carried(store) == 1
        assert log(store)[-1].problem == "answered 302"
        clock.move(seconds=31)
        assert carried(store) == 0
        clock.move(seconds=31)
        receiver.status = 204
        assert carried(store) == 2
        states = [(row.state, row.attempts, row.status) for row in log(store)]
        assert states == [("sent", 1, 204), ("sent", 3, 204)]
        assert len(receiver.told) == 4


def test_an_address_that_never_answers_is_given_up(store: Store, clock: MovableClock) -> None:
    project_id = made(store)
    with store.write() as tx:
        add_webhook(tx, project_id, "http://127.0.0.1:1/", ["person.joined"], by=None)
        announce(tx, project_id, "pair.verified", pair=1)
        announce(tx, project_id, "person.joined", person=1)
    for _ in range(MOST_ATTEMPTS):
        assert carried(store) == 1
        clock.move(hours=6)
    assert carried(store) == 0
    assert [(row.event, row.state, row.status) for row in log(store)] == [("person.joined", "failed", None)]
    assert pause_after(1) == timedelta(seconds=30)
    assert pause_after(3) == timedelta(seconds=120)
    assert pause_after(MOST_ATTEMPTS) == timedelta(hours=6)


def test_a_courier_that_dies_leaves_its_delivery_to_another(
    store: Store, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = made(store)
    with store.write() as tx:
        add_webhook(tx, project_id, "http://127.0.0.1:1/", TOLD, by=None)
        announce(tx, project_id, "person.joined", person=1)

    def die(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(courier, "deliver", die)
    with pytest.raises(KeyboardInterrupt):
        carry_once(store, HERE)
    monkeypatch.undo()
    assert not carry_once(store, HERE)
    clock.move(minutes=3)
    assert carry_once(store, HERE)


def test_what_is_removed_is_told_nothing_more(store: Store) -> None:
    project_id = made(store)
    with store.write() as tx:
        add_webhook(tx, project_id, "https://label.example/", TOLD, by=None)
        announce(tx, project_id, "person.joined", person=1)
        remove_webhook(tx, project_id, 1, by=None)
        announce(tx, project_id, "person.joined", person=2)
    assert carried(store) == 0
    assert [row.state for row in log(store)] == ["dropped"]
    with pytest.raises(Missing), store.write() as tx:
        remove_webhook(tx, project_id, 1, by=None)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:10.0.0.1", "::ffff:8.8.8.8"),
        *("64:ff9b::a00:1", "2002:0a00:0001::1", "2001:0:0a00:1::1", "ff02::1"),
    ],
)
def test_addresses_of_private_networks(address: str) -> None:
    assert not is_outside(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111"])
def test_addresses_of_the_internet(address: str) -> None:
    assert is_outside(address)


def test_a_private_network_is_not_entered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number, by name, and by a name with one address outside and one inside."""
    project_id = made(store)
    with receiving() as (receiver, url), store.write() as tx:
        add_webhook(tx, project_id, url, TOLD, by=None)
        announce(tx, project_id, "person.joined", person=1)
    with receiving() as (receiver, url):
        assert carry_once(store)
        assert not receiver.told
    assert "is in a private network; name it in GOLDLABEL_WEBHOOK_HOSTS" in log(store)[0].problem
    for name in ("localhost", "127.1", "2130706433"):
        with pytest.raises((Refused, OSError)):
            address_of(name, 80)

    def look_up(*_: object, **__: object) -> list[Any]:
        return [(2, 1, 6, "", ("8.8.8.8", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]

    monkeypatch.setattr(courier.socket, "getaddrinfo", look_up)
    with pytest.raises(Refused):
        address_of("label.example", 80)
    monkeypatch.setenv(courier.ALLOWED, " label.example ,other")
    assert address_of("label.example", 80, courier.allowed_hosts()) == "8.8.8.8"


@pytest.mark.parametrize(
    "url", ["ftp://x.example", "https://", "javascript:alert(1)", "https://x.example:99999", "https://x y", "x" * 501]
)
def test_an_address_that_is_none(store: Store, url: str) -> None:
    project_id = made(store)
    with pytest.raises(Invalid), store.write() as tx:
        add_webhook(tx, project_id, url, TOLD, by=None)


def test_webhooks_have_a_page(world: World) -> None:
    boss, path = world.visitor("boss"), f"/projects/{world.project}/webhooks"
    form = {"url": "https://hooks.example/x", "events": ["pair.verified", "person.joined"]}
    answer = boss.send(path, form)
    assert 'id="secret"' in answer.text
    with world.store.write() as tx:
        announce(tx, world.project, "person.joined", person=1)
    page = boss.get(path).text
    assert "https://hooks.example/x" in page
    assert "a person joined" in page
    assert 'id="secret"' not in page
    assert boss.post(path, {"url": "nowhere"}).status_code == 422
    number = world.one(select(func.max(deliveries.c.webhook_id)))
    assert world.visitor("rival").post(f"/projects/{world.other}/webhooks/{number}/remove").status_code == 404
    assert boss.post(f"{path}/{number}/remove").status_code == 303
    assert "https://hooks.example/x" in boss.get(path).text


def made(store: Store) -> int:
    from goldlabel.collect.configuration import create_project

    with store.write() as tx:
        return create_project(tx, "meadow", small_protocol("single")).id


def log(store: Store) -> list[Any]:
    with store.read() as tx:
        return delivery_log(tx, 1)

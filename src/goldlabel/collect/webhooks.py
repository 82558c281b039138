"""Webhooks: what happens in a project is told to addresses of the requester's choice.

What is to be told is written down in the transaction in which it happens, so that nothing is told that did not happen
and nothing that happened is left out; a courier (``goldlabel.worker.courier``) carries it there afterwards. An address
that cannot be reached is tried again, later each time, and what waits for it waits as long.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row, func, select

from goldlabel.collect.events import record
from goldlabel.collect.messages import words
from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.schema import deliveries, projects, tasks, webhooks
from goldlabel.collect.store import Transaction

PAIR_VERIFIED, PROJECT_FINISHED = "pair.verified", "project.finished"
BUDGET_REACHED, PERSON_JOINED = "budget.reached", "person.joined"
TOLD = (PAIR_VERIFIED, PROJECT_FINISHED, BUDGET_REACHED, PERSON_JOINED)
LONGEST_URL = 500
MOST_WEBHOOKS = 10
SIGNATURE = "Goldlabel-Signature"
MOST_ATTEMPTS = 12
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=6)
LEASE = timedelta(minutes=2)
"""For this long a delivery is in a courier's hands; after that another takes it up."""


@dataclass(frozen=True)
class Webhook:
    """An address and what it is told."""

    id: int
    url: str
    events: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True)
class Delivery:
    """Something to be told."""

    id: int
    webhook_id: int
    url: str
    secret: str
    body: str
    attempts: int


def add_webhook(tx: Transaction, project_id: int, url: str, events: Collection[str], *, by: int | None) -> str:
    """Tell an address what happens from now on; return the secret that what it is told is signed with."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or not url.isascii() or not url.isprintable() or " " in url or len(url) > LONGEST_URL:
        raise Invalid("webhook_url", longest=LONGEST_URL)
    chosen = [name for name in TOLD if name in events]
    if not chosen or not {*events} <= {*TOLD}:
        raise Invalid("webhook_events", allowed=words(TOLD))
    if len(webhooks_of(tx, project_id)) >= MOST_WEBHOOKS:
        raise Invalid("webhook_most", most=MOST_WEBHOOKS)
    secret = secrets.token_urlsafe(32)
    webhook_id = tx.insert(
        webhooks,
        project_id=project_id,
        url=url,
        secret=secret,
        events=chosen,
        finished=_is_finished(tx, project_id),
        created_at=tx.now,
    )
    _record(tx, "webhook.made", project_id, webhook_id, by, url=url, events=chosen)
    return secret


def remove_webhook(tx: Transaction, project_id: int, webhook_id: int, *, by: int | None) -> None:
    """Tell an address nothing more; what was told stays in the log."""
    own = (webhooks.c.id == webhook_id, webhooks.c.project_id == project_id, webhooks.c.removed_at.is_(None))
    if not tx.run(webhooks.update().where(*own).values(removed_at=tx.now)):
        raise Missing("no_webhook")
    waiting = (deliveries.c.webhook_id == webhook_id, deliveries.c.state == "waiting")
    tx.run(deliveries.update().where(*waiting).values(state="dropped", ended_at=tx.now))
    _record(tx, "webhook.removed", project_id, webhook_id, by)


def webhooks_of(tx: Transaction, project_id: int) -> list[Webhook]:
    """Return the addresses that a project tells what happens."""
    return [Webhook(row.id, row.url, tuple(row.events), row.created_at) for row in _rows(tx, project_id)]


def delivery_log(tx: Transaction, project_id: int, *, limit: int = 50) -> list[Row[Any]]:
    """Return the last deliveries of a project with their addresses, the newest first."""
    query = (
        select(deliveries, webhooks.c.url)
        .join(webhooks, webhooks.c.id == deliveries.c.webhook_id)
        .where(webhooks.c.project_id == project_id)
        .order_by(deliveries.c.id.desc())
        .limit(limit)
    )
    return list(tx.all(query))


def announce(tx: Transaction, project_id: int, event: str, **data: Any) -> None:
    """Write down for every address that wants to know it that something happened."""
    _announce(tx, [row for row in _rows(tx, project_id) if event in row.events], event, data)


def announce_finished(tx: Transaction) -> None:
    """Tell those who want to know it when a project has nothing left to do; and again if it gets more and ends again.

    Answers do not look for that: a courier does, now and then.
    """
    for row in tx.all(select(webhooks).where(webhooks.c.removed_at.is_(None))):
        finished = PROJECT_FINISHED in row.events and _is_finished(tx, row.project_id)
        if finished != row.finished:
            tx.change(webhooks, row.id, finished=finished)
            if finished:
                _announce(tx, [row], PROJECT_FINISHED, {})


def take_delivery(tx: Transaction) -> Delivery | None:
    """Take the next delivery that is due; no other courier gets it for a while."""
    row = tx.one(
        select(deliveries, webhooks.c.url, webhooks.c.secret)
        .join(webhooks, webhooks.c.id == deliveries.c.webhook_id)
        .where(deliveries.c.state == "waiting", deliveries.c.due_at <= tx.now)
        .order_by(deliveries.c.due_at, deliveries.c.id)
        .limit(1)
        .with_for_update(of=deliveries, key_share=True, skip_locked=True)
    )
    if row is None:
        return None
    tx.change(deliveries, row.id, due_at=tx.now + LEASE, attempts=row.attempts + 1)
    return Delivery(row.id, row.webhook_id, row.url, row.secret, row.body, row.attempts + 1)


def end_delivery(tx: Transaction, delivery: Delivery, *, status: int | None, problem: str = "") -> None:
    """Write down how a delivery went; one that failed is tried again later, and so is what waits behind it."""
    values: dict[str, Any] = {"status": status, "problem": problem[:500] or None}
    if status is not None and 200 <= status < 300:
        tx.change(deliveries, delivery.id, state="sent", ended_at=tx.now, **values)
        return
    due_at = tx.now + pause_after(delivery.attempts)
    if delivery.attempts >= MOST_ATTEMPTS:
        tx.change(deliveries, delivery.id, state="failed", ended_at=tx.now, **values)
    else:
        tx.change(deliveries, delivery.id, due_at=due_at, **values)
    behind = (
        deliveries.c.webhook_id == delivery.webhook_id,
        deliveries.c.state == "waiting",
        deliveries.c.due_at < due_at,
    )
    tx.run(deliveries.update().where(*behind).values(due_at=due_at))


def pause_after(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts that failed: twice as long each time."""
    return min(FIRST_PAUSE * (1 << (attempts - 1)), LONGEST_PAUSE)


def sign(secret: str, body: str, at: int) -> str:
    """Return the header that proves where a message comes from and when it was sent."""
    digest = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def _announce(tx: Transaction, hooks: list[Row[Any]], event: str, data: dict[str, Any]) -> None:
    if not hooks:
        return
    project = tx.row(projects, id=hooks[0].project_id)
    assert project is not None
    told = {
        "id": str(uuid.uuid4()),
        "event": event,
        "at": tx.now.isoformat(timespec="seconds"),
        "project": {"id": project.id, "name": project.name},
        "data": data,
    }
    body = json.dumps(told, ensure_ascii=False)
    common = {"event": event, "body": body, "state": "waiting", "attempts": 0, "due_at": tx.now, "created_at": tx.now}
    tx.insert_all(deliveries, [{"webhook_id": hook.id, **common} for hook in hooks])


def _rows(tx: Transaction, project_id: int) -> list[Row[Any]]:
    own = (webhooks.c.project_id == project_id, webhooks.c.removed_at.is_(None))
    return list(tx.all(select(webhooks).where(*own).order_by(webhooks.c.id)))


def _is_finished(tx: Transaction, project_id: int) -> bool:
    """Say whether a project had something to do, and all of it is done."""
    own = (tasks.c.project_id == project_id, tasks.c.kind != "gold")
    left = tx.value(select(func.count()).where(*own, tasks.c.state.in_(("open", "leased"))))
    return left == 0 and tx.one(select(tasks.c.id).where(*own).limit(1)) is not None


def _record(tx: Transaction, kind: str, project_id: int, webhook_id: int, by: int | None, **data: Any) -> None:
    record(tx, kind, project_id=project_id, person_id=by, subject=f"webhook {webhook_id}", data=data)

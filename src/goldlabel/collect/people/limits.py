"""Limits: how often something may be tried, counted in the database, so that all server processes count together."""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta
from threading import Lock

from sqlalchemy import select

from goldlabel.collect.people.passwords import hash_token
from goldlabel.collect.refusals import TooMany
from goldlabel.collect.schema import rate_buckets
from goldlabel.collect.store import Store, Transaction


def hit(tx: Transaction, bucket: str, *, limit: int, window: timedelta, tries: int = 1) -> None:
    """Count tries in a bucket, or refuse them when there were ``limit`` of them within the window.

    Give it a write block of its own, before what it guards. Buckets are kept under a hash of their name, as names
    hold addresses.
    """
    key = hash_token(bucket)
    if tx.insert_new(rate_buckets, key=key, started_at=tx.now, hits=0):
        tx.run(rate_buckets.delete().where(rate_buckets.c.started_at < tx.now - timedelta(days=1)))
    row = tx.one(select(rate_buckets).where(rate_buckets.c.key == key).with_for_update(key_share=True))
    assert row is not None
    left = row.started_at + window - tx.now
    if left <= timedelta(0):
        tx.run(rate_buckets.update().where(rate_buckets.c.key == key).values(started_at=tx.now, hits=tries))
    elif row.hits >= limit:
        raise TooMany("too_many_tries", seconds=_seconds(left))
    else:
        tx.run(rate_buckets.update().where(rate_buckets.c.key == key).values(hits=row.hits + tries))


def clear_hits(tx: Transaction, bucket: str) -> None:
    """Forget the tries in a bucket, as after a login that went well."""
    tx.run(rate_buckets.delete().where(rate_buckets.c.key == hash_token(bucket)))


class Allowance:
    """How often each person may ask for something in a while, counted where counting must cost nearly nothing.

    A process counts by itself and tells the database of every ``most / PARTS`` requests at once; so several processes
    together let through no more than a part each beyond ``most``.
    """

    PARTS = 20

    def __init__(self, store: Store, name: str, *, most: int, window: timedelta) -> None:
        self._store, self._name, self._most, self._window = store, name, most, window
        self._part = max(1, most // self.PARTS)
        self._counts: dict[int, int] = {}
        self._refused: dict[int, datetime] = {}
        self._lock = Lock()

    def count(self, person_id: int) -> bool:
        """Count a request; say whether it is time to ``settle``. Raises ``TooMany``."""
        with self._lock:
            until = self._refused.get(person_id)
            if until is not None:
                left = until - self._store.now()
                if left > timedelta(0):
                    raise TooMany("too_many_tries", seconds=_seconds(left))
                del self._refused[person_id]
            self._counts[person_id] = self._counts.get(person_id, 0) + 1
            return self._counts[person_id] >= self._part

    def settle(self, person_id: int) -> None:
        """Tell the database what was counted here; raises ``TooMany``."""
        with self._lock:
            tries = self._counts.pop(person_id, 0)
        if not tries:
            return
        try:
            with self._store.write() as tx:
                hit(tx, f"{self._name} {person_id}", limit=self._most, window=self._window, tries=tries)
        except TooMany as error:
            with self._lock:
                self._refused[person_id] = self._store.now() + timedelta(seconds=error.retry_after)
            raise


def block_of(address: str) -> str:
    """Return what an address is counted by: of IPv6 the /64, which is what one customer has."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        if known.ipv4_mapped is None:
            return str(ipaddress.IPv6Network((int(known), 64), strict=False))
        known = known.ipv4_mapped
    return str(known)


def _seconds(left: timedelta) -> int:
    return -(-left // timedelta(seconds=1))

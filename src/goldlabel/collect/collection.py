"""The collection itself: a key of its own, which stays the same for as long as its database lives.

Two collections that were served one after the other at one address have the same numbers for different people and
tasks; what a browser keeps is kept under this key.
"""

from __future__ import annotations

from sqlalchemy import select

from goldlabel.collect.schema import collection
from goldlabel.collect.store import Transaction


def collection_key(tx: Transaction) -> str:
    """Return the key of a collection."""
    return str(tx.value(_KEY))


_KEY = select(collection.c.key)

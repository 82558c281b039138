"""Repeats: a request that changes something is done once under the key that its sender made up for it.

What was answered is kept in the transaction that did the work, so that one is never there without the other; the same
key with the same content gives the same answer again, and with another content it is refused. A day later it is
forgotten.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from goldlabel.collect.refusals import Conflict
from goldlabel.collect.schema import repeats
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.answering import check_key

KEPT = timedelta(days=1)


def once(
    tx: Transaction, person_id: int, key: str | None, request: object, act: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Do what is asked and return its answer, or return what it was answered before under this key."""
    if key is None:
        return act()
    check_key(key)
    digest = hashlib.sha256(json.dumps(request, sort_keys=True, default=str).encode()).hexdigest()
    tx.run(repeats.delete().where(repeats.c.person_id == person_id, repeats.c.created_at < tx.now - KEPT))
    # Of two at the same moment one waits here until the other is over.
    if not tx.insert_new(repeats, person_id=person_id, key=key, digest=digest, answer={}, created_at=tx.now):
        earlier = tx.row(repeats, person_id=person_id, key=key)
        assert earlier is not None
        if earlier.digest != digest:
            raise Conflict("key_reused", key=key)
        return dict(earlier.answer)
    answer = act()
    own = (repeats.c.person_id == person_id, repeats.c.key == key)
    tx.run(repeats.update().where(*own).values(answer=answer))
    return answer

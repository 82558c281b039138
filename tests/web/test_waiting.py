"""Those who wait for a model are told by one look for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import pytest

from goldlabel.collect.store import Store
from goldlabel.web import tries_api
from goldlabel.web.tries_api import WaitingRoom


def test_one_look_serves_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[set[int]] = []

    def waiting(_: Store, jobs: Collection[int]) -> set[int]:
        looks.append({*jobs})
        return {*jobs} if len(looks) < 3 else {job for job in jobs if job == 50}

    monkeypatch.setattr(tries_api, "_waiting", waiting)
    monkeypatch.setattr(tries_api, "PAUSE", 0.0)
    room, ended = WaitingRoom(), list[int]()

    async def wait(job: int) -> None:
        await room.wait(None, job)  # type: ignore[arg-type]
        ended.append(job)

    async def all_wait() -> None:
        patient = [asyncio.create_task(wait(job)) for job in range(51)]
        while len(ended) < 50:
            await asyncio.sleep(0)
        monkeypatch.setattr(tries_api, "PATIENCE", 0.0)
        patient[50].cancel()

    asyncio.run(all_wait())
    assert looks[:3] == [set(range(51))] * 3
    assert sorted(ended) == list(range(50)), "who is not answered waits on"
    assert not room.gates

"""Simulated annotators: they open pages, save drafts, submit, vote and take votes back, and keep what was acknowledged.

Each behaves as the pages' script does: an answer has a key, and is sent again under the same key until the server has
said that it has it. Times are those of single requests that were answered.
"""

from __future__ import annotations

import asyncio
import random
import re
import secrets
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
TOKEN = re.compile(r'<meta name="csrf" content="([^"]+)">')
RELOAD, TAKE_BACK = 0.1, 0.05
DRAFTS = 3
RETRY_SECONDS = 0.2


@dataclass
class Record:
    """What the annotators saw: seconds per page, and the answers that the server acknowledged."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)
    retries: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Annotator:
    """One person with a session, and what they work on."""

    project_id: int
    kind: str
    cookie: str
    record: Record
    pace: float
    labels: tuple[str, ...]
    chance: random.Random
    csrf: str = ""

    async def work(self, address: str, until: float, arrival: float) -> None:
        """Come after some seconds and work until a moment of ``time.monotonic``; what is begun is finished."""
        await asyncio.sleep(arrival)
        cookies = {"goldlabel_session": self.cookie}
        # Without verify=False each client would read all certificates, which takes longer than our server does.
        async with httpx.AsyncClient(base_url=address, cookies=cookies, timeout=30, verify=False) as client:
            tasks = await self.open_page(client)
            while time.monotonic() < until and tasks:
                await self.pause()
                if self.chance.random() < RELOAD:
                    tasks = await self.open_page(client)
                    continue
                step = self.write if self.kind == "write" else self.judge
                tasks = await step(client, tasks[0])

    async def open_page(self, client: httpx.AsyncClient) -> list[dict[str, Any]]:
        """Load a page and return the tasks on it."""
        response = await self.send(client, f"{self.kind} page", "GET", f"/projects/{self.project_id}/{self.kind}")
        found = DATA.search(response.text)
        token = TOKEN.search(response.text)
        self.csrf = token[1] if token else ""
        return list(orjson.loads(found[1])["work"]["tasks"]) if found else []

    async def write(self, client: httpx.AsyncClient, task: dict[str, Any]) -> list[dict[str, Any]]:
        """Save drafts, then submit."""
        path = f"/api/assignments/{task['assignment']}"
        texts = {label: f"{label} {secrets.token_hex(4)} walks here" for label in self.labels}
        for _ in range(DRAFTS):
            content = {"texts": {f"{label} only": text for label, text in texts.items()}}
            await self.send(
                client, "draft", "PUT", f"{path}/draft", {"revision": time.time_ns() // 1000, "content": content}
            )
            await self.pause()
        hypotheses = [{"label": label, "level": "only", "text": text} for label, text in texts.items()]
        return await self.answer(client, "submit", task, {"hypotheses": hypotheses, "timings": {"total": 30.0}})

    async def judge(self, client: httpx.AsyncClient, task: dict[str, Any]) -> list[dict[str, Any]]:
        """Vote; now and then take the vote back."""
        label = self.chance.choice(self.labels)
        tasks = await self.answer(client, "vote", task, {"label": label, "seconds": 3.0})
        if self.chance.random() < TAKE_BACK:
            await self.pause()
            path = f"/api/assignments/{task['assignment']}/undo"
            key = next(
                key
                for key, one in reversed(self.record.acknowledged.items())
                if one["assignment"] == task["assignment"]
            )
            response = await self.send(client, "undo", "POST", path, {"key": key})
            self.record.acknowledged[key]["state"] = "undone"
            tasks = response.json()["work"]["tasks"]
        return tasks

    async def answer(
        self, client: httpx.AsyncClient, what: str, task: dict[str, Any], body: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Send an answer under a key of its own and note what was acknowledged."""
        key = secrets.token_hex(16)
        response = await self.send(
            client, what, "POST", f"/api/assignments/{task['assignment']}/{what}", body | {"key": key}
        )
        if response.status_code != 200:
            self.record.problems.append(f"{what}: {response.status_code} {response.text[:200]}")
            return await self.open_page(client)
        told = response.json()
        self.record.acknowledged[key] = {"assignment": task["assignment"], "state": told["state"], "what": what}
        return list((told["work"] or {"tasks": []})["tasks"])

    async def send(
        self, client: httpx.AsyncClient, page: str, method: str, path: str, body: Any = None
    ) -> httpx.Response:
        """Send a request, again and again while the server cannot be reached."""
        while True:
            start = time.perf_counter()
            try:
                response = await client.request(method, path, json=body, headers={"X-CSRF-Token": self.csrf})
            except httpx.TransportError:
                self.record.retries += 1
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if response.status_code < 500:
                self.record.seconds[page].append(time.perf_counter() - start)
                return response
            self.record.problems.append(f"{page}: {response.status_code}")
            self.record.retries += 1
            await asyncio.sleep(RETRY_SECONDS)

    async def pause(self) -> None:
        if self.pace:
            await asyncio.sleep(self.chance.expovariate(1 / self.pace))


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Return how many requests there were, and the milliseconds that 50, 95 and 99 of 100 of them took at most."""
    ranked = sorted(seconds)
    at = {f"p{share}": 1000 * ranked[min(len(ranked) - 1, len(ranked) * share // 100)] for share in (50, 95, 99)}
    return {"requests": len(ranked), **at, "worst": 1000 * ranked[-1]}

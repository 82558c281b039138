"""Potato and Label Studio with the same items and annotators: started as their users start them, asked over HTTP.

Annotators judge pairs on five steps, three of them per item: each stores a label, then fetches the next item. In the
end the server is killed (-9), and what it had acknowledged is looked up in its files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import httpx
from annotators import Record, percentiles

LABELS = ("very_likely", "likely", "plausible", "technically_possible", "impossible")
PER_ITEM = 3
PER_PERSON = 500
PATIENCE_SECONDS = 240
IMPORT_ROWS = 10_000
PASSWORD = "four random words"


class Sender(Protocol):
    """Sends a request and notes how long it took."""

    async def __call__(self, page: str, method: str, path: str, **options: Any) -> httpx.Response | None: ...


class Rival(Protocol):
    """What is asked of another system."""

    name: str

    def command(self, python: str, port: int) -> list[str]: ...

    def environment(self, home: Path) -> dict[str, str]: ...

    def lay_out(self, home: Path, sentences: Sequence[str]) -> None: ...

    def bring_items(self, address: str, sentences: Sequence[str]) -> None: ...

    async def log_in(self, send: Sender, client: httpx.AsyncClient, person: str) -> str | None: ...

    async def judge(
        self, send: Sender, client: httpx.AsyncClient, item: str, label: str
    ) -> tuple[bool, str | None]: ...

    async def next_item(self, send: Sender) -> str | None: ...

    def stored(self, home: Path) -> Iterator[tuple[str, str]]: ...


class Potato:
    """potato-annotation: items from a file, states in files."""

    name = "Potato"
    item = re.compile(r'id="instance_id"[^>]*value="([^"]*)"')

    def command(self, python: str, port: int) -> list[str]:
        return [str(Path(python).parent / "potato"), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]

    def environment(self, home: Path) -> dict[str, str]:
        return {}

    def lay_out(self, home: Path, sentences: Sequence[str]) -> None:
        scheme = {"annotation_type": "radio", "name": "likely", "description": "How likely is it?", "labels": LABELS}
        config = {
            "annotation_task_name": "judging",
            "task_dir": ".",
            "output_annotation_dir": "output",
            "output_annotation_format": "jsonl",
            "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "require_password": False,
            "user_config": {"allow_all_users": True, "users": []},
            "max_annotations_per_item": PER_ITEM,
            "max_annotations_per_user": PER_PERSON,
            "annotation_schemes": [scheme],
        }
        (home / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
        rows = (json.dumps({"id": str(n), "text": f"{text} Truly."}) for n, text in enumerate(sentences))
        (home / "items.jsonl").write_text("\n".join(rows) + "\n")

    def bring_items(self, address: str, sentences: Sequence[str]) -> None:
        """Items are read at the start."""

    async def log_in(self, send: Sender, client: httpx.AsyncClient, person: str) -> str | None:
        return self._item_on(await send("log in", "POST", "/auth", data={"action": "login", "email": person}))

    async def judge(self, send: Sender, client: httpx.AsyncClient, item: str, label: str) -> tuple[bool, str | None]:
        body = {"instance_id": item, "annotations": {f"likely:{label}": label}, "span_annotations": []}
        kept = await send("vote", "POST", "/updateinstance", json=body)
        onward = {"action": "next_instance", "instance_id": item}
        following = self._item_on(await send("next item", "POST", "/annotate", json=onward))
        return kept is not None and kept.status_code == 200, following

    async def next_item(self, send: Sender) -> str | None:
        return self._item_on(await send("next item", "GET", "/annotate"))

    def stored(self, home: Path) -> Iterator[tuple[str, str]]:
        for file in (home / "output").glob("*/user_state.json"):
            state = json.loads(file.read_text())
            yield from ((state["user_id"], item) for item in state["instance_id_to_label_to_value"])

    def _item_on(self, page: httpx.Response | None) -> str | None:
        found = self.item.search(page.text) if page is not None else None
        return found[1] if found else None


class LabelStudio:
    """label-studio: items by its API, everything in SQLite."""

    name = "Label Studio"
    token = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
    project = 1

    def command(self, python: str, port: int) -> list[str]:
        words = ["start", "--no-browser", "--port", str(port), "--internal-host", "127.0.0.1"]
        account = ["--username", "requester@label.example", "--password", PASSWORD]
        return [str(Path(python).parent / "label-studio"), *words, *account]

    def environment(self, home: Path) -> dict[str, str]:
        return {"LABEL_STUDIO_BASE_DATA_DIR": str(home / "data"), "COLLECT_ANALYTICS": "false"}

    def lay_out(self, home: Path, sentences: Sequence[str]) -> None:
        """Items are brought when it runs."""

    def bring_items(self, address: str, sentences: Sequence[str]) -> None:
        choices = "".join(f'<Choice value="{label}"/>' for label in LABELS)
        config = f'<View><Text name="b" value="$text"/><Choices name="likely" toName="b">{choices}</Choices></View>'
        with httpx.Client(base_url=address, timeout=600, verify=False, follow_redirects=True) as client:
            form = client.get("/user/login/").text
            fields = {"email": "requester@label.example", "password": PASSWORD}
            client.post("/user/login/", data=self._fields(form) | fields, headers={"Referer": address})
            headers = {"X-CSRFToken": client.cookies["csrftoken"], "Referer": address}
            settings = {"title": "judging", "label_config": config, "maximum_annotations": PER_ITEM}
            self.project = client.post("/api/projects/", json=settings, headers=headers).json()["id"]
            for start in range(0, len(sentences), IMPORT_ROWS):
                rows = [{"data": {"text": f"{text} Truly."}} for text in sentences[start : start + IMPORT_ROWS]]
                client.post(f"/api/projects/{self.project}/import", json=rows, headers=headers).raise_for_status()

    async def log_in(self, send: Sender, client: httpx.AsyncClient, person: str) -> str | None:
        form = await client.get("/user/signup/")
        fields = {"email": f"{person}@label.example", "password": PASSWORD, "how_find_us": "Other"}
        base = str(client.base_url)
        await send("log in", "POST", "/user/signup/", data=self._fields(form.text) | fields, headers={"Referer": base})
        client.headers.update({"X-CSRFToken": client.cookies.get("csrftoken", ""), "Referer": base})
        return await self.next_item(send)

    async def judge(self, send: Sender, client: httpx.AsyncClient, item: str, label: str) -> tuple[bool, str | None]:
        chosen = {"from_name": "likely", "to_name": "b", "type": "choices", "value": {"choices": [label]}}
        path = f"/api/tasks/{item}/annotations/?project={self.project}"
        kept = await send("vote", "POST", path, json={"result": [chosen], "lead_time": 3})
        return kept is not None and kept.status_code == 201, await self.next_item(send)

    async def next_item(self, send: Sender) -> str | None:
        answer = await send("next item", "GET", f"/api/projects/{self.project}/next")
        return str(answer.json()["id"]) if answer is not None and answer.status_code == 200 else None

    def stored(self, home: Path) -> Iterator[tuple[str, str]]:
        found = sqlite3.connect(home / "data" / "label_studio.sqlite3")
        query = "SELECT u.email, c.task_id FROM task_completion c JOIN htx_user u ON u.id = c.completed_by_id"
        yield from ((email.partition("@")[0], str(item)) for email, item in found.execute(query))
        found.close()

    def _fields(self, form: str) -> dict[str, str]:
        found = self.token.search(form)
        return {"csrfmiddlewaretoken": found[1] if found else ""}


def try_rival(
    rival: Rival, python: str, folder: Path, port: int, sentences: Sequence[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Run a system for some time with simulated annotators, kill it, and count what it had acknowledged."""
    home = folder / rival.name.replace(" ", "-")
    home.mkdir()
    rival.lay_out(home, sentences)
    start = time.perf_counter()
    server = subprocess.Popen(
        rival.command(python, port),
        cwd=home,
        env=os.environ | rival.environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        if not _answers(address):
            return {"problems": [(f"did not answer within {PATIENCE_SECONDS} s", 1)], "milliseconds": {}}
        rival.bring_items(address, sentences)
        figures: dict[str, Any] = {"seconds_to_start": time.perf_counter() - start, "pace": options.pace}
        record, elapsed = asyncio.run(_load(rival, address, options))
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    kept = list(rival.stored(home))
    votes = Counter(item for _, item in set(kept))
    return figures | {
        "requests_per_second": sum(len(seen) for page, seen in record.seconds.items() if page != "log in") / elapsed,
        "answers_per_second": len(record.acknowledged) / elapsed,
        "problems": Counter(record.problems).most_common(5),
        "milliseconds": {page: percentiles(seen) for page, seen in sorted(record.seconds.items())},
        "load_average": os.getloadavg()[0],
        "database": {
            "acknowledged": len(record.acknowledged),
            "lost": len(set(record.acknowledged) - {f"{person} {item}" for person, item in kept}),
            "stored_twice": len(kept) - len(set(kept)),
            "items_with_too_many_votes": sum(count > PER_ITEM for count in votes.values()),
        },
    }


def _answers(address: str) -> bool:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        try:
            httpx.get(address, timeout=30)
            return True
        except httpx.TransportError:
            time.sleep(0.5)
    return False


async def _load(rival: Rival, address: str, options: argparse.Namespace) -> tuple[Record, float]:
    """Log everybody in, one after another; then let them work, and return what was seen in how many seconds."""
    record = Record()
    async with AsyncExitStack() as opened:
        crowd = []
        for number in range(options.annotators):
            client = httpx.AsyncClient(base_url=address, timeout=60, verify=False, follow_redirects=True)
            send = _sender(await opened.enter_async_context(client), record)
            crowd.append((send, client, f"person{number}", await rival.log_in(send, client, f"person{number}")))
        start, arrival = time.monotonic(), min(5.0, options.seconds / 5) / options.annotators
        until = start + options.seconds
        work = (_work(rival, *one, n * arrival, until, options.pace, record) for n, one in enumerate(crowd))
        await asyncio.gather(*work)
        return record, time.monotonic() - start


def _sender(client: httpx.AsyncClient, record: Record) -> Sender:
    async def send(page: str, method: str, path: str, **options: Any) -> httpx.Response | None:
        start = time.perf_counter()
        try:
            response = await client.request(method, path, **options)
        except httpx.TransportError as error:
            record.problems.append(f"{page}: {type(error).__name__}")
            return None
        record.seconds[page].append(time.perf_counter() - start)
        if response.status_code >= 400:
            record.problems.append(f"{page}: {response.status_code}")
        return response

    return send


async def _work(
    rival: Rival,
    send: Sender,
    client: httpx.AsyncClient,
    person: str,
    item: str | None,
    arrival: float,
    until: float,
    pace: float,
    record: Record,
) -> None:
    chance = random.Random(person)
    await asyncio.sleep(arrival)
    while time.monotonic() < until:
        if item is None:  # a person would load the page again
            await asyncio.sleep(1)
            item = await rival.next_item(send)
            continue
        if pace:
            await asyncio.sleep(chance.expovariate(1 / pace))
        acknowledged, following = await rival.judge(send, client, item, chance.choice(LABELS))
        if acknowledged:
            record.acknowledged[f"{person} {item}"] = {}
        item = following

"""Potato with the same number of items and annotators: started as its users start it, asked over HTTP, then killed.

Its annotators judge on five steps: they store a label, then ask for the next page, as its own page does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
from annotators import Record, percentiles

LABELS = ("very_likely", "likely", "plausible", "technically_possible", "impossible")
INSTANCE = re.compile(r'id="instance_id"[^>]*value="([^"]*)"')
PATIENCE_SECONDS = 240
CONFIG = """\
annotation_task_name: judging
task_dir: .
output_annotation_dir: output
output_annotation_format: jsonl
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: text}
require_password: false
user_config: {allow_all_users: true, users: []}
max_annotations_per_item: 3
assignment_strategy: random
annotation_schemes:
  - {annotation_type: radio, name: likely, description: "How likely is it?", labels: [LABELS]}
"""


def try_potato(
    python: str, folder: Path, port: int, sentences: Iterable[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Run Potato for some time with simulated annotators, kill it, and count what it had acknowledged in its files."""
    home = folder / "potato"
    home.mkdir()
    (home / "config.yaml").write_text(CONFIG.replace("LABELS", ", ".join(LABELS)))
    with (home / "items.jsonl").open("w") as file:
        for number, text in enumerate(sentences):
            file.write(json.dumps({"id": str(number), "text": f"{text} Truly."}) + "\n")
    start = time.perf_counter()
    server = subprocess.Popen(
        [str(Path(python).parent / "potato"), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"],
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        if not _answers(address):
            print(f"Potato: not measured, it did not answer within {PATIENCE_SECONDS} s")
            return {"started": False}
        figures: dict[str, Any] = {"started": True, "seconds_to_start": time.perf_counter() - start}
        start = time.perf_counter()
        record = asyncio.run(_load(address, options))
        elapsed = time.perf_counter() - start
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    figures |= {
        "pace": options.pace,
        "requests_per_second": sum(map(len, record.seconds.values())) / elapsed,
        "answers_per_second": len(record.acknowledged) / elapsed,
        "problems": Counter(record.problems).most_common(5),
        "milliseconds": {page: percentiles(seen) for page, seen in sorted(record.seconds.items())},
        "acknowledged": len(record.acknowledged),
        "lost": len(set(record.acknowledged) - _stored(home / "output")),
    }
    return figures


def _answers(address: str) -> bool:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        try:
            httpx.get(address, timeout=30)
            return True
        except httpx.TransportError:
            time.sleep(0.5)
    return False


async def _load(address: str, options: argparse.Namespace) -> Record:
    record = Record()
    until = time.monotonic() + options.seconds
    arrival = min(5.0, options.seconds / 5) / options.annotators
    crowd = [_work(address, f"person{n}", n * arrival, until, options.pace, record) for n in range(options.annotators)]
    await asyncio.gather(*crowd)
    return record


async def _work(address: str, name: str, arrival: float, until: float, pace: float, record: Record) -> None:
    chance = random.Random(name)
    await asyncio.sleep(arrival)
    async with httpx.AsyncClient(base_url=address, timeout=60, verify=False, follow_redirects=True) as client:

        async def send(page: str, method: str, path: str, **options: Any) -> httpx.Response | None:
            start = time.perf_counter()
            try:
                response = await client.request(method, path, **options)
            except httpx.TransportError as error:
                record.problems.append(f"{page}: {type(error).__name__}")
                return None
            record.seconds[page].append(time.perf_counter() - start)
            if response.status_code != 200:
                record.problems.append(f"{page}: {response.status_code}")
            return response

        page = await send("log in", "POST", "/auth", data={"action": "login", "email": name})
        while page is not None and time.monotonic() < until:
            found = INSTANCE.search(page.text)
            if found is None:
                record.problems.append("a page without an item")
                return
            if pace:
                await asyncio.sleep(chance.expovariate(1 / pace))
            label = chance.choice(LABELS)
            body = {"instance_id": found[1], "annotations": {f"likely:{label}": label}, "span_annotations": []}
            stored = await send("vote", "POST", "/updateinstance", json=body)
            if stored is not None and stored.status_code == 200:
                record.acknowledged[f"{name} {found[1]}"] = {"label": label}
            page = await send(
                "next page", "POST", "/annotate", json={"action": "next_instance", "instance_id": found[1]}
            )


def _stored(output: Path) -> set[str]:
    """Return who has a label on which item, as the files say it."""
    held = set()
    for file in output.glob("*/user_state.json"):
        try:
            state = json.loads(file.read_text())
        except ValueError:
            continue
        held |= {f"{state['user_id']} {item}" for item in state["instance_id_to_label_to_value"]}
    return held

"""Writing against models: how quickly tries are answered with many writers at once, and what becomes of a campaign.

Tries:    writers try without pause, or with one, against a model. The server, the worker that asks the model and the
          writers are processes of their own. Tries a second and the latency of verdicts, for each model with the tries
          of all writers answered together, and one by one.
Rounds:   the campaign of ``tests/rounds`` over three rounds, each with models trained on all before: does the error
          rate fall?
Replay:   ANLI's verified examples, all that lie in a folder, written and verified once more on a live server: do they
          end in the sets that were published?

``--models`` takes ``linear``, ``esim`` and ``NAME=FOLDER`` of a Hugging Face encoder, which learns a few pairs first.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from measure import write_result

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.collect.campaign import join
from tests.rounds.campaign import command, set_up
from tests.rounds.players import VERBS, contexts, hypothesis, lessons
from tests.rounds.replay import examples_of, replay, verified_of
from tests.web.site import serving

from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.people.accounts import NewSession, open_session
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from goldlabel.sources import add
from goldlabel.train import train

SPAWN = multiprocessing.get_context("spawn")


def serve_pages(folder: str, port: int) -> None:
    """Serve a collection's pages, and nothing else."""
    import uvicorn

    from goldlabel.web.app import create_app

    uvicorn.run(create_app(Store.open(folder)), port=port, log_level="error", access_log=False, lifespan="off")


def answer_tries(folder: str, most: int) -> None:
    """Answer tries, at most so many of them together."""
    import threading

    from goldlabel.worker import adversaries

    adversaries.MOST = most
    adversaries.answer_all(Store.open(folder), "worker", threading.Event())


@contextmanager
def running(folder: Path, most: int) -> Iterator[str]:
    """Run a server and a worker; give the server's address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    processes = [
        SPAWN.Process(target=serve_pages, args=(str(folder), port), daemon=True),
        SPAWN.Process(target=answer_tries, args=(str(folder), most), daemon=True),
    ]
    for process in processes:
        process.start()
    address = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                httpx.get(f"{address}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        for process in processes:
            process.terminate()
            process.join()


class Hurried:
    """A writer who tries for some seconds, and notes how long each verdict took."""

    def __init__(self, address: str, session: NewSession, project_id: int, pause: float) -> None:
        self.taken: list[float] = []
        self.project_id, self.pause = project_id, pause
        self.chance = random.Random(session.token)
        self.client = httpx.AsyncClient(
            base_url=f"{address}/api",
            cookies={"goldlabel_session": session.token},
            headers={"x-csrf-token": session.csrf_secret},
            timeout=120,
        )

    async def write(self, end: float) -> None:
        """Do one job after another."""
        async with self.client:
            if self.pause:
                await asyncio.sleep(self.chance.random() * self.pause)
            work = await self._post(f"/projects/{self.project_id}/claim", kind="write")
            while work and work["tasks"] and time.monotonic() < end:
                work = await self._job(work["tasks"][0], end)

    async def _job(self, task: dict[str, Any], end: float) -> Any:
        path = f"/assignments/{task['assignment']}"
        told = await self._answered(path, (await self.client.get(f"{path}/tries")).json())
        tried = {one["text"] for one in told["tries"]}  # a job may have been begun before
        texts = [hypothesis(task["premise"], verb) for verb in VERBS[told["target"]]]
        texts = self.chance.sample(left := [text for text in texts if text not in tried], k=len(left))
        while self._goes_on(told) and texts and time.monotonic() < end:
            began = time.perf_counter()
            sent = await self._post(f"{path}/tries", key=f"{len(told['tries'])} before", text=texts.pop())
            told = await self._answered(path, sent)
            self.taken.append(time.perf_counter() - began)
            if self.pause:
                await asyncio.sleep(self.pause)
        if not told["tries"] or self._goes_on(told):
            return None
        fooled = told["tries"][-1]["state"] == "fooled"
        reasons = {"label": "The verb says so.", "model": "It does not know the verb."} if fooled else {}
        return (await self._post(f"{path}/finish", key="end", reasons=reasons, timings={"total": 10.0}))["work"]

    async def _answered(self, path: str, told: dict[str, Any]) -> dict[str, Any]:
        """Ask until the last try is answered."""
        while told["tries"] and told["tries"][-1]["state"] == "waiting":
            told = (await self.client.get(f"{path}/tries")).json()
        return told

    @staticmethod
    def _goes_on(told: dict[str, Any]) -> bool:
        """Say whether there is another try, as the model was not fooled yet."""
        return bool(told["left"]) and not (told["tries"] and told["tries"][-1]["state"] == "fooled")

    async def _post(self, path: str, **body: Any) -> Any:
        response = await self.client.post(path, json=body)
        if response.is_error:
            raise RuntimeError(f"{path}: {response.status_code} {response.text}")
        return response.json()


async def write_together(writers: Sequence[Hurried], seconds: float) -> None:
    """Let all write at the same time."""
    end = time.monotonic() + seconds
    await asyncio.gather(*(writer.write(end) for writer in writers))


def measure_tries(
    name: str, model: Path, *, writers: int, seconds: float, pause: float, most: int
) -> dict[str, float | int]:
    """Let writers try against a model, so many of their tries answered together at most."""
    with tempfile.TemporaryDirectory() as place:
        campaign = set_up(Path(place) / "campaign")
        people = join(campaign.store, campaign.project_id, "writer", writers, exclusive=True, condition="adversarial")
        with campaign.store.write() as tx:
            add_premises(tx, campaign.project_id, contexts(0, 60 * writers), by=None)
            sessions = [open_session(tx, person, lifetime=timedelta(hours=1)) for person in people]
        command("open", campaign.folder, "--adversary", model)
        with running(campaign.folder, most) as address:
            crowd = [Hurried(address, session, campaign.project_id, pause) for session in sessions]
            # The first try of a model waits until it is loaded.
            asyncio.run(write_together([Hurried(address, sessions[0], campaign.project_id, 0.0)], 3.0))
            began = time.perf_counter()
            asyncio.run(write_together(crowd, seconds))
            spent = time.perf_counter() - began
        campaign.store.close()
    taken = np.array([one for writer in crowd for one in writer.taken])
    p50, p95, p99 = np.quantile(taken, [0.5, 0.95, 0.99]).tolist()
    figures = {"tries_per_second": len(taken) / spent, "p50": p50, "p95": p95, "p99": p99, "tries": len(taken)}
    told = ", ".join(f"{key} {value:.3g}" for key, value in figures.items())
    print(f"{name}, {writers} writers, pause {pause:g} s, {most} together: {told}", flush=True)
    return figures


def prepare(name: str, place: Path) -> tuple[str, Path]:
    """Return a model that has learnt a few pairs: ``linear``, ``esim``, or NAME=FOLDER of an encoder."""
    title, _, encoder = name.partition("=")
    settings: dict[str, Any] = {} if name == "linear" else {"epochs": 1} if encoder else {"epochs": 2}
    train(f"hf:{encoder}" if encoder else name, lessons(1), place / title, **settings)
    return title, place / title


def play_rounds(count: int) -> list[dict[str, Any]]:
    """Play rounds; return what came of each."""
    with tempfile.TemporaryDirectory() as place:
        campaign = set_up(Path(place) / "campaign")
        with serving(campaign.store) as site:
            for _ in range(count):
                campaign.play(site.address, 72)
                print(command(*campaign.training)["dev"])
            rounds: list[dict[str, Any]] = command("report", campaign.folder, "-o", Path(place) / "report")["rounds"]
    for one in rounds:
        print(one["name"], one["errors"], one["verified_errors"], one["tries"])
    return rounds


def replay_anli(folder: Path, limit: int | None) -> dict[str, Any]:
    """Write and verify ANLI's examples once more; return what came of each round."""
    with tempfile.TemporaryDirectory() as place:
        os.environ["GOLDLABEL_HOME"] = f"{place}/home"
        examples = examples_of(add("anli", [folder]).pairs)[:limit]
        with serving(Store.create(Path(place) / "c")) as site:
            project_id = replay(site.store, site.address, examples)
            with site.store.read() as tx:
                snapshot = take_snapshot(tx, project_id)
    verified = verified_of(split_pairs(snapshot).pairs)
    published = {(one.number, one.premise, one.hypothesis, one.label, one.votes) for one in examples}
    figures: dict[str, Any] = {"published": len(published), "same": len(verified & published), "ours": len(verified)}
    for name in sorted({one.number for one in examples}):
        sets = [{row for row in rows if row[0] == name} for rows in (published, verified)]
        figures[name] = {
            "same": len(sets[0] & sets[1]),
            "labels": [dict(sorted(Counter(label for _, _, _, label, _ in rows).items())) for rows in sets],
        }
    print(figures)
    return figures


def main() -> None:
    """Measure, and write what was seen."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", nargs="*", default=["linear", "esim"])
    options.add_argument("--writers", type=int, default=50)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--pause", type=float, nargs="*", default=[0.0, 5.0], help="seconds that a writer thinks")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--replay", type=Path, help="folder of ANLI's files")
    options.add_argument("--limit", type=int, help="replay the first so many examples")
    chosen = options.parse_args()
    figures: dict[str, Any] = {"writers": chosen.writers, "tries": {}}
    with tempfile.TemporaryDirectory() as place:
        for asked in chosen.models:
            name, model = prepare(asked, Path(place))
            for pause in chosen.pause:
                for batching, most in (("together", 256), ("one by one", 1)):
                    figures["tries"][f"{name}, pause {pause:g} s, {batching}"] = measure_tries(
                        name, model, writers=chosen.writers, seconds=chosen.seconds, pause=pause, most=most
                    )
    if chosen.rounds:
        figures["rounds"] = play_rounds(chosen.rounds)
    if chosen.replay:
        figures["replay"] = replay_anli(chosen.replay, chosen.limit)
    write_result("rounds", figures)


if __name__ == "__main__":
    main()

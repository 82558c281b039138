"""Scripted people of a campaign, who know the truth of what they write and speak to a server as a browser would.

A context says what somebody owns. A hypothesis says it with another verb, which alone decides whether it follows:
a model that has never seen the verb can but guess, and one that has learnt it is right.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import polars as pl

from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people.accounts import open_session
from goldlabel.collect.store import Store
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NLI3

VERBS = {
    "entailment": ("has", "keeps", "holds", "possesses", "retains", "controls", "boasts"),
    "contradiction": ("lacks", "misses", "forfeited", "surrendered", "lost", "sold", "abandoned"),
    "neutral": ("loves", "paints", "washes", "polishes", "praises", "admires", "repairs"),
}
TRUTH = {verb: label for label, verbs in VERBS.items() for verb in verbs}
NAMES = ("Anna", "Boris", "Chen", "Dora", "Emil", "Farida", "Goran", "Hilda", "Ivo", "Jana")
THINGS = ("boat", "kite", "mill", "barn", "violin", "garden", "lantern", "horse", "loom", "clock")
COLOURS = ("red", "green", "white", "old", "small", "heavy", "narrow", "bright")
GENRES = ("news", "letters")


def contexts(first: int, count: int) -> list[Premise]:
    """Make different contexts, numbered from ``first`` on."""
    return [
        Premise(
            text=f"{NAMES[n % 10]} owns a {COLOURS[n // 10 % 8]} {THINGS[n // 80 % 10]} in street {n}.",
            genre=GENRES[n % 2],
        )
        for n in range(first, first + count)
    ]


def hypothesis(context: str, verb: str) -> str:
    """Say of a context's owner what a verb says."""
    name, _, _, colour, thing, *_ = context.rstrip(".").split()
    return f"{name} {verb} the {colour} {thing}."


def truth(text: str) -> str:
    """Return the label of a hypothesis."""
    return TRUTH[text.split()[1]]


def lessons(verbs: int) -> Pairs:
    """Make training pairs with the first verbs of each label."""
    rows = [
        {"id": f"{n}-{verb}", "premise": one.text, "hypothesis": hypothesis(one.text, verb), "label": label}
        | {"split": "train", "language": "en"}
        for n, one in enumerate(contexts(10_000, 20))
        for label, known in VERBS.items()
        for verb in known[:verbs]
    ]
    return Pairs.from_frame(pl.DataFrame(rows), Card(name="lessons", label_space=NLI3, languages=("en",)))


@dataclass
class Job:
    """What a writer did: the raw record that figures are held against."""

    writer: int
    context: str
    target: str
    tries: list[tuple[str, str]] = field(default_factory=list)
    """Each try's text, and what became of it: ``right`` or ``fooled``."""

    @property
    def seconds(self) -> float:
        """How long the writer says that it took."""
        return 7.0 + 10 * len(self.tries)

    @property
    def fooled(self) -> bool:
        """Whether the last try fooled the model."""
        return self.tries[-1][1] == "fooled"

    @property
    def verified(self) -> bool:
        """Whether others agree that it did."""
        return self.fooled and truth(self.tries[-1][0]) == self.target


class Player:
    """Somebody at a browser."""

    def __init__(self, store: Store, address: str, project_id: int, person_id: int) -> None:
        with store.write() as tx:
            session = open_session(tx, person_id, lifetime=timedelta(hours=1))
        self.project_id, self.person_id = project_id, person_id
        self.chance = random.Random(person_id)
        self.client = httpx.Client(
            base_url=f"{address}/api",
            cookies={"goldlabel_session": session.token},
            headers={"x-csrf-token": session.csrf_secret},
            timeout=60,
        )

    def tasks(self, kind: str) -> Iterator[dict[str, Any]]:
        """Yield tasks one after another, until there is none."""
        while tasks := self.post(f"/projects/{self.project_id}/claim", kind=kind)["tasks"]:
            yield tasks[0]

    def post(self, path: str, **body: Any) -> Any:
        return self._read(self.client.post(path, json=body))

    def get(self, path: str) -> Any:
        return self._read(self.client.get(path))

    @staticmethod
    def _read(response: httpx.Response) -> Any:
        assert response.status_code == 200, response.text
        return response.json()


class Writer(Player):
    """Tries one verb after another until the model is wrong; a careless one often writes what is not asked for."""

    careless = 0.0

    def play(self) -> list[Job]:
        """Do jobs until there are none."""
        return [self.job(task) for task in self.tasks("write")]

    def job(self, task: dict[str, Any]) -> Job:
        """Do one job."""
        path = f"/assignments/{task['assignment']}"
        told = self.get(f"{path}/tries")
        job = Job(self.person_id, task["premise"], told["target"])
        while told["left"] and not (job.tries and job.fooled):
            told = self.post(f"{path}/tries", key=f"t{len(told['tries'])}", text=self.think(job))
            while told["tries"][-1]["state"] == "waiting":
                told = self.get(f"{path}/tries")
            last = told["tries"][-1]
            assert last["state"] in ("right", "fooled"), last
            job.tries.append((last["text"], last["state"]))
        reasons = {"label": "The verb says so.", "model": "It does not know the verb."} if job.fooled else {}
        self.post(f"{path}/finish", key="end", reasons=reasons, timings={"total": job.seconds})
        return job

    def think(self, job: Job) -> str:
        """Think of a hypothesis that was not tried yet."""
        label = job.target
        if self.chance.random() < self.careless:
            label = self.chance.choice([other for other in VERBS if other != label])
        tried = {text for text, _ in job.tries}
        texts = [hypothesis(job.context, verb) for verb in VERBS[label]]
        return self.chance.choice([text for text in texts if text not in tried])


class Careless(Writer):
    """A writer of whose tries a third have another label than they should."""

    careless = 1 / 3


class Verifier(Player):
    """Says the truth; one that slips says something else on a sixth of all pairs, and a third verifier is asked."""

    slips = False

    def play(self) -> int:
        """Vote until there is nothing to vote on; return the number of votes."""
        votes = 0
        for task in self.tasks("verify"):
            label = truth(task["hypothesis"])
            if self.slips and zlib.crc32(task["hypothesis"].encode()) % 6 == 0:
                label = next(other for other in VERBS if other != label)
            self.post(f"/assignments/{task['assignment']}/vote", key=f"v{task['assignment']}", label=label, seconds=3.0)
            votes += 1
        return votes


class Slipping(Verifier):
    """A verifier who errs now and then."""

    slips = True


def together(players: Sequence[Any]) -> list[Any]:
    """Let all play at the same time; return what each says of it."""
    with ThreadPoolExecutor(len(players)) as threads:
        return [done.result() for done in [threads.submit(player.play) for player in players]]

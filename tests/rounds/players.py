"""Scripted people of a campaign, who know the truth of what they write and speak to a server as a browser would.

A context says what somebody owns. A hypothesis says it with another verb, of a language of its own, which alone decides
whether it follows: a model that has never seen the verb can but guess, and one that has learnt it is right.

People take tasks and hand in answers in turn, and try at the same time in between: so whatever is stored is the same
whenever they play, while the tries of all come to the models together.
"""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Sequence
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

_STEMS = ("ga", "he", "ji", "ko", "lu", "mi", "no", "pa", "se", "ti", "vo", "wu")
_ENDS = ("bas", "dos", "kis")
_WORDS = [stem + end for end in _ENDS for stem in _STEMS]
VERBS = {label: tuple(_WORDS[place::3]) for place, label in enumerate(NLI3.labels)}
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


def lessons(verbs: int, *, split: str = "train", first: int = 10_000) -> Pairs:
    """Make training pairs with the first verbs of each label, most with those that follow.

    So a model has a clear guess where it does not know the verb, whatever processor it was trained on.
    """
    rows = [
        {"id": f"{n}-{verb}", "premise": one.text, "hypothesis": hypothesis(one.text, verb), "label": label}
        | {"split": split, "language": "en"}
        for n, one in enumerate(contexts(first, 20))
        for label, known in VERBS.items()
        for verb in known[: verbs * (3 if label == "entailment" else 1)]
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
    """Somebody at a browser, who does one kind of work."""

    kind = "write"

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

    def claim(self) -> dict[str, Any] | None:
        """Take a task, if there is one."""
        return first(self.ask("POST", f"/projects/{self.project_id}/claim", kind=self.kind))

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """Send a request, over and over where the server is gone: whatever is sent twice counts once."""
        for _ in range(600):
            try:
                response = self.client.request(method, path, json=body or None)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                assert response.status_code == 200, response.text
                return response.json()
        raise RuntimeError("the server does not come back")


def first(work: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the first task that somebody was given."""
    return work["tasks"][0] if work and work["tasks"] else None


class Writer(Player):
    """Tries one verb after another until the model is wrong; a careless one often writes what is not asked for."""

    careless = 0.0

    def attack(self, task: dict[str, Any]) -> Job:
        """Try until the model is wrong or no try is left."""
        path = f"/assignments/{task['assignment']}/tries"
        told = self.ask("GET", path)
        job = Job(self.person_id, task["premise"], told["target"])
        while told["left"] and not (job.tries and job.fooled):
            told = self.ask("POST", path, key=f"t{len(told['tries'])}", text=self.think(job))
            while told["tries"][-1]["state"] == "waiting":
                told = self.ask("GET", path)
            last = told["tries"][-1]
            assert last["state"] in ("right", "fooled"), last
            job.tries.append((last["text"], last["state"]))
        return job

    def finish(self, task: dict[str, Any], job: Job) -> dict[str, Any] | None:
        """Hand in a job; return the next task."""
        reasons = {"label": "The verb says so.", "model": "It does not know the verb."} if job.fooled else {}
        sent = {"key": "end", "reasons": reasons, "timings": {"total": job.seconds}}
        return first(self.ask("POST", f"/assignments/{task['assignment']}/finish", **sent)["work"])

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

    kind = "verify"
    slips = False

    def vote(self, task: dict[str, Any]) -> dict[str, Any] | None:
        """Vote on a pair; return the next task."""
        sent = {"key": f"v{task['assignment']}", "label": self.judge(task), "seconds": 3.0}
        return first(self.ask("POST", f"/assignments/{task['assignment']}/vote", **sent)["work"])

    def judge(self, task: dict[str, Any]) -> str:
        """Return the label of a pair."""
        label = truth(task["hypothesis"])
        if self.slips and zlib.crc32(task["hypothesis"].encode()) % 6 == 0:
            label = next(other for other in VERBS if other != label)
        return label


class Slipping(Verifier):
    """A verifier who errs now and then."""

    slips = True


def write_all(writers: Sequence[Writer]) -> list[Job]:
    """Let all write until there is nothing left to do."""
    jobs: list[Job] = []
    tasks = [(writer, writer.claim()) for writer in writers]
    with ThreadPoolExecutor(len(writers)) as threads:
        while busy := [(writer, task) for writer, task in tasks if task]:
            done = [*threads.map(lambda one: one[0].attack(one[1]), busy)]
            tasks = [(writer, writer.finish(task, job)) for (writer, task), job in zip(busy, done, strict=True)]
            jobs += done
    return jobs


def verify_all(verifiers: Sequence[Verifier]) -> None:
    """Let all vote in turn until there is nothing left to vote on."""
    tasks = [(verifier, verifier.claim()) for verifier in verifiers]
    while busy := [(verifier, task) for verifier, task in tasks if task]:
        voted = [(verifier, verifier.vote(task)) for verifier, task in busy]
        # Who slipped may have left a third vote to somebody who was done by then.
        tasks = voted if any(task for _, task in voted) else [(verifier, verifier.claim()) for verifier in verifiers]

"""A pilot: what a round will cost and how long it will take, before anybody is paid.

Simulated writers and verifiers do the work on a private copy of the project, by the rules that real people will have:
jobs, tries, verification by two and a third, pay, bonuses. What they are like is assumed and can be told: how often a
try fools the model, how often a verifier gives the writer's label, how long each takes. Some contexts are simulated and
the rest is taken to be like them; the interval is that of a sum over contexts that are still to come (a prediction
interval), under the assumptions. The project itself is read once, and nothing is written into it.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import add_member
from goldlabel.collect.projects import Project, project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.rounds.costs import costs_of
from goldlabel.collect.rounds.fooling import finish
from goldlabel.collect.rounds.rounds import Adversary, open_round, open_round_of, rates_of, unused_contexts
from goldlabel.collect.rounds.tries import add_try, decide, take_questions
from goldlabel.collect.schema import answers, pairs, premises, subsets, tasks
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import vote
from goldlabel.errors import InputError
from goldlabel.metrics import Estimate
from goldlabel.metrics.distributions import student_bound
from goldlabel.pairs import Result

SIMULATED = 24
"""Contexts that are simulated, at most."""
VERIFIERS = 4
LEVEL = 0.95
METHOD = "prediction over simulated contexts"
FIGURES = ("cost", "writing_hours", "judging_hours", "confirmed")


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What simulated people are like."""

    fooling: float = 0.25
    agreement: float = 0.85
    seconds_per_try: float = 60.0
    seconds_per_judgement: float = 20.0

    def __post_init__(self) -> None:
        for name in ("fooling", "agreement"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: a share from 0 to 1")
        for name in ("seconds_per_try", "seconds_per_judgement"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: a number above 0")


@dataclass(frozen=True, repr=False)
class Pilot(Result):
    """What a round is expected to take for so many contexts, by arm and in all."""

    name: str
    currency: str
    contexts: int
    simulated: int
    assumptions: Assumptions
    arms: Mapping[str, Mapping[str, Estimate]]

    @property
    def title(self) -> str:
        """How much it will cost."""
        whole = self.arms["all"]
        return (
            f"{self.name}: {self.contexts:,} contexts will cost {whole['cost'].text(2)} {self.currency} and give "
            f"{whole['confirmed'].text(0)} confirmed pairs, if people are as assumed; {self.simulated} were simulated"
        )

    @property
    def table(self) -> pl.DataFrame:
        """A row for each arm, and one for all."""
        heads = {"cost": self.currency, "writing_hours": "hours of writing", "judging_hours": "hours of judging"}
        heads["confirmed"] = "confirmed pairs"
        rows = [
            {"arm": arm} | {heads[name]: figures[name].text(2 if name == "cost" else 1) for name in FIGURES}
            for arm, figures in self.arms.items()
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        arms = {arm: {name: one.to_dict() for name, one in figures.items()} for arm, figures in self.arms.items()}
        told = {"name": self.name, "currency": self.currency, "contexts": self.contexts, "simulated": self.simulated}
        return told | {"assumptions": asdict(self.assumptions), "arms": arms}


def run_pilot(
    store: Store,
    project_id: int,
    *,
    contexts: int | None = None,
    assumptions: Assumptions | None = None,
    seed: int = 0,
) -> Pilot:
    """Play a round on a private copy; without ``contexts``, for those that no round has used."""
    assumed = assumptions or Assumptions()
    with store.read() as tx:
        found = project(tx, project_id)
        if not found.kind.has_rounds:
            raise InputError(f"project {found.name!r} has no rounds; its overview and 'collect stats' have a forecast")
        wanted = contexts or unused_contexts(tx, project_id)
        pool = (premises.c.project_id == project_id, premises.c.number.is_not(None), premises.c.hidden.is_(None))
        rows = tx.all(select(premises).where(*pool).order_by(premises.c.number).limit(SIMULATED))
        texts = [Premise(text=row.text, genre=row.genre or None) for row in rows]
        fought = open_round_of(tx, project_id)
        rates, allowed = rates_of(found, fought), None if fought is None else fought.tries
    if len(texts) < 2 or not wanted:
        raise InputError(f"project {found.name!r} has too few contexts that no round has used; import some first")
    with tempfile.TemporaryDirectory(prefix="goldlabel-pilot-") as folder:
        private = Store.create(Path(folder) / "collection")
        try:
            with private.write() as tx:
                copy = create_project(tx, found.name, _protocol(found), seed=seed)
                add_premises(tx, copy.id, texts, by=None)
                model = [Adversary(name="simulated", reference="none:none", options={})]
                open_round(tx, copy.id, model, number_of_tries=allowed, pay=rates, by=None)
                _Simulation(tx, copy, assumed, random.Random(seed)).play()
                measured = _measure(tx, copy)
        finally:
            private.close()
    arms = {
        arm: {name: predict_sum([one[name] for one in figures], wanted) for name in FIGURES}
        for arm, figures in measured.items()
    }
    return Pilot(found.name, found.protocol.pay.currency, wanted, len(texts), assumed, arms)


def predict_sum(values: Sequence[float], coming: int) -> Estimate:
    """Return the sum over so many contexts to come, given those of some others, with a prediction interval.

    With mean m and deviation s of k contexts, n more sum to n m, give or take t s n sqrt(1/k + 1/n).
    """
    known = np.asarray(values, dtype=np.float64)
    mean, spread, k = float(known.mean()), float(known.std(ddof=1)), len(known)
    half = student_bound((1 - LEVEL) / 2, k - 1) * spread * coming * float(np.sqrt(1 / k + 1 / coming))
    return Estimate(coming * mean, max(0.0, coming * mean - half), coming * mean + half, LEVEL, k, k, METHOD)


def _protocol(found: Project) -> Protocol:
    """Return the settings without what keeps simulated people from working: training, known answers, a budget."""
    protocol = found.protocol
    return replace(
        protocol,
        qualification=replace(protocol.qualification, training=0, gold_rate=0.0),
        pay=replace(protocol.pay, budget=protocol.pay.budget * 0),
        writing=replace(protocol.writing, cap=None),
    )


class _Simulation:
    """People who do all there is to do, in one transaction of the copy."""

    def __init__(self, tx: Transaction, found: Project, assumed: Assumptions, chance: random.Random) -> None:
        self.tx, self.found, self.assumed, self.chance = tx, found, assumed, chance
        self.meant: dict[str, str] = {}

    def play(self) -> None:
        """Let everybody write, then judge, in turns until nothing is left."""
        arms = [arm.name for arm in self.found.protocol.conditions]
        each = self.found.protocol.writing.writers_per_premise
        self._take_turns("write", [self._join("writer", arm) for arm in arms for _ in range(each)], self._write)
        self._take_turns("verify", [self._join("verifier", "") for _ in range(VERIFIERS)], self._judge)

    def _join(self, role: str, condition: str) -> int:
        person = create_account(self.tx, f"{role}-{self.chance.getrandbits(60)}", "nobody logs in")
        add_member(self.tx, self.found.id, person, role, condition=condition, by=None)
        return person

    def _take_turns(self, kind: str, people: list[int], work: Any) -> None:
        while people:
            people = [person for person in people if self._turn(kind, person, work)]

    def _turn(self, kind: str, person: int, work: Any) -> bool:
        given = claim(self.tx, self.found.id, person, kind).tasks
        for one in given:
            work(one, person)
        return bool(given)

    def _write(self, task: Any, person: int) -> None:
        arm, made, fooled = self.found.protocol.condition(task.condition), 0, False
        fought = open_round_of(self.tx, self.found.id)
        assert fought is not None
        while made < (fought.tries if arm.shows_model else 1) and not (arm.shows_model and fooled):
            text = f"Simulated {task.assignment_id} {made}."
            target = add_try(self.tx, task.assignment_id, person, key=f"t{made}", text=text).target
            self.meant[text], fooled = target, self.chance.random() < self.assumed.fooling
            labels = self.found.protocol.label_space.labels
            said = target if not fooled else self.chance.choice([one for one in labels if one != target])
            (question,) = take_questions(self.tx, "pilot", 1)
            scores = {label: float(label == said) for label in labels}
            decide(self.tx, question.id, model="simulated", scores=scores)
            made += 1
        seconds = sum(self._seconds(self.assumed.seconds_per_try) for _ in range(made))
        reasons = {"label": "simulated", "model": "simulated"}
        finish(self.tx, task.assignment_id, person, key="f", reasons=reasons, timings={"total": seconds})

    def _judge(self, task: Any, person: int) -> None:
        label = self.meant[task.hypothesis]
        if self.chance.random() >= self.assumed.agreement:
            label = self.chance.choice([one for one in self.found.protocol.label_space.labels if one != label])
        seconds = self._seconds(self.assumed.seconds_per_judgement)
        vote(self.tx, task.assignment_id, person, key=f"v{task.assignment_id}", label=label, seconds=seconds)

    def _seconds(self, usual: float) -> float:
        """Draw a time with this mean: the logarithm of times at a task is about normal, its deviation a half."""
        return min(usual * self.chance.lognormvariate(-0.125, 0.5), 3600.0)


def _measure(tx: Transaction, copy: Project) -> dict[str, list[dict[str, float]]]:
    """Return the figures of each context, by arm and for all arms together."""
    arms = [arm.name for arm in copy.protocol.conditions]
    sums: dict[tuple[str, int], dict[str, float]] = defaultdict(lambda: dict.fromkeys(FIGURES, 0.0))
    for key, cost in costs_of(tx, copy.id).items():
        sums[key]["cost"] += cost
    wrote = select(tasks.c.condition, tasks.c.premise_id, answers.c.seconds).join(
        tasks, tasks.c.id == answers.c.task_id
    )
    for row in tx.all(wrote.where(answers.c.project_id == copy.id, answers.c.kind == "write")):
        sums[row.condition, row.premise_id]["writing_hours"] += row.seconds / 3600
    judged = select(subsets.c.condition, pairs.c.premise_id, answers.c.seconds).join(
        pairs, pairs.c.id == answers.c.pair_id
    )
    judged = judged.join(subsets, subsets.c.id == pairs.c.subset_id).where(answers.c.kind == "verify")
    for row in tx.all(judged.where(answers.c.project_id == copy.id)):
        sums[row.condition, row.premise_id]["judging_hours"] += row.seconds / 3600
    verified = select(subsets.c.condition, pairs.c.premise_id).join(subsets, subsets.c.id == pairs.c.subset_id)
    for row in tx.all(verified.where(pairs.c.project_id == copy.id, pairs.c.verdict == pairs.c.label)):
        sums[row.condition, row.premise_id]["confirmed"] += 1
    contexts = [row.id for row in tx.all(select(premises.c.id).where(premises.c.project_id == copy.id))]
    by_arm = {arm: [sums[arm, one] for one in contexts] for arm in arms}
    whole = [{name: sum(sums[arm, one][name] for arm in arms) for name in FIGURES} for one in contexts]
    return (by_arm if len(arms) > 1 else {}) | {"all": whole}

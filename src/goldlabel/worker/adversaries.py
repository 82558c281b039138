"""The models that people write against: a process of its own that answers the tries of all writers together.

It takes whatever tries wait, asks each model once for all of its own, and keeps what it said. No model call happens
inside a transaction, and a slow model keeps no other one from answering. Where a model fails, takes too long or answers
nonsense, its fallback answers; where there is none, the try costs the writer nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from goldlabel.collect.rounds import tries
from goldlabel.collect.rounds.rounds import MOST_ADVERSARIES, Adversary, Round, round_of
from goldlabel.collect.rounds.tries import Question
from goldlabel.collect.store import Store
from goldlabel.collect.work.tryout import trial_places
from goldlabel.errors import GoldlabelError, StorageError
from goldlabel.models import Model
from goldlabel.models.endpoint import Endpoint
from goldlabel.models.loading import load_model
from goldlabel.worker.budgets import RoundBudget

LOG = logging.getLogger("goldlabel.worker")

MOST = 256
"""Tries that are answered together."""
LONGEST_PROBLEM = 500
QUICK_PAUSE, LONG_PAUSE = 0.02, 0.25
"""Seconds between two looks for tries: while people write, and when nobody has for some time."""
QUIET = 60.0
TROUBLE_PAUSE = 5.0
LOOK = 1.0
"""Seconds between two looks for try-outs."""

BUDGET = "budget"

Scores = Mapping[str, float]


class Adversaries:
    """The models of a collection's rounds, loaded when they are first needed, each in a thread of its own."""

    def __init__(self, store: Store, worker: str) -> None:
        self._store, self._worker = store, worker
        self._models: dict[Hashable, Model] = {}
        self._threads: dict[Hashable, ThreadPoolExecutor] = {}
        self._budgets: dict[Hashable, RoundBudget] = {}
        self._rounds: dict[int, Round] = {}
        self._answering = ThreadPoolExecutor(MOST_ADVERSARIES, thread_name_prefix="answering")
        self._busy: dict[tuple[int, str], Future[None]] = {}

    def answer(self) -> int:
        """Have the tries that wait answered, but those of models that are still busy; return how many there were."""
        self._busy = {asked: call for asked, call in self._busy.items() if not call.done()}
        busy = [name for _, name in self._busy]
        with self._store.read() as tx:
            if not tries.is_waiting(tx, self._worker, busy):
                return 0
        with self._store.write() as tx:
            questions = tries.take_questions(tx, self._worker, MOST, busy=busy)
            for round_id in {one.round_id for one in questions} - {*self._rounds}:
                self._rounds[round_id] = round_of(tx, round_id)
        by_model: dict[tuple[int, str], list[Question]] = defaultdict(list)
        for one in questions:
            by_model[one.round_id, one.drawn].append(one)
        for key, asked in by_model.items():
            self._busy[key] = self._answering.submit(self._answer, asked)
        return len(questions)

    def wait(self) -> None:
        """Wait until everything that was taken is answered."""
        for call in self._busy.values():
            call.result()

    def close(self) -> None:
        """Wait for the calls under way, and close the connections of endpoints."""
        for pool in (self._answering, *self._threads.values()):
            pool.shutdown()
        for model in self._models.values():
            if isinstance(model, Endpoint):
                model.close()

    def _answer(self, asked: Sequence[Question]) -> None:
        """Have the drawn model answer, and where it cannot, whoever stands in for it; keep what was said."""
        fought = self._rounds[asked[0].round_id]
        adversary: Adversary | None = fought.adversary(asked[0].drawn)
        left, problems, tried = [*asked], "", set[str]()
        while left and adversary is not None and adversary.name not in tried:
            tried.add(adversary.name)
            answers, problem = self._ask(adversary, left)
            self._keep(left, adversary.name, answers, problems)
            left = [one for one, scores in zip(left, answers, strict=True) if scores is None]
            if left:
                LOG.error("%s cannot answer %d tries: %s", adversary.name, len(left), problem)
                problems = "; ".join(filter(None, (problems, f"{adversary.name}: {problem}")))[:LONGEST_PROBLEM]
            adversary = fought.adversary(adversary.fallback) if adversary.fallback else None
        if left:
            with self._store.write() as tx:
                for one in left:
                    tries.decide(tx, one.id, model=None, scores=None, problem=problems)

    def _keep(self, asked: Sequence[Question], name: str, answers: Sequence[Scores | None], problems: str) -> None:
        answered = [(one, scores) for one, scores in zip(asked, answers, strict=True) if scores is not None]
        if answered:
            with self._store.write() as tx:
                for one, scores in answered:
                    tries.decide(tx, one.id, model=name, scores=scores, problem=problems or None)

    def _ask(self, adversary: Adversary, asked: Sequence[Question]) -> tuple[list[Scores | None], str]:
        """Return what a model says in the time that it has, and why it says nothing to some."""
        key = _key(adversary, asked[0])
        thread = self._threads.setdefault(key, ThreadPoolExecutor(1, thread_name_prefix=adversary.name))
        call = thread.submit(self._predict, key, adversary, asked)
        try:
            answers = call.result(timeout=adversary.seconds)
            return answers, _silence(self._models[key]) if None in answers else ""
        except TimeoutError:
            call.cancel()
            return [None] * len(asked), f"no answer within {adversary.seconds:g} s"
        except Exception as error:  # whatever a model raises, people go on writing
            return [None] * len(asked), str(error) or type(error).__name__

    def _predict(self, key: Hashable, adversary: Adversary, asked: Sequence[Question]) -> list[Scores | None]:
        model = self._models.get(key)
        if model is None:
            options: dict[str, Any] = {"default_space": asked[0].space, **adversary.options}
            model = self._models[key] = load_model(adversary.reference, **options)
            if isinstance(model, Endpoint) and BUDGET in adversary.options:
                self._budgets[key] = RoundBudget(self._store, asked[0].round_id, adversary.name, model)
        budget = self._budgets.get(key)
        with budget.held(again=any(one.again for one in asked)) if budget else nullcontext():
            shares = model.predict([one.premise for one in asked], [one.hypothesis for one in asked])
        if shares.shape != (len(asked), len(model.label_space)):
            raise GoldlabelError(f"answers of shape {shares.shape} to {len(asked)} pairs")
        rows = [dict(zip(model.label_space.labels, map(float, row), strict=True)) for row in shares]
        return [row if tries.are_scores(row, one.space.labels) else None for row, one in zip(rows, asked, strict=True)]


def _key(adversary: Adversary, question: Question) -> Hashable:
    """Return what a loaded model is known by: rounds share those that are loaded alike, and no model with a budget."""
    options = tuple(sorted(adversary.options.items()))
    return adversary.reference, options, question.space, question.round_id if BUDGET in adversary.options else None


def _silence(model: Model) -> str:
    """Return why a model gave no probabilities; an endpoint knows, such as that its budget is used up."""
    reasons = [why for _, why in model.summary().reasons] if isinstance(model, Endpoint) else []
    return "; ".join(reasons) or "no probability for each label"


class Trials:
    """The try-outs on this machine, each a small collection of its own that may end at any moment."""

    def __init__(self, worker: str) -> None:
        self._worker, self._looked = worker, float("-inf")
        self._opened: dict[Path, tuple[Store, Adversaries]] = {}

    def answer(self) -> int:
        """Have the tries of try-outs answered; look now and then whether some began or ended."""
        if time.monotonic() - self._looked >= LOOK:
            self._looked, places = time.monotonic(), {*trial_places()}
            for place in {*self._opened} - places:
                self._opened.pop(place)[0].close()
            for place in places - {*self._opened}:
                try:
                    trial = Store.open(place)
                except GoldlabelError:  # it is being made, or was thrown away just now
                    continue
                self._opened[place] = trial, Adversaries(trial, self._worker)
        answered = 0
        for place, (_, adversaries) in self._opened.items():
            try:
                answered += adversaries.answer()
            except StorageError as error:  # it was ended just now
                LOG.info("%s: %s", place, error)
        return answered


def answer_all(store: Store, worker: str, ended: threading.Event) -> None:
    """Answer tries until told to end; also those that requesters make as they try a project out."""
    adversaries, trials, busy_at = Adversaries(store, worker), Trials(worker), float("-inf")
    while not ended.is_set():
        pause = QUICK_PAUSE if time.monotonic() - busy_at < QUIET else LONG_PAUSE
        try:
            if adversaries.answer() + trials.answer():
                busy_at = time.monotonic()
        except StorageError as error:
            LOG.error("%s", error)
            pause = TROUBLE_PAUSE
        ended.wait(pause)
    adversaries.close()

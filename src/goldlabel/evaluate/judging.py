"""Having models answer the sets of a plan: each model is loaded once, and asked only what it was never asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.evaluate.answer_store import AnswerStore, StoredAnswers
from goldlabel.evaluate.answers import OnPairs, answer, silence
from goldlabel.evaluate.results import Answers, answers_to
from goldlabel.evaluate.suite import EvaluationSet
from goldlabel.executors import Executor, Failure, Here, Tell
from goldlabel.models import Model, load_model
from goldlabel.models.loading import digest_model
from goldlabel.pairs.gold import GoldPairs


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """One model, one time, before the sets that it is judged by."""

    name: str
    sets: tuple[EvaluationSet, ...]
    model: str | Path | Model | None = None
    """What is loaded, or a model that is loaded."""
    loading: Mapping[str, Any] = field(default_factory=dict)
    fit: Callable[[EvaluationSet], Model] | None = None
    """Gives a model for each set."""


def judge(
    sittings: Sequence[Sitting],
    store: AnswerStore,
    executor: Executor | None = None,
    on_pairs: OnPairs | None = None,
    on_expected: OnPairs | None = None,
) -> dict[str, dict[str, Answers] | Failure]:
    """Return the answers of every sitting to its sets, by their names, or why it has none.

    ``on_expected`` is called once with the number of pairs that have to be asked about.
    """
    executor = executor or Here()
    failures: dict[str, Failure] = {}
    by_name = [sitting for sitting in sittings if isinstance(sitting.model, str | Path)]
    digests = {sitting.name: digest_model(str(sitting.model), sitting.loading) for sitting in by_name}
    unasked = {
        sitting.name: tuple(part.gold for part in sitting.sets if not store.has(digests[sitting.name], part.gold))
        for sitting in by_name
    }
    if on_expected is not None:
        loaded = [part.gold for sitting in sittings if sitting.name not in digests for part in sitting.sets]
        on_expected(sum(len(gold) for golds in (*unasked.values(), loaded) for gold in golds))

    asked = dict.fromkeys(unasked, 0)

    def told(name: str, pairs: int) -> None:
        if on_pairs is not None:
            on_pairs(pairs - asked[name])
        asked[name] = pairs

    def done(name: str, outcome: Any) -> None:
        told(name, sum(map(len, unasked[name])))
        if isinstance(outcome, Failure):
            failures[name] = Failure(outcome.leave(store.folder / f"{quote(name, safe='')}.error.txt"))

    work = {
        sitting.name: (sitting.model, dict(sitting.loading), digests[sitting.name], unasked[sitting.name], store)
        for sitting in by_name
        if unasked[sitting.name]
    }
    if work:
        store.folder.mkdir(parents=True, exist_ok=True)
        models = [Path(str(sitting.model)) for sitting in by_name]
        paths = [store.folder, *(path for path in models if path.exists())]
        executor.run(ask_model, work, done, on_told=None if on_pairs is None else told, paths=paths)
    answered: dict[str, dict[str, Answers] | Failure] = {}
    for sitting in sittings:
        if sitting.name in failures:
            answered[sitting.name] = failures[sitting.name]
            continue
        digest = digests.get(sitting.name)
        try:
            answered[sitting.name] = (
                _ask_loaded(sitting, on_pairs) if digest is None else _read_answers(sitting, digest, store)
            )
        except GoldlabelError as error:
            answered[sitting.name] = Failure(str(error))
    return answered


def _read_answers(sitting: Sitting, digest: str, store: AnswerStore) -> dict[str, Answers]:
    return {part.name: _in_labels_of(part, store.read(digest, part.gold)) for part in sitting.sets}


def _in_labels_of(part: EvaluationSet, stored: StoredAnswers) -> Answers:
    try:
        return answers_to(part.gold, stored)
    except GoldlabelError as error:
        raise InputError(f"{part.name}: {error}") from error


def ask_model(
    tell: Tell,
    reference: str | Path,
    loading: Mapping[str, Any],
    digest: str,
    golds: Sequence[GoldPairs],
    store: AnswerStore,
) -> None:
    """Load a model and have it answer sets into the store."""
    spaces = {gold.space for gold in golds}
    options = {"default_space": spaces.pop() if len(spaces) == 1 else None, **loading}
    asked = 0

    def count(pairs: int) -> None:
        nonlocal asked
        asked += pairs
        tell(asked)

    with closing(load_model(reference, **options)) as model:
        for gold in golds:
            store.ask(digest, model, gold, count)


def _ask_loaded(sitting: Sitting, on_pairs: OnPairs | None) -> dict[str, Answers]:
    """Ask a model that has no name by which its answers could be found again."""
    answers = {}
    for part in sitting.sets:
        model: Any = sitting.fit(part) if sitting.fit is not None else sitting.model
        matrix = np.concatenate([block for _, block in answer(model, [part.gold.frame], on_pairs)])
        if np.isnan(matrix).all():
            raise silence(sitting.name, model, part.gold)
        answers[part.name] = _in_labels_of(part, StoredAnswers(model.label_space, matrix))
    return answers

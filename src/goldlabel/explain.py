"""``explain``: why a model has the number that it has.

Five questions, each a file of ``goldlabel.evaluate.explanation``, are put to one model on one dataset. What they need
from elsewhere comes together here: the artifacts of the training set from ``audit``, and a hypothesis-only model that
is fitted to the same training set.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.lesson import learn
from goldlabel.errors import InputError
from goldlabel.evaluate import compare
from goldlabel.evaluate.answers import OnPairs, answer_gold, judged_pairs, open_model, usage_of
from goldlabel.evaluate.contamination import refuse_trained_on
from goldlabel.evaluate.explanation import (
    Cue,
    Explanation,
    asking,
    measure_cues,
    measure_edits,
    measure_kinship,
    measure_sides,
)
from goldlabel.files import atomic_folder
from goldlabel.metrics import Estimate, accuracy_score, in_percent, share
from goldlabel.models import Model
from goldlabel.models.model import CONFIG, read_config
from goldlabel.models.predictions import Predictions
from goldlabel.pairs import Pairs, score_mapping
from goldlabel.pairs.fingerprints import fingerprint_pairs
from goldlabel.pairs.gold import GoldPairs, take_gold
from goldlabel.pairs.lexicon import LEXICONS
from goldlabel.seeds import check_seed
from goldlabel.sources.library import is_added, load

FIGURES = "explanation.json"


def explain(
    model: Model | str | Path,
    pairs: Pairs,
    *,
    train: Pairs | None = None,
    against: Model | str | Path | None = None,
    split: str | None = None,
    limit: int | None = None,
    examples: int = 3,
    level: float = 0.95,
    seed: int = 0,
    on_pairs: OnPairs | None = None,
    **loading: Any,
) -> Explanation:
    """Explain a model's accuracy on pairs, which are chosen as ``score`` chooses them.

    ``train`` is the training set whose artifacts are looked for; by default the one that the model's run names, if it
    is in the library. ``against`` is a second model, for the pairs that decide between the two, of which ``examples``
    are given of each. ``loading`` is for ``load_model``.
    """
    check_seed(seed)
    gold = judged_pairs(pairs, split, limit=limit)
    notes = []
    if isinstance(model, str | Path) and (seen := refuse_trained_on(model, gold, force=True)):
        notes.append(f"{model} was trained on {in_percent(seen)} of these pairs: its accuracy is memory, too")
    train = train or training_set(model)
    with open_model(model, [pairs], **loading) as (name, opened):
        answers = answer_gold(name, opened, gold, on_pairs)[1]
        sides, edits = [], []
        if isinstance(opened, Predictions):
            notes.append(
                "a file of predictions cannot be asked about changed pairs: no side is taken away, none edited"
            )
        else:
            ask = asking(opened, gold, on_pairs)
            sides = measure_sides(gold, answers, ask, level=level, seed=seed)
            edits = measure_edits(gold, answers, ask, level=level)
            if others := gold.languages - set(LEXICONS):
                named = ", ".join(sorted(language or "no language that is named" for language in others))
                notes.append(f"some pairs are in {named}: of these only swaps are made, for want of word lists")
        usage = usage_of(opened)
    cues: list[Cue] = []
    kinship, blind = None, None
    if train is None:
        notes.append("no training set is known, so that its artifacts are not looked for; pass --train PATH")
    else:
        cues, blind = _learn(train, gold, seed)
        kinship = measure_kinship(gold, answers, blind, level=level)
    effects = measure_cues(gold, answers, cues, level=level)
    comparison = None
    if against is not None:
        judged: dict[str, Any] = {"split": gold.split, "limit": limit, "examples": examples, "level": level}
        comparison = compare(model, against, pairs, on_pairs=on_pairs, **judged, **loading)
    return Explanation(
        model=name,
        dataset=gold.name,
        split=gold.split,
        accuracy=accuracy_score(gold.frame["label"].to_numpy(), answers, units=gold.units, level=level),
        chance=_chance(gold, level),
        training=None if train is None else train.card.name,
        cues=effects,
        untested=len(cues) - len(effects),
        hypothesis_only=kinship,
        sides=sides,
        edits=edits,
        comparison=comparison,
        notes=notes,
        answers=_answers(gold, answers, blind),
        usage=usage,
    )


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an explanation."""
    if folder.exists() and not (folder / FIGURES).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is not empty and no explanation; choose another folder for the output")


def write_explanation(explanation: Explanation, folder: Path) -> None:
    """Write explanation.json, the tables and every answer as CSV; an explanation that is there gives way, whole."""
    check_folder(folder)
    with atomic_folder(folder.resolve()) as temporary:
        document = json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False)
        (temporary / FIGURES).write_text(document + "\n", encoding="utf-8")
        for name, table in {**explanation.tables, "answers": explanation.answers}.items():
            table.write_csv(temporary / f"{name}.csv")


def training_set(model: Model | str | Path) -> Pairs | None:
    """Return what a run was trained on, where that is one source of the library."""
    if not isinstance(model, str | Path) or not (Path(model) / CONFIG).is_file():
        return None
    names = list(read_config(Path(model)).get("training", {}).get("on", {}))
    return load(names[0]) if len(names) == 1 and is_added(names[0]) else None


def _learn(train: Pairs, gold: GoldPairs, seed: int) -> tuple[list[Cue], NDArray[np.str_]]:
    """Return the artifacts of a training set, and what a hypothesis-only model that is fitted to it answers.

    Pairs that are judged are not learnt from.
    """
    learnt = take_gold(train, default="train", advice="give the pairs that were trained on")
    mapping = score_mapping(learnt.space, gold.space)
    unseen = ~np.isin(fingerprint_pairs(learnt.frame), fingerprint_pairs(gold.frame))
    if not unseen.any():
        raise InputError(f"{learnt.name}: has no pair to learn from beside those that are judged; give another --train")
    frame = learnt.frame.filter(pl.Series(unseen))
    lesson = learn(replace(learnt, frame=frame), gold.frame, seed=seed)
    cues = [
        Cue(artifact.kind, artifact.feature, label, artifact.share, artifact.carried)
        for artifact in lesson.artifacts
        if (label := mapping.targets[artifact.label]) is not None
    ]
    return cues, gold.answers(lesson.probabilities.astype(np.float64), learnt.space)


def _chance(gold: GoldPairs, level: float) -> Estimate:
    labels = gold.frame["label"]
    most = labels.value_counts(sort=True)["label"][0]
    return share((labels == most).to_numpy(), units=gold.units, level=level)


def _answers(gold: GoldPairs, answers: NDArray[np.str_], blind: NDArray[np.str_] | None) -> pl.DataFrame:
    more = {} if blind is None else {"hypothesis_only": blind}
    return gold.frame.select("id", "label").with_columns(
        pl.Series(name, values.astype(str), dtype=pl.String) for name, values in {"answer": answers, **more}.items()
    )

"""``explain``, from the training set's artifacts to sentences, on generated pairs with a planted word."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import goldlabel as gl
from goldlabel.audit.lesson import learn
from goldlabel.errors import InputError
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.explanation import Explanation
from goldlabel.explain import training_set, write_explanation
from goldlabel.models.function import Function
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import take_gold
from goldlabel.pairs.labels import NLI3
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.sources.library import data_folder
from tests.cli.commands import run
from tests.train.planted import STRENGTH, WORDS, plant

WORD_OF = {f"{word},": label for word, label in zip(WORDS, NLI3.labels, strict=True)}


@pytest.fixture(scope="module")
def planted() -> tuple[Pairs, Pairs]:
    """A training set whose hypotheses begin with a word that tells the label, and a test set where it tells nothing."""
    pairs = fragment_pairs("en", 1500, seed=5)
    frame = pairs.frame.collect()
    order = np.random.default_rng(5).permutation(len(frame))
    parts = [Pairs(frame[rows].lazy(), pairs.card) for rows in (order[:1000], order[1000:])]
    return plant(parts[0], STRENGTH, 5), plant(parts[1], 1 / 3, 6)


def model_of(label: Callable[[str, str], str]) -> Function:
    def answer(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return [label(*texts) for texts in zip(premises, hypotheses, strict=True)]

    return Function("it", answer, NLI3, None)


def read_word(_: str, hypothesis: str) -> str:
    return WORD_OF.get(hypothesis.split()[0], "neutral")


def reader_of(pairs: Pairs) -> Function:
    """A model that knows the true label of each premise with each hypothesis, whatever word the latter begins with."""
    frame = pairs.frame.collect()
    known = {
        (premise, hypothesis.partition(", ")[2]): label
        for premise, hypothesis, label in frame.select("premise", "hypothesis", "label").iter_rows()
    }
    return model_of(lambda premise, hypothesis: known.get((premise, hypothesis.partition(", ")[2]), "neutral"))


def cue(explanation: Explanation, word: str) -> Any:
    return next(effect for effect in explanation.cues if effect.cue.feature == word)


def test_what_a_training_set_teaches_is_found_in_other_pairs(planted: tuple[Pairs, Pairs]) -> None:
    train, test = planted
    gold = judged_pairs(test)
    lesson = learn(take_gold(train, default="none", advice=""), gold.frame)
    taught = {artifact.feature: artifact for artifact in lesson.artifacts}
    for word, label in zip(WORDS, NLI3.labels, strict=True):
        artifact = taught[word.lower()]
        assert (artifact.kind, artifact.label) == ("word", label)
        assert artifact.carried.tolist() == gold.frame["hypothesis"].str.starts_with(word).to_list()
        assert artifact.share > 0.6
    blind = gold.answers(lesson.probabilities.astype(np.float64), NLI3)
    by_word = np.array([read_word("", text) for text in gold.frame["hypothesis"]])
    assert (blind == by_word).mean() > 0.8, "there is nothing else to learn without the premise"


def test_a_model_that_reads_the_artifact_alone_is_seen_through(planted: tuple[Pairs, Pairs]) -> None:
    train, test = planted
    explanation = gl.explain(model_of(read_word), test, train=train)
    for word, label in zip(WORDS, NLI3.labels, strict=True):
        effect = cue(explanation, word.lower())
        assert (effect.cue.label, effect.right.value, effect.wrong.value) == (label, 1.0, 0.0)
        assert effect.followed
    assert explanation.hypothesis_only is not None
    assert explanation.hypothesis_only.related
    assert explanation.hypothesis_only.gap is not None
    assert (explanation.hypothesis_only.gap.value.value or 0) > 0.5
    premise = [part for part in explanation.sides if part.side == "premise"]
    assert [part.loss.difference.value for part in premise] == [0.0, 0.0]
    assert explanation.findings[0].startswith("It follows ")


def test_a_model_that_reads_the_premise_is_cleared(planted: tuple[Pairs, Pairs]) -> None:
    train, test = planted
    explanation = gl.explain(reader_of(test), test, train=train)
    assert explanation.accuracy.value == 1.0
    assert not any(effect.followed for effect in explanation.cues)
    assert explanation.hypothesis_only is not None
    assert not explanation.hypothesis_only.related
    assert (explanation.hypothesis_only.easy.value, explanation.hypothesis_only.hard.value) == (1.0, 1.0)
    blank = explanation.sides[0]
    assert (blank.side, blank.way) == ("premise", "blank")
    neutral = (test.frame.select((pl.col("label") == "neutral").mean()).collect()).item()
    assert blank.accuracy.value == pytest.approx(neutral)
    assert "It follows none of the " in explanation.findings[0]
    assert len(explanation.findings) == 3
    assert "Of what it gains over the most frequent label, " in explanation.findings[1]
    none = [replace(part, survives=replace(part.survives, value=-1.6)) for part in explanation.sides]
    assert ", nothing survives without the premise (" in replace(explanation, sides=none).findings[1]
    small = replace(explanation, accuracy=replace(explanation.accuracy, low=0.2))
    assert small.findings[1].startswith("It gains too little over the most frequent label to tell which share survives")


def test_pairs_that_are_judged_are_not_learnt_from(planted: tuple[Pairs, Pairs]) -> None:
    _, test = planted
    with pytest.raises(InputError, match="has no pair to learn from beside those that are judged"):
        gl.explain(model_of(read_word), test, train=test)


def test_the_training_set_is_the_one_that_the_run_names(
    planted: tuple[Pairs, Pairs], home: Path, tmp_path: Path
) -> None:
    train, test = planted
    named = replace(train.card, name="snli")
    Pairs(train.frame, named).write(data_folder("snli"))
    gl.train("linear", gl.load("snli"), tmp_path / "run")
    found = training_set(str(tmp_path / "run"))
    assert found is not None
    assert found.card.name == "snli"
    explanation = gl.explain(tmp_path / "run", test, limit=200)
    assert explanation.training == "snli"
    assert len(explanation.answers) == 200
    assert cue(explanation, WORDS[0].lower()).followed
    gl.train("linear", train, tmp_path / "other")
    assert training_set(tmp_path / "other") is None
    assert training_set(model_of(read_word)) is None
    learnt = gl.explain(tmp_path / "other", train, limit=30)
    assert "other was trained on 100.0 % (" in learnt.notes[0]
    unknown = gl.explain(tmp_path / "other", test, limit=50)
    assert (unknown.training, list(unknown.cues), unknown.hypothesis_only) == (None, [], None)
    assert "no training set is known" in unknown.notes[0]


def test_a_file_of_predictions_is_not_asked_about_changed_pairs(planted: tuple[Pairs, Pairs], tmp_path: Path) -> None:
    train, test = planted
    gl.predict(reader_of(test), test, tmp_path / "it.parquet")
    explanation = gl.explain(tmp_path / "it.parquet", test, train=train)
    assert (list(explanation.sides), list(explanation.edits)) == ([], [])
    assert "cannot be asked" in explanation.notes[0]
    assert explanation.cues
    assert len(explanation.findings) == 2


def test_the_pairs_that_decide_between_two_models(planted: tuple[Pairs, Pairs], tmp_path: Path) -> None:
    train, test = planted
    gl.predict(reader_of(test), test, tmp_path / "reader.parquet")
    gl.predict(model_of(read_word), test, tmp_path / "word.parquet")
    explanation = gl.explain(
        tmp_path / "reader.parquet", test, train=train, against=tmp_path / "word.parquet", examples=2
    )
    assert explanation.comparison is not None
    assert [example.right for example in explanation.comparison.examples] == ["a", "a"]
    assert explanation.comparison.whole.only_b == 0


def test_the_command_prints_writes_and_refuses(planted: tuple[Pairs, Pairs], tmp_path: Path, home: Path) -> None:
    train, test = planted
    train.write(tmp_path / "train")
    test.write(tmp_path / "test")
    gl.train("linear", train, tmp_path / "run")
    words = ("explain", tmp_path / "run", tmp_path / "test", "--train", tmp_path / "train", "--limit", 300)
    done = run(*words, "-o", tmp_path / "out", "--against", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    for text in ("artifact", "agreement beyond", "swap premise and", "It follows ", "After edits", "output: "):
        assert text in done.stdout
    document = json.loads((tmp_path / "out" / "explanation.json").read_text())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "answers.csv", "artifacts.csv", "edits.csv", "explanation.json", "figures.csv",
    ]  # fmt: skip
    assert len(pl.read_csv(tmp_path / "out" / "answers.csv")) == 300
    told = json.loads(run(*words, "--json").stdout)
    assert {"model", "accuracy", "artifacts", "hypothesis_only", "sides", "edits", "findings"} <= set(told)
    assert told["comparison"] is None
    assert document["comparison"]["p_value"] == 1.0
    del document["comparison"], told["comparison"]
    assert told == document, "the same figures twice"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    refused = run(*words, "-o", tmp_path / "full")
    assert refused.returncode == 2
    assert "is not empty and no explanation" in refused.stderr
    assert run("explain", "nobody", tmp_path / "test").returncode == 2


def test_an_explanation_takes_the_place_of_an_older_one(planted: tuple[Pairs, Pairs], tmp_path: Path) -> None:
    _, test = planted
    explanation = gl.explain(model_of(read_word), test, limit=30)
    write_explanation(explanation, tmp_path / "out")
    (tmp_path / "out" / "artifacts.csv").write_text("old")
    write_explanation(explanation, tmp_path / "out")
    assert not (tmp_path / "out" / "artifacts.csv").exists(), "there were none this time"

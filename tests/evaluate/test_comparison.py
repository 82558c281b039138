"""``compare``: paired, by unit, and where two models differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate import compare
from goldlabel.metrics import accuracy_score, mcnemar
from goldlabel.pairs.labels import NLI2
from tests.evaluate.samples import Told, make_pairs

GOLD = ["entailment", "neutral", "contradiction"] * 20
A = [label if number % 4 else "neutral" for number, label in enumerate(GOLD)]
B = [label if number % 3 else "contradiction" for number, label in enumerate(GOLD)]


def test_a_model_is_no_better_than_itself() -> None:
    result = compare(Told(A), Told(A), make_pairs(GOLD, per_premise=3))
    assert (result.whole.difference.value, result.p_value) == (0.0, 1.0)
    assert (result.whole.only_a, result.whole.only_b, result.examples) == (0, 0, [])


def test_the_test_is_paired_and_by_unit() -> None:
    pairs, units = make_pairs(GOLD, per_premise=3), np.arange(60) // 3
    result = compare(Told(A), Told(B), pairs)
    expected = mcnemar(GOLD, A, B, units=units)
    assert (result.whole.difference, result.p_value) == (expected.difference, expected.p_value)
    assert result.p_value != mcnemar(GOLD, A, B).p_value
    assert result.whole.a == accuracy_score(GOLD, A, units=units)
    right_a, right_b = np.array(A) == GOLD, np.array(B) == GOLD
    assert result.whole.only_a == (right_a & ~right_b).sum()
    assert result.whole.only_b == (right_b & ~right_a).sum()
    swapped = compare(Told(B), Told(A), pairs)
    assert swapped.whole.difference.value == pytest.approx(-result.whole.difference.defined)
    assert swapped.p_value == result.p_value
    keys = {"a", "b", "difference", "interval", "p_value", "n", "only_a", "only_b"}
    document = result.to_dict()
    assert keys <= set(document)
    assert document["a"] - document["b"] == pytest.approx(document["difference"])


def test_where_they_differ() -> None:
    pairs = make_pairs(GOLD, genre=["marsh", "sea"] * 30)
    result = compare(Told(A), Told(B), pairs, by="genre")
    assert set(result.per_label) == {"contradiction", "entailment", "neutral"}
    assert sum(part.only_a for part in result.per_label.values()) == result.whole.only_a
    assert result.per_label["contradiction"].b.value == 1.0
    assert {key: part.a.n for key, part in result.groups.items()} == {("marsh",): 30, ("sea",): 30}
    assert result.table["pairs"].to_list() == ["all", "contradiction", "entailment", "neutral", "marsh", "sea"]


def test_examples_are_pairs_that_one_alone_got_right() -> None:
    result = compare(Told(A), Told(B), make_pairs(GOLD), examples=2)
    assert [example.right for example in result.examples] == ["a", "a", "b", "b"]
    for example in result.examples:
        number = int(example.id.rpartition("-")[2])
        assert (example.label, example.a, example.b) == (GOLD[number], A[number], B[number])
        assert (example.a == example.label) == (example.right == "a")
    assert compare(Told(A), Told(B), make_pairs(GOLD), examples=0).examples == []
    with pytest.raises(InputError, match="-1 examples cannot be given"):
        compare(Told(A), Told(B), make_pairs(GOLD), examples=-1)


def test_those_come_first_on_which_they_are_furthest_apart() -> None:
    """B has no answer to the last pair, and so gives its gold label nothing at all."""
    answers = ["neutral" if label == "entailment" else label for label in GOLD[:-1]]
    result = compare(Told(GOLD), Told([*answers, None]), make_pairs(GOLD), examples=1)
    assert [example.id for example in result.examples] == ["birds-59"]
    assert result.examples[0].b == "-"
    assert result.unanswered == (0, 1)


def test_models_of_other_labels_are_compared_in_the_labels_of_the_data() -> None:
    gold = ["entailment" if label == "entailment" else "not_entailment" for label in GOLD]
    result = compare(Told(A), Told(gold, NLI2), make_pairs(gold, space=NLI2))
    assert result.whole.b.value == 1.0
    assert result.whole.a.value == pytest.approx(1 - 5 / 60)


def test_two_files(tmp_path: Path) -> None:
    pairs = make_pairs(GOLD)
    for name, answers in (("a.csv", A), ("b.jsonl", B)):
        gl.predict(Told(answers), pairs, tmp_path / name)
    by_file = gl.compare(tmp_path / "a.csv", tmp_path / "b.jsonl", pairs).to_dict()
    by_model = compare(Told(A), Told(B), pairs).to_dict()
    assert by_file | {"models": []} == by_model | {"models": []}

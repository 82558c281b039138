"""``score``: known answers, intervals that hold, and nothing that is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.metrics import f1_score, precision_recall_fscore_support

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate import score
from goldlabel.evaluate.answer_store import AnswerStore
from goldlabel.evaluate.judging import Sitting, judge
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.executors import Failure
from goldlabel.metrics import accuracy_score, macro_f1
from goldlabel.models.model import Unmoved
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI2, NLI3, SCITAIL
from tests.evaluate.samples import Told, make_pairs

GOLD = ["entailment", "neutral", "contradiction"] * 20
ANSWERS = [label if number % 4 else "neutral" for number, label in enumerate(GOLD)]


def test_figures_are_those_of_scikit_learn() -> None:
    pairs = make_pairs(GOLD, per_premise=3)
    dataset = score(Told(ANSWERS), pairs).scores["birds"]
    whole = dataset.whole
    expected = np.mean([a == b for a, b in zip(GOLD, ANSWERS, strict=True)])
    assert whole.accuracy == accuracy_score(GOLD, ANSWERS, units=np.arange(60) // 3)
    assert whole.accuracy.value == pytest.approx(expected)
    assert (whole.accuracy.n, whole.accuracy.units, whole.answered) == (60, 20, 60)
    labels = list(NLI3.labels)
    assert whole.macro_f1.value == pytest.approx(f1_score(GOLD, ANSWERS, average="macro"))
    assert whole.macro_f1.interval is not None
    for label, *figures in zip(labels, *precision_recall_fscore_support(GOLD, ANSWERS, labels=labels), strict=True):
        ours = whole.per_label[label]
        assert [ours.precision.value, ours.recall.value, ours.f1.value, ours.gold] == pytest.approx(figures)
        assert ours.predicted == ANSWERS.count(label)
    assert whole.confusion["entailment"] == {"contradiction": 0, "entailment": 15, "neutral": 5}


def test_macro_f1_is_over_the_labels_that_occur() -> None:
    gold, answers = ["entailment", "neutral"] * 10, ["entailment"] * 20
    whole = score(Told(answers), make_pairs(gold)).scores["birds"].whole
    assert whole.macro_f1.value == pytest.approx(macro_f1(gold, answers, NLI3.labels)) == pytest.approx(1 / 3)
    assert whole.per_label["contradiction"].f1.value is None


def test_no_answer_is_a_wrong_one_and_is_counted() -> None:
    answers = [None if number % 3 == 2 else label for number, label in enumerate(GOLD)]
    whole = score(Told(answers), make_pairs(GOLD)).scores["birds"].whole
    assert whole.answered == 40
    assert whole.accuracy.value == pytest.approx(2 / 3)
    assert whole.confusion["contradiction"] == {"contradiction": 0, "entailment": 0, "neutral": 0, "-": 20}
    assert whole.per_label["contradiction"].precision.value is None
    assert whole.per_label["contradiction"].recall.value == 0
    assert whole.macro_f1.value == pytest.approx(2 / 3)


class Rows(Unmoved):
    """Says the same of every pair."""

    label_space = NLI3

    def __init__(self, *row: float) -> None:
        self.row = row

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        return np.array([self.row] * len(premises))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0.5, 0.5), "Rows returned a matrix of 60 × 2 for 60 pairs and 3 labels"),
        ((1.2, -0.1, -0.1), "Rows: pair 'birds-0': 1.2, -0.1, -0.1 are no probabilities"),
        ((2.0, 3.0, 1.0), r"sum to 1 \(here 6\)"),
        ((np.nan, 0.5, 0.5), "nan, 0.5, 0.5 are no probabilities"),
        ((np.nan, np.nan, np.nan), "has an answer to none of these 60 pairs"),
    ],
)
def test_what_are_no_probabilities_is_no_answer(tmp_path: Path, row: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        score(Rows(*row), make_pairs(GOLD))
    sitting = Sitting(name="rows", sets=(evaluation_set(make_pairs(GOLD)),), model=Rows(*row))
    outcome = judge([sitting], AnswerStore(tmp_path))["rows"]
    assert isinstance(outcome, Failure), "the others of a bench are judged all the same"
    assert re.search(message, outcome.message)


def test_labels_are_told_by_a_label_space() -> None:
    model = Rows(0.2, 0.5, 0.3)
    model.label_space = ("entailment", "neutral", "contradiction")  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"Rows: its label_space is \('entailment'.*; give a LabelSpace, such as"):
        score(model, make_pairs(GOLD))


def test_probabilities_in_half_precision_are_taken_as_they_are() -> None:
    whole = score(Rows(0.3335, 0.3325, 0.335), make_pairs(GOLD)).scores["birds"].whole
    assert whole.answered == 60


def test_a_model_that_answers_nothing_has_no_score() -> None:
    with pytest.raises(InputError, match="has an answer to none of these 60 pairs"):
        score(Told([None] * 60), make_pairs(GOLD))


def test_scores_are_mapped_before_the_label_is_chosen() -> None:
    """0.4 for entailment is the largest of three and the smaller of two."""
    told = Told(GOLD)
    told.predict = lambda premises, hypotheses: np.tile([0.3, 0.4, 0.3], (len(premises), 1))  # type: ignore[method-assign]
    pairs = make_pairs(["not_entailment"] * 4, space=NLI2)
    dataset = score(told, pairs).scores["birds"]
    assert dataset.whole.accuracy.value == 1.0
    assert dataset.convention == "contradiction and neutral add up to not_entailment"


def test_what_is_certain_of_a_label_that_the_data_lack_has_no_answer() -> None:
    """The even spread that the mapping gives would have been called entailment, as it comes first."""
    told = Told(GOLD)
    told.predict = lambda premises, hypotheses: np.tile([1.0, 0.0, 0.0], (len(premises), 1))  # type: ignore[method-assign]
    pairs = make_pairs(["entailment"] * 3, space=SCITAIL)
    with pytest.raises(InputError, match="has an answer to none"):
        score(told, pairs)


def test_labels_without_a_mapping_are_refused_before_the_model_is_asked() -> None:
    told = Told(["entailment"] * 60, NLI2)
    with pytest.raises(InputError, match=r"scores over nli2 .* have no mapping to nli3"):
        score(told, make_pairs(GOLD))
    assert told.asked == 0


def test_which_split_is_judged() -> None:
    splits = ["train", "test", "dev", "none"] * 15
    pairs = make_pairs(GOLD, split=splits)
    told = Told(GOLD)
    assert score(told, pairs).scores["birds"].split == "test"
    assert score(told, pairs, split="dev").scores["birds"].whole.accuracy.n == 15
    assert score(told, pairs.only(split="dev")).scores["birds"].split == "dev"
    assert score(told, pairs.only(split="none")).scores["birds"].split == "none"
    with pytest.raises(InputError, match="has no test split, only dev, train; say with split=… which one counts"):
        score(told, pairs.only(split=["dev", "train"]))
    limited = score(told, pairs, limit=5).scores["birds"]
    assert (limited.split, limited.whole.accuracy.n) == ("test", 5)


def test_pairs_without_gold_are_left_out_and_told() -> None:
    pairs = make_pairs(["-", *GOLD[1:]])
    dataset = score(Told(GOLD), pairs).scores["birds"]
    assert (dataset.without_gold, dataset.whole.accuracy.n) == (1, 59)
    with pytest.raises(InputError, match="no pair of its split 'none' has a gold label"):
        score(Told(GOLD), make_pairs(["-"] * 3))
    dev, test = make_pairs(GOLD, split="dev"), make_pairs(["-"] * 3, split="test")
    both = Pairs(pl.concat([dev.frame, test.frame]), dev.card)
    with pytest.raises(InputError, match=r"nothing can be scored; with a gold label there are pairs of dev$"):
        score(Told(GOLD), both)


def test_groups_by_column_and_by_tag() -> None:
    genres = ["marsh" if number < 30 else None for number in range(60)]
    tags = [["all-of-them", f"t{number % 2}"] for number in range(60)]
    pairs = make_pairs(GOLD, genre=genres, tags=tags)
    by_genre = score(Told(ANSWERS), pairs, by="genre").scores["birds"].groups
    assert {key: group.accuracy.n for key, group in by_genre.items()} == {(None,): 30, ("marsh",): 30}
    right = np.array(GOLD[:30]) == np.array(ANSWERS[:30])
    assert by_genre[("marsh",)].accuracy.value == pytest.approx(right.mean())
    by_tag = score(Told(ANSWERS), pairs, by="tags").scores["birds"]
    assert {key: group.accuracy.n for key, group in by_tag.groups.items()} == {
        ("all-of-them",): 60,
        ("t0",): 30,
        ("t1",): 30,
    }
    assert by_tag.groups[("all-of-them",)].accuracy == by_tag.whole.accuracy
    assert set(score(Told(ANSWERS), pairs, by="genre,split").scores["birds"].groups) == {
        (None, "none"),
        ("marsh", "none"),
    }
    with pytest.raises(InputError, match="there is no column 'gender' to group by; did you mean 'genre'"):
        score(Told(ANSWERS), pairs, by="gender")


def test_several_datasets_and_the_dictionary() -> None:
    both = score(Told(ANSWERS), [make_pairs(GOLD), make_pairs(GOLD[:9]), make_pairs(GOLD, name="more")], resamples=20)
    assert list(both.scores) == ["birds", "birds (2)", "more"]
    assert both.table["pairs"].to_list() == [60, 9, 60]
    keys = set(both.to_dict()["scores"]["more"])
    assert {"accuracy", "interval", "n", "units", "macro_f1", "per_label", "confusion"} <= keys
    assert both.title == "Told on 129 pairs of birds, birds (2), more"
    with pytest.raises(InputError, match="no pairs to score"):
        score(Told(ANSWERS), [])


def test_what_a_model_raises_says_on_which_pairs() -> None:
    told = Told(GOLD[:10])
    with pytest.raises(IndexError) as raised:
        score(told, make_pairs(GOLD))
    assert raised.value.__notes__ == ["(on the 60 pairs from 'birds-0' to 'birds-59')"]


def test_a_file_is_scored_by_id(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    lines = [f"birds-{number},{answer}" for number, answer in enumerate(ANSWERS) if number != 5]
    file.write_text("\n".join(["id,label", *lines, "elsewhere,neutral"]) + "\n")
    scores = gl.score(file, make_pairs(GOLD))
    assert scores.model == str(file)
    expected = np.array(GOLD) == np.array(ANSWERS)
    expected[5] = False
    assert scores.scores["birds"].whole.accuracy.value == pytest.approx(expected.mean())
    assert scores.scores["birds"].whole.answered == 59
    file.write_text("id,label\nelsewhere,neutral\n")
    with pytest.raises(InputError, match="has an answer to none of these 60 pairs; is it about other pairs"):
        gl.score(file, make_pairs(GOLD))

"""``score``: known answers, intervals that hold, and nothing that is guessed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_recall_fscore_support

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate import score
from goldlabel.evaluate.scores import score_answers
from goldlabel.metrics import accuracy_score, macro_f1
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NLI2, NLI3, SCITAIL
from tests.calibration import DESIGNS, Design, Rate, coverage, faults
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
    with pytest.raises(InputError, match="has no test split, only dev, train; say with --split which one counts"):
        score(told, pairs.only(split=["dev", "train"]))
    limited = score(told, pairs, limit=5).scores["birds"]
    assert (limited.split, limited.whole.accuracy.n) == ("test", 5)


def test_pairs_without_gold_are_left_out_and_told() -> None:
    pairs = make_pairs(["-", *GOLD[1:]])
    dataset = score(Told(GOLD), pairs).scores["birds"]
    assert (dataset.without_gold, dataset.whole.accuracy.n) == (1, 59)
    with pytest.raises(InputError, match="no pair of its split 'none' has a gold label"):
        score(Told(GOLD), make_pairs(["-"] * 3))


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


def macro_f1_coverage(design: Design, runs: int) -> list[Rate]:
    """The interval of macro-F1 on units whose members are told well or badly together."""
    random = np.random.RandomState(16)
    rate, answered = coverage("macro-F1", design), coverage("F1 of a rare label", design)
    labels = np.array(NLI3.labels)
    shares, hit = np.array([0.5, 0.35, 0.15]), 0.6
    # A wrong answer is one of the other two, each as often: P(predicted = j) = Σ_i p_i (hit if i = j else (1 - hit)/2).
    predicted = shares * hit + (1 - shares) * (1 - hit) / 2
    f1 = 2 * shares * hit / (shares + predicted)
    for run in range(runs):
        gold = random.choice(3, len(design.unit), p=shares)
        wrong = (gold + random.randint(1, 3, len(gold))) % 3
        answers = np.where(design.hits(hit, random), gold, wrong)
        score = score_answers(_gold(labels[gold], design), labels[answers], resamples=199, seed=run)
        rate.cover(score.macro_f1, float(f1.mean()))
        answered.cover(score.per_label[str(labels[2])].f1, float(f1[2]))
    return [rate, answered]


def _gold(labels: np.ndarray, design: Design) -> GoldPairs:
    import polars as pl

    frame = pl.DataFrame({"label": labels, "premise": [f"Heron {unit}" for unit in design.unit], "group": None})
    return GoldPairs("birds", NLI3, frame.with_columns(pl.col("group").cast(pl.String)))


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_interval_of_macro_f1_holds_the_truth(design: Design) -> None:
    assert faults(macro_f1_coverage(design, 300), chance=0.01) == []


def test_pairs_taken_as_independent_would_be_caught() -> None:
    """The check itself: where pairs of a unit are told together and taken apart, the interval is too narrow."""
    together = Design(60, 10, 0.9)
    rate = coverage("macro-F1", together)
    random = np.random.RandomState(17)
    for run in range(100):
        gold = random.choice(3, 600)
        answers = np.where(together.hits(0.6, random), gold, (gold + 1) % 3)
        apart = _gold(np.array(NLI3.labels)[gold], Design(600, 1, 0.0))
        rate.cover(score_answers(apart, np.array(NLI3.labels)[answers], resamples=99, seed=run).macro_f1, 0.6)
    assert rate.share < 0.7
    assert math.isfinite(rate.share)

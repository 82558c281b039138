"""Predefined slices, and weak ones found by search."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from goldlabel.errors import InputError
from goldlabel.evaluate import weak_slices
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.slices import Slice, make_slices, score_slices
from goldlabel.evaluate.weak_slices import find_weak_slices
from goldlabel.metrics import share
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NLI3
from tests.calibration import Design, Rate, coverage, rejection
from tests.evaluate.samples import make_pairs


def written(*texts: tuple[str, str], language: str = "en") -> GoldPairs:
    premises, hypotheses = zip(*texts, strict=True)
    columns = {"premise": premises, "hypothesis": hypotheses, "language": [language] * len(texts)}
    frame = pl.DataFrame({**columns, "label": ["neutral"] * len(texts)})
    return judged_pairs(Pairs.from_frame(frame, Card(name="birds", label_space=NLI3)))


def named(slices: list[Slice], kind: str) -> dict[str, list[int]]:
    return {own.name: np.flatnonzero(own.rows).tolist() for own in slices if own.kind == kind}


def test_columns_and_tags() -> None:
    tags = [["rain", "wind"], ["rain"], [], ["wind"]]
    pairs = make_pairs(["neutral"] * 4, genre=["marsh", None, "marsh", "lake"], level="easy", tags=tags)
    slices = make_slices(judged_pairs(pairs, also=["genre", "level", "tags"]))
    assert named(slices, "genre") == {"genre (none)": [1], "genre lake": [3], "genre marsh": [0, 2]}
    assert named(slices, "tag") == {"tag rain": [0, 1], "tag wind": [0, 3]}
    assert named(slices, "level") == {}  # all pairs
    labelled = make_slices(judged_pairs(make_pairs(["neutral", "entailment"])), columns=["label"])
    assert named(labelled, "label") == {"label entailment": [1], "label neutral": [0]}


def test_lengths_are_in_quarters_of_words_or_characters() -> None:
    texts = [("a " * number, "It rains.") for number in range(1, 9)]
    assert named(make_slices(written(*texts)), "premise length") == {
        "premise length 1 to 2": [0, 1],
        "premise length 3 to 4": [2, 3],
        "premise length 5 to 6": [4, 5],
        "premise length 7 to 8": [6, 7],
    }
    assert named(make_slices(written(*texts)), "hypothesis length") == {}
    chinese = make_slices(written(("苍鹭站着。", "有鸟"), ("下雨", "天在下雨"), language="zh"))
    assert named(chinese, "hypothesis length") == {"hypothesis length 2": [0], "hypothesis length 4": [1]}


def test_overlap_is_the_share_of_the_hypothesis_in_the_premise() -> None:
    premise = "The heron stands in the reeds"
    hypotheses = ("Nobody came here today", "The ox came", "The heron came", "The heron stands alone", "the HERON", "…")
    slices = make_slices(written(*((premise, hypothesis) for hypothesis in hypotheses)))
    assert named(slices, "overlap") == {
        "overlap below 25 %": [0],
        "overlap 25 to 50 %": [1],
        "overlap 50 to 75 %": [2],
        "overlap 75 to 100 %": [3],
        "overlap 100 %": [4],
    }
    chinese = make_slices(written(("苍鹭站着", "苍鹭飞走"), ("下雨了", "下雨"), language="zh"))
    assert named(chinese, "overlap") == {"overlap 50 to 75 %": [0], "overlap 100 %": [1]}


def test_negation_by_the_word_lists_of_the_language() -> None:
    hypotheses = ("It is not wet.", "It isn’t wet.", "The knot is wet.", "NOBODY came.")
    slices = make_slices(written(*(("It rains.", hypothesis) for hypothesis in hypotheses)))
    assert named(slices, "negation") == {
        "negation in the hypothesis": [0, 1, 3],
        "no negation in the hypothesis": [2],
    }
    chinese = make_slices(written(("下雨。", "没有下雨。"), ("下雨。", "非常湿。"), language="zh"))
    assert named(chinese, "negation")["negation in the hypothesis"] == [0]
    unknown = make_slices(written(("Il pleut.", "Il ne pleut pas."), ("Il pleut.", "Non."), language="fr"))
    assert named(unknown, "negation") == {}


def test_what_a_model_without_the_premise_gets_right_is_easy() -> None:
    gold = judged_pairs(make_pairs(["neutral", "entailment", "neutral"]))
    slices = make_slices(gold, without_premise=np.array(["neutral", "neutral", "-"]))
    assert named(slices, "without premise") == {
        "easy: right without the premise": [0],
        "hard: wrong without the premise": [1, 2],
    }
    with pytest.raises(InputError, match="birds: 1 labels are no answers to 3 pairs"):
        make_slices(gold, without_premise=np.array(["neutral"]))


def test_accuracies_of_slices() -> None:
    gold = judged_pairs(make_pairs(["neutral"] * 12, per_premise=2, genre=["marsh"] * 6 + ["lake"] * 6), also=["genre"])
    hits = np.array([1, 1, 0.5, 0, 1, 1, 0, 0, 0, 0, 1, 0])
    scores = score_slices(gold, hits, make_slices(gold))
    by_name = {own.name: accuracy for own, accuracy in scores.slices}
    assert by_name["genre lake"] == share(hits[6:], units=gold.units[6:])
    assert scores.whole.value == pytest.approx(5.5 / 12)
    assert scores.table["slice"].to_list()[:2] == ["genre lake", "genre marsh"]
    assert json.loads(json.dumps(scores.to_dict()))["slices"][0]["accuracy"]["n"] == 6


DESIGN = Design(150, 10, 0.8)


def drawn_slices(random: np.random.RandomState, design: Design = DESIGN) -> list[Slice]:
    """Five genres of whole units, and four lengths, four overlaps and negation of single pairs."""
    pairs = len(design.unit)
    parts = {
        "genre": random.randint(0, 5, design.units)[design.unit],
        "length": random.randint(0, 4, pairs),
        "overlap": random.randint(0, 4, pairs),
        "negation": (random.rand(pairs) < 0.15).astype(int),
    }
    return [Slice(kind, f"{kind} {n}", part == n) for kind, part in parts.items() for n in np.unique(part)]


GOLD = judged_pairs(make_pairs(["neutral"] * len(DESIGN.unit), per_premise=DESIGN.size))


def false_alarms(runs: int) -> list[Rate]:
    """How often a model that is equally good everywhere is said to have a weak slice."""
    rates = []
    for share_right in (0.35, 0.6, 0.9):
        random = np.random.RandomState(25)
        rate = rejection(f"weak slices at {share_right:.0%}", DESIGN)
        for _ in range(runs):
            slices, hits = drawn_slices(random), DESIGN.hits(share_right, random).astype(float)
            rate.reject(0.0 if find_weak_slices(GOLD, hits, slices, fewest_units=30).found else 1.0)
        rates.append(rate)
    return rates


def test_no_weak_slice_is_found_where_there_is_none() -> None:
    for rate in false_alarms(40):
        assert rate.hits <= binom.ppf(0.99, rate.runs, 0.05), f"{rate.figure}: {rate.share}"


def test_a_search_without_correction_would_be_caught() -> None:
    """The check itself: some slice of many always has a small p-value of its own."""
    random = np.random.RandomState(27)
    smallest = []
    for _ in range(20):
        slices, hits = drawn_slices(random), DESIGN.hits(0.6, random).astype(float)
        tried = weak_slices._tried(slices, DESIGN.unit, 30)
        smallest.append(min(weak_slices._Answers.of(hits, DESIGN.unit).contrast(rows).p_value for _, rows in tried))
    assert np.mean(np.array(smallest) <= 0.05) > 0.8


def planted(runs: int, worse: slice, right: float) -> tuple[Rate, list[list[str]]]:
    """Searches where a slice, or the conjunction of two, is right less often than the others' 70 %.

    Returned are how often the interval of the first that is reported holds the difference, and all that is reported.
    """
    design, random = Design(1000, 3, 0.3), np.random.RandomState(26)
    gold = judged_pairs(make_pairs(["neutral"] * len(design.unit), per_premise=design.size))
    rate, names = coverage("weak slice", design), []
    for _ in range(runs):
        slices = drawn_slices(random, design)
        rows = np.logical_and.reduce([own.rows for own in slices[worse]])
        chances = np.where(rows, *(design.chances(own, random)[design.unit] for own in (right, 0.7)))
        hits = (random.rand(len(chances)) < chances).astype(float)
        found = find_weak_slices(gold, hits, slices, fewest_units=30).found
        names.append([own.name for own in found])
        for own in found[:1]:
            rate.cover(own.difference, right - 0.7)
    return rate, names


def test_a_planted_weak_slice_is_found_named_and_reported_once() -> None:
    """A fifth of the pairs is worse by 15 points."""
    rate, names = planted(20, slice(0, 1), 0.55)
    assert sum(own == ["genre 0"] for own in names) >= 17
    assert rate.hits == rate.runs


def test_a_planted_conjunction_is_found() -> None:
    """A twentieth of the pairs is worse by 35 points."""
    _, names = planted(15, slice(4, 6), 0.35)
    assert sum(own == ["genre 4 and length 0"] for own in names) >= 12


def test_what_is_too_small_or_says_nothing_new_is_not_tried() -> None:
    gold = judged_pairs(make_pairs(["neutral"] * 40))
    half, same, few = np.arange(40) < 20, np.arange(40) < 20, np.arange(40) < 3
    slices = [Slice("a", "a", half), Slice("b", "b", same), Slice("c", "c", few)]
    result = find_weak_slices(gold, (~half).astype(float), slices, fewest_units=5)
    assert result.tried == 2  # neither the three pairs, nor both halves together, which are each of them
    assert [own.name for own in result.found] == ["a"]  # the second has nothing left outside the first
    assert result.found[0].difference.value == -1
    assert find_weak_slices(gold, np.ones(40), [], fewest_units=5).found == []


def test_title_table_dictionary_and_refusals() -> None:
    gold = judged_pairs(make_pairs(["neutral"] * 60))
    rows = np.arange(60) < 30
    result = find_weak_slices(gold, np.where(rows, 0.25, 1.0), [Slice("genre", "genre marsh", rows)], fewest_units=5)
    assert result.title.startswith("birds: 1 of 1 slices are weaker than the rest; 62.5 % (")
    assert result.table["slice"].to_list() == ["genre marsh"]
    assert json.loads(json.dumps(result.to_dict()))["found"][0]["kinds"] == ["genre"]
    assert result.found[0].accuracy.method.endswith("for 1 slices at once")
    with pytest.raises(InputError, match="2 hits do not go with 60 pairs"):
        find_weak_slices(gold, np.ones(2), [])
    with pytest.raises(InputError, match="a slice of 1 units tells nothing"):
        find_weak_slices(gold, np.ones(60), [], fewest_units=1)

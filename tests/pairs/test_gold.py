"""The view of pairs that has labels to learn from or to be judged by."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import GoldPairs, take_gold
from tests.train.samples import make_pairs, make_rows


def of_splits(*splits: str) -> Pairs:
    """Two pairs of each split."""
    return make_pairs([row for place, split in enumerate(splits) for row in make_rows(2, split=split, first=2 * place)])


def take(pairs: Pairs, split: str | None = None) -> GoldPairs:
    return take_gold(pairs, split, default="train", advice="say which with --split")


@pytest.mark.parametrize(
    ("splits", "wanted", "ids"),
    [
        (["train", "dev", "test"], None, ["p0", "p1"]),
        (["none"], None, ["p0", "p1"]),
        (["none", "train"], None, ["p2", "p3"]),
        (["none", "train"], "none", ["p0", "p1"]),
        (["test"], "test", ["p0", "p1"]),
        (["dev", "train", "test"], "test", ["p4", "p5"]),
    ],
)
def test_which_split_is_meant(splits: list[str], wanted: str | None, ids: list[str]) -> None:
    assert take(of_splits(*splits), wanted).frame["id"].to_list() == ids


@pytest.mark.parametrize(
    ("splits", "wanted", "message"),
    [
        (["test"], None, "doors: has no train split, only test; say which with --split"),
        (["dev"], None, "doors: has no train split, only dev; say which with --split"),
        (["none", "dev"], None, "doors: has no train split, only dev, none; say which"),
        (["train", "none"], "test", "doors: has no test split, only none, train; say which"),
        (["none"], "train", "doors: has no train split, only none"),
        (["train"], "tets", "split 'tets' is not known; did you mean 'test'"),
    ],
)
def test_nothing_is_guessed(splits: list[str], wanted: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        take(of_splits(*splits), wanted)


def test_pairs_without_gold_are_left_out_and_counted() -> None:
    rows = make_rows(6) + [{**row, "id": f"x{row['id']}", "label": "-"} for row in make_rows(2)]
    gold = take(make_pairs(rows))
    assert (len(gold), gold.without_gold) == (6, 2)
    assert len(take(make_pairs([]))) == 0


def test_units_are_those_of_the_package() -> None:
    rows = make_rows(4)
    rows[1]["premise"] = rows[0]["premise"].upper()
    rows[2]["group"] = rows[3]["group"] = "chapter 1"
    units = take(make_pairs(rows)).units
    assert units[0] == units[1] != units[2] == units[3]


def test_languages_are_those_that_are_named() -> None:
    rows = make_rows(4)
    rows[0]["premise"] = "The gate 门 stands open."
    for row, language in zip(rows, ("en-GB", "en", "zh", "zh"), strict=True):
        row["language"] = language
    assert take(make_pairs(rows)).languages == {"en", "zh"}
    rows[0]["language"] = None
    assert take(make_pairs(rows)).languages == {"", "en", "zh"}


def test_a_hash_tells_other_labels_and_another_order() -> None:
    gold = take(make_pairs(6))
    changed = gold.frame.with_columns(pl.lit("neutral").alias("label"))
    digests = {replace(gold, frame=frame).digest for frame in (gold.frame, changed, gold.frame.reverse())}
    assert len(digests) == 3
    assert gold.digest == take(make_pairs(6)).digest

"""Splits of rounds: what is held out of each, and that later rounds do not change it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest

from goldlabel.collect.rounds.round_splits import HeldOut, RoundSplits
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NLI3

LABELS = ("contradiction", "entailment", "neutral")
PLAN = RoundSplits(dev=1000, test=1000, exclusive=("w0", "w1"))


def campaign(rounds: int, *, contexts: int = 60, seed: int = 0) -> Pairs:
    """Contexts with three writers each, whose pair is verified, overruled, discarded or not verified."""
    chance, rows = random.Random(seed), []
    for number in range(1, rounds + 1):
        for context in range(contexts):
            for writer in chance.sample(range(8), 3):
                label = chance.choices(LABELS, weights=(5, 3, 2))[0]
                fate = chance.choices(("verified", "overruled", "discarded", "tried"), weights=(5, 1, 1, 3))[0]
                gold = {"overruled": LABELS[0], "discarded": "-"}.get(fate, label)
                votes = [label] if fate == "tried" else [label, gold, gold]
                rows.append(
                    {
                        "id": f"{number}-{context}-{writer}",
                        "premise": f"Context {number} {context}.",
                        "hypothesis": "It rains.",
                        "label": gold,
                        "votes": votes,
                        "split": "none",
                        "round": f"R{number}",
                        "writer": f"w{writer}",
                        "genre": ("news", "letters")[context % 2],
                        "group": f"premise-{number}-{context}",
                    }
                )
    return Pairs.from_frame(pl.DataFrame(rows), Card(name="campaign", label_space=NLI3, author="first"))


def split(pairs: Pairs, plan: RoundSplits = PLAN) -> pl.DataFrame:
    return pairs.split(plan, seed=3).pairs.frame.collect()


def closed(frame: pl.DataFrame, *numbers: str) -> dict[str, HeldOut]:
    rounds = {number: frame.filter(pl.col("round") == number) for number in numbers}
    return {number: HeldOut.of(rows, PLAN.exclusive) for number, rows in rounds.items()}


def check_laws(frame: pl.DataFrame, exclusive: tuple[str, ...] = PLAN.exclusive) -> None:
    splits = frame.filter(pl.col("split") != "none").group_by("group").agg(pl.col("split").n_unique())
    assert splits["split"].max() == 1, "no context is in two splits"
    judged = frame.filter(pl.col("split").is_in(["dev", "test"]))
    assert judged["votes"].list.len().min() == 3, "dev and test are verified"
    assert "-" not in set(judged["label"])
    for number in frame["round"].unique():
        rows = frame.filter(pl.col("round") == number)
        test = rows.filter(pl.col("split") == "test")
        assert len({Counter(test["label"]).get(label, 0) for label in LABELS}) == 1, "test is balanced"
        assert len(test) > 10
        assert len(rows.filter(pl.col("split") == "dev")) > 10
        assert len(rows.filter(pl.col("split") == "train")) > 20
    written = frame.filter(pl.col("writer").is_in(exclusive))
    assert set(written["split"]) <= {"test", "none"}, "exclusive writers are in test alone"


@pytest.mark.parametrize("seed", range(5))
def test_each_round_has_verified_balanced_and_separate_dev_and_test(seed: int) -> None:
    frame = split(campaign(2, seed=seed))
    check_laws(frame)
    test = frame.filter(pl.col("split") == "test")
    for label in LABELS:
        rows = frame.filter((pl.col("label") == label) & (pl.col("votes").list.len() > 1) & (pl.col("round") == "R1"))
        theirs = rows.filter(pl.col("writer").is_in(PLAN.exclusive))
        others = test.filter(
            (pl.col("label") == label) & (pl.col("round") == "R1") & ~pl.col("writer").is_in(PLAN.exclusive)
        )
        if len(others):
            assert set(theirs["split"]) == {"test"}, "exclusive writers come before others"


def test_what_a_closed_round_holds_out_stays_whatever_comes_later() -> None:
    first = split(campaign(1))
    fixed = replace(PLAN, closed=closed(first, "R1"))
    both = split(campaign(2), fixed)
    check_laws(both)
    assert both.filter(pl.col("round") == "R1")["split"].to_list() == first["split"].to_list()
    # Others become exclusive later, and pairs are verified later: neither moves a pair of a closed round.
    later = split(campaign(2), replace(fixed, exclusive=("w0", "w1", "w2")))
    assert later.filter(pl.col("round") == "R1")["split"].to_list() == first["split"].to_list()
    new = later.filter((pl.col("round") == "R2") & (pl.col("writer") == "w2"))
    assert "train" in set(new["split"]), "who was learnt from in an earlier round is not for test alone"


def test_a_pair_that_is_not_verified_any_more_is_in_no_split() -> None:
    pairs = campaign(1)
    first = split(pairs)
    gone = first.filter(pl.col("split") == "test")["id"][0]
    lost = pl.when(pl.col("id") == gone).then(pl.col("votes").list.head(1)).otherwise(pl.col("votes"))
    changed = split(
        Pairs(pairs.frame.with_columns(lost.alias("votes")), pairs.card), replace(PLAN, closed=closed(first, "R1"))
    )
    differing = first.filter(first["split"] != changed["split"])
    assert differing["id"].to_list() == [gone]
    assert changed.filter(pl.col("id") == gone)["split"].to_list() == ["none"]


def test_a_context_that_comes_up_again_in_a_later_round_is_not_held_out_there() -> None:
    pairs = campaign(2)
    again = pl.when(pl.col("group") == "premise-2-0").then(pl.lit("premise-1-0")).otherwise(pl.col("group"))
    pairs = Pairs(pairs.frame.with_columns(again.alias("group")), pairs.card)
    frame = split(pairs, replace(PLAN, closed=closed(split(campaign(1)), "R1")))
    check_laws(frame)
    later = frame.filter((pl.col("group") == "premise-1-0") & (pl.col("round") == "R2"))
    assert set(later["split"]) <= {"train", "none"}

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.record import DTYPES
from goldlabel.pairs.splits import (
    DevAsTest,
    ExcludeOverlap,
    ExclusiveWriters,
    Halves,
    Ratios,
    Subset,
    Verified,
)
from goldlabel.sources import add

LABELS = ("contradiction", "entailment", "neutral")


def make(n: int, **columns: list[object]) -> Pairs:
    base: dict[str, list[object]] = {
        "id": [f"{i:05}" for i in range(n)],
        "premise": [f"premise {i // 3}" for i in range(n)],
        "hypothesis": [f"hypothesis {i}" for i in range(n)],
        "label": [LABELS[i % 3] for i in range(n)],
        "votes": [[] for _ in range(n)],
        "tags": [[] for _ in range(n)],
        "split": ["none"] * n,
        "group": [f"g{i // 3}" for i in range(n)],
    }
    filled = base | columns
    frame = pl.DataFrame({name: filled.get(name, [None] * n) for name in DTYPES}, schema=DTYPES)
    return Pairs.from_frame(frame, Card(name="made"))


def digest(pairs: Pairs) -> str:
    rows = pairs.collect().select("id", "split").sort("id").rows()
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def test_ratios_are_exact_and_every_pair_is_somewhere() -> None:
    split = make(1003).split("80:10:10", seed=4)
    assert split.to_dict() == {"splits": {"train": 803, "dev": 100, "test": 100}, "dropped": 0, "seed": 4}
    assert len(split.pairs) == 1003


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Ratios(), "69ee458c19a4aea0"),
        (Ratios(by="group", stratify=("label",)), "b16e4d16b8f125f1"),
        (Subset(size=30, stratify=("label",)), "0d26f9d8ef620002"),
    ],
)
def test_the_same_seed_gives_the_same_split_on_any_machine(plan: object, expected: str) -> None:
    assert digest(make(200).split(plan, seed=7).pairs) == expected  # type: ignore[arg-type]


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_row_order_plays_no_part(random: np.random.RandomState, seed: int) -> None:
    pairs = make(60)
    order = list(range(60))
    random.shuffle(order)
    shuffled = Pairs.from_frame(pairs.collect()[order], pairs.card)
    for plan in (Ratios(by="group"), Halves(stratify=("label",)), Subset(size=9)):
        assert digest(pairs.split(plan, seed=seed).pairs) == digest(shuffled.split(plan, seed=seed).pairs)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=80), st.integers(0, 3))
def test_groups_stay_together(groups: list[int], seed: int) -> None:
    n = len(groups)
    pairs = make(n, group=[None if group == 0 else f"g{group}" for group in groups])
    frame = pairs.split(Ratios(by="group", stratify=("label",)), seed=seed).pairs.collect()
    assert len(frame) == n
    assert frame.drop_nulls("group").group_by("group").agg(pl.col("split").n_unique())["split"].max() in (1, None)


def test_stratified_splits_are_alike_also_in_small_cells_and_nulls() -> None:
    n = 900
    genre = [None if i % 7 == 0 else f"genre {i % 40}" for i in range(n)]
    frame = make(n, genre=genre).split(Ratios(stratify=("label", "genre")), seed=1).pairs.collect()
    assert dict(frame["split"].value_counts().iter_rows()) == {"train": 720, "dev": 90, "test": 90}
    for part in frame.partition_by("split"):
        assert part["label"].value_counts()["count"].to_list() == pytest.approx([len(part) / 3] * 3, abs=4)
    shares = frame.filter(pl.col("genre").is_null()).group_by("split").len()
    assert dict(shares.iter_rows())["train"] == pytest.approx(0.8 * frame["genre"].null_count(), abs=3)


def test_halves_give_the_odd_one_to_test() -> None:
    assert make(9927).split(Halves()).splits == {"dev": 4963, "test": 4964}


def test_exclude_overlap_drops_training_pairs_only() -> None:
    pairs = make(
        6,
        premise=["a", "b", "c", "a", "b", "a"],
        split=["train", "train", "train", "dev", "test", "none"],
    )
    split = pairs.split(ExcludeOverlap())
    assert split.pairs.collect()["id"].to_list() == ["00002", "00003", "00004", "00005"]
    assert split.dropped == 2
    with pytest.raises(InputError, match="no dev or test split"):
        make(3).split(ExcludeOverlap())


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_subsets_are_nested_and_alike(seed: int) -> None:
    pairs = make(300, split=["train"] * 240 + ["dev"] * 60)
    kept: set[str] = set()
    for size in (9, 30, 90, 240):
        split = pairs.split(Subset(size=size, stratify=("label",)), seed=seed)
        assert split.splits == {"train": size, "dev": 60}
        ids = set(split.pairs.only(split="train").collect()["id"])
        assert kept <= ids
        kept = ids
        assert split.pairs.only(split="train").table.row(0)[2:5] == (size // 3,) * 3
    with pytest.raises(InputError, match="subset of 241 cannot be drawn from 240"):
        pairs.split(Subset(size=241))


def test_dev_and_test_from_verified_pairs_balanced_by_level() -> None:
    n = 300
    votes = [["neutral"] * 5 if i % 2 else ["neutral"] for i in range(n)]
    level = [("easy", "medium", "hard", "hard")[i % 4] for i in range(n)]
    pairs = make(n, votes=votes, level=level)
    split = pairs.split(Verified(dev=30, test=30))
    assert split.splits == {"train": 240, "dev": 30, "test": 30}
    held_out = split.pairs.only(split=["dev", "test"]).collect()
    assert held_out["votes"].list.len().min() == 5
    counts = held_out.group_by("split", "level").len()
    assert counts["len"].to_list() == [15] * 4  # odd rows are medium or hard only
    with pytest.raises(InputError, match="150 have 5 votes or more"):
        pairs.split(Verified(dev=100, test=100))


def test_exclusive_writers_reach_test_only() -> None:
    n = 400
    writer = [f"w{i % 20}" for i in range(n)]
    genre = ["news" if i % 5 else "lit" for i in range(n)]
    pairs = make(n, writer=writer, genre=genre)
    split = pairs.split(ExclusiveWriters(test=30, dev=20), seed=2)
    frame = split.pairs.collect()
    testers = set(frame.filter(pl.col("split") == "test")["writer"])
    assert not testers & set(frame.filter(pl.col("split") != "test")["writer"])
    assert (split.splits["test"], split.splits["dev"]) == (30, 20)
    assert split.dropped == len(testers) * 20 - 30
    labels = frame.filter(pl.col("split") == "test")["label"].value_counts()["count"]
    assert labels.max() - labels.min() <= 2  # type: ignore[operator]
    named = pairs.split(ExclusiveWriters(test=12, writers=("w1", "w2"))).pairs.only(split="test").collect()
    assert set(named["writer"]) == {"w1", "w2"}
    with pytest.raises(InputError, match="writer 'nobody' wrote none"):
        pairs.split(ExclusiveWriters(test=1, writers=("nobody",)))
    with pytest.raises(InputError, match="the exclusive writers have 20 pairs"):
        pairs.split(ExclusiveWriters(test=30, writers=("w1",)))


def test_dev_as_test_draws_a_new_dev_from_train() -> None:
    pairs = make(100, split=["train"] * 80 + ["dev"] * 20)
    split = pairs.split(DevAsTest(), seed=3)
    assert split.splits == {"train": 60, "dev": 20, "test": 20}
    assert set(split.pairs.only(split="test").collect()["id"]) == {f"{i:05}" for i in range(80, 100)}
    with pytest.raises(InputError, match="a dev split and a larger train split"):
        make(3).split(DevAsTest())


@pytest.mark.parametrize("ratios", ["80", "nan:1", "inf:1", "a:b", "1:2:3:4", "0:0", "-1:2", ""])
def test_ratios_that_make_no_sense_are_refused(ratios: str) -> None:
    with pytest.raises(InputError, match="are not understood"):
        make(3).split(Ratios(ratios=ratios))


def test_columns_that_cannot_part_pairs_are_refused() -> None:
    with pytest.raises(InputError, match=r"there is no column 'grop'; did you mean 'group'"):
        make(3).split(Ratios(by="grop"))
    for plan in (
        Ratios(by="votes"),
        Ratios(stratify=("tags",)),
        Verified(dev=0, test=1, balance=("votes",), min_votes=0),
    ):
        with pytest.raises(InputError, match="holds lists"):
            make(3).split(plan)


def test_the_card_tells_what_was_done() -> None:
    split = make(10).split(Ratios(by="group"), seed=3)
    assert split.pairs.card.history == ("split with seed 3: 80:10:10, by group",)
    assert "10 pairs" in split._repr_html_()


def test_ocnli_without_overlap_is_the_published_30k(corpora: Path, home: Path) -> None:
    pairs = add("ocnli", [corpora / "ocnli"]).pairs
    split = pairs.split(ExcludeOverlap())
    assert split.splits == {"train": 30_286, "dev": 3_000, "test": 3_000}
    assert split.dropped == 50_486 - 30_286
    published = add("ocnli-30k", [corpora / "ocnli"]).pairs
    ours = split.pairs.only(split="train").collect()["id"].sort()
    assert ours.equals(published.only(split="train").collect()["id"].sort())
    assert gl.load("ocnli").to_dict()["splits"]["train"] == 50_486

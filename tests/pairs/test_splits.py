from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from goldlabel.pairs.units import units_of

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


def splits_per_unit(pairs: Pairs) -> list[int]:
    """Count for each unit the splits it is in, other than none."""
    frame = pairs.collect()
    units = pl.DataFrame({"unit": units_of(frame), "split": frame["split"]}).filter(pl.col("split") != "none")
    return units.group_by("unit").agg(pl.col("split").n_unique())["split"].to_list()


def test_ratios_are_exact_by_pair_and_near_by_unit_and_every_pair_is_somewhere() -> None:
    split = make(1003).split(Ratios(by="pair"), seed=4)
    assert split.to_dict() == {
        "splits": {"train": 803, "dev": 100, "test": 100},
        "dropped": 0,
        "seed": 4,
        "notes": [],
    }
    assert len(split.pairs) == 1003
    assert make(1003).split("80:10:10", seed=4).splits == {"train": 802, "dev": 102, "test": 99}


PLANS = (
    Ratios(),
    Ratios(ratios="50:25:25", stratify=("label",)),
    Halves(stratify=("genre",)),
    Halves(dev_at_most=3),
    Verified(dev=3, test=4, min_votes=1),
    ExclusiveWriters(dev=3, test=4),
    DevAsTest(),
    Subset(size=8),
)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, "g1", "g2", "g3", "g4"]), st.sampled_from("abcdefgh"), st.booleans()),
        min_size=30,
        max_size=60,
    ),
    st.integers(0, 3),
)
def test_no_plan_that_draws_puts_a_unit_into_two_splits(rows: list[tuple[str | None, str, bool]], seed: int) -> None:
    rows += [(None, f"premise of its own {i}", False) for i in range(12)]  # so that DevAsTest finds a dev
    n = len(rows)
    pairs = make(
        n,
        group=[group for group, _, _ in rows],
        premise=[f"The {word.upper()}!" if loud else f"the {word}" for _, word, loud in rows],
        votes=[["neutral"] * (i % 3) for i in range(n)],
        writer=[f"w{i % 4}" for i in range(n)],
        genre=[("news", None)[i % 2] for i in range(n)],
        split=[("train", "train", "train", "dev", "test", "none")[i % 6] if i < n - 12 else "train" for i in range(n)],
    )
    for plan in PLANS:
        split = pairs.split(plan, seed=seed)
        if not isinstance(plan, Subset):  # which moves nothing between splits
            assert set(splits_per_unit(split.pairs)) <= {1}
        assert sum(split.splits.values()) + split.dropped == n


def test_a_column_that_is_empty_takes_no_premise_apart() -> None:
    pairs = make(300, group=[None] * 300, genre=[None if i % 4 else f"genre {i % 5}" for i in range(300)])
    for plan in (Ratios(by="group"), Ratios(by="premise"), Ratios(by="round")):
        assert set(splits_per_unit(pairs.split(plan).pairs)) == {1}
    # A pair without a genre goes with the genre of its premise.
    frame = pairs.split(Ratios(by="genre"), seed=1).pairs.collect()
    for column in ("genre", "premise"):
        spread = frame.drop_nulls(column).group_by(column).agg(pl.col("split").n_unique())
        assert column == "premise" or set(spread["split"]) == {1}
    untold = frame.filter(pl.col("genre").n_unique().over("premise") == 1)
    assert set(untold.group_by("premise").agg(pl.col("split").n_unique())["split"]) == {1}


def test_pairs_are_drawn_for_themselves_only_where_that_is_said() -> None:
    assert set(splits_per_unit(make(300).split(Ratios(by="pair")).pairs)) > {1}
    assert set(splits_per_unit(make(300).split("80:10:10").pairs)) == {1}


def test_a_split_that_stays_empty_is_told() -> None:
    split = make(12).split("80:10:10")
    assert split.splits == {"train": 9, "dev": 3}
    assert split.notes == ("test stays empty: there are too few units, or too large ones",)
    assert split.to_dict()["notes"] == list(split.notes)
    assert make(12).split("80:20:0").notes == ()
    short = make(12, votes=[["neutral"] * 5] * 12).split(Verified(dev=7, test=5))
    assert short.splits == {"dev": 6, "test": 5, "none": 1}
    assert short.notes == ("dev has 6 pairs where 7 were wanted: there are too few units, or too large ones",)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Ratios(), "b16e4d16b8f125f1"),
        (Ratios(by="pair"), "69ee458c19a4aea0"),
        (Subset(size=30, stratify=("label",)), "b41210cdff13cd76"),
        (Verified(dev=20, test=30, min_votes=0), "a7cacb14a9118c0f"),
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
    plan = Ratios(stratify=("label", "genre"), by="pair")
    frame = make(n, genre=genre).split(plan, seed=1).pairs.collect()
    assert dict(frame["split"].value_counts().iter_rows()) == {"train": 720, "dev": 90, "test": 90}
    for part in frame.partition_by("split"):
        assert part["label"].value_counts()["count"].to_list() == pytest.approx([len(part) / 3] * 3, abs=4)
    shares = frame.filter(pl.col("genre").is_null()).group_by("split").len()
    assert dict(shares.iter_rows())["train"] == pytest.approx(0.8 * frame["genre"].null_count(), abs=3)


def test_stratified_units_are_alike_in_size_and_labels() -> None:
    random = np.random.RandomState(0)
    group = [f"g{number}" for number, size in enumerate(random.randint(1, 9, 900)) for _ in range(size)]
    leaning = {name: random.choice(LABELS, p=[0.7, 0.2, 0.1]) for name in dict.fromkeys(group)}
    label = [leaning[name] if random.rand() < 0.8 else random.choice(LABELS) for name in group]
    pairs = make(len(group), group=group, premise=[f"premise of {name}" for name in group], label=label)
    frame = pairs.split(Ratios(stratify=("label",)), seed=5).pairs.collect()
    whole = frame["label"].value_counts(normalize=True).sort("label")["proportion"]
    for name, share in (("train", 0.8), ("dev", 0.1), ("test", 0.1)):
        part = frame.filter(pl.col("split") == name)
        assert len(part) == pytest.approx(share * len(frame), abs=8)
        assert part["label"].value_counts(normalize=True).sort("label")["proportion"].to_list() == pytest.approx(
            whole.to_list(), abs=0.03
        )


def test_halves_give_the_odd_one_to_test() -> None:
    assert make(9927).split(Halves(by="pair")).splits == {"dev": 4963, "test": 4964}
    assert make(9927).split(Halves()).splits == {"dev": 4962, "test": 4965}
    assert make(9927).split(Halves(dev_at_most=1000)).splits == {"dev": 999, "test": 8928}


def test_exclude_overlap_drops_training_pairs_only() -> None:
    pairs = make(
        6,
        premise=["a", "B.", "c", "A", "b", "a"],
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
    assert pairs.split(Verified(dev=30, test=30, by="pair")).splits == {"train": 240, "dev": 30, "test": 30}
    split = pairs.split(Verified(dev=30, test=30))
    # What is not verified, of premises that dev or test has, is not trained on.
    units = split.pairs.only(split=["dev", "test"]).collect()["group"].n_unique()
    assert split.splits == {"train": 300 - 3 * units, "dev": 30, "test": 30, "none": 3 * units - 60}
    assert set(splits_per_unit(split.pairs)) == {1}
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
    assert not testers & set(frame.filter(pl.col("split").is_in(["train", "dev"]))["writer"])
    assert (split.splits["test"], split.splits["dev"], split.dropped) == (30, 20, 0)
    beyond = frame.filter(pl.col("writer").is_in(testers) & (pl.col("split") != "test"))
    assert (len(beyond), set(beyond["split"])) == (len(testers) * 20 - 30, {"none"})
    assert set(splits_per_unit(split.pairs)) == {1}
    labels = frame.filter(pl.col("split") == "test")["label"].value_counts()["count"]
    assert labels.max() - labels.min() <= 2  # type: ignore[operator]
    named = pairs.split(ExclusiveWriters(test=12, writers=("w1", "w2"))).pairs.only(split="test").collect()
    assert set(named["writer"]) == {"w1", "w2"}
    with pytest.raises(InputError, match="writer 'nobody' wrote none"):
        pairs.split(ExclusiveWriters(test=1, writers=("nobody",)))
    with pytest.raises(InputError, match="the exclusive writers have 20 pairs"):
        pairs.split(ExclusiveWriters(test=30, writers=("w1",)))


def test_dev_as_test_draws_a_new_dev_from_train() -> None:
    pairs = make(130, split=["train"] * 80 + ["dev"] * 20 + ["test"] * 30)
    split = pairs.split(DevAsTest(), seed=3)
    # Of a unit in train and dev two pairs are in none, and one of the last unit drawn.
    assert (split.splits, split.dropped) == ({"train": 57, "dev": 20, "test": 20, "none": 3}, 30)
    assert set(split.pairs.only(split="test").collect()["id"]) == {f"{i:05}" for i in range(80, 100)}
    assert set(splits_per_unit(split.pairs)) == {1}
    by_pair = pairs.split(DevAsTest(by="pair"), seed=3)
    assert (by_pair.splits, by_pair.dropped) == ({"train": 60, "dev": 20, "test": 20}, 30)
    with pytest.raises(InputError, match="a dev split and a larger train split"):
        make(3).split(DevAsTest())


@pytest.mark.parametrize("ratios", ["80", "nan:1", "inf:1", "a:b", "1:2:3:4", "0:0", "-1:2", ""])
def test_ratios_that_make_no_sense_are_refused(ratios: str) -> None:
    with pytest.raises(InputError, match="are not understood"):
        make(3).split(Ratios(ratios=ratios))


def test_columns_that_cannot_part_pairs_are_refused() -> None:
    with pytest.raises(InputError, match=r"there is no column 'grop' to group by; did you mean 'group'"):
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

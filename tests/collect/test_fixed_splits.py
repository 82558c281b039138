"""Splits that a requester fixes: obeyed before the rest is drawn, and refused where they contradict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.fixed_splits import read_rules
from goldlabel.collect.data.hiding import DELETED, HIDDEN, hide_pair, hide_premise
from goldlabel.collect.data.importing.batches import add_all_pairs, add_all_premises
from goldlabel.collect.data.importing.known import known_premises
from goldlabel.collect.data.importing.pairs import NewPairs, read_pairs
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise, read_premises
from goldlabel.collect.data.splits import VerifiedSplits
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import PremiseRules, SplitRules, make_protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import events, pairs, premises
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from goldlabel.pairs import read
from tests.collect.campaign import join, small_protocol, verify_all, write_all

RULES = PremiseRules(shortest=1, longest=100)


def pool(split: str | None = "test") -> list[Premise]:
    texts = [f"Yesterday animal number {n} crossed the wet road." for n in range(8)]
    return [
        Premise(text=text, genre=("news", "letters")[n % 2], split=split if n == 0 else None)
        for n, text in enumerate(texts)
    ]


def test_a_column_fixes_splits() -> None:
    found = read_premises(b"premise,split\nIt rains.,dev\nIt snows.,\nIt thaws.,none\n", "a.csv", RULES).premises
    assert [one.split for one in found] == ["dev", None, None]
    with pytest.raises(Invalid, match=r"a.csv, line 2: split 'devel' is not one of train, dev, test"):
        read_premises(b"premise,split\nIt rains.,devel\n", "a.csv", RULES)
    with pytest.raises(Invalid, match="line 3: in test here and in dev elsewhere"):
        read_premises(b"premise,split\nIt rains.,dev\n It rains. ,test\n", "a.csv", RULES)


def test_rules_of_a_form() -> None:
    assert read_rules("news = test\n\n a=b = dev \n") == {"news": "test", "a=b": "dev"}
    for wrong in ("news", "news = devel", "news = dev\nnews = test"):
        with pytest.raises(Invalid):
            read_rules(wrong)
    with pytest.raises(Invalid, match="1 together"):
        SplitRules(dev_share=0.6, test_share=0.6)
    with pytest.raises(Invalid, match="train, dev, test"):
        SplitRules(genres={"news": "validation"})


def test_a_premise_is_not_in_two_splits(store: Store) -> None:
    protocol = small_protocol("single")
    ruled = replace(protocol, splits=replace(protocol.splits, genres={"news": "dev"}))
    with store.write() as tx:
        made = create_project(tx, "meadow", ruled, seed=7)
    with pytest.raises(Invalid, match=r"number 0.*' is fixed in test, but its genre 'news' is in dev"):
        add_all_premises(store, made.id, pool(), by=None)
    with store.write() as tx:
        configure(tx, made.id, protocol, by=None)
        add_premises(tx, made.id, pool(), by=None)
        with pytest.raises(Invalid, match="is fixed in test"):
            configure(tx, made.id, ruled, by=None)
        configure(tx, made.id, replace(ruled, splits=replace(ruled.splits, genres={"news": "test"})), by=None)
        assert project(tx, made.id).protocol.splits.genres == {"news": "test"}


def test_the_export_obeys_and_draws_the_rest(store: Store, tmp_path: Path) -> None:
    protocol = small_protocol("single", verifiers=1)
    rules = SplitRules(dev=3, test=6, genres={"letters": "train"})
    with store.write() as tx:
        made = create_project(tx, "meadow", replace(protocol, splits=rules), seed=7)
        add_premises(tx, made.id, pool("test"), by=None)
    write_all(store, made.id, join(store, made.id, "writer", 1))
    verify_all(store, made.id, join(store, made.id, "verifier", 1))
    export_project(store, made.id, tmp_path / "out")
    frame = read(tmp_path / "out").collect()
    fixed = frame.filter(pl.col("premise").str.contains("number 0 "))
    assert set(fixed["split"]) == {"test"}
    assert set(frame.filter(genre="letters")["split"]) == {"train"}
    counts = dict(frame["split"].value_counts().iter_rows())
    assert (counts["dev"], counts["test"]) == (3, 6)
    held = (
        frame.filter(pl.col("split").is_in(["train", "dev", "test"]))
        .group_by("premise")
        .agg(pl.col("split").n_unique())
    )
    assert set(held["split"]) == {1}


def test_fixed_dev_and_test_hold_verified_pairs_only() -> None:
    frame = pl.DataFrame(
        {
            "id": [str(n) for n in range(6)],
            "unit": [0, 0, 1, 1, 2, 3],
            "level": ["easy"] * 6,
            "label": ["neutral"] * 6,
            "writer": ["ann", "ann", "ann", "bob", "ann", "ann"],
            "votes": [["neutral"] * 2, ["neutral"], ["neutral"] * 2, ["neutral"] * 2, ["neutral"] * 2, ["neutral"] * 2],
            "split": ["dev", "dev", "train", "train", "none", "none"],
        }
    )
    plan = VerifiedSplits(dev=1, test=10, test_share=0.2, exclusive=("bob",))
    assert plan.assign(frame, 1).to_list()[:4] == ["dev", "none", "train", "none"]
    assert sorted(plan.assign(frame, 1).to_list()[4:]) == ["test", "train"]


def test_imported_pairs_keep_the_split_of_their_file(store: Store, tmp_path: Path) -> None:
    protocol = make_protocol("human-baseline", "en")
    protocol = replace(protocol, splits=replace(protocol.splits, genres={"news": "test"}))
    path = tmp_path / "pairs.csv"

    def bring(*rows: str) -> None:
        path.write_text("\n".join(("premise,hypothesis,genre,split", *rows)))
        with store.write() as tx:
            new = [*NewPairs(read_pairs(path, "nli3"), protocol, "imported")]
            import_pairs(tx, made.id, new, origin="imported", by=None)

    with store.write() as tx:
        made = create_project(tx, "meadow", protocol)
    bring("It rains.,It is wet.,,dev", "It hails.,It is cold.,,")
    with pytest.raises(Invalid, match="in dev here and in train elsewhere"):
        bring("It snows.,It is cold.,,train", "It snows.,It is wet.,,dev")
    with pytest.raises(Invalid, match="news"):
        bring("It snows.,It is cold.,news,train")
    with store.read() as tx:
        splits = {row.text: row.split for row in tx.all(select(premises.c.text, premises.c.split))}
    assert splits == {"It rains.": "dev", "It hails.": None}


def test_a_premise_that_came_before_is_not_brought_in_another_split(store: Store) -> None:
    with store.write() as tx:
        made = create_project(tx, "meadow", small_protocol("single"), seed=7)

    def bring(rows: str) -> int:
        known = known_premises(made.id)
        with store.read() as tx:
            known.catch_up(tx)
        return len(read_premises(f"premise,split\n{rows}".encode(), "a.csv", RULES, known=known).premises)

    add_all_premises(store, made.id, [Premise(text="It rains.", split="dev"), Premise(text="It hails.")], by=None)
    assert bring("It rains.,dev\nIt rains.,dev\nIt hails.,\nIt thaws.,test\n") == 1
    assert bring("It rains.,\n") == 0, "there already, and in no other split"
    for row, said in (("It rains.,test", "in test here.*in dev before"), ("It hails.,dev", "in dev.*in none before")):
        with pytest.raises(Invalid, match=f"line 3: {said}"):
            bring(f"It thaws.,dev\n{row}\n")
    with pytest.raises(Invalid, match=r"premise 'It rains\.': in test here, but its premise came in dev before"):
        add_all_premises(store, made.id, [Premise(text="It thaws."), Premise(text="It rains.", split="test")], by=None)
    with store.read() as tx:
        assert len(tx.all(select(premises.c.id))) == 2, "nothing was imported"


def test_pairs_of_a_premise_that_came_before_have_its_split(store: Store) -> None:
    protocol = make_protocol("human-baseline", "en")
    with store.write() as tx:
        made = create_project(tx, "meadow", protocol)

    def bring(*rows: tuple[str, str, str | None], origin: str = "imported") -> int:
        new = [NewPair(premise=a, hypothesis=b, split=split, label="neutral") for a, b, split in rows]
        return add_all_pairs(store, made.id, new, origin=origin, by=None)[1]

    assert bring(("It rains.", "It is wet.", "dev"), ("It hails.", "It is cold.", None)) == 2
    assert [bring(("It rains.", "It is wet.", None)), bring(("It rains.", "It is grey.", "dev"))] == [0, 1]
    said = r"pair 2: in {} here, but its premise came in {} before"
    for row, here, before in (
        (("It rains.", "It is dim.", None), "none", "dev"),
        (("It rains.", "It is wet.", "test"), "test", "dev"),
        (("It hails.", "It is loud.", "dev"), "dev", "none"),
    ):
        with pytest.raises(Invalid, match=said.format(here, before)):
            bring(("It thaws.", "It is mild.", "test"), row)
    with pytest.raises(Invalid, match="is in dev, but only pairs that are to be judged have splits"):
        bring(("It thaws.", "It is mild.", "dev"), origin="gold")
    assert bring(("It rains.", "It is dim.", None), origin="gold") == 1, "another purpose, other splits"
    with store.read() as tx:
        assert len(tx.all(select(pairs.c.id))) == 4


def test_a_premise_that_was_deleted_comes_back_in_another_split(store: Store) -> None:
    protocol = small_protocol("single")
    with store.write() as tx:
        made = create_project(tx, "meadow", protocol, seed=7)
    rain = Premise(text="It rains.", genre="news", split="dev")
    add_all_premises(store, made.id, [rain], by=None)
    with store.write() as tx:
        (first,) = tx.all(select(premises))
        hide_premise(tx, made.id, first.id, HIDDEN, by=None)
    corrected = replace(rain, split="test")
    with pytest.raises(Invalid, match="in test here, but its premise came in dev before"):
        add_all_premises(store, made.id, [corrected], by=None)
    with store.write() as tx:
        hide_premise(tx, made.id, first.id, DELETED, by=None)
    assert [add_all_premises(store, made.id, [corrected], by=None) for _ in range(2)] == [1, 0]
    with store.write() as tx:
        there = [(row.split, row.hidden) for row in tx.all(select(premises).order_by(premises.c.id))]
        kinds = [row.kind for row in tx.all(select(events.c.kind).order_by(events.c.id))]
        configure(tx, made.id, replace(protocol, splits=SplitRules(genres={"news": "test"})), by=None)
    assert there == [("dev", DELETED), ("test", None)]
    assert kinds[-2:] == ["premise.deleted", "premises.added"]


def test_a_pair_that_was_deleted_comes_back_in_another_split(store: Store) -> None:
    with store.write() as tx:
        made = create_project(tx, "meadow", make_protocol("human-baseline", "en"))
    wet = NewPair(premise="It rains.", hypothesis="It is wet.", split="dev")
    add_all_pairs(store, made.id, [wet], origin="imported", by=None)
    with store.write() as tx:
        (first,) = tx.all(select(pairs.c.id))
        hide_pair(tx, made.id, first.id, DELETED, by=None)
    counts = [add_all_pairs(store, made.id, [replace(wet, split="test")], origin="imported", by=None) for _ in "ab"]
    assert counts == [(1, 1), (1, 0)]
    with store.read() as tx:
        shown = (
            select(premises.c.split).join(pairs, pairs.c.premise_id == premises.c.id).where(pairs.c.hidden.is_(None))
        )
        assert [row.split for row in tx.all(shown)] == ["test"]

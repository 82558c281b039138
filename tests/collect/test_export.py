from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.collect.data.export import Section, export_project, split_pairs
from goldlabel.collect.data.snapshot import take_snapshot, verified
from goldlabel.collect.data.splits import VerifiedSplits
from goldlabel.collect.protocols import Protocol, SplitRules
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI3
from goldlabel.verify import verify
from tests.collect.campaign import (
    Projects,
    bring_pairs,
    join,
    meant,
    small_protocol,
    verify_all,
    write_all,
)

NLI = ("entailment", "neutral", "contradiction")


def halved(protocol: Protocol, dev: int, test: int) -> Protocol:
    return replace(protocol, splits=SplitRules(dev=dev, test=test))


def contrary(number: int, premise: str, hypothesis: str) -> str:
    """Three of four verifiers overrule the writer's neutral pairs; the first one finds hard pairs unrelated."""
    label = meant(number, premise, hypothesis)
    if number == 0 and hypothesis.endswith("hard"):
        return "unrelated"
    return "entailment" if label == "neutral" and number > 0 else label


@pytest.fixture
def projects() -> Iterator[Projects]:
    with Projects() as found:
        yield found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, int]]:
    """Two conditions, an exclusive writer, all verified; the tests only read it."""
    protocol = halved(small_protocol("multi,single"), 6, 12)
    with Projects() as found:
        store, project_id = found.open(tmp_path_factory.mktemp("site"), protocol, premises=5)
        writers = join(store, project_id, "writer", 2, condition="multi") + join(
            store, project_id, "writer", 1, condition="single"
        )
        alone = join(store, project_id, "writer", 1, exclusive=True, condition="multi")
        write_all(store, project_id, [*alone, *writers])
        verify_all(store, project_id, join(store, project_id, "verifier", 4), contrary)
        yield store, project_id


def exported(store: Store, project_id: int, folder: Path) -> pl.DataFrame:
    export_project(store, project_id, folder)
    return gl.read(folder).collect()


def test_the_record_is_whole(finished: tuple[Store, int], tmp_path: Path) -> None:
    frame = exported(*finished, tmp_path / "out")
    assert len(frame) == 5 * 9 + 5 * 3
    assert Counter(frame["condition"]) == {"multi": 45, "single": 15}
    assert Counter(frame.filter(condition="multi")["level"]) == {"easy": 15, "medium": 15, "hard": 15}
    assert frame.filter(condition="single")["level"].null_count() == 15
    assert {*frame["genre"]} == {"news", "letters"}
    assert frame["group"].n_unique() == frame["premise"].n_unique() == 5
    assert (frame["votes"].list.len() == 5).all()
    row = frame.filter((pl.col("level") == "easy") & (pl.col("hypothesis").str.contains("neutral"))).row(0, named=True)
    assert row["label"] == "entailment"
    assert row["votes"] == ["neutral", "neutral", "entailment", "entailment", "entailment"]
    meta = json.loads(row["meta"])
    assert meta["author_label"] == "neutral"
    assert meta["annotators"][0] == row["writer"]
    assert len({*meta["annotators"]}) == 5
    assert meta["seconds"] == [None, 3.0, 3.0, 3.0, 3.0]
    assert meta["timings"] == {"total": 30.0}
    assert len(meta["times"]) == 5


def test_no_login_leaves_the_store(finished: tuple[Store, int], tmp_path: Path) -> None:
    export_project(*finished, tmp_path / "out")
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file():
            assert b"writer-0" not in file.read_bytes()
            assert b"verifier-0" not in file.read_bytes()


def test_dev_and_test_are_verified_and_balanced_by_level(finished: tuple[Store, int], tmp_path: Path) -> None:
    frame = exported(*finished, tmp_path / "out")
    assert Counter(frame["split"])["dev"] == 6
    assert Counter(frame["split"])["test"] == 12
    held_out = frame.filter(pl.col("split").is_in(["dev", "test"]))
    assert (held_out["votes"].list.len() >= 2).all()
    levels = Counter(frame.filter(split="dev")["level"].fill_null("none"))
    assert max(levels.values()) - min(levels.values()) <= 1


def test_an_exclusive_writer_is_in_test_alone(finished: tuple[Store, int], tmp_path: Path) -> None:
    store, project_id = finished
    with store.read() as tx:
        (alone,) = take_snapshot(tx, project_id).exclusive
    theirs = exported(*finished, tmp_path / "out").filter(writer=alone)
    assert len(theirs) > 12
    assert {*theirs["split"]} == {"test", "none"}
    assert Counter(theirs["split"])["test"] == 12


def test_what_was_decided_vote_by_vote_is_what_all_votes_decide(finished: tuple[Store, int]) -> None:
    store, project_id = finished
    with store.read() as tx:
        snapshot = take_snapshot(tx, project_id)
    verification = verify(verified(snapshot.own), resamples=2)
    at_once = verification.pairs.collect()
    assert dict(snapshot.verdicts.iter_rows()) == dict(at_once.select("id", "label").iter_rows())
    assert split_pairs(snapshot).pairs.card.history[1] == verification.pairs.card.history[-1]
    assert {*snapshot.verdicts["verdict"]} == {"entailment", "contradiction"}, "neutral ones are overruled"


def test_no_premise_is_in_two_splits(finished: tuple[Store, int], tmp_path: Path) -> None:
    told = export_project(*finished, tmp_path / "out")
    whole, more = gl.read(tmp_path / "out").collect(), gl.read(tmp_path / "out" / "with-overlap").collect()
    places = whole.filter(pl.col("split") != "none").group_by("premise").agg(pl.col("split").n_unique())
    assert (places["split"] == 1).all()
    assert told.to_dict()["with_overlap"] == dict(Counter(more["split"]))
    store, project_id = finished
    with store.read() as tx:
        theirs = take_snapshot(tx, project_id).exclusive
    both = whole.sort("id"), more.sort("id")
    changed = both[0].filter(both[0]["split"] != both[1]["split"])
    assert {*changed["split"]} == {"none"}
    assert len(changed) == len(whole.filter((pl.col("split") == "none") & ~pl.col("writer").is_in(theirs))) > 0


def test_equal_states_give_equal_exports(finished: tuple[Store, int], tmp_path: Path) -> None:
    one, other = (exported(*finished, tmp_path / name) for name in ("one", "other"))
    assert one.equals(other)
    again = exported(*finished, tmp_path / "one")
    assert again.equals(one)


def test_labels_are_those_that_verify_gives(finished: tuple[Store, int], tmp_path: Path) -> None:
    export_project(*finished, tmp_path / "out")
    pairs = gl.read(tmp_path / "out")
    assert pairs.card.author == "first"
    found = verify(pairs, "condition")
    assert found.gold_differs == 0
    written = json.loads((tmp_path / "out" / "verification.json").read_text())
    for name, value in found.to_dict()["groups"]["multi"].items():
        assert name == "intervals" or written["groups"]["multi"][name] == pytest.approx(value)
    levels = {f'["multi", "{level}"]' for level in ("easy", "medium", "hard")}
    assert {*written["groups"]} == {"all", "multi", "single", *levels}
    assert written["groups"]['["multi", "hard"]']["unrelated"] == 20.0
    assert written["groups"]["all"]["intervals"]["gold_author"] is not None


def test_the_card_tells_agreement_and_what_others_add(finished: tuple[Store, int], tmp_path: Path) -> None:
    def describe(pairs: Pairs) -> Section | None:
        assert {*pairs.collect()["split"]} == {"train", "dev", "test", "none"}
        return Section(heading="Weather", text=f"{len(pairs)} pairs of rain", files={"rain.json": "{}\n"})

    export_project(*finished, tmp_path / "out", describe=[describe, lambda pairs: None])
    card = gl.read(tmp_path / "out").card
    assert "## Agreement" in card.description
    assert "| multi, hard | 15 | 15 |" in card.description
    assert "## Weather\n\n60 pairs of rain" in card.description
    assert "## Weather" in (tmp_path / "out" / "README.md").read_text()
    assert (tmp_path / "out" / "rain.json").read_text() == "{}\n"
    assert "collected in project 'meadow'" in card.history[0]
    protocol = json.loads((tmp_path / "out" / "protocol.json").read_text())
    assert Protocol.from_dict(protocol) == halved(small_protocol("multi,single"), 6, 12)


def test_the_ledger_is_a_table_of_lines(finished: tuple[Store, int], tmp_path: Path) -> None:
    export_project(*finished, tmp_path / "out")
    lines = list(csv.DictReader(io.StringIO((tmp_path / "out" / "ledger.csv").read_text())))
    assert len(lines) == 10 + 240
    assert sum(round(10000 * float(one["amount"])) for one in lines) == 3000 * 60 + 2000 * 240
    assert {one["currency"] for one in lines} == {"USD"}
    assert {one["kind"] for one in lines} == {"base"}
    assert lines[0]["reason"] == "written 9 pairs at 0.30 USD"


def test_a_snapshot_can_be_taken_while_people_work(projects: Projects, place: str, tmp_path: Path) -> None:
    store, project_id = projects.open(place, halved(small_protocol(), 3, 3), premises=3)
    writers, verifiers = join(store, project_id, "writer", 2), join(store, project_id, "verifier", 4)
    write_all(store, project_id, writers, most=2)
    verify_all(store, project_id, verifiers, most=30)
    frame = exported(store, project_id, tmp_path / "out")
    assert len(frame) == 18
    pending = [json.loads(meta).get("pending_votes") for meta in frame["meta"]]
    assert 0 < sum(one is not None for one in pending) < 18
    sizes = frame["votes"].list.len().to_list()
    assert {*sizes} == {1, 5}
    complete = sum(4 for size in sizes if size == 5)
    assert complete + sum(len(one) for one in pending if one) == 30
    assert all(size == 1 for size, one in zip(sizes, pending, strict=True) if one)
    unverified = frame.filter(pl.col("votes").list.len() == 1)
    assert {*unverified["split"]} <= {"train", "none"}
    assert (unverified["label"] == unverified["votes"].list.first()).all()
    write_all(store, project_id, writers)
    verify_all(store, project_id, verifiers)
    assert (exported(store, project_id, tmp_path / "out")["votes"].list.len() == 5).all()


def test_a_project_without_pairs_is_an_empty_dataset(projects: Projects, tmp_path: Path) -> None:
    store, project_id = projects.open(tmp_path / "site", small_protocol())
    told = export_project(store, project_id, tmp_path / "out").to_dict()
    assert (told["pairs"], told["splits"], told["with_overlap"], told["agreement"]) == (0, {}, None, None)
    assert len(gl.read(tmp_path / "out")) == 0


def test_foreign_pairs_are_held_against_own_ones(projects: Projects, tmp_path: Path) -> None:
    store, project_id = projects.open(tmp_path / "site", small_protocol("single"), premises=4)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    bring_pairs(store, project_id, 9, origin="foreign", labels=NLI)

    def doubtful(number: int, premise: str, hypothesis: str) -> str:
        return "unrelated" if "saying 3" in hypothesis else meant(number, premise, hypothesis)

    verify_all(store, project_id, join(store, project_id, "verifier", 4), doubtful)
    told = export_project(store, project_id, tmp_path / "out").to_dict()
    assert told["foreign"] == 9
    assert len(gl.read(tmp_path / "out")) == 12
    foreign = gl.read(tmp_path / "out" / "foreign").collect()
    assert len(foreign) == 9
    assert foreign["writer"].null_count() == 9
    assert (foreign["votes"].list.len() == 4).all()
    assert json.loads(foreign["meta"][0])["original_id"] == "x0"
    mixture = json.loads((tmp_path / "out" / "mixture.json").read_text())
    assert mixture["own"]["majority_label"]["value"] == 100.0
    assert mixture["foreign"]["majority_label"]["value"] == pytest.approx(100 * 8 / 9)
    assert mixture["foreign"]["votes"]["unrelated"] == 4
    assert "## Foreign pairs" in gl.read(tmp_path / "out").card.description


def test_a_human_baseline_is_scored_and_keeps_its_gold(projects: Projects, tmp_path: Path) -> None:
    protocol = small_protocol("human-baseline", verifiers=5)
    store, project_id = projects.open(tmp_path / "site", protocol)
    bring_pairs(store, project_id, 12, origin="imported", labels=NLI)

    def human(number: int, premise: str, hypothesis: str) -> str:
        if "saying 4" in hypothesis:  # no majority: counts as the most frequent gold label, the first in the alphabet
            return NLI[number % 3] if number < 4 else NLI[1]
        return "neutral" if "saying 5" in hypothesis else meant(number, premise, hypothesis)

    verify_all(store, project_id, join(store, project_id, "verifier", 5), human)
    told = export_project(store, project_id, tmp_path / "out").to_dict()
    baseline = told["human_baseline"]
    assert (baseline["pairs"], baseline["fallback"]) == (12, "contradiction")
    assert baseline["accuracy"]["value"] == pytest.approx(100 * 10 / 12)
    assert baseline["no_majority"]["value"] == pytest.approx(100 / 12)
    assert len(baseline["people"]) == 5
    frame = gl.read(tmp_path / "out").collect()
    assert Counter(frame["label"]) == dict.fromkeys(NLI, 4)
    assert (frame["votes"].list.len() == 5).all()
    assert {*frame["split"]} == {"none"}
    assert (tmp_path / "out" / "human_baseline.json").exists()


def test_a_human_baseline_without_gold_is_exported_without_a_score(projects: Projects, tmp_path: Path) -> None:
    store, project_id = projects.open(tmp_path / "site", small_protocol("human-baseline", verifiers=2))
    bring_pairs(store, project_id, 2, origin="imported", labels=("-",))
    verify_all(store, project_id, join(store, project_id, "verifier", 2), lambda *_: "neutral")
    told = export_project(store, project_id, tmp_path / "out").to_dict()
    assert (told["pairs"], told["verified"], told["human_baseline"]) == (2, 2, None)


def test_vetted_pairs_are_mapped_vote_by_vote(projects: Projects, tmp_path: Path) -> None:
    protocol = small_protocol("vetting", verifiers=3)
    store, project_id = projects.open(tmp_path / "site", protocol)
    bring_pairs(store, project_id, 3, origin="imported", labels=("-",))

    def scale(number: int, premise: str, hypothesis: str) -> str:
        if "saying 0" in hypothesis:
            return ("likely", "plausible", "technically_possible")[number]
        return "very_likely" if "saying 1" in hypothesis else ("impossible", "incomprehensible", "impossible")[number]

    verify_all(store, project_id, join(store, project_id, "verifier", 3), scale)
    export_project(store, project_id, tmp_path / "out")
    ordinal, mapped = gl.read(tmp_path / "out"), gl.read(tmp_path / "out" / "nli3")
    assert ordinal.collect().sort("hypothesis")["label"].to_list() == ["-", "very_likely", "impossible"]
    assert mapped.card.label_space == NLI3
    assert mapped.collect().sort("hypothesis")["label"].to_list() == ["neutral", "entailment", "contradiction"]
    assert "incomprehensible" in mapped.collect().sort("hypothesis")["votes"][2]


def test_a_folder_with_other_things_is_refused(finished: tuple[Store, int], tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("Years of work")
    with pytest.raises(InputError, match="is not empty and no dataset"):
        export_project(*finished, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "Years of work"


def test_a_failed_export_leaves_the_last_one(finished: tuple[Store, int], tmp_path: Path) -> None:
    before = exported(*finished, tmp_path / "out")

    def fail(pairs: Pairs) -> Section | None:
        raise RuntimeError("no figures")

    with pytest.raises(RuntimeError, match="no figures"):
        export_project(*finished, tmp_path / "out", describe=[fail])
    assert gl.read(tmp_path / "out").collect().equals(before)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "x"]),
            st.sampled_from([None, "easy", "hard"]),
            st.booleans(),
            st.integers(0, 9),
        ),
        max_size=40,
    ),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_whatever_the_sizes_nothing_leaks(rows: list[tuple[str, str | None, bool, int]], dev: int, test: int) -> None:
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(len(rows))],
            "split": ["none"] * len(rows),
            "votes": [["neutral"] * (5 if checked else 1) for _, _, checked, _ in rows],
            "level": [level for _, level, _, _ in rows],
            "writer": [writer for writer, _, _, _ in rows],
            "group": [f"premise-{premise}" for _, _, _, premise in rows],
            "unit": [premise for _, _, _, premise in rows],
        },
        schema={"votes": pl.List(pl.String), "unit": pl.Int64}
        | dict.fromkeys(("id", "split", "level", "writer", "group"), pl.String),
    )
    plan = VerifiedSplits(dev=dev, test=test, exclusive=("x",))
    assigned = frame.with_columns(plan.assign(frame, seed=3).alias("split"))
    counts = Counter(assigned["split"])
    assert counts["dev"] <= dev
    assert counts["test"] <= test
    held_out = assigned.filter(pl.col("split").is_in(["dev", "test"]))
    assert (held_out["votes"].list.len() > 1).all()
    assert {*assigned.filter(writer="x")["split"]} <= {"test", "none"}
    kept = assigned.filter(pl.col("split") != "none")
    assert (kept.group_by("group").agg(pl.col("split").n_unique())["split"] <= 1).all()
    alone = assigned.filter((pl.col("writer") != "x") & ~pl.col("group").is_in(held_out["group"].implode()))
    assert "none" not in {*alone["split"]}


def test_where_units_are_small_the_sizes_are_met_and_exclusive_writers_come_first() -> None:
    writers = ["x"] * 6 + ["a"] * 30
    frame = pl.DataFrame(
        {
            "id": [f"{number:02}" for number in range(36)],
            "split": ["none"] * 36,
            "votes": [["neutral"] * 5] * 36,
            "level": ["easy", "medium", "hard"] * 12,
            "writer": writers,
            "unit": [number // 2 for number in range(36)],
        }
    )
    plan = VerifiedSplits(dev=6, test=12, exclusive=("x",))
    assigned = frame.with_columns(plan.assign(frame, seed=3).alias("split"))
    assert Counter(assigned["split"])["dev"] == 6
    assert Counter(assigned["split"])["test"] == 12
    assert {*assigned.filter(writer="x")["split"]} == {"test"}
    small = VerifiedSplits(dev=100, test=200)
    counts = Counter(small.assign(frame, seed=3))
    assert counts["train"] == 0
    assert 8 <= counts["dev"] <= 12 < 20 <= counts["test"] <= 24


def test_verified_pairs_of_a_snapshot(finished: tuple[Store, int]) -> None:
    store, project_id = finished
    with store.read() as tx:
        snapshot = take_snapshot(tx, project_id)
    assert len(verified(snapshot.own)) == 60
    assert len(verified(snapshot.foreign)) == 0

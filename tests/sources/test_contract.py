"""One contract for every source: what its files hold comes in whole, named, and in the record's terms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from goldlabel.files import InputFile
from goldlabel.pairs import Pairs
from goldlabel.pairs.card import AUTHORS
from goldlabel.pairs.labels import ABSTENTIONS, NO_GOLD
from goldlabel.pairs.units import units_of
from goldlabel.sources import SOURCES, Source, add
from tests.sources.samples import SAMPLES, Sample


@dataclass(frozen=True)
class Case:
    """A sample, the pairs that came of it, and a folder to write to."""

    sample: Sample
    source: Source
    pairs: Pairs
    frame: pl.DataFrame
    folder: Path


def _name(sample: Sample) -> str:
    return f"{sample.source}:{next(iter(sample.files))}"


@pytest.fixture(scope="module", params=SAMPLES, ids=_name)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """Each sample, added once for all tests."""
    sample: Sample = request.param
    folder = tmp_path_factory.mktemp("source")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOLDLABEL_HOME", str(folder / "home"))
        added = add(sample.source, [sample.write(folder / "given")])
        assert added.problems == ()
        pairs = Pairs.from_frame(added.pairs.collect(), added.pairs.card)
        yield Case(sample, SOURCES.get(sample.source), pairs, pairs.collect(), folder)


def test_every_source_and_layout_has_a_sample() -> None:
    read = {
        (sample.source, number)
        for sample in SAMPLES
        for number, layout in enumerate(SOURCES.get(sample.source).layouts)
        if any(part.match(InputFile(Path("folder") / name)) is not None for part in layout for name in sample.files)
    }
    wanted = {(name, number) for name in SOURCES for number, _ in enumerate(SOURCES.get(name).layouts)}
    assert wanted - read == set()


@pytest.mark.parametrize("name", SOURCES)
def test_card_is_complete(name: str) -> None:
    source = SOURCES.get(name)
    assert source.name == name
    assert all((source.title, source.paper, source.licence, source.description, source.language))
    assert source.address.startswith(("https://", "http://", "hf:"))
    assert source.checksum is None or source.checksum.partition(":")[0] in ("md5", "sha256")
    assert set(source.label_map.values()) <= {*source.label_space.labels, NO_GOLD}
    assert source.author in AUTHORS


def test_all_pairs_come_in(case: Case) -> None:
    assert len(case.frame) == case.sample.pairs
    assert set(case.frame["split"]) == case.sample.splits
    assert set(case.frame["dataset"]) == {case.source.name}
    assert set(case.frame["language"]) == {case.source.language}
    assert case.frame["premise"].str.strip_chars().str.len_chars().min() > 0  # type: ignore[operator]


def test_labels_and_votes_are_words_of_the_space(case: Case) -> None:
    labels = set(case.source.label_space.labels)
    assert set(case.frame["label"]) <= labels | {NO_GOLD}
    assert set(case.frame["label"]) != {NO_GOLD}
    assert set(case.frame["votes"].explode().drop_nulls()) <= labels | set(ABSTENTIONS)
    assert case.pairs.card.author == case.source.author


def test_ids_are_unique_and_the_same_from_an_archive(case: Case) -> None:
    zipped = add(case.source.name, [case.sample.zip(case.folder / "release.zip")]).pairs.collect()
    assert case.frame["id"].is_unique().all()
    assert case.frame.sort("id").equals(zipped.sort("id"))


def test_what_the_record_has_no_column_for_is_in_meta(case: Case) -> None:
    kept = {name for meta in case.frame["meta"].drop_nulls() for name in json.loads(meta)}
    assert case.sample.meta in kept if case.sample.meta else not kept
    tags = {*case.frame["tags"].explode().drop_nulls()}
    assert case.sample.tags in tags if case.sample.tags else not tags


def test_groups_are_those_of_the_release_and_no_unit_is_in_two_splits(case: Case) -> None:
    assert case.frame["group"].drop_nulls().n_unique() == case.sample.groups
    for seed in range(3):
        split = case.pairs.split("40:30:30", seed=seed).pairs.collect()
        units = pl.DataFrame({"unit": units_of(split), "group": split["group"], "split": split["split"]})
        for column in ("unit", "group"):
            spread = units.drop_nulls(column).group_by(column).agg(pl.col("split").n_unique())["split"]
            assert set(spread) <= {1}


def test_a_broken_row_is_reported_with_its_line(case: Case) -> None:
    added = add(case.source.name, [case.sample.write(case.folder / "spoilt", broken=True)])
    assert [problem.line for problem in added.problems] == [case.sample.broken_line]
    assert added.problems[0].where.endswith(next(iter(case.sample.broken)))
    assert "--" not in added.problems[0].message
    assert added.pairs.collect().equals(case.frame)
    assert added.pairs.card.problems == 1


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if SOURCES.get(sample.source).evaluation], ids=_name)
def test_the_evaluation_plan_runs(sample: Sample, tmp_path: Path, home: Path) -> None:
    evaluation = SOURCES.get(sample.source).evaluation
    assert evaluation is not None
    pairs = add(sample.source, [sample.write(tmp_path / "given")]).pairs.only(split=list(evaluation.of))
    split = pairs.split(evaluation.plan, seed=1)
    assert sum(split.splits.values()) + split.dropped == len(pairs)
    assert split.splits.get("dev", 0) <= split.splits["test"]
    assert split.splits == pairs.split(evaluation.plan, seed=1).splits

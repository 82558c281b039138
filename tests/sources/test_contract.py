"""One contract for every source: what its files hold comes in whole, named, and in the record's terms."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from goldlabel.pairs.labels import ABSTENTIONS, NO_GOLD
from goldlabel.sources import SOURCES, add
from tests.sources.samples import SAMPLES, Sample

each_sample = pytest.mark.parametrize(
    "sample", SAMPLES, ids=[f"{sample.source}:{next(iter(sample.files))}" for sample in SAMPLES]
)


def collect(sample: Sample, path: Path) -> pl.DataFrame:
    added = add(sample.source, [path])
    assert added.problems == ()
    return added.pairs.collect()


def test_every_source_and_layout_has_a_sample() -> None:
    read = {
        (sample.source, number)
        for sample in SAMPLES
        for number, layout in enumerate(SOURCES.get(sample.source).layouts)
        if any(_names_file(part.pattern, name) for part in layout for name in sample.files)
    }
    wanted = {(name, number) for name in SOURCES for number, _ in enumerate(SOURCES.get(name).layouts)}
    assert wanted - read == set()


def _names_file(pattern: str, name: str) -> bool:
    from goldlabel.files import InputFile
    from goldlabel.sources.source import SourceFile, jsonl

    return SourceFile(pattern, "none", jsonl()).match(InputFile(Path("folder") / name)) is not None


@pytest.mark.parametrize("name", SOURCES)
def test_card_is_complete(name: str) -> None:
    source = SOURCES.get(name)
    assert source.name == name
    assert all((source.title, source.paper, source.licence, source.description, source.language))
    assert source.address.startswith(("https://", "http://", "hf:"))
    assert source.checksum is None or source.checksum.partition(":")[0] in ("md5", "sha256")
    assert set(source.label_map.values()) <= {*source.label_space.labels, NO_GOLD}


@each_sample
def test_all_pairs_come_in(sample: Sample, tmp_path: Path, home: Path) -> None:
    frame = collect(sample, sample.write(tmp_path / "given"))
    assert len(frame) == sample.pairs
    assert set(frame["split"]) == sample.splits
    assert set(frame["dataset"]) == {sample.source}
    assert set(frame["language"]) == {SOURCES.get(sample.source).language}
    assert frame["premise"].str.strip_chars().str.len_chars().min() > 0  # type: ignore[operator]


@each_sample
def test_labels_and_votes_are_words_of_the_space(sample: Sample, tmp_path: Path, home: Path) -> None:
    frame = collect(sample, sample.write(tmp_path / "given"))
    labels = set(SOURCES.get(sample.source).label_space.labels)
    assert set(frame["label"]) <= labels | {NO_GOLD}
    assert set(frame["label"]) != {NO_GOLD}
    assert set(frame["votes"].explode().drop_nulls()) <= labels | set(ABSTENTIONS)


@each_sample
def test_ids_are_unique_and_stable_and_the_same_from_an_archive(sample: Sample, tmp_path: Path, home: Path) -> None:
    first = collect(sample, sample.write(tmp_path / "given"))
    again = collect(sample, tmp_path / "given")
    zipped = collect(sample, sample.zip(tmp_path / "release.zip"))
    assert first["id"].is_unique().all()
    assert first.equals(again)
    assert first.sort("id").equals(zipped.sort("id"))


@each_sample
def test_what_the_record_has_no_column_for_is_in_meta(sample: Sample, tmp_path: Path, home: Path) -> None:
    frame = collect(sample, sample.write(tmp_path / "given"))
    kept = {name for meta in frame["meta"].drop_nulls() for name in json.loads(meta)}
    assert {sample.meta} <= kept | {None}
    assert {sample.tags} <= {*frame["tags"].explode(), None}


@each_sample
def test_a_broken_row_is_reported_with_its_line(sample: Sample, tmp_path: Path, home: Path) -> None:
    whole = collect(sample, sample.write(tmp_path / "given"))
    added = add(sample.source, [sample.write(tmp_path / "spoilt", broken=True)])
    assert [problem.line for problem in added.problems] == [sample.broken_line]
    assert added.problems[0].where.endswith(next(iter(sample.broken)))
    assert "--" not in added.problems[0].message
    assert added.pairs.collect().equals(whole)
    assert added.pairs.card.problems == 1


@each_sample
def test_the_evaluation_plan_runs(sample: Sample, tmp_path: Path, home: Path) -> None:
    evaluation = SOURCES.get(sample.source).evaluation
    pairs = add(sample.source, [sample.write(tmp_path / "given")]).pairs
    if evaluation is None:
        return
    chosen = pairs.only(split=list(evaluation.of))
    split = chosen.split(evaluation.plan, seed=1)
    assert sum(split.splits.values()) + split.dropped == len(chosen)
    assert split.splits["dev"] <= split.splits["test"]
    assert split.splits == chosen.split(evaluation.plan, seed=1).splits

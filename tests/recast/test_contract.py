"""One contract for every recaster: what its files say comes out as pairs, named, split and repeatable."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.recast import RECASTERS, Options, run_recast
from tests.recast import samples

Write = Callable[[Path], list[Path]]

SAMPLES: dict[str, Write] = dict(samples.SAMPLES)
BROKEN = dict(samples.BROKEN)
if importlib.util.find_spec("tests.recast.samples_more"):
    from tests.recast import samples_more

    SAMPLES |= samples_more.SAMPLES
    BROKEN |= getattr(samples_more, "BROKEN", {})

STYLES = get_args(get_type_hints(Options)["style"])
each_style = pytest.mark.parametrize("style", STYLES)
each_recaster = pytest.mark.parametrize("name", sorted(SAMPLES))


def recast(name: str, folder: Path, **options: str) -> pl.DataFrame:
    return run_recast(name, SAMPLES[name](folder), Options(**options)).pairs.collect()  # type: ignore[arg-type]


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_every_recaster_has_a_sample() -> None:
    assert set(RECASTERS) == set(SAMPLES)


@pytest.mark.parametrize("name", RECASTERS)
def test_every_recaster_says_what_it_is(name: str) -> None:
    one = RECASTERS.get(name)
    assert one.name == name
    assert all((one.phenomenon, one.title, one.paper, one.sources))


@each_style
@each_recaster
def test_pairs_are_records_of_their_source(name: str, style: str, tmp_path: Path) -> None:
    frame = recast(name, tmp_path / "given", style=style)
    recaster = RECASTERS.get(name)
    assert len(frame) > 1
    assert frame["id"].is_unique().all()
    assert frame["id"].str.starts_with(f"{name}-").all()
    assert set(frame["label"]) <= {*recaster.label_space.labels, "-"}
    assert set(frame["split"]) <= {"train", "dev", "test"}
    assert set(frame["dataset"]) == {name}
    assert frame["tags"].to_list() == [[recaster.phenomenon]] * len(frame)
    for meta in map(json.loads, frame["meta"]):
        assert {"source_id", "corpus", "licence", "creation"} <= meta.keys()


@each_style
@each_recaster
def test_pairs_of_one_item_stay_together(name: str, style: str, tmp_path: Path) -> None:
    frame = recast(name, tmp_path / "given", style=style)
    item = frame.with_columns(pl.col("meta").str.json_path_match("$.source_id").alias("item"))
    for key in ("item", "group"):
        assert item.group_by(key).agg(pl.col("split").n_unique())["split"].to_list().count(1) == item[key].n_unique()


@each_recaster
def test_in_the_plain_style_no_text_stands_in_two_splits(name: str, tmp_path: Path) -> None:
    frame = recast(name, tmp_path / "given", style="plain")
    assert frame.group_by("premise").agg(pl.col("split").n_unique())["split"].max() == 1


@each_style
@each_recaster
def test_the_same_files_and_seed_give_the_same_bytes(name: str, style: str, tmp_path: Path) -> None:
    options = Options(style=style, seed=3)  # type: ignore[arg-type]
    runs = [run_recast(name, SAMPLES[name](tmp_path / "given"), options, output=tmp_path / out) for out in "ab"]
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    again = run_recast(name, SAMPLES[name](tmp_path / "given"), options).pairs.collect()
    assert runs[0].pairs.collect().sort("id").equals(again.sort("id"))


@each_recaster
def test_each_policy_costs_what_is_reported(name: str, tmp_path: Path) -> None:
    files = SAMPLES[name](tmp_path / "given")
    whole = run_recast(name, files, Options(style="dnc"))
    size = len(whole.pairs)
    for choice, key in ((Options(style="dnc", person="conservative"), "person=conservative"),
                        (Options(style="dnc", questions="remove"), "questions=remove"),
                        (Options(style="dnc", person="observer"), "person=observer")):  # fmt: skip
        lost = whole.policies[key]
        if lost == size:
            with pytest.raises(InputError, match="gives no pair"):
                run_recast(name, files, choice)
            continue
        kept = run_recast(name, files, choice)
        assert size - len(kept.pairs) == lost
        assert kept.policies == whole.policies


@each_recaster
def test_counts_add_up(name: str, tmp_path: Path) -> None:
    run = run_recast(name, SAMPLES[name](tmp_path / "given"), Options(style="dnc"))
    told = run.to_dict()
    assert told["pairs"] == sum(told["labels"].values()) == sum(told["splits"].values())
    assert 0 < told["events"] <= told["pairs"]
    assert all(one["n"] > 0 and one["reason"] for one in told["skipped"])


@each_recaster
def test_a_limit_keeps_the_first_pairs(name: str, tmp_path: Path) -> None:
    files = SAMPLES[name](tmp_path / "given")
    whole = run_recast(name, files, Options(style="dnc")).pairs.collect()
    assert run_recast(name, files, Options(style="dnc"), limit=1).pairs.collect().equals(whole.head(1))


@each_recaster
def test_a_file_of_something_else_is_refused(name: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("A list of ferns.\n\nNone of it is annotated.\n")
    with pytest.raises(InputError, match=r"notes\.md"):
        run_recast(name, [notes], Options(), output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@each_recaster
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        run_recast(name, [tmp_path / "nowhere.csv"], Options())


@each_recaster
def test_a_file_in_utf_16_gives_one_line(name: str, tmp_path: Path) -> None:
    for file in SAMPLES[name](tmp_path / "given"):
        narrow = file.read_bytes()
        file.write_bytes(narrow.decode("utf-8", "replace").encode("utf-16"))
        with pytest.raises(InputError, match=rf"^{file}: is UTF-16, .*; convert"):
            run_recast(name, [tmp_path / "given"], output=tmp_path / "out")
        file.write_bytes(narrow)


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, faults in sorted(BROKEN.items()) for number in range(len(faults))]
)
def test_a_broken_file_gives_one_line_and_no_output(name: str, number: int, tmp_path: Path) -> None:
    write, message = BROKEN[name][number]
    files = write(tmp_path / "given")
    with pytest.raises(InputError, match=message) as caught:
        run_recast(name, files, Options(), output=tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["given"]

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.executors import Here, open_executor
from goldlabel.files import sha256
from goldlabel.recast import Options
from goldlabel.recast.collection import find_parts, recast_all
from goldlabel.recast.parts import PARTS
from tests.recast.samples import megaveridicality, puns, sentiment, winogender


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    sentiment(folder / "sentiment")
    winogender(folder / "winogender")
    megaveridicality(folder / "megaveridicality" / "mega-veridicality-v2")
    puns(folder / "puns" / "semeval2017_task7" / "data" / "test")
    return folder


@pytest.mark.parametrize("style", ["dnc", "plain"])
def test_a_collection_is_one_dataset_with_table_card_and_manifest(style: str, sources: Path, tmp_path: Path) -> None:
    options = Options(style=style)  # type: ignore[arg-type]
    made = recast_all(sources, tmp_path / "out", options)
    pairs = gl.read(tmp_path / "out")
    assert set(pairs.collect()["dataset"]) == {"sentiment", "winogender", "megaveridicality", "puns-semeval"}
    assert len(pairs) == sum(row["ours"] or 0 for row in made.rows) == made.to_dict()["pairs"]
    assert [row["dataset"] for row in made.rows] == [part.name for part in PARTS]
    table = {row["dataset"]: row for row in json.loads((tmp_path / "out" / "table.json").read_text())}
    assert table["sentiment"]["published"] == 6000
    assert table["sentiment"]["difference"] == table["sentiment"]["ours"] - 6000
    assert table["puns-yang"]["explanation"] == "not in the folder"
    assert "| Sentiment Analysis | sentiment | 6,000 |" in (tmp_path / "out" / "README.md").read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == sha256(tmp_path / "out" / name)
    assert {"train.parquet", "card.json", "README.md", "table.json"} <= manifest["files"].keys()
    assert "sentiment/imdb_labelled.txt" in manifest["sources"]
    assert made.table.height == len(PARTS)
    assert "4 datasets" in made.title


def test_the_same_seed_gives_the_same_bytes_wherever_the_files_lie(sources: Path, tmp_path: Path) -> None:
    recast_all(sources, tmp_path / "a", Options(seed=5))
    sources.rename(tmp_path / "elsewhere")
    recast_all(tmp_path / "elsewhere", tmp_path / "b", Options(seed=5))
    first, second = ({path.name: sha256(path) for path in (tmp_path / out).iterdir()} for out in "ab")
    assert first == second


def test_a_limit_is_of_each_part_and_bytes_are_told(sources: Path, tmp_path: Path) -> None:
    read: list[int] = []
    recast_all(sources, tmp_path / "out", limit=4, on_bytes=read.append)
    assert sum(read) > 0
    counts = gl.read(tmp_path / "out").collect()["dataset"].value_counts()
    assert set(counts["dataset"]) == {part.name for part in find_parts(sources)}
    assert max(counts["count"]) <= 4


def test_datasets_made_side_by_side_are_the_same_bytes(sources: Path, tmp_path: Path) -> None:
    recast_all(sources, tmp_path / "one")
    read: list[int] = []
    with open_executor("processes", 2) as workers:
        recast_all(sources, tmp_path / "many", on_bytes=read.append, executor=workers)
    one, many = ({path.name: sha256(path) for path in (tmp_path / out).iterdir()} for out in ("one", "many"))
    assert one == many
    assert sum(read) <= sum(path.stat().st_size for path in sources.rglob("*") if path.is_file())


def test_what_was_made_before_it_was_broken_off_is_not_made_again(sources: Path, tmp_path: Path) -> None:
    real, made = Here(), list[str]()

    class BreaksOff:
        def run(self, function: Any, work: Any, on_done: Any, **options: Any) -> None:
            made.extend(work)
            real.run(function, dict(list(work.items())[:2]), on_done, **options)
            if len(work) > 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recast_all(sources, tmp_path / "out", executor=BreaksOff())
    assert not (tmp_path / "out").exists()
    first, made[:] = list(made), []
    recast_all(sources, tmp_path / "out", executor=BreaksOff())
    assert made == first[2:]
    recast_all(sources, tmp_path / "whole")
    one, two = ({path.name: sha256(path) for path in (tmp_path / out).iterdir()} for out in ("out", "whole"))
    assert one == two
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "sources", "whole"]


def test_one_broken_source_stops_all_and_leaves_nothing(sources: Path, tmp_path: Path) -> None:
    (sources / "sentiment" / "yelp_labelled.txt").write_text("Fine soup.\n")
    with pytest.raises(InputError, match=r"yelp_labelled\.txt line 1"):
        recast_all(sources, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["sources"]


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no source that can be recast"):
        recast_all(tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="is no folder"):
        recast_all(tmp_path / "nowhere", tmp_path / "out")

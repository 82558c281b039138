from __future__ import annotations

import gzip
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import goldlabel as gl
from goldlabel.errors import InputError, UnknownNameError
from goldlabel.files import InputFile
from goldlabel.recast import RECASTERS, Options, Recaster, Recasting, Skipped, run_recast
from goldlabel.recast.chance import made_split
from goldlabel.recast.run import OVERLAP, ROWS_PER_BLOCK
from tests.recast.samples import SAMPLES, sentiment


def pair(number: int, **fields: str) -> Recasting:
    given = {
        "premise": f"Lamp {number} is lit.",
        "hypothesis": "A lamp is lit.",
        "label": "entailment",
        "source_id": str(number),
        "corpus": "lamps",
        "licence": "CC0",
    }
    return Recasting(**(given | fields))  # type: ignore[arg-type]


@pytest.fixture
def lamps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Registers a recaster ``lamps`` that gives ``lamps.items``; returns its file."""
    monkeypatch.setattr(RECASTERS, "_own", dict(RECASTERS._own))

    def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
        with files[0].open() as stream:
            stream.read()
        yield from ITEMS

    RECASTERS.add(
        "lamps",
        Recaster(name="lamps", phenomenon="light", title="Lamps", paper="none", sources="any file", recast=recast),
    )
    file = tmp_path / "lamps.txt"
    file.write_text("lamps\n")
    return [file]


ITEMS: list[Recasting | Skipped] = []


@pytest.fixture(autouse=True)
def _no_items() -> None:
    ITEMS.clear()


def test_made_splits_have_their_shares_and_depend_on_group_and_seed() -> None:
    splits = [made_split(0, f"group {number}") for number in range(20_000)]
    shares = Counter(splits)
    assert shares["train"] == pytest.approx(16_000, abs=200)
    assert shares["dev"] == pytest.approx(2_000, abs=150)
    assert splits != [made_split(1, f"group {number}") for number in range(20_000)]
    assert [made_split(0, f"group {number}") for number in range(9)] == [
        "dev", "train", "train", "train", "train", "dev", "test", "train", "train",
    ]  # fmt: skip


def test_blocks_are_written_as_they_come(lamps: list[Path], tmp_path: Path) -> None:
    ITEMS.extend(pair(number) for number in range(2 * ROWS_PER_BLOCK + 7))
    run = run_recast("lamps", lamps, output=tmp_path / "out")
    assert len(gl.read(tmp_path / "out")) == run.events == 2 * ROWS_PER_BLOCK + 7
    assert run.pairs.card.licence == "CC0"
    assert "lamps.txt" in run.pairs.card.history[0]
    assert str(tmp_path) not in (tmp_path / "out" / "card.json").read_text()


def test_bytes_are_reported_whoever_reads(lamps: list[Path]) -> None:
    ITEMS.append(pair(1))
    seen: list[int] = []
    run_recast("lamps", lamps, on_bytes=seen.append)
    assert sum(seen) == lamps[0].stat().st_size


def test_pairs_keep_the_source_split_and_in_plain_lose_what_is_held_out(lamps: list[Path], tmp_path: Path) -> None:
    ITEMS.extend(
        [
            pair(1, split="train"),
            pair(2, split="train"),
            pair(3, split="dev", premise="Lamp 1 is lit."),
            pair(4, split="test", premise="Lamp 1 is lit."),
        ]
    )
    assert Counter(run_recast("lamps", lamps, Options(style="dnc")).pairs.collect()["split"]) == {
        "train": 2, "dev": 1, "test": 1,
    }  # fmt: skip
    for output in (None, tmp_path / "out"):
        run = run_recast("lamps", lamps, Options(style="plain"), output=output)
        assert dict(run.pairs.collect().select("id", "split").iter_rows()) == {
            "lamps-2-1": "train",
            "lamps-4-1": "test",
        }
        assert run.skipped == {OVERLAP: 2}
        assert run.to_dict()["pairs"] == 2


def test_a_group_goes_into_one_split(lamps: list[Path]) -> None:
    ITEMS.extend(pair(number, group=f"street {number % 5}") for number in range(200))
    frame = run_recast("lamps", lamps).pairs.collect()
    assert len(set(zip(frame["group"], frame["split"], strict=True))) == 5


def test_skipped_is_counted_by_reason(lamps: list[Path]) -> None:
    ITEMS.extend([pair(1), Skipped("2", "dark"), Skipped("3", "dark"), Skipped("4", "broken")])
    assert run_recast("lamps", lamps).to_dict()["skipped"] == [{"reason": "dark", "n": 2}, {"reason": "broken", "n": 1}]


def test_an_item_that_comes_back_later_is_refused(lamps: list[Path], tmp_path: Path) -> None:
    ITEMS.extend([pair(1), pair(2), pair(1)])
    for output in (None, tmp_path / "out"):
        with pytest.raises(InputError, match="an earlier line and a later line both hold the item '1'"):
            run_recast("lamps", lamps, output=output)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["sentiment", "winogender", "megaveridicality"])
def test_two_folders_with_one_id_are_both_named(name: str, tmp_path: Path) -> None:
    for folder in ("mine", "yours"):
        files = SAMPLES[name](tmp_path / folder)
    pattern = rf"mine/{files[0].name} line \d+ and .*yours/{files[0].name} line \d+ both hold the item '"
    with pytest.raises(InputError, match=pattern):
        run_recast(name, [tmp_path / "mine", tmp_path / "yours"])


def test_a_file_packed_and_unpacked_is_one(tmp_path: Path) -> None:
    files = sentiment(tmp_path)
    alone = run_recast("sentiment", files).pairs.collect()
    for file in files:
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for file in files:
            archive.write(file, file.name)
    assert run_recast("sentiment", [tmp_path]).pairs.collect().sort("id").equals(alone.sort("id"))


def test_what_is_remarked_of_pairs_is_counted(lamps: list[Path]) -> None:
    ITEMS.extend([pair(1, remark="flickers"), pair(2), pair(3, remark="flickers")])
    assert run_recast("lamps", lamps).to_dict()["remarks"] == [{"remark": "flickers", "n": 2}]


def test_a_label_outside_the_space_is_refused(lamps: list[Path]) -> None:
    ITEMS.append(pair(1, label="maybe"))
    with pytest.raises(InputError, match="lamps: label 'maybe'"):
        run_recast("lamps", lamps)


def test_nothing_to_recast_is_said(lamps: list[Path]) -> None:
    ITEMS.append(Skipped("1", "dark"))
    with pytest.raises(InputError, match=r"lamps\.txt: gives no pair \(dark: 1\); lamps takes any file"):
        run_recast("lamps", lamps)


def test_names_and_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sentiment'"):
        run_recast("sentiments", sentiment(tmp_path))
    with pytest.raises(InputError, match="sentiment has no setting 'thing'; allowed: item"):
        run_recast("sentiment", sentiment(tmp_path), Options(settings={"thing": "hotel"}))


def test_a_folder_of_something_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty and no dataset"):
        run_recast("sentiment", sentiment(tmp_path / "given"), output=tmp_path / "out")
    with pytest.raises(InputError, match="is a file"):
        run_recast("sentiment", sentiment(tmp_path / "given"), output=tmp_path / "out" / "thesis.txt")

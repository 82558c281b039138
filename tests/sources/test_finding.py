"""A name that both a source and something here have."""

from __future__ import annotations

from pathlib import Path

import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.sources import add, find
from tests.sources.test_bad_input import sick

ROW = '{"premise": "A heron stands.", "hypothesis": "A bird stands.", "label": "entailment"}\n'


@pytest.fixture
def here(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, beside a library that has SICK."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "SICK_train.txt").write_text(sick())
    add("sick", [files])
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_dataset_here_is_meant_before_a_source_and_that_is_told(here: Path) -> None:
    notes: list[str] = []
    gl.from_rows([("A heron stands.", "A bird stands.", "entailment")]).write("sick")
    assert [pair["premise"] for pair in find("sick", on_note=notes.append)] == ["A heron stands."]
    [note] = notes
    assert len(find(note.split()[-1])) > 1, "the note names the source's place"


def test_a_folder_of_files_is_told_apart_by_the_user(here: Path, home: Path) -> None:
    (here / "sick").mkdir()
    (here / "sick" / "mine.jsonl").write_text(ROW)
    with pytest.raises(InputError, match=r"'sick' is a source, and also a folder here; write \./sick for") as refused:
        find("sick")
    assert str(home) in str(refused.value)
    assert len(find("./sick")) == len(find("sick/")) == 1
    (here / "snli").mkdir()
    (here / "snli" / "mine.jsonl").write_text(ROW)
    with pytest.raises(InputError, match=r"write \./snli .* goldlabel data add snli snli"):
        find("snli")


def test_what_cannot_be_pairs_does_not_hide_a_source(here: Path) -> None:
    (here / "sick").mkdir()
    (here / "sick" / "LICENCE").write_text("Free.")
    assert len(find("sick")) > 1
    (here / "rte").write_text(ROW)
    with pytest.raises(InputError, match="rte is not in"):
        find("rte")
    assert len(find("rte", format="jsonl")) == 1
    (here / "mine").write_text(ROW)
    with pytest.raises(InputError, match="tells no format"):
        find("mine")

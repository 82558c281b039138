"""Reading annotated files: names, headers, encodings and XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.reading import distinct_names, header_of, split_of, table_rows, text_rows
from goldlabel.sources.markup import parse_xml
from tests.recast.samples_more import put


def test_a_space_around_a_column_s_name_is_no_part_of_it(tmp_path: Path) -> None:
    file = InputFile(put(tmp_path, "a.csv", 'label, "text" \n1, two\n'))
    assert list(table_rows(file, ("label",))) == [(2, {"label": "1", '"text"': " two"})]
    assert header_of(InputFile(put(tmp_path, "b.tsv", " a\tb \n")), "\t") == ["a", "b"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_characters_are_refused(encoding: str, tmp_path: Path) -> None:
    file = InputFile(put(tmp_path, "a.txt", "Rain fell.\nSnow fell.\n", encoding))
    with pytest.raises(InputError, match=r"a\.txt: (?:is|holds NUL bytes, as) UTF-(?:16|32)"):
        list(text_rows(file))


def test_names_are_as_long_as_they_must_be(tmp_path: Path) -> None:
    paths = ["a/x/dev.txt", "b/x/dev.txt", "b/y/dev.txt", "b/y/log.txt"]
    files = [InputFile(tmp_path / path) for path in paths] + [InputFile(tmp_path / "all.zip", "y/dev.txt")]
    assert list(distinct_names(files).values()) == [
        "a/x/dev.txt",
        "b/x/dev.txt",
        "b/y/dev.txt",
        "log.txt",
        "all.zip/y/dev.txt",
    ]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.c.txt", "train"),
        ("eng.testa", "dev"),
        ("my-valid.conll", "dev"),
        ("contest.txt", None),
        ("DEV.txt", "dev"),
    ],
)
def test_a_file_s_name_tells_its_split(name: str, split: str | None) -> None:
    assert split_of(InputFile(Path(name))) == split


def test_xml_elements_know_their_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "a.xml", "<!DOCTYPE a SYSTEM 'a.dtd'>\n<a>\n<!-- <b/> -->\n\n<b x='é'/><b/></a>")
    root, lines = parse_xml(InputFile(path))
    assert [lines[element] for element in root.iter()] == [2, 5, 5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE a [\n<!ENTITY b "c">]><a>&b;</a>', "line 2: declares an entity"),
        ('<!DOCTYPE a [\n<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>', "line 2: declares an entity"),
        ("<a>\n<b></a>", "line 2: is not well-formed"),
        ("", "line 1: is not well-formed"),
        ('<?xml version="1.0" encoding="klingon"?><a/>', "line 1: "),
        ('<?xml version="1.0" encoding="shift_jis"?><a/>', "line 1: "),
    ],
)  # fmt: skip
def test_bad_xml_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"a\.xml {message}") as caught:
        parse_xml(InputFile(put(tmp_path, "a.xml", text)))
    assert "\n" not in str(caught.value)

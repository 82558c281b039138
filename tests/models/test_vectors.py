"""Word vectors from every format they come in."""

from __future__ import annotations

import bz2
import gzip
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from goldlabel.errors import InputError
from goldlabel.models.vectors import read_vectors

ROWS = {"owl": (0.5, -1.25, 3.0), "the": (1e-05, 2.0, -0.125), "苍鹭": (4.0, 5.5, 6.0), ". .": (7.0, 8.0, 9.0)}
Rows = list[tuple[str, tuple[float, ...]]]


def text(rows: Rows, header: str = "") -> bytes:
    lines = [" ".join([word, *(f"{number:.6g}" for number in numbers)]) for word, numbers in rows]
    return (header + "\n".join(lines) + "\n").encode()


def binary(rows: Rows, count: int | None = None) -> bytes:
    body = b"".join(word.encode() + b" " + struct.pack("<3f", *numbers) + b"\n" for word, numbers in rows)
    return f"{len(rows) if count is None else count} 3\n".encode() + body


def write_zip(path: Path, data: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vectors.txt", data)


def write_npz(path: Path, rows: Rows) -> None:
    np.savez(path, words=np.array([word for word, _ in rows]), vectors=np.array([numbers for _, numbers in rows]))


PLAIN = list(ROWS.items())
NO_SPACES = [row for row in PLAIN if " " not in row[0]]
WRITERS: dict[str, Callable[[Path, Rows], object]] = {
    "glove.txt": lambda path, rows: path.write_bytes(text(rows)),
    "fasttext.vec": lambda path, rows: path.write_bytes(text(rows, f"{len(rows)} 3\n")),
    "spaces.vec": lambda path, rows: path.write_bytes(text(rows).replace(b"\n", b" \r\n")),
    "glove.txt.gz": lambda path, rows: path.write_bytes(gzip.compress(text(rows))),
    "glove.txt.bz2": lambda path, rows: path.write_bytes(bz2.compress(text(rows))),
    "glove.zip": lambda path, rows: write_zip(path, text(rows)),
    "words.bin": lambda path, rows: path.write_bytes(binary(rows)),
    "words.bin.gz": lambda path, rows: path.write_bytes(gzip.compress(binary(rows))),
    "words.npz": write_npz,
}


@pytest.fixture(params=WRITERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rows_for(kind: str) -> Rows:
    """Words with spaces cannot be told in word2vec's binary format."""
    return NO_SPACES if ".bin" in kind else PLAIN


def test_every_format(kind: str, tmp_path: Path) -> None:
    rows = rows_for(kind)
    WRITERS[kind](tmp_path / kind, rows)
    vectors = read_vectors(tmp_path / kind)
    assert vectors.words == [word for word, _ in rows]
    assert vectors.size == 3
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_allclose(vectors.matrix, [numbers for _, numbers in rows], rtol=1e-6)


def test_only_what_is_wanted(kind: str, tmp_path: Path) -> None:
    WRITERS[kind](tmp_path / kind, rows_for(kind))
    vectors = read_vectors(tmp_path / kind, ["苍鹭", "owl", "wren"])
    assert vectors.words == ["owl", "苍鹭"]
    np.testing.assert_allclose(vectors.matrix, [ROWS["owl"], ROWS["苍鹭"]])
    with pytest.raises(InputError, match="has no vector of any word that is needed"):
        read_vectors(tmp_path / kind, ["wren"])


def test_the_first_of_two_counts(kind: str, tmp_path: Path) -> None:
    WRITERS[kind](tmp_path / kind, [("owl", (1.0, 2.0, 3.0)), ("the", (4.0, 5.0, 6.0)), ("owl", (7.0, 8.0, 9.0))])
    vectors = read_vectors(tmp_path / kind)
    assert vectors.words == ["owl", "the"]
    np.testing.assert_array_equal(vectors.matrix, [[1, 2, 3], [4, 5, 6]])


def test_words_that_are_odd_space(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_bytes("\u2028 1.0 2.0\n\u00a0 3.0 4.0\n\u0085 5.0 6.0\n 7.0 8.0\nowl 9.0 10.0\n".encode())
    assert read_vectors(path).words == ["\u2028", "\u00a0", "\u0085", "", "owl"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"owl 0.5 1.5\nthe 0.5\n", r"v\.txt line 2: is not a word with 2 numbers \(it has 1\)"),
        (b"owl 0.5 1.5\nthe 0.5 1.5 2.5\n", r"line 2: is not a word with 2 numbers \(it has 3\)"),
        (b"2 2\nowl 0.5 1.5\nthe -1e-05 1.5 2.5\n", r"line 3: is not a word with 2 numbers \(it has 3\)"),
        (b"owl 0.5 1.5\n\nthe 0.5 1.5\n", r"line 2: is not a word with 2 numbers \(it has 0\)"),
        (b"owl 0.5 x\n", r"line 1: is not a word with 2 numbers \(could not convert string to float: 'x'\)"),
        (b"owl 0.5  1.5\n", "line 1: is not a word with 3 numbers"),
        (b"owl 0.5 1.5\n\xff\xfe 0.5 1.5\n", "line 2: is not a word with 2 numbers .'utf-8' codec can't decode"),
        (b"owl\n", r"line 1: is not a word with its numbers \(it has 0\)"),
        (b"owl much\n", "line 1: is not a word with its numbers"),
        (b"3 2\nowl 0.5 1.5\nthe 0.5 1.5\n", r"v\.txt: ends after 2 of its 3 words; copy or fetch it again"),
        (b"", "has no vector of any word that is needed"),
    ],
)
def test_damaged_text_is_named_by_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_vectors(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (binary(NO_SPACES)[:-8], r"v\.bin: ends after 2 of its 3 words; copy or fetch it again"),
        (binary(NO_SPACES, 5), "ends after 3 of its 5 words"),
        (b"\x80\x02pickle", "does not begin with the number of words and their size"),
        (b"3 -3\nowl ", "does not begin with the number of words and their size"),
        (b"", "does not begin with the number of words and their size"),
    ],
)
def test_damaged_binary_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "v.bin"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_vectors(path)


def test_damaged_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    for data in (b"", b"no archive", b"PK\x03\x04 cut"):
        path.write_bytes(data)
        with pytest.raises(InputError, match="is not an npz file with the arrays words and vectors"):
            read_vectors(path)
    np.savez(path, words=np.array(["owl"]))
    with pytest.raises(InputError, match="is not an npz file with the arrays words and vectors"):
        read_vectors(path)
    np.savez(path, words=np.array([{}], dtype=object), vectors=np.zeros((1, 2)))
    with pytest.raises(InputError, match="is not an npz file with the arrays words and vectors"):
        read_vectors(path)
    np.savez(path, words=np.array(["owl", "the"]), vectors=np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"has 2 words and vectors of the shape \(3, 2\); rows must be words"):
        read_vectors(path)
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(InputError, match="is not an npz file with the arrays words and vectors"):
        read_vectors(path)


def test_files_that_are_not_there_or_not_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file of vectors"):
        read_vectors(tmp_path / "glove.txt")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(text(PLAIN))[:-12])
    with pytest.raises(InputError, match="is damaged or cut short"):
        read_vectors(tmp_path / "cut.txt.gz")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("50d.txt", text(PLAIN))
        archive.writestr("100d.txt", text(PLAIN))
    with pytest.raises(InputError, match="holds 2 files"):
        read_vectors(tmp_path / "two.zip")

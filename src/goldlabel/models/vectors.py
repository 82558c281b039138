"""Pre-trained word vectors: GloVe and word2vec text, word2vec binary, npz.

Text
    One word and its numbers per line, separated by spaces; a first line ``words size`` (word2vec, fastText) is
    skipped.
Binary (``.bin``)
    word2vec's: a line ``words size``, then each word, a space and its 32-bit floats.
``.npz``
    Arrays ``words`` and ``vectors``.

Text and binary may be compressed (.gz, .bz2, .zst) or alone in an archive.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import InputFile, one_input_file

_NUMBER = re.compile(r" -?\d+(\.\d+(e[-+]?\d+)?|e[-+]?\d+)$")
"""At the end of a word: the line has more numbers than the others."""


@dataclass(frozen=True)
class Vectors:
    """Words and their vectors, row by row."""

    words: list[str]
    matrix: NDArray[np.float32]

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return int(self.matrix.shape[1])


def read_vectors(path: Path, wanted: Collection[str] | None = None) -> Vectors:
    """Read the vectors of all words, or of those ``wanted``; of a word given twice, the first counts."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file of vectors")
    keep = None if wanted is None else frozenset(wanted)
    if path.suffix == ".npz":
        return _collected(_npz_rows(path, keep), path)
    # Elsewhere .bin is a pickle and refused; word2vec's is plain numbers.
    file = InputFile(path) if path.suffix == ".bin" else one_input_file(path)
    rows = _binary_rows if file.name.endswith(".bin") else _text_rows
    with file.open() as stream:
        return _collected(rows(stream, str(file), keep), path)


def _npz_rows(path: Path, keep: frozenset[str] | None) -> Iterator[tuple[str, NDArray[np.float32]]]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            words, matrix = [str(word) for word in arrays["words"]], arrays["vectors"].astype(np.float32)
    except (ValueError, TypeError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: is not an npz file with the arrays words and vectors ({error})") from error
    if matrix.ndim != 2 or len(words) != len(matrix):
        raise InputError(f"{path}: has {len(words)} words and vectors of the shape {matrix.shape}; rows must be words")
    yield from ((word, vector) for word, vector in zip(words, matrix, strict=True) if keep is None or word in keep)


def _text_rows(stream: BinaryIO, where: str, keep: frozenset[str] | None) -> Iterator[tuple[str, NDArray[np.float32]]]:
    size, count, number = 0, 0, 0
    for number, line in enumerate(stream, start=1):
        try:
            # Some words of GloVe 840B hold spaces, so the numbers are counted from the end.
            text = line.rstrip()
            spaces = text.count(b" ")
            if number == 1 and spaces == 1:
                count, size = (int(part) for part in text.split())
                continue
            size = size or spaces
            if spaces < size:
                raise ValueError(f"it has {spaces}")
            *parts, numbers = text.split(b" ", spaces - size + 1)
            word = b" ".join(parts).decode()
            if not size or _NUMBER.search(word):
                raise ValueError(f"it has {spaces}")
            if keep is None or word in keep:
                yield word, np.array(numbers.decode().split(" "), dtype=np.float32)
        except ValueError as error:
            raise InputError(f"{where} line {number}: is not a word with {size or 'its'} numbers ({error})") from error
    if count and number <= count:
        raise _cut_short(where, number - 1, count)


def _binary_rows(
    stream: BinaryIO, where: str, keep: frozenset[str] | None
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    try:
        count, size = (int(number) for number in stream.readline(64).decode("ascii").split())
        if size < 1:
            raise ValueError(size)
    except ValueError as error:
        raise InputError(f"{where}: does not begin with the number of words and their size as word2vec's do") from error
    for row in range(count):
        name = bytearray()
        while (byte := stream.read(1)) not in (b" ", b""):
            if byte != b"\n":
                name += byte
        data = stream.read(4 * size)
        if len(data) < 4 * size:
            raise _cut_short(where, row, count)
        word = name.decode(errors="replace")
        if keep is None or word in keep:
            yield word, np.frombuffer(data, dtype="<f4")


def _cut_short(where: str, words: int, count: int) -> InputError:
    return InputError(f"{where}: ends after {words:,} of its {count:,} words; copy or fetch it again")


def _collected(rows: Iterator[tuple[str, NDArray[np.float32]]], path: Path) -> Vectors:
    vectors: dict[str, NDArray[np.float32]] = {}
    for word, vector in rows:
        vectors.setdefault(word, vector)
    if not vectors:
        raise InputError(f"{path}: has no vector of any word that is needed; is it in the language of the data?")
    return Vectors(list(vectors), np.stack(list(vectors.values())))

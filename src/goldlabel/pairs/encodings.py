"""Text in any encoding becomes UTF-8: the encoding is told from a file's first bytes unless somebody insists on one.

A byte order mark says it. So does a zero beside the first letter (UTF-16 without a mark). What is valid UTF-8 is UTF-8.
Anything else that looks like Latin script, in which letters with accents stand between others, is taken for
Windows-1252, of which latin-1 is the part that people mean, and a note says that this was assumed. Where most bytes
beyond ASCII stand in long runs, the script is another one, and nobody can tell which encoding: it is asked for.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import BinaryIO

from goldlabel.errors import FileError, InputError
from goldlabel.files import wide_encoding
from goldlabel.messages import option

SAMPLE = 1 << 20
"""The bytes from which encoding and form of a file are told."""

LONGEST_LATIN_RUN = 3
"""Letters with accents that follow each other in Latin script, such as ``ÇÃO`` and a quotation mark beside them."""

ASSUMED = "cp1252"


def as_utf8(
    stream: BinaryIO, name: str, encoding: str | None = None, *, assume: bool = True
) -> tuple[io.BufferedReader, str | None]:
    """Return the stream in UTF-8, and a note where its encoding was assumed.

    ``assume`` allows that; JSON is UTF-8 by its standard, so there a broken byte is a fault and no encoding.
    """
    start = stream.read(SAMPLE)
    codec = _codec(encoding) if encoding else _tell(start, name, assume=assume)
    note = None
    if codec == ASSUMED and not encoding:
        assumed = f"{name}: is not UTF-8, and was taken for Windows-1252 (latin-1)"
        note = f"{assumed}; pass {option('encoding')} if letters look wrong"
    recoded = _Recoded(start, stream, None if codec in ("utf-8", "utf-8-sig") else codec, name)
    return io.BufferedReader(recoded, SAMPLE), note


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding.strip()).name
        "".encode(name)
    except LookupError as error:
        raise InputError(
            f"encoding {encoding!r} is not known; allowed: those of Python, such as utf-8, utf-16, latin-1, gb18030"
        ) from error
    return name


def _tell(start: bytes, name: str, *, assume: bool) -> str:
    wide = wide_encoding(start)
    if wide:
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    text = start.decode("utf-8", errors="surrogateescape")
    broken = sum("\udc80" <= character <= "\udcff" for character in text)
    letters = sum(character > "\x7f" for character in text) - broken
    if not assume or letters > broken:
        return "utf-8"  # with a fault, which the reader names by its line
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", start)]
    if sum(run for run in runs if run > LONGEST_LATIN_RUN) * 2 > sum(runs):
        raise FileError(
            f"{name}: is not UTF-8, and its encoding cannot be told; pass {option('encoding', 'gb18030')}, cp1251 or "
            "whatever it is",
            "not_utf8",
        )
    return ASSUMED


class _Recoded(io.RawIOBase):
    """A stream whose beginning was read already, in UTF-8 whatever it was in."""

    def __init__(self, start: bytes, stream: BinaryIO, codec: str | None, name: str) -> None:
        self._pending = start
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(codec)() if codec else None
        self._codec = codec
        self._name = name
        self._line = 1
        self._ready = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            data = self._pending or self._stream.read(max(SAMPLE, len(buffer)))
            self._pending = b""
            self._ended = not data
            self._ready = memoryview(self._recode(data))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _recode(self, data: bytes) -> bytes:
        if self._decoder is None:
            return data
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = self._line + error.object[: error.start].count(b"\n")
            raise FileError(
                f"{self._name} line {line}: is not {self._codec} (byte 0x{error.object[error.start]:02x}); "
                f"pass {option('encoding')} with the file's own",
                "not_utf8",
                number=line,
            ) from error
        self._line += text.count("\n")
        return text.encode("utf-8", errors="surrogatepass")

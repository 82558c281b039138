"""What comes in on a pipe, kept in a file while it is read; its format is told from its first bytes."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goldlabel.errors import InputError
from goldlabel.files import InputFile

STDIN = "-"
NAME = "standard input"
_PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
_BINARY = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}
_MEMBERS = {"xl/workbook.xml": ".xlsx", "content.xml": ".ods"}


@contextmanager
def kept_input(suffix: str | None) -> Iterator[Path]:
    """Give the path of a file with all that comes in, whose name tells the format; errors speak of standard input."""
    with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
        path = Path(folder, NAME)
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        path = path.rename(path.with_name(f"{NAME}{suffix or _told_suffix(path)}"))
        try:
            yield path
        except InputError as error:
            raise InputError(in_plain_words(str(error).replace(str(path), path.name))) from error


def in_plain_words(text: str) -> str:
    """Return what is said of standard input without the ending that its file has here."""
    return re.sub(rf"{NAME}(\.\w+)+", NAME, text)


def _told_suffix(path: Path) -> str:
    packed = next((suffix for mark, suffix in _PACKED.items() if _start(path).startswith(mark)), "")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        return next((suffix for member, suffix in _MEMBERS.items() if member in names), ".zip")
    inner = path
    if packed:
        inner = path.with_name(f"packed{packed}")
        inner.symlink_to(path)
    start = _start(inner)
    told = next((suffix for mark, suffix in _BINARY.items() if start.startswith(mark)), None)
    return (told or (".jsonl" if start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"{", b"[") else ".csv")) + packed


def _start(path: Path) -> bytes:
    with InputFile(path).open(any_encoding=True) as stream:
        return stream.read(64)

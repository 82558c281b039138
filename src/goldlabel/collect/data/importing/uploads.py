"""Uploads: a stream becomes a plain file on disk, unpacked and of bounded size, before anything reads it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from goldlabel.collect.data.importing.tables import refuse_large
from goldlabel.collect.messages import message
from goldlabel.collect.refusals import Invalid
from goldlabel.errors import FileError, InputError
from goldlabel.files import one_input_file, wide_encoding
from goldlabel.messages import Message

LONGEST_NAME = 100


def file_name(given: str | None) -> str:
    """Return the name of an upload without folders, and not too long."""
    return Path((given or "").replace("\\", "/")).name[-LONGEST_NAME:]


@contextmanager
def plain_file(stream: BinaryIO, name: str) -> Iterator[Path]:
    """Give an upload as a file under its own name, less ``.gz`` and the like; it is gone when the block ends.

    Unpacking stops at the largest size that is read, however little was sent.
    """
    with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
        packed = Path(folder, "packed", name)
        packed.parent.mkdir()
        with packed.open("wb") as target:
            shutil.copyfileobj(stream, target)
        try:
            source = one_input_file(packed)
            plain = Path(folder, source.name)
            with source.open(any_encoding=True) as unpacked, plain.open("wb") as target:
                while block := unpacked.read(1 << 20):
                    if target.tell() == 0 and (encoding := wide_encoding(block[:4])):
                        raise Invalid("wide_text", file=name, encoding=encoding)
                    target.write(block)
                    refuse_large(target.tell(), name)
        except Invalid:
            raise
        except InputError as error:
            raise Invalid("upload_unreadable", file=name, reason=fault_of(error, [packed])) from error
        yield plain


def fault_of(error: InputError, paths: Sequence[Path]) -> Message | str:
    """Return what is wrong with files, in words that a page can translate where there are such.

    Otherwise it is what the error says, with a file's own name in the place of where it lies for the moment.
    """
    if isinstance(error, FileError):
        fault = message(f"fault_{error.fault}", **error.parameters)
        return fault if error.number is None else message("at", where=message(error.unit, n=error.number), what=fault)
    reason = str(error)
    for path in paths:
        reason = reason.replace(str(path), path.name)
    return reason

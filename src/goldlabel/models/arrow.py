"""Encoded pairs on disk: one Arrow file of one batch, which is mapped into memory and never read as a whole."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from goldlabel.files import atomic_file


def write_batch(path: Path, batch: pa.RecordBatch) -> None:
    """Write one batch as an Arrow file."""
    with (
        atomic_file(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, batch.schema) as writer,
    ):
        writer.write_batch(batch)


def map_batch(path: Path) -> pa.RecordBatch:
    """Map the batch of a written file into memory."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).get_batch(0)

"""The record as Arrow has it; apart from the record itself, as only what writes Arrow waits for PyArrow."""

from __future__ import annotations

import pyarrow as pa

from goldlabel.pairs.record import COLUMNS, LISTS, REQUIRED

SCHEMA = pa.schema(
    [
        pa.field(
            name,
            pa.list_(pa.string()) if name in LISTS else pa.string(),
            nullable=name not in REQUIRED and name not in LISTS,
        )
        for name in COLUMNS
    ]
)

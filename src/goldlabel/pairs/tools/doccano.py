"""doccano: text classification as JSONL or CSV, one file or a zip with a file for each annotator.

A row has ``id``, ``text``, ``label`` (a list; in CSV joined by ``#``) and the columns that were uploaded with it. Where
annotators worked apart, the file is named after who labelled it; ``all`` and ``unknown`` name nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from goldlabel.files import InputFile
from goldlabel.pairs.tools.items import Item, Vote, one_label, required, rows_of

TOOL = "doccano"
_NOBODY = ("all", "unknown")


def read_items(files: Sequence[InputFile], question: str | None) -> Iterator[Item]:
    """Yield the examples of an export, those of several annotators together."""
    column = question or "label"
    items: dict[str, Item] = {}
    for file in files:
        annotator = PurePosixPath(file.name).stem
        for where, row in rows_of(file):
            required(row, "text", str, where, TOOL)
            labels = row.get(column)
            if isinstance(labels, str):
                labels = labels.split("#")
            label = one_label(labels, where)
            key = str(row.get("id", where))
            name = "unknown" if annotator in _NOBODY else annotator
            votes = [Vote(annotator=name, label=label)] if label else []
            texts = {name: value for name, value in row.items() if name not in ("id", column, "Comments")}
            known = items.get(key)
            items[key] = (
                Item(where=where, id=key, texts=texts, votes=votes)
                if known is None
                else replace(known, votes=[*known.votes, *votes])
            )
    yield from items.values()

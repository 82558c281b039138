"""Argilla 2: what ``dataset.records.to_json`` writes.

A record has ``fields``, ``responses`` (a list of ``value`` and ``user_id`` for each question) and ``suggestions``
(``value``, ``score`` and ``agent`` for each question).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldlabel.files import InputFile
from goldlabel.pairs.tools.items import Item, Vote, one_label, one_question, required, rows_of

TOOL = "Argilla"


def read_items(files: Sequence[InputFile], question: str | None) -> Iterator[Item]:
    """Yield the records of an export."""
    for file in files:
        for where, row in rows_of(file):
            fields = required(row, "fields", dict, where, TOOL)
            responses = required(row, "responses", dict, where, TOOL)
            suggestions = row.get("suggestions") or {}
            name = one_question(list({**responses, **suggestions}), question, where)
            votes = []
            for response in responses.get(name, []):
                label = one_label(required(response, "value", object, where, TOOL), where)
                if label is not None:
                    votes.append(Vote(annotator=str(response.get("user_id", "unknown")), label=label))
            told = suggestions.get(name) or {}
            suggested = one_label(told.get("value"), where)
            yield Item(
                where=where,
                id=str(row.get("id") or where),
                texts=fields,
                votes=votes,
                suggestions=[{"source": told.get("agent"), "label": suggested, "score": told.get("score")}]
                if suggested
                else [],
                meta=row.get("metadata") or {},
            )

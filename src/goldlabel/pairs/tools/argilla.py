"""Argilla 2: what ``dataset.records.to_json`` writes.

A record has ``fields``, ``responses`` (a list of ``value`` and ``user_id`` for each question) and ``suggestions``
(``value``, ``score`` and ``agent`` for each question).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldlabel.files import InputFile
from goldlabel.pairs.tools.items import Item, Vote, objects, one_label, one_question, optional, required, rows_of

TOOL = "Argilla"


def read_items(files: Sequence[InputFile], question: str | None) -> Iterator[Item]:
    """Yield the records of an export."""
    for file in files:
        for where, row in rows_of(file):
            fields = required(row, "fields", dict, where, TOOL)
            responses = required(row, "responses", dict, where, TOOL)
            suggestions = optional(row, "suggestions", dict, where, TOOL) or {}
            name = one_question(list({**responses, **suggestions}), question, where)
            votes = []
            for response in objects(responses, name, where, TOOL) if name else []:
                label = one_label(required(response, "value", object, where, TOOL), where)
                if label is not None:
                    votes.append(Vote(annotator=str(response.get("user_id", "unknown")), label=label))
            suggestion = (optional(suggestions, name, dict, where, TOOL) if name else None) or {}
            suggested = one_label(suggestion.get("value"), where)
            yield Item(
                where=where,
                id=str(row.get("id") or where),
                texts=fields,
                votes=votes,
                suggestions=[{"source": suggestion.get("agent"), "label": suggested, "score": suggestion.get("score")}]
                if suggested
                else [],
                meta=optional(row, "metadata", dict, where, TOOL) or {},
            )

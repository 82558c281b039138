"""Label Studio: the exports JSON (tasks with ``annotations``), JSON-MIN and CSV (a row for each annotation).

https://labelstud.io/guide/task_format: a task has ``data``; each annotation has ``result``, a list of regions with
``from_name`` and ``type``, and ``completed_by``, a number or an object; ``predictions`` have ``model_version``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goldlabel.files import InputFile
from goldlabel.pairs.tools.items import (
    Item,
    Place,
    Vote,
    at,
    objects,
    one_label,
    one_question,
    optional,
    required,
    rows_of,
)

TOOL = "Label Studio"
_FLAT = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
_CHOSEN = {"choices": "choices", "rating": "rating"}


def read_items(files: Sequence[InputFile], question: str | None) -> Iterator[Item]:
    """Yield the tasks of an export."""
    flat: dict[str, Item] = {}
    for file in files:
        for where, row in rows_of(file):
            if "annotation_id" in row:
                item = _flat(row, question, where)
                known = flat.get(item.id)
                flat[item.id] = item if known is None else _joined(known, item)
            else:
                yield _task(row, question, where)
    yield from flat.values()


def _task(row: Mapping[str, Any], question: str | None, where: Place) -> Item:
    data = required(row, "data", dict, where, TOOL)
    required(row, "annotations", list, where, TOOL)
    votes = []
    for annotation in objects(row, "annotations", where, TOOL):
        if not annotation.get("was_cancelled"):
            label = _chosen(annotation, question, where)
            if label is not None:
                seconds = optional(annotation, "lead_time", (int, float), where, TOOL)
                votes.append(Vote(annotator=_person(annotation.get("completed_by")), label=label, seconds=seconds))
    suggestions = [
        {"source": prediction.get("model_version"), "label": label, "score": prediction.get("score")}
        for prediction in objects(row, "predictions", where, TOOL)
        if (label := _chosen(prediction, question, where)) is not None
    ]
    return Item(
        where=where,
        id=str(row.get("id", where)),
        texts=data,
        votes=votes,
        suggestions=suggestions,
        meta=optional(row, "meta", dict, where, TOOL) or {},
    )


def _chosen(annotation: Mapping[str, Any], question: str | None, where: Place) -> str | None:
    regions = objects(annotation, "result", where, TOOL)
    answers = {str(region.get("from_name")): region for region in regions if str(region.get("type")) in _CHOSEN}
    name = one_question(list(answers), question, where)
    if name is None:
        return None
    region = answers[name]
    value = optional(region, "value", dict, where, TOOL) or {}
    return one_label(value.get(_CHOSEN[region["type"]]), where)


def _flat(row: Mapping[str, Any], question: str | None, where: Place) -> Item:
    """Read a row of JSON-MIN or CSV, in which questions stand beside the texts: the one meant must be named."""
    name = question or "label"
    label = (
        None
        if question == ""
        else one_label(required(row, name, (str, dict), where, f"{TOOL} (question '{name}')"), where)
    )
    vote = Vote(annotator=_person(row.get("annotator")), label=label or "", seconds=_seconds(row, where))
    texts = {key: value for key, value in row.items() if key not in (*_FLAT, name)}
    return Item(where=where, id=str(row.get("id", where)), texts=texts, votes=[vote] if label else [])


def _seconds(row: Mapping[str, Any], where: Place) -> float | None:
    """Read how long an annotation took; CSV has it as text."""
    try:
        seconds = optional(row, "lead_time", (int, float, str), where, TOOL)
        return None if seconds is None else float(seconds)
    except ValueError as error:
        problem = f"lead_time {row['lead_time']!r} is no number of seconds as {TOOL} writes it"
        raise at(where, problem, "no_field", name="lead_time", tool=TOOL) from error


def _joined(item: Item, other: Item) -> Item:
    return Item(where=item.where, id=item.id, texts=item.texts, votes=[*item.votes, *other.votes])


def _person(completed_by: object) -> str:
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("id", completed_by.get("email"))
    return "unknown" if completed_by is None else str(completed_by)

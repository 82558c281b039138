"""Potato: annotations without texts, beside the item files that the project was set up with; bring both.

``annotations.jsonl`` (``python -m potato.export``) has ``instance_id``, ``user_id`` and ``labels``, for each scheme a
map from labels to values; ``annotated_instances.jsonl`` of version 1 calls it ``label_annotations``; CSV has a column
``scheme.label`` for each. Item files have ``id`` and the texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from goldlabel.files import InputFile
from goldlabel.pairs.tools.items import Item, Place, Vote, at, one_question, optional, required, rows_of, several_labels

TOOL = "Potato"
_ABOUT = ("instance_id", "user_id", "annotator_origin", "displayed_text")


def read_items(files: Sequence[InputFile], question: str | None) -> Iterator[Item]:
    """Yield the items with who answered what."""
    items: dict[str, Item] = {}
    cast: list[tuple[Place, str, Vote]] = []
    for file in files:
        for where, row in rows_of(file):
            if "instance_id" in row and "user_id" in row:
                label = _answer(row, question, where)
                if label is not None:
                    vote = Vote(annotator=str(row["user_id"]), label=label)
                    cast.append((where, str(row["instance_id"]), vote))
            else:
                key = str(required(row, "id", (str, int), where, TOOL))
                texts = {name: value for name, value in row.items() if name != "id"}
                items[key] = Item(where=where, id=key, texts=texts)
    for where, key, vote in cast:
        if key not in items:
            problem = f"no file given holds the item '{key}'; bring the project's item files, too"
            raise at(where, problem, "no_item", id=key)
        items[key] = replace(items[key], votes=[*items[key].votes, vote])
    yield from items.values()


def _answer(row: Mapping[str, Any], question: str | None, where: Place) -> str | None:
    schemes = row.get("labels", row.get("label_annotations"))
    if schemes is None:
        schemes = {}
        for name, value in row.items():
            scheme, dot, label = name.partition(".")
            if dot and name not in _ABOUT and not label.startswith("_"):
                schemes.setdefault(scheme, {})[label] = value
    if not isinstance(schemes, dict):
        raise at(
            where, f"labels are not an object as {TOOL} writes them; check --from", "no_field", name="labels", tool=TOOL
        )
    wanted = one_question(list(schemes), question, where)
    answers = optional(schemes, wanted, dict, where, TOOL) or {} if wanted else {}
    chosen = [label for label, value in answers.items() if value]
    if len(chosen) > 1:
        raise several_labels(chosen, where)
    return chosen[0] if chosen else None

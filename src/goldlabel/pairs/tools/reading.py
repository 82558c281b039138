"""Exports of annotation tools as pairs with votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from goldlabel.errors import FileError
from goldlabel.files import input_files
from goldlabel.pairs import Pairs
from goldlabel.pairs.card import Card
from goldlabel.pairs.labels import ABSTENTIONS, NLI3, NO_GOLD, LabelSpace
from goldlabel.pairs.rows import to_json
from goldlabel.pairs.tools import TOOLS, Item
from goldlabel.pairs.tools.items import Place, at

NAMES = {
    "premise": ("premise", "sentence1", "text1", "text_a", "context", "text"),
    "hypothesis": ("hypothesis", "sentence2", "text2", "text_b"),
}
"""What tools' users call the two texts; the first that is there is meant."""


def read_items(paths: Sequence[Path], tool: str, *, question: str | None = None) -> Iterator[Item]:
    """Yield the items of an export: files, a folder of them or a zip."""
    return TOOLS.get(tool)([file for path in paths for file in input_files(path)], question)


def read_tool(
    paths: Sequence[str | Path],
    tool: str,
    *,
    labels: LabelSpace = NLI3,
    label_map: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    question: str | None = None,
) -> Pairs:
    """Read an export as pairs whose votes are the annotators' answers; none of them is the author.

    ``question`` names the question meant where there are several, ``columns`` the texts, ``label_map`` spells labels.
    Who voted, how long it took and what models suggested is in ``meta``.
    """
    found = [Path(path) for path in paths]
    spellings = labels.spellings(label_map) | {word: word for word in (*ABSTENTIONS, NO_GOLD)}
    rows = []
    for item in read_items(found, tool, question=question):
        texts = {name: text_of(item, name, columns) for name in NAMES}
        votes = [_spelled(vote.label, spellings, labels, item.where) for vote in item.votes]
        suggestions = [
            {**one, "label": _spelled(str(one["label"]), spellings, labels, item.where)} for one in item.suggestions
        ]
        used = {_column(item, name, columns) for name in NAMES}
        meta = {
            "tool": tool,
            **({"annotators": [vote.annotator for vote in item.votes]} if votes else {}),
            **({"seconds": [vote.seconds for vote in item.votes]} if any(v.seconds for v in item.votes) else {}),
            **({"suggestions": suggestions} if suggestions else {}),
            **{name: value for name, value in item.texts.items() if name not in (*used, "genre")},
            **item.meta,
        }
        genre = item.texts.get("genre")
        rows.append(
            {"id": item.id, **texts, "label": NO_GOLD, "votes": votes, "meta": to_json(meta)}
            | {"genre": str(genre) if genre else None}
        )
    name = found[0].name.partition(".")[0] if found else tool
    if not rows:
        text = f"{', '.join(map(str, found))}: holds no items of {tool}; check the file and --from"
        raise FileError(text, "no_items", tool=tool)
    schema = dict.fromkeys(("id", "premise", "hypothesis", "label", "meta", "genre"), pl.String)
    frame = pl.DataFrame(rows, schema={**schema, "votes": pl.List(pl.String)})
    card = Card(name=name, label_space=labels, author="none", history=(f"read from an export of {tool}",))
    return Pairs.from_frame(frame, card)


def text_of(item: Item, name: str, columns: Mapping[str, str] | None = None) -> str:
    """Return the premise or the hypothesis of an item."""
    column = _column(item, name, columns)
    text = item.texts.get(column)
    if not isinstance(text, str) or not text.strip():
        allowed = ", ".join(map(str, item.texts)) or "nothing"
        names = NAMES[name][:2]
        problem = f"no text is the {name} among {allowed}; name it with --columns {name}=NAME, or call it "
        raise at(item.where, f"{problem}{' or '.join(names)}", "no_text", name=name, names=names)
    return text


def _column(item: Item, name: str, columns: Mapping[str, str] | None) -> str:
    if columns and name in columns:
        return columns[name]
    return next((one for one in NAMES[name] if one in item.texts), name)


def _spelled(label: str, spellings: Mapping[str, str], space: LabelSpace, where: Place) -> str:
    spelled = spellings.get(label.lower())
    if spelled is None:
        allowed = (*space.labels, *ABSTENTIONS)
        problem = f"label {label!r} is not one of {', '.join(allowed)}; pass --map {label}=LABEL, or say with --labels "
        raise at(where, f"{problem}what the labels are", "label_unknown", label=label, labels=allowed)
    return spelled

"""Exports of other annotation tools as premises or pairs of a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from goldlabel.collect.data.importing.uploads import fault_of
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.messages import hint, message
from goldlabel.collect.refusals import Invalid
from goldlabel.errors import InputError
from goldlabel.messages import Message
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import LABEL_SPACES, label_space
from goldlabel.pairs.tools import TOOLS
from goldlabel.pairs.tools.reading import read_items, read_tool, text_of


def tool_premises(
    paths: Sequence[Path], tool: str, *, columns: Mapping[str, str] | None = None
) -> Iterator[tuple[Message, Premise]]:
    """Yield the premise of each item with its place; what people answered is left behind."""
    for number, item in enumerate(read_items(paths, tool, question=""), 1):
        genre, source = (item.texts.get(name) for name in ("genre", "source"))
        yield (
            message("item", n=number),
            Premise(
                text=text_of(item, "premise", columns),
                genre=str(genre) if genre else None,
                source=str(source) if source else tool,
                original_id=item.id,
            ),
        )


def uploaded_pairs(paths: Sequence[Path], tool: str, labels: str, question: str) -> Pairs:
    """Read uploaded files of a tool as pairs, which keep votes and suggestions in ``meta``."""
    if tool not in TOOLS:
        raise Invalid("no_tool", name=tool, hint=hint(tool, TOOLS))
    if "," not in labels and labels not in LABEL_SPACES:
        raise Invalid("no_label_space", name=labels, hint=hint(labels, LABEL_SPACES))
    try:
        return read_tool(paths, tool, labels=label_space(labels), question=question or None)
    except InputError as error:
        raise Invalid("pairs_unreadable", file=paths[0].name, reason=fault_of(error, paths)) from error

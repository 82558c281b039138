"""DNC: annotations of many kinds recast as pairs, in the files that were released."""

import re
from collections.abc import Callable, Iterator, Mapping

from goldlabel.errors import InputError
from goldlabel.pairs.labels import NLI2
from goldlabel.pairs.rows import Parsed, Row
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, numbered, raw_rows


def _read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
    name = intake.file.name.replace("_data.json", "_metadata.json")
    file = intake.companion(re.escape(name))
    metadata = {row["pair-id"]: row for row in raw_rows(file, intake.on_bytes, "pair-id")} if file else {}
    return numbered(_items, lambda row: _pair(row, metadata), unit="item")(intake)


def _items(intake: Intake) -> Iterator[tuple[int, Row]]:
    return enumerate(raw_rows(intake.file, intake.on_bytes), 1)


def _pair(row: Row, metadata: Mapping[object, Row]) -> Row:
    row.pop("folder", None)
    number, entailed = row.pop("pair-id"), row.pop("binary-label")
    if not isinstance(entailed, bool):
        raise InputError(f"binary-label {entailed!r} is not true or false")
    meta = row | {name: value for name, value in metadata.get(number, {}).items() if name != "pair-id"}
    sentence = meta.get("corpus-sent-id")
    if row["recast"] == "winogender" and sentence is not None:
        # occupation.participant.answer.who.gender: what is said of the same two people is minimally different.
        sentence = ".".join(str(sentence).split(".")[:2])
    return {
        "id": number,
        "premise": row["context"],
        "hypothesis": row["hypothesis"],
        "label": "entailed" if entailed else "not-entailed",
        "split": row["split"],
        "tags": [row["recast"], row["type-of-inference"]],
        "group": None if sentence is None else f"{meta.get('corpus')}:{sentence}",
        "meta": {name: value for name, value in meta.items() if name not in ("context", "hypothesis", "split")},
    }


SOURCES.add(
    "dnc",
    Source(
        name="dnc",
        title="Diverse Natural Language Inference Collection",
        paper="Poliak et al. (2018), Collecting diverse natural language inference problems, EMNLP",
        licence="per pair, in meta",
        address="https://github.com/decompositional-semantics-initiative/DNC/archive/refs/heads/master.zip",
        language="en",
        description="Tags are the recast annotation and the type of inference; the published label, which is 1 to 5 "
        "for relations (5 is entailed), stays in meta with the metadata file's fields where it is given along.",
        label_space=NLI2,
        files=(SourceFile(r"(?P<folder>train|dev|test)/recast_(?P<recast>\w+)_data\.json", "none", _read),),
    ),
)

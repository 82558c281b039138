"""A dataset's card: what it is, where it comes from, what is in it.

Written three times beside the data, each for its own readers: ``card.json`` (Goldlabel), ``README.md`` with
YAML front matter (Hugging Face), ``croissant.json`` (JSON-LD, MLCommons Croissant 1.0).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from goldlabel.errors import InputError
from goldlabel.files import write_text
from goldlabel.pairs.labels import LABEL_SPACES, NLI3, LabelSpace
from goldlabel.pairs.record import COLUMNS, LISTS
from goldlabel.registry import suggest

CARD = "card.json"
HF_SPLITS = {"train": "train", "dev": "validation", "test": "test", "none": "unsplit"}
AUTHORS = {"first": "the first vote", "label": "the label", "none": "not known"}
"""Where the label that the hypothesis's author meant can be."""

COLUMN_MEANINGS = {
    "id": "unique in the dataset",
    "premise": "the text that is taken as given",
    "hypothesis": "the text that is judged against the premise",
    "label": "gold label, or - where the votes gave none",
    "votes": "the annotators' labels; the card says whether the author's own is the first",
    "split": "train, dev, test or none",
    "dataset": "the dataset the pair comes from",
    "language": "language code",
    "genre": "genre of the premise",
    "level": "how hard the writer meant the pair to be",
    "round": "collection round",
    "writer": "pseudonym of the hypothesis's writer",
    "reason": "why the writer believes in the label",
    "condition": "elicitation condition",
    "tags": "phenomena",
    "group": "what must not be split apart",
    "meta": "everything else the source had, as JSON",
}


class Details(TypedDict, total=False):
    """What can be said of a dataset wherever one is made."""

    name: str | None
    licence: str | None
    language: str | None
    description: str | None
    citation: str | None
    source: str | None
    author: str | None


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """One Parquet file of a dataset: its split, size and hash."""

    path: str
    split: str
    pairs: int
    labels: Mapping[str, int]
    sha256: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a dataset says of itself.

    ``author`` says where the author's own label is, one of ``AUTHORS``. Figures about authors exist only where it is
    known, so it is ``none`` unless somebody who knows the data says otherwise.
    """

    name: str
    label_space: LabelSpace = NLI3
    languages: tuple[str, ...] = ()
    description: str = ""
    licence: str | None = None
    source: str | None = None
    paper: str | None = None
    author: str = "none"
    files: tuple[FileEntry, ...] = ()
    problems: int = 0
    history: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        check_author(self.author)

    def with_step(self, step: str) -> Card:
        """Return the card of data made from this card's data by ``step``."""
        return replace(self, files=(), problems=0, history=(*self.history, step))

    def described(self, **details: Unpack[Details]) -> Card:
        """Return the card with what was given of these."""
        language, citation = details.pop("language", None), details.pop("citation", None)
        changes: dict[str, Any] = {name: value for name, value in details.items() if value is not None}
        if language:
            changes["languages"] = tuple(code.strip() for code in language.split(","))
        if citation:
            changes["paper"] = citation
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``card.json`` holds."""
        fields = asdict(self)
        space = {"name": self.label_space.name, "labels": list(self.label_space.labels)}
        return fields | {"label_space": space}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Card:
        """Read what ``to_dict`` wrote."""
        space = fields["label_space"]
        known = LABEL_SPACES.get(space["name"]) if space["name"] in LABEL_SPACES else None
        if known is None or list(known.labels) != sorted(space["labels"]):
            known = LabelSpace(space["name"], tuple(space["labels"]))
        return cls(
            **{
                **fields,
                "label_space": known,
                "languages": tuple(fields["languages"]),
                "files": tuple(FileEntry(**entry) for entry in fields["files"]),
                "history": tuple(fields["history"]),
            }
        )


def check_author(author: str) -> None:
    """Refuse a place that no author's label can have."""
    if author not in AUTHORS:
        raise InputError(f"author {author!r} is not understood; {suggest(author, list(AUTHORS))}")


def write_card(card: Card, folder: Path) -> None:
    """Write the card into a dataset's folder, in its three forms."""
    write_text(folder / CARD, json.dumps(card.to_dict(), ensure_ascii=False, indent=2) + "\n")
    write_text(folder / "README.md", hugging_face_readme(card))
    write_text(folder / "croissant.json", json.dumps(croissant(card), ensure_ascii=False, indent=2) + "\n")


def rewrite_card(folder: Path, **details: Unpack[Details]) -> Card:
    """Say more on the card of a dataset that is written already, or other things."""
    card = read_card(folder)
    if any(details.values()):
        card = card.described(**details)
        write_card(card, folder)
    return card


def read_card(folder: Path) -> Card:
    """Read a dataset's ``card.json``."""
    path = folder / CARD
    try:
        return Card.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{folder}: is no dataset, it has no {CARD}") from error
    except (InputError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is not a dataset card ({error})") from error


def hugging_face_readme(card: Card) -> str:
    """Return a dataset card as Hugging Face reads it: YAML front matter, then prose."""
    import yaml

    pairs = sum(entry.pairs for entry in card.files)
    front = {
        "pretty_name": card.name,
        "language": list(card.languages),
        **_hub_licence(card.licence),
        "task_categories": ["text-classification"],
        "task_ids": ["natural-language-inference"],
        "size_categories": [_size_category(pairs)],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": HF_SPLITS[entry.split], "path": entry.path} for entry in card.files],
            }
        ],
    }
    labels = card.label_space.labels
    table = [
        f"| {' | '.join(['split', 'pairs', *labels, 'no gold label'])} |",
        f"|{' --- |' * (len(labels) + 3)}",
        *(f"| {' | '.join([entry.split, *(f'{n:,}' for n in _counts(entry, labels))])} |" for entry in card.files),
    ]
    origin = [
        f"- {name}: {value}"
        for name, value in (
            ("Licence", card.licence),
            ("Source", card.source),
            ("Paper", card.paper),
            ("The author's own label", AUTHORS[card.author] if card.author != "none" else None),
        )
        if value
    ]
    history = [f"{number}. {step}" for number, step in enumerate(card.history, 1)]
    columns = [f"- `{name}`: {meaning}" for name, meaning in COLUMN_MEANINGS.items()]
    parts = [
        f"---\n{yaml.safe_dump(front, allow_unicode=True, sort_keys=False)}---",
        f"# {card.name}",
        card.description,
        "\n".join(origin),
        "## Pairs\n\n" + "\n".join(table),
        "## Columns\n\n" + "\n".join(columns),
        "## How it was made\n\n" + "\n".join(history) if history else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def croissant(card: Card) -> dict[str, Any]:
    """Return the card as Croissant JSON-LD: one file object and one record set per Parquet file."""
    return {
        "@context": _CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.name,
        "description": card.description or f"Premise and hypothesis pairs: {card.name}",
        "license": card.licence or "unknown",
        "url": card.source or f"urn:goldlabel:{card.name}",
        **({"citeAs": card.paper} if card.paper else {}),
        "version": "1.0.0",
        "inLanguage": list(card.languages),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": entry.path,
                "name": entry.path,
                "contentUrl": entry.path,
                "contentSize": f"{entry.bytes} B",
                "encodingFormat": "application/x-parquet",
                "sha256": entry.sha256,
            }
            for entry in card.files
        ],
        "recordSet": [_record_set(entry) for entry in card.files],
    }


def _record_set(entry: FileEntry) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": entry.split,
        "name": entry.split,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{entry.split}/{name}",
                "name": name,
                "description": COLUMN_MEANINGS[name],
                "dataType": "sc:Text",
                "repeated": name in LISTS,
                "source": {"fileObject": {"@id": entry.path}, "extract": {"column": name}},
            }
            for name in COLUMNS
        ],
    }


def _counts(entry: FileEntry, labels: tuple[str, ...]) -> list[int]:
    return [entry.pairs, *(entry.labels.get(label, 0) for label in (*labels, "-"))]


def _hub_licence(licence: str | None) -> dict[str, str]:
    """Return the licence under the hub's own identifiers, or as another one with its name."""
    identifier = (licence or "unknown").lower().replace(" ", "-")
    if identifier in ("mit", "apache-2.0", "unknown") or re.fullmatch(r"cc-by(-nc)?(-sa|-nd)?-[2-4]\.0", identifier):
        return {"license": identifier}
    return {"license": "other", "license_name": licence or ""}


def _size_category(pairs: int) -> str:
    bounds = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
    return next((name for bound, name in bounds if pairs < bound), "n>1M" if pairs > 10_000_000 else "1M<n<10M")


_CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

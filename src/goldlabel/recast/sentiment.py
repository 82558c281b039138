"""Sentiment: a review becomes what somebody said of the thing, and the pair asks whether they liked it.

Kotzias et al. (2015), From group to individual labels using deep features: three files of 1,000 lines,
``text<TAB>0|1``, about products (amazon), films (imdb) and restaurants (yelp).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.names import Names, read_names
from goldlabel.recast.reading import text_rows
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.treebank import tokenise

ITEMS = {"amazon": "product", "imdb": "movie", "yelp": "restaurant"}
_FILE = re.compile(r".*(amazon|imdb|yelp).*labelled\.txt", re.IGNORECASE)


@dataclass(frozen=True)
class Review:
    """What was written of a thing, and whether its author liked it."""

    where: str
    source_id: str
    text: str
    item: str
    positive: bool


def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
    """Give two pairs for each review; the entailed one comes first."""
    names = read_names(options.names)
    for file, item in _with_items(files, options.settings.get("item")):
        for line, row in text_rows(file):
            if not row.strip():
                continue
            source_id = f"{file.name} {line}"
            text, tab, label = row.rpartition("\t")
            if not tab or label.strip() not in ("0", "1"):
                raise InputError(f"{file} line {line}: is not text, a tab, and 0 or 1; its label is {label[-20:]!r}")
            if not text.strip():
                yield Skipped(source_id, "no text")
                continue
            review = Review(f"{file} line {line}", source_id, text, item, positive=label.strip() == "1")
            yield from _pairs(review, options, names)


def _pairs(review: Review, options: Options, names: Names) -> Iterator[Recasting]:
    plain = options.style == "plain"
    for number, liked in enumerate((review.positive, not review.positive)):
        name = names.draw(options.seed, review.source_id, 0 if plain else number)
        premise, hypothesis = (_plain if plain else _released)(review.text, review.item, name, liked)
        yield Recasting(
            premise=premise,
            hypothesis=hypothesis,
            label=ENTAILED if liked == review.positive else NOT_ENTAILED,
            source_id=review.source_id,
            corpus="Kotzias et al. (2015)",
            licence="not stated",
            group=" ".join(review.text.lower().split()) if plain else None,
            where=review.where,
            meta={"name": name, "item": review.item, "sentiment": "positive" if review.positive else "negative"},
        )


def _plain(text: str, item: str, name: str, liked: bool) -> tuple[str, str]:
    verb = "liked" if liked else "did not like"
    return f'When asked about the {item}, {name} said, "{text.strip()}"', f"{name} {verb} the {item}."


def _released(text: str, item: str, name: str, liked: bool) -> tuple[str, str]:
    """Write as the release does: restaurants are tokenised, all others end their hypothesis with a space."""
    verb = "liked" if liked else "did not like"
    if item != "restaurant":
        return f"When asked about the {item}, {name} said, '{text}'.", f"{name} {verb} the {item} . "
    tokens = " ".join(tokenise(text))
    return f"When asked about the {item} , {name} said , '{tokens} ' .", f"{name} {verb} the {item} ."


def _with_items(files: Sequence[InputFile], item: str | None) -> list[tuple[InputFile, str]]:
    if item:
        return [(file, item) for file in files]
    matches = [(file, _FILE.fullmatch(file.name)) for file in files]
    known = [(file, ITEMS[match[1].lower()]) for file, match in matches if match]
    if not known:
        raise InputError(
            f"{files[0] if files else 'no file'} line 1: its name tells no item; files are named like "
            "amazon_cells_labelled.txt, imdb_labelled.txt, yelp_labelled.txt, or pass --set item=NAME"
        )
    return known


RECASTERS.add(
    "sentiment",
    Recaster(
        name="sentiment",
        phenomenon="sentiment",
        title="Sentiment of reviews",
        paper="Poliak et al. (2018), section 3.6; Kotzias et al. (2015)",
        sources="amazon_cells_labelled.txt, imdb_labelled.txt, yelp_labelled.txt: text, tab, 0 or 1",
        recast=recast,
        settings={"item": "what the reviews are about, for files of other names"},
    ),
)

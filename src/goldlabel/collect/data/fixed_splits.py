"""Splits that a requester fixes, of a premise or by its genre, before the others are drawn; no premise has two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import select

from goldlabel.collect.data.hiding import DELETED
from goldlabel.collect.data.premises import FIXED_SPLITS, Premise, shortened
from goldlabel.collect.messages import message, words
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import premises
from goldlabel.collect.store import Transaction
from goldlabel.messages import Word


def fixed_split(genres: Mapping[str, str], split: str | None, genre: str) -> str | None:
    """Return the split of a premise, by its own or by that of its genre, if either is fixed."""
    return split or genres.get(genre)


def refuse_two_splits(protocol: Protocol, new: Iterable[Premise]) -> None:
    """Refuse premises whose own split is not that of their genre."""
    for one in new:
        _refuse(protocol, one.text, one.genre or "", one.split)


def refuse_two_in_pool(tx: Transaction, project_id: int, protocol: Protocol) -> None:
    """Refuse rules by genre that contradict the splits of premises that are there already."""
    genres = protocol.splits.genres
    own = (premises.c.project_id == project_id, premises.c.split.is_not(None), premises.c.genre.in_([*genres]))
    kept = premises.c.hidden.is_distinct_from(DELETED)
    for row in tx.all(select(premises.c.text, premises.c.genre, premises.c.split).where(*own, kept)) if genres else ():
        _refuse(protocol, row.text, row.genre, row.split)


def _refuse(protocol: Protocol, text: str, genre: str, split: str | None) -> None:
    rule = protocol.splits.genres.get(genre)
    if split is not None and rule is not None and split != rule:
        raise Invalid("split_by_genre", text=shortened(text), split=Word(split), genre=genre, rule=Word(rule))


def read_rules(text: str) -> dict[str, str]:
    """Return the splits by genre that a form says, a line each: ``genre = split``."""
    rules: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        genre, equals, split = (part.strip() for part in line.rpartition("="))
        if not equals or split not in FIXED_SPLITS:
            raise Invalid("split_rule", line=line.strip(), allowed=words(FIXED_SPLITS))
        if rules.setdefault(genre, split) != split:
            where = message("genre_at", genre=genre)
            raise Invalid("split_twice", where=where, one=Word(rules[genre]), other=Word(split))
    return rules

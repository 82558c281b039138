"""A review: a table of pairs whose labels are in doubt, which a person goes through and gives back.

``review_sheet`` makes the table, with empty columns ``decision`` and ``comment``. ``apply_review`` reads it in any
format that tables are read from, since spreadsheets save in their own ways, and applies each decision: ``keep``, a
label, or ``drop``; a row without one is left alone. A review belongs to the data it was made from: a pair that is not
there, or that has another label by now, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.reading import read_placed_rows
from goldlabel.pairs.record import plain
from goldlabel.pairs.result import Result
from goldlabel.pairs.rows import by_name, to_json
from goldlabel.pairs.tables import Columns
from goldlabel.registry import suggest

KEEP, DROP = "keep", "drop"
KINDS = ("kept", "relabelled", "dropped")
REVIEWS = "reviews"
"""Where in ``meta`` a pair tells what reviews decided about it."""
_NEEDED = ("id", "label", "decision")
_NAMES = {name: name for name in (*_NEEDED, "comment")}
_FORMULA = r"^([=+\-@])"
"""How a cell begins that a spreadsheet takes for a formula."""


@dataclass(frozen=True, repr=False)
class Review(Result):
    """What a review decided, and the pairs after it."""

    name: str
    pairs: Pairs
    decisions: pl.DataFrame
    """A row per decision: ``kind``, ``id``, ``label`` as it was, ``decision`` and ``comment``."""
    undecided: int

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs were kept, relabelled and dropped."""
        return _count(self.decisions)

    @property
    def title(self) -> str:
        """What became of the pairs of the review."""
        counted = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items())
        return f"{self.pairs.card.name} after {self.name}: {counted}; {self.undecided:,} rows without a decision"

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by label and decision."""
        return self.decisions.group_by("label", "decision").len("pairs").sort("label", "decision")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and each decision."""
        counts = {**self.counts, "undecided": self.undecided, "pairs": len(self.pairs)}
        return {"review": self.name, **counts, "decisions": self.decisions.to_dicts()}

    def write(self, folder: str | Path) -> Pairs:
        """Write the pairs as a dataset, with every decision beside them in ``review.jsonl``."""
        return self.pairs.write(folder, beside={"review.jsonl": self.decisions.write_ndjson()})


def review_sheet(pairs: Pairs, candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the table to go through.

    ``candidates`` has ``id``, ``label``, ``suggested``, and ``probabilities`` by label.
    """
    texts = pairs.frame.filter(pl.col("id").is_in(candidates["id"].implode()))
    shown = texts.select("id", "premise", "hypothesis", "votes").collect(engine="streaming")
    nothing = pl.lit(None, pl.String)
    return candidates.join(shown, on="id", how="left", maintain_order="left").select(
        *map(_cell, ("id", "premise", "hypothesis")),
        "label",
        pl.col("votes").list.join(" | "),
        *(pl.col("probabilities").struct.field(label).round(3) for label in pairs.card.label_space.labels),
        "suggested",
        decision=nothing,
        comment=nothing,
    )


def apply_review(pairs: Pairs, path: str | Path) -> Review:
    """Apply the decisions in a table with the columns ``id``, ``label``, ``decision`` and maybe ``comment``."""
    path = Path(path)
    rows = _read(path)
    reviewed = pairs.frame.filter(pl.col("id").is_in(rows["id"].implode()))
    present = reviewed.select("id", "meta", now="label").collect(engine="streaming")
    for place, pair_id in rows.join(present, on="id", how="anti").select("place", "id").iter_rows():
        raise InputError(f"{place}: no pair has the id {pair_id!r}; apply the review to the data it was made from")
    decided = rows.filter(pl.col("decision").is_not_null())
    changes = pl.DataFrame(
        list(_decide(decided.join(present, on="id", how="left", maintain_order="left"), pairs)),
        schema=dict.fromkeys(("kind", "id", "label", "decision", "comment", "meta"), pl.String),
        orient="row",
    )
    relabelled = changes.filter(pl.col("kind") == "relabelled")
    dropped = changes.filter(pl.col("kind") == "dropped")["id"]
    frame = pairs.frame.filter(~pl.col("id").is_in(dropped.implode())).with_columns(
        label=_by_id(relabelled, "decision", pl.col("label")), meta=_by_id(changes, "meta", pl.col("meta"))
    )
    card = _reviewed_card(pairs.card, path.name, _count(changes))
    return Review(path.name, Pairs(frame, card), changes.drop("meta"), undecided=len(rows) - len(decided))


def _by_id(changes: pl.DataFrame, column: str, otherwise: pl.Expr) -> pl.Expr:
    """Return what a column holds for each pair that was changed, and something else for the others."""
    return pl.col("id").replace_strict(changes["id"], changes[column], default=otherwise, return_dtype=pl.String)


def _count(changes: pl.DataFrame) -> dict[str, int]:
    return {kind: int((changes["kind"] == kind).sum()) for kind in KINDS}


def _read(path: Path) -> pl.DataFrame:
    """Read a review: the place, id, label, decision and comment of each row."""
    rename = by_name(_NAMES)
    rows = [(place, rename(row)) for place, row in read_placed_rows(path, Columns(names=_NAMES, required=()), {})]
    if not rows:
        raise InputError(f"{path}: there are no rows in it; a review has the columns {', '.join(_NEEDED)}")
    for name in _NEEDED:
        if not any(name in row for _, row in rows):
            raise InputError(f"{path}: there is no column {name!r}; a review has the columns {', '.join(_NEEDED)}")
    frame = pl.DataFrame(
        [(place, *(_text(row.get(name)) for name in _NAMES)) for place, row in rows],
        schema=dict.fromkeys(("place", *_NAMES), pl.String),
        orient="row",
    )
    for place, pair_id in frame.select("place", "id").iter_rows():
        if pair_id is None:
            raise InputError(f"{place}: there is no id; each row of a review names a pair")
    for place, pair_id in frame.filter(~pl.col("id").is_first_distinct()).select("place", "id").iter_rows():
        raise InputError(f"{place}: pair {pair_id!r} has a row already; leave one of them")
    return frame


def _decide(rows: pl.DataFrame, pairs: Pairs) -> Iterator[tuple[str | None, ...]]:
    """Yield for each decision its kind, the id, the label as it was, the decision, the comment, and the new meta."""
    space = pairs.card.label_space
    spellings = space.spellings() | dict.fromkeys((NO_GOLD, "no gold"), NO_GOLD)
    allowed = [KEEP, DROP, *space.labels, NO_GOLD]
    compared = rows.with_columns(plain(pl.col("label", "decision")))
    for row, words in zip(rows.iter_rows(named=True), compared.iter_rows(named=True), strict=True):
        if spellings.get(words["label"]) != row["now"]:
            raise InputError(
                f"{row['place']}: pair {row['id']!r} has the label {row['now']!r} in the data and {row['label']!r} in "
                "the review; review it again"
            )
        decision = words["decision"] if words["decision"] in (KEEP, DROP) else spellings.get(words["decision"])
        if decision is None:
            raise InputError(
                f"{row['place']}: decision {row['decision']!r} is not known; {suggest(row['decision'], allowed)}"
            )
        kind = {DROP: "dropped", KEEP: "kept", row["now"]: "kept"}.get(decision, "relabelled")
        told = {"decision": decision, "was": row["now"]} | ({"comment": row["comment"]} if row["comment"] else {})
        yield kind, row["id"], row["now"], decision, row["comment"], _told(row["meta"], told)


def _told(meta: str | None, entry: dict[str, str]) -> str:
    """Put what was decided behind what earlier reviews decided."""
    fields: dict[str, Any] = orjson.loads(meta) if meta else {}
    earlier = fields.get(REVIEWS, [])
    return to_json(fields | {REVIEWS: [*(earlier if isinstance(earlier, list) else [earlier]), entry]})


def _reviewed_card(card: Card, name: str, counts: dict[str, int]) -> Card:
    reviewed = card.with_step(f"reviewed by {name}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    # A reviewer's label is not the author's.
    return replace(reviewed, author="none") if card.author == "label" and counts["relabelled"] else reviewed


def _cell(name: str) -> pl.Expr:
    """Mark text that a spreadsheet would take for a formula as text."""
    return pl.col(name).str.replace(_FORMULA, "'${1}")


def _text(value: object) -> str | None:
    """Return what a cell says; a mark against formulas is none of it."""
    text = "" if value is None else str(value).strip()
    if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@"):
        text = text[1:]
    return text or None

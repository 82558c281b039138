"""How faithful a recast is: our pairs beside the published ones, aligned by source id, else by their texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.metrics import percent
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.result import Result
from goldlabel.recast.dnc import Published, binary_label, published_pairs

SHOWN = 20


@dataclass(frozen=True)
class Ours:
    """One of our pairs, and the first name that was drawn for it or put in."""

    premise: str
    hypothesis: str
    label: str
    name: str | None
    corpus: str | None
    split: str


Match = tuple[Ours, Published]


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(Result):
    """How many pairs there are on both sides, and how many of those matched are alike."""

    name: str
    published: int
    ours: int
    matched: int
    contexts_identical: int
    hypotheses_identical: int
    labels_identical: int
    items: int
    items_identical: int
    names_put_in: int
    matched_by_text: int
    differences: Sequence[Mapping[str, Any]]

    @property
    def title(self) -> str:
        """What was compared."""
        return f"{self.name}: {self.ours:,} pairs of ours, {self.published:,} published, {self.matched:,} matched"

    @property
    def table(self) -> pl.DataFrame:
        """What is alike, of the pairs matched."""
        rows = [
            ("contexts identical", self.contexts_identical, self.matched),
            ("hypotheses identical", self.hypotheses_identical, self.matched),
            ("labels identical", self.labels_identical, self.matched),
            ("source items with all labels identical", self.items_identical, self.items),
        ]
        return pl.DataFrame(
            [(what, n, of, percent(n / of) if of else None) for what, n, of in rows],
            schema={"what": pl.String, "n": pl.Int64, "of": pl.Int64, "share": pl.String},
            orient="row",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all counts and the first differences."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {"differences": [dict(difference) for difference in self.differences]}


def check_recast(
    name: str, ours: Pairs, published: Sequence[Path], *, published_names: bool = True, shown: int = SHOWN
) -> Comparison:
    """Compare a recast dataset with released files.

    Pairs with one source id are matched by their texts first, then in order; what has no counterpart under its id
    is looked for by its context. Names are drawn at random: with ``published_names`` the release's are put in the
    place of ours before texts are compared.
    """
    released = published_pairs(published, name)
    mine = _read(ours, name)
    shared = {our.corpus for _, our in mine} & {other.corpus for other in released}
    by_id: dict[tuple[str | None, str], list[Ours]] = {}
    for source_id, our in mine:
        by_id.setdefault((our.corpus if our.corpus in shared else None, source_id), []).append(our)
    theirs: dict[tuple[str | None, str | None], list[Published]] = {}
    for other in released:
        theirs.setdefault((other.corpus if other.corpus in shared else None, other.source_id), []).append(other)
    matches: list[Match] = []
    left: list[Published] = []
    for (corpus, key), group in theirs.items():
        matched = _matched(by_id.get((corpus, key or ""), []), group, published_names)
        matches += [(matched[number], other) for number, other in enumerate(group) if number in matched]
        left += [other for number, other in enumerate(group) if number not in matched]
    by_text = _matched_by_text([our for _, our in mine], left, shared)
    return _compared(name, len(released), len(mine), matches + by_text, len(by_text), shown)


def _compared(name: str, published: int, ours: int, matches: Sequence[Match], by_text: int, shown: int) -> Comparison:
    alike = dict.fromkeys(("contexts", "hypotheses", "labels"), 0)
    items: dict[tuple[str | None, str | None], bool] = {}
    differences: list[dict[str, Any]] = []
    for our, other in matches:
        same = {
            "contexts": our.premise == other.premise,
            "hypotheses": our.hypothesis == other.hypothesis,
            "labels": our.label == other.label,
        }
        for what, equal in same.items():
            alike[what] += equal
        item = (other.corpus, other.source_id)
        items[item] = items.get(item, True) and same["labels"]
        if not all(same.values()) and len(differences) < shown:
            differences.append(_difference(our, other, [what for what, equal in same.items() if not equal]))
    return Comparison(
        name=name,
        published=published,
        ours=ours,
        matched=len(matches),
        contexts_identical=alike["contexts"],
        hypotheses_identical=alike["hypotheses"],
        labels_identical=alike["labels"],
        items=len(items),
        items_identical=sum(items.values()),
        names_put_in=sum(isinstance(our, Renamed) for our, _ in matches),
        matched_by_text=by_text,
        differences=differences,
    )


def _read(ours: Pairs, name: str) -> list[tuple[str, Ours]]:
    read: list[tuple[str, Ours]] = []
    for block in ours.blocks():
        rows = block.select("premise", "hypothesis", "label", "split", "meta").iter_rows()
        for premise, hypothesis, label, split, meta in rows:
            fields = orjson.loads(meta or "{}")
            source_id = fields.get("published_id", fields.get("source_id"))
            if source_id is None:
                raise InputError(f"{ours.card.name}: has pairs without a source id; is it recast by {name}?")
            our = Ours(premise, hypothesis, binary_label(label), fields.get("name"), fields.get("corpus"), split)
            read.append((str(source_id), our))
    return read


def _matched(ours: Sequence[Ours], theirs: Sequence[Published], published_names: bool) -> dict[int, Ours]:
    """Match published pairs, by their number, with ours: alike in both texts, in one, then in order.

    Numbers of sentences begin anew in each split, so unlike texts are matched within one split where there is any.
    """
    rest = list(ours)
    matched: dict[int, Ours] = {}
    splits = {our.split for our in ours}
    for least in (2, 1, 0):
        for number, other in enumerate(theirs):
            if number in matched:
                continue
            best: tuple[int, int, Ours] | None = None
            for place, our in enumerate(rest):
                named = _with_name(our, other) if published_names else our
                likeness = _likeness(named, other)
                apart = likeness == 0 and other.split in splits and our.split != other.split
                if likeness >= least and not apart and (best is None or likeness > best[0]):
                    best = (likeness, place, named)
            if best is not None:
                matched[number] = best[2]
                del rest[best[1]]
    return matched


def _matched_by_text(ours: Sequence[Ours], left: Sequence[Published], shared: Collection[str | None]) -> list[Match]:
    """Match what is left with a pair of the same context: the one of its hypothesis, or the first."""
    wanted = {other.premise for other in left}
    by_context: dict[str, list[Ours]] = {}
    for our in ours:
        if our.premise in wanted:
            by_context.setdefault(our.premise, []).append(our)
    matches: list[Match] = []
    for other in left:
        candidates = [
            our for our in by_context.get(other.premise, []) if our.corpus == other.corpus or other.corpus not in shared
        ]
        same = [our for our in candidates if our.hypothesis == other.hypothesis]
        if candidates:
            our = (same or candidates)[0]
            by_context[other.premise].remove(our)
            matches.append((our, other))
    return matches


def _likeness(our: Ours, other: Published) -> int:
    return (our.premise == other.premise) + (our.hypothesis == other.hypothesis)


class Renamed(Ours):
    """One of our pairs with the published name in the place of ours."""


def _with_name(our: Ours, other: Published) -> Ours:
    """Put the published name into our texts; it is what stands where our hypothesis has its own."""
    if not our.name or not our.hypothesis.startswith(f"{our.name} "):
        return our
    rest = our.hypothesis.removeprefix(our.name)
    name = other.hypothesis.removesuffix(rest)
    if not other.hypothesis.endswith(rest) or name == our.name:
        return our
    return Renamed(our.premise.replace(our.name, name, 1), f"{name}{rest}", our.label, name, our.corpus, our.split)


def _difference(our: Ours, other: Published, unlike: Sequence[str]) -> dict[str, Any]:
    sides = {
        "ours": {"context": our.premise, "hypothesis": our.hypothesis, "label": our.label},
        "published": {"context": other.premise, "hypothesis": other.hypothesis, "label": other.label},
    }
    return {"source_id": other.source_id, "pair_id": other.pair_id, "differ": list(unlike), **sides}

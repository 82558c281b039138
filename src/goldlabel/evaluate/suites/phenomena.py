"""The phenomena of a recast collection: which pairs are judged by, and which are there to learn from and to stop on.

A phenomenon lies in a folder of its own, or in a collection whose tags tell it: the release (DNC), or what ``goldlabel
recast all`` writes. No unit is in two of the three parts: what is judged by comes first, then what is stopped on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import EvaluationSet, Request
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import UNSPLIT
from goldlabel.pairs.labels import NLI2, NO_GOLD, ORDINAL5
from goldlabel.pairs.record import COLUMNS
from goldlabel.pairs.splits import Ratios, apply_plan
from goldlabel.pairs.units import units_of
from goldlabel.registry import one_of

COLLECTION = "dnc"
WINOGENDER = "winogender"
TAGS: Mapping[str, tuple[str, ...]] = {
    "factuality": ("factuality", "event factuality"),
    "named-entities": ("ner", "named entity recognition"),
    "puns": ("puns", "figurative language"),
    "sentiment": ("sentiment",),
    "megaveridicality": ("megaveridicality", "lexicosyntactic inference"),
    WINOGENDER: ("winogender", "gendered anaphora"),
    "relations": ("kg_relations", "relation extraction"),
    "verbnet": ("verbnet", "thematic roles"),
}
"""The phenomena of Poliak et al. (2018), by the names of their recasters, and the tags that mark their pairs."""


@dataclass(frozen=True, kw_only=True)
class Phenomenon:
    """A recast dataset, taken apart."""

    judged: EvaluationSet
    train: Pairs | None = None
    """What can be learnt from; there is nothing where the files have test pairs alone."""
    dev: Pairs | None = None
    """What is stopped on."""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The recaster's name, or what the user calls it."""
        return self.judged.name


def find_phenomena(request: Request, chosen: tuple[str, ...]) -> tuple[list[Phenomenon], dict[str, str]]:
    """Return the phenomena that the user has, or the chosen ones, and of the others why they are missing."""
    own = [name for name in request.data if name != COLLECTION and name not in TAGS]
    names = [one_of("phenomena", name, [*TAGS, *own]) for name in chosen] or [*TAGS, *own]
    collection = request.find(COLLECTION)
    phenomena, missing = [], {}
    for name in dict.fromkeys(names):
        pairs = _pairs_of(name, request, collection)
        if pairs is None:
            missing[name] = (
                f"add the release with 'goldlabel data add {COLLECTION} PATH', or recast it with 'goldlabel recast run "
                f"{name} SOURCE -o PATH' and pass --data {name}=PATH"
            )
            continue
        phenomena.append(take_apart(name, pairs, seed=request.seed, limit=request.limit))
    return phenomena, missing


def take_apart(name: str, pairs: Pairs, *, seed: int = 0, limit: int | None = None) -> Phenomenon:
    """Judge by test, else by dev; learn from train; stop on dev, else on a tenth of train."""
    for space in ("nli3", NLI2.name) if pairs.card.label_space.name == ORDINAL5.name else (NLI2.name,):
        pairs = pairs.map_labels(space)
    card = replace(pairs.card, name=name)
    frame = pairs.frame.filter(pl.col("label") != NO_GOLD).collect(engine="streaming")
    splits = set(frame["split"])
    split = next((split for split in ("test", "dev") if split in splits), UNSPLIT if splits == {UNSPLIT} else None)
    if split is None:
        raise InputError(f"{name}: has no test or dev pair with a gold label to judge by; split it first")
    notes = [] if split == "test" else [f"{name}: has no test pairs; judged by its {split} pairs"]
    with_units = frame.with_columns(pl.Series("unit", units_of(frame)))
    parts = {part: with_units.filter(pl.col("split") == part) for part in (split, "dev", "train")}
    dev = _without(parts["dev"], parts[split])
    train = _without(_without(parts["train"], parts[split]), dev)
    if shared := len(parts["train"]) - len(train) + (len(parts["dev"]) - len(dev) if split == "test" else 0):
        notes.append(f"{name}: {shared:,} pairs are left out of train and dev, as their units are judged or stopped on")
    if len(train) and not len(dev):
        plan = Ratios(ratios="90:10", names=("train", "dev"))
        drawn = apply_plan(Pairs(train.lazy(), card), plan, seed=seed).pairs.collect()
        train, dev = (drawn.filter(pl.col("split") == part) for part in ("train", "dev"))
        notes.append(f"{name}: stopped on {len(dev):,} of its train pairs, a tenth of the units")
    return Phenomenon(
        judged=evaluation_set(Pairs(frame.lazy(), card), name, split=split, limit=limit),
        train=Pairs(train.select(COLUMNS).lazy(), card) if len(train) else None,
        dev=Pairs(dev.select(COLUMNS).lazy(), card) if len(train) and len(dev) else None,
        notes=tuple(notes),
    )


def _without(frame: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs whose units are not among the other's."""
    return frame.filter(~pl.col("unit").is_in(other["unit"].implode()))


def _pairs_of(name: str, request: Request, collection: Pairs | None) -> Pairs | None:
    """Return a phenomenon's pairs: those that bear its tags, else all of a folder that the user gives for it."""
    pairs = request.find(name) if name in request.data else collection
    if pairs is None:
        return None
    tagged = pl.col("tags").list.eval(pl.element().is_in(TAGS.get(name, ()))).list.any()
    marked = Pairs(pairs.frame.filter(tagged), pairs.card)
    if len(marked):
        return marked
    return pairs if name in request.data else None

"""Making a stress test of any NLI set: every pair through a recipe, and what could not be used counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.stress.recipe import STRESS_TESTS, BasePair, Draw, Recipe, UnsuitableError
from goldlabel.messages import many
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.labels import NLI3, NO_GOLD, LabelSpace, score_mapping
from goldlabel.pairs.record import DTYPES
from goldlabel.pairs.result import Result
from goldlabel.pairs.tokens import language_of
from goldlabel.pairs.units import normalised
from goldlabel.seeds import check_seed, random_state

PAPER = "Naik et al. (2018), Stress Test Evaluation for Natural Language Inference, COLING"


@dataclass(frozen=True, repr=False)
class StressTest(Result):
    """A stress test that was made: its pairs, and how many base pairs it could not be made of, by reason."""

    name: str
    pairs: Pairs
    base_pairs: int
    unsuitable: Mapping[str, int]

    @property
    def title(self) -> str:
        """How many pairs came of how many."""
        left_out = sum(self.unsuitable.values())
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in self.unsuitable.items())
        return (
            f"{self.name}: {many(len(self.pairs), 'pair')} made of {self.base_pairs - left_out:,} of "
            f"{self.base_pairs:,}" + (f"; not of: {reasons}" if reasons else "")
        )

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by split and label."""
        return self.pairs.table

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return self.pairs.to_dict() | {"base_pairs": self.base_pairs, "unsuitable": dict(self.unsuitable)}


def make_stress(pairs: Pairs, test: str | Recipe, *, seed: int = 0, language: str | None = None) -> StressTest:
    """Make a stress test of pairs by a recipe of ``STRESS_TESTS``.

    ``language`` is that of pairs which name none. The same pairs and seed give the same test on any machine, and what
    becomes of a text does not hang on the pairs around it. A made pair's ``meta`` names the pair it was made of
    (``base``); its tags are the test and which of the recipe's ways was taken. What was one unit stays one, and pairs
    stay in their splits.
    """
    recipe = STRESS_TESTS.get(test) if isinstance(test, str) else test
    check_seed(seed)
    frame = pairs.collect()
    frame = frame.with_columns(
        language_of(frame).fill_null(pl.lit(language, pl.String)),
        pl.coalesce("group", normalised("premise")).alias("group"),
    )
    if len(frame) and frame["language"].null_count() == len(frame):
        raise InputError(f"{pairs.card.name}: its pairs name no language; say which, of {', '.join(recipe.languages)}")
    made: dict[tuple[str, str, str], dict[str, Any]] = {}
    unsuitable: Counter[str] = Counter()
    for row in frame.iter_rows(named=True):
        try:
            variants = _vary(row, recipe, pairs.card.label_space, _drawing(recipe, seed))
        except UnsuitableError as reason:
            unsuitable[str(reason)] += 1
            continue
        new = [record for record in variants if _key(record) not in made]
        made |= {_key(record): record for record in new}
        unsuitable["made already of an equal text"] += not new
    card = replace(
        pairs.card.with_step(f"made into the stress test {recipe.name} with seed {seed}"),
        name=f"{pairs.card.name}-{recipe.name}",
        description=f"The stress test {recipe.name}, made of {pairs.card.name}.",
        paper=PAPER,
        author="none",
    )
    records = pl.DataFrame(list(made.values()), schema=DTYPES)
    return StressTest(recipe.name, Pairs(records.lazy(), card), len(frame), +unsuitable)


def _vary(row: Mapping[str, Any], recipe: Recipe, space: LabelSpace, draw: Draw) -> list[dict[str, Any]]:
    """Return the records that a recipe makes of one."""
    language = row["language"]
    if row["label"] == NO_GOLD:
        raise UnsuitableError("no gold label")
    if language not in recipe.languages:
        raise UnsuitableError(f"no recipe for the language {language}" if language else "no language")
    records = []
    for number, variant in enumerate(recipe.vary(BasePair(row["premise"], row["hypothesis"], language), draw), 1):
        label = score_mapping(NLI3, space).label(variant.label) if variant.label else row["label"]
        if label is None:
            continue
        records.append(
            {name: row.get(name) for name in DTYPES}
            | {
                "id": f"{row['id']}/{recipe.name}/{number}",
                "premise": variant.premise,
                "hypothesis": variant.hypothesis,
                "label": label,
                "votes": [],
                "reason": None,
                "tags": [recipe.name, *([variant.kind] if variant.kind else [])],
                "meta": orjson.dumps({"base": row["id"]}).decode(),
            }
        )
    if not records:
        raise UnsuitableError(f"a label that {space.name} does not have")
    return records


def _drawing(recipe: Recipe, seed: int) -> Draw:
    def draw(text: str) -> np.random.RandomState:
        key = hashlib.blake2b(f"{seed}\x1f{recipe.name}\x1f{text}".encode(), digest_size=4)
        return random_state(int.from_bytes(key.digest(), "big"))

    return draw


def _key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record["premise"], record["hypothesis"], record["label"]

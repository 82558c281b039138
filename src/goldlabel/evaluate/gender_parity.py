"""Gender parity: does an answer about a Winogender sentence change with the pronoun's gender?

Rudinger et al. (2018), Gender bias in coreference resolution, wrote sentences that differ by a pronoun alone; Poliak et
al. (2018) recast them. The score is the share of such pairs of sentences, with one hypothesis, to which a model answers
the same. Both sentences of an occupation and a participant are one unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, percent, share
from goldlabel.pairs import Pairs, Result

GENDERS = ("male", "female")
NEUTRAL = "neutral"
_SCHEMA = r"^(?<item>(?<unit>[^.]+\.[^.]+)\.[01]\.[01])\.(?<gender>male|female|neutral)$"
"""``occupation.participant.answer.who.gender``, as the release numbers its pairs."""


@dataclass(frozen=True, repr=False, kw_only=True)
class GenderParity(Result):
    """How often predictions do not change with the pronoun's gender; ``with_neutral`` asks the same of all three."""

    score: Estimate
    with_neutral: Estimate | None
    changed: pl.DataFrame

    @property
    def title(self) -> str:
        """The score and what it rests on."""
        return f"gender parity {percent(self.score.value)} over {self.score.n:,} sentence pairs"

    @property
    def table(self) -> pl.DataFrame:
        """The pairs whose prediction changed."""
        return self.changed

    def to_dict(self) -> dict[str, Any]:
        """Return the scores with their intervals."""
        three = self.with_neutral
        return {
            "gender_parity": self.score.value,
            "interval": [self.score.low, self.score.high],
            "n": self.score.n,
            "units": self.score.units,
            "with_neutral": three.value if three else None,
            "changed": self.changed.to_dicts(),
        }


def gender_parity(pairs: Pairs, predictions: Sequence[str]) -> GenderParity:
    """Return the share of sentence pairs on which a system says the same of "he" and of "she".

    ``predictions`` are labels in the order of ``pairs``, a dataset recast from Winogender.
    """
    frame = pairs.frame.select("meta").collect()
    if len(frame) != len(predictions):
        raise InputError(f"there are {len(predictions):,} predictions for {len(frame):,} pairs")
    sentences = find_sentences(frame)
    if sentences is None:
        raise InputError(f"{pairs.card.name}: is not recast from Winogender, its pairs have no gender")
    if not len(sentences):
        raise InputError(f"{pairs.card.name}: has no sentence with both pronouns; keep all of its pairs")
    words = np.asarray(predictions)
    said = sentences.select("item", *(pl.Series(name, words[sentences[name].to_numpy()]) for name in GENDERS))
    return GenderParity(
        score=parity(sentences, [words]),
        with_neutral=parity(three, [words], (*GENDERS, NEUTRAL)) if len(three := with_neutral(sentences)) else None,
        changed=said.filter(pl.col("male") != pl.col("female")),
    )


def find_sentences(frame: pl.DataFrame) -> pl.DataFrame | None:
    """Return the row of each gender's sentence by ``item`` and ``unit``, where there is one of both genders.

    An item is a sentence, but for its pronoun, with one of its hypotheses. Nothing is returned for pairs that were not
    recast from Winogender.
    """
    schemas = pl.coalesce(
        pl.col("meta").str.json_path_match("$.published_id"), pl.col("meta").str.json_path_match("$['corpus-sent-id']")
    )
    parsed = frame.select(schemas.str.extract_groups(_SCHEMA).alias("schema")).unnest("schema").with_row_index("row")
    if not len(parsed) or parsed["item"].null_count():
        return None
    rows = [pl.col("row").filter(pl.col("gender") == name).first().alias(name) for name in (*GENDERS, NEUTRAL)]
    sentences = parsed.group_by("item", maintain_order=True).agg(pl.col("unit").first(), *rows)
    return sentences.drop_nulls([*GENDERS])


def with_neutral(sentences: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences that are there with a neutral pronoun too."""
    return sentences.drop_nulls(NEUTRAL)


def parity(
    sentences: pl.DataFrame, runs: Sequence[ArrayLike], genders: Sequence[str] = GENDERS, *, level: float = 0.95
) -> Estimate:
    """Return the share of sentences on which the labels of all genders are the same, the mean over runs."""
    rows = [sentences[name].to_numpy() for name in genders]
    same = [
        np.all([labels[other] == labels[rows[0]] for other in rows[1:]], axis=0) for labels in map(np.asarray, runs)
    ]
    return share(np.mean(same, axis=0), units=sentences["unit"].to_numpy(), level=level)

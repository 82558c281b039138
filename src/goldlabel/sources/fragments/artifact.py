"""Artifacts planted on purpose: something in the hypothesis that goes with a label more often than it should.

``FEATURE:LABEL:STRENGTH`` asks that, of the pairs whose hypothesis carries the feature, the share STRENGTH has
the label, and the other two labels share the rest equally. No label is changed: true pairs are left out until
the shares are right. Over the phenomena in which the feature occurs, labels stay equally frequent, so pairs
without the feature have the label less often; phenomena in which it never occurs are left as they are. The
feature is as frequent as it was, but never more than ``1 / (4 * STRENGTH)``: the label must also occur without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.labels import NLI3
from goldlabel.registry import suggest

FEATURES = {
    "negation": "the hypothesis holds a negator (not, no, nobody, neither, never, none; 不, 没, 非, 谁也)",
    "number": "the hypothesis holds a number from two up, in words",
    "length": "the hypothesis is long: 10 words or more, 17 characters or more in Chinese",
    "overlap": "all words (in Chinese, characters) of the hypothesis are in the premise",
    "quantifier": "the hypothesis holds a quantifier (all, every, some, most, none, nobody, both, any, at least; "
    "所有, 每, 都, 有些, 有人, 大多数, 没有一个, 任何, 至少)",
    "word=W": "the hypothesis holds the word W (in Chinese, the characters W)",
}
FORM = "FEATURE:LABEL:STRENGTH, such as negation:contradiction:0.8"
LONG = {"en": 10, "zh": 17}

_EN_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen|twenty|thirty"
_PATTERNS = {
    ("en", "negation"): r"(?i)\b(not|no|nobody|nothing|none|neither|nor|never)\b",
    ("zh", "negation"): "[不没非]",
    ("en", "number"): rf"(?i)\b({_EN_NUMBERS})\b",
    ("zh", "number"): "[二两三四五六七八九十]",
    ("en", "quantifier"): (
        r"(?i)\b(all|every|some|someone|most|none|nobody|both|neither|any|anyone|anything|at least|at most|not one)\b"
    ),
    ("zh", "quantifier"): "所有|每个|都|有些|有人|没有人|大多数|没有一个|任何|至少|最多|谁也",
}
_LEAST_CARRIERS = 30


@dataclass(frozen=True)
class Artifact:
    """A feature of hypotheses, the label it shall go with, and how often."""

    feature: str
    label: str
    strength: float

    def __str__(self) -> str:
        return f"{self.feature}:{self.label}:{self.strength:g}"

    def carried(self, language: str) -> pl.Expr:
        """Return the expression that is true of pairs whose hypothesis carries the feature."""
        hypothesis = pl.col("hypothesis")
        if self.feature.startswith("word="):
            word = self.feature.removeprefix("word=")
            if language == "zh":
                return hypothesis.str.contains(word, literal=True)
            return _words(hypothesis, language).list.contains(word.lower())
        if self.feature == "length":
            length = hypothesis.str.len_chars() if language == "zh" else hypothesis.str.count_matches(" ") + 1
            return length >= LONG[language]
        if self.feature == "overlap":
            new = _words(hypothesis, language).list.set_difference(_words(pl.col("premise"), language))
            return new.list.len() == 0
        return hypothesis.str.contains(_PATTERNS[language, self.feature])


def parse_artifact(text: str) -> Artifact:
    """Read ``FEATURE:LABEL:STRENGTH``."""
    parts = text.rsplit(":", 2)
    if len(parts) != 3:
        raise InputError(f"artifact {text!r} is not of the form {FORM}")
    feature, label, strength = (part.strip() for part in parts)
    if feature not in FEATURES and not (feature.startswith("word=") and feature != "word="):
        raise InputError(f"artifact {text!r}: there is no feature {feature!r}; {suggest(feature, list(FEATURES))}")
    if feature == "word=W":
        raise InputError(f"artifact {text!r}: put a word in the place of W, such as word=kitchen")
    if label not in NLI3.labels:
        raise InputError(f"artifact {text!r}: there is no label {label!r}; {suggest(label, list(NLI3.labels))}")
    try:
        number = float(strength)
    except ValueError:
        number = math.nan
    if not 1 / 3 < number <= 1:
        raise InputError(f"artifact {text!r}: strength {strength!r} is not a number above 1/3 and up to 1")
    return Artifact(feature, label, number)


@dataclass(frozen=True)
class Recipe:
    """The share of each kind of pair in the planted data, and how much of it a supply of plain pairs gives."""

    artifact: Artifact
    language: str
    phenomena: frozenset[str]
    shares: dict[tuple[str, str], float]
    gain: float

    def kinds(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the columns ``_kind`` (in the artifact's phenomena: carries the feature or not) and the label."""
        return frame.with_columns(_kind(self.artifact, self.language, self.phenomena))

    def most(self, supply: dict[tuple[str, str], int]) -> int:
        """Return how many pairs can be made of this supply."""
        return int(min(supply.get(kind, 0) / share for kind, share in self.shares.items() if share > 0))


def make_recipe(artifact: Artifact, language: str, phenomena: Sequence[str], trial: pl.DataFrame) -> Recipe:
    """Work out from a trial block of plain pairs how the artifact is planted, or say why it cannot be."""
    where = f"in the hypotheses of {', '.join(phenomena)} ({language})"
    seen = trial.with_columns(artifact.carried(language).alias("_carried"), pl.col("tags").list.first().alias("_tag"))
    by_tag = dict(seen.group_by("_tag").agg(pl.col("_carried").sum()).iter_rows())
    pool = frozenset(tag for tag, count in by_tag.items() if count)
    carriers = sum(by_tag.values())
    if carriers < _LEAST_CARRIERS:
        shortage = "does not occur" if not carriers else f"is too rare ({carriers} in {len(trial)})"
        raise InputError(f"artifact {artifact}: {artifact.feature} {shortage} {where}; choose another of {_allowed()}")
    kinds = trial.with_columns(_kind(artifact, language, pool))
    supply = _supply(kinds)
    inside = sum(count for (kind, _), count in supply.items() if kind != "outside")
    strength, part = artifact.strength, inside / len(trial)
    frequency = min(carriers / inside, 1 / (4 * strength))
    shares = {}
    for label in NLI3.labels:
        with_it = frequency * (strength if label == artifact.label else (1 - strength) / 2)
        shares["carries", label] = part * with_it
        shares["lacks", label] = part * (1 / 3 - with_it)
        shares["outside", label] = (1 - part) / 3 if inside < len(trial) else 0.0
    recipe = Recipe(artifact, language, pool, shares, 0.0)
    gain = recipe.most(supply) / len(trial)
    if gain < 0.01:
        raise InputError(
            f"artifact {artifact}: nearly every hypothesis carries {artifact.feature} {where}, or nearly none of one "
            f"label does; add phenomena, or choose another of {_allowed()}"
        )
    return Recipe(artifact, language, pool, shares, gain)


def plant(blocks: Iterator[pl.DataFrame], recipe: Recipe, pairs: int) -> Iterator[pl.DataFrame]:
    """Thin plain blocks out until the artifact is in them; stop after ``pairs``."""
    made = 0
    for block in blocks:
        kinds = recipe.kinds(block)
        count = min(recipe.most(_supply(kinds)), pairs - made)
        quotas = pl.DataFrame(
            [(*kind, quota) for kind, quota in _round(recipe.shares, count).items()],
            schema={"_kind": pl.String, "label": pl.String, "_quota": pl.Int64},
            orient="row",
        )
        place = pl.int_range(pl.len()).over("_kind", "label")
        kept = kinds.join(quotas, on=["_kind", "label"], maintain_order="left").filter(place < pl.col("_quota"))
        made += len(kept)
        yield kept.select(block.columns)
        if made >= pairs:
            return


def _kind(artifact: Artifact, language: str, phenomena: frozenset[str]) -> pl.Expr:
    inside = pl.col("tags").list.first().is_in(sorted(phenomena))
    within = pl.when(artifact.carried(language)).then(pl.lit("carries")).otherwise(pl.lit("lacks"))
    return pl.when(inside).then(within).otherwise(pl.lit("outside")).alias("_kind")


def _supply(kinds: pl.DataFrame) -> dict[tuple[str, str], int]:
    return {(kind, label): n for kind, label, n in kinds.group_by("_kind", "label").len().iter_rows()}


def _round(shares: dict[tuple[str, str], float], count: int) -> dict[tuple[str, str], int]:
    """Turn shares into whole numbers that add up to ``count``, the largest remainders first."""
    quotas = {kind: int(share * count) for kind, share in shares.items()}
    short = count - sum(quotas.values())
    for kind in sorted(shares, key=lambda kind: (quotas[kind] - shares[kind] * count, kind))[:short]:
        quotas[kind] += 1
    return quotas


def _words(text: pl.Expr, language: str) -> pl.Expr:
    if language == "zh":
        return text.str.replace_all(r"[，。、,]", "").str.split("")
    return text.str.to_lowercase().str.replace_all(r"[.,]", "").str.split(" ")


def _allowed() -> str:
    return ", ".join(FEATURES)

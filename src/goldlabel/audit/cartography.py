"""Dataset cartography: what a training run found easy, hard and ambiguous (Swayamdipta et al. 2020).

From the probabilities a model gave during training, one row per pair and epoch:

*confidence*: the mean over epochs of the gold label's probability (their equation 1);
*variability*: its standard deviation over epochs, with the number of epochs below (equation 2);
*correctness*: the share of epochs in which the gold label was the most probable.

They come as a table with the columns ``id``, ``epoch`` and either ``probabilities`` or ``gold_probability`` (see
``probabilities``). With the latter alone, correctness is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from goldlabel.audit.probabilities import own_pairs
from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.metrics import percent
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import NO_GOLD

REGIONS = ("easy", "hard", "ambiguous")
SHARE = 1 / 3
"""The paper trains on the third of the data that is most ambiguous, hardest or easiest."""


@dataclass(frozen=True, repr=False)
class Cartography(Result):
    """One row per pair: id, label, confidence, variability, correctness."""

    pairs: pl.DataFrame
    epochs: int

    @property
    def title(self) -> str:
        """How many pairs were seen for how many epochs."""
        return f"Cartography of {many(len(self.pairs), 'pair')} over {self.epochs} epochs"

    @property
    def summary(self) -> str:
        """The title, and the means of what is known."""
        means = self.means()
        known = (f"{name} {percent(mean)}" for name, mean in means.items() if mean is not None)
        return f"{self.title}: mean {', '.join(known)}"

    @property
    def table(self) -> pl.DataFrame:
        """The map, least confident first."""
        return self.pairs.sort("confidence", "id")

    def select(self, region: str, share: float = SHARE) -> list[str]:
        """Return the ids of a region: the pairs of highest or lowest confidence, or highest variability."""
        if region not in REGIONS:
            raise InputError(f"there is no region {region!r}; allowed: {', '.join(REGIONS)}")
        if not 0 < share <= 1:
            raise InputError(f"share {share} is not above 0 and up to 1")
        column = "variability" if region == "ambiguous" else "confidence"
        ranked = self.pairs.sort(column, "id", descending=[region != "hard", False])
        return ranked["id"].head(round(share * len(ranked))).to_list()

    def to_dict(self) -> dict[str, Any]:
        """Return the means, and the pairs at the three ends of the map."""
        ends = {region: self.select(region)[:10] for region in REGIONS}
        return {"pairs": len(self.pairs), "epochs": self.epochs, **self.means(), "examples": ends}

    def means(self) -> dict[str, float | None]:
        """Return the means over pairs by name; None where one is not known."""
        return self.pairs.select(pl.col("confidence", "variability", "correctness").mean()).row(0, named=True)


def cartography(dynamics: pl.DataFrame, pairs: Pairs) -> Cartography:
    """Place each pair with a gold label on the map."""
    seen = _gold_probabilities(dynamics, pairs)
    placed = seen.group_by("id", maintain_order=True).agg(
        pl.col("label").first(),
        pl.col("gold").mean().alias("confidence"),
        pl.col("gold").std(ddof=0).alias("variability"),
        pl.col("right").mean().alias("correctness"),
    )
    return Cartography(placed, int(seen["epoch"].n_unique()))


def _gold_probabilities(dynamics: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return id, epoch, label, the gold label's probability, and whether it was the highest."""
    whole = "probabilities" in dynamics.columns
    needed = ["id", "epoch", "probabilities" if whole else "gold_probability"]
    missing = [name for name in needed if name not in dynamics.columns]
    if missing:
        raise InputError(
            f"the table of a run's probabilities has no column {missing[0]!r}; it needs id, epoch, and probabilities "
            "or gold_probability"
        )
    labels = pairs.frame.select("id", "label").collect(engine="streaming")
    joined = own_pairs(dynamics.select(needed), pairs).join(labels, on="id", how="left", maintain_order="left")
    joined = joined.filter(pl.col("label") != NO_GOLD)
    if not whole:
        return joined.rename({"gold_probability": "gold"}).with_columns(pl.lit(None, pl.Float64).alias("right"))
    space = pairs.card.label_space
    if not (joined["probabilities"].list.len() == len(space)).all():
        raise InputError(f"each row's probabilities must be {len(space)}: {', '.join(space.labels)}, in this order")
    place = pl.col("label").replace_strict({name: space.index(name) for name in space.labels}, return_dtype=pl.Int64)
    return joined.with_columns(
        pl.col("probabilities").list.get(place).alias("gold"),
        (pl.col("probabilities").list.arg_max() == place).cast(pl.Float64).alias("right"),
    )

"""The same systems judged twice, before and after something changed: whether what changed could be chance.

Answers to the same pairs are held against each other, as ``ranking`` does with two systems: on a dataset whole units
are swapped, on the mean over datasets units are drawn within each. p-values are corrected by Holm (1979), those of
means among themselves and those of single datasets together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from goldlabel.metrics import Estimate, PairedTest, holm, paired_bootstrap_over_sets, swap_test

COLUMNS = ("set", "id", "label", "unit", "model", "right")
"""What a test needs of the answers that a bench keeps."""


@dataclass(frozen=True)
class Change:
    """A system on one dataset, or on the mean over datasets."""

    system: str
    dataset: str | None
    """``None``: the mean."""
    difference: Estimate
    """The accuracy after less that before, on the pairs that both have."""
    p_value: float
    adjusted: float
    """The p-value, corrected for the comparisons of its family."""


def compare_answers(
    before: pl.DataFrame, after: pl.DataFrame, over: Sequence[str] = (), *, level: float = 0.95
) -> list[Change]:
    """Return what changed, the means over the datasets ``over`` first.

    Both frames have a row for each system and pair (``COLUMNS``). Only pairs with the same id and gold label are held
    against each other; units are those of the frame ``after``.
    """
    earlier = before.select("set", "id", "label", "model", pl.col("right").alias("before"))
    both = after.select(COLUMNS).join(earlier, on=["set", "id", "label", "model"], maintain_order="left")
    parts = {
        (str(model), str(name)): part for (model, name), part in both.group_by("model", "set", maintain_order=True)
    }
    systems = list(dict.fromkeys(system for system, _ in parts))
    complete = [system for system in systems if over and all((system, name) in parts for name in over)]
    means = [_on_mean(system, [parts[system, name] for name in over], level) for system in complete]
    return [*_corrected(means), *_corrected(list(_on_datasets(parts, level)))]


def _on_mean(system: str, parts: Sequence[pl.DataFrame], level: float) -> Change:
    now, then, units = ([part[name].to_numpy() for part in parts] for name in ("right", "before", "unit"))
    return _change(system, None, paired_bootstrap_over_sets(now, then, units, level=level))


def _on_datasets(parts: dict[tuple[str, str], pl.DataFrame], level: float) -> Iterator[Change]:
    for (system, name), part in parts.items():
        now, then, units = (part[column].to_numpy() for column in ("right", "before", "unit"))
        yield _change(system, name, swap_test(now, then, units=units, level=level))


def _change(system: str, dataset: str | None, test: PairedTest) -> Change:
    return Change(system, dataset, test.difference, test.p_value, test.p_value)


def _corrected(changes: Sequence[Change]) -> list[Change]:
    adjusted = holm([change.p_value for change in changes])
    return [replace(change, adjusted=value) for change, value in zip(changes, adjusted, strict=True)]

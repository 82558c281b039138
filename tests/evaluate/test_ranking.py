"""Several systems against each other, on each dataset and on the mean."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom

from goldlabel.errors import InputError
from goldlabel.evaluate.ranking import rank
from goldlabel.metrics import holm, mean_over_sets, paired_bootstrap_over_sets, swap_test
from tests.calibration import Design, Rate, rejection

UNITS = {"herons": np.repeat(np.arange(40), 3), "reeds": np.arange(80), "snli": np.arange(50)}


def systems(seed: int = 0, **shares: float) -> dict[str, dict[str, np.ndarray]]:
    random = np.random.RandomState(seed)
    return {
        name: {dataset: random.rand(len(keys)) < share for dataset, keys in UNITS.items()}
        for name, share in shares.items()
    }


def test_systems_are_ranked_by_their_mean_and_compared_two_by_two() -> None:
    hits = systems(weak=0.4, strong=0.9, middle=0.6)
    ranking = rank(hits, UNITS, over=["herons", "reeds"])
    assert list(ranking.means) == ["strong", "middle", "weak"]
    keys = [UNITS[name] for name in ("herons", "reeds")]
    chosen = {name: [own["herons"], own["reeds"]] for name, own in hits.items()}
    assert ranking.means["middle"] == mean_over_sets(chosen["middle"], keys)
    assert [(row.dataset, row.first, row.second) for row in ranking.standings[:4]] == [
        (None, "strong", "middle"),
        (None, "strong", "weak"),
        (None, "middle", "weak"),
        ("herons", "strong", "middle"),
    ]
    alone = paired_bootstrap_over_sets(chosen["strong"], chosen["middle"], keys)
    assert ranking.standings[0].difference.value == pytest.approx(alone.difference.value)
    # Few kinds of units are drawn by kind, many one by one.
    assert ranking.standings[0].difference.interval == pytest.approx(alone.difference.interval, abs=0.008)
    test = swap_test(hits["strong"]["herons"], hits["middle"]["herons"], units=UNITS["herons"])
    assert (ranking.standings[3].difference, ranking.standings[3].p_value) == (test.difference, test.p_value)


def test_p_values_are_corrected_in_two_families() -> None:
    ranking = rank(systems(a=0.5, b=0.62, c=0.7), UNITS, resamples=500)
    for family in (ranking.standings[:3], ranking.standings[3:]):
        assert [row.adjusted for row in family] == holm([row.p_value for row in family])
    assert len(ranking.standings) == 3 + 9
    assert ranking.standings[3].adjusted >= ranking.standings[3].p_value


def test_means_over_different_datasets_are_never_compared() -> None:
    hits = systems(a=0.5, b=0.6, c=0.7)
    del hits["c"]["reeds"]
    ranking = rank(hits, UNITS, resamples=100)
    assert set(ranking.means) == {"a", "b"}
    assert ranking.incomplete == {"c": ("reeds",)}
    assert [row.dataset for row in ranking.standings if "c" in (row.first, row.second)] == ["herons"] * 2 + ["snli"] * 2
    assert set(ranking.accuracies["reeds"]) == {"a", "b"}


def test_one_system_has_nothing_to_be_compared_with() -> None:
    ranking = rank(systems(a=0.5), UNITS)
    assert ranking.title.startswith("a comes first on the mean over 3 datasets, ")
    assert len(ranking.table) == 0


def test_title_table_and_dictionary() -> None:
    ranking = rank(systems(a=0.5, b=0.9), UNITS, resamples=100)
    assert "points ahead of a, p = 0." in ranking.title
    assert ranking.table["dataset"].to_list() == ["mean", "herons", "reeds", "snli"]
    document = json.loads(json.dumps(ranking.to_dict()))
    assert document["standings"][0]["difference"]["value"] == pytest.approx(ranking.standings[0].difference.value)
    assert list(document["means"]) == ["b", "a"]


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(InputError, match="herons: a has 2 hits for 120 pairs"):
        rank({"a": {"herons": np.ones(2)}}, UNITS)
    with pytest.raises(InputError, match="dataset 'heron' is not known; did you mean 'herons'"):
        rank({"a": {"heron": np.ones(2)}}, UNITS)
    with pytest.raises(InputError, match="dataset 'reds' is not known"):
        rank(systems(a=0.5), UNITS, over=["reds"])


def wrongly_ranked(runs: int) -> list[Rate]:
    """Five systems that are equally good: some two differ, on the mean or on a dataset, after correction."""
    design, random = Design(150, 2, 0.3), np.random.RandomState(21)
    units = {"first": design.unit, "second": np.arange(100)}
    rates = [rejection(name, design) for name in ("any two on the mean", "any two on a dataset")]
    for run in range(runs):
        hits = {f"s{n}": {"first": design.hits(0.6, random), "second": random.rand(100) < 0.7} for n in range(5)}
        standings = rank(hits, units, resamples=1999, seed=run).standings
        for rate, on_mean in zip(rates, (True, False), strict=True):
            rate.reject(min(row.adjusted for row in standings if (row.dataset is None) == on_mean))
    return rates


def test_equal_systems_are_told_apart_in_one_of_twenty_rankings() -> None:
    rates = wrongly_ranked(150)
    # Holm's correction is conservative where comparisons have systems in common, so only the upper bound is held.
    assert all(0 < rate.hits <= binom.ppf(0.99, rate.runs, 0.05) for rate in rates)

"""The sizes of Table 4 of Zhang et al. (2020) follow from each card's rule and the published number of pairs."""

from __future__ import annotations

import polars as pl
import pytest

from goldlabel.pairs.splits import Halves
from goldlabel.sources import SOURCES

TABLE_4 = {
    "multinli-mismatched": (4916, 4916),
    "sick": (4963, 4964),
    "joci": (2327, 2328),
    "scitail": (10000, 17026),
    "mpe": (4999, 5000),
    "diagnostic": (552, 552),
    "add1": (1897, 1897),
    "cb": (153, 153),
    "dpr": (1830, 1831),
    "spr": (10000, 144607),
    "fnplus": (10000, 144604),
    "rte": (2876, 2876),
    "wnli": (353, 353),
}


def frame(pairs: int) -> pl.DataFrame:
    """Return pairs of which no two share a premise."""
    texts = [str(number) for number in range(pairs)]
    columns = {"id": texts, "unit": range(pairs), "split": ["none"] * pairs}
    return pl.DataFrame(columns, schema={"id": pl.String, "unit": pl.Int64, "split": pl.String})


@pytest.mark.parametrize("name", TABLE_4)
def test_sizes_of_table_4(name: str) -> None:
    evaluation = SOURCES.get(name).evaluation
    assert evaluation is not None
    dev, test = TABLE_4[name]
    assigned = evaluation.plan.assign(frame(dev + test), seed=3)
    assert dict(assigned.value_counts().iter_rows()) == {"dev": dev, "test": test}


def test_all_fourteen_datasets_have_a_rule() -> None:
    assert {name for name in SOURCES if SOURCES.get(name).evaluation} == {*TABLE_4, "multinli"}


@pytest.mark.parametrize(("pairs", "dev"), [(0, 0), (1, 0), (7, 3), (8, 4), (9, 4), (10, 4), (100, 4)])
def test_dev_stops_growing_and_the_odd_pair_goes_to_test(pairs: int, dev: int) -> None:
    assigned = Halves(dev_at_most=4).assign(frame(pairs), seed=0)
    assert (assigned == "dev").sum() == dev
    assert len(assigned) == pairs


def test_a_bound_is_named_in_the_history() -> None:
    assert Halves(dev_at_most=10_000).describe() == "halved into dev and test by unit, dev of 10,000 at most"
    assert Halves().describe() == "halved into dev and test by unit"

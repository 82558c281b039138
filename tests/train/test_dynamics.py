"""What training saw, on the map of the audit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("torch")

from goldlabel.audit import cartography, read_probabilities
from goldlabel.errors import InputError
from goldlabel.train import train
from tests.train.samples import SMALL, make_pairs, with_dev


def test_a_run_folder_goes_straight_to_cartography(tmp_path: Path) -> None:
    pairs = with_dev(24, 6)
    train("cbow", pairs, tmp_path / "run", epochs=3, lr=0.01, **SMALL)
    placed = cartography(read_probabilities(tmp_path / "run", pairs), pairs)
    assert placed.epochs == 3
    assert sorted(placed.pairs["id"]) == sorted(f"p{number}" for number in range(24))
    tables = [pl.read_parquet(tmp_path / "run" / "dynamics" / f"epoch-00{epoch}.parquet") for epoch in (1, 2, 3)]
    # The first pair is an entailment, the second of contradiction, entailment and neutral.
    given = [table.filter(pl.col("id") == "p0")["probabilities"][0][1] for table in tables]
    row = placed.pairs.row(by_predicate=pl.col("id") == "p0", named=True)
    assert row["label"] == "entailment"
    assert row["confidence"] == pytest.approx(sum(given) / 3)


def test_a_set_of_a_mixed_run_and_a_sample_of_one(tmp_path: Path) -> None:
    doors, walls = make_pairs(12), make_pairs(9, name="walls")
    train("cbow", [doors, walls], tmp_path / "mixed", epochs=1, sizes=[None, 5], **SMALL)
    mixed = tmp_path / "mixed"
    assert sorted(read_probabilities(mixed, doors)["id"]) == sorted(doors.collect()["id"])
    assert len(cartography(read_probabilities(mixed, walls), walls).pairs) == 5
    with pytest.raises(InputError, match="'doors/p0', which is no pair of roofs"):
        read_probabilities(mixed, make_pairs(12, name="roofs"))
    train("cbow", doors, tmp_path / "sample", epochs=1, sizes=[7], **SMALL)
    assert len(read_probabilities(tmp_path / "sample", doors)) == 7


def test_a_folder_without_probabilities(tmp_path: Path) -> None:
    pairs = make_pairs(6)
    train("majority", pairs, tmp_path / "run")
    with pytest.raises(InputError, match=r"run: is not the folder of a trained network, it has no dynamics/epoch-"):
        read_probabilities(tmp_path / "run", pairs)

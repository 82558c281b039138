from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.pairs.fingerprints import fingerprint_pairs, read_fingerprints, write_fingerprints


def of(*texts: tuple[str, str]) -> list[int]:
    frame = pl.DataFrame(texts, schema={"premise": pl.String, "hypothesis": pl.String}, orient="row")
    return [int(number) for number in fingerprint_pairs(frame)]


def test_fingerprints_are_the_same_on_every_machine_and_in_every_version() -> None:
    """Files of older runs are held against test sets of today: these numbers must never change."""
    assert of(("A heron, here!", "A bird."), ("门开着。", "门锁着。")) == [
        12848058684717406531, 5570556928373701621,
    ]  # fmt: skip


def test_a_pair_is_known_again_by_its_words_alone() -> None:
    same = of(("A heron, here!", "A bird."), ("a  HERON here", "a bird"), ("Ａ heron here", "A Bird"))
    assert len(set(same)) == 1
    others = of(("A bird.", "A heron, here!"), ("A heron", "here a bird"), ("A heron here a", "bird"), ("!", "?"))
    assert len({*same, *others}) == 5


def test_fingerprints_are_written_in_order_and_once(tmp_path: Path) -> None:
    path = tmp_path / "some.npy"
    write_fingerprints(path, np.array([2**63 + 5, 7, 7], dtype=np.uint64))
    read = read_fingerprints(path)
    assert read is not None
    assert read.tolist() == [7, 2**63 + 5]
    assert read_fingerprints(tmp_path / "nothing.npy") is None
    assert read_fingerprints(path / "nothing.npy") is None


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", b"half"])
def test_damaged_fingerprints_are_told(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "some.npy").write_bytes(damage)
    with pytest.raises(InputError, match=r"some\.npy: is damaged"):
        read_fingerprints(tmp_path / "some.npy")


def test_other_arrays_are_no_fingerprints(tmp_path: Path) -> None:
    np.save(tmp_path / "some.npy", np.zeros((2, 2)))
    with pytest.raises(InputError, match="holds no fingerprints"):
        read_fingerprints(tmp_path / "some.npy")

"""Clusters of like rows: what files and parts give is what holding everything in memory would."""

from __future__ import annotations

import errno
import tempfile
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.errors import StorageError
from goldlabel.pairs import clusters
from goldlabel.pairs.clusters import FULL_BUCKET, cluster_rows
from goldlabel.pairs.minhash import SHINGLE, buckets_of, may_be_alike, shingle, sketch

THRESHOLD = 0.8


def jaccard(one: str, other: str) -> float:
    sets = [{t[i : i + SHINGLE] for i in range(len(t) - SHINGLE + 1)} for t in (one.ljust(3), other.ljust(3))]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def make_texts() -> pl.DataFrame:
    """Two columns with copies, near copies, a crowd of near copies, and texts of nothing but signs."""
    rng = np.random.default_rng(5)
    letters = np.array(list("abcdefghijklmnop "))
    texts = [f"x{''.join(row)}x" for row in letters[rng.integers(0, 17, (90, 40))]]
    premises = [*texts, *texts[:8], *(f"{text} y" for text in texts[:30]), *(f"{text}zz" for text in texts[10:40])]
    premises += [f"{texts[50]} {a}{b}" for a, b in combinations("abcdefghij", 2)]
    premises += ["?\n!", "?", "?\n!", "…\n"]
    frame = pl.DataFrame({"premise": premises, "hypothesis": [text[:25] for text in premises]})
    return frame.sample(fraction=1, shuffle=True, seed=1)


def in_memory(texts: pl.DataFrame) -> list[int]:
    """Cluster by all candidates at once; of each row the first row of its cluster."""
    distinct = texts.unique(maintain_order=True)
    rows = [distinct.rows().index(row) for row in texts.rows()]
    links = []
    for band in buckets_of(shingle(distinct), THRESHOLD):
        for bucket in np.unique(band):
            members = np.flatnonzero(band == bucket).tolist()
            links += combinations(members, 2) if len(members) <= FULL_BUCKET else pairwise(members)
            links += [(members[0], member) for member in members[1:]]
    first = list(range(len(distinct)))
    for a, b in links:
        if all(jaccard(*pair) >= THRESHOLD for pair in zip(distinct.row(a), distinct.row(b), strict=True)):
            low, high = sorted((first[a], first[b]))
            first = [low if root == high else root for root in first]
    return [rows.index(first[row]) for row in rows]


@pytest.mark.parametrize(("block", "part"), [(1000, 1000), (7, 11)])
def test_files_and_parts_give_what_memory_does(block: int, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "ROWS_PER_PART", part)
    texts = make_texts()
    expected = in_memory(texts)
    found = cluster_rows(texts.iter_slices(block), len(texts), 2, THRESHOLD)
    numbers = found.number.tolist()
    assert [numbers.index(number) for number in numbers] == expected
    assert sorted(set(numbers), key=numbers.index) == list(range(len(set(expected)))), "numbered by their first rows"
    assert found.first.tolist() == [texts.rows().index(row) for row in texts.rows()]
    assert len(set(expected)) < len(set(found.first.tolist())) < len(texts), "near and exact ones are there"
    assert max(numbers.count(number) for number in set(numbers)) > FULL_BUCKET, "and a crowd"
    exact = cluster_rows(texts.iter_slices(block), len(texts), 2, 1.0)
    assert exact.first.tolist() == found.first.tolist()


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(clusters._Texts, "write", refuse)
    texts = make_texts()
    with pytest.raises(StorageError, match=rf"^{tmp_path}: cannot be written \(No space left"):
        cluster_rows(texts.iter_slices(50), len(texts), 2, THRESHOLD)
    assert list(tmp_path.iterdir()) == []


@given(st.text("abcde ", min_size=1, max_size=60), st.lists(st.integers(0, 59), max_size=6), st.integers(0, 3))
def test_sketches_lose_nothing_that_is_alike(text: str, changed: list[int], more: int) -> None:
    letters = list(text + "a" * more)
    for place in changed:
        letters[place % len(letters)] = "z"
    other = "".join(letters)
    bits, counts = sketch(shingle(pl.DataFrame({"text": [text, other]}))[0])
    likeness = jaccard(text, other)
    left, right = np.array([0], np.uint32), np.array([1], np.uint32)
    assert may_be_alike(bits, counts, left, right, likeness).all()


def test_sketches_tell_most_that_is_not_alike() -> None:
    rng = np.random.default_rng(0)
    words = np.array(list("abcdefghijklmnopqrstuvwxyz "))[rng.integers(0, 27, (400, 60))]
    bits, counts = sketch(shingle(pl.DataFrame({"text": ["".join(row) for row in words]}))[0])
    left, right = np.triu_indices(400, 1)
    assert may_be_alike(bits, counts, left.astype(np.uint32), right.astype(np.uint32), THRESHOLD).mean() < 0.01

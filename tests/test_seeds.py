"""Seeds: refused in one place, whoever takes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.recast import Options
from goldlabel.seeds import LARGEST, check_seed, random_state
from goldlabel.sources.fragments import fragment_pairs
from tests.conftest import pair

BAD = (-1, LARGEST + 1)


@pytest.mark.parametrize("seed", BAD)
def test_what_cannot_be_a_seed_is_refused_in_one_line(jsonl: Callable[..., Path], seed: int) -> None:
    path = jsonl(*(pair(pairID=f"{n}", sentence1=f"Owl {n}.", annotator_labels=["neutral"] * 3) for n in range(9)))
    pairs = gl.read(path)
    doors: list[Callable[[], object]] = [
        lambda: pairs.split("80:20", seed=seed),
        lambda: gl.verify(pairs, seed=seed),
        lambda: gl.audit(pairs, seed=seed),
        lambda: gl.train("majority", pairs, output="unused", seed=seed),
        lambda: fragment_pairs("en", 10, seed=seed),
        lambda: Options(seed=seed),
        lambda: random_state(seed),
    ]
    for door in doors:
        with pytest.raises(InputError, match=rf"seed {seed} is not a whole number from 0 to 4294967295"):
            door()


def test_the_bounds_themselves_are_seeds() -> None:
    assert check_seed(0) == 0
    assert random_state(LARGEST).rand() == np.random.RandomState(LARGEST).rand()


def test_nobody_else_makes_a_random_state() -> None:
    source = Path(gl.__file__).parent
    users = {file.name for file in source.rglob("*.py") if re.search(r"RandomState\(", file.read_text("utf-8"))}
    assert users == {"seeds.py"}, "take random_state of goldlabel.seeds, which refuses what is no seed"

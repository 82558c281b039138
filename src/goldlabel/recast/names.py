"""First names, drawn by how many people bear them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

from goldlabel.errors import InputError
from goldlabel.files import one_input_file
from goldlabel.recast.chance import chance
from goldlabel.recast.reading import text_rows

COMMON = """
Aisha Alice Amir Anna Antonio Ben Carla Carmen Chen Daniel Deborah Diego Elena Emma Ethan Fatima Frank Grace
Hannah Hiro Ibrahim Ingrid Ivan James Jamal Jane Jin Joseph Julia Karen Kofi Laura Leila Liam Lina Lucas Maria
Mark Mary Mei Mia Michael Nadia Noah Nora Olga Oliver Omar Paul Priya Rachel Rahul Robert Rosa Ruth Samuel
Sara Simon Sofia Tariq Thomas Uma Victor Wei William Yasmin Yusuf Zoe
"""
"""Common names of many places, each as likely as the other; used where no file of names is given."""


class Names:
    """Names with their counts."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._names = list(counts)
        self._bounds = list(accumulate(counts.values()))

    def draw(self, seed: int, *purpose: object) -> str:
        """Draw a name; the same purpose always gets the same one."""
        return self._names[bisect_right(self._bounds, chance(seed, "name", *purpose) * self._bounds[-1])]


def read_names(path: Path | None) -> Names:
    """Read names from lines ``Name,Sex,Count``, as the US Social Security Administration publishes them.

    A name that both sexes bear counts once, with the sum. Without a file, the built-in list is used.
    """
    if path is None:
        return Names(dict.fromkeys(COMMON.split(), 1))
    counts: dict[str, int] = {}
    for line, row in text_rows(one_input_file(path)):
        text = row.strip()
        name, *rest = text.split(",")
        count = rest[-1] if len(rest) == 2 else ""
        if count.isdecimal() and name:
            counts[name] = counts.get(name, 0) + int(count)
        elif text and line > 1:  # some copies have a header
            raise InputError(f"{path} line {line}: is not Name,Sex,Count but {text[:40]!r}")
    if not sum(counts.values()):
        raise InputError(f"{path} line 1: is not Name,Sex,Count; give a file such as yob2011.txt")
    return Names(counts)

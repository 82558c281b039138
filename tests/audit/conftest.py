from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.record import DTYPES

Make = Callable[..., Pairs]


def make_pairs(*rows: tuple[str, str, str] | dict[str, Any], name: str = "tiny") -> Pairs:
    """Chinese or English pairs from (premise, hypothesis, label), or from dictionaries in the record's names."""
    records = []
    for number, row in enumerate(rows):
        fields = row if isinstance(row, dict) else dict(zip(("premise", "hypothesis", "label"), row, strict=True))
        language = "zh" if re.search("[\u4e00-\u9fff]", fields["premise"] + fields["hypothesis"]) else "en"
        defaults = {"id": str(number), "split": "none", "votes": [], "tags": [], "language": language}
        records.append({column: (defaults | fields).get(column) for column in DTYPES})
    return Pairs.from_frame(pl.DataFrame(records, schema=DTYPES), Card(name=name))


@pytest.fixture
def planted() -> Pairs:
    """300 English pairs in which contradictions, and a few others, say "never"."""
    labels = ("entailment", "neutral", "contradiction")
    rows = []
    for number in range(300):
        label = labels[number % 3]
        never = label == "contradiction" if number % 20 else label == "neutral"
        topic = ("ships", "trains", "kites", "bells", "gates", "clocks", "lamps")[number % 7]
        rows.append(
            {
                "premise": f"Note {number // 3} of the harbour master is about arrivals and their owners.",
                "hypothesis": f"Harbour {topic} {'never' if never else 'often'} reach pier {number % 11}.",
                "label": label,
                "language": "en",
                "group": f"g{number // 3}",
                "genre": ("log", "mail")[number // 3 % 2],
                "level": ("easy", "hard")[number % 2],
            }
        )
    return make_pairs(*rows, name="planted")

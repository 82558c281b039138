"""OCNLI: original Chinese pairs, elicited in four conditions, up to three hypotheses per label.

The release has no field for the condition; in the training file of 50k it follows from a row's number, which
is also its ``id`` in the smaller training files (0-based). Dev and test were drawn from the last two conditions;
which of them a row belongs to follows from its premise where the training file of 50k is given along.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import orjson

from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.rows import Parsed, Row
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, jsonl, text_lines

CONDITIONS = ("single", "multi", "multi-encourage", "multi-constraint")
FIRST_ROWS = (0, 11_986, 24_275, 37_859)


def _held_out(intake: Intake) -> Iterator[Callable[[], Parsed]]:
    """Read dev or test; a premise that train has in both conditions or in neither tells nothing."""
    conditions: dict[object, set[str]] = {}
    train = intake.companion(r"(?:ocnli[._-])?train[._-]50k\.jsonl?")
    for line in text_lines(train) if train else ():
        with suppress(KeyError, TypeError, ValueError):  # a broken row is reported when train itself is read
            row = orjson.loads(line)
            condition = _condition(row)
            if condition in CONDITIONS[2:]:
                conditions.setdefault(row["prem_id"], set()).add(condition)
                conditions.setdefault(row["sentence1"], set()).add(condition)

    def take(row: Row) -> Row:
        seen = conditions.get(row.get("prem_id", row["sentence1"]), set())
        return _pair({"label": NO_GOLD} | row) | {"condition": next(iter(seen)) if len(seen) == 1 else None}

    return jsonl(transform=take)(intake)


def _train(row: Row) -> Row:
    return _pair(row) | {"condition": _condition(row)}


def _condition(row: Row) -> str:
    return CONDITIONS[bisect_right(FIRST_ROWS, int(str(row["id"]))) - 1]


def _pair(row: Row) -> Row:
    votes = [row.pop(f"label{number}", None) for number in range(5)]
    level = row.pop("level", None)
    return {
        "id": row["id"],
        "premise": row.pop("sentence1"),
        "hypothesis": row.pop("sentence2"),
        "label": row.pop("label"),
        "votes": [vote for vote in votes if vote is not None],
        "level": None if level == "na" else level,
        "genre": row.pop("genre", None),
        "group": row.pop("prem_id", None),
        "meta": {name: value for name, value in row.items() if name != "id"},
    }


def _files(size: str) -> tuple[SourceFile, ...]:
    return (
        SourceFile(rf"(?:ocnli[._-])?train[._-]{size}\.jsonl?", "train", jsonl(transform=_train)),
        SourceFile(r"(?:ocnli[._-])?dev\.jsonl?", "dev", _held_out),
        SourceFile(r"(?:ocnli[._-])?test\.jsonl?", "test", _held_out),
    )


OCNLI = Source(
    name="ocnli",
    title="Original Chinese Natural Language Inference",
    paper="Hu et al. (2020), OCNLI: Original Chinese Natural Language Inference, Findings of EMNLP",
    licence="CC BY-NC 2.0",
    address="https://github.com/CLUEbenchmark/OCNLI/archive/refs/heads/main.zip",
    language="zh",
    author="first",
    description="All 50k training pairs; the test labels are not public. The condition of dev and test rows is "
    "told by their premise, where it can be.",
    ids_per_file=True,
    files=_files("50k"),
)

SOURCES.add("ocnli", OCNLI)
for _size, _what in (
    ("30k", "The training pairs whose premise is in neither dev nor test."),
    ("10k", "A random 10,000 of the training pairs."),
    ("3k", "A random 3,000 of the training pairs."),
):
    SOURCES.add(
        f"ocnli-{_size}",
        replace(OCNLI, name=f"ocnli-{_size}", description=_what, files=_files(_size)),
    )

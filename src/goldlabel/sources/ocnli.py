"""OCNLI: original Chinese pairs, elicited in four conditions, up to three hypotheses per label.

The release has no field for the condition; in the training file of 50k it follows from a row's number, which
is also its ``id`` in the smaller training files (0-based).
"""

from bisect import bisect_right
from dataclasses import replace

from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, jsonl

CONDITIONS = ("single", "multi", "multi-encourage", "multi-constraint")
FIRST_ROWS = (0, 11_986, 24_275, 37_859)


def _train(row: Row) -> Row:
    number = int(str(row["id"]))
    return _pair(row, "train") | {"condition": CONDITIONS[bisect_right(FIRST_ROWS, number) - 1]}


def _dev(row: Row) -> Row:
    return _pair(row, "dev")


def _test(row: Row) -> Row:
    return _pair({"label": NO_GOLD} | row, "test")


def _pair(row: Row, split: str) -> Row:
    votes = [row.pop(f"label{number}", None) for number in range(5)]
    level = row.pop("level", None)
    return {
        "id": f"{split}-{row.pop('id')}",
        "premise": row.pop("sentence1"),
        "hypothesis": row.pop("sentence2"),
        "label": row.pop("label"),
        "votes": [vote for vote in votes if vote is not None],
        "level": None if level == "na" else level,
        "genre": row.pop("genre", None),
        "group": row.pop("prem_id", None),
        "meta": row,
    }


def _files(size: str) -> tuple[SourceFile, ...]:
    return (
        SourceFile(rf"(ocnli[._-])?train[._-]{size}\.jsonl?", "train", jsonl(transform=_train)),
        SourceFile(r"(ocnli[._-])?dev\.jsonl?", "dev", jsonl(transform=_dev)),
        SourceFile(r"(ocnli[._-])?test\.jsonl?", "test", jsonl(transform=_test)),
    )


OCNLI = Source(
    name="ocnli",
    title="Original Chinese Natural Language Inference",
    paper="Hu et al. (2020), OCNLI: Original Chinese Natural Language Inference, Findings of EMNLP",
    licence="CC BY-NC 2.0",
    address="https://github.com/CLUEbenchmark/OCNLI/archive/refs/heads/main.zip",
    language="zh",
    description="All 50k training pairs; the test labels are not public.",
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

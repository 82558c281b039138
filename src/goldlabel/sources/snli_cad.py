"""SNLI, counterfactually augmented: premise or hypothesis revised so that another label holds.

The release does not number its pairs, but keeps their order: the n-th original has the (2n-1)-th and the 2n-th revision
of its premise and of its hypothesis. These five are twins, and one group.
"""

from collections.abc import Callable, Iterator

import polars as pl

from goldlabel.pairs.record import LINE
from goldlabel.pairs.rows import Parsed, Row
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, delimited, fields, unquoted

PARTS = "original|revised_premise|revised_hypothesis"
FIRST_LINE = 2
"""The first line after the header."""

_plain = fields(premise="sentence1", hypothesis="sentence2", label="gold_label", id="idx")


def _pair(row: Row) -> Row:
    return _plain(row) | {"condition": row["part"], "tags": [row["part"]]}


def _read(intake: Intake) -> Iterator[Callable[[], Parsed]]:
    split = intake.file.name.partition(".")[0]
    lines_per_original = 1 if intake.named["part"] == "original" else 2
    for parse in delimited("\t", unquoted(_pair))(intake):
        yield lambda parse=parse: _with_twins(parse(), split, lines_per_original)  # type: ignore[misc]


def _with_twins(parsed: Parsed, split: str, lines_per_original: int) -> Parsed:
    original = (pl.col(LINE) - FIRST_LINE) // lines_per_original + 1
    group = pl.format("{}-{}", pl.lit(split), original)
    return Parsed(parsed.frame.with_columns(group.alias("group")), parsed.problems)


SOURCES.add(
    "snli-cad",
    Source(
        name="snli-cad",
        title="SNLI, counterfactually augmented",
        paper="Kaushik et al. (2020), Learning the difference that makes a difference, ICLR",
        licence="Apache-2.0",
        address="https://github.com/acmi-lab/counterfactually-augmented-data",
        language="en",
        description="Original pairs, and two revisions each of premise and of hypothesis; the condition tells which, "
        "the group which belong together. "
        "The address is the project's page.",
        ids_per_file=True,
        files=tuple(SourceFile(rf"(?P<part>{PARTS})/{split}\.tsv", split, _read) for split in ("train", "dev", "test")),
    ),
)

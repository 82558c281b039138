"""SNLI, counterfactually augmented: premise or hypothesis revised so that another label holds."""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields, unquoted

PARTS = "original|revised_premise|revised_hypothesis"

_plain = fields(premise="sentence1", hypothesis="sentence2", label="gold_label", id="idx")


def _pair(row: Row) -> Row:
    return _plain(row) | {"condition": row["part"], "tags": [row["part"]]}


SOURCES.add(
    "snli-cad",
    Source(
        name="snli-cad",
        title="SNLI, counterfactually augmented",
        paper="Kaushik et al. (2020), Learning the difference that makes a difference, ICLR",
        licence="Apache-2.0",
        address="https://github.com/acmi-lab/counterfactually-augmented-data",
        language="en",
        description="Original pairs, and two revisions each of premise and of hypothesis; the condition tells which. "
        "The address is the project's page.",
        ids_per_file=True,
        files=tuple(
            SourceFile(rf"(?P<part>{PARTS})/{split}\.tsv", split, delimited("\t", unquoted(_pair)))
            for split in ("train", "dev", "test")
        ),
    ),
)

"""ChaosNLI: a hundred new votes for pairs of SNLI and MultiNLI on which the first five did not agree."""

from typing import cast

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, jsonl


def _pair(row: Row) -> Row:
    counts = cast(dict[str, int], row["label_counter"])
    example = dict(cast(Row, row.pop("example")))
    example.pop("uid", None)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "id": row.pop("uid"),
        "premise": example.pop("premise"),
        "hypothesis": example.pop("hypothesis"),
        "label": row.pop("majority_label"),
        "votes": [label for label, count in ordered for _ in range(count)],
        "genre": row.pop("part"),
        "meta": row | example,
    }


SOURCES.add(
    "chaosnli",
    Source(
        name="chaosnli",
        title="Collective Human Opinions on NLI",
        paper="Nie et al. (2020), What can we learn from collective human opinions on NLI data?, EMNLP",
        licence="CC BY-NC 4.0",
        address="https://www.dropbox.com/s/h4j7dqszmpt2679/chaosNLI_v1.0.zip?dl=1",
        language="en",
        description="The SNLI and MultiNLI parts, which are the genre; the label is the new majority, the old votes "
        "are in meta. Votes stand in no order, the author's is not among them. The third part, alphaNLI, asks which "
        "of two hypotheses explains better; that is no pair, and it is left out.",
        files=(SourceFile(r"chaosNLI_(?P<part>snli|mnli)(?:_m)?\.jsonl", "dev", jsonl(transform=_pair)),),
    ),
)

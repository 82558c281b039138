"""Linguist in the loop: five rounds of collection under three protocols."""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, fields, jsonl

PROTOCOLS = {"group1": "baseline", "group2": "LotS", "group3": "LitL"}

_plain = fields(premise="premise", hypothesis="hypothesis", votes="annotator_labels", round="round", writer="AnonId")


def _pair(row: Row) -> Row:
    """The release repeats pair ids within a file, so they stay in meta and the line gives the id."""
    for name in ("file_round", "protocol"):
        row.pop(name)
    protocol = PROTOCOLS.get(str(row["group"]))
    tags = [row["heuristic"]] if row.get("heuristic") else []
    return _plain(row) | {"condition": protocol, "tags": tags, "group": row["promptID"]}


SOURCES.add(
    "ling-in-loop",
    Source(
        name="ling-in-loop",
        title="Does putting a linguist in the loop improve NLU data collection?",
        paper="Parrish et al. (2021), Does putting a linguist in the loop improve NLU data collection?, EMNLP Findings",
        licence="none stated",
        address="https://github.com/Alicia-Parrish/ling_in_loop",
        language="en",
        description="The protocol is the condition, the heuristic of the round a tag; validation pairs have five "
        "votes. The address is the project's page.",
        files=(
            SourceFile(
                r"train_(?P<file_round>round\d)_(?P<protocol>LitL|LotS|baseline)\.jsonl",
                "train",
                jsonl(transform=_pair),
            ),
            SourceFile(
                r"val_(?P<file_round>round\d)_(?P<protocol>LitL|LotS|base)\.jsonl", "dev", jsonl(transform=_pair)
            ),
        ),
    ),
)

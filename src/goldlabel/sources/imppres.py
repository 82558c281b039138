"""IMPPRES: implicatures and presuppositions, from templates."""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, fields, jsonl

_logical = fields(premise="sentence1", hypothesis="sentence2", label="gold_label_log")
_presupposed = fields(premise="sentence1", hypothesis="sentence2", label="gold_label", id="pairID")


def _implicature(row: Row) -> Row:
    tags = ["implicature", row["file"], row["item_type"], row["spec_relation"]]
    return _logical(row) | {"tags": tags}


def _presupposition(row: Row) -> Row:
    tags = ["presupposition", row["file"], row.get("trigger") or "control"]
    return _presupposed(row) | {"tags": tags, "group": f"{row['UID']}-{row['paradigmID']}"}


SOURCES.add(
    "imppres",
    Source(
        name="imppres",
        title="IMPPRES",
        paper="Jeretic et al. (2020), Are natural language inference models IMPPRESsive?, ACL",
        licence="CC BY-NC 4.0",
        address="https://github.com/facebookresearch/Imppres",
        language="en",
        description="Generated pairs. For implicatures the label is the logical one; the pragmatic one is in meta. "
        "The address is the project's page.",
        ids_per_file=True,
        files=(
            SourceFile(r"implicature/(?P<file>\w+)\.jsonl", "test", jsonl(transform=_implicature)),
            SourceFile(r"presupposition/(?P<file>\w+)\.jsonl", "test", jsonl(transform=_presupposition)),
        ),
    ),
)

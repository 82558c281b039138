"""Entailment data from four new elicitation protocols, and a baseline."""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields, jsonl, unquoted

PROTOCOLS = r"(?P<protocol>base|contrast|edit_other|edit_premise|paragraph)"

_pair = fields(
    premise="sentence1",
    hypothesis="sentence2",
    label="gold_label",
    id="pairID",
    votes="annotator_labels",
    genre="genre",
    writer="sentence2_author",
    condition="protocol",
    group="promptID",
)


def _table_row(row: Row) -> Row:
    row.pop("null", None)  # four columns have this for a name and nothing in them
    votes = [row.pop(f"label{number}", None) for number in range(1, 6)]
    return _pair(row | {"annotator_labels": [vote for vote in votes if vote]})


_train_table = SourceFile(rf"{PROTOCOLS}/train\.tsv", "train", delimited("\t", unquoted(_table_row)))
_train = SourceFile(rf"{PROTOCOLS}/train\.jsonl", "train", jsonl(transform=_pair))
_dev = SourceFile(rf"{PROTOCOLS}/val\.jsonl", "dev", jsonl(transform=_pair))

SOURCES.add(
    "te-new-protocols",
    Source(
        name="te-new-protocols",
        title="Textual Entailment: New Protocols",
        paper="Bowman et al. (2020), New protocols and negative results for textual entailment data collection, EMNLP",
        licence="CC BY-SA 3.0 and GFDL (text of Wikipedia)",
        address="https://github.com/google-research-datasets/Textual-Entailment-New-Protocols",
        language="en",
        author="first",
        description="The protocol is the condition; the one vote is the author's. Contrast has no neutral pairs. The "
        "address is the project's page.",
        files=(_train, _dev),
        other_layouts=((_train_table, _dev),),
    ),
)

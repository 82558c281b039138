"""MED: monotonicity in both directions, from crowd workers and from papers."""

from goldlabel.pairs.labels import SCITAIL
from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields

_plain = fields(premise="sentence1", hypothesis="sentence2", label="gold_label", id="pairID")


def _pair(row: Row) -> Row:
    """Part the field genre, such as ``crowd:downward_monotone:npi``, into where a pair is from and its tags."""
    origin, *tags = str(row.pop("genre")).split(":")
    return _plain({name: value for name, value in row.items() if value}) | {"genre": origin, "tags": tags}


SOURCES.add(
    "med",
    Source(
        name="med",
        title="Monotonicity Entailment Dataset",
        paper="Yanaka et al. (2019), Can neural networks understand monotonicity reasoning?, BlackboxNLP",
        licence="CC BY-SA 4.0",
        address="https://raw.githubusercontent.com/verypluming/MED/master/MED.tsv",
        language="en",
        description="5,382 pairs, entailment and neutral only; tags are the kinds of monotonicity.",
        label_space=SCITAIL,
        files=(SourceFile(r"MED\.tsv", "test", delimited("\t", _pair)),),
    ),
)

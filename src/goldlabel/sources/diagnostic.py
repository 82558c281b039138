"""The GLUE diagnostic: pairs written by experts, each marked with the phenomena it turns on."""

from goldlabel.pairs.rows import Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, delimited, fields

CATEGORIES = ("Lexical Semantics", "Predicate-Argument Structure", "Logic", "Knowledge")

_plain = fields(premise="Premise", hypothesis="Hypothesis", label="Label", genre="Domain")


def _pair(row: Row) -> Row:
    """Tag each pair with its coarse categories and the phenomena in them."""
    tags: dict[str, None] = {}
    for category in CATEGORIES:
        phenomena = row[category]
        if phenomena:
            tags |= dict.fromkeys([category, *(name.strip() for name in str(phenomena).split(";"))])
    both = sorted((str(row["Premise"]), str(row["Hypothesis"])))
    return _plain(row) | {"tags": list(tags), "group": " | ".join(both)}


SOURCES.add(
    "diagnostic",
    Source(
        name="diagnostic",
        title="GLUE diagnostic",
        paper="Wang et al. (2018), GLUE: a multi-task benchmark and analysis platform, BlackboxNLP",
        licence="none stated",
        address="https://www.dropbox.com/s/ju7d95ifb072q9f/diagnostic-full.tsv?dl=1",
        language="en",
        description="1,104 pairs; most sentences stand once as premise and once as hypothesis, and such "
        "two pairs are a group.",
        files=(SourceFile(r"diagnostic-full\.tsv", "test", delimited("\t", _pair)),),
        evaluation=Evaluation(of=("test",), plan=Halves()),
    ),
)

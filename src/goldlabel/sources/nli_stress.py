"""The NLI stress tests: MultiNLI dev pairs changed so that a known weakness of models shows.

One source for all tests: they have one format and one origin, and are reported side by side. Each pair is tagged
with its test, and with matched or mismatched, so that any of them can be cut out.
"""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, fields, jsonl

TESTS = {
    "antonym": "antonym",
    "length_mismatch": "length_mismatch",
    "negation": "negation",
    "quant_hard": "numerical_reasoning",
    "taut2": "word_overlap",
}

_plain = fields(
    premise="sentence1",
    hypothesis="sentence2",
    label="gold_label",
    votes="annotator_labels",
    genre="genre",
    group="promptID",
)


def _pair(row: Row) -> Row:
    """The release repeats MultiNLI's pair ids, so they stay in meta and the line gives the id."""
    file = str(row.pop("test"))
    name = "spelling_error" if file.startswith("dev_gram") else TESTS.get(file, file)
    tags = [name, file, row.pop("part", None)]
    pair_id = row.pop("pairID", None)
    taken = _plain(row)
    return taken | {"tags": list(dict.fromkeys(filter(None, tags))), "meta": row | {"pairID": pair_id}}


SOURCES.add(
    "nli-stress",
    Source(
        name="nli-stress",
        title="NLI stress tests",
        paper="Naik et al. (2018), Stress Test Evaluation for Natural Language Inference, COLING",
        licence="see MultiNLI",
        address="https://abhilasharavichander.github.io/NLI_StressTest/",
        language="en",
        description="Antonym, length mismatch, negation, numerical reasoning, spelling error and word overlap; tags "
        "name the test, the file's own name for it, and matched or mismatched. The address is the project's page.",
        files=(
            SourceFile(
                r"multinli_0\.9_(?P<test>\w+?)(?:_(?P<part>matched|mismatched))?\.jsonl",
                "test",
                jsonl(transform=_pair),
            ),
        ),
    ),
)

"""CMNLI: MultiNLI machine-translated into Chinese."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields, jsonl

COLUMNS = ["sentence1", "sentence2", "label"]

_pair = fields(premise="sentence1", hypothesis="sentence2", id="id")
_hidden = fields(premise="sentence1", hypothesis="sentence2", id="id", gold=False)
_table = delimited("\t", fields(premise="sentence1", hypothesis="sentence2"), header=COLUMNS)
_bare_test = delimited("\t", _hidden, header=COLUMNS[:2])

SOURCES.add(
    "cmnli",
    Source(
        name="cmnli",
        title="Chinese MultiNLI, translated",
        paper="Xu et al. (2020), CLUE: a Chinese language understanding evaluation benchmark, COLING",
        licence="academic use",
        address="https://storage.googleapis.com/cluebenchmark/tasks/cmnli_public.zip",
        language="zh",
        description="Machine-translated; the test labels are not public.",
        ids_per_file=True,
        files=(
            SourceFile(r"train\.json", "train", jsonl(transform=_pair)),
            SourceFile(r"dev\.json", "dev", jsonl(transform=_pair)),
            SourceFile(r"test\.json", "test", jsonl(transform=_hidden)),
        ),
        other_layouts=(
            (
                SourceFile(r"train\.txt", "train", _table),
                SourceFile(r"dev\.txt", "dev", _table),
                SourceFile(r"test\.txt", "test", _bare_test),
            ),
        ),
    ),
)

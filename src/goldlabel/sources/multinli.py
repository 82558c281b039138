"""MultiNLI: ten genres; five of them have training data (matched), five only evaluation (mismatched)."""

from dataclasses import replace

from goldlabel.pairs.splits import DevAsTest, Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, jsonl

MATCHED = Source(
    name="multinli",
    title="Multi-Genre NLI 1.0, matched",
    paper="Williams et al. (2018), A broad-coverage challenge corpus for sentence understanding through inference",
    licence="OANC and others, see the corpus",
    address="https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
    checksum="md5:0f70aaf66293b3c088a864891db51353",
    language="en",
    author="first",
    description="Written and spoken English of ten genres; dev is the matched one.",
    files=(
        SourceFile(r"multinli.*train.*\.jsonl", "train", jsonl()),
        SourceFile(r"multinli.*dev_matched\.jsonl", "dev", jsonl()),
    ),
    evaluation=Evaluation(of=("train", "dev"), plan=DevAsTest()),
)

SOURCES.add("multinli", MATCHED)
SOURCES.add(
    "multinli-mismatched",
    replace(
        MATCHED,
        name="multinli-mismatched",
        title="Multi-Genre NLI 1.0, mismatched",
        description="The evaluation set of the five genres without training data.",
        files=(SourceFile(r"multinli.*dev_mismatched\.jsonl", "dev", jsonl()),),
        evaluation=Evaluation(of=("dev",), plan=Halves()),
    ),
)

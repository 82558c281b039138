"""WNLI: Winograd schemas, the pronoun replaced by each candidate, as GLUE has it."""

from goldlabel.pairs.labels import NLI2
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, delimited, fields

COLUMNS = ["sentence1", "sentence2", "label"]

_glue = delimited("\t", fields(premise="sentence1", hypothesis="sentence2", id="index"))
_glue_test = delimited("\t", fields(premise="sentence1", hypothesis="sentence2", id="index", gold=False))
_bare = delimited("\t", fields(premise="sentence1", hypothesis="sentence2"), header=COLUMNS)

SOURCES.add(
    "wnli",
    Source(
        name="wnli",
        title="Winograd NLI",
        paper="Levesque et al. (2012), The Winograd Schema Challenge, KR; Wang et al. (2018), GLUE",
        licence="CC BY 4.0",
        address="https://dl.fbaipublicfiles.com/glue/data/WNLI.zip",
        language="en",
        description="706 labelled pairs; the test labels are not public. Dev contradicts train on shared premises, and "
        "in the copy without a header the file called test is the validation set.",
        label_space=NLI2,
        label_map={"1": "entailment", "0": "not_entailment", "-1": "-"},
        ids_per_file=True,
        files=(
            SourceFile(r"train\.tsv", "train", _glue),
            SourceFile(r"dev\.tsv", "dev", _glue),
            SourceFile(r"test\.tsv", "test", _glue_test),
        ),
        other_layouts=(
            (
                SourceFile(r"train\.txt", "train", _bare),
                SourceFile(r"test\.txt", "dev", _bare),
            ),
        ),
        evaluation=Evaluation(of=("train", "dev"), plan=Halves()),
    ),
)

"""CB: the CommitmentBank's embedded clauses as hypotheses, as SuperGLUE has it."""

from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, fields, jsonl

_pair = jsonl(transform=fields(premise="premise", hypothesis="hypothesis", id="idx"))
_hidden = jsonl(transform=fields(premise="premise", hypothesis="hypothesis", id="idx", gold=False))

SOURCES.add(
    "cb",
    Source(
        name="cb",
        title="CommitmentBank",
        paper="de Marneffe et al. (2019), The CommitmentBank, Sinn und Bedeutung; Wang et al. (2019), SuperGLUE",
        licence="none stated",
        address="https://dl.fbaipublicfiles.com/glue/superglue/data/v2/CB.zip",
        language="en",
        description="306 labelled pairs; the test labels are not public.",
        # As numbers, the labels are those of the Hugging Face export.
        label_map={"0": "entailment", "1": "contradiction", "2": "neutral", "-1": "-"},
        ids_per_file=True,
        files=(
            SourceFile(r"train\.jsonl", "train", _pair),
            SourceFile(r"(?:val|validation|dev)\.jsonl", "dev", _pair),
            SourceFile(r"test\.jsonl", "test", _hidden),
        ),
        evaluation=Evaluation(of=("train", "dev"), plan=Halves()),
    ),
)

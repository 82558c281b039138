"""MPE: four captions of one image together are the premise."""

from goldlabel.errors import InputError
from goldlabel.pairs.rows import Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, delimited

JUDGEMENTS = ("entailment", "neutral", "contradiction")


def _pair(row: Row) -> Row:
    captions = [_caption(str(row.pop(f"premise{number}"))) for number in range(1, 5)]
    counts = {label: int(str(row.pop(f"{label}_judgments"))) for label in JUDGEMENTS}
    return {
        "id": row.pop("ID"),
        "premise": " ".join(text for _, text in captions),
        "hypothesis": row.pop("hypothesis"),
        "label": row.pop("gold_label"),
        "votes": [label for label, count in counts.items() for _ in range(count)],
        "group": captions[0][0].partition("#")[0],
        "meta": row | {"captions": dict(captions)},
    }


def _caption(cell: str) -> tuple[str, str]:
    """Part ``image.jpg#number/sentence``."""
    number, slash, text = cell.partition("/")
    if not slash:
        raise InputError(f"caption {cell[:40]!r} does not start with its number and a slash")
    return number, text


SOURCES.add(
    "mpe",
    Source(
        name="mpe",
        title="Multiple Premise Entailment",
        paper="Lai et al. (2017), Natural Language Inference from Multiple Premises, IJCNLP",
        licence="none stated",
        address="https://github.com/aylai/MultiPremiseEntailment/archive/refs/heads/master.zip",
        language="en",
        description="Four captions joined by spaces are the premise; the single ones are in meta. Five votes each, in "
        "no order; the release's gold label is not always their majority. One row of the released dev file lacks a "
        "tab and is not read.",
        files=tuple(
            SourceFile(rf"mpe_{split}\.txt", split, delimited("\t", _pair)) for split in ("train", "dev", "test")
        ),
        evaluation=Evaluation(of=("train", "dev", "test"), plan=Halves()),
    ),
)

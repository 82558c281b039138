"""SciTail: science exam questions as hypotheses, sentences from the web as premises; no contradictions."""

from collections.abc import Callable, Iterator

from goldlabel.errors import InputError
from goldlabel.pairs.labels import SCITAIL
from goldlabel.pairs.rows import Parsed, Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Intake, Source, SourceFile, delimited, fields, jsonl

COLUMNS = ["premise", "hypothesis", "label"]
NUMBERS = {"0": "entailment", "1": "neutral"}
OFFICIAL = {"val": "dev", "test": "test"}

_words = fields(premise="premise", hypothesis="hypothesis", group="hypothesis")
_released = fields(
    premise="sentence1", hypothesis="sentence2", label="gold_label", votes="annotator_labels", group="sentence2"
)
_tsv = delimited("\t", _words, header=COLUMNS)
_lines = jsonl(transform=_released)


def _numbers(row: Row) -> Row:
    label = NUMBERS.get(str(row["label"]))
    if label is None:
        raise InputError(f"label {row['label']!r} is not one of {', '.join(NUMBERS)}")
    return _words(row | {"label": label})


def _collected(intake: Intake) -> Iterator[Callable[[], Parsed]]:
    """Read a gathering of training pairs that marks those of the official dev and test files."""
    official = intake.companion(r"(scitail.*_)?(dev|test)\.(txt|tsv)")

    def take(row: Row) -> Row:
        marked = row.get("in_official")
        if marked is None:
            return _words(row)
        if official is not None:
            raise InputError(f"stands in the official {OFFICIAL.get(str(marked), marked)} file too, which was given")
        return _words(row) | {"split": OFFICIAL.get(str(marked), str(marked))}

    return jsonl(transform=take)(intake)


SOURCES.add(
    "scitail",
    Source(
        name="scitail",
        title="SciTail",
        paper="Khot et al. (2018), SciTaiL: a textual entailment dataset from science question answering, AAAI",
        licence="Apache-2.0",
        address="http://data.allenai.org.s3.amazonaws.com/downloads/SciTailV1.1.zip",
        language="en",
        description="Labels are entailment and neutral only. The release has 23,596 training pairs. A hypothesis, the "
        "answer to a question, stands with several sentences that were found for it, and is the group.",
        label_space=SCITAIL,
        files=tuple(SourceFile(rf"scitail_1\.\d_{split}\.txt", split, _lines) for split in ("train", "dev", "test")),
        other_layouts=(
            tuple(SourceFile(rf"(?:scitail_1\.\d_)?{split}\.tsv", split, _tsv) for split in ("train", "dev", "test")),
            (
                SourceFile(r"scitail\.jsonl", "train", _collected),
                SourceFile(r"dev\.txt", "dev", delimited("\t", _numbers, header=COLUMNS)),
                SourceFile(r"test\.txt", "test", delimited("\t", _numbers, header=COLUMNS)),
            ),
        ),
        evaluation=Evaluation(of=("train", "dev", "test"), plan=Halves(dev_at_most=10_000)),
    ),
)

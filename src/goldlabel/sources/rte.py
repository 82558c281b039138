"""RTE: the PASCAL challenges, as GLUE and SuperGLUE join them (1, 2, 3 and 5), and the first three as XML."""

from collections.abc import Iterator

from goldlabel.pairs.labels import NLI2
from goldlabel.pairs.rows import Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.markup import parse_xml
from goldlabel.sources.source import (
    SOURCES,
    Evaluation,
    Intake,
    Source,
    SourceFile,
    delimited,
    fields,
    jsonl,
    numbered,
)

_superglue = jsonl(transform=fields(premise="premise", hypothesis="hypothesis", id="idx"))
_superglue_test = jsonl(transform=fields(premise="premise", hypothesis="hypothesis", id="idx", gold=False))
_glue = delimited("\t", fields(premise="sentence1", hypothesis="sentence2", id="index"))
_glue_test = delimited("\t", fields(premise="sentence1", hypothesis="sentence2", id="index", gold=False))


def _xml_rows(intake: Intake) -> Iterator[tuple[int, Row]]:
    root, lines = parse_xml(intake.file, intake.on_bytes)
    for pair in root.iter("pair"):
        yield lines[pair], {**pair.attrib, **{child.tag: (child.text or "").strip() for child in pair}}


def _challenge(row: Row) -> Row:
    answer = row.pop("value", None) or row.pop("entailment")
    return fields(premise="t", hypothesis="h", label="answer", id="id", genre="task", round="challenge")(
        row | {"answer": answer}
    )


SOURCES.add(
    "rte",
    Source(
        name="rte",
        title="Recognising Textual Entailment, as in GLUE",
        paper="Dagan et al. (2005), The PASCAL Recognising Textual Entailment Challenge; Wang et al. (2018), GLUE",
        licence="none stated",
        address="https://dl.fbaipublicfiles.com/glue/superglue/data/v2/RTE.zip",
        language="en",
        description="2,767 labelled pairs; the test labels are not public. The cross-dataset benchmark counts 5,752.",
        label_space=NLI2,
        # As numbers, the labels are those of the Hugging Face export.
        label_map={"0": "entailment", "1": "not_entailment", "-1": "-"},
        ids_per_file=True,
        files=(
            SourceFile(r"train\.jsonl", "train", _superglue),
            SourceFile(r"(?:val|validation|dev)\.jsonl", "dev", _superglue),
            SourceFile(r"test\.jsonl", "test", _superglue_test),
        ),
        other_layouts=(
            (
                SourceFile(r"train\.tsv", "train", _glue),
                SourceFile(r"dev\.tsv", "dev", _glue),
                SourceFile(r"test\.tsv", "test", _glue_test),
            ),
        ),
        evaluation=Evaluation(of=("train", "dev"), plan=Halves()),
    ),
)
SOURCES.add(
    "rte-challenges",
    Source(
        name="rte-challenges",
        title="Recognising Textual Entailment 1 to 3, as released",
        paper="Dagan et al. (2005), Bar-Haim et al. (2006), Giampiccolo et al. (2007)",
        licence="none stated",
        address="https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/rte.zip",
        language="en",
        description="The XML files of the first three challenges, with the task as genre and the challenge as round.",
        label_space=NLI2,
        label_map={
            "true": "entailment",
            "yes": "entailment",
            "false": "not_entailment",
            "no": "not_entailment",
        },
        ids_per_file=True,
        files=tuple(
            SourceFile(rf"rte(?P<challenge>[123])_{split}\.xml", split, numbered(_xml_rows, _challenge))
            for split in ("dev", "test")
        ),
    ),
)

"""DPR, SPR and FN+: three semantic annotations recast by White et al. (2017), published in one form.

A file holds blocks of ``key: value`` lines, parted by blank lines. ``index`` is not relied on as an id, since
nothing in the release checks it; the line on which a block starts is.
"""

from collections.abc import Iterator

from goldlabel.pairs.labels import NLI2
from goldlabel.pairs.rows import Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import (
    SOURCES,
    Evaluation,
    Intake,
    Source,
    SourceFile,
    fields,
    numbered,
    text_lines,
)

SPLITS = ("train", "dev", "test")

_pair = fields(premise="text", hypothesis="hypothesis", label="entailed", split="partof")


def _blocks(intake: Intake) -> Iterator[tuple[int, Row]]:
    block: Row = {}
    start = 1
    for number, line in enumerate(text_lines(intake.file, intake.on_bytes), 1):
        if line:
            key, _, value = line.partition(":")
            start = start if block else number
            block[key] = value.strip()
        elif block:
            yield start, block
            block = {}
    if block:
        yield start, block


def _source(name: str, title: str, file: str, paper: str, description: str, plan: Halves) -> Source:
    return Source(
        name=name,
        title=title,
        paper=f"{paper}; White et al. (2017), Inference is Everything, IJCNLP",
        licence="none stated",
        address="https://github.com/decompositional-semantics-initiative/DNC/raw/master/inference_is_everything.zip",
        language="en",
        description=f"{description} The cross-dataset benchmark counts one pair fewer.",
        label_space=NLI2,
        files=(SourceFile(file, "none", numbered(_blocks, _pair)),),
        evaluation=Evaluation(of=SPLITS, plan=plan),
    )


SOURCES.add(
    "dpr",
    _source(
        "dpr",
        "Definite Pronoun Resolution, recast",
        r"dpr(?:_data)?\.txt",
        "Rahman and Ng (2012), Resolving complex cases of definite pronouns, EMNLP",
        "3,662 pairs: the pronoun is replaced by each of two candidates.",
        Halves(),
    ),
)
SOURCES.add(
    "spr",
    _source(
        "spr",
        "Semantic Proto-Roles, recast",
        r"sprl?(?:_data)?\.txt",
        "Reisinger et al. (2015), Semantic Proto-Roles, TACL",
        "154,608 pairs, a hypothesis for each property of an argument.",
        Halves(dev_at_most=10_000),
    ),
)
SOURCES.add(
    "fnplus",
    _source(
        "fnplus",
        "FrameNet+, recast",
        r"fnplus(?:_data)?\.txt",
        "Pavlick et al. (2015), FrameNet+: fast paraphrastic tripling of FrameNet, ACL",
        "154,605 pairs: a word is replaced by a paraphrase.",
        Halves(dev_at_most=10_000),
    ),
)

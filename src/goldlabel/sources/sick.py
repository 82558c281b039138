"""SICK: sentences from captions, normalised and expanded by rule, judged by crowd workers."""

from goldlabel.errors import InputError
from goldlabel.pairs.rows import Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, delimited, fields

SEMEVAL_SETS = {"TRAIN": "train", "TRIAL": "dev", "TEST": "test"}

_semeval = fields(premise="sentence_A", hypothesis="sentence_B", label="entailment_judgment", id="pair_ID")


def _whole(row: Row) -> Row:
    return _in_semeval_set(row, "entailment_label")


def _corrected(row: Row) -> Row:
    return _in_semeval_set(row, "label_current_paper")


def _in_semeval_set(row: Row, label: str) -> Row:
    split = SEMEVAL_SETS.get(str(row["SemEval_set"]))
    if split is None:
        raise InputError(f"SemEval_set {row['SemEval_set']!r} is not one of {', '.join(SEMEVAL_SETS)}")
    take = fields(premise="sentence_A", hypothesis="sentence_B", label=label, id="pair_ID")
    return take(row) | {"split": split}


SOURCES.add(
    "sick",
    Source(
        name="sick",
        title="Sentences Involving Compositional Knowledge",
        paper="Marelli et al. (2014), A SICK cure for the evaluation of compositional distributional semantic models",
        licence="CC BY-NC-SA 3.0",
        address="https://zenodo.org/record/2787612/files/SICK.zip",
        language="en",
        description="As SemEval 2014 task 1 released it, or as one file; many labels are disputed, see sick-corrected.",
        files=(
            SourceFile(r"SICK_train\.txt", "train", delimited("\t", _semeval)),
            SourceFile(r"SICK_trial\.txt", "dev", delimited("\t", _semeval)),
            SourceFile(r"SICK_test_annotated\.txt", "test", delimited("\t", _semeval)),
        ),
        other_layouts=((SourceFile(r"SICK\.txt", "none", delimited("\t", _whole)),),),
        evaluation=Evaluation(of=("train", "dev", "test"), plan=Halves()),
    ),
)
SOURCES.add(
    "sick-corrected",
    Source(
        name="sick-corrected",
        title="SICK with corrected labels",
        paper="Hu et al. (2020), MonaLog: a lightweight system for natural language inference based on monotonicity",
        licence="CC BY-NC-SA 3.0",
        address="https://github.com/huhailinguist/SICK_correction",
        language="en",
        description="9,840 pairs of SICK; the label is the last correction, the earlier ones are in meta.",
        files=(SourceFile(r"SICK_corrected\.tsv", "none", delimited("\t", _corrected)),),
    ),
)

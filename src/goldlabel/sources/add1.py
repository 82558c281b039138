"""Add-1: does a sentence still hold when one adjective is put before a noun?"""

import re

from goldlabel.pairs.labels import NLI2, NO_GOLD
from goldlabel.pairs.rows import Row
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, delimited, fields

COLUMNS = ["score", "binary_label", "sentence_id", "adjective", "noun", "premise", "hypothesis"]

_labelled = fields(premise="premise", hypothesis="hypothesis")


def _pair(row: Row) -> Row:
    """Take the markup of the changed phrase out of the text; the marked text stays in meta."""
    marked = {f"marked_{name}": str(row[name]).strip() for name in ("premise", "hypothesis")}
    plain = {name: _plain(str(row[name])) for name in ("premise", "hypothesis")}
    return _labelled({**row, **marked, **plain})


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"</?[bu]>", "", text)).strip()


def _judged(row: Row) -> Row:
    return _scored(row, lowest_entailed=3.5, highest_not_entailed=3.5)


def _judged_test(row: Row) -> Row:
    return _scored(row, lowest_entailed=4, highest_not_entailed=3)


def _scored(row: Row, *, lowest_entailed: float, highest_not_entailed: float) -> Row:
    """Turn the mean judgement into a label as the paper does: scores between the two bounds have none."""
    score = float(str(row["score"]))
    below = "not_entailment" if score <= highest_not_entailed else NO_GOLD
    label = "entailment" if score >= lowest_entailed else below
    return _pair(row | {"label": label}) | {"group": row["sentence_id"]}


SOURCES.add(
    "add1",
    Source(
        name="add1",
        title="Add-One Recognising Textual Entailment",
        paper="Pavlick and Callison-Burch (2016), Most babies are little and most problems are huge, ACL",
        licence="none stated",
        address="http://www.seas.upenn.edu/~nlp/resources/AN-composition.tgz",
        language="en",
        description="Pairs that differ in one adjective. In the widespread CSV copy, train is the paper's train and "
        "dev together and dev is its test of 387 pairs. The cross-dataset benchmark counts 3,794 pairs of 5,378, "
        "15.7 % of them entailed (22.6 % of all are), and speaks of straight-forward examples only: perhaps those with "
        "scores from 4 or up to 3, which the CSV copy cannot tell.",
        label_space=NLI2,
        files=(
            SourceFile(r"data\.train", "train", delimited("\t", _judged, header=COLUMNS)),
            SourceFile(r"data\.dev", "dev", delimited("\t", _judged, header=COLUMNS)),
            SourceFile(r"data\.test", "test", delimited("\t", _judged_test, header=COLUMNS)),
        ),
        other_layouts=(
            (
                SourceFile(r"train\.csv", "train", delimited(",", _pair)),
                SourceFile(r"dev\.csv", "dev", delimited(",", _pair)),
                SourceFile(r"test\.csv", "test", delimited(",", _pair)),
            ),
        ),
        evaluation=Evaluation(of=("train", "dev", "test"), plan=Halves()),
    ),
)

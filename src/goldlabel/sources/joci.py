"""JOCI: how likely an inference is on a scale of five, from impossible to very likely."""

from goldlabel.pairs.labels import ORDINAL5
from goldlabel.pairs.splits import Halves
from goldlabel.sources.source import SOURCES, Evaluation, Source, SourceFile, delimited, fields

SCALE = {"1": "impossible", "2": "technically_possible", "3": "plausible", "4": "likely", "5": "very_likely"}

SOURCES.add(
    "joci",
    Source(
        name="joci",
        title="JHU Ordinal Common-sense Inference",
        paper="Zhang et al. (2017), Ordinal Common-sense Inference, TACL",
        licence="none stated",
        address="https://github.com/sheng-z/JOCI/raw/master/data/joci.csv.zip",
        language="en",
        description="The whole corpus, 39,092 rows; 54 carry the label 0, which the scale does not have, and are not "
        "read. The cross-dataset benchmark uses 4,655 and does not say which. Its label shares (16.3 % entailment, "
        "26.1 % contradiction) fit a sample of the 33,116 pairs with generated hypotheses (AGCI), which Poliak et al. "
        "(2018) keep too, and not one of the whole corpus; as many are drawn from them.",
        label_space=ORDINAL5,
        label_map=SCALE,
        files=(
            SourceFile(
                r"joci\.csv",
                "none",
                delimited(",", fields(premise="CONTEXT", hypothesis="HYPOTHESIS", label="LABEL", genre="SUBSET")),
            ),
        ),
        evaluation=Evaluation(of=("none",), plan=Halves(), genre="AGCI", size=4_655),
    ),
)

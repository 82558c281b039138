"""ConjNLI: pairs in which a conjunct is added, dropped or replaced."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields

_pair = delimited("\t", fields(premise="Premise", hypothesis="Hypothesis", label="Label"))
_hidden = delimited("\t", fields(premise="Premise", hypothesis="Hypothesis", label="Label", gold=False))

SOURCES.add(
    "conjnli",
    Source(
        name="conjnli",
        title="ConjNLI",
        paper="Saha et al. (2020), ConjNLI: natural language inference over conjunctive sentences, EMNLP",
        licence="none stated",
        address="https://github.com/swarnaHub/ConjNLI",
        language="en",
        description="Dev is judged by people, train is made by rule; the test labels are not public. The address is "
        "the project's page.",
        files=(
            SourceFile(r"adversarial_train_15k\.tsv", "train", _pair),
            SourceFile(r"conj_dev\.tsv", "dev", _pair),
            SourceFile(r"conj_test\.tsv", "test", _hidden),
        ),
    ),
)

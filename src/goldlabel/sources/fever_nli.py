"""FEVER-NLI: claims to be checked, paired with evidence that was retrieved for them.

The evidence (``context``) is the premise and the claim (``query``) the hypothesis, as in the code that the ANLI
models were trained with; the release's own note has the two the other way round.
"""

from goldlabel.sources.source import SOURCES, Source, SourceFile, fields, jsonl

VERDICTS = {"supports": "entailment", "refutes": "contradiction", "not enough info": "neutral"}

_pair = jsonl(transform=fields(premise="context", hypothesis="query", group="cid"))
_hidden = jsonl(transform=fields(premise="context", hypothesis="query", group="cid", gold=False))

SOURCES.add(
    "fever-nli",
    Source(
        name="fever-nli",
        title="FEVER as NLI",
        paper="Thorne et al. (2018), FEVER, NAACL; Nie et al. (2019), Combining fact extraction and verification, AAAI",
        licence="CC BY-SA 3.0 (text of Wikipedia)",
        address="https://www.dropbox.com/s/hylbuaovqwo2zav/nli_fever.zip?dl=1",
        language="en",
        description="A claim may stand with several pieces of evidence and is the group. The release hides the labels "
        "of dev and test; those pairs have no gold label.",
        label_map=VERDICTS | {"hidden": "-"},
        files=(
            SourceFile(r"train_fitems\.jsonl", "train", _pair),
            SourceFile(r"dev_fitems.*\.jsonl", "dev", _hidden),
            SourceFile(r"test_fitems\.jsonl", "test", _hidden),
        ),
    ),
)

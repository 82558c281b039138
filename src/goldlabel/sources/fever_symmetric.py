"""FEVER-Symmetric: claims and evidence crossed, so that the claim alone tells nothing."""

from goldlabel.sources.fever_nli import VERDICTS
from goldlabel.sources.source import SOURCES, Source, SourceFile, fields, jsonl

_pair = jsonl(transform=fields(premise="evidence", hypothesis="claim", id="id", group="claim"))

SOURCES.add(
    "fever-symmetric",
    Source(
        name="fever-symmetric",
        title="FEVER-Symmetric",
        paper="Schuster et al. (2019), Towards debiasing fact verification models, EMNLP",
        licence="CC BY-SA 3.0 (text of Wikipedia)",
        address="https://github.com/TalSchuster/FeverSymmetric",
        language="en",
        description="Entailment and contradiction only. Each claim stands with two pieces of evidence, each of these "
        "with two claims; the claim is the group. The address is the project's page.",
        label_map=VERDICTS,
        ids_per_file=True,
        files=(
            SourceFile(r"fever_symmetric_(?:v0\.2\.)?dev\.jsonl", "dev", _pair),
            SourceFile(r"fever_symmetric_(?:v0\.2\.)?test\.jsonl", "test", _pair),
        ),
    ),
)

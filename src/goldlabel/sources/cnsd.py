"""CNSD: SNLI machine-translated into Chinese."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields, jsonl

SPLITS = ("train", "dev", "test")
COLUMNS = ["sentence1", "sentence2", "label"]

_table = delimited("\t", fields(premise="sentence1", hypothesis="sentence2"), header=COLUMNS)

SOURCES.add(
    "cnsd",
    Source(
        name="cnsd",
        title="Chinese NLI dataset, SNLI translated",
        paper="CNSD: Chinese Natural Language Inference Dataset, https://github.com/pluto-junzeng/CNSD",
        licence="academic use",
        address="https://github.com/pluto-junzeng/CNSD",
        language="zh",
        description="Machine-translated. The address is the project's page.",
        files=tuple(SourceFile(rf"cnsd_snli_v1\.0\.{split}\.jsonl", split, jsonl()) for split in SPLITS),
        other_layouts=(tuple(SourceFile(rf"{split}\.txt", split, _table) for split in SPLITS),),
    ),
)

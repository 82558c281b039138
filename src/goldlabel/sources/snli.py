"""SNLI: image captions, with hypotheses written for each label."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, jsonl

SOURCES.add(
    "snli",
    Source(
        name="snli",
        title="Stanford Natural Language Inference 1.0",
        paper="Bowman et al. (2015), A large annotated corpus for learning natural language inference, EMNLP",
        licence="CC BY-SA 4.0",
        address="https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
        checksum="md5:981c3df556bbaea3f17f752456d0088c",
        language="en",
        author="first",
        description="Captions as premises, hypotheses written by crowd workers; five votes for dev and test.",
        files=(
            SourceFile(r"snli.*train.*\.jsonl", "train", jsonl()),
            SourceFile(r"snli.*dev\.jsonl", "dev", jsonl()),
            SourceFile(r"snli.*test\.jsonl", "test", jsonl()),
        ),
    ),
)

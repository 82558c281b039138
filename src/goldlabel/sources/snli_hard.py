"""SNLI-hard: the test pairs of SNLI whose label a hypothesis-only model does not guess."""

from goldlabel.sources.source import SOURCES, Source, SourceFile, jsonl

SOURCES.add(
    "snli-hard",
    Source(
        name="snli-hard",
        title="SNLI test, hard part",
        paper="Gururangan et al. (2018), Annotation Artifacts in Natural Language Inference Data, NAACL",
        licence="CC BY-SA 4.0",
        address="https://nlp.stanford.edu/projects/snli/snli_1.0_test_hard.jsonl",
        language="en",
        author="first",
        description="A part of SNLI's test split, with its ids: never report both as if they were independent.",
        files=(SourceFile(r"snli.*test_hard\.jsonl", "test", jsonl()),),
    ),
)

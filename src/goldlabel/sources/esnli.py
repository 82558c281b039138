"""e-SNLI: SNLI with explanations in people's own words."""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, aligned, delimited, fields

_released = fields(premise="Sentence1", hypothesis="Sentence2", label="gold_label", id="pairID", reason="Explanation_1")


def _pair(row: Row) -> Row:
    return _explained(row, [row.get(f"Explanation_{number}") for number in (1, 2, 3)])


def _line(row: Row) -> Row:
    texts = [row.pop(f"explanation_{number}", None) for number in (1, 2, 3)]
    names = {"Sentence1": row.pop("text"), "Sentence2": row.pop("hypothesis"), "gold_label": row.pop("label")}
    return _explained(row | names | {"Explanation_1": texts[0]}, texts)


def _explained(row: Row, texts: list[object]) -> Row:
    for number in (2, 3):
        row.pop(f"Explanation_{number}", None)
    taken = _released(row)
    return taken | {"meta": row | {"explanations": [text for text in texts if text]}}


def _aligned(split: str) -> SourceFile:
    patterns = {f"explanation_{number}": rf"(?:preproc1_)?expl_{number}\.{split}" for number in (1, 2, 3)}
    return SourceFile(
        rf"s1\.{split}",
        split,
        aligned(_line, optional=patterns, hypothesis=rf"s2\.{split}", label=rf"labels\.{split}"),
    )


SOURCES.add(
    "esnli",
    Source(
        name="esnli",
        title="e-SNLI",
        paper="Camburu et al. (2018), e-SNLI: natural language inference with natural language explanations, NeurIPS",
        licence="MIT",
        address="https://github.com/OanaMariaCamburu/e-SNLI/archive/refs/heads/master.zip",
        language="en",
        description="The pairs of SNLI that have a gold label; the first explanation is the reason, all are in meta. "
        "The line-aligned copy has tokenised text and no ids.",
        files=(
            SourceFile(r"esnli_train(?:_(?P<part>[12]))?\.csv", "train", delimited(",", _pair)),
            SourceFile(r"esnli_dev\.csv", "dev", delimited(",", _pair)),
            SourceFile(r"esnli_test\.csv", "test", delimited(",", _pair)),
        ),
        other_layouts=((_aligned("train"), _aligned("dev"), _aligned("test")),),
    ),
)

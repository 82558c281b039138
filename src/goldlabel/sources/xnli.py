"""XNLI: pairs of MultiNLI's kind in fifteen languages, translated by people; here Chinese and English."""

from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, delimited, fields, jsonl, kept

ANSWERS = {"Yes": "entailment", "Maybe": "neutral", "No": "contradiction"}

_texts = delimited("\t", fields(premise="text_a", hypothesis="text_b"))
_translated = delimited("\t", fields(premise="premise", hypothesis="hypo"))
_plain = fields(
    premise="sentence1",
    hypothesis="sentence2",
    label="gold_label",
    id="pairID",
    votes="annotator_labels",
    language="language",
    genre="genre",
    group="promptID",
)


def _table_row(row: Row) -> Row:
    votes = [row.pop(f"label{number}") for number in range(1, 6)]
    return _plain(row | {"annotator_labels": [vote for vote in votes if vote]})


def _answered(row: Row) -> Row:
    label = str(row.pop("true_label"))
    return fields(premise="text1", hypothesis="text2")(row | {"label": ANSWERS.get(label, label)})


def _layouts(language: str) -> tuple[tuple[SourceFile, ...], ...]:
    table = kept(delimited("\t", _table_row), "language", language)
    lines = kept(jsonl(transform=_plain), "language", language)
    train = SourceFile(rf"multinli\.train\.{language}\.tsv", "train", _translated)
    return (
        (train, *(SourceFile(rf"xnli\.{split}\.tsv", split, table) for split in ("dev", "test"))),
        (train, *(SourceFile(rf"xnli\.{split}\.jsonl", split, lines) for split in ("dev", "test"))),
        tuple(SourceFile(rf"{split}\.tsv", split, _texts) for split in ("dev", "test")),
        (SourceFile(rf"dataset_{language}_\d+\.json", "test", jsonl(transform=_answered)),),
    )


for _language, _called in (("zh", "Chinese"), ("en", "English")):
    _first, *_others = _layouts(_language)
    SOURCES.add(
        f"xnli-{_language}",
        Source(
            name=f"xnli-{_language}",
            title=f"Cross-lingual NLI, {_called}",
            paper="Conneau et al. (2018), XNLI: evaluating cross-lingual sentence representations, EMNLP",
            licence="CC BY-NC 4.0",
            address="https://dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip",
            language=_language,
            author="first",
            description=f"The {_called} pairs of dev (2,490) and test (5,010); from files with a language column only "
            "those are taken. Training pairs are MultiNLI's, machine-translated for Chinese.",
            label_map={"contradictory": "contradiction"},
            ids_per_file=True,
            files=_first,
            other_layouts=tuple(_others),
        ),
    )

"""HANS: templates on which three syntactic heuristics fail."""

from goldlabel.errors import InputError
from goldlabel.pairs.labels import NLI2
from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Source, SourceFile, aligned, delimited, fields, jsonl

SPLITS = {"train": "train", "evaluation": "test"}

_plain = fields(premise="sentence1", hypothesis="sentence2", label="gold_label", id="pairID")


def _pair(row: Row) -> Row:
    tags = [str(row[name]) for name in ("heuristic", "subcase") if row[name]]
    return _plain(row) | {"tags": tags}


def _line(row: Row) -> Row:
    premise, bars, hypothesis = str(row.pop("text")).partition("|||")
    if not bars:
        raise InputError("premise and hypothesis are not parted by |||")
    tags = [row["heuristic"]] if "heuristic" in row else []
    return {
        "id": row.pop("number", None),
        "premise": premise,
        "hypothesis": hypothesis,
        "label": row.pop("label"),
        "tags": tags,
        "meta": row,
    }


SOURCES.add(
    "hans",
    Source(
        name="hans",
        title="Heuristic Analysis for NLI Systems",
        paper="McCoy et al. (2019), Right for the wrong reasons, ACL",
        licence="MIT",
        address="https://raw.githubusercontent.com/tommccoy1/hans/master/heuristics_evaluation_set.txt",
        language="en",
        description="30,000 evaluation pairs, half of them entailed; tags are the heuristic and the subcase. In the "
        "line-aligned copy the other class is written neutral and the subcases are lost.",
        label_space=NLI2,
        label_map={"neutral": "not_entailment"},
        ids_per_file=True,
        files=tuple(
            SourceFile(rf"heuristics_{name}_set\.txt", split, delimited("\t", _pair)) for name, split in SPLITS.items()
        ),
        other_layouts=(
            tuple(
                SourceFile(rf"heuristics_{name}_set\.jsonl", split, jsonl(transform=_pair))
                for name, split in SPLITS.items()
            ),
            tuple(
                SourceFile(
                    rf"hans_evalset_(?P<heuristic>{name})_source_file",
                    "test",
                    aligned(_line, label=f"hans_evalset_{name}_lbl_file", number=f"hans_evalset_{name}_id_file"),
                )
                for name in ("lexical_overlap", "subsequence", "constituent")
            ),
            (SourceFile(r"hans_evalset_full_source_file", "test", aligned(_line, label="hans_evalset_full_lbl_file")),),
        ),
    ),
)

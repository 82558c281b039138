"""A few invented pairs in each corpus's own files, one sample for each layout that is read."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = "@@"
"""Stands where a broken row is put in; else it is the end of the file."""

EN = [
    ("A heron stands in the reeds.", "A bird is near the water.", "entailment"),
    ("A heron stands in the reeds.", "The heron waits for a frog.", "neutral"),
    ("Two bakers carry a long table.", "Nobody carries anything.", "contradiction"),
    ("Two bakers carry a long table.", "People move furniture.", "entailment"),
]
ZH = [
    ("一只苍鹭站在芦苇里。", "水边有一只鸟。", "entailment"),
    ("一只苍鹭站在芦苇里。", "苍鹭在等青蛙。", "neutral"),
    ("两个面包师抬着长桌。", "没有人抬东西。", "contradiction"),
    ("两个面包师抬着长桌。", "有人在搬家具。", "entailment"),
]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Files of one layout, how many pairs they hold, and what to put in so that one row is broken."""

    source: str
    files: dict[str, str]
    pairs: int
    splits: set[str]
    broken: dict[str, str]
    at: int | None = None
    meta: str | None = None
    """A field that goes into meta; ``None`` where the release has none that does."""
    tags: str | None = None
    """A tag that some pair has; ``None`` where no pair has one."""
    groups: int = 0
    """How many groups the release itself makes of these pairs."""

    def write(self, folder: Path, *, broken: bool = False) -> Path:
        """Write the files, with the broken row or without."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._filled(name, text, broken), encoding="utf-8", newline="")
        return folder

    def zip(self, path: Path) -> Path:
        """Write the files into an archive."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in self.files.items():
                archive.writestr(f"release/{name}", self._filled(name, text, False))
        return path

    @property
    def broken_line(self) -> int:
        """The line on which the broken row starts."""
        if self.at is not None:
            return self.at
        name = next(iter(self.broken))
        return self.files[name].partition(HERE)[0].count("\n") + 1

    def _filled(self, name: str, text: str, broken: bool) -> str:
        addition = self.broken.get(name, "") if broken else ""
        return text.replace(HERE, addition) if HERE in text else text + addition


def jsonl(*rows: dict[str, Any]) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def rows(pairs: list[tuple[str, str, str]], *names: str, **more: Any) -> list[dict[str, Any]]:
    """Return pairs under the names of premise, hypothesis and label, with more fields beside them."""
    return [dict(zip(names, pair, strict=True)) | more for pair in pairs]


def table(header: str, *lines: str, separator: str = "\t") -> str:
    """Write a table whose cells are written with bars between them."""
    return "".join(line.replace("|", separator) + "\n" for line in (header, *lines) if line)


def bars(pairs: list[tuple[str, str, str]], form: str = "{p}|{h}|{label}") -> list[str]:
    """Return pairs as table lines."""
    return [form.format(p=p, h=h, label=label, n=n) for n, (p, h, label) in enumerate(pairs, 1)]


def _lines(pairs: list[tuple[str, str, str]], name: str, **more: Any) -> list[dict[str, Any]]:
    """Return pairs as SNLI and its kin have them, numbered under ``name`` by their premises."""
    premises = list(dict.fromkeys(premise for premise, _, _ in pairs))
    return [
        {
            "annotator_labels": [label],
            "gold_label": label,
            "pairID": f"{71 + premises.index(premise)}{label[0]}",
            name: f"{71 + premises.index(premise)}",
            "sentence1": premise,
            "sentence1_binary_parse": "( )",
            "sentence1_parse": "(ROOT)",
            "sentence2": hypothesis,
            "sentence2_binary_parse": "( )",
            "sentence2_parse": "(ROOT)",
        }
        | more
        for premise, hypothesis, label in pairs
    ]


SNLI = _lines(EN, "captionID")
MULTINLI = _lines(EN, "promptID", genre="fiction")
BROKEN = {"unheard": "of"}
SCI = [(p, h, "entails" if label == "entailment" else "neutral") for p, h, label in EN[:2]]
TWO = [(p, h, "entailment" if label == "entailment" else "not_entailment") for p, h, label in EN]


def _snli_files(source: str, number: str, *names: str, **more: Any) -> Sample:
    """Return files of SNLI's kind, no two of which have a premise or its ``number`` in common."""
    splits = {"train" if "train" in name else "test" if "test" in name else "dev" for name in names}
    files = {
        name: jsonl(
            *(
                row | {key: f"{part}{row[key]}" for key in ("pairID", number, "sentence1")}
                for row in _lines(EN, number, **more)
            )
        )
        for part, name in enumerate(names)
    }
    return Sample(
        source=source,
        files=files,
        pairs=4 * len(names),
        splits=splits,
        broken={names[0]: jsonl(BROKEN)},
        meta="sentence1_parse",
        groups=2 * len(names),
    )


def _ocnli(size: str) -> Sample:
    source = "ocnli" if size == "50k" else f"ocnli-{size}"
    pairs = [
        row | {"id": n, "level": "easy", "genre": "news", "prem_id": f"news_{n // 2}"}
        for n, row in enumerate(rows(ZH, "sentence1", "sentence2", "label"))
    ]
    votes = {f"label{number}": "neutral" for number in range(5)}
    return Sample(
        source=source,
        files={
            f"train.{size}.json": jsonl(*pairs),
            "dev.json": jsonl(*(row | votes for row in pairs)),
            "test.json": jsonl(*({key: row[key] for key in ("sentence1", "sentence2", "id")} for row in pairs)),
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={f"train.{size}.json": jsonl(BROKEN)},
        groups=2,
    )


def _blocks(source: str, file: str) -> Sample:
    blocks = [
        f"provenance: invented\nindex: {number % 2}\ntext: {p}\nhypothesis: {h}\nentailed: {label}\npartof: {part}\n"
        for number, ((p, h, label), part) in enumerate(
            zip(
                [(p, h, "entailed" if label == "entailment" else "not-entailed") for p, h, label in TWO],
                ("train", "train", "dev", "test"),
                strict=True,
            )
        )
    ]
    return Sample(
        source=source,
        files={file: "\n".join(blocks) + "\n"},
        pairs=4,
        splits={"train", "dev", "test"},
        broken={file: "provenance: invented\ntext: A sentence alone.\n\n"},
        meta="index",
    )


def _probing(source: str, file: str, **more: Any) -> Sample:
    pairs = [row | more for row in rows(ZH, "sentence1", "sentence2", "label", seen="yes")]
    return Sample(
        source=source,
        files={file: jsonl(*pairs)},
        pairs=4,
        splits={"test"},
        broken={file: jsonl(BROKEN)},
        meta="seen",
        tags="negation",
    )


def _glue(source: str, header: str, pairs: list[tuple[str, str, str]]) -> Sample:
    lines = bars(pairs, "{n}|{p}|{h}|{label}")
    return Sample(
        source=source,
        files={
            "train.tsv": table(header, *lines),
            "dev.tsv": table(header, *lines[:2]),
            "test.tsv": table(header.rpartition("|")[0], *bars(pairs[:2], "{n}|{p}|{h}")),
        },
        pairs=8,
        splits={"train", "dev", "test"},
        broken={"train.tsv": "one cell\n"},
    )


def _superglue(source: str, pairs: list[tuple[str, str, str]], validation: str = "val") -> Sample:
    numbered = [row | {"idx": n} for n, row in enumerate(rows(pairs, "premise", "hypothesis", "label", seen="yes"))]
    hidden = [{key: value for key, value in row.items() if key != "label"} for row in numbered]
    return Sample(
        source=source,
        files={
            "train.jsonl": jsonl(*numbered),
            f"{validation}.jsonl": jsonl(*numbered[:2]),
            "test.jsonl": jsonl(*hidden[:2]),
        },
        pairs=8,
        splits={"train", "dev", "test"},
        broken={"train.jsonl": jsonl(BROKEN)},
        meta="seen",
    )


def _hans_table() -> str:
    return table(
        "gold_label|sentence1_parse|sentence1|sentence2|pairID|heuristic|subcase|template",
        *(
            f"{'entailment' if label == 'entailment' else 'non-entailment'}|(ROOT)|{p}|{h}|ex{n}|subsequence|sn_npz|t1"
            for n, (p, h, label) in enumerate(EN)
        ),
    )


def _anli(**fields: Any) -> list[dict[str, Any]]:
    return [
        {"uid": f"{fields}-{n}", "hypothesis": h, "label": label, "reason": "It says so.", "model_label": "n"}
        | {name: p if value is None else value for name, value in fields.items()}
        for n, (p, h, label) in enumerate(EN)
    ]


def _xnli(language: str, pairs: list[tuple[str, str, str]]) -> list[Sample]:
    source = f"xnli-{language}"
    votes = "neutral|neutral|{label}|neutral|"
    others = bars(EN, f"fr|{{label}}||{{p}}|{{h}}|1|{{n}}|letters|{votes}|True")
    lines = [
        line
        for prompt, part in ((1, pairs[:2]), (2, pairs[2:]))
        for line in bars(part, f"{language}|{{label}}||{{p}}|{{h}}|{prompt}|{prompt}{{n}}|letters|{votes}|True")
    ]
    told = [
        _lines(texts, "promptID", language=code, genre="letters", match=True)
        for texts, code in ((pairs, language), (EN, "fr"))
    ]
    old = [(p, h, label.replace("contradiction", "contradictory")) for p, h, label in pairs]
    answers = [{"text1": p, "text2": h, "true_label": "Maybe"} for p, h, _ in pairs]
    return [
        Sample(
            source=source,
            files={f"XNLI-1.0/xnli.{split}.tsv": table(XNLI, *others, *lines) for split in ("dev", "test")},
            pairs=8,
            splits={"dev", "test"},
            broken={"XNLI-1.0/xnli.dev.tsv": f"{language}\tone cell\n"},
            meta="match",
            groups=2,
        ),
        Sample(
            source=source,
            files={
                "xnli.dev.jsonl": jsonl(*(line for lines in told for line in lines)),
                f"multinli.train.{language}.tsv": table("premise|hypo|label", *bars(old)),
            },
            pairs=8,
            splits={"train", "dev"},
            broken={"xnli.dev.jsonl": jsonl(BROKEN)},
            meta="match",
            groups=2,
        ),
        Sample(
            source=source,
            files={f"{split}.tsv": table("text_a|text_b|label", *bars(pairs)) for split in ("dev", "test")},
            pairs=8,
            splits={"dev", "test"},
            broken={"dev.tsv": "one cell\n"},
        ),
        Sample(
            source=source,
            files={f"dataset_{language}_1234.json": json.dumps(answers, ensure_ascii=False)[:-1] + "@@]"},
            pairs=4,
            splits={"test"},
            broken={f"dataset_{language}_1234.json": f", {json.dumps(answers[0] | {'true_label': 'Who knows'})}"},
            at=5,
        ),
    ]


def _esnli(prefix: str) -> str:
    lines = [f'{prefix}{n},{label},"{p}","{h}",So it is.,*A*\n' for n, (p, h, label) in enumerate(EN)]
    return "pairID,gold_label,Sentence1,Sentence2,Explanation_1,Sentence1_marked_1\n" + "".join(lines)


def _rte_pair(number: int, attributes: str, text: str) -> str:
    return f'<pair id="{number}" {attributes}>\n{text}\n</pair>\n'


SICK = "pair_ID|sentence_A|sentence_B|entailment_label|relatedness_score|sentence_A_original|SemEval_set"
XNLI = (
    "language|gold_label|sentence1_parse|sentence1|sentence2|promptID|pairID|genre|"
    "label1|label2|label3|label4|label5|match"
)
MPE = (
    "ID|premise1|premise2|premise3|premise4|hypothesis|"
    "entailment_judgments|neutral_judgments|contradiction_judgments|gold_label"
)

SAMPLES = [
    _snli_files("snli", "captionID", "snli_1.0_train.jsonl", "snli_1.0_dev.jsonl", "snli_1.0_test.jsonl"),
    _snli_files("snli-hard", "captionID", "snli_1.0_test_hard.jsonl"),
    _snli_files("multinli", "promptID", "multinli_1.0_train.jsonl", "multinli_1.0_dev_matched.jsonl", genre="fiction"),
    _snli_files("multinli-mismatched", "promptID", "multinli_1.0_dev_mismatched.jsonl", genre="verbatim"),
    Sample(
        source="cnsd",
        files={
            f"cnsd_snli_v1.0.{split}.jsonl": jsonl(*rows(ZH, "sentence1", "sentence2", "gold_label"))
            for split in ("train", "dev", "test")
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={"cnsd_snli_v1.0.train.jsonl": jsonl(BROKEN)},
    ),
    *(_ocnli(size) for size in ("50k", "30k", "10k", "3k")),
    Sample(
        source="sick",
        files={
            name: table(
                "pair_ID|sentence_A|sentence_B|relatedness_score|entailment_judgment",
                *(f"{first + n}|{p}|{h}|3.5|{label.upper()}" for n, (p, h, label) in enumerate(EN)),
            )
            for name, first in (("SICK_train.txt", 1), ("SICK_trial.txt", 11), ("SICK_test_annotated.txt", 21))
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={"SICK_train.txt": "99|too few cells\n".replace("|", "\t")},
        meta="relatedness_score",
    ),
    Sample(
        source="sick",
        files={
            "SICK.txt": table(
                SICK,
                *bars(EN[:3], "{n}|{p}|{h}|{label}|4.1|A bird.|TRIAL"),
                "9|A kite flies.|It flies.|NEUTRAL|4|-|TEST",
            )
        },
        pairs=4,
        splits={"dev", "test"},
        broken={"SICK.txt": "10|A kite flies.|It flies.|NEUTRAL|4|-|ELSEWHERE\n".replace("|", "\t")},
        meta="relatedness_score",
    ),
    Sample(
        source="sick-corrected",
        files={
            "SICK_corrected.tsv": table(
                f"{SICK}|label_kalouli|label_current_paper",
                *bars(EN, "{n}|{p}|{h}|NEUTRAL|4.1|A bird.|TRAIN|NEUTRAL|{label}"),
            )
        },
        pairs=4,
        splits={"train"},
        broken={"SICK_corrected.tsv": "10|cells\n".replace("|", "\t")},
        meta="entailment_label",
    ),
    Sample(
        source="joci",
        files={
            "joci.csv": "CONTEXT,HYPOTHESIS,LABEL,CONTEXT_FROM,HYPOTHESIS_FROM,SUBSET\n"
            + "".join(f'"{p}","{h}",{n},invented,invented,AGCI\n' for n, (p, h, _) in enumerate(EN, 2))
        },
        pairs=4,
        splits={"none"},
        broken={"joci.csv": "A kite flies.,It flies.,0,invented,invented,AGCI\n"},
        meta="CONTEXT_FROM",
    ),
    Sample(
        source="scitail",
        files={
            f"snli_format/scitail_1.0_{split}.txt": jsonl(
                *rows(
                    SCI, "sentence1", "sentence2", "gold_label", annotator_labels=["neutral"], sentence1_parse="(ROOT)"
                )
            )
            for split in ("train", "dev")
        },
        pairs=4,
        splits={"train", "dev"},
        broken={"snli_format/scitail_1.0_train.txt": jsonl(BROKEN)},
        meta="sentence1_parse",
        groups=2,
    ),
    Sample(
        source="scitail",
        files={
            f"tsv_format/scitail_1.0_{split}.tsv": table(*bars([(p, h, "entails") for p, h, _ in EN]))
            for split in ("train", "dev", "test")
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={"tsv_format/scitail_1.0_dev.tsv": "A kite flies.\tIt flies.\tcontradiction\n"},
        groups=4,
    ),
    Sample(
        source="scitail",
        files={
            "scitail.jsonl": jsonl(
                *rows([(p, h, "entails") for p, h, _ in EN], "premise", "hypothesis", "label", src="found"),
                {"premise": "A kite flies.", "hypothesis": "It flies.", "label": "neutral", "in_official": "val"},
            ),
        },
        pairs=5,
        splits={"train", "dev"},
        broken={"scitail.jsonl": jsonl(BROKEN)},
        meta="src",
        groups=5,
    ),
    Sample(
        source="scitail",
        files={
            "scitail.jsonl": jsonl(*rows(SCI, "premise", "hypothesis", "label", src="found")),
            "dev.txt": table(*bars([(p, h, "0") for p, h, _ in EN])),
            "test.txt": table(*bars([(p, h, "1") for p, h, _ in EN])),
        },
        pairs=10,
        splits={"train", "dev", "test"},
        broken={"dev.txt": "A kite flies.\tIt flies.\t2\n"},
        meta="src",
        groups=4,
    ),
    Sample(
        source="mpe",
        files={
            f"mpe_{split}.txt": table(
                MPE,
                *(
                    f"{first + n}|{n // 2}.jpg#0/{p}|{n // 2}.jpg#1/It is day.|{n // 2}.jpg#2/It is wet.|"
                    f"{n // 2}.jpg#3/It is so.|{h}|2|2|1|{label}"
                    for n, (p, h, label) in enumerate(EN)
                ),
            )
            for split, first in (("train", 1), ("dev", 11), ("test", 21))
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={"mpe_dev.txt": "99|7.jpg#0/A|7.jpg#1/B|7.jpg#2/C|7.jpg#3/D|E|1|1|3 contradiction\n".replace("|", "\t")},
        meta="captions",
        groups=2,
    ),
    Sample(
        source="add1",
        files={
            f"{split}.csv": "premise,hypothesis,label\n"
            'A <b><u>  heron</u></b> waits.,"A <b><u>grey heron</u></b> waits.\n",not_entailment\n'
            'A <b><u>  baker</u></b> waits.,"A <b><u>living baker</u></b> waits.\n",entailment\n'
            for split in ("train", "dev")
        },
        pairs=4,
        splits={"train", "dev"},
        broken={"train.csv": "A kite flies.,It flies.,perhaps\n"},
        meta="marked_premise",
    ),
    Sample(
        source="add1",
        files={
            f"splits/data.{split}": table(
                *(
                    f"{score}|x|{n}|grey|heron|A <b><u>heron</u></b> waits.|A <b><u>grey heron</u></b> waits."
                    for n, score in enumerate((1.2, 3.4, 3.7, 4.8))
                )
            )
            for split in ("train", "dev", "test")
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={"splits/data.train": "high|x|9|grey|heron|A heron.|A grey heron.\n".replace("|", "\t")},
        meta="adjective",
        groups=4,
    ),
    Sample(
        source="diagnostic",
        files={
            "diagnostic-full.tsv": table(
                "Lexical Semantics|Predicate-Argument Structure|Logic|Knowledge|Domain|Premise|Hypothesis|Label",
                *bars(EN, "||Negation;Double negation||Invented|{p}|{h}|{label}"),
                *bars(EN[:1], "||Negation;Double negation||Invented|{h}|{p}|neutral"),
            )
        },
        pairs=5,
        splits={"test"},
        broken={"diagnostic-full.tsv": "one cell\n"},
        meta="Logic",
        tags="Double negation",
        groups=4,
    ),
    _superglue("cb", EN),
    _superglue("cb", [(p, h, code) for (p, h, _), code in zip(EN, (0, 1, 2, 0), strict=True)], "validation"),
    _superglue("rte", TWO),
    _glue("rte", "index|sentence1|sentence2|label", TWO),
    _glue("wnli", "index|sentence1|sentence2|label", [(p, h, str(int(h[0] == "A"))) for p, h, _ in EN]),
    Sample(
        source="wnli",
        files={name: table(*bars([(p, h, "1") for p, h, _ in EN])) for name in ("train.txt", "test.txt")},
        pairs=8,
        splits={"train", "dev"},
        broken={"train.txt": "A kite flies.\tIt flies.\ttrue\n"},
    ),
    Sample(
        source="rte-challenges",
        files={
            "rte1_dev.xml": "<?xml version='1.0'?>\n<entailment-corpus>\n"
            + "".join(
                _rte_pair(n, 'value="TRUE" task="IR"', f"<t>{p}</t>\n<h>{h}</h>") for n, (p, h, _) in enumerate(EN)
            )
            + "@@</entailment-corpus>\n",
            "rte3_test.xml": "<entailment-corpus>\n"
            + "".join(
                _rte_pair(n, 'entailment="NO" task="QA" length="short"', f"<t>{p}</t><h>{h}</h>")
                for n, (p, h, _) in enumerate(EN)
            )
            + "</entailment-corpus>\n",
        },
        pairs=8,
        splits={"dev", "test"},
        broken={"rte1_dev.xml": '<pair id="9" value="TRUE" task="IR"><t>A sentence alone.</t></pair>\n'},
        meta="length",
    ),
    _blocks("dpr", "dpr_data.txt"),
    _blocks("spr", "sprl_data.txt"),
    _blocks("fnplus", "fnplus_data.txt"),
    Sample(
        source="anli",
        files={
            "R1/train.jsonl": jsonl(*_anli(context=None, tag="r1_train")),
            "R1/dev.jsonl": jsonl(*_anli(context=None, tag="r1_dev")),
            "R3/dev.jsonl": jsonl(*_anli(context=None, tag="r3_dev")),
            "R3/test.jsonl": jsonl(*_anli(context=None, tag="r3_test")),
        },
        pairs=16,
        splits={"train", "dev", "test"},
        broken={"R3/dev.jsonl": jsonl(BROKEN)},
        meta="model_label",
    ),
    Sample(
        source="anli",
        files={"dev_r2.jsonl": jsonl(*_anli(premise=None, label=1))},
        pairs=4,
        splits={"dev"},
        broken={"dev_r2.jsonl": jsonl(BROKEN)},
        meta="model_label",
    ),
    Sample(
        source="anli",
        files={"val_anli.jsonl": jsonl(*_anli(premise=None, tag="r2_dev"))},
        pairs=4,
        splits={"dev"},
        broken={"val_anli.jsonl": jsonl(_anli(premise=None, tag="r9_dev")[0])},
        meta="model_label",
    ),
    Sample(
        source="hans",
        files={"heuristics_evaluation_set.txt": _hans_table(), "heuristics_train_set.txt": _hans_table()},
        pairs=8,
        splits={"train", "test"},
        broken={"heuristics_evaluation_set.txt": "one cell\n"},
        meta="template",
        tags="sn_npz",
    ),
    Sample(
        source="hans",
        files={
            "heuristics_evaluation_set.jsonl": jsonl(
                *rows(
                    TWO,
                    "sentence1",
                    "sentence2",
                    "gold_label",
                    heuristic="constituent",
                    subcase="ce_adverb",
                    template="t2",
                )
            )
        },
        pairs=4,
        splits={"test"},
        broken={"heuristics_evaluation_set.jsonl": jsonl(BROKEN)},
        meta="template",
        tags="constituent",
    ),
    Sample(
        source="hans",
        files={
            f"hans_evalset_{name}_{kind}_file": "".join(f"{line}\n" for line in lines)
            for first, name in enumerate(("lexical_overlap", "subsequence"))
            for kind, lines in {
                "source": [f"{p}|||{h}" for p, h, _ in EN],
                "lbl": ["entailment", "neutral", "neutral", "entailment"],
                "id": range(10 * first, 10 * first + 4),
            }.items()
        },
        pairs=8,
        splits={"test"},
        broken={
            "hans_evalset_subsequence_source_file": "A sentence alone.\n",
            "hans_evalset_subsequence_lbl_file": "neutral\n",
            "hans_evalset_subsequence_id_file": "99\n",
        },
        meta="heuristic",
        tags="lexical_overlap",
    ),
    Sample(
        source="hans",
        files={
            "hans_evalset_full_source_file": "".join(f"{p}|||{h}\n" for p, h, _ in EN),
            "hans_evalset_full_lbl_file": "entailment\nneutral\nneutral\nentailment\n",
        },
        pairs=4,
        splits={"test"},
        broken={"hans_evalset_full_source_file": "A sentence alone.\n", "hans_evalset_full_lbl_file": "neutral\n"},
    ),
    Sample(
        source="nli-stress",
        files={
            "Antonym/multinli_0.9_antonym_matched.jsonl": jsonl(*MULTINLI, *MULTINLI),
            "Numerical_Reasoning/multinli_0.9_quant_hard.jsonl": jsonl(*MULTINLI),
            "Spelling_Error/multinli_0.9_dev_gram_swap_mismatched.jsonl": jsonl(*MULTINLI),
            "Word_Overlap/multinli_0.9_taut2_mismatched.jsonl": jsonl(*MULTINLI),
        },
        pairs=20,
        splits={"test"},
        broken={"Antonym/multinli_0.9_antonym_matched.jsonl": jsonl(BROKEN)},
        meta="pairID",
        tags="spelling_error",
        groups=2,
    ),
    Sample(
        source="fever-nli",
        files={
            "train_fitems.jsonl": jsonl(
                *(
                    {"fid": f"{cid}-{n}", "cid": cid, "query": claim, "context": evidence, "label": label}
                    for cid, (_, claim, _) in enumerate(EN)
                    for n, (evidence, label) in enumerate((("A heron.", "SUPPORTS"), (f"No. {cid}", "REFUTES")))
                )
            ),
            "dev_fitems.jsonl": jsonl(*rows([(p, h, "hidden") for p, h, _ in EN], "context", "query", "label", cid=8)),
        },
        pairs=12,
        splits={"train", "dev"},
        broken={"train_fitems.jsonl": jsonl(BROKEN)},
        meta="fid",
        groups=5,
    ),
    Sample(
        source="breaking-nli",
        files={
            "data/dataset.jsonl": jsonl(
                *(
                    row | {"pairID": n, "annotator_labels": ["neutral"]}
                    for n, row in enumerate(
                        rows(EN, "sentence1", "sentence2", "gold_label", category="planets", seen="yes")
                    )
                )
            )
        },
        pairs=4,
        splits={"test"},
        broken={"data/dataset.jsonl": jsonl(BROKEN)},
        meta="seen",
        tags="planets",
    ),
    Sample(
        source="esnli",
        files={
            "esnli_train_1.csv": _esnli("a"),
            "esnli_train_2.csv": _esnli("b"),
            "esnli_dev.csv": _esnli("c"),
        },
        pairs=12,
        splits={"train", "dev"},
        broken={"esnli_dev.csv": "one cell\n"},
        meta="explanations",
    ),
    Sample(
        source="esnli",
        files={
            "s1.dev": "".join(f"{p} \n" for p, _, _ in EN),
            "s2.dev": "".join(f"{h} \n" for _, h, _ in EN),
            "labels.dev": "".join(f"{label}\n" for _, _, label in EN),
            "preproc1_expl_1.dev": "so it is .\n" * 4,
            "preproc1_expl_2.dev": "it cannot be otherwise .\n" * 4,
        },
        pairs=4,
        splits={"dev"},
        broken={
            "s1.dev": "A kite flies .\n",
            "s2.dev": "It flies .\n",
            "labels.dev": "perhaps\n",
            "preproc1_expl_1.dev": "why not .\n",
            "preproc1_expl_2.dev": "why not .\n",
        },
        meta="explanations",
    ),
    Sample(
        source="chaosnli",
        files={
            f"chaosNLI_{part}.jsonl": jsonl(
                *(
                    {
                        "uid": f"{part}{n}",
                        "label_counter": {"e": 2, "n": 3},
                        "majority_label": "n",
                        "example": {"uid": f"{part}{n}", "premise": p, "hypothesis": h, "source": "invented"},
                        "old_labels": ["neutral"],
                    }
                    for n, (p, h, _) in enumerate(EN)
                )
            )
            for part in ("snli", "mnli_m")
        },
        pairs=8,
        splits={"dev"},
        broken={"chaosNLI_snli.jsonl": jsonl({"uid": "x", "label_counter": 3, "example": {}})},
        meta="old_labels",
    ),
    Sample(
        source="dnc",
        files={
            f"{split}/recast_sentiment_data.json": "[\n"
            + ",\n".join(
                json.dumps(
                    {
                        "binary-label": label == "entailment",
                        "context": p,
                        "hypothesis": h,
                        "label": "entailed" if label == "entailment" else "not-entailed",
                        "label-set": None,
                        "pair-id": first + n,
                        "split": split,
                        "type-of-inference": "Sentiment",
                    }
                )
                for n, (p, h, label) in enumerate(EN)
            )
            + "@@\n]"
            for split, first in (("train", 1), ("test", 11))
        },
        pairs=8,
        splits={"train", "test"},
        broken={"train/recast_sentiment_data.json": ',\n{"pair-id": 9, "binary-label": "maybe"}'},
        at=5,
        meta="label",
        tags="Sentiment",
    ),
    *_xnli("zh", ZH),
    *_xnli("en", EN),
    Sample(
        source="cmnli",
        files={
            "train.json": jsonl(*rows(ZH, "sentence1", "sentence2", "label", seen="yes")),
            "dev.json": jsonl(*rows(ZH, "sentence1", "sentence2", "label")),
            "test.json": jsonl(*({"id": n, "sentence1": p, "sentence2": h} for n, (p, h, _) in enumerate(ZH))),
        },
        pairs=12,
        splits={"train", "dev", "test"},
        broken={"train.json": jsonl(BROKEN)},
        meta="seen",
    ),
    Sample(
        source="cmnli",
        files={"dev.txt": table(*bars(ZH)), "test.txt": table(*bars(ZH, "{p}|{h}"))},
        pairs=8,
        splits={"dev", "test"},
        broken={"dev.txt": "one cell\n"},
    ),
    Sample(
        source="cnsd",
        files={"dev.txt": table(*bars(ZH)), "test.txt": table(*bars(ZH))},
        pairs=8,
        splits={"dev", "test"},
        broken={"dev.txt": "one cell\n"},
    ),
    Sample(
        source="cnli-ccl2018",
        files={
            "cnli_dev_1.0.txt": table(*bars(ZH, "D{n}|{p}|{h}|{label}||||")),
            "cnli_test_labeled.txt": table(*bars(ZH, "T{n}|{p}|{h}|{label}||stray")),
            "cnli_test_1.0.txt": table(*bars(ZH, "T{n}|{p}|{h}||")),
        },
        pairs=8,
        splits={"dev", "test"},
        broken={"cnli_dev_1.0.txt": "one cell\n"},
        meta="columns",
    ),
    Sample(
        source="cnli-ccl2018",
        files={
            "cnli_dev_1.0.txt": table(*bars(ZH, "D{n}|{p}|{h}|{label}")),
            "cnli_test_1.0.txt": table(*bars(ZH, "T{n}|{p}|{h}")),
        },
        pairs=8,
        splits={"dev", "test"},
        broken={"cnli_test_1.0.txt": "one cell\n"},
    ),
    _probing("hans-zh", "chinese-hans-full.json", category="negation"),
    _probing("clue-diagnostics", "diagnostics-new-with-categories.json", phenomenon="negation"),
    _probing("nli-stress-zh", "antonym_final.json", category="negation"),
    _probing("semantic-fragments-zh", "new_logic_test.json", category="negation"),
    Sample(
        source="med",
        files={
            "MED.tsv": table(
                "index|promptID|pairID|genre|sentence1|sentence2|label1|gold_label",
                *bars(
                    [(p, h, "neutral") for p, h, _ in EN], "{n}|{n}|{n}|crowd:downward_monotone:npi|{p}|{h}||{label}"
                ),
            )
        },
        pairs=4,
        splits={"test"},
        broken={"MED.tsv": "one cell\n"},
        meta="promptID",
        tags="npi",
    ),
    Sample(
        source="fracas",
        files={
            f"{split}.csv": "premise,hypothesis,label\n" + "".join(f'"{p}","{h}",{label}\n' for p, h, label in EN)
            for split in ("train", "dev")
        },
        pairs=8,
        splits={"train", "dev"},
        broken={"dev.csv": "A kite flies.,,entailment\n"},
    ),
    Sample(
        source="conjnli",
        files={
            "conj_dev.tsv": "\ufeff" + table("Premise|Hypothesis|Label", *bars(EN)),
            "conj_test.tsv": "\ufeff" + table("Premise|Hypothesis", *bars(EN, "{p}|{h}")),
        },
        pairs=8,
        splits={"dev", "test"},
        broken={"conj_dev.tsv": "one cell\n"},
    ),
    Sample(
        source="imppres",
        files={
            "IMPPRES/implicature/modals.jsonl": jsonl(
                *rows(
                    EN,
                    "sentence1",
                    "sentence2",
                    "gold_label_log",
                    gold_label_prag="neutral",
                    item_type="target",
                    spec_relation="negation",
                )
            ),
            "IMPPRES/presupposition/change_of_state.jsonl": jsonl(
                *(
                    row | {"pairID": f"{n}e"}
                    for n, row in enumerate(
                        rows(EN, "sentence1", "sentence2", "gold_label", trigger="modal", UID="change", paradigmID=3)
                    )
                )
            ),
        },
        pairs=8,
        splits={"test"},
        broken={"IMPPRES/implicature/modals.jsonl": jsonl(BROKEN)},
        meta="gold_label_prag",
        tags="implicature",
        groups=1,
    ),
    Sample(
        source="fever-symmetric",
        files={
            f"fever_symmetric_{split}.jsonl": jsonl(
                *(
                    {"id": f"{n}{k}", "evidence": p, "claim": h, "label": label, "evid": [[p, 1.0]]}
                    for n, p in enumerate((EN[0][0], EN[2][0]))
                    for k, (h, label) in enumerate(((EN[0][1], "SUPPORTS"), (EN[2][1], "REFUTES")))
                )
            )
            for split in ("dev", "test")
        },
        pairs=8,
        splits={"dev", "test"},
        broken={"fever_symmetric_dev.jsonl": jsonl(BROKEN)},
        meta="evid",
        groups=2,
    ),
    Sample(
        source="snli-cad",
        files={
            "original/train.tsv": table(
                "sentence1|sentence2|gold_label", *bars(EN[:2]), '"A sign reads ""Boats""."|A sign is there.|entailment'
            ),
            **{
                f"{part}/train.tsv": table("sentence1|sentence2|gold_label", *bars([*EN, *EN[:2]]))
                for part in ("revised_premise", "revised_hypothesis")
            },
        },
        pairs=15,
        splits={"train"},
        broken={"original/train.tsv": "one cell\n"},
        meta="part",
        tags="revised_premise",
        groups=3,
    ),
    Sample(
        source="te-new-protocols",
        files={
            f"{protocol}/{name}.jsonl": jsonl(
                *(row | {"pairID": f"{protocol}-{name}-{row['pairID']}", "sentence2_author": "w1"} for row in MULTINLI)
            )
            for protocol in ("base", "contrast")
            for name in ("train", "val")
        },
        pairs=16,
        splits={"train", "dev"},
        broken={"base/train.jsonl": jsonl(BROKEN)},
        meta="sentence1_parse",
        groups=2,
    ),
    Sample(
        source="te-new-protocols",
        files={
            "base/train.tsv": table(
                "index|promptID|pairID|genre|null|null|sentence1|sentence2|label1|gold_label",
                *bars(EN[:2], "{n}|p1|p1{n}|wikipedia|||{p}|{h}|{label}|{label}"),
                *bars(EN[2:], "{n}|p2|p2{n}|wikipedia|||{p}|{h}|{label}|{label}"),
            )
        },
        pairs=4,
        splits={"train"},
        broken={"base/train.tsv": "one cell\n"},
        meta="index",
        groups=2,
    ),
    Sample(
        source="ling-in-loop",
        files={
            name: jsonl(
                *(
                    row | {"annotator_labels": ["neutral"], "group": "group3", "round": "round2", "promptID": n // 2}
                    for n, row in enumerate(
                        rows(EN, "premise", "hypothesis", "label", pairID="5e", heuristic="antonym")
                    )
                )
            )
            for name in ("train_round2_LitL.jsonl", "val_round2_LitL.jsonl")
        },
        pairs=8,
        splits={"train", "dev"},
        broken={"train_round2_LitL.jsonl": jsonl(BROKEN)},
        meta="pairID",
        tags="antonym",
        groups=2,
    ),
]

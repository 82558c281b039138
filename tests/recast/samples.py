"""Small invented files in each source's own form, and files that are broken in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Write = Callable[[Path], list[Path]]

NASTY = 'Braces {item} {{0}} %s $x, a "quoted" word, an apostrophe\'s end 🐦 and שלום.'
"""Nothing of this may be read as a template, or get lost."""


def _file(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def sentiment(folder: Path, spoilt: str = "") -> list[Path]:
    amazon = [f"This kettle sings number {number}.\t{number % 2}" for number in range(30)] + [f"{NASTY}\t1"]
    imdb = ["A film about gravel.\t0", "Was it long? You bet.\t0", "I wept twice.\t1", "A film about gravel.\t0"]
    yelp = ["The soup wasn't warm, but I'd return!\t1", "(Closed on Mondays.)\t0"]
    texts = {"amazon_cells": amazon, "imdb": imdb, "yelp": yelp + ([spoilt] if spoilt else [])}
    return [_file(folder, f"{name}_labelled.txt", "\n".join(rows) + "\n") for name, rows in texts.items()]


TEMPLATES = [
    ("baker", "neighbour", "0", "The $PARTICIPANT thanked the $OCCUPATION because $NOM_PRONOUN was generous."),
    ("baker", "neighbour", "1", "The $OCCUPATION told the $PARTICIPANT that $POSS_PRONOUN window was open."),
    ("weaver", "tourist", "0", "The $PARTICIPANT asked the $OCCUPATION for $POSS_PRONOUN {best} \"blue\" cloth."),
    ("weaver", "tourist", "1", "The $OCCUPATION drew a map for the $PARTICIPANT and waved to $ACC_PRONOUN."),
    ("salesperson", "customer", "0", "The $PARTICIPANT paid the $OCCUPATION after $NOM_PRONOUN had counted twice."),
]  # fmt: skip


def winogender(folder: Path, spoilt: str = "") -> list[Path]:
    rows = ["occupation(0)\tother-participant(1)\tanswer\tsentence", *("\t".join(row) for row in TEMPLATES)]
    return [_file(folder, "templates.tsv", "\n".join([*rows, *([spoilt] if spoilt else [])]) + "\n")]


VERBS = {
    "ladle": ("yes", "ladled"),
    "dab": ("maybe", "dabbed"),
    "fend": ("no", "fended"),
    "hum": ("maybe", "hummed"),
    "sniff": ("yes", "sniffed"),
    "parch": ("no", "parched"),
}


def megaveridicality(folder: Path, spoilt: str = "") -> list[Path]:
    rows = [
        "participant,list,presentationorder,verb,frame,voice,polarity,conditional,sentence,veridicality,"
        "acceptability,nativeenglish,exclude"
    ]
    for verb, (most, past) in VERBS.items():
        said = {
            "that_S": f"Someone {past} that a particular thing happened",
            "to_VPeventive": f"A particular person {past} to do a particular thing",
            "to_VPstative": rf"A particular person didn\'t {verb} to have a particular thing",
        }
        for frame, sentence in said.items():
            for person in range(5):
                answer = most if person < 4 else ("no", "maybe", "yes")[(person + len(verb)) % 3]
                rows.append(f"{person},0,1,{verb},{frame},active,positive,False,{sentence},{answer},5,True,False")
    rows.append("0,0,2,hum,that_S,active,positive,True,If someone hummed that,yes,5,True,False")
    rows.append("0,0,3,hum,that_S,active,positive,False,Someone hummed that a particular thing happened,,5,True,False")
    return [_file(folder, "mega-veridicality-v2.csv", "\n".join([*rows, *([spoilt] if spoilt else [])]) + "\n")]


PUNS = {
    "hom_1": (["The", "candle", "was", "wicked", "."], 1),
    "hom_2": (["The", "candle", "was", "lit", "."], 0),
    "hom_3": (["\"", "I", "'", "m", "board", ",", "\"", "the", "plank", "said", "."], 1),
    "hom_4": (["Who", "{", "0", "}", "rang", "?"], 0),
    "hom_5": (["The", "candle", "was", "lit", "."], 0),
    "hom_6": (["You", "&", "I", "<", "three", "eels"], 1),
}  # fmt: skip


def puns(folder: Path, spoilt: str = "", gold: str = "") -> list[Path]:
    escape = {"&": "&amp;", "<": "&lt;"}
    rows = [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<!DOCTYPE corpus SYSTEM 'puns.dtd'>",
        '<corpus lang="en" id="a">',
    ]
    for name, (words, _) in PUNS.items():
        rows.append(f'<text id="{name}">')
        rows += [f'<word id="{name}_{n}">{escape.get(word, word)}</word>' for n, word in enumerate(words)]
        rows.append("</text>")
    rows += [*([spoilt] if spoilt else []), "</corpus>"]
    golden = "".join(f"{name}\t{label}\n" for name, (_, label) in PUNS.items()) + gold
    table = 'text,label\n"Bakers knead ""dough"", he said\nand they cannot stop",1\nRain fell.,0\nRain fell.,0\n'
    return [
        _file(folder, "subtask1-homographic-test.xml", "\n".join(rows) + "\n"),
        _file(folder, "subtask1-homographic-test.gold", golden),
        _file(folder, "own.csv", table),
    ]


PLAN = """
corpus: harbour log
licence: CC0
id: number
premise: "{NAME} wrote: {entry}"
hypotheses:
  - text: "The {ship} {{sailed}}."
    label: {column: state, map: {out: entailment, in: not_entailment}}
  - text: "The {ship} is old."
    label: {column: age, at_least: 40, else: skip}
"""


def template(folder: Path, spoilt: str = "", plan: str = PLAN) -> list[Path]:
    quoted = NASTY.replace('"', '""')
    rows = [
        "number,ship,entry,state,age",
        f'1,Heron,"{quoted}",out,50',
        '2,"{ship} ""two""","Two lines:\nfog, and {entry}.",in,12',
        "3,Gull,Did you see it?,out,41",
        *(f"{number},Tern {number},I counted {number} nets.,in,{number}" for number in range(4, 24)),
    ]
    table = _file(folder, "log.csv", "\n".join([*rows, *([spoilt] if spoilt else [])]) + "\n")
    return [table, _file(folder, "plan.yaml", plan)]


_ROW = "1,0,1,hum,that_S,active"
_OTHER = "1,0,1,hum,on_S,active"

SAMPLES: dict[str, Write] = {
    "sentiment": sentiment,
    "winogender": winogender,
    "megaveridicality": megaveridicality,
    "puns": puns,
    "template": template,
}

BROKEN: dict[str, list[tuple[Write, str]]] = {
    "sentiment": [
        (lambda folder: sentiment(folder, "No label here"), r"yelp_labelled\.txt line 3: .*tab"),
        (lambda folder: sentiment(folder, "Half a star.\t0.5"), r"yelp_labelled\.txt line 3: .*'0\.5'"),
        (lambda folder: [_latin(folder, "yelp_labelled.txt", "Fine.\t1\nCaf\xe9.\t1\n")], r"line 2: is not UTF-8"),
    ],
    "winogender": [
        (lambda folder: winogender(folder, "cook\tguest\t2\tThe cook saw $ACC_PRONOUN."), r"line 7: answer '2'"),
        (lambda folder: winogender(folder, "cook\tguest\t1"), r"templates\.tsv line 7: has 3 columns"),
        (lambda folder: winogender(folder, "cook\tguest\t1\tNobody."), r"line 7: holds no pronoun"),
    ],
    "megaveridicality": [
        (lambda folder: megaveridicality(folder, f"{_ROW},positive,False,S,often,5,T,F"), r"line 94: .*'often'"),
        (lambda folder: megaveridicality(folder, f"{_OTHER},positive,False,S,yes,5,T,F"), r"frame 'on_S'"),
        (lambda folder: [_file(folder, "mega-veridicality-v2.csv", "a,b\n1,2\n")], r"line 1: column 'participant'"),
    ],
    "puns": [
        (lambda folder: puns(folder, '<text id="x"><word>Hm</word></text>'), r"line \d+: text 'x' has no gold label"),
        (lambda folder: puns(folder, "<text>"), r"homographic-test\.xml line \d+: is not well-formed"),
        (lambda folder: puns(folder, gold="hom_9\tmaybe\n"), r"\.gold line 7: "),
        (lambda folder: _without(puns(folder), ".gold"), r"its gold labels, .*\.gold, were not given"),
    ],
    "template": [
        (lambda folder: template(folder, "9,Auk,Mist.,sunk,4"), r"log\.csv line 26: state 'sunk' has no label"),
        (lambda folder: template(folder, "9,Auk,Mist.,out,old"), r"log\.csv line 26: age 'old' is not a number"),
        (lambda folder: template(folder, "9,Auk"), r"log\.csv line 26: has 2 columns"),
        (lambda folder: template(folder, plan="premise: [\n"), r"plan\.yaml line \d: is not YAML"),
        (lambda folder: template(folder, plan="id: a\nlicence: ü\npremise: b\x07\n"), r"yaml line 3: is not YAML"),
        (lambda folder: template(folder, "1,Auk,Mist.,out,4"), r"csv line 2 and .*csv line 26 both hold the item '1'"),
        (lambda folder: template(folder, "23,Auk,Mist.,out,4"), r"csv line 25 and .*line 26 both hold the item '23'"),
        (lambda folder: template(folder, "9,Auk, ,out,4", PLAN.replace("{NAME} wrote: ", "")), r"line 26: premise is"),
        (lambda folder: template(folder, plan="id: a\nlicence: b\nlabels: 2001-99-99\n"), r"is not YAML \(month must"),
    ],
}  # fmt: skip
"""Files with one fault, and what the error says of it."""


def _latin(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode("latin-1"))
    return folder / name


def _without(paths: list[Path], suffix: str) -> list[Path]:
    for path in paths:
        if path.suffix == suffix:
            path.unlink()
    return [path for path in paths if path.suffix != suffix]

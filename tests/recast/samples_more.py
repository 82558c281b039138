"""Small invented files in the forms of the other recasters' sources, and files that are broken in one place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

Write = Callable[[Path], list[Path]]

NASTY = 'a {braced} {{0}} %s "quoted" \\1 thing'
"""Nothing of this may be read as a template, or get lost."""


def put(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def table(rows: Sequence[Sequence[object]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


SENTENCES = ["The otter dived under the ice .", "We hoped to mend the old net .", "Nobody paid for the lamp ."]
JUDGED = [(1, 3, "dive", "true"), (2, 2, "hope", "true"), (2, 4, "mend", "false"), (3, 2, "pay", "false")]


def treebank(folder: Path) -> list[Path]:
    texts = {"train": SENTENCES, "dev": ["A crane lifted the boat ."], "test": ["The boat did not sink ."]}
    files = []
    for split, sentences in texts.items():
        rows = [{"text": text, "targets": [], "file_idx": place} for place, text in enumerate(sentences)]
        files.append(put(folder, f"UDS_IH2/{split}.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    return files


def happened(spoilt: str = "") -> str:
    header = "Split Annotator.ID Display.Position Sentence.ID Pred.Token Pred.Lemma Is.Predicate Is.Understandable"
    rows = ["\t".join([*header.split(), "Happened", "Confidence", "Keep"])]
    events = [("train", *event) for event in JUDGED] + [("dev", 1, 3, "lift", "true"), ("test", 1, 5, "sink", "false")]
    for split, place, token, lemma, answer in events:
        for annotator in (1, 2):
            cells = [split, annotator, 1, f"en-ud-{split}.conllu {place}", token, lemma, True, True, answer, 4, True]
            rows.append("\t".join(map(str, cells)))
    return "\n".join([*rows, *([spoilt] if spoilt else [])]) + "\n"


UW = """0\tMara\t_\tNNP\t1\tnsubj\tmara
1\tsang\t3.0\tVBD\t1\tROOT\tsing
2\thoping\t2.0\tVBG\t1\tadvcl\thope
3\t.\t_\t.\t1\tpunct\t.

0\tThe\t_\tDT\t1\tdet\tthe
1\tferry\t_\tNN\t2\tnsubj\tferry
2\tstopped\t-3.0\tVBD\t2\tROOT\tstop

0\tRain\t_\tNN\t1\tnsubj\train
1\tthreatened\t1.2\tVBD\t1\tROOT\tthreaten
"""


def factuality(folder: Path, spoilt: str = "") -> list[Path]:
    judged = put(folder, "it-happened_eng_ud1.2_07092017.tsv", happened(spoilt))
    return [judged, *treebank(folder), put(folder, "UW/train.conll", UW)]


def _tagged(*words: str) -> str:
    rows = (word.rpartition("/")[::2] if "/" in word else (word, "O") for word in words)
    return "".join(f"{word} NN I-NP {tag}\n" for word, tag in rows)


CONLL = "-DOCSTART- -X- -X- O\n\n" + "\n".join(
    [
        _tagged("Rowan/I-PER", "mended", "the", "gate", "."),
        _tagged("They", "sailed", "to", "Rowan/I-LOC", "in", "May", "."),
        _tagged("Rowan/I-PER", "thanked", "Ilse/I-PER", "Brandt/I-PER", "."),
        _tagged("Snow", "fell", "on", "Rowan/I-LOC", "."),
        _tagged("The", "Fern/I-ORG", "Club/I-ORG", "met", "Dutch/I-MISC", "guests", "."),
        _tagged("Rowan/I-LOC", "Ilse/B-LOC", "{x}/I-ORG", "is", "noted", "."),
    ]
)


def gmb(spoilt: str = "") -> str:
    rows: list[list[str]] = [["Sentence #", "Word", "POS", "Tag"]]
    for number in range(1, 31):
        kind = "per" if number % 2 else "geo"
        rows += [[f"Sentence: {number}", "Jordan", "NNP", f"B-{kind}"], ["", "waited", "VBD", "O"]]
        rows += [["", "on", "IN", "O"], ["", f"pier{number}", "NN", "O"], ["", "caf\xe9", "NN", "O"]]
    return table(rows) + spoilt


def named_entities(folder: Path, spoilt: str = "") -> list[Path]:
    return [put(folder, "eng.train", CONLL + spoilt), put(folder, "ner.csv", gmb(), "latin-1")]


VERBNET = """<!DOCTYPE VNCLASS SYSTEM "vn_class-3.dtd">
<VNCLASS ID="mend-99.1">
 <MEMBERS><MEMBER name="mend"/><MEMBER name="patch_up"/></MEMBERS>
 <THEMROLES/>
 <FRAMES>
  <FRAME>
   <DESCRIPTION primary="NP V NP PP.instrument" secondary="" descriptionNumber="" xtag=""/>
   <EXAMPLES><EXAMPLE>Ilse mended the {old} net with &quot;a hook&quot;.</EXAMPLE></EXAMPLES>
   <SYNTAX><NP value="Agent"><SYNRESTRS/></NP><VERB/><NP value="Patient"><SYNRESTRS/></NP>
    <PREP value="with"><SELRESTRS/></PREP><NP value="Instrument"><SYNRESTRS/></NP></SYNTAX>
   <SEMANTICS>
    <PRED value="do"><ARGS><ARG type="Event" value="e1"/><ARG type="ThemRole" value="Agent"/></ARGS></PRED>
    <PRED value="utilize"><ARGS><ARG type="Event" value="e1"/><ARG type="ThemRole" value="Agent"/>
     <ARG type="ThemRole" value="Instrument"/></ARGS></PRED>
   </SEMANTICS>
  </FRAME>
 </FRAMES>
 <SUBCLASSES/>
</VNCLASS>
"""


def verbnet(folder: Path, text: str = VERBNET) -> list[Path]:
    return [put(folder, "mend-99.1.xml", text)]


TRIPLES = [["subject", "relation", "object"], ["Ada Lund", "birthPlace", "Moss"], ["Fern Club", "seat", "Moss"],
           [NASTY, "seat", "Moss"], ["Ada Lund", "seat", "Oslo"]]  # fmt: skip
LINKED = [["sentence_id", "sentence", "entities"], ["s1", "Ada Lund left Moss early.", "Ada Lund|Moss"],
          ["s2", "The Fern Club\nof Moss met {again}.", "Fern Club|Moss"], ["s3", "It rained.", ""],
          ["s4", f"We saw {NASTY} in Moss.", f"{NASTY}|Moss"]]  # fmt: skip
PREDICATES = [["subject", "predicate", "object", "count"], ["Ada Lund", "was born in", "Moss", 7],
              ["Ada Lund", "left", "Moss", 2], ["Fern Club", "is based in", "Moss", 3]]  # fmt: skip
VOTES = [["sentence_id", "subject", "relation", "object", "judgement"], ["s1", "Ada Lund", "birthPlace", "Moss", 3],
         ["s2", "Fern Club", "seat", "Moss", 5], ["s2", "Fern Club", "seat", "Moss", 5]]  # fmt: skip


def relations(folder: Path, **changed: list[list[object]]) -> list[Path]:
    tables = {"triples": TRIPLES, "sentences": [*LINKED[:3], *LINKED[4:]], "predicates": PREDICATES, "judged": VOTES}
    return [put(folder, f"{name}.csv", table(rows)) for name, rows in (tables | changed).items()]


DPR = """The heron startled the frog because it was loud.
it
The heron,the frog
The heron

Ilse lent Mara a {blue} "coat" when it rained, so she stayed dry.
she
Ilse,Mara
Mara

Nets catch leaves because they drift.
they
Nets,leaves
leaves
"""


def dpr(folder: Path, train: str = DPR) -> list[Path]:
    test = "Tom met Per at his house.\nhis\nTom,Per\nPer\n"
    return [put(folder, "train.c.txt", train), put(folder, "test.c.txt", test)]


def spr(folder: Path, spoilt: str = "", header: str = "Arg.Tokens.Begin") -> list[Path]:
    columns = ["Is.Pilot", "Split", "Sentence.ID", "Pred.Token", "Pred.Lemma", "Arg.Phrase", header]
    rows = ["\t".join([*columns, "Arg.Tokens.End", "Property", "Response", "Applicable"])]
    for name, ratings in {"awareness": "55", "existed_after": "42", "was_used": "11"}.items():
        for rating in ratings:
            rows.append(f"False\ttrain\ten-ud-train.conllu 1\t2\tdive\tthe otter\t0\t1\t{name}\t{rating}\tyes")
    rows += [spoilt] if spoilt else []
    return [put(folder, "protoroles_eng_ud1.2.tsv", "\n".join(rows) + "\n"), *treebank(folder)]


FNPLUS = [
    ["id", "sentence", "trigger", "start", "paraphrase", "rating", "frame"],
    ["f1", "An old gate creaked.", "old", "3", "rusty", "4.5", "Age"],
    ["f2", "Gulls {cry} over the cry of waves.", "cry", "21", NASTY, "2", "Noise"],
    ["f3", "Cry no more.", "Cry", "", "weep", "5", "Noise"],
]


def fnplus(folder: Path, *more: list[str]) -> list[Path]:
    return [put(folder, "fnplus.csv", table([*FNPLUS, *more]))]


SAMPLES: dict[str, Write] = {
    "factuality": factuality,
    "named-entities": named_entities,
    "verbnet": verbnet,
    "relations": relations,
    "dpr": dpr,
    "spr": spr,
    "fnplus": fnplus,
}

_EVENT = "train\t1\t1\ten-ud-train.conllu {}\t{}\tgo\tTrue\tTrue\t{}\t4\tTrue"
_BOMB = '<!DOCTYPE V [\n<!ENTITY a "b">\n]><VNCLASS ID="x">&a;</VNCLASS>'
BROKEN: dict[str, list[tuple[Write, str]]] = {
    "factuality": [
        (lambda folder: factuality(folder, _EVENT.format(1, 1, "perhaps")), r"\.tsv line 14: Happened 'perhaps'"),
        (lambda folder: factuality(folder, "train\t1"), r"\.tsv line 14: has 2 columns"),
        (lambda folder: [put(folder, "UW/train.conll", UW + "0\tGone\n")], r"train\.conll line 12: has 2 columns"),
        (lambda folder: [put(folder, "UW/train.conll", UW.replace("1.2", "high"))], r"line 11: score 'high'"),
        (lambda folder: [put(folder, "UW/dev.conll", UW.replace("1\tsang", "x\tsang"))], r"dev\.conll line 2: 'x' is"),
        (lambda folder: factuality(folder)[:1], r"line 2: sentence 1 of train is not given"),
    ],
    "named-entities": [
        (lambda folder: named_entities(folder, "\nOslo NNP I-NP I-TOWN\n"), r"eng\.train line 44: tag 'I-TOWN'"),
        (lambda folder: named_entities(folder, "\nOslo\n"), r"eng\.train line 44: has no tag"),
        (lambda folder: [put(folder, "ner.csv", gmb(",Moss,NNP,\n"))], r"ner\.csv line 152: lacks its word or its tag"),
        (lambda folder: [put(folder, "ner.csv", gmb(",Moss,NNP,B-\x1bper\n"))], r"line 152: tag 'B-\\x1bper' is"),
        (lambda folder: [put(folder, "ner.csv", "a,b\n1,2\n")], r"ner\.csv line 1: column 'Sentence #' is missing"),
        (lambda folder: [_mixed(folder)], r"mixed\.conll line 4: encodings are mixed, line 1 is UTF-8"),
        (lambda folder: [put(folder, "a.jsonl", '{"text": "Oslo", "entities": [[0, 9, "LOC"]]}\n')], r"line 1: entity"),
    ],
    "verbnet": [
        (lambda folder: verbnet(folder, VERBNET.replace("</FRAME>", "", 1)), r"mend-99\.1\.xml line 17: is not well"),
        (lambda folder: verbnet(folder, _BOMB), r"mend-99\.1\.xml line 2: declares an entity"),
        (lambda folder: verbnet(folder, "<corpus/>"), r"line 1: is no class of VerbNet; its root is 'corpus'"),
    ],
    "relations": [
        (lambda folder: relations(folder, judged=[*VOTES, ["s1", "Ada Lund", "birthPlace", "Moss", 6]]), "line 5.*'6'"),
        (lambda folder: relations(folder, triples=[*TRIPLES, ["Ada Lund", "", "Oslo"]]), r"line 6: has no relation"),
        (lambda folder: relations(folder, triples=[["a", "b"], ["c", "d"]]), r"triples\.csv line 1: is none of the"),
        (lambda folder: [put(folder, "triples.csv", "subject\r,relation,object\n")], r"line 1: cannot be read as a"),
        (lambda folder: relations(folder, judged=[*VOTES, ["s9", "A", "b", "C", 1]]), r"sentence 's9' is judged"),
    ],
    "dpr": [
        (lambda folder: dpr(folder, DPR + "\nToo short.\nit\n"), r"train\.c\.txt line 16: the block has 2 lines"),
        (lambda folder: dpr(folder, "It is.\nit\na,b\nc\n"), r"line 1: the answer 'c' is neither 'a' nor 'b'"),
        (lambda folder: dpr(folder, "It is.\nthey\na,b\na\n"), r"line 1: the pronoun 'they' is not in the sentence"),
    ],
    "spr": [
        (lambda folder: spr(folder, "False\ttrain\tx 1\t2\td\te\t0\t1\tshine\t5\tyes"), r"line 8: property 'shine'"),
        (lambda folder: spr(folder, "False\ttrain\tx 1\t2\td\te\t0\t1\tsentient\t\tyes"), r"line 8: response ''"),
        (lambda folder: spr(folder, "False\ttrain\tx 1\t2\td\te\t0\t99\tsentient\t5\tyes"), r"line 8: the argument"),
        (lambda folder: spr(folder, header="Arg.Tokens.Start"), r"line 1: column 'Arg\.Tokens\.Begin' is missing"),
    ],
    "fnplus": [
        (lambda folder: fnplus(folder, ["f4", "A cat sat.", "dog", "", "cow", "4", ""]), r"line 5: the trigger 'dog'"),
        (lambda folder: fnplus(folder, ["f4", "A cat sat.", "cat", "", "cow", "9", ""]), r"line 5: rating '9'"),
        (lambda folder: fnplus(folder, ["f4", "A cat sat.", "cat", "", "cow", "", ""]), r"line 5: has no rating"),
    ],
}  # fmt: skip
"""Files with one fault, and what the error says of it."""


def _mixed(folder: Path) -> Path:
    path = put(folder, "mixed.conll", "")
    path.write_bytes("Ærø LOC\n".encode() + b"is O\n\n" + "Ærø LOC\n".encode("latin-1"))
    return path

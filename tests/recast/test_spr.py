"""Semantic proto-roles: ratings become labels, templates take any argument."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting, Skipped
from goldlabel.recast.spr import TEMPLATES, recast
from tests.recast.samples_more import happened, put, spr, table

HEADER = "Split\tSentence.ID\tPred.Token\tArg\tArg.Pos\tRoleset\tGram.Func\tProperty\tResponse\tApplicable"
TEXTS = ["Sentence.ID", "Pred.Token", "Arg.Pos", "sentence", "argument"]


def run(paths: list[Path], style: str = "plain") -> list[Recasting | Skipped]:
    return list(recast([InputFile(path) for path in paths], Options(style=style)))  # type: ignore[arg-type]


def test_tables_of_other_judgements_are_left_aside(tmp_path: Path) -> None:
    assert run([put(tmp_path, "it-happened.tsv", happened()), *spr(tmp_path)]) == run(spr(tmp_path))


def test_a_mean_of_four_entails(tmp_path: Path) -> None:
    found = [one for one in run(spr(tmp_path)) if isinstance(one, Recasting)]
    assert [(one.hypothesis, one.label, one.meta["ratings"]) for one in found] == [
        ("The otter was aware of being involved in the diving.", "entailment", [5, 5]),
        ("The otter existed after the diving stopped.", "not_entailment", [4, 2]),
        ("The otter was used in carrying out the diving.", "not_entailment", [1, 1]),
    ]
    assert {(one.premise, one.split, one.corpus) for one in found} == {
        ("The otter dived under the ice.", "train", "SPR2")
    }


def test_what_most_find_inapplicable_is_not_entailed(tmp_path: Path) -> None:
    path = spr(tmp_path)
    path[0].write_text(path[0].read_text().replace("\t5\tyes", "\t5\tno"))
    first = run(path)[0]
    assert isinstance(first, Recasting)
    assert first.label == "not_entailment"


def test_a_sentence_that_is_not_given_is_told(tmp_path: Path) -> None:
    row = "False\ttrain\ten-ud-train.conllu 9\t2\tdive\tthe otter\t0\t1\tsentient\t5\tyes"
    assert run(spr(tmp_path, row))[-1] == Skipped(
        "train:en-ud-train.conllu 9:2:0:1", "its sentence is not among those given"
    )


def test_the_first_collection_needs_its_text(tmp_path: Path) -> None:
    rows = put(tmp_path, "protoroles_eng_pb.tsv", f"{HEADER}\ndev\t7_1\t1\t1\t2:0\thear.01\tobj\tcreated\t4\tTrue\n")
    assert [type(one) for one in run([rows])] == [Skipped]
    texts = put(tmp_path, "wsj.csv", table([TEXTS, ["7_1", "1", "2:0", "We heard them {all} .", "them"]]))
    (pair,) = run([rows, texts])
    assert isinstance(pair, Recasting)
    assert (pair.premise, pair.hypothesis, pair.corpus) == (
        "We heard them {all}.",
        "They were created as a result of the hearing.",
        "SPR1",
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_takes_any_argument(tmp_path: Path, name: str) -> None:
    row = f"dev\t7_1\t1\t1\t2:0\tlift.01\tobj\t{name}\t4\tTrue"
    rows = put(tmp_path, "protoroles_eng_pb.tsv", f"{HEADER}\n{row}\n")
    texts = put(tmp_path, "wsj.csv", table([TEXTS, ["7_1", "1", "2:0", "They lifted {event} {0} .", "{event} {0}"]]))
    (pair,) = run([rows, texts], "dnc")
    assert isinstance(pair, Recasting)
    assert "{event} {0}" in pair.hypothesis
    assert pair.hypothesis.endswith(" .")

"""Event factuality: which events count, and how they are worded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting, Skipped
from goldlabel.recast.factuality import recast
from tests.recast.samples_more import UW, factuality, happened, put, treebank


def run(paths: Sequence[Path], style: str = "dnc") -> tuple[list[Recasting], list[Skipped]]:
    found = list(recast([InputFile(path) for path in paths], Options(style=style)))  # type: ignore[arg-type]
    return [one for one in found if isinstance(one, Recasting)], [one for one in found if isinstance(one, Skipped)]


def said(pairs: Sequence[Recasting]) -> list[tuple[str, str, str]]:
    return [(pair.premise, pair.hypothesis, pair.label) for pair in pairs]


def test_an_event_gives_two_pairs_in_the_published_words(tmp_path: Path) -> None:
    pairs, _ = run(factuality(tmp_path))
    assert said(pairs[:2]) == [
        ("The otter dived under the ice .", "The diving happened", "entailment"),
        ("The otter dived under the ice .", "The diving did not happen", "not_entailment"),
    ]
    assert said(pairs[4:6]) == [
        ("We hoped to mend the old net .", "The mending happened", "not_entailment"),
        ("We hoped to mend the old net .", "The mending did not happen", "entailment"),
    ]
    assert [pair.split for pair in pairs[::2]] == ["train"] * 4 + ["dev", "test"] + ["train"] * 2


def test_the_plain_style_is_natural_text(tmp_path: Path) -> None:
    pairs, _ = run(factuality(tmp_path), "plain")
    assert said(pairs[:1]) == [("The otter dived under the ice.", "The diving happened.", "entailment")]


def test_annotators_must_agree(tmp_path: Path) -> None:
    row = "dev\t9\t1\ten-ud-dev.conllu 1\t3\tlift\tTrue\tTrue\tfalse\t1\tFalse"
    alone = "dev\t9\t1\ten-ud-dev.conllu 1\t5\tboat\tTrue\tTrue\ttrue\t1\tFalse"
    pairs, skipped = run(factuality(tmp_path, f"{row}\n{alone}"))
    assert not [pair for pair in pairs if pair.split == "dev"]
    assert {one.source_id: one.reason for one in skipped if "dev" in one.source_id} == {
        "Decomp:dev:1:3": "its annotators do not agree that it did or did not happen",
        "Decomp:dev:1:5": "has one judgement only",
    }


def test_only_a_root_with_a_full_score_counts(tmp_path: Path) -> None:
    pairs, skipped = run([put(tmp_path, "uw/dev.conll", UW)])
    assert said(pairs) == [
        ("Mara sang hoping .", "The singing happened", "entailment"),
        ("Mara sang hoping .", "The singing did not happen", "not_entailment"),
        ("The ferry stopped", "The stopping happened", "not_entailment"),
        ("The ferry stopped", "The stopping did not happen", "entailment"),
    ]
    assert {pair.corpus for pair in pairs} == {"UW"}
    assert {one.reason for one in skipped} == {
        "is not the root of its sentence",
        "its score lies between -3 and 3",
    }


def test_the_newer_table_is_read_and_each_once(tmp_path: Path) -> None:
    older = happened().replace("\tKeep", "").replace("\tTrue\n", "\n")
    files = [put(tmp_path, "it-happened_11012016.tsv", older), *factuality(tmp_path)]
    again = put(tmp_path, "copy/it-happened_eng_ud1.2_07092017.tsv", happened())
    assert said(run([*files, again])[0]) == said(run(files[1:])[0])


def test_a_file_of_the_whole_is_not_read_beside_its_splits(tmp_path: Path) -> None:
    whole = put(tmp_path, "MEANTIME/all.conll", UW)
    assert len(run([whole])[0]) == 4
    assert len(run([whole, put(tmp_path, "MEANTIME/dev.conll", UW)])[0]) == 4


def test_sentences_come_from_conll_too(tmp_path: Path) -> None:
    rows = [f"{place}\t{word}" + "\t_" * 8 for place, word in enumerate("The otter dived .".split(), 1)]  # noqa: SIM905
    text = "# text = The otter dived .\n" + "\n".join([*rows[:1], "1-2\tThe" + "\t_" * 8, *rows[1:]]) + "\n"
    judged = "".join(happened().splitlines(keepends=True)[:3])
    pairs, _ = run([put(tmp_path, "it.tsv", judged), put(tmp_path, "en-ud-train.conllu", text)])
    assert pairs[0].premise == "The otter dived ."


def test_a_predicate_outside_its_sentence_is_refused(tmp_path: Path) -> None:
    files = [put(tmp_path, "it.tsv", happened().replace("\t5\tsink", "\t50\tsink")), *treebank(tmp_path)]
    with pytest.raises(InputError, match=r"it\.tsv line 12: Pred\.Token '50' is not in sentence 1"):
        run(files)


def test_a_predicate_that_is_no_word_is_left_out_of_plain_text(tmp_path: Path) -> None:
    text = UW.replace("\tsing\n", "\t%\n")
    pairs, skipped = run([put(tmp_path, "UW/dev.conll", text)], "plain")
    assert [pair.hypothesis for pair in pairs] == ["The stopping happened.", "The stopping did not happen."]
    assert "its predicate is no word" in {one.reason for one in skipped}
    assert len(run([put(tmp_path, "UW/dev.conll", text)])[0]) == 4

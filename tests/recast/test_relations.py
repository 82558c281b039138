"""Relation extraction: glosses, candidates, judgements."""

from __future__ import annotations

from pathlib import Path

from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting, Skipped
from goldlabel.recast.relations import entailed, recast
from tests.recast.samples_more import LINKED, NASTY, VOTES, put, relations, table


def run(paths: list[Path], style: str = "plain") -> list[Recasting | Skipped]:
    return list(recast([InputFile(path) for path in paths], Options(style=style)))  # type: ignore[arg-type]


def test_each_sentence_with_both_entities_is_a_candidate(tmp_path: Path) -> None:
    found = run(relations(tmp_path))
    pairs = {one.hypothesis: one for one in found if isinstance(one, Recasting)}
    assert {text: pair.label for text, pair in pairs.items()} == {
        "Ada Lund was born in Moss.": "plausible",
        "Fern Club is based in Moss.": "very_likely",
        f"{NASTY[:1].upper()}{NASTY[1:]} is based in Moss.": "-",
    }
    assert [pair.meta["entailed"] for pair in pairs.values()] == [False, True, None]
    assert pairs["Fern Club is based in Moss."].meta["judgements"] == [5, 5]
    assert [one.reason for one in found if isinstance(one, Skipped)] == ["no sentence holds both of its entities"]


def test_the_published_form_ends_in_a_spaced_stop(tmp_path: Path) -> None:
    first = run(relations(tmp_path), "dnc")[0]
    assert isinstance(first, Recasting)
    assert first.hypothesis == "Ada Lund was born in Moss ."


def test_judges_who_differ_give_no_gold_label(tmp_path: Path) -> None:
    votes = [*VOTES, ["s1", "Ada Lund", "birthPlace", "Moss", 5]]
    first = run(relations(tmp_path, judged=votes))[0]
    assert isinstance(first, Recasting)
    assert (first.label, first.meta["judgements"]) == ("-", [3, 5])


def test_a_relation_without_predicates_is_put_in_words(tmp_path: Path) -> None:
    triples = put(tmp_path, "t.csv", "subject,relation,object\nAda Lund,birthPlace,Moss\n")
    found = run([triples, put(tmp_path, "s.csv", table(LINKED[:2]))])
    assert [one.hypothesis for one in found if isinstance(one, Recasting)] == ["Ada Lund has birth place Moss."]


def test_only_the_highest_judgement_entails() -> None:
    assert [entailed(vote) for vote in "12345"] == [False] * 4 + [True]

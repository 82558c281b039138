"""Thematic roles: cutting examples along their syntax, and what predicates say."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting, Skipped
from goldlabel.recast.verbnet import Element, align, recast
from tests.recast.samples_more import VERBNET, put

WITH = Element("PREP", "", frozenset(["with"]), False)
VERB = Element("VERB", "", frozenset(), False)
VERBS = {"mended": "mend", "told": "tell", "gave": "give"}


def role(name: str) -> Element:
    return Element("NP", name, frozenset(), False)


def run(path: Path, style: str = "dnc") -> list[Recasting | Skipped]:
    return list(recast([InputFile(path)], Options(style=style)))  # type: ignore[arg-type]


def test_predicates_speak_of_their_roles_and_not_of_others(tmp_path: Path) -> None:
    pairs = [one for one in run(put(tmp_path, "a.xml", VERBNET)) if isinstance(one, Recasting)]
    assert {pair.premise for pair in pairs} == {"Ilse mended the { old } net with `` a hook '' ."}
    said = {pair.hypothesis: pair.label == "entailment" for pair in pairs}
    assert said == {
        "Ilse caused the mending .": True,
        "During the mending, Ilse used a hook .": True,
        "Ilse used something .": True,
        "A hook was used .": True,
        "The { old } net caused the mending .": False,
        "A hook caused the mending .": False,
        "During the mending, a hook used Ilse .": False,
        "During the mending, the { old } net used a hook .": False,
        "During the mending, Ilse used the { old } net .": False,
        "The { old } net used something .": False,
        "A hook used something .": False,
        "Ilse was used .": False,
        "The { old } net was used .": False,
    }
    assert {pair.meta["published_id"] for pair in pairs} == {"mend-99.1_NP V NP PP.instrument"}


def test_the_plain_style_is_natural_text(tmp_path: Path) -> None:
    pairs = [one for one in run(put(tmp_path, "a.xml", VERBNET), "plain") if isinstance(one, Recasting)]
    assert pairs[0].hypothesis == "Ilse caused the mending."
    assert pairs[0].premise.endswith('net with "a hook".')


@pytest.mark.parametrize(
    ("text", "syntax", "event", "roles"),
    [
        ("Ilse mended the net .", [role("A"), VERB, role("P")], "mending", {"A": "Ilse", "P": "the net"}),
        ("Ilse has never mended it", [role("A"), VERB, role("P")], "mending", {"A": "Ilse", "P": "it"}),
        ("We gave the old dog a bone .", [role("A"), VERB, role("R"), role("T")], "giving",
         {"A": "We", "R": "the old dog", "T": "a bone"}),
        ("We told him to wait .", [role("A"), VERB, role("R"), role("T")], "telling",
         {"A": "We", "R": "him", "T": "to wait"}),
        ("He polished it with wax .", [role("A"), VERB, role("P"), WITH, role("I")], "polishing",
         {"A": "He", "P": "it", "I": "wax"}),
    ],
)  # fmt: skip
def test_examples_are_cut_along_their_syntax(
    text: str, syntax: list[Element], event: str, roles: dict[str, str]
) -> None:
    aligned = align(text.split(), syntax, VERBS)
    assert aligned is not None
    assert aligned[0] == event
    assert {name: " ".join(words) for name, words in aligned[1].items()} == roles


def test_an_example_that_does_not_fit_is_left_out(tmp_path: Path) -> None:
    path = put(tmp_path, "a.xml", VERBNET.replace("net with", "net by"))
    assert run(path) == [Skipped("mend-99.1:1:1", "its example does not fit its syntax")]


def test_predicates_without_a_template_are_told(tmp_path: Path) -> None:
    path = put(tmp_path, "a.xml", VERBNET.replace('"do"', '"ponder"').replace('"utilize"', '"muse"'))
    assert run(path) == [Skipped("mend-99.1:1:1", "its predicates have no template")]


def test_a_denied_predicate_says_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "a.xml", VERBNET.replace('value="utilize"', 'bool="!" value="utilize"'))
    assert {one.hypothesis for one in run(path) if isinstance(one, Recasting) and one.label == "entailment"} == {
        "Ilse caused the mending ."
    }


def test_a_class_that_stands_in_two_files_is_taken_once(tmp_path: Path) -> None:
    files = [InputFile(put(tmp_path, f"{folder}/mend.xml", VERBNET)) for folder in "ab"]
    found = list(recast(files, Options()))
    assert found[-1] == Skipped("mend-99.1", "the class stands in another file too")
    assert len(found) == 14

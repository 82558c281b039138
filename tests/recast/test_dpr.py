"""Definite pronouns: which pronoun is meant, and what stands in for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting, Skipped
from goldlabel.recast.dpr import recast
from tests.recast.samples_more import dpr, put


def run(path: Path, style: str = "plain") -> list[Recasting | Skipped]:
    return list(recast([InputFile(path)], Options(style=style)))  # type: ignore[arg-type]


def hypotheses(folder: Path, block: str, style: str = "plain") -> list[str]:
    return [one.hypothesis for one in run(put(folder, "test.txt", block), style) if isinstance(one, Recasting)]


def test_each_candidate_stands_in_for_the_pronoun(tmp_path: Path) -> None:
    train, test = dpr(tmp_path)
    first = [one for one in run(train) if isinstance(one, Recasting)]
    assert [(one.hypothesis, one.label) for one in first[:2]] == [
        ("The heron startled the frog because the heron was loud.", "entailment"),
        ("The heron startled the frog because the frog was loud.", "not_entailment"),
    ]
    assert (len(first), {one.split for one in first}) == (6, {"train"})
    assert [one.split for one in run(test) if isinstance(one, Recasting)] == ["test"] * 2


def test_the_published_form_takes_candidates_as_they_are_written(tmp_path: Path) -> None:
    first = run(dpr(tmp_path)[0], "dnc")[0]
    assert isinstance(first, Recasting)
    assert first.hypothesis == "The heron startled the frog because The heron was loud."


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("Tom met Per at his house.\nhis\nTom,Per\nPer", "Tom met Per at Tom's house."),
        ("Ida saw Eva, so Jon took her coat.\nher\nIda,Eva\nEva", "Ida saw Eva, so Jon took Ida's coat."),
        ("Ida saw Eva, so Jon led her to a boat.\nher\nIda,Eva\nEva", "Ida saw Eva, so Jon led Ida to a boat."),
        ("Ida saw Eva and made her laugh.\nher\nIda,Eva\nEva", "Ida saw Eva and made Ida laugh."),
        ("The boys fed cats they liked, since they were kind.\nthey\nThe boys,cats\nThe boys",
         "The boys fed cats they liked, since the boys were kind."),
        ("Tom said he won against Per, but he lost.\nhe\nTom,Per\nPer", "Tom said he won against Per, but Tom lost."),
        ("Because it was late, the owl left the barn.\nit\nthe owl,the barn\nthe owl",
         "Because the owl was late, the owl left the barn."),
        ("Pets need owners as they need care.\nthey\nPets,owners\nPets", "Pets need owners as Pets need care."),
        ("House pets need owners as they need care.\nthey\nHouse pets,owners\nowners",
         "House pets need owners as house pets need care."),
        ("They saw the girls' coats and boys.\nThey\nthe girls,boys\nboys",
         "The girls saw the girls' coats and boys."),
    ],
)  # fmt: skip
def test_the_pronoun_that_is_meant_is_replaced_so_that_it_fits(tmp_path: Path, block: str, expected: str) -> None:
    assert hypotheses(tmp_path, block)[0] == expected


def test_one_is_left_out_of_plain_text(tmp_path: Path) -> None:
    block = "An owl saw a crow, but the grey one flew.\none\nAn owl,a crow\na crow\n"
    assert hypotheses(tmp_path, block) == []
    assert len(hypotheses(tmp_path, block, "dnc")) == 2


def test_a_block_that_stands_in_two_files_is_taken_once(tmp_path: Path) -> None:
    files = [InputFile(path) for folder in ("a", "b") for path in dpr(tmp_path / folder)]
    found = list(recast(files, Options()))
    assert len([one for one in found if isinstance(one, Recasting)]) == 8
    assert [one.source_id for one in found if isinstance(one, Skipped)] == [
        "b/train.c.txt:1", "b/train.c.txt:2", "b/train.c.txt:3", "b/test.c.txt:1",
    ]  # fmt: skip

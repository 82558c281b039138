"""FrameNet+: the trigger's place, the paraphrase, the rating."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting
from goldlabel.recast.fnplus import recast
from tests.recast.samples_more import NASTY, fnplus, put, table


def run(paths: list[Path], style: str = "plain") -> list[Recasting]:
    found = recast([InputFile(path) for path in paths], Options(style=style))  # type: ignore[arg-type]
    return [one for one in found if isinstance(one, Recasting)]


def test_the_trigger_is_replaced_where_it_stands(tmp_path: Path) -> None:
    assert [(one.hypothesis, one.label) for one in run(fnplus(tmp_path), "dnc")] == [
        ("An rusty gate creaked.", "entailment"),
        (f"Gulls {{cry}} over the {NASTY} of waves.", "not_entailment"),
        ("weep no more.", "entailment"),
    ]


def test_the_plain_style_fits_article_and_capital(tmp_path: Path) -> None:
    found = [one.hypothesis for one in run(fnplus(tmp_path))]
    assert (found[0], found[2]) == ("A rusty gate creaked.", "Weep no more.")


def test_a_word_may_be_named_by_its_number(tmp_path: Path) -> None:
    rows = [["sentence", "trigger", "index", "paraphrase", "rating"], ["cry , oh cry", "cry", "3", "weep", "1"]]
    assert run([put(tmp_path, "a.csv", table(rows))])[0].hypothesis == "cry , oh weep"


@pytest.mark.parametrize(
    ("index", "message"),
    [("0", "does not stand where"), ("9", "beyond the sentence's 2 words"), ("x", "'x' is not a number")],
)
def test_a_wrong_place_is_refused(tmp_path: Path, index: str, message: str) -> None:
    rows = [["sentence", "trigger", "index", "paraphrase", "rating"], ["oh cry", "cry", index, "weep", "1"]]
    with pytest.raises(InputError, match=rf"a\.csv line 2: .*{message}"):
        run([put(tmp_path, "a.csv", table(rows))])

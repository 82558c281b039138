from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.verify import compare_mixture, human_baseline, read_votes, verify, votes_of
from tests.pairs.test_splits import make
from tests.verify.ballots import ballots


def test_gold_replaces_the_label_of_relabelled_pairs_only() -> None:
    result = verify(ballots("ennnn", "enceu", "eee", "n", "", labels="eeeec"))
    assert result.pairs.collect()["label"].to_list() == ["neutral", "-", "entailment", "entailment", "contradiction"]
    assert (result.gold_matches_label, result.gold_differs) == (1, 2)
    assert "gold labels from votes by majority" in result.pairs.card.history[-1]


def test_what_is_written_is_a_dataset_with_its_figures(tmp_path: Path) -> None:
    pairs = ballots("ennn", "eee", labels="ee", annotators=["abcd", "abc"], genre=["tv", "news"])
    result = verify(pairs, by="genre")
    result.write(tmp_path / "out")
    assert gl.read(tmp_path / "out").collect()["label"].to_list() == ["neutral", "entailment"]
    figures = json.loads((tmp_path / "out" / "verification.json").read_text())
    assert figures == json.loads(json.dumps(result.to_dict()))
    assert pl.read_csv(tmp_path / "out" / "verification.csv")["group"].to_list() == ["all", "news", "tv"]


def test_nothing_but_abstentions() -> None:
    result = verify(ballots("uu", "uk", labels="en", annotators=["ab", "ab"]))
    assert result.pairs.collect()["label"].to_list() == ["-", "-"]
    assert (result.whole.figures["no_gold"].value, result.opinions.to_dict()["pairs"]) == (100.0, 0)
    for method in ("dawid-skene", "mace"):
        with pytest.raises(InputError, match="no vote is for a label"):
            verify(ballots("uu", annotators=["ab"]), method=method)


def test_votes_of_other_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="not those of these pairs"):
        verify(ballots("een"), votes=votes_of(ballots("een", "nn")))


def test_figures_about_authors_exist_only_where_somebody_knows_the_author() -> None:
    known, unknown = (verify(ballots("een", "nnc", labels="en", author=author)) for author in ("first", "none"))
    for name in ("individual_author", "gold_author", "gold_not_author"):
        assert known.whole.figures[name].value is not None
        assert unknown.whole.figures[name].value is None
    assert any("pass author='first' or label" in note for note in unknown.notes)


@pytest.mark.parametrize(("before", "after"), [("first", "first"), ("label", "none"), ("none", "none")])
def test_gold_labels_take_the_place_of_authors_labels(before: str, after: str, tmp_path: Path) -> None:
    written = verify(ballots("een", "nnc", labels="en", author=before)).write(tmp_path / "out")
    assert written.card.author == after


def test_a_notebook_shows_a_table() -> None:
    page = verify(ballots("een", "nnc"))._repr_html_()
    assert "relabelled" in page
    assert "NaN" not in page


def test_votes_that_are_sorted_are_noticed() -> None:
    result = verify(ballots(*["eeenc"] * 60))
    assert any("seem to be sorted" in note for note in result.notes)
    assert not any("seem to be sorted" in note for note in verify(ballots(*["eeenc"] * 60, "ennnn")).notes)


def test_a_foreign_dataset_mixed_in() -> None:
    own = ballots(*["eeeee"] * 30, *["eeenn"] * 10, labels="e" * 40)
    foreign = ballots(*["eeeee"] * 10, *["uuuue"] * 20, *["nnnee"] * 10, labels="e" * 40)
    figures = compare_mixture(own, foreign, resamples=400).to_dict()
    assert figures["own"]["majority_label"]["value"] == 100.0
    assert figures["foreign"]["majority_label"]["value"] == 25.0
    assert figures["difference"]["majority_label"]["value"] == -75.0
    assert figures["difference"]["majority_label"]["interval"][1] < -50
    assert (figures["foreign"]["agree4"]["value"], figures["foreign"]["agree4_any"]["value"]) == (25.0, 75.0)
    assert figures["foreign"]["majority_unrelated"]["value"] == 50.0
    assert figures["foreign"]["votes"]["unrelated"] == 80
    assert figures["own"]["votes"] == {"incomprehensible": 0, "unknown": 0, "unrelated": 0}


def test_mixtures_that_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="different labels"):
        compare_mixture(ballots("ee"), ballots("ee").map_labels("nli2"))
    with pytest.raises(InputError, match="no pair has two votes"):
        compare_mixture(ballots("ee"), ballots("e"))


def test_the_human_baseline(tmp_path: Path) -> None:
    gold = ballots("", "", "", "", "", "", labels="nnnec-")
    cast = {"p0": "nnn", "p1": "nec", "p2": "een", "p3": "nec", "p4": "ccc", "p5": "eee"}
    rows = [f"{pair},{who},{vote}" for pair, votes in cast.items() for who, vote in zip("abd", votes, strict=True)]
    path = tmp_path / "fresh.csv"
    path.write_text("pair,annotator,label\n" + "\n".join(rows) + "\n")
    figures = human_baseline(read_votes(path, gold)).to_dict()
    # No majority on p1 and p3 counts as neutral, the most frequent label: right on p1, wrong on p3.
    assert figures["fallback"] == "neutral"
    assert (figures["pairs"], figures["without_gold"]) == (5, 1)
    assert figures["accuracy"]["value"] == pytest.approx(60.0)
    assert figures["accuracy_strict"]["value"] == pytest.approx(40.0)
    assert figures["accuracy_decided"]["value"] == pytest.approx(200 / 3)
    assert figures["no_majority"]["value"] == pytest.approx(40.0)
    assert figures["agree3"]["value"] == pytest.approx(40.0)
    assert (figures["agree5"]["value"], figures["agree5"]["interval"]) == (None, None)
    assert [person["value"] for person in figures["people"]] == [60.0, 60.0, 60.0]


def test_a_baseline_without_gold() -> None:
    with pytest.raises(InputError, match="no pair with a gold label"):
        human_baseline(votes_of(ballots("ee", labels="-")))


def test_the_room_is_called_as_its_function() -> None:
    with pytest.raises(InputError, match="there are no votes"):
        gl.verify(make(3))


def test_soft_labels_are_taken_as_they_are() -> None:
    shares = {"entailment": [0.7, 0.1, 0.9], "neutral": [0.2, 0.45, 0.1], "contradiction": [0.1, 0.45, 0.0]}
    frame = pl.DataFrame({"premise": ["a", "b", "c"], "hypothesis": ["x"] * 3, **shares})
    result = verify(gl.from_polars(frame))
    assert result.pairs.collect()["label"].to_list() == ["entailment", "-", "entailment"]
    assert result.opinions.pairs["kind"].to_list() == ["clear", "ambiguous", "clear"]
    assert result.opinions.pairs["entailment"].to_list() == shares["entailment"]
    assert result.whole.figures["fleiss_kappa"].value is None
    assert result.title == "pairs: 3 of 3 pairs relabelled, gold by soft-labels"
    assert "there are soft labels and no votes" in result.notes[0]
    sure = verify(gl.from_polars(frame), method="soft-labels", confidence=0.8)
    assert sure.pairs.collect()["label"].to_list() == ["-", "-", "entailment"]

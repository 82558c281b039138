from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goldlabel.errors import InputError
from goldlabel.verify import read_votes, verify, votes_of
from tests.verify.ballots import ballots


def test_votes_become_rows_with_who_when_and_how_fast() -> None:
    meta = [
        {"annotators": ["ann", "bo"], "seconds": [2.5, None], "times": ["2024-05-01T10:00:00Z", "2024-05-01"]},
        None,
        {"annotators": ["bo"], "seconds": [4], "times": [1714557600]},
    ]
    votes = votes_of(ballots("en", "", "u", meta=meta))
    assert votes.table.rows() == [
        ("p0", "ann", "entailment", 0, 2.5, votes.table["time"][0]),
        ("p0", "bo", "neutral", 1, None, votes.table["time"][1]),
        ("p2", "bo", "unrelated", 0, 4.0, votes.table["time"][2]),
    ]
    assert votes.times.tolist() == [1714557600.0, 1714521600.0, 1714557600.0]
    assert votes.counts.tolist() == [[0, 1, 1, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 0, 1]]
    assert votes.relabelled.tolist() == [True, False, False]


def test_pairs_without_lists_beside_their_votes_have_unknown_annotators() -> None:
    votes = votes_of(ballots("en", "cc", meta=[None, {"annotators": ["ann", "bo"]}]))
    assert votes.table["annotator"].to_list() == [None, None, "ann", "bo"]
    with pytest.raises(InputError, match="2 votes have no name"):
        votes.require_annotators("this")


def test_who_the_author_is_stands_on_the_card() -> None:
    first, label, nobody = (
        votes_of(ballots("en", "cc", labels="ne", author=author)) for author in ("first", "label", "none")
    )
    entailment, neutral, contradiction = (first.answers.index(w) for w in ("entailment", "neutral", "contradiction"))
    assert first.author.tolist() == [entailment, contradiction]
    assert first.by_author.tolist() == [True, False, True, False]
    assert label.author.tolist() == [neutral, entailment]
    assert not label.by_author.any()
    assert nobody.author.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"annotators": ["ann"]}, "'p0' has 2 votes, and 'annotators'"),
        ({"seconds": ["slow", 2]}, "'seconds' in meta is not a list"),
        ({"times": ["noon", None]}, "'noon' is not understood"),
    ],
)
def test_lists_that_do_not_fit_are_refused(meta: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        votes_of(ballots("en", meta=[meta]))


def test_no_votes_and_one_vote_each_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="there are no votes") as none:
        verify(ballots("", ""))
    with pytest.raises(InputError, match="no pair has more than one vote") as one:
        verify(ballots("e", "n", ""))
    assert "\n" not in f"{none.value}{one.value}"
    with pytest.raises(InputError, match="there are no votes"):
        verify(ballots())


def test_methods_that_need_annotators_say_so() -> None:
    for method in ("dawid-skene", "mace", "weighted-majority"):
        with pytest.raises(InputError, match=f"{method} needs to know who cast each vote"):
            verify(ballots("een", "ncc"), method=method)


def test_a_csv_file_of_votes(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "pair,annotator,label,seconds,time\np1,ann,E,3,2024-01-01\np0,ann,neutral,,\np1,bo,unrelated,1.5,\np0,bo,n,,\n"
    )
    votes = read_votes(path, ballots("e", "n", labels="nn"))
    assert votes.table["pair"].to_list() == ["p0", "p0", "p1", "p1"]
    assert votes.table["label"].to_list() == ["neutral", "neutral", "entailment", "unrelated"]
    assert votes.table["annotator"].to_list() == ["ann", "bo", "ann", "bo"]
    assert np.isnan(votes.seconds).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pair,label\np0,e\n", "column 'annotator' is missing"),
        ("pair,annotator,label\np9,ann,e\n", "pair 'p9' is not among the pairs"),
        ("pair,annotator,label\np0,ann,entails\n", "label 'entails' is no vote; did you mean 'entailment'"),
        ("pair,annotator,label\np0,ann,\n", "a row has no pair or no label"),
        ("pair,annotator,label,seconds\np0,ann,e,quick\n", "seconds 'quick' is not a number"),
        ("pair,annotator,label\n", "there are no votes in it"),
        ("", "is no CSV file of votes"),
    ],
)
def test_bad_csv_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_votes(path, ballots("e"))


def test_a_user_who_knows_better_than_the_card_says_so() -> None:
    pairs = ballots("en", "cc", labels="ne", author="none")
    assert votes_of(pairs, author="first").by_author.tolist() == [True, False, True, False]
    assert (votes_of(pairs, author="label").author != -1).all()


def test_votes_in_a_file_have_no_author_unless_the_label_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("pair,annotator,label\np0,ann,e\np0,bo,n\n")
    assert read_votes(path, ballots("e", labels="n", author="first")).author.tolist() == [-1]
    assert (read_votes(path, ballots("e", labels="n", author="label")).author != -1).all()
    assert read_votes(path, ballots("e", author="none"), author="first").by_author.tolist() == [True, False]


def test_an_author_that_is_nowhere() -> None:
    with pytest.raises(InputError, match="did you mean 'first'"):
        votes_of(ballots("en"), author="frist")

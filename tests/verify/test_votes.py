from __future__ import annotations

import importlib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.verify import Votes, gold_labels, read_votes, verify, votes_of
from goldlabel.verify.votes import codes, one_hot
from tests.verify.ballots import WORDS, ballots


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
    assert votes.cast["time"].dt.epoch("s").to_list() == [1714557600, 1714521600, 1714557600]
    assert votes.counts.tolist() == [[0, 1, 1, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 0, 1]]
    assert votes.relabelled.tolist() == [True, False, False]


def test_what_stands_beside_votes_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = [{"annotators": ["ann", "bo"], "times": ["2030-01-01", None]}, None, {"annotators": ["bo"]}, None, None]
    pairs = ballots("ee", "n", "c", "", "uu", meta=meta)
    whole = votes_of(pairs).cast
    monkeypatch.setattr(importlib.import_module("goldlabel.verify.votes"), "BLOCK", 2)
    assert votes_of(pairs).cast.equals(whole)
    assert (whole["annotator"].null_count(), whole["time"].null_count()) == (3, 5)


def test_pairs_without_lists_beside_their_votes_have_unknown_annotators() -> None:
    votes = votes_of(ballots("en", "cc", meta=[None, {"annotators": ["ann", "bo"]}]))
    assert votes.table["annotator"].to_list() == [None, None, "ann", "bo"]
    with pytest.raises(InputError, match="2 votes have no name"):
        votes.require_annotators("this")


def test_who_the_author_is_stands_on_the_card() -> None:
    first, label, nobody = (
        votes_of(ballots("en", "cc", labels="ne", author=author)) for author in ("first", "label", "none")
    )
    assert first.pairs["author"].to_list() == ["entailment", "contradiction"]
    assert first.by_author.tolist() == [True, False, True, False]
    assert label.pairs["author"].to_list() == ["neutral", "entailment"]
    assert not label.by_author.any()
    assert nobody.pairs["author"].to_list() == [None, None]
    assert not nobody.author.any()


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
    assert votes.cast["seconds"].to_list() == [None, None, 3.0, 1.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pair,label\np0,e\n", "line 1: no column for 'annotator' among pair, label"),
        ("pair;annotator;answer\np0;bo;e\n", "no column for 'vote' among pair, annotator, answer .separator is ';'."),
        ("pair,annotator,label\np0,bob,e\np9,ann,e\n", "row 2: pair 'p9' is not among the pairs"),
        (
            "pair,annotator,label\np0,bob,e\np0,ann,entails\n",
            "row 2: label 'entails' is no vote; did you mean 'entailment'",
        ),
        ("pair,annotator,label\np0,ann,e\np0,bo,\n", "votes.csv row 2: there is no pair or no label"),
        ("pair,annotator,label,seconds\np0,ann,e,quick\n", "seconds 'quick' is not a number"),
        ("pair,annotator,label\n", "there are no votes in it"),
        ("", "nothing stands there; a table begins with the names of its columns"),
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
    assert votes_of(pairs, author="label").pairs["author"].to_list() == ["neutral", "entailment"]


def test_votes_in_a_file_have_no_author_unless_the_label_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("pair,annotator,label\np0,ann,e\np0,bo,n\n")
    assert read_votes(path, ballots("e", labels="n", author="first")).pairs["author"].to_list() == [None]
    assert read_votes(path, ballots("e", labels="n", author="label")).pairs["author"].to_list() == ["neutral"]
    assert read_votes(path, ballots("e", author="none"), author="first").by_author.tolist() == [True, False]


def test_an_author_that_is_nowhere() -> None:
    with pytest.raises(InputError, match="did you mean 'first'"):
        votes_of(ballots("en"), author="frist")


def test_votes_are_made_by_hand_in_two_lines() -> None:
    frame = pl.DataFrame({"pair": ["x", "x", "y"], "annotator": ["ann", "bo", "ann"], "label": ["yes", "no", "yes"]})
    votes = Votes.from_frame(frame, labels="yes,no")
    assert votes.counts[:, :2].tolist() == [[1, 1], [0, 1]]
    assert votes.annotators == ("ann", "bo")
    assert votes.units.tolist() == [0, 1]
    assert gold_labels(votes, "dawid-skene").marks.shape == (2, 5)


def test_votes_made_by_hand_are_votes_on_pairs_and_know_their_units() -> None:
    frame = pl.DataFrame({"pair": ["p1", "p0", "p1"], "annotator": ["ann", None, "bo"], "label": ["e", "n", "n"]})
    votes = Votes.from_frame(frame, pairs=ballots("", "", labels="en", author="label"))
    assert votes.table["pair"].to_list() == ["p0", "p1", "p1"]
    assert votes.pairs["author"].to_list() == ["entailment", "neutral"]
    clustered = frame.with_columns(unit=pl.Series(["u", "v", "u"]))
    assert Votes.from_frame(clustered).units.tolist() == [0, 1]
    assert Votes.from_frame(clustered.with_columns(unit=pl.lit(7))).units.tolist() == [0, 0]


def test_a_vote_for_no_label_counts_for_no_answer_of_any_pair() -> None:
    votes = votes_of(ballots("uu", "-n", "e-e", annotators=["ab", "ab", "abc"]))
    assert votes.counts[:, votes.answers.index("unrelated")].tolist() == [2, 0, 0]
    assert votes.total.tolist() == [2, 1, 2]
    assert votes.unlabelled == 1, "the other one was left out when the pairs were read, with its annotator"
    assert votes.table["annotator"].to_list() == ["a", "b", "b", "a", "c"]
    assert votes.pairs["author"].to_list() == ["unrelated", None, "entailment"]


def test_what_is_null_has_no_number() -> None:
    words = pl.Series("label", ["e", None, "n"], dtype=pl.Enum(["e", "n"]))
    with pytest.raises(ValueError, match="1 of 3 values of 'label' are null"):
        codes(words)
    assert one_hot(words).tolist() == [[True, False], [False, False], [False, True]]


def test_a_word_that_is_no_vote_is_refused_wherever_it_comes_from() -> None:
    pairs = ballots("en")
    wrong = Pairs(pairs.frame.with_columns(votes=pl.lit(["entails", "neutral"])), pairs.card)
    with pytest.raises(InputError, match="label 'entails' is no vote; did you mean 'entailment'"):
        votes_of(wrong)


@settings(deadline=None, max_examples=60)
@given(
    elections=st.lists(st.text("encu-", max_size=5), min_size=1, max_size=6).filter(
        lambda votes: any({*cast} - {"-"} for cast in votes)
    ),
    author=st.sampled_from(["first", "label", "none"]),
)
def test_every_vote_counts_once_for_its_own_pair(elections: list[str], author: str) -> None:
    pairs = ballots(*elections, labels="e" * len(elections), annotators=["abcde"[: len(cast)] for cast in elections])
    votes = votes_of(pairs, author=author)
    for counts, cast in zip(votes.counts, elections, strict=True):
        expected = [sum(WORDS[letter] == answer for letter in cast) for answer in votes.answers]
        assert counts.tolist() == expected
    for name in "abcde":
        expected = [WORDS[cast["abcde".index(name)]] for cast in elections if len(cast) > "abcde".index(name)]
        seen = votes.table.filter(annotator=name)["label"].to_list()
        assert seen == [word for word in expected if word != "-"]
    firsts = [WORDS[cast[0]] if cast and cast[0] != "-" else None for cast in elections]
    authors = {"first": firsts, "label": ["entailment"] * len(elections), "none": [None] * len(elections)}
    assert votes.pairs["author"].to_list() == authors[author]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "xlsx"])
def test_votes_in_crowd_kits_names_or_any_others(tmp_path: Path, ending: str) -> None:
    rows = [("p0", "w1", "E "), ("p0", "w2", "neutral"), ("p1", "w1", "n")]
    frame = pl.DataFrame(rows, schema=["Task", "worker", "label"], orient="row").to_pandas()
    other = frame.set_axis(["hit", "who", "answer"], axis=1)
    write = {
        "csv": lambda table, path: table.to_csv(path, index=False, sep=";"),
        "parquet": lambda table, path: table.to_parquet(path),
        "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
        "xlsx": lambda table, path: table.to_excel(path, index=False),
    }[ending]
    write(frame, tmp_path / f"crowd.{ending}")
    write(other, tmp_path / f"other.{ending}")
    names = {"pair": "hit", "annotator": "who", "vote": "answer"}
    pairs = ballots("e", "n", labels="nn")
    crowd = read_votes(tmp_path / f"crowd.{ending}", pairs)
    assert crowd.table.select("pair", "annotator", "label").rows() == [
        ("p0", "w1", "entailment"),
        ("p0", "w2", "neutral"),
        ("p1", "w1", "neutral"),
    ]
    assert crowd.table.equals(read_votes(tmp_path / f"other.{ending}", pairs, columns=names).table)
    with pytest.raises(InputError, match="'premise' is not a column of votes; allowed: annotator, pair"):
        read_votes(tmp_path / f"other.{ending}", pairs, columns={"premise": "hit"})

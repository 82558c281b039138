from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.verify import fleiss_kappa, gold_labels, verify, votes_of
from goldlabel.verify.agreement import agreement
from goldlabel.verify.cohen_kappa import joint_votes, mean_cohen
from tests.verify.ballots import ballots
from tests.verify.test_references import crowd

# Four verified pairs and one that nobody else saw; by hand below.
VOTES = ("eeeee", "eeeen", "ennnu", "eenncc"[:5], "e")


def figures(*votes: str, **options: object) -> dict[str, object]:
    return verify(ballots(*votes), **options).to_dict()["groups"]["all"]  # type: ignore[arg-type, no-any-return]


def test_every_row_worked_out_by_hand() -> None:
    measured = figures(*VOTES)
    assert (measured["n"], measured["relabelled"]) == (5, 4)
    assert (measured["agree5"], measured["agree4"], measured["agree3"]) == (25.0, 50.0, 75.0)
    assert measured["individual_gold"] == pytest.approx(100 * (5 + 4 + 3 + 0) / 20)
    assert measured["individual_author"] == pytest.approx(100 * (4 + 3 + 0 + 1) / 16)
    assert (measured["gold_author"], measured["gold_not_author"], measured["no_gold"]) == (50.0, 25.0, 25.0)
    assert measured["unrelated"] == pytest.approx(100 / 20)
    assert set(measured["intervals"]) == {*measured} - {"n", "relabelled", "units", "intervals"}  # type: ignore[call-overload]


def test_what_cannot_be_known_is_undefined_not_zero() -> None:
    measured = figures("ee", "ee", author="none")
    for name in ("agree5", "agree4", "agree3", "individual_author", "gold_author", "gold_not_author"):
        assert measured[name] is None
        assert measured["intervals"][name] is None  # type: ignore[index]
    assert measured["fleiss_kappa"] is None, "one class: chance agreement is certain"
    assert measured["cohen_kappa"] is None, "annotators are not known"
    assert measured["individual_gold"] == 100.0


def test_groups_that_were_not_relabelled_are_undefined() -> None:
    result = verify(ballots("een", "e", "nn", genre=["tv", "news", None]), by="genre")
    assert list(result.groups) == [(), (None,), ("news",), ("tv",)]
    assert list(result.to_dict()["groups"]) == ["all", "(none)", "news", "tv"]
    assert result.groups["news",].relabelled == 0
    assert set(result.table.filter(pl.col("group") == "news").row(0)[3:]) == {None}
    assert result.whole.n == 3


def test_no_two_groups_share_a_key() -> None:
    pairs = ballots(*["een"] * 5, genre=["all", "tv", "a/b", "a", None], level=["easy", "hard", "c", "b/c", "(none)"])
    by_genre = verify(pairs, by="genre", resamples=0)
    assert list(by_genre.to_dict()["groups"]) == ["all", "(none)", "a", "a/b", '["all"]', "tv"]
    assert by_genre.whole.n == 5
    by_both = verify(pairs, by=["genre", "level"], resamples=0)
    keys = [(None, "(none)"), ("a", "b/c"), ("a/b", "c"), ("all", "easy"), ("tv", "hard")]
    assert list(by_both.groups) == [(), *keys]
    written = by_both.to_dict()
    assert written["by"] == ["genre", "level"]
    assert [tuple(json.loads(name)) for name in written["groups"] if name != "all"] == keys


@pytest.mark.parametrize("by", ["gendre", "votes", "genre,levle"])
def test_a_column_that_does_not_exist(by: str) -> None:
    with pytest.raises(InputError, match="there is no column"):
        verify(ballots("een"), by=by)


def test_intervals_are_those_of_drawing_pairs_one_by_one() -> None:
    votes = votes_of(crowd(120, sizes=(3, 5)))
    gold = gold_labels(votes)
    measured = agreement(votes, gold, resamples=4000).figures
    random = np.random.RandomState(7)
    drawn = [fleiss_kappa(votes.counts[random.randint(0, 120, 120)]) for _ in range(4000)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert measured["fleiss_kappa"].interval == pytest.approx((low, high), abs=0.012)
    other = (votes.counts * gold.marks).sum(axis=1)
    shares = []
    for _ in range(4000):
        rows = random.randint(0, 120, 120)
        shares.append(100 * other[rows].sum() / votes.total[rows].sum())
    assert measured["individual_gold"].interval == pytest.approx(tuple(np.quantile(shares, [0.025, 0.975])), abs=0.6)


def test_a_share_of_all_or_nothing_is_not_certain() -> None:
    measured = figures("eee", "nnn", "ccc", "eee")
    assert measured["agree3"] == 100.0
    low, high = measured["intervals"]["agree3"]  # type: ignore[index]
    assert (low, high) == (pytest.approx(51.01, abs=0.01), pytest.approx(100.0))
    assert measured["fleiss_kappa"] == pytest.approx(1.0)
    assert measured["intervals"]["fleiss_kappa"] is None, "it is 1 on every resample"  # type: ignore[index]


def test_the_same_seed_gives_the_same_intervals() -> None:
    first, second, other = (verify(crowd(40), seed=seed).to_dict()["groups"]["all"] for seed in (1, 1, 2))
    assert first == second
    assert first["intervals"] != other["intervals"]


def test_mean_cohen_is_the_weighted_mean_and_its_interval_is_honest() -> None:
    from goldlabel.verify import pairwise_cohen

    votes = votes_of(crowd(400, people=5))
    table = pairwise_cohen(votes)
    expected = (table["cohen_kappa"] * table["pairs"]).sum() / table["pairs"].sum()
    estimate = mean_cohen(joint_votes(votes), len(votes.annotators), resamples=2000)
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    # Everybody votes on every pair, so the interval must be about as wide as that of Fleiss' kappa.
    fleiss = agreement(votes, gold_labels(votes), resamples=2000).figures["fleiss_kappa"]
    assert estimate.interval is not None
    assert fleiss.interval is not None
    width, other = (interval[1] - interval[0] for interval in (estimate.interval, fleiss.interval))
    assert width == pytest.approx(other, rel=0.2)


def test_couples_that_share_too_little_are_left_out() -> None:
    measured = verify(ballots("een", "nnc", annotators=["abc", "abc"])).whole.figures["cohen_kappa"]
    assert (measured.value, measured.interval) == (None, None)


@settings(deadline=None, max_examples=40)
@given(elections=st.lists(st.text("encu", min_size=2, max_size=5), min_size=1, max_size=10), data=st.data())
def test_laws_of_agreement(elections: list[str], data: st.DataObject) -> None:
    measured = figures(*elections, resamples=20)
    outcomes = [measured[name] for name in ("gold_author", "gold_not_author", "no_gold")]
    assert sum(outcomes) == pytest.approx(100)  # type: ignore[arg-type]
    for value in measured.values():
        assert value is None or isinstance(value, dict) or not np.isnan(value)  # type: ignore[call-overload]
    order = data.draw(st.permutations(elections))
    moved = figures(*[cast[0] + cast[:0:-1] for cast in order], resamples=0)
    for name, value in moved.items():
        if name != "intervals":
            assert value == (pytest.approx(measured[name]) if value is not None else measured[name])


@settings(deadline=None, max_examples=40)
@given(elections=st.lists(st.text("enc", min_size=2, max_size=5), min_size=1, max_size=10))
def test_renaming_the_labels_changes_no_figure(elections: list[str]) -> None:
    measured = figures(*elections, resamples=0)
    renamed = figures(*[cast.translate(str.maketrans("enc", "nce")) for cast in elections], resamples=0)
    for name, value in renamed.items():
        if name != "intervals":
            assert value == (pytest.approx(measured[name]) if value is not None else measured[name])


@pytest.mark.parametrize("options", [{"level": 1.5}, {"resamples": -1}, {"confidence": 2}])
def test_options_out_of_range(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        verify(ballots("een"), **options)  # type: ignore[arg-type]

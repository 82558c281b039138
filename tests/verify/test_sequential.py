from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.verify import StoppingRule, fit_prior, plan_votes, simulate, votes_of
from goldlabel.verify.opinions import entropy, opinions
from goldlabel.verify.sequential import leading_probability
from tests.verify.ballots import ballots
from tests.verify.test_references import crowd


@pytest.mark.parametrize("votes", [(1, 0, 0), (3, 1, 0), (2, 2, 1), (0, 0, 0), (40, 35, 5), (4, 1)])
@pytest.mark.parametrize("prior", [0.1, 0.5, 1.0])
def test_the_leading_probability_is_that_of_drawing_from_the_posterior(votes: tuple[int, ...], prior: float) -> None:
    shares = np.random.RandomState(0).dirichlet(np.array(votes) + prior, 200_000)
    assert leading_probability(votes, prior) == pytest.approx((shares.argmax(axis=1) == 0).mean(), abs=0.005)


def test_equal_votes_share_the_lead() -> None:
    assert leading_probability((0, 0, 0), 0.5) == pytest.approx(1 / 3, abs=1e-6)
    assert leading_probability((2, 2), 0.5) == pytest.approx(1 / 2, abs=1e-6)


@settings(deadline=None, max_examples=50)
@given(counts=st.lists(st.integers(0, 6), min_size=3, max_size=3), prior=st.sampled_from([0.1, 0.5, 1.0]))
def test_one_more_vote_for_the_leader_makes_it_surer(counts: list[int], prior: float) -> None:
    ordered = sorted(counts, reverse=True)
    more = (ordered[0] + 1, *ordered[1:])
    assert leading_probability(more, prior) > leading_probability(tuple(ordered), prior) - 1e-9


def test_a_prior_is_found_again() -> None:
    random = np.random.RandomState(0)
    for prior in (0.15, 0.5, 2.0):
        counts = np.stack([random.multinomial(8, random.dirichlet(np.full(3, prior))) for _ in range(4000)])
        assert fit_prior(counts) == pytest.approx(prior, rel=0.1)


def test_where_votes_matter() -> None:
    plan = plan_votes(votes_of(ballots("eeeee", "eeenn", "ee", "e")), StoppingRule(most=9, prior=0.13))
    needed = dict(plan.pairs.select("id", "more_votes").iter_rows())
    assert needed["p0"] == needed["p2"] == 0, "two equal votes are enough where people mostly agree"
    assert 2 < needed["p1"] <= 4
    assert 1 < needed["p3"] <= 8
    assert plan.to_dict()["pairs_in_need"] == 2
    assert plan.table["pairs"].sum() == 4
    assert plan_votes(votes_of(ballots("eeeee", "eeenn"))).rule.most == 10


def test_votes_that_can_change_nothing_are_not_asked_for() -> None:
    rule = StoppingRule(confidence=0.9999, most=5)
    votes = votes_of(ballots("eee", "een", "encu", "eenn", "uuue"))
    assert rule.stops(votes.counts, 3).tolist() == [True, False, True, False, True]


def test_a_rule_that_only_stops_when_all_is_decided_changes_no_label() -> None:
    votes = votes_of(crowd(300, seed=4))
    careful = simulate(votes, StoppingRule(confidence=0.999999, most=5))
    assert careful.same_as_fixed == 100.0
    assert careful.right == careful.fixed_right
    assert 0 < careful.saving < 50
    hasty = simulate(votes, StoppingRule(confidence=0.5, most=5))
    assert hasty.saving > careful.saving
    assert hasty.right < careful.right


def test_a_simulation_is_reproducible_and_needs_votes() -> None:
    votes = votes_of(crowd(50))
    assert simulate(votes, StoppingRule()).to_dict() == simulate(votes, StoppingRule()).to_dict()
    with pytest.raises(InputError, match="no pair has the 9 votes"):
        simulate(votes, StoppingRule(most=9))
    with pytest.raises(InputError, match="make no rule"):
        StoppingRule(most=0)
    with pytest.raises(InputError, match="confidence 1 is not between"):
        StoppingRule(confidence=1)


def test_entropy_and_kinds_of_opinion() -> None:
    divided = opinions(votes_of(ballots("e" * 12, "e" * 50 + "n" * 50, "een", "u", "eeeen")))
    kinds = dict(divided.pairs.select("id", "kind").iter_rows())
    assert kinds == {"p0": "clear", "p1": "ambiguous", "p2": "undecided", "p4": "undecided"}
    assert divided.table["id"][0] == "p1"
    assert divided.table["entropy"][0] == pytest.approx(1.0)
    assert divided.to_dict()["ambiguous"] == 1
    assert entropy(np.array([[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]])).tolist() == [0.0, 1.5]


def test_opinions_about_nothing() -> None:
    divided = opinions(votes_of(ballots("u")))
    assert divided.to_dict()["entropy"] is None
    assert divided.title.startswith("0 of 0")
    with pytest.raises(InputError):
        opinions(votes_of(ballots("ee")), slips=1.0)

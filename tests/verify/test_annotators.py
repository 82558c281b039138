from __future__ import annotations

import numpy as np
import pytest

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.verify import Annotators, annotators, verify, votes_of
from tests.verify.ballots import ballots

PEOPLE = ("ann", "bo", "cy", "dee", "eve")


def campaign(pairs: int = 200, *, eve: str = "honest", seed: int = 0) -> Pairs:
    """Five people on every pair, right nine times out of ten in 8 to 12 seconds; eve may be otherwise."""
    random = np.random.RandomState(seed)
    votes, meta = [], []
    for number in range(pairs):
        truth = random.randint(3)
        cast = ["enc"[truth if random.rand() < 0.9 else (truth + 1) % 3] for _ in PEOPLE]
        seconds = random.uniform(8, 12, 5)
        if eve == "one label":
            cast[4] = "e"
        elif eve == "random" or (eve == "tired" and number > pairs / 2):
            cast[4] = "enc"[random.randint(3)]
        elif eve == "fast":
            seconds[4] = random.uniform(0.5, 2)
        votes.append("".join(cast))
        times = [1_700_000_000 + 60 * number + place for place in range(5)]
        meta.append({"annotators": PEOPLE, "seconds": seconds.tolist(), "times": times})
    return ballots(*votes, meta=meta)


def flags(people: Annotators) -> dict[str, set[str]]:
    return {
        person.name: {str(flag).partition(":")[0] for flag in person.flags} for person in people.people if person.flags
    }


def test_honest_people_are_not_flagged() -> None:
    assert flags(annotators(votes_of(campaign()))) == {}


@pytest.mark.parametrize(
    ("eve", "kinds"),
    [
        ("one label", {"one label", "low agreement"}),
        ("random", {"low agreement"}),
        ("fast", {"fast"}),
        ("tired", {"drift", "low agreement"}),
    ],
)
def test_each_fault_is_flagged_with_its_reason_and_nobody_else_is(eve: str, kinds: set[str]) -> None:
    people = annotators(votes_of(campaign(eve=eve)))
    assert flags(people) == {"eve": kinds}
    assert people.table["annotator"][0] == "eve"
    assert "p < 0.001" in people.table["flags"][0]


def test_own_votes_do_not_count() -> None:
    # b agrees with the others' majority on p0 alone; on p1 the two others differ, so nothing is held against b.
    people = annotators(votes_of(ballots("eee", "een", "nee", annotators=["abc", "abc", "abc"]))).to_dict()
    assert (people["a"]["agreement"]["n"], people["a"]["agreement"]["value"]) == (2, 50.0)
    assert (people["b"]["agreement"]["n"], people["b"]["agreement"]["value"]) == (1, 100.0)
    assert people["c"]["confusion"]["entailment"] == {
        "contradiction": 0,
        "entailment": 1,
        "neutral": 1,
        "incomprehensible": 0,
        "unknown": 0,
        "unrelated": 0,
    }


def test_what_is_not_known_is_undefined() -> None:
    people = annotators(votes_of(ballots("ee", "n", annotators=["ab", "c"]))).to_dict()
    assert people["c"]["agreement"]["value"] is None
    assert people["c"]["agreement"]["interval"] is None
    assert people["a"]["seconds"] is None
    assert people["a"]["drift"]["value"] is None


def test_verify_reports_annotators_where_they_are_known() -> None:
    assert verify(ballots("een")).annotators is None
    assert verify(ballots("een", annotators=["abc"])).to_dict()["annotators"].keys() == {"a", "b", "c"}
    with pytest.raises(InputError, match="who cast the votes is not known"):
        annotators(votes_of(ballots("een")))
    with pytest.raises(InputError, match="between 0 and 1"):
        annotators(votes_of(ballots("een", annotators=["abc"])), fdr=5)

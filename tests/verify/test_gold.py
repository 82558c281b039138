from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError, UnknownNameError
from goldlabel.verify import METHODS, gold_labels, votes_of
from tests.verify.ballots import WORDS, ballots

CROWD = ["abcde"] * 6


def labels(*votes: str, method: str = "majority", **options: object) -> list[str]:
    annotators = options.pop("annotators", None)
    author = options.pop("author", "first")
    pairs = ballots(*votes, annotators=annotators)  # type: ignore[arg-type]
    cast = votes_of(pairs, author=str(author))
    return gold_labels(cast, method, **options).words(cast).to_list()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("votes", "gold"),
    [
        ("eeenn", "e"),
        ("eenn", "-"),
        ("eennc", "-"),
        ("ee", "e"),
        ("en", "-"),
        ("uuuee", "-"),
        ("eeuu", "-"),
        ("eeu", "e"),
        ("enkui", "-"),
    ],
)
def test_majority_is_more_than_half_and_never_an_abstention(votes: str, gold: str) -> None:
    assert labels(votes) == [WORDS[gold]]


@pytest.mark.parametrize(
    ("votes", "quorum", "gold"),
    [("eennc", 2, "-"), ("eencu", 2, "e"), ("eeenn", 4, "-"), ("eeeen", 4, "e"), ("eeuun", 2, "-"), ("enuuu", 1, "-")],
)
def test_a_quorum_replaces_the_half_but_not_the_lead(votes: str, quorum: int, gold: str) -> None:
    assert labels(votes, quorum=quorum) == [WORDS[gold]]


@pytest.mark.parametrize(
    ("votes", "outcome", "gold"),
    [
        ("eee", "verified", "e"),
        ("enn", "overruled", "n"),
        ("eene", "verified", "e"),
        ("enee", "verified", "e"),
        ("encn", "overruled", "n"),
        ("ence", "discarded", "-"),
        ("euu", "discarded", "-"),
        ("eunu", "discarded", "-"),
        ("een", "pending", "-"),
        ("ee", "pending", "-"),
        ("eennn", "overruled", "n"),
        ("eencn", "discarded", "-"),
    ],
)
def test_two_verifiers_and_a_third_where_they_differ(votes: str, outcome: str, gold: str) -> None:
    cast = votes_of(ballots(votes))
    decided = gold_labels(cast, "two-plus-one")
    assert {name for name, count in decided.details["outcomes"].items() if count} == {outcome}
    assert decided.words(cast).to_list() == [WORDS[gold]]


def test_two_plus_one_with_the_author_in_the_label() -> None:
    cast = votes_of(ballots("ee", "nn", "enn", "enc", labels="eeee"), author="label")
    decided = gold_labels(cast, "two-plus-one")
    assert decided.details["outcomes"] == {"verified": 1, "overruled": 2, "discarded": 1, "pending": 0}
    assert decided.details["third_verifiers"] == 2
    with pytest.raises(InputError, match="needs the author's label"):
        gold_labels(votes_of(ballots("ee"), author="none"), "two-plus-one")


def test_a_poor_annotator_weighs_less() -> None:
    # eve is wrong on every pair that the others settle, so on the last pair ann alone outweighs her.
    votes = ["eeen", "nnnc", "ccce", "eeec", "en"]
    annotators = ["abcx", "abcx", "abcx", "abcx", "ax"]
    gold = labels(*votes, method="weighted-majority", annotators=annotators)
    assert gold == [WORDS[letter] for letter in "encee"]


@pytest.mark.parametrize("method", ["dawid-skene", "mace"])
def test_models_side_with_those_who_were_right_before(method: str) -> None:
    votes = ["eeenn", "nnncc", "cccee", "eeecc", "nnnee", "cccnn", "eenn"]
    annotators = ["abcxy"] * 6 + ["abxy"]
    assert labels(*votes, method=method, annotators=annotators) == [WORDS[letter] for letter in "encence"[:6] + "e"]


@pytest.mark.parametrize("method", ["dawid-skene", "mace"])
def test_a_wanted_confidence_leaves_doubtful_pairs_without_gold(method: str) -> None:
    votes, annotators = ["eee", "nnn", "ccc", "en"], ["abc", "abc", "abc", "ab"]
    sure = labels(*votes, method=method, annotators=annotators, confidence=0.9)
    assert sure[3] == "-"
    assert sure[0] == "entailment"


def test_options_that_do_not_belong_to_the_method() -> None:
    cast = votes_of(ballots("een", annotators=["abc"]))
    with pytest.raises(InputError, match="a quorum is for majority"):
        gold_labels(cast, "mace", quorum=3)
    with pytest.raises(InputError, match="give 1 or more"):
        gold_labels(cast, quorum=0)
    with pytest.raises(InputError, match="confidence 95 is not between 0 and 1"):
        gold_labels(cast, "mace", confidence=95)
    with pytest.raises(UnknownNameError, match="did you mean 'majority'"):
        gold_labels(cast, "majorty")


QUICK = [method for method in METHODS if method != "glad"]
"""GLAD takes a second for each table; it has laws of its own below."""
ELECTIONS = st.lists(st.text("enc", min_size=3, max_size=5), min_size=2, max_size=8)


@pytest.mark.parametrize("method", QUICK)
@settings(deadline=None, max_examples=50)
@given(elections=ELECTIONS, data=st.data())
def test_the_order_of_verifiers_plays_no_part(method: str, elections: list[str], data: st.DataObject) -> None:
    if method == "two-plus-one":  # its verifiers come one after the other; only the first two may change places
        shuffled = [votes[0] + votes[2] + votes[1] + votes[3:] for votes in elections]
        names = ["abcde"[: len(votes)] for votes in elections]
        moved = [people[0] + people[2] + people[1] + people[3:] for people in names]
    else:
        orders = [data.draw(st.permutations(range(len(votes)))) for votes in elections]
        shuffled = ["".join(votes[place] for place in order) for votes, order in zip(elections, orders, strict=True)]
        names = ["abcde"[: len(votes)] for votes in elections]
        moved = ["".join(people[place] for place in order) for people, order in zip(names, orders, strict=True)]
    assert labels(*elections, method=method, annotators=names) == labels(*shuffled, method=method, annotators=moved)


@pytest.mark.parametrize("method", QUICK)
@settings(deadline=None, max_examples=50)
@given(elections=ELECTIONS)
def test_renaming_the_labels_renames_the_gold(method: str, elections: list[str]) -> None:
    renamed = [votes.translate(str.maketrans("enc", "nce")) for votes in elections]
    names = ["abcde"[: len(votes)] for votes in elections]
    letters = {word: letter for letter, word in WORDS.items()}
    gold = "".join(letters[word] for word in labels(*elections, method=method, annotators=names))
    expected = [WORDS[letter] for letter in gold.translate(str.maketrans("enc", "nce"))]
    assert labels(*renamed, method=method, annotators=names) == expected


def test_glad_hangs_neither_on_the_order_of_verifiers_nor_on_the_names_of_labels() -> None:
    elections, names = ["eenc", "nnce", "cce", "een", "nnc"], ["abcd", "abcd", "abc", "abc", "bcd"]
    gold = labels(*elections, method="glad", annotators=names)
    backwards = labels(
        *(votes[::-1] for votes in elections), method="glad", annotators=[people[::-1] for people in names]
    )
    assert backwards == gold
    renamed = [votes.translate(str.maketrans("enc", "nce")) for votes in elections]
    letters = {word: letter for letter, word in WORDS.items()}
    expected = [WORDS[letters[word].translate(str.maketrans("enc", "nce"))] for word in gold]
    assert labels(*renamed, method="glad", annotators=names) == expected


@settings(deadline=None, max_examples=50)
@given(votes=st.text("encuk", min_size=2, max_size=7))
def test_majority_is_what_counting_says(votes: str) -> None:
    leader, most = Counter(votes).most_common(1)[0]
    expected = leader if most > len(votes) / 2 and leader in "enc" else "-"
    assert labels(votes) == [WORDS[expected]]

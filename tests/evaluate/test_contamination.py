"""What of a test set was seen in training: by holding it against a training set, and by asking the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.contamination import contaminated, refuse_trained_on, seen_pairs, trained_on
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NLI3
from goldlabel.train import train

LABELS = ("entailment", "neutral", "contradiction")


def of(texts: Sequence[tuple[str, str]], *, name: str = "tests", split: str = "none") -> Pairs:
    rows = [
        {"id": str(number), "premise": premise, "hypothesis": hypothesis, "label": LABELS[number % 3], "split": split}
        for number, (premise, hypothesis) in enumerate(texts)
    ]
    return Pairs.from_frame(pl.DataFrame(rows), Card(name=name, label_space=NLI3))


def gold(texts: Sequence[tuple[str, str]], **changes: str) -> GoldPairs:
    return judged_pairs(of(texts, **changes))


LONG = "The lighthouse keeper counted every ship that passed the northern cape that autumn evening."
TEST = [
    ("A heron stands in the reeds.", "A bird is there."),  # stands in training, with other signs
    (LONG, "The keeper counted all of the ships that came by."),  # nearly the same
    ("A heron stands in the reeds.", "Nobody is about."),  # the premise alone
    ("The mill burnt down.", "An owl sleeps."),  # the hypothesis alone
    ("Two boats lie in the harbour.", "It rained for days."),  # neither
]
TRAINING = [
    ("a heron stands in the REEDS", "A bird is there!"),
    (LONG.replace("that autumn", "this autumn"), "The keeper counted all of the ships that came by!"),
    ("A barn stands open.", "an owl sleeps"),
]


def test_every_kind_of_contamination_is_found_and_nothing_else() -> None:
    result = contaminated(gold(TEST), of(TRAINING, name="more", split="train"))
    assert result.exact.tolist() == [True, False, False, False, False]
    assert result.near.tolist() == [True, True, False, False, False]
    assert result.premises.tolist() == [True, False, True, False, False]
    assert result.hypotheses.tolist() == [True, True, False, True, False]
    assert result.shares["near"].value == pytest.approx(0.4)
    assert result.shares["near"].units == 4, "two pairs have one premise"
    assert result.title == "tests: 2 of 5 pairs stand in more or are nearly the same as one there (1 exactly)"
    assert result.to_dict()["ids"] == ["0", "1"]
    assert contaminated(gold(TEST), of(TRAINING), 1.0).near.tolist() == [True, False, False, False, False]


def test_what_is_contaminated_can_be_taken_out() -> None:
    result = contaminated(gold(TEST), of(TRAINING))
    assert result.without().frame["id"].to_list() == ["2", "3", "4"]
    with pytest.raises(InputError, match="tests: all 5 pairs stand in tests; none is left"):
        contaminated(gold(TEST), gold(TEST)).without()


def test_likeness_is_not_passed_on_from_pair_to_pair() -> None:
    """A third pair that is like a second, which is like one of the training set, is not contaminated by that."""
    words = [f"word{number}" for number in range(40)]
    steps = [" ".join([*words[step:], *(f"other{number}" for number in range(step))]) for step in (0, 3, 6)]
    result = contaminated(gold([(steps[1], "x y z"), (steps[2], "x y z")]), of([(steps[0], "x y z")]))
    assert result.near.tolist() == [True, False]


def test_only_the_train_split_counts_as_training() -> None:
    both = Pairs.from_frame(
        pl.concat([of(TRAINING, split="train").frame.collect(), of(TEST, split="test").frame.collect()]).with_columns(
            id=pl.int_range(pl.len()).cast(pl.String)
        ),
        Card(name="both", label_space=NLI3),
    )
    assert contaminated(judged_pairs(both), both).exact.sum() == 1
    with pytest.raises(InputError, match="has no train split"):
        contaminated(gold(TEST), Pairs.from_frame(both.frame.filter(pl.col("split") != "train").collect(), both.card))


def test_accuracy_with_and_without_what_was_seen() -> None:
    """A model that knows the half of the test set by heart and guesses the rest."""
    texts = [(f"Boat number {number} lies in the harbour.", f"It is boat {number % 7}.") for number in range(300)]
    result = contaminated(gold(texts), of(texts[:150]), 1.0)
    answers = np.array([LABELS[number % 3] if number < 150 else LABELS[0] for number in range(300)])
    exposure = result.accuracy(answers)
    assert (exposure.seen.value, exposure.unseen.value) == (1.0, pytest.approx(1 / 3))
    assert exposure.whole.value == pytest.approx(2 / 3)
    assert exposure.gain is not None
    assert exposure.gain.value.value == pytest.approx(2 / 3)
    assert exposure.gain.p_value < 1e-6
    assert contaminated(gold(texts), of(TRAINING)).accuracy(answers).gain is None


def test_a_model_that_was_trained_on_a_test_set_is_found_by_content(tmp_path: Path) -> None:
    """Whatever the set was called, and though it lay among others, and though another run went on from it."""
    secret = [(f"Boat number {number} lies in the harbour.", f"It is boat {number % 7}.") for number in range(40)]
    others = [(f"Mill number {number} burnt down.", f"It is mill {number % 7}.") for number in range(60)]
    test = gold(secret, name="boats")
    assert train("linear", of([*others, *secret], name="innocent"), tmp_path / "run").pairs == 100
    known = trained_on(tmp_path / "run")
    assert known is not None
    assert len(known) == 100
    assert seen_pairs(test, known).all()
    with pytest.raises(InputError, match=r"run: was trained on 40 of the 40 pairs of boats.*pass force=…"):
        refuse_trained_on(tmp_path / "run", test)
    forced = refuse_trained_on(str(tmp_path / "run"), test, force=True)
    assert forced is not None
    assert (forced.value, forced.n) == (1.0, 40)
    train("linear", of(others, name="boats"), tmp_path / "honest")
    assert refuse_trained_on(tmp_path / "honest", test) is None, "the name alone is no evidence"


def test_a_few_repeated_pairs_are_no_reason_to_refuse(tmp_path: Path) -> None:
    texts = [(f"Boat number {number} lies in the harbour.", f"It is boat {number % 7}.") for number in range(300)]
    train("linear", of(texts[:6], name="few"), tmp_path / "run")
    assert refuse_trained_on(tmp_path / "run", gold(texts)) is None, "6 of 300 are 2 %"
    with pytest.raises(InputError, match="6 of the 299"):
        refuse_trained_on(tmp_path / "run", gold(texts[:299]))
    assert refuse_trained_on(tmp_path / "run", gold(texts[2:66])) is None, "4 pairs are too few to tell"
    with pytest.raises(InputError, match="2 of the 2"):
        refuse_trained_on(tmp_path / "run", gold(texts[:2]))


def test_of_what_tells_nothing_nothing_is_known(tmp_path: Path) -> None:
    assert trained_on(tmp_path) is None
    assert trained_on("module:function") is None
    assert refuse_trained_on("hf:org/name", gold(TEST)) is None

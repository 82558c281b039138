"""Rounds and protocols beside one another, and errors from stored predictions, on pairs whose figures are known."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NLI3
from goldlabel.rounds import compare_protocols
from goldlabel.rounds.stored import stored_errors

CUES = {"entailment": "some", "neutral": "maybe", "contradiction": "never"}


def made(rows: list[dict[str, Any]]) -> Pairs:
    return Pairs.from_frame(pl.DataFrame(rows), Card(name="made", label_space=NLI3, languages=("en",)))


@pytest.fixture(scope="module")
def protocols() -> Pairs:
    """Two rounds: in the first one a word tells the label, and verifiers agree; in the second one neither is so."""
    rows = []
    for number in ("R1", "R2"):
        for place in range(60):
            label = list(CUES)[place % 3]
            word = CUES[label] if number == "R1" else "one"
            others = [label] * 4 if number == "R1" else [*CUES, label]
            rows.append(
                {"id": f"{number}-{place}", "premise": f"Boat {place} of {number} sails.", "round": number}
                | {"hypothesis": f"Perhaps {word} boat sails {place % 7}.", "label": label, "votes": [label, *others]}
                | {"split": "train", "language": "en", "writer": "w", "group": f"{number}-{place}"}
            )
    return made(rows)


def test_rounds_are_compared_by_what_gives_them_away(protocols: Pairs) -> None:
    first, second = compare_protocols(protocols, resamples=100).groups
    assert (first.group, second.group) == (("R1",), ("R2",))
    assert first.hypothesis_only.accuracy.value == 1.0
    assert second.hypothesis_only.accuracy.defined < 0.6
    assert {(word.word, word.label) for word in first.words} == {(word, label) for label, word in CUES.items()}
    assert first.kappa is not None
    assert first.kappa.value == pytest.approx(1.0)
    assert second.kappa is not None
    assert second.kappa.defined < 0.5
    assert (first.pairs, first.with_votes, first.labels) == (60, 60, dict.fromkeys(CUES, 20))


def test_where_nobody_verified_that_is_said(protocols: Pairs) -> None:
    alone = Pairs(protocols.frame.with_columns(votes=pl.col("votes").list.head(1)), protocols.card)
    compared = compare_protocols(alone, resamples=100)
    assert compared.title == "made: 2 groups by round; no agreement, as no pair has a vote beside its author's"
    assert [one["fleiss_kappa"] for one in compared.to_dict()["groups"]] == [None, None]


def test_what_has_nothing_to_compare_is_refused(protocols: Pairs) -> None:
    plain = Pairs(protocols.frame.with_columns(round=pl.lit(None, pl.String)), protocols.card)
    with pytest.raises(InputError, match="neither rounds nor conditions; say with --by"):
        compare_protocols(plain)
    with pytest.raises(InputError, match="there is no column 'colour' to group by"):
        compare_protocols(protocols, ["colour"])
    with pytest.raises(InputError, match="--by condition: no pair of made has a value there"):
        compare_protocols(protocols, "condition")


def test_groups_are_those_of_every_command(protocols: Pairs) -> None:
    """A field of ``meta``, and two columns."""
    boats = Pairs(protocols.frame.with_columns(meta=pl.format('{{"harbour": "{}"}}', "round")), protocols.card)
    by_field = compare_protocols(boats, "meta.harbour", resamples=0)
    assert [(one.group, one.pairs) for one in by_field.groups] == [(("R1",), 60), (("R2",), 60)]
    by_two = compare_protocols(protocols, "round,label", resamples=0)
    assert [one.group for one in by_two.groups][:2] == [("R1", "contradiction"), ("R1", "entailment")]


def test_what_has_no_predictions_is_refused(protocols: Pairs) -> None:
    with pytest.raises(InputError, match="holds no predictions of models"):
        stored_errors(protocols)


def test_stored_predictions_are_held_against_the_labels_by_tag() -> None:
    said = [("c", "e", ["Tricky", "Tricky-Syntactic"]), ("n", "n", ["Tricky"]), ("e", "e", ["Reference"])]
    rows = [
        {"id": str(place), "premise": f"Boat {place}.", "hypothesis": "It sails.", "label": "entailment", "round": "R1"}
        | {"tags": tags, "meta": json.dumps({"analysis": {"adversary_pred": first, "preds-bertPredLabel": second}})}
        | {"split": "dev", "language": "en"}
        for place, (first, second, tags) in enumerate(said)
    ]
    errors = stored_errors(made(rows))
    assert errors.models == ("adversary", "bert")
    assert {(one.type, one.pairs): [errors.value for errors in one.errors.values()] for one in errors.types} == {
        ("all", 3): [pytest.approx(2 / 3), pytest.approx(1 / 3)],
        ("Reference", 1): [0.0, 0.0],
        ("Tricky", 2): [1.0, 0.5],
    }

"""What a run is asked to do: its model, its data, its options."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from goldlabel.errors import GoldlabelError
from goldlabel.pairs.labels import NLI2, NLI3
from goldlabel.train import TrainOptions
from goldlabel.train.task import Task, dev_pairs, gather_task, nested_rows, training_pairs
from tests.train.samples import make_pairs, make_rows, with_dev


def test_several_sets_are_mixed_under_their_names() -> None:
    mixed, counts = training_pairs([make_pairs(6), make_pairs(9, name="walls")], [None, 4], seed=0)
    assert counts == [6, 4]
    assert mixed.name == "doors+walls"
    assert len(mixed) == 10
    ids = mixed.frame["id"].to_list()
    assert ids[:6] == [f"doors/p{number}" for number in range(6)]
    assert all(name.startswith("walls/p") for name in ids[6:])
    assert mixed.frame.columns == ["id", "premise", "hypothesis", "label", "language", "group"]


def test_one_set_keeps_its_ids_and_the_same_set_twice_has_two_names() -> None:
    assert training_pairs([make_pairs(3)], [None], seed=0)[0].frame["id"].to_list() == ["p0", "p1", "p2"]
    twice, _ = training_pairs([make_pairs(3), make_pairs(3)], [None, None], seed=0)
    assert twice.frame["id"].n_unique() == 6
    assert twice.name == "doors+doors-2"


def test_samples_are_drawn_by_the_seed_and_nested() -> None:
    pairs = make_pairs(60)
    drawn = {
        (size, seed): set(training_pairs([pairs], [size], seed=seed)[0].frame["id"])
        for size, seed in ((10, 0), (10, 1), (30, 0))
    }
    assert drawn[10, 0] != drawn[10, 1]
    assert drawn[10, 0] < drawn[30, 0]
    assert sorted(nested_rows(60, 3)) == list(range(60))


def test_the_train_split_is_trained_on_and_the_own_dev_split_stops() -> None:
    task = gather_task("majority", [with_dev(12, 6)])
    assert (len(task.gold), [len(gold) for gold in task.dev]) == (12, [6])
    leftovers = make_pairs(
        [*make_rows(5), *make_rows(3, split="train", first=50), *make_rows(2, split="dev", first=70)]
    )
    task = gather_task("majority", [leftovers])
    assert (len(task.gold), [len(gold) for gold in task.dev]) == (3, [2])
    released = make_pairs([*make_rows(5, split="test"), *make_rows(3, split="dev", first=50)])
    for split, trained, dev in (("test", 5, [3]), ("dev", 3, [])):
        task = gather_task("majority", [released], split=split)
        assert (len(task.gold), [len(gold) for gold in task.dev]) == (trained, dev)
    other = gather_task("majority", [with_dev(12, 6)], dev=[make_pairs(4, name="others", split="test")])
    assert [(gold.name, len(gold)) for gold in other.dev] == [("others", 4)]


def test_labels_are_brought_into_one_space() -> None:
    three, two = with_dev(), make_pairs([{**row, "label": "not_entailment"} for row in make_rows(6)], space=NLI2)
    task = gather_task("majority", [three, two], label_space="nli2")
    assert task.gold.space.labels == NLI2.labels
    assert set(task.gold.frame["label"]) == {"entailment", "not_entailment"}
    assert task.dev[0].space.labels == NLI2.labels
    given = gather_task("majority", [two], dev=[three], label_space="nli2")
    assert given.dev[0].space.labels == NLI2.labels
    # A model of three labels is scored on two by the documented mapping.
    assert dev_pairs([two], NLI3, None)[0].space.labels == NLI2.labels


def _rows(**changes: str | None) -> list[dict[str, str | None]]:
    return [{**row, **changes} for row in make_rows(3)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gather_task("majority", []), "nothing to train on; pass --on PATH"),
        (lambda: gather_task("majority", [make_pairs(3)], sizes=[9]), "doors: 9 pairs were asked for and it has 3"),
        (
            lambda: gather_task("majority", [make_pairs(_rows(label="-"))]),
            "doors: has no pair with a gold label to train on; 'goldlabel verify PATH -o OUT' makes some of votes",
        ),
        (
            lambda: gather_task("majority", [make_pairs(3), make_pairs(_rows(label="entailment"), space=NLI2)]),
            "doors-2 has the labels entailment, not_entailment and doors contradiction, .*--label-space",
        ),
        (
            lambda: gather_task("majority", [make_pairs(3)], dev=[make_pairs(3), make_pairs(3)]),
            "two dev sets are called 'doors'",
        ),
        (lambda: gather_task("majority", [make_pairs(3)], dev=[make_pairs(3, name="mean")]), "is called 'mean'"),
        (
            lambda: gather_task("majority", [make_pairs(3)], dev=[make_pairs(_rows(label="-"), name="d")]),
            "d: has no pair with a gold label to stop on",
        ),
        (
            lambda: gather_task("majority", [make_pairs(3)], dev=[make_pairs(3, language="zh", name="men")]),
            "dev set men is in zh and the training data in en; give a dev set of that language",
        ),
        (
            lambda: gather_task("majority", [make_pairs(_rows(label="entailment"), space=NLI2)], dev=[make_pairs(3)]),
            r"scores over nli2 \(entailment, not_entailment\) have no mapping to nli3",
        ),
        (
            lambda: gather_task("majority", [make_pairs(3, split="test")]),
            "doors: has no train split, only test; say with --split which one shall be trained on",
        ),
        (
            lambda: gather_task("majority", [make_pairs(make_rows(2) + make_rows(2, split="test", first=5))]),
            "doors: has no train split, only none, test; say with --split",
        ),
        (
            lambda: gather_task(
                "majority", [make_pairs(3)], dev=[make_pairs(make_rows(2) + make_rows(2, split="test", first=5))]
            ),
            "doors: has no dev split, only none, test; give pairs with a dev split, or of one split alone",
        ),
        (
            lambda: gather_task("majority", [with_dev()], TrainOptions(start="run", fixed=True), split="dev"),
            "nothing is trained with --fixed; leave out --split",
        ),
        (lambda: gather_task("lineer", [make_pairs(3)]), "there is no model 'lineer'; did you mean 'linear'"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(call: Callable[[], Task], message: str) -> None:
    with pytest.raises(GoldlabelError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_a_language_that_nobody_named_fits_any_other() -> None:
    for train, dev in ((None, "zh"), ("en", None)):
        task = gather_task("majority", [make_pairs(3, language=train)], dev=[make_pairs(3, language=dev, name="dev")])
        assert [gold.name for gold in task.dev] == ["dev"]

"""The forecast: known answers from the settings and from the pace, and how often its intervals hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from goldlabel.collect.data.stats import project_stats
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money.forecast import BY_PEOPLE, BY_RULES, Done, Left, Usual, forecast_project, predict
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.verifying import vote
from tests.collect.campaign import bring_pairs, join, small_protocol, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_budget import made

LABELS = ("entailment", "neutral", "contradiction")
USUAL = {"write": Usual(135.0, 9000.0), "verify": Usual(15.0, 2000.0)}


def of(work: str, values: list[float]) -> dict[str, np.ndarray]:
    """Figures of one work, none of the other."""
    return {name: np.array(values if name == work else [0.0] * len(values)) for name in USUAL}


def test_before_a_start_it_follows_from_the_settings(store: Store) -> None:
    """Ten premises of nine sentences, six of which are needed; half of the pairs judged by four."""
    project_id = made(store, small_protocol("multi-encourage", share=0.5), premises=10)
    with store.read() as tx:
        told = forecast_project(tx, project_id)
    assert (told.basis, told.assumed, told.days_left) == ("settings", ("write", "verify"), None)
    assert (told.tasks_left.value, told.tasks_left.interval) == (190, (130, 190))
    assert told.hours_left.value == pytest.approx((90 * 45 + 180 * 15) / 3600)
    assert told.cost_left.value == told.cost_total.value == pytest.approx(90 * 0.3 + 180 * 0.2)
    assert told.cost_left.interval == pytest.approx((60 * 0.3 + 120 * 0.2, 63.0 + 90 * 0.1))
    assert told.cost_left.method == BY_RULES
    assert told.seconds == {"write": 405.0, "verify": 15.0}


def test_questions_with_a_known_answer_come_on_top_while_there_are_any(store: Store) -> None:
    protocol = small_protocol("single", verifiers=2)
    protocol = replace(protocol, qualification=replace(protocol.qualification, gold_rate=0.5))
    project_id = made(store, protocol, premises=2)
    bring_pairs(store, project_id, 4, origin="gold", labels=LABELS)
    join(store, project_id, "verifier", 2)
    with store.read() as tx:
        assert forecast_project(tx, project_id).tasks_left.value == 2 + 12 + 8


def test_once_people_work_it_goes_by_what_they_did(store: Store, clock: MovableClock) -> None:
    """Two writers, half of the twelve premises, 30 s each on a day; pace and cost follow."""
    project_id = made(store, small_protocol("single", verifiers=2), premises=12)
    writers = join(store, project_id, "writer", 2)
    for _ in range(3):
        with store.write() as tx:
            for person_id in writers:
                claim(tx, project_id, person_id, "write")
        clock.move(seconds=60)
        write_all(store, project_id, writers, most=2)
    with store.read() as tx:
        told = forecast_project(tx, project_id)
    assert (told.basis, told.assumed, told.seconds) == ("pace", ("verify",), {"write": 30.0, "verify": 15.0})
    assert told.tasks_left.value == 6 + 12 * 3 * 2
    assert told.cost_left.value == pytest.approx(6 * 0.9 + 72 * 0.2)
    assert told.cost_total.value == pytest.approx(12 * 0.9 + 72 * 0.2)
    assert told.hours_left.method == BY_PEOPLE
    assert told.days_left is not None
    assert told.days_left.value == pytest.approx((6 * 30 + 72 * 15) / (6 * 30))
    clock.move(days=15)
    with store.read() as tx:
        assert forecast_project(tx, project_id).days_left is None


def test_when_all_is_done_nothing_is_left(store: Store) -> None:
    project_id = made(store, small_protocol("single", share=0.0), premises=2)
    write_all(store, project_id, join(store, project_id, "writer", 2))
    with store.read() as tx:
        told = forecast_project(tx, project_id)
        assert project_stats(tx, project_id, resamples=10).to_dict()["forecast"] == told.to_dict()
    assert (told.tasks_left.value, told.hours_left.value, told.cost_left.value) == (0, 0, 0)
    assert told.cost_total.value == pytest.approx(1.8)


@pytest.mark.parametrize("kind", ["human-baseline", "vetting", "adversarial"])
def test_every_kind_has_one(store: Store, kind: str) -> None:
    protocol = KINDS.get(kind).make([kind], "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    project_id = made(store, protocol, premises=3)
    if "imported" in KINDS.get(kind).imports:
        bring_pairs(store, project_id, 6, origin="imported", labels=("-",))
        people = join(store, project_id, "verifier", 2)
        with store.write() as tx:
            for person_id in people:
                (task,) = claim(tx, project_id, person_id, "verify").tasks
                vote(tx, task.assignment_id, person_id, key="k", label=protocol.answers[0], seconds=9.0)
    with store.read() as tx:
        told = forecast_project(tx, project_id)
    assert told.tasks_left.value
    assert told.cost_left.value


@pytest.mark.parametrize("people", [10, 40])
def test_intervals_hold_about_as_often_as_they_say(people: int) -> None:
    """People differ in pace and in how much they do; the rest is done by others of the same kind."""
    chance = np.random.default_rng(5)
    left, rounds, held = 1000, 200, 0

    def somebody() -> tuple[int, float]:
        tasks = int(chance.geometric(1 / 25))
        return tasks, float((60 * np.exp(0.5 * chance.normal()) * np.exp(0.4 * chance.normal(size=tasks))).sum())

    for number in range(rounds):
        crowd = [somebody() for _ in range(people)]
        tasks, seconds = ([float(one[place]) for one in crowd] for place in (0, 1))
        done = Done(
            answers=of("write", tasks),
            timed=of("write", tasks),
            seconds=of("write", seconds),
            units=of("write", [2000 * one for one in tasks]),
            lately=of("write", tasks),
            pairs=np.array(tasks),
            days=7.0,
        )
        estimate = predict(done, Left(left, 0, 0.0, 0.0), USUAL, 3.0, seed=number)["hours_left"]
        truth, rest = 0.0, left
        while rest:
            count, time = somebody()
            truth += time * min(count, rest) / count
            rest -= min(count, rest)
        assert estimate.interval is not None
        held += estimate.interval[0] <= truth / 3600 <= estimate.interval[1]
    assert 0.90 <= held / rounds <= 0.99


def test_money_that_does_not_vary_has_no_interval_but_hours_have() -> None:
    tasks = [4.0, 6.0, 8.0]
    done = Done(
        answers=of("verify", tasks),
        timed=of("verify", tasks),
        seconds=of("verify", [40.0, 120.0, 80.0]),
        units=of("verify", [2000 * one for one in tasks]),
        lately=of("verify", tasks),
        pairs=np.zeros(3),
        days=1.0,
    )
    told = predict(done, Left(0, 36, 0.0, 0.0), USUAL, 0.0)
    assert told["cost_left"].value == 72_000
    assert told["hours_left"].value == pytest.approx(36 * 240 / 18 / 3600)
    assert told["hours_left"].interval is not None
    assert told["days_left"].value == pytest.approx(2.0)

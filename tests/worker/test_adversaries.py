from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.rounds.records import Try, all_tries
from goldlabel.collect.rounds.rounds import Adversary, open_round
from goldlabel.collect.rounds.tries import add_try
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises
from goldlabel.worker.adversaries import Adversaries, answer_all
from tests.collect.campaign import join
from tests.models.endpoint_server import PRICES, serve
from tests.worker import adversaries_here

HERE = "tests.worker.adversaries_here"


def adversary(name: str, **settings: object) -> Adversary:
    return replace(Adversary(name=name, reference=f"{HERE}:{name}", options={}), **settings)  # type: ignore[arg-type]


class Campaign:
    """A round against some models, with writers who have a task each."""

    def __init__(self, store: Store, adversaries: list[Adversary], writers: int, name: str = "campaign") -> None:
        self.store = store
        protocol = KINDS.get("adversarial").make([], "en")
        protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
        with store.write() as tx:
            project_id = create_project(tx, name, protocol).id
            new = [Premise(text=f"A heron stood in the rain {n}.", genre="news") for n in range(writers)]
            add_premises(tx, project_id, new, by=None)
            open_round(tx, project_id, adversaries, by=None)
        self.tasks = []
        for writer in join(store, project_id, "writer", writers):
            with store.write() as tx:
                (task,) = claim(tx, project_id, writer, "write").tasks
            self.tasks.append((task.assignment_id, writer))

    def write(self, key: str = "a") -> None:
        for number, writer in self.tasks:
            with self.store.write() as tx:
                add_try(tx, number, writer, key=key, text="The heron was cold.")

    def last(self) -> list[Try]:
        with self.store.read() as tx:
            return [all_tries(tx, number)[-1] for number, _ in self.tasks]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "collection")


def answer(store: Store) -> int:
    adversaries = Adversaries(store, "worker")
    count = adversaries.answer()
    adversaries.wait()
    adversaries.close()
    return count


def test_tries_of_all_writers_are_answered_together(store: Store) -> None:
    campaign = Campaign(store, [adversary("sure")], writers=6)
    campaign.write()
    adversaries_here.asked.clear()
    assert answer(store) == 6
    assert adversaries_here.asked == [6]
    assert {one.model for one in campaign.last()} == {"sure"}
    assert [one.fooled for one in campaign.last()] == [one.target != "entailment" for one in campaign.last()]
    assert answer(store) == 0, "what is answered is not asked again"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("dead", "dead: the endpoint is gone"),
        ("nonsense", "nonsense: no probability for each label"),
        ("short", "short: tests.worker.adversaries_here:short: returned a matrix of 1 × 2"),
        ("of_others", "of_others: no probability for each label"),
        ("missing", "missing: "),
    ],
)
def test_a_model_that_cannot_answer_costs_no_try(store: Store, name: str, problem: str) -> None:
    campaign = Campaign(store, [adversary(name)], writers=1)
    for key in "abcdef":
        campaign.write(key)
        assert answer(store) == 1
    (last,) = campaign.last()
    assert last.failed
    assert last.model is None
    assert last.problem is not None
    assert last.problem.startswith(problem)


def test_whoever_stands_in_answers_and_that_is_kept(store: Store) -> None:
    campaign = Campaign(store, [adversary("dead", fallback="sure"), adversary("sure", fallback="dead")], writers=8)
    campaign.write()
    answer(store)
    while any(one.decided_at is None for one in campaign.last()):
        answer(store)
    assert {(one.drawn, one.model, one.problem) for one in campaign.last()} == {
        ("dead", "sure", "dead: the endpoint is gone"),
        ("sure", "sure", None),
    }


def test_a_slow_model_is_not_waited_for_beyond_its_time_and_stops_no_other(store: Store) -> None:
    campaign = Campaign(store, [adversary("slow", seconds=0.05), adversary("sure")], writers=8)
    campaign.write()
    assert answer(store) == 8
    for one in campaign.last():
        if one.drawn == "slow":
            assert one.failed
            assert one.problem == "slow: no answer within 0.05 s"
        else:
            assert one.model == "sure"
    assert {one.drawn for one in campaign.last()} == {"slow", "sure"}


def test_tries_are_answered_until_the_worker_is_told_to_end(store: Store) -> None:
    campaign = Campaign(store, [adversary("sure")], writers=2)
    ended = threading.Event()
    worker = threading.Thread(target=answer_all, args=(store, "worker", ended))
    worker.start()
    campaign.write()
    while any(one.decided_at is None for one in campaign.last()):
        ended.wait(0.01)
    ended.set()
    worker.join(timeout=60)
    assert not worker.is_alive()


def test_an_endpoint_whose_budget_is_used_up_is_stood_in_for(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as server:
        options = {name: str(price) for name, price in PRICES.items()} | {"budget": "0"}
        endpoint = Adversary(name="large", reference=server.reference, options=options, fallback="sure")
        campaign = Campaign(store, [endpoint, adversary("sure", stands_in=True)], writers=4)
        campaign.write()
        answer(store)
    assert {(one.drawn, one.model) for one in campaign.last()} == {("large", "sure")}
    assert {one.problem for one in campaign.last()} == {"large: the budget was used up"}
    assert not server.ledger

"""The budget of an endpoint that people write against outlives the worker that asks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldlabel.collect.rounds.model_costs import cost_of
from goldlabel.collect.rounds.rounds import Adversary
from goldlabel.collect.rounds.tries import add_try
from goldlabel.collect.store import Store
from goldlabel.worker import budgets
from goldlabel.worker.adversaries import Adversaries
from tests.models.endpoint_server import PRICES, LocalEndpoint, serve
from tests.worker.test_adversaries import Campaign, answer

BUDGET = 0.0032
PROBLEM = "large: the budget was used up"


class KilledError(BaseException):
    """What ends a worker at once."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as running:
        yield running


def against(server: LocalEndpoint, store: Store, writers: int, budget: float, name: str = "campaign") -> Campaign:
    options = {key: str(price) for key, price in PRICES.items()} | {"budget": str(budget), "max_tokens": "8"}
    return Campaign(store, [Adversary(name="large", reference=server.reference, options=options)], writers, name)


def cost(server: LocalEndpoint) -> float:
    tokens_in, tokens_out = server.tokens("delivered")
    return (tokens_in * PRICES["price_in"] + tokens_out * PRICES["price_out"]) / 1e6


def write_one_by_one(campaign: Campaign) -> list[str | None]:
    """Write each try against a worker that was started for it; return the problems."""
    for number, writer in campaign.tasks:
        with campaign.store.write() as tx:
            add_try(tx, number, writer, key="a", text="The heron was cold.")
        answer(campaign.store)
    return [one.problem for one in campaign.last()]


def test_a_budget_holds_over_workers_that_are_started_anew(server: LocalEndpoint, store: Store) -> None:
    problems = write_one_by_one(against(server, store, 8, BUDGET))
    answered = problems.count(None)
    assert 1 < answered < 8, (answered, cost(server))
    assert problems == [None] * answered + [PROBLEM] * (8 - answered)
    assert cost(server) <= BUDGET
    with store.read() as tx:
        assert cost_of(tx, 1, "large") == pytest.approx(cost(server))
    other = write_one_by_one(against(server, store, 1, BUDGET, "other"))
    assert other == [None], "the budget of another round is its own"


def test_what_a_killed_worker_paid_and_did_not_write_down_counts(
    server: LocalEndpoint, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KilledError

    campaign = against(server, store, 3, 1.0)
    first, *others = campaign.tasks
    campaign.tasks = [first]
    campaign.write()
    answer(store)  # what the server understands is found out
    campaign.tasks = others
    campaign.write()
    with monkeypatch.context() as patched:
        patched.setattr(budgets, "add_cost", die)
        killed = Adversaries(store, "worker")
        killed.answer()
        with pytest.raises(KilledError):
            killed.wait()
        killed.close()
    assert [one.decided_at for one in campaign.last()] == [None, None]
    paid = cost(server)
    answer(store)
    assert [one.problem for one in campaign.last()] == [None, None]
    assert cost(server) == paid, "the replies are in the cache"
    with store.read() as tx:
        assert cost_of(tx, 1, "large") == pytest.approx(paid)


def test_rounds_of_two_projects_with_a_model_of_one_name_keep_their_own_settings(
    server: LocalEndpoint, store: Store
) -> None:
    poor, rich = against(server, store, 1, 0, "poor"), against(server, store, 1, 1, "rich")
    poor.write()
    rich.write()
    answer(store)
    assert [one.problem for one in poor.last()] == [PROBLEM]
    assert [one.problem for one in rich.last()] == [None]

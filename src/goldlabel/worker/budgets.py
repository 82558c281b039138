"""The budget of an endpoint that people write against: what it cost is kept with its round, so that it holds for all
workers together, and for one that is started anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from goldlabel.collect.rounds.model_costs import add_cost, cost_of
from goldlabel.collect.store import Store
from goldlabel.models.endpoint import Endpoint


class RoundBudget:
    """What an endpoint costs in a round: taken from the database before it is asked, and kept there afterwards.

    Workers that ask at the same moment do not know of each other's calls under way.
    """

    def __init__(self, store: Store, round_id: int, name: str, endpoint: Endpoint) -> None:
        self._store, self._round_id, self._name, self._endpoint = store, round_id, name, endpoint
        self._kept = 0.0

    @contextmanager
    def held(self, *, again: bool) -> Iterator[None]:
        """Hold the endpoint within the budget while the block asks it.

        What is asked ``again`` may have been paid by a worker that was killed before it could write it down: its
        replies are in the cache by then, and what they cost is counted now.
        """
        with self._store.read() as tx:
            self._endpoint.count_elsewhere(cost_of(tx, self._round_id, self._name) - self._kept)
        before = self._endpoint.summary().cost_before
        try:
            yield
        finally:
            told = self._endpoint.summary()
            cost = told.cost - self._kept + (told.cost_before - before if again else 0.0)
            if cost:
                with self._store.write() as tx:
                    add_cost(tx, self._round_id, self._name, cost)
                self._kept = told.cost

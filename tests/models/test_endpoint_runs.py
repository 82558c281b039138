"""What is kept, what is paid, and runs that are interrupted, killed or at the same time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldlabel.errors import InputError, StorageError
from goldlabel.models.endpoint import Endpoint
from goldlabel.models.endpoint.tally import Budget, Tally
from tests.models.endpoint_server import (
    PRICES,
    LocalEndpoint,
    drop_third,
    expected,
    model_of,
    paid,
    pairs_by_number,
    serve,
)

pytestmark = pytest.mark.usefixtures("quick_calls")


def test_nothing_is_asked_twice_and_the_server_is_not_needed_again() -> None:
    with serve() as server:
        with model_of(server, **PRICES) as model:
            first = model.predict(["A.", "A.", "C."], ["B 1.", "B 1.", "D 2."])
            np.testing.assert_array_equal(first[0], first[1])
            # The first pair is asked in two ways; its twin in none.
            assert (model.summary().calls, model.summary().cached) == (3, 1)
            assert model.summary().cost == pytest.approx(paid(server), rel=1e-12)
            assert model.summary().cost_before == 0
        reference = server.reference
    again = Endpoint.from_reference(reference, **PRICES)
    np.testing.assert_array_equal(again.predict(["C.", "A."], ["D 2.", "B 1."]), first[[2, 0]])
    summary = again.summary()
    assert (summary.calls, summary.cached, summary.cost) == (0, 2, 0)
    assert 0 < summary.cost_before < paid(server)
    again.close()


def test_equal_pairs_at_the_same_time_are_one_call() -> None:
    with serve(seconds=0.05) as server, model_of(server, answers="free") as model:
        model.predict(*pairs_by_number(1))
        model.predict(["A."] * 8, ["B 1."] * 8)
        assert (len(server.bodies), model.summary().calls, model.summary().cached) == (2, 2, 7)


def test_another_prompt_temperature_sample_or_address_is_another_call() -> None:
    with serve() as server:
        for options in ({}, {"samples": 2}, {"samples": 3}, {"samples": 2, "temperature": 0.5}, {"reads": "premise"}):
            with model_of(server, answers="free", **options) as model:
                model.predict(["A 1."], ["B 1."])
        assert [body["temperature"] for body in server.bodies] == [0, 1, 1, 1, 0.5, 0.5, 0]
        with serve() as other, model_of(other, answers="free") as model:
            model.predict(["A 1."], ["B 1."])
            assert len(other.bodies) == 1


def test_the_budget_is_never_exceeded_and_all_of_the_beginning_is_answered() -> None:
    with serve(seconds=0.005) as server, model_of(server, answers="free") as model:
        model.predict(*pairs_by_number(1))
        each = server.ledger[0].tokens_in * PRICES["price_in"] + server.ledger[0].tokens_out * PRICES["price_out"]
    budget = 20 * each / 1_000_000
    with serve(seconds=0.005) as server, model_of(server, answers="free", budget=budget, **PRICES) as model:
        scores = model.predict(*pairs_by_number(60))
        summary = model.summary()
        answered = ~np.isnan(scores).any(axis=1)
        assert 5 <= answered.sum() == summary.answered <= 20
        assert answered[: answered.sum()].all()
        assert summary.unanswered == {"budget": 60 - summary.answered}
        assert summary.cost == pytest.approx(paid(server), rel=1e-12)
        assert summary.cost <= budget
        # What is cached costs nothing, and is answered within a budget of nothing.
        with model_of(server, answers="free", budget=0.0, **PRICES) as poor:
            np.testing.assert_array_equal(poor.predict(*pairs_by_number(60)), scores)
            assert poor.summary().cost == 0


def test_a_budget_needs_a_server_that_counts() -> None:
    with serve(usage=False) as server:
        with model_of(server, answers="free") as model:
            model.predict(*pairs_by_number(2))
            assert model.summary().unmetered == 2
        with model_of(server, answers="free", budget=1.0, language="zh", **PRICES) as model:
            pairs = pairs_by_number(3)
            with pytest.raises(InputError, match="does not say how many tokens it used"):
                model.predict(*pairs)


def test_a_budget_lets_calls_through_in_their_order() -> None:
    async def run() -> list[int]:
        budget, order = Budget(Tally(1_000_000.0, 0.0), 100.0), []

        async def call(tokens: int) -> None:
            async with budget.set_aside(tokens, 0) as allowed:
                assert allowed
                order.append(tokens)
                for _ in range(20):
                    await asyncio.sleep(0)

        # The last would fit beside the first, and has to wait all the same.
        await asyncio.gather(call(40), call(70), call(10))
        return order

    assert asyncio.run(run()) == [40, 70, 10]


def test_what_a_budget_refused_stays_refused() -> None:
    long, short = ["Lamp. " * 200] * 2, ["Lamp."] * 10
    hypotheses = [f"It is {number}." for number in range(12)]
    with serve() as server, model_of(server, answers="free", budget=0.0005, price_in=0.5) as model:
        # The first pair could cost 0.0008 and each of the others 0.0003.
        assert np.isnan(model.predict(long + short, hypotheses)).all()
        assert not server.bodies


def test_a_cache_that_cannot_be_used(tmp_path: Path) -> None:
    broken = tmp_path / "notes.txt"
    broken.write_text("These are my notes, and no cache.\n" * 100)
    with serve() as server:
        for path, error in ((broken, InputError), (tmp_path, StorageError)):
            model = Endpoint.from_reference(server.reference, cache=str(path))
            with pytest.raises(error, match=r"notes.txt: is not a cache of replies|cannot be used as the cache"):
                model.predict(["A."], ["B."])
            model.close()
    assert broken.read_text().startswith("These are my notes")


def test_from_threads_from_a_running_loop_and_after_closing() -> None:
    with serve(seconds=0.01) as server, model_of(server, answers="free", concurrency=4) as model:
        results: dict[int, Any] = {}
        threads = [
            threading.Thread(target=lambda n=n: results.update({n: model.predict([f"Lamp {n}."], [f"It is {n}."])}))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [int(results[n].argmax()) for n in range(8)] == [n % 3 for n in range(8)]
        assert server.most_under_way <= 4
        assert len(server.bodies) == 8

        async def handler() -> Any:
            return model.predict(["Lamp 4."], ["It is 4."])

        np.testing.assert_array_equal(asyncio.run(handler()), results[4])
        model.close()
        np.testing.assert_array_equal(model.predict(["Lamp 4."], ["It is 4."]), results[4])


def test_ctrl_c_ends_the_calls_and_keeps_what_was_answered() -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    with serve(seconds=0.02) as server, model_of(server, answers="free", concurrency=1) as model:
        premises, hypotheses = pairs_by_number(60)
        with pytest.raises(KeyboardInterrupt):
            model.predict(premises, hypotheses, on_progress=interrupt)
        model.predict(premises[:3], hypotheses[:3])
        assert model.summary().cached == 3
        before = len(server.bodies)
        time.sleep(0.2)
        assert len(server.bodies) == before < 60


def test_progress_counts_pairs() -> None:
    with serve() as server, model_of(server, samples=2) as model:
        steps: list[tuple[int, int]] = []
        model.predict(*pairs_by_number(5), on_progress=lambda done, total: steps.append((done, total)))
        assert steps == [(done, 5) for done in range(1, 6)]


RUN = """
    import sys
    from goldlabel.models.endpoint import Endpoint, calls
    from tests.models.endpoint_server import pairs_by_number
    calls.FIRST_PAUSE = 0.01
    model = Endpoint.from_reference(sys.argv[1], cache=sys.argv[2], answers="free", price_in=2.0, price_out=10.0)
    try:
        model.predict(*pairs_by_number(int(sys.argv[3])))
    except KeyboardInterrupt:
        sys.exit(9)
"""


def start(server: LocalEndpoint, cache: Path, pairs: int) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", textwrap.dedent(RUN), server.reference, str(cache), str(pairs)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, cwd=root)


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_goes_on_where_it_was(kill: signal.Signals, tmp_path: Path) -> None:
    pairs, cache = 90, tmp_path / "replies.sqlite"
    reached, killed = threading.Event(), threading.Event()
    with serve(trouble=drop_third, seconds=0.01) as server:

        def stall(delivered: int) -> None:
            if delivered >= 30:
                reached.set()
                killed.wait(60)

        server.on_delivery = stall
        process = start(server, cache, pairs)
        assert reached.wait(60)
        process.send_signal(kill)
        assert process.wait(60) == {signal.SIGKILL: -9, signal.SIGINT: 9}[kill]
        killed.set()
        with model_of(server, cache=str(cache), answers="free", **PRICES) as model:
            np.testing.assert_array_equal(model.predict(*pairs_by_number(pairs)), expected(pairs))
            summary = model.summary()
        delivered = Counter(entry.call for entry in server.ledger if entry.outcome == "delivered")
        # Every pair was delivered once, and again only if its reply was under way when the process ended.
        assert len(delivered) == pairs
        twice = [entry for entry in server.ledger if delivered[entry.call] > 1]
        assert sum(delivered.values()) - pairs <= 8
        assert summary.cached + summary.calls == pairs
        assert summary.cached >= 30 - 8
        lost = (
            sum(2.0 * entry.tokens_in + 10.0 * entry.tokens_out for entry in twice if entry.outcome == "delivered") / 2
        )
        assert summary.cost + summary.cost_before == pytest.approx(paid(server) - lost / 1_000_000, rel=1e-12)


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    cache = tmp_path / "replies.sqlite"
    with serve(seconds=0.005) as server:
        processes = [start(server, cache, 40) for _ in range(2)]
        assert [process.wait(60) for process in processes] == [0, 0]
        before = len(server.bodies)
        with model_of(server, cache=str(cache), answers="free") as model:
            np.testing.assert_array_equal(model.predict(*pairs_by_number(40)), expected(40))
        assert len(server.bodies) == before

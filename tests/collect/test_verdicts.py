"""A pair's verdict is reached when the last vote asked for comes in, whatever the policy and the order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import polars as pl
import pyarrow as pa
import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.money.forecast import _left
from goldlabel.collect.money.recount import check
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.schema import pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises as add_to_pool
from goldlabel.collect.work.queues import queue_progress
from goldlabel.collect.work.verdicts import Panel, TwoPlusOne
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.arrow import SCHEMA
from goldlabel.pairs.labels import NLI3, NO_GOLD
from goldlabel.verify import verify
from tests.collect.campaign import join, small_protocol, write_all

ANSWERS = (*NLI3.labels, "unrelated")
E, N, C, U = "entailment", "neutral", "contradiction", "unrelated"


def gold_by(method: str, author: str, votes: tuple[str, ...]) -> str:
    """Return the gold label that the room for votes gives one pair."""
    row = {"id": "1", "premise": "A", "hypothesis": "B", "label": author, "votes": [author, *votes], "split": "none"}
    columns = {name: [row.get(name)] for name in SCHEMA.names}
    columns["tags"] = [[]]
    frame = pl.from_arrow(pa.table(columns, schema=SCHEMA))
    assert isinstance(frame, pl.DataFrame)
    found = verify(Pairs(frame.lazy(), Card(name="one", label_space=NLI3, author="first")), method=method, resamples=2)
    return str(found.pairs.collect()["label"][0])


def as_label(answer: str | None) -> str | None:
    return NO_GOLD if answer == U else answer


@pytest.mark.parametrize("author", [E, N])
@pytest.mark.parametrize("votes", [(E, E, N, C), (E, N, N, N), (N, N, C, C), (U, U, U, E), (U, U, E, E), (E, E, E, E)])
def test_a_panel_decides_as_the_majority_of_finished_votes_does(author: str, votes: tuple[str, ...]) -> None:
    assert as_label(Panel(4).decide(author, votes)) == gold_by("majority", author, votes)


def test_two_plus_one_decides_as_the_rule_for_finished_votes_does() -> None:
    policy = TwoPlusOne()
    for votes in product(ANSWERS, repeat=2):
        assert (policy.decide(E, votes) is None) == (votes[0] != votes[1])
    for votes in [(E, N, N), (E, N, C), (N, E, N), (U, E, U), (U, E, N), (N, N, E), (E, N, E)]:
        assert as_label(policy.decide(E, votes)) == gold_by("two-plus-one", E, votes)


@pytest.fixture(params=["panel", "two-plus-one"])
def policy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def protocol_with(policy: str) -> Protocol:
    if policy == "panel":
        return small_protocol("single", verifiers=2)
    protocol = KINDS.get("adversarial").make([], "en")
    return replace(protocol, qualification=replace(protocol.qualification, training=0, gold_rate=0.0))


@pytest.fixture
def site(store: Store, policy: str) -> Iterator[tuple[Store, int, list[int]]]:
    """One premise, three pairs of one writer, and five verifiers."""
    with store.write() as tx:
        project_id = create_project(tx, "meadow", protocol_with(policy), seed=7).id
        add_to_pool(tx, project_id, [Premise(text="Yesterday a heron crossed the wet road.", genre="news")], by=None)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    yield store, project_id, join(store, project_id, "verifier", 5)
    with store.read() as tx:
        assert check(tx, project_id) == []


def judge(store: Store, project_id: int, person_id: int, answer: str) -> int:
    """Let a person judge all they can get, the pair about entailment last; return its id."""
    with store.write() as tx:
        tasks = claim(tx, project_id, person_id, "verify", hold=3).tasks
        for task in sorted(tasks, key=lambda task: E in (task.hypothesis or "")):
            label = (task.hypothesis or "").split()[2]
            chosen = answer if label == E else label
            vote(tx, task.assignment_id, person_id, key=f"k{task.assignment_id}", label=chosen)
        return int(tx.value(select(pairs.c.id).where(pairs.c.label == E)))


def verdict_on(store: Store, pair_id: int) -> str | None:
    with store.read() as tx:
        verdict: str | None = tx.value(select(pairs.c.verdict).where(pairs.c.id == pair_id))
    return verdict


def waiting(store: Store, project_id: int) -> int:
    """Return how many votes are wanted and in nobody's hands."""
    with store.read() as tx:
        return sum(line.waiting for line in queue_progress(tx, project_id) if line.kind == "verify")


def test_the_last_vote_decides(site: tuple[Store, int, list[int]], policy: str) -> None:
    store, project_id, (first, second, third, *_) = site
    pair_id = judge(store, project_id, first, N)
    assert verdict_on(store, pair_id) is None
    judge(store, project_id, second, E)
    if policy == "panel":
        assert (verdict_on(store, pair_id), waiting(store, project_id)) == (E, 0)
        return
    assert (verdict_on(store, pair_id), waiting(store, project_id)) == (None, 1)
    judge(store, project_id, third, N)
    assert (verdict_on(store, pair_id), waiting(store, project_id)) == (N, 0)
    with store.read() as tx:
        snapshot = take_snapshot(tx, project_id)
    exported = split_pairs(snapshot).pairs.collect().filter(id=str(pair_id)).row(0, named=True)
    assert (exported["label"], exported["votes"]) == (N, [E, N, E, N])


def test_the_forecast_counts_on_as_many_third_votes_as_there_were(
    site: tuple[Store, int, list[int]], policy: str
) -> None:
    store, project_id, people = site
    for person_id, answer in zip(people, (N, E, N), strict=False):
        judge(store, project_id, person_id, answer)
    with store.read() as tx:
        found = project(tx, project_id)
        left, _ = _left(tx, found)
    third = 0 if policy == "panel" else 1 / 3
    assert left.per_pair == pytest.approx(found.protocol.verifying.share * (found.protocol.verifying.verifiers + third))


def test_taking_back_reopens_a_verdict(site: tuple[Store, int, list[int]], policy: str) -> None:
    store, project_id, (first, second, third, *_) = site
    pair_id = judge(store, project_id, first, E)
    judge(store, project_id, second, E)
    assert verdict_on(store, pair_id) == E
    with store.write() as tx:
        back = undo(tx, project_id, second)
    assert verdict_on(store, pair_id) is None
    with store.write() as tx:
        vote(tx, back.assignment_id, second, key="again", label=C)
    assert verdict_on(store, pair_id) == (E if policy == "panel" else None)
    if policy == "panel":
        return
    with store.write() as tx:
        back = undo(tx, project_id, second)
        vote(tx, back.assignment_id, second, key="once more", label=E)
    assert (verdict_on(store, pair_id), waiting(store, project_id)) == (None, 1), "what was asked for stays asked for"
    judge(store, project_id, third, N)
    assert verdict_on(store, pair_id) == E


@pytest.mark.parametrize("policy", ["panel"], indirect=True)
def test_more_verifiers_reopen_a_verdict(site: tuple[Store, int, list[int]]) -> None:
    store, project_id, (first, second, third, *_) = site
    pair_id = judge(store, project_id, first, E)
    judge(store, project_id, second, E)
    with store.write() as tx:
        protocol = project(tx, project_id).protocol
        configure(tx, project_id, replace(protocol, verifying=replace(protocol.verifying, verifiers=3)), by=None)
    assert verdict_on(store, pair_id) is None
    judge(store, project_id, third, N)
    assert verdict_on(store, pair_id) == E


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("policy", ["two-plus-one"], indirect=True)
def test_two_votes_at_one_moment_see_each_other(site: tuple[Store, int, list[int]]) -> None:
    """Both have voted before either ends; the second must wait for the first, and then ask for a third."""
    store, project_id, (first, second, *_) = site
    held: dict[int, int] = {}
    with store.write() as tx:
        pair_id = int(tx.value(select(pairs.c.id).where(pairs.c.label == E)))
        for person_id in (first, second):
            for task in claim(tx, project_id, person_id, "verify", hold=3).tasks:
                label = (task.hypothesis or "").split()[2]
                if label == E:
                    held[person_id] = task.assignment_id
                else:
                    vote(tx, task.assignment_id, person_id, key="k", label=label)
    voted, began = threading.Event(), threading.Event()

    def follow() -> None:
        voted.wait(30)
        with store.write() as tx:
            began.set()
            vote(tx, held[second], second, key="k", label=N)

    other = threading.Thread(target=follow)
    other.start()
    with store.write() as tx:
        vote(tx, held[first], first, key="k", label=E)
        voted.set()
        began.wait(30)
        other.join(0.5)
    other.join(30)
    assert not other.is_alive()
    assert (verdict_on(store, pair_id), waiting(store, project_id)) == (None, 1)

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import event, select

from goldlabel.collect.configuration import configure, create_project, set_state
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import add_member, set_member
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.refusals import Conflict, Forbidden, Missing
from goldlabel.collect.schema import assignments
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import Claim, batch, claim, skip, task
from goldlabel.collect.work.drafts import save_draft
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.queues import queue_progress
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.collect.work.writing import mark_unusable, submit
from goldlabel.errors import InputError
from tests.collect.campaign import join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock

LEASE = {"seconds": 600}


def pool(sizes: dict[str, int]) -> list[Premise]:
    return [
        Premise(text=f"A {genre} tells about road number {number}.", genre=genre)
        for genre, size in sizes.items()
        for number in range(size)
    ]


def meadow(store: Store, protocol: Protocol | None = None, **sizes: int) -> int:
    with store.write() as tx:
        made = create_project(tx, "meadow", protocol or small_protocol("single", verifiers=2), seed=3)
        add_premises(tx, made.id, pool(sizes or {"news": 4}), by=None)
    return made.id


def get(store: Store, project_id: int, person_id: int, kind: str = "verify", hold: int = 1) -> Claim:
    with store.write() as tx:
        return claim(tx, project_id, person_id, kind, hold=hold)


def answer(store: Store, person_id: int, assignment_id: int, label: str = "neutral") -> str:
    with store.write() as tx:
        return vote(tx, assignment_id, person_id, key="k", label=label).state


def written(store: Store, project_id: int) -> int:
    """A project in which one writer wrote about everything."""
    [writer] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer])
    return writer


def agrees(store: Store, project_id: int) -> bool:
    with store.read() as tx:
        return check(tx, project_id) == []


def test_a_page_loaded_again_shows_the_same_task(store: Store) -> None:
    project_id = meadow(store)
    [writer] = join(store, project_id, "writer", 1)
    first, second = (get(store, project_id, writer, "write") for _ in range(2))
    assert first.status == "ok"
    assert first.tasks == second.tasks
    assert len(first.tasks) == 1


def test_the_next_task_can_be_held_too(store: Store) -> None:
    project_id = meadow(store)
    [writer] = join(store, project_id, "writer", 1)
    held = get(store, project_id, writer, "write", hold=2).tasks
    assert len({one.premise for one in held}) == 2
    assert get(store, project_id, writer, "write", hold=1).tasks == held


def test_an_abandoned_task_goes_to_someone_else_once_its_time_is_over(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, news=1)
    first, second = join(store, project_id, "writer", 2)
    [lent] = get(store, project_id, first, "write").tasks
    waiting = get(store, project_id, second, "write")
    assert (waiting.tasks, waiting.status, waiting.until) == ([], "waiting", lent.expires_at)
    clock.now = lent.expires_at
    [passed] = get(store, project_id, second, "write").tasks
    assert passed.premise == lent.premise
    assert get(store, project_id, first, "write").tasks == []
    assert agrees(store, project_id)


def test_nobody_is_given_a_premise_twice_even_if_it_comes_back(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, news=1)
    first, second = join(store, project_id, "writer", 2)
    get(store, project_id, first, "write")
    clock.move(hours=1)
    get(store, project_id, second, "write")
    clock.move(hours=1)
    assert get(store, project_id, first, "write").status == "others"
    assert len(get(store, project_id, second, "write").tasks) == 1


def test_a_lapsed_task_that_nobody_took_is_still_ones_own(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, news=1)
    [writer] = join(store, project_id, "writer", 1)
    [before] = get(store, project_id, writer, "write").tasks
    clock.move(hours=5)
    [after] = get(store, project_id, writer, "write").tasks
    assert after == replace(before, expires_at=clock.now + timedelta(hours=1))
    assert agrees(store, project_id)


def test_an_answer_after_its_time_counts_if_nobody_took_the_task(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, news=1)
    written(store, project_id)
    [verifier] = join(store, project_id, "verifier", 1)
    [lent] = get(store, project_id, verifier).tasks
    clock.move(days=3)
    assert answer(store, verifier, lent.assignment_id) == "counted"
    assert agrees(store, project_id)


def test_an_answer_after_the_task_passed_on_is_kept_and_not_counted(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    written(store, project_id)
    first, second = join(store, project_id, "verifier", 2)
    [lent] = get(store, project_id, first).tasks
    clock.move(**LEASE)
    [passed] = get(store, project_id, second).tasks
    assert passed.hypothesis == lent.hypothesis
    assert answer(store, first, lent.assignment_id) == "late"
    assert answer(store, second, passed.assignment_id) == "counted"
    with store.read() as tx:
        assert queue_progress(tx, project_id)[0].answered == 1
    assert agrees(store, project_id)


@pytest.mark.parametrize("left", ["skipped", "lapsed"])
def test_a_late_answer_counts_and_is_paid_while_its_task_is_free(store: Store, clock: MovableClock, left: str) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    written(store, project_id)
    first, second = join(store, project_id, "verifier", 2)
    [lent] = get(store, project_id, first).tasks
    clock.move(**LEASE)
    [passed] = get(store, project_id, second).tasks
    if left == "skipped":
        with store.write() as tx:
            skip(tx, passed.assignment_id, second)
    else:
        clock.move(**LEASE)
    with store.write() as tx:
        receipt = vote(tx, lent.assignment_id, first, key="k", label="neutral")
    assert (receipt.state, receipt.amount) == ("counted", Decimal("0.20"))
    assert agrees(store, project_id)
    if left == "lapsed":
        assert answer(store, second, passed.assignment_id) == "late"
    assert agrees(store, project_id)


def test_a_skipped_task_is_for_others(store: Store) -> None:
    project_id = meadow(store, news=1)
    first, second = join(store, project_id, "writer", 2)
    [lent] = get(store, project_id, first, "write").tasks
    with store.write() as tx:
        skip(tx, lent.assignment_id, first)
        skip(tx, lent.assignment_id, first)
    assert get(store, project_id, first, "write").status == "others"
    [taken] = get(store, project_id, second, "write").tasks
    assert taken.premise == lent.premise
    with store.write() as tx, pytest.raises(Conflict, match="was skipped"):
        mark_unusable(tx, lent.assignment_id, first, key="k", note="torn")
    assert agrees(store, project_id)


def test_an_answered_task_cannot_be_skipped(store: Store) -> None:
    project_id = meadow(store, news=1)
    written(store, project_id)
    [verifier] = join(store, project_id, "verifier", 1)
    [lent] = get(store, project_id, verifier).tasks
    answer(store, verifier, lent.assignment_id)
    with store.write() as tx, pytest.raises(Conflict, match="answered before"):
        skip(tx, lent.assignment_id, verifier)


def test_nobody_verifies_what_they_wrote(store: Store) -> None:
    protocol = small_protocol("single", verifiers=1)
    project_id = meadow(store, protocol, news=2)
    writer = written(store, project_id)
    with store.write() as tx:
        add_member(tx, project_id, writer, "verifier", by=None)
    assert get(store, project_id, writer).status == "others"
    [other] = join(store, project_id, "verifier", 1)
    assert verify_all(store, project_id, [other, writer]) == 6


def test_a_pair_gets_its_votes_exactly(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=3), news=3, letters=2)
    written(store, project_id)
    verifiers = join(store, project_id, "verifier", 5)
    assert verify_all(store, project_id, verifiers) == 5 * 3 * 3
    with store.read() as tx:
        rows = tx.all(select(assignments).where(assignments.c.kind == "verify"))
    assert set(Counter(row.pair_id for row in rows).values()) == {3}
    assert max(Counter((row.pair_id, row.person_id) for row in rows).values()) == 1
    assert get(store, project_id, verifiers[0]).status == "finished"
    assert agrees(store, project_id)


def test_verifiers_hear_that_pairs_are_still_to_come(store: Store) -> None:
    project_id = meadow(store, news=2)
    [verifier] = join(store, project_id, "verifier", 1)
    assert get(store, project_id, verifier).status == "later"


def test_the_genre_with_the_least_progress_comes_first(store: Store) -> None:
    project_id = meadow(store, news=12, letters=4, talks=8)
    [writer] = join(store, project_id, "writer", 1)
    genres = []
    for number in range(24):
        [lent] = get(store, project_id, writer, "write").tasks
        genres.append(lent.genre)
        with store.write() as tx:
            if number % 4 == 1:  # what cannot be used is no progress
                mark_unusable(tx, lent.assignment_id, writer, key="k", note="torn")
                genres.pop()
            else:
                save(tx, lent.assignment_id, writer)
        count, left = Counter(genres), remaining(store, project_id)
        assert all(count[one] <= min(count[other] for other in ("news", "letters", "talks") if left[other]) + 1
                   for one in genres[-1:] if any(left.values()))  # fmt: skip
    assert get(store, project_id, writer, "write").status == "finished"
    assert agrees(store, project_id)


def save(tx: object, assignment_id: int, writer: int) -> None:
    texts = [
        Hypothesis(label=label, level="only", text=f"Someone wrote {word} words {assignment_id}")
        for label, word in (("entailment", "some"), ("neutral", "many"), ("contradiction", "zero"))
    ]
    submit(tx, assignment_id, writer, key="k", hypotheses=texts)  # type: ignore[arg-type]


def remaining(store: Store, project_id: int) -> dict[str, int]:
    with store.read() as tx:
        return {line.genre: line.waiting for line in queue_progress(tx, project_id) if line.kind == "write"}


def test_ties_between_genres_are_broken_at_random(store: Store) -> None:
    firsts = set()
    for seed in range(8):
        with store.write() as tx:
            made = create_project(tx, f"meadow {seed}", small_protocol("single"), seed=seed)
            add_premises(tx, made.id, pool({"news": 3, "letters": 3}), by=None)
        [writer] = join_named(store, made.id, f"w{seed}")
        firsts.add(get(store, made.id, writer, "write").tasks[0].genre)
    assert firsts == {"news", "letters"}


def join_named(store: Store, project_id: int, login: str) -> list[int]:
    with store.write() as tx:
        person_id = create_account(tx, login, "not a hash")
        add_member(tx, project_id, person_id, "writer", by=None)
    return [person_id]


def test_a_writer_gets_no_more_than_the_cap(store: Store) -> None:
    protocol = small_protocol("single")
    project_id = meadow(store, replace(protocol, writing=replace(protocol.writing, cap=2, batch=2)), news=5)
    [writer] = join(store, project_id, "writer", 1)
    assert write_all(store, project_id, [writer]) == 2
    assert get(store, project_id, writer, "write").status == "capped"
    with store.write() as tx:
        assert (batch(tx, project_id, writer).number, batch(tx, project_id, writer).done) == (2, 0)
        changed = replace(protocol, writing=replace(protocol.writing, cap=3, batch=2))
        configure(tx, project_id, changed, by=None)
    assert write_all(store, project_id, [writer]) == 1
    with store.read() as tx:
        assert (batch(tx, project_id, writer).done, batch(tx, project_id, writer).total) == (1, 3)


def test_a_pause_stops_new_tasks_and_takes_answers(store: Store) -> None:
    project_id = meadow(store, news=2)
    written(store, project_id)
    first, second = join(store, project_id, "verifier", 2)
    [lent] = get(store, project_id, first).tasks
    with store.write() as tx:
        set_state(tx, project_id, "paused", by=None)
    assert get(store, project_id, second).status == "paused"
    assert get(store, project_id, first).tasks == [lent]
    assert answer(store, first, lent.assignment_id) == "counted"
    assert get(store, project_id, first).status == "paused"
    with store.write() as tx:
        set_state(tx, project_id, "running", by=None)
    assert get(store, project_id, first).status == "ok"


def test_a_paused_person_gets_nothing(store: Store) -> None:
    project_id = meadow(store)
    [writer] = join(store, project_id, "writer", 1)
    with store.write() as tx:
        set_member(tx, project_id, writer, "writer", state="paused", by=None)
    assert get(store, project_id, writer, "write").status == "suspended"


def test_typing_keeps_a_task(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, news=1)
    first, second = join(store, project_id, "writer", 2)
    [lent] = get(store, project_id, first, "write").tasks
    for revision in range(6):
        clock.move(minutes=40)
        with store.write() as tx:
            save_draft(tx, lent.assignment_id, first, revision=revision, content={"text": "It"})
    assert get(store, project_id, second, "write").status == "waiting"
    assert agrees(store, project_id)


def test_a_task_shows_no_label_and_no_origin(store: Store) -> None:
    project_id = meadow(store, news=1)
    written(store, project_id)
    [verifier] = join(store, project_id, "verifier", 1)
    [lent] = get(store, project_id, verifier).tasks
    assert set(vars(lent)) == {
        "assignment_id", "project_id", "kind", "condition", "premise", "genre", "hypothesis", "expires_at",
        "earlier", "responses", "suggestion",
    }  # fmt: skip
    assert lent.suggestion is None
    assert (lent.kind, lent.condition, lent.genre, lent.earlier) == ("verify", "", "", None)


def test_someone_elses_task_does_not_exist(store: Store) -> None:
    project_id = meadow(store)
    first, second = join(store, project_id, "writer", 2)
    [lent] = get(store, project_id, first, "write").tasks
    with store.write() as tx:
        for act in (task, skip):
            with pytest.raises(Missing, match=f"there is no task {lent.assignment_id}"):
                act(tx, lent.assignment_id, second)
        with pytest.raises(Missing):
            vote(tx, lent.assignment_id, first, key="k", label="neutral")


def test_work_needs_its_role(store: Store) -> None:
    project_id = meadow(store)
    [writer] = join(store, project_id, "writer", 1)
    with store.write() as tx, pytest.raises(Forbidden, match="this is for a verifier"):
        claim(tx, project_id, writer, "verify")
    with store.write() as tx, pytest.raises(InputError, match="no work of kind 'tag'; allowed: write, verify"):
        claim(tx, project_id, writer, "tag")


def test_each_condition_has_its_own_queue_over_the_same_pool(store: Store) -> None:
    project_id = meadow(store, small_protocol("single,multi", share=0), news=3)
    join(store, project_id, "verifier", 1)
    [single] = join(store, project_id, "writer", 1, condition="single")
    [multi] = join(store, project_id, "writer", 1, condition="multi")
    assert write_all(store, project_id, [single, multi]) == 6
    with store.read() as tx:
        rows = tx.all(select(assignments))
    assert Counter(row.premise_id for row in rows) == Counter(dict.fromkeys({row.premise_id for row in rows}, 2))


def test_a_condition_added_later_gets_the_whole_pool(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", share=0), news=3)
    written(store, project_id)
    with store.write() as tx:
        configure(tx, project_id, small_protocol("single,multi", share=0), by=None)
    [multi] = join(store, project_id, "writer", 1, condition="multi")
    assert write_all(store, project_id, [multi]) == 3
    with store.write() as tx:
        add_premises(tx, project_id, pool({"talks": 2}), by=None)
        assert {line.waiting for line in queue_progress(tx, project_id) if line.genre == "talks"} == {2}
        assert project(tx, project_id).protocol.conditions[1].name == "multi"
    assert agrees(store, project_id)


def test_nothing_that_people_wait_for_reads_a_whole_table(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    protocol = small_protocol("single", verifiers=2)
    protocol = replace(protocol, qualification=replace(protocol.qualification, gold_rate=0.5))
    project_id = meadow(store, protocol, news=4, letters=2)
    with store.write() as tx:
        gold = [NewPair(premise="It rained.", hypothesis=f"It is neutral {n}.", label="neutral") for n in range(9)]
        import_pairs(tx, project_id, gold, origin="gold", by=None)
    asked: list[tuple[str, object]] = []
    writers, verifiers = join(store, project_id, "writer", 2), join(store, project_id, "verifier", 2)
    with store.write() as tx:

        @event.listens_for(tx.connection.engine, "before_cursor_execute")
        def note(_: object, __: object, statement: str, values: object, *___: object) -> None:
            asked.append((statement, values))

    write_all(store, project_id, writers)
    verify_all(store, project_id, verifiers)
    with store.write() as tx:
        undo(tx, project_id, verifiers[0])
        claim(tx, project_id, verifiers[1], "verify")
    statements = {one: values for one, values in asked if one.startswith(("SELECT", "UPDATE", "DELETE"))}
    large = ("tasks", "assignments", "answers", "pairs", "premises", "events", "ledger")
    with store.write() as tx:
        for statement, values in statements.items():
            plan = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()  # type: ignore[arg-type]
            assert not [row for row in plan if row[3].startswith("SCAN") and row[3].split()[1] in large], statement
    store.close()
    assert len(statements) > 30

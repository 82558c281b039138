"""Whatever people do and in whatever order: the laws of the store hold at every step, and work comes to its end."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project, set_state
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.money.by_hand import give, reverse
from goldlabel.collect.money.ledger import lines, totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import add_member
from goldlabel.collect.people.rejection import carry_out, decide
from goldlabel.collect.people.rejection import take_back as take_back_decision
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.schema import answers, assignments, pairs, tasks
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.answering import Receipt
from goldlabel.collect.work.assignment import claim, skip, take_up
from goldlabel.collect.work.drafts import save_draft
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import draw_verification, undo, vote
from goldlabel.collect.work.writing import mark_unusable, submit
from tests.collect.campaign import join, small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.postgres import empty
from tests.collect.test_assignment import pool
from tests.collect.test_writing import hypotheses

VOTES = 2
PEOPLE = st.integers(0, 5)
KEYS = st.sampled_from(["a", "b"])
LABELS = st.sampled_from(["entailment", "neutral", "contradiction", "unrelated"])


class Collection(RuleBasedStateMachine):
    """Six people: two write, two write and verify, two verify."""

    make: Callable[[MovableClock], Store]
    done: Callable[[], None]

    def __init__(self) -> None:
        super().__init__()
        self.clock = MovableClock()
        self.store = self.make(self.clock)
        self.protocol = small_protocol("single", share=0.5, verifiers=VOTES)
        rules = replace(self.protocol.qualification, gold_rate=0.3)
        self.protocol = replace(
            self.protocol,
            qualification=rules,
            verifying=replace(self.protocol.verifying, foreign=2),
            writing=replace(self.protocol.writing, cap=4, lease_seconds=900),
        )
        with self.store.write() as tx:
            self.project_id = create_project(tx, "meadow", self.protocol, seed=9).id
            add_premises(tx, self.project_id, pool({"news": 3, "letters": 2}), by=None)
            for origin in ("foreign", "gold"):
                new = [NewPair(premise=f"{origin} rain {n}.", hypothesis="Wet.", label="neutral") for n in range(3)]
                import_pairs(tx, self.project_id, new, origin=origin, by=None)
        self.people = join(self.store, self.project_id, "writer", 4) + join(self.store, self.project_id, "verifier", 2)
        with self.store.write() as tx:
            for person_id in self.people[2:4]:
                add_member(tx, self.project_id, person_id, "verifier", by=None)
        self.paused = False
        self.given: dict[tuple[int, str], int] = {}
        self.expected: Counter[int] = Counter()
        self.decided: list[tuple[int, int, int]] = []

    def teardown(self) -> None:
        try:
            self.drain()
        finally:
            self.store.close()
            self.done()

    def assigned(self, person: int, choice: int, kinds: tuple[str, ...]) -> int | None:
        """Any task that a person ever had of some kinds, whatever became of it."""
        with self.store.read() as tx:
            own = (assignments.c.person_id == self.people[person], assignments.c.kind.in_(kinds))
            ids = [row.id for row in tx.all(select(assignments.c.id).where(*own).order_by(assignments.c.id))]
        return ids[choice % len(ids)] if ids else None

    @rule(person=PEOPLE, kind=st.sampled_from(["write", "verify"]), hold=st.integers(1, 2))
    def ask(self, person: int, kind: str, hold: int) -> None:
        person = person % 4 if kind == "write" else 2 + person % 4
        with self.store.write() as tx:
            before = {row.id for row in tx.all(select(assignments.c.id))}
            got = claim(tx, self.project_id, self.people[person], kind, hold=hold)
            new = {row.id for row in tx.all(select(assignments.c.id))} - before
        assert (got.status == "ok") == bool(got.tasks)
        assert all(one.expires_at > self.clock.now for one in got.tasks)
        assert (got.until is not None) == (got.status == "waiting")
        assert not (self.paused and new)

    @rule(person=PEOPLE, kind=st.sampled_from(["write", "verify"]), key=KEYS, label=LABELS)
    def work(self, person: int, kind: str, key: str, label: str) -> None:
        """Ask for a task and answer it."""
        person = person % 4 if kind == "write" else 2 + person % 4
        with self.store.write() as tx:
            got = claim(tx, self.project_id, self.people[person], kind).tasks
        if got:
            self.send(person, got[0].assignment_id, key, kind, label)

    @rule(person=PEOPLE, other=PEOPLE, kind=st.sampled_from(["write", "verify"]), key=KEYS, label=LABELS)
    def come_late(self, person: int, other: int, kind: str, key: str, label: str) -> None:
        """Ask for a task, be away until someone else may have it, and answer then."""
        first, second = (number % 4 if kind == "write" else 2 + number % 4 for number in (person, other))
        with self.store.write() as tx:
            got = claim(tx, self.project_id, self.people[first], kind).tasks
        self.clock.move(minutes=16)
        self.ask(second, kind, 2)
        if got:
            self.send(first, got[0].assignment_id, key, kind, label)

    @rule(
        person=PEOPLE,
        choice=st.integers(0, 9),
        key=KEYS,
        kind=st.sampled_from(["write", "refuse", "verify"]),
        label=LABELS,
    )
    def answer_any(self, person: int, choice: int, key: str, kind: str, label: str) -> None:
        """Answer a task that one had at any time."""
        kinds = ("verify", "gold") if kind == "verify" else ("write",)
        assignment_id = self.assigned(person, choice, kinds)
        if assignment_id is not None:
            self.send(person, assignment_id, key, kind, label)

    @precondition(lambda self: self.given)
    @rule(choice=st.integers(0, 99), label=LABELS)
    def send_again(self, choice: int, label: str) -> None:
        """Send what was sent before, as a page does that never heard back."""
        assignment_id, key = sorted(self.given)[choice % len(self.given)]
        with self.store.read() as tx:
            row = tx.one(select(assignments).where(assignments.c.id == assignment_id))
        assert row is not None
        kind = "write" if row.kind == "write" else "verify"
        self.send(self.people.index(row.person_id), assignment_id, key, kind, label)

    def send(self, person: int, assignment_id: int, key: str, kind: str, label: str) -> None:
        """Send an answer; the model knows what must become of it."""
        person_id = self.people[person]
        with self.store.read() as tx:
            own = tx.one(select(assignments).where(assignments.c.id == assignment_id))
            assert own is not None
            task = tx.one(select(tasks).where(tasks.c.id == own.task_id))
            assert task is not None
        state, lapsed = own.state, task.state == "leased" and task.lease_until <= self.clock.now
        counts = state == "leased" or task.state == "open" or lapsed
        known = self.given.get((assignment_id, key))
        try:
            with self.store.write() as tx:
                receipt = self.answer(tx, assignment_id, person_id, key, kind, label)
        except Conflict:
            assert known is None
            assert state not in ("leased", "passed")
            return
        assert receipt.repeated == (known is not None)
        if known is not None:
            assert receipt.answer_id == known
            return
        self.given[assignment_id, key] = receipt.answer_id
        assert receipt.state == ("counted" if counts else "late")
        if receipt.state == "counted":
            self.expected[person_id] += {"write": 90, "refuse": 0, "verify": 20}[kind]

    def answer(self, tx: Transaction, assignment_id: int, person_id: int, key: str, kind: str, label: str) -> Receipt:
        if kind == "write":
            return submit(tx, assignment_id, person_id, key=key, hypotheses=hypotheses())
        if kind == "refuse":
            return mark_unusable(tx, assignment_id, person_id, key=key, note="torn")
        return vote(tx, assignment_id, person_id, key=key, label=label)

    @rule(person=st.integers(2, 5))
    def take_back(self, person: int) -> None:
        person_id = self.people[person]
        with self.store.read() as tx:
            own = (answers.c.person_id == person_id, answers.c.kind != "write")
            last = tx.one(select(answers).where(*own).order_by(answers.c.id.desc()).limit(1))
        try:
            with self.store.write() as tx:
                back = undo(tx, self.project_id, person_id)
        except Conflict:
            assert last is None or last.state != "counted"
            return
        assert last is not None
        assert back.assignment_id == last.assignment_id
        self.expected[person_id] -= 20

    @rule(person=PEOPLE, choice=st.integers(0, 9))
    def pass_over(self, person: int, choice: int) -> None:
        assignment_id = self.assigned(person, choice, ("write", "verify", "gold"))
        if assignment_id is not None:
            try:
                with self.store.write() as tx:
                    skip(tx, assignment_id, self.people[person])
            except Conflict:
                pass

    @rule(person=PEOPLE, choice=st.integers(0, 9))
    def think_again(self, person: int, choice: int) -> None:
        """Take up what was skipped, if it is still free."""
        assignment_id = self.assigned(person, choice, ("write", "verify", "gold"))
        if assignment_id is not None:
            try:
                with self.store.write() as tx:
                    assert take_up(tx, assignment_id, self.people[person]).expires_at > self.clock.now
            except Conflict:
                pass

    @rule(person=st.integers(0, 3), choice=st.integers(0, 9), revision=st.integers(0, 3))
    def type_on(self, person: int, choice: int, revision: int) -> None:
        assignment_id = self.assigned(person, choice, ("write",))
        if assignment_id is not None:
            try:
                with self.store.write() as tx:
                    stands = save_draft(tx, assignment_id, self.people[person], revision=revision, content={})
                assert stands >= revision
            except Conflict:
                pass

    @rule(minutes=st.sampled_from([1, 6, 11, 16]))
    def wait(self, minutes: int) -> None:
        self.clock.move(minutes=minutes)

    @rule(now=st.sampled_from([True, False, False, False]))
    def pause_or_go_on(self, now: bool) -> None:
        self.paused = now
        with self.store.write() as tx:
            set_state(tx, self.project_id, "paused" if self.paused else "running", by=None)

    @rule(share=st.sampled_from([0.5, 1.0]))
    def draw(self, share: float) -> None:
        changed = replace(self.protocol, verifying=replace(self.protocol.verifying, share=share))
        with self.store.write() as tx:
            configure(tx, self.project_id, changed, by=None)
            assert draw_verification(tx, self.project_id) == 0

    @rule(person=PEOPLE, key=KEYS)
    def reward(self, person: int, key: str) -> None:
        person_id = self.people[person]
        with self.store.write() as tx:
            before = len(lines(tx, self.project_id, person_id=person_id))
            give(
                tx,
                self.project_id,
                person_id,
                kind="bonus",
                amount=Decimal(1),
                reason="kind",
                key=f"{key}{person}",
                by=None,
            )
            self.expected[person_id] += 100 * (len(lines(tx, self.project_id, person_id=person_id)) - before)

    @precondition(lambda self: any(self.expected.values()))
    @rule(person=PEOPLE)
    def take_reward_back(self, person: int) -> None:
        person_id = self.people[person]
        with self.store.write() as tx:
            bonuses = [line for line in lines(tx, self.project_id, person_id=person_id) if line.kind == "bonus"]
            reversed_before = {line.reverses for line in lines(tx, self.project_id)}
            for line in bonuses[:1]:
                reverse(tx, self.project_id, line.id, reason="mistake", by=None)
                self.expected[person_id] -= 100 * (line.id not in reversed_before)

    @rule(person=PEOPLE, works=st.sampled_from([("write",), ("verify",), ("write", "verify")]))
    def reject(self, person: int, works: tuple[str, ...]) -> None:
        person_id = self.people[person]
        with self.store.write() as tx:
            counted = tx.all(select(answers).where(answers.c.person_id == person_id, answers.c.state == "counted"))
            try:
                decision_id = decide(tx, self.project_id, person_id, "reject", reason="hasty", by=None, works=works)
            except Conflict:
                return
        carry_out(self.store, self.project_id, decision_id, by=None)
        lost = sum(
            20 if row.kind != "write" else 90 * (row.label is None)
            for row in counted
            if ("write" if row.kind == "write" else "verify") in works
        )
        self.expected[person_id] -= lost
        self.decided.append((decision_id, person_id, lost))

    @precondition(lambda self: self.decided)
    @rule(choice=st.integers(0, 9))
    def think_better_of_it(self, choice: int) -> None:
        decision_id, person_id, lost = self.decided.pop(choice % len(self.decided))
        with self.store.write() as tx:
            take_back_decision(tx, self.project_id, decision_id, by=None)
        carry_out(self.store, self.project_id, decision_id, by=None)
        self.expected[person_id] += lost

    @invariant()
    def events_agree_with_tables(self) -> None:
        with self.store.read() as tx:
            assert check(tx, self.project_id) == []

    @invariant()
    def pay_is_what_the_counted_answers_earn(self) -> None:
        with self.store.read() as tx:
            owed = {key: value for key, value in totals(tx, self.project_id).items() if value}
        assert owed == {key: Decimal(value) / 100 for key, value in self.expected.items() if value}

    @invariant()
    def nobody_sees_anything_twice_or_their_own(self) -> None:
        with self.store.read() as tx:
            had = tx.all(select(assignments, pairs.c.writer_id).outerjoin(pairs, pairs.c.id == assignments.c.pair_id))
            votes = tx.all(select(answers).where(answers.c.kind == "verify", answers.c.state == "counted"))
        items = Counter((row.person_id, row.kind == "write", row.premise_id, row.pair_id) for row in had)
        assert not items or max(items.values()) == 1
        assert not [row for row in had if row.writer_id == row.person_id]
        assert all(count <= VOTES for count in Counter(row.pair_id for row in votes).values())
        leased = Counter(row.task_id for row in had if row.state == "leased")
        assert not leased or max(leased.values()) == 1

    def drain(self) -> None:
        """Let fresh people finish: everything is written, and every drawn pair has exactly its votes."""
        self.clock.move(days=1)
        with self.store.write() as tx:
            set_state(tx, self.project_id, "running", by=None)
        writers = join(self.store, self.project_id, "writer", 2, exclusive=True)
        self.finish(writers, "write")
        with self.store.write() as tx:
            draw_verification(tx, self.project_id)
            for person_id in [*writers, *self.people[:2]]:
                add_member(tx, self.project_id, person_id, "verifier", by=None)
        self.finish([*writers, *self.people, *join_more(self.store, self.project_id)], "verify")
        with self.store.read() as tx:
            left = [row for row in tx.all(select(tasks)) if row.state in ("open", "leased")]
            votes = Counter(
                row.pair_id
                for row in tx.all(select(answers).where(answers.c.kind == "verify", answers.c.state == "counted"))
            )
            live = pairs.c.state == "counted"
            drawn = [row.id for row in tx.all(select(pairs.c.id).where(live, pairs.c.draw_number.is_not(None)))]
            assert check(tx, self.project_id) == []
        self.nobody_sees_anything_twice_or_their_own()
        assert left == []
        assert {pair_id: votes[pair_id] for pair_id in drawn} == dict.fromkeys(drawn, VOTES)

    def finish(self, people: list[int], kind: str) -> None:
        for person_id in people:
            while True:
                with self.store.write() as tx:
                    got = claim(tx, self.project_id, person_id, kind)
                    if not got.tasks:
                        break
                    self.answer(tx, got.tasks[0].assignment_id, person_id, "end", kind, "neutral")


def join_more(store: Store, project_id: int) -> list[int]:
    """Two people who have seen nothing."""
    with store.write() as tx:
        found = [create_account(tx, f"fresh-{number}", "not a hash") for number in range(2)]
        for person_id in found:
            add_member(tx, project_id, person_id, "verifier", by=None)
    return found


def play(make: Callable[[MovableClock], Store], done: Callable[[], None], *, games: int) -> None:
    machine = type("Collection", (Collection,), {"make": staticmethod(make), "done": staticmethod(done)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=games, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_the_laws_hold_on_sqlite() -> None:
    folders: list[tempfile.TemporaryDirectory[str]] = []

    def make(clock: MovableClock) -> Store:
        folders.append(tempfile.TemporaryDirectory())
        return Store.create(Path(folders[-1].name) / "collection", clock=clock)

    play(make, lambda: folders.pop().cleanup(), games=15)
    assert folders == []


def test_the_laws_hold_on_postgresql(shared_database: str) -> None:
    play(lambda clock: Store.open(shared_database, clock=clock), lambda: empty(shared_database), games=5)

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.money.ledger import lines, totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.schema import answers, pairs, premises, subsets, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.work.drawing import draw_subset, lock_subset, place
from goldlabel.collect.work.verifying import draw_verification, undo, vote
from goldlabel.errors import InputError
from tests.collect.campaign import bring_pairs, join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import agrees, answer, get, meadow, written

LABELS = ("entailment", "neutral", "contradiction")


def drawn(store: Store, project_id: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Pairs and drawn pairs of each subset."""
    with store.read() as tx:
        query = (
            select(subsets.c.condition, subsets.c.genre, func.count(), func.count(pairs.c.draw_number))
            .join(pairs, pairs.c.subset_id == subsets.c.id)
            .where(subsets.c.project_id == project_id)
            .group_by(subsets.c.condition, subsets.c.genre)
        )
        return {(row[0], row[1]): (row[2], row[3]) for row in tx.all(query)}


def shared(protocol: Protocol, share: float, **changes: int) -> Protocol:
    return replace(protocol, verifying=replace(protocol.verifying, share=share, **changes))


def test_a_share_of_each_subset_is_drawn_as_pairs_come_in(store: Store) -> None:
    project_id = meadow(store, small_protocol("single,multi", share=0.15), news=7, letters=5)
    for condition in ("single", "multi"):
        write_all(store, project_id, join(store, project_id, "writer", 1, condition=condition))
    found = drawn(store, project_id)
    assert {key: n for key, (n, _) in found.items()} == {
        ("single", "news"): 21, ("single", "letters"): 15, ("multi", "news"): 63, ("multi", "letters"): 45,
    }  # fmt: skip
    for n, chosen in found.values():
        assert chosen in (floor(Fraction("0.15") * n), ceil(Fraction("0.15") * n))
    with store.write() as tx:
        assert draw_verification(tx, project_id) == 0
    assert agrees(store, project_id)


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12), share=st.sampled_from([0.0, 0.15, 0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_the_count_is_exact_at_every_moment(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], share: float
) -> None:
    store = Store.create(tmp_path_factory.mktemp("draws"))
    with store.write() as tx:
        made = create_project(tx, "meadow", small_protocol("single", share=share))
        premise_id = tx.insert(premises, project_id=made.id, text="Rain.", genre="news", created_at=tx.now)
        subset_id = lock_subset(tx, made.id, "written", "single", "news")
        row = {"project_id": made.id, "premise_id": premise_id, "hypothesis": "Wet.", "label": "neutral"}
        for n in sizes:
            place(tx, subset_id, [row] * n)
            draw_subset(tx, made, subset_id, None)
            size, chosen = tx.one(select(func.count(), func.count(pairs.c.draw_number)))  # type: ignore[misc]
            assert floor(Fraction(str(share)) * size) <= chosen <= ceil(Fraction(str(share)) * size)
        numbers = [one.draw_number for one in tx.all(select(pairs.c.draw_number)) if one.draw_number]
        assert sorted(numbers) == list(range(1, chosen + 1))
    store.close()


def test_every_pair_has_the_same_chance_whenever_it_came(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = Store.create(tmp_path_factory.mktemp("chance"))
    counts: Counter[int] = Counter()
    with store.write() as tx:
        for seed in range(300):
            made = create_project(tx, f"meadow {seed}", small_protocol("single", share=0.2), seed=seed)
            premise_id = tx.insert(premises, project_id=made.id, text="Rain.", genre="", created_at=tx.now)
            subset_id = lock_subset(tx, made.id, "written", "single", "")
            row = {"project_id": made.id, "premise_id": premise_id, "hypothesis": "Wet.", "label": "neutral"}
            for _ in range(4):
                place(tx, subset_id, [row] * 3)
                draw_subset(tx, made, subset_id, None)
            chosen = select(pairs.c.number).where(pairs.c.subset_id == subset_id, pairs.c.draw_number.is_not(None))
            counts.update((one.number - 1) // 3 for one in tx.all(chosen))
    store.close()
    # 300 projects of 12 pairs in four rounds: 180 draws are expected of each round, 12 the standard deviation
    assert all(130 <= counts[round_] <= 230 for round_ in range(4))


def test_a_larger_share_or_more_verifiers_later_tops_up(store: Store) -> None:
    protocol = small_protocol("single", share=0.2, verifiers=2)
    project_id = meadow(store, protocol, news=10)
    written(store, project_id)
    assert drawn(store, project_id) == {("single", "news"): (30, 6)}
    verifiers = join(store, project_id, "verifier", 3)
    assert verify_all(store, project_id, verifiers) == 12
    with store.write() as tx:
        configure(tx, project_id, shared(protocol, 0.5, verifiers=3), by=None)
    assert drawn(store, project_id) == {("single", "news"): (30, 15)}
    assert verify_all(store, project_id, verifiers) == 15 * 3 - 12
    assert agrees(store, project_id)


def test_the_same_seed_draws_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    runs = []
    for _ in range(2):
        store = Store.create(tmp_path_factory.mktemp("seeded"))
        project_id = meadow(store, small_protocol("single", share=0.3), news=6, letters=6)
        written(store, project_id)
        with store.read() as tx:
            texts = select(pairs.c.hypothesis, pairs.c.draw_number).order_by(pairs.c.id)
            runs.append([tuple(row) for row in tx.all(texts)])
        store.close()
    assert runs[0] == runs[1]


def test_votes_are_stored_and_paid_once(store: Store) -> None:
    project_id = meadow(store, news=1)
    written(store, project_id)
    [verifier] = join(store, project_id, "verifier", 1)
    [lent] = get(store, project_id, verifier).tasks
    with store.write() as tx:
        first = vote(tx, lent.assignment_id, verifier, key="a", label="unrelated", seconds=2.5)
        again = vote(tx, lent.assignment_id, verifier, key="a", label="neutral")
        assert (first.label, first.amount, first.repeated) == ("unrelated", Decimal("0.20"), False)
        assert (again.label, again.answer_id, again.repeated) == ("unrelated", first.answer_id, True)
    with store.write() as tx, pytest.raises(Conflict, match="answered before"):
        vote(tx, lent.assignment_id, verifier, key="b", label="neutral")
    with store.read() as tx:
        assert [row.seconds for row in tx.all(select(answers).where(answers.c.kind == "verify"))] == [2.5]
        assert totals(tx, project_id)[verifier] == Decimal("0.20")


def test_an_answer_that_is_none_is_refused(store: Store) -> None:
    project_id = meadow(store, news=1)
    written(store, project_id)
    [verifier] = join(store, project_id, "verifier", 1)
    [lent] = get(store, project_id, verifier).tasks
    message = "answer 'maybe' is not one of entailment, neutral, contradiction, unrelated, incomprehensible"
    with store.write() as tx, pytest.raises(InputError, match=message):
        vote(tx, lent.assignment_id, verifier, key="a", label="maybe")


def test_the_last_answer_can_be_taken_back(store: Store) -> None:
    project_id = meadow(store, news=2)
    written(store, project_id)
    first, second = join(store, project_id, "verifier", 2)
    earlier, later = get(store, project_id, first, hold=2).tasks
    answer(store, first, earlier.assignment_id)
    answer(store, first, later.assignment_id, "entailment")
    with store.write() as tx:
        back = undo(tx, project_id, first)
    assert (back.assignment_id, back.hypothesis) == (later.assignment_id, later.hypothesis)
    with store.write() as tx, pytest.raises(Conflict, match="taken back already; only one can be"):
        undo(tx, project_id, first)
    with store.read() as tx:
        assert totals(tx, project_id)[first] == Decimal("0.20")
        assert [line.kind for line in lines(tx, project_id, person_id=first)] == ["base", "base", "reversal"]
        assert check(tx, project_id) == []
    assert get(store, project_id, first).tasks == [back]
    with store.write() as tx:
        # The first try of the undone answer, sent again by a page that never heard back, changes nothing.
        assert vote(tx, later.assignment_id, first, key="k", label="entailment").state == "undone"
        assert vote(tx, later.assignment_id, first, key="new", label="neutral").state == "counted"
        assert totals(tx, project_id)[first] == Decimal("0.40")
    with store.write() as tx, pytest.raises(Conflict, match="there is no answer to take back"):
        undo(tx, project_id, second)
    assert agrees(store, project_id)


def test_what_is_taken_back_and_left_goes_to_someone_else(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    written(store, project_id)
    first, second = join(store, project_id, "verifier", 2)
    verify_all(store, project_id, [first])
    with store.write() as tx:
        back = undo(tx, project_id, first)
    assert get(store, project_id, second).until == back.expires_at
    clock.move(minutes=10)
    [passed] = get(store, project_id, second).tasks
    assert passed.hypothesis == back.hypothesis
    assert answer(store, second, passed.assignment_id) == "counted"
    with store.write() as tx:
        assert vote(tx, back.assignment_id, first, key="again", label="neutral").state == "late"
    with store.write() as tx, pytest.raises(Conflict, match="came late and is not counted"):
        undo(tx, project_id, first)
    assert agrees(store, project_id)


def test_foreign_pairs_are_mixed_in_and_look_like_any_other(store: Store) -> None:
    protocol = small_protocol("single", verifiers=2)
    project_id = meadow(store, shared(protocol, 1.0, foreign=4), news=2)
    written(store, project_id)
    bring_pairs(store, project_id, 9, origin="foreign", labels=LABELS)
    verifiers = join(store, project_id, "verifier", 2)
    order = []
    for _ in range(10):
        [lent] = get(store, project_id, verifiers[0]).tasks
        order.append("tale" in lent.premise)
        assert answer(store, verifiers[0], lent.assignment_id) == "counted"
    assert Counter(order) == {True: 4, False: 6}
    assert order != sorted(order)
    verify_all(store, project_id, verifiers, lambda *_: "neutral")
    with store.read() as tx:
        assert set(totals(tx, project_id).values()) >= {Decimal("2.00")}
        assert check(tx, project_id) == []


def test_a_sample_of_imported_pairs_is_judged(store: Store) -> None:
    protocol = make_protocol("human-baseline", "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    with store.write() as tx:
        project_id = create_project(tx, "meadow", shared(protocol, 1.0, sample=5, verifiers=2), seed=1).id
    bring_pairs(store, project_id, 12, origin="imported", labels=LABELS)
    people = join(store, project_id, "verifier", 3)
    assert verify_all(store, project_id, people) == 10
    with store.write() as tx:
        assert draw_verification(tx, project_id) == 0
    with pytest.raises(InputError, match="nobody writes in a project of kind 'human-baseline'"):
        join(store, project_id, "writer", 1)


def test_every_pair_is_vetted_on_the_five_steps(store: Store) -> None:
    protocol = make_protocol("vetting", "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    with store.write() as tx:
        project_id = create_project(tx, "meadow", protocol, seed=1).id
    bring_pairs(store, project_id, 4, origin="imported", labels=("-",))
    people = join(store, project_id, "verifier", 3)
    assert verify_all(store, project_id, people, lambda *_: "technically_possible") == 12
    assert agrees(store, project_id)


@pytest.mark.parametrize(
    ("pair", "origin", "message"),
    [
        (
            NewPair(premise="Rain.", hypothesis="Wet.", label="maybe", original_id="x1"),
            "foreign",
            r"pair 2 \(x1\): label 'mayb",
        ),
        (NewPair(premise="Rain.", hypothesis=" ", label="neutral"), "foreign", "hypothesis is empty"),
        (NewPair(premise="Rain.", hypothesis="Wet."), "gold", "label '-' is not one of"),
        (NewPair(premise="Rain.", hypothesis="Wet."), "imported", "import pairs as foreign or gold"),
        (NewPair(premise="Rain.", hypothesis="Wet."), "stolen", "allowed: imported, foreign, gold"),
    ],
)
def test_imports_that_cannot_be(store: Store, pair: NewPair, origin: str, message: str) -> None:
    project_id = meadow(store)
    good = NewPair(premise="Rain.", hypothesis="Wet.", label="neutral")
    with pytest.raises(InputError, match=message), store.write() as tx:
        import_pairs(tx, project_id, [good, pair], origin=origin, by=None)
    with store.read() as tx:
        assert tx.all(select(pairs)) == []


def test_pairs_of_one_premise_share_it(store: Store) -> None:
    project_id = meadow(store, shared(small_protocol("single"), 1.0, foreign=9), news=1)
    new = [NewPair(premise="Rain fell.", hypothesis=f"Wet {n}.", label="neutral") for n in range(3)]
    with store.write() as tx:
        assert import_pairs(tx, project_id, new, origin="foreign", by=None) == 3
        assert len({row.premise_id for row in tx.all(select(pairs))}) == 1
        assert tx.value(select(func.count()).where(tasks.c.kind == "write")) == 1
        assert project(tx, project_id).name == "meadow"

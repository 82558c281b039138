from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.people import add_member, roles, set_member
from goldlabel.collect.people.qualification import allow_attempt, answer_training, people_overview, training, trust
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.refusals import Conflict, Missing
from goldlabel.collect.schema import answers, training_answers
from goldlabel.collect.store import Store
from goldlabel.collect.texts import training_examples
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.errors import InputError
from goldlabel.metrics import wilson
from tests.collect.campaign import join, small_protocol, verify_all, write_all
from tests.collect.test_assignment import agrees, get, meadow, pool


def qualified(protocol: Protocol | None = None, **changes: object) -> Protocol:
    protocol = protocol or small_protocol("single", verifiers=1)
    return replace(protocol, qualification=replace(protocol.qualification, **changes))


def train(store: Store, project_id: int, person_id: int, protocol: Protocol, *, wrong: int) -> str:
    shown = training_examples(protocol, "writer")
    for number, example in shown.items():
        other = next(label for label in protocol.answers if label != example.label)
        with store.write() as tx:
            right = answer_training(
                tx, project_id, person_id, "writer", number, other if number < wrong else example.label
            )
            assert right == (number >= wrong)
    with store.read() as tx:
        return training(tx, project_id, person_id, "writer").state


@pytest.mark.parametrize(("wrong", "state"), [(0, "passed"), (1, "passed"), (2, "failed")])
def test_training_comes_before_work(store: Store, wrong: int, state: str) -> None:
    protocol = qualified(training=5, threshold=0.8)
    project_id = meadow(store, protocol, news=1)
    [writer] = join(store, project_id, "writer", 1)
    assert get(store, project_id, writer, "write").status == "unqualified"
    assert train(store, project_id, writer, protocol, wrong=wrong) == state
    assert get(store, project_id, writer, "write").status == ("ok" if state == "passed" else "unqualified")


def test_the_first_answer_to_an_example_stands(store: Store) -> None:
    protocol = qualified(training=5)
    project_id = meadow(store, protocol, news=1)
    [writer] = join(store, project_id, "writer", 1)
    [first, *_] = training_examples(protocol, "writer").values()
    with store.write() as tx:
        assert not answer_training(tx, project_id, writer, "writer", 0, "unrelated")
        assert not answer_training(tx, project_id, writer, "writer", 0, first.label)
        stands = training(tx, project_id, writer, "writer")
        assert (stands.state, stands.given, stands.right, stands.total) == ("open", {0: "unrelated"}, 0, 5)
        assert len(tx.all(select(training_answers))) == 1
        with pytest.raises(InputError, match="no training example 5 for writer; allowed: 0, 1, 2, 3, 4"):
            answer_training(tx, project_id, writer, "writer", 5, "neutral")
        with pytest.raises(InputError, match="answer 'maybe' is not one of entailment"):
            answer_training(tx, project_id, writer, "writer", 1, "maybe")
        with pytest.raises(Missing):
            answer_training(tx, project_id, writer + 1, "writer", 1, "neutral")


def test_who_has_two_roles_is_trained_for_each_by_its_own_examples(store: Store) -> None:
    protocol = make_protocol("adversarial", "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=14, threshold=1.0))
    with store.write() as tx:
        project_id = create_project(tx, "rounds", protocol).id
    [person] = join(store, project_id, "writer", 1)
    with store.write() as tx:
        add_member(tx, project_id, person, "verifier", by=None)

    def practise(role: str, *, right: bool) -> str:
        with store.write() as tx:
            for number, example in training_examples(protocol, role).items():
                label = example.label if right else "incomprehensible"
                answer_training(tx, project_id, person, role, number, label)
            return training(tx, project_id, person, role).state

    def overall() -> tuple[str, int, int]:
        with store.read() as tx:
            (one,) = people_overview(tx, project_id)
        return one.training.state, one.training.right, one.training.total

    assert practise("writer", right=True) == "passed"
    assert overall() == ("open", 14, 26), "two of the examples are for both"
    assert practise("verifier", right=False) == "failed"
    with store.write() as tx:
        allow_attempt(tx, project_id, person, by=None)
    assert practise("verifier", right=True) == "passed"
    assert overall()[0] == "passed"
    with store.read() as tx:
        assert training(tx, project_id, person, "writer").state == "passed", "what was passed stays so"


def test_the_requester_can_allow_another_attempt(store: Store) -> None:
    protocol = qualified(training=4, threshold=1.0)
    project_id = meadow(store, protocol, news=1)
    [writer] = join(store, project_id, "writer", 1)
    assert train(store, project_id, writer, protocol, wrong=1) == "failed"
    with store.write() as tx:
        assert not answer_training(tx, project_id, writer, "writer", 0, training_examples(protocol, "writer")[0].label)
        assert training(tx, project_id, writer, "writer").state == "failed"
    with store.write() as tx:
        allow_attempt(tx, project_id, writer, by=None)
        assert training(tx, project_id, writer, "writer").attempt == 2
    assert train(store, project_id, writer, protocol, wrong=0) == "passed"
    with store.write() as tx, pytest.raises(Conflict, match="the training is not failed"):
        allow_attempt(tx, project_id, writer, by=None)


def test_more_examples_than_there_are_is_refused_at_once(store: Store) -> None:
    with store.write() as tx, pytest.raises(InputError, match="900 training examples are asked for"):
        create_project(tx, "meadow", qualified(training=900))


def questions(store: Store, protocol: Protocol, *, count: int, premises: int = 8) -> tuple[int, int]:
    """A project with questions whose answer is ``contradiction``, everything written, and one verifier."""
    with store.write() as tx:
        project_id = create_project(tx, "meadow", protocol, seed=5).id
        add_premises(tx, project_id, pool({"news": premises}), by=None)
        new = [
            NewPair(premise=f"Question {number} about rain.", hypothesis="It is contradiction", label="contradiction")
            for number in range(count)
        ]
        import_pairs(tx, project_id, new, origin="gold", by=None)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    return project_id, join(store, project_id, "verifier", 1)[0]


def test_questions_are_sprinkled_in_and_not_counted_as_votes(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=0.3), count=40)
    done = verify_all(store, project_id, [verifier])
    with store.read() as tx:
        kinds = [row.kind for row in tx.all(select(answers).where(answers.c.person_id == verifier))]
        found = trust(tx, project_id, verifier)
        overview = {one.person_id: one for one in people_overview(tx, project_id)}[verifier]
        assert check(tx, project_id) == []
    assert kinds.count("verify") == 8 * 3
    asked = kinds.count("gold")
    assert 3 <= asked == done - 24 <= 25  # a rate of 0.3: about ten questions on the way to 24 votes
    assert (found.right, found.n, found.flagged) == (asked, asked, False)
    assert found.share == wilson(asked, asked)
    assert (overview.votes, overview.trust, overview.flags) == (24, found, [])
    assert overview.owed == Decimal("0.20") * done


def test_without_a_rate_or_without_questions_none_is_asked(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=0.0), count=5, premises=3)
    assert verify_all(store, project_id, [verifier]) == 9
    with store.read() as tx:
        assert trust(tx, project_id, verifier).share is None


def test_each_question_is_asked_once(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=1.0), count=3, premises=3)
    assert verify_all(store, project_id, [verifier]) == 3 + 9
    assert get(store, project_id, verifier).status == "finished"


def test_who_fails_the_questions_is_flagged(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=1.0, trust=0.7), count=3, premises=3)
    verify_all(store, project_id, [verifier], lambda *_: "neutral")
    with store.read() as tx:
        [flagged, unflagged] = people_overview(tx, project_id)
        assert (flagged.person_id, flagged.flags, flagged.trust.right) == (verifier, ["untrusted"], 0)
        assert unflagged.flags == []
    assert get(store, project_id, verifier).status == "finished"


def test_one_slip_flags_nobody(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=1.0, trust=0.7), count=1, premises=3)
    verify_all(store, project_id, [verifier], lambda *_: "neutral")
    with store.read() as tx:
        found = trust(tx, project_id, verifier)
    assert (found.share, found.flagged) == (wilson(0, 1), False)


def test_who_is_flagged_is_paused_where_the_project_wants_it(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=1.0, trust=0.7, pause=True), count=6, premises=3)
    assert verify_all(store, project_id, [verifier], lambda *_: "neutral") == 2
    assert get(store, project_id, verifier).status == "suspended"
    with store.write() as tx:
        assert roles(tx, project_id, verifier)["verifier"].state == "paused"
        assert people_overview(tx, project_id)[0].flags == ["untrusted", "paused"]
        set_member(tx, project_id, verifier, "verifier", state="active", by=None)
    assert get(store, project_id, verifier).status == "ok"


def test_a_question_can_be_taken_back_like_any_answer(store: Store) -> None:
    project_id, verifier = questions(store, qualified(gold_rate=1.0), count=1, premises=2)
    [asked] = get(store, project_id, verifier).tasks
    assert asked.premise == "Question 0 about rain."
    with store.write() as tx:
        vote(tx, asked.assignment_id, verifier, key="a", label="neutral")
        assert trust(tx, project_id, verifier).right == 0
        assert undo(tx, project_id, verifier).assignment_id == asked.assignment_id
        assert trust(tx, project_id, verifier).n == 0
        vote(tx, asked.assignment_id, verifier, key="b", label="contradiction")
        assert (trust(tx, project_id, verifier).right, trust(tx, project_id, verifier).n) == (1, 1)
    assert agrees(store, project_id)


def test_the_overview_tells_what_everybody_did(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=2), news=3)
    writers = join(store, project_id, "writer", 2)
    write_all(store, project_id, writers)
    verifiers = join(store, project_id, "verifier", 2)
    verify_all(store, project_id, verifiers)
    with store.read() as tx:
        found = {one.person_id: one for one in people_overview(tx, project_id)}
    assert sum(found[person_id].premises for person_id in writers) == 3
    assert sum(found[person_id].pairs for person_id in writers) == 9
    assert [found[person_id].votes for person_id in verifiers] == [9, 9]
    assert (found[writers[0]].seconds_writing, found[verifiers[0]].seconds_voting) == (30.0, 3.0)
    assert {*found[writers[0]].roles} == {"writer"}
    assert sum(one.owed for one in found.values()) == 9 * Decimal("0.30") + 18 * Decimal("0.20")

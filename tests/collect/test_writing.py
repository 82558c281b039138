from __future__ import annotations

from decimal import Decimal

import pytest
from sqlalchemy import func, select

from goldlabel.collect.money.ledger import lines
from goldlabel.collect.money.recount import check
from goldlabel.collect.refusals import BrokenRules, Conflict, Missing
from goldlabel.collect.schema import answers, pairs, premises, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.work.answering import Receipt
from goldlabel.collect.work.assignment import Assignment, claim, take_up
from goldlabel.collect.work.drafts import last_set_aside, load_draft, save_draft, set_aside
from goldlabel.collect.work.rules import Hypothesis, clean_text
from goldlabel.collect.work.writing import mark_unusable, submit
from goldlabel.errors import InputError
from tests.collect.campaign import ANIMALS, join, small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import agrees, get, meadow

GOOD = {"entailment": "Something is told here", "neutral": "The teller likes it", "contradiction": "All is silent"}


def hypotheses(**texts: str) -> list[Hypothesis]:
    return [Hypothesis(label=label, level="only", text=text) for label, text in (GOOD | texts).items()]


def write(store: Store, lent: Assignment, writer: int, key: str = "k", **options: object) -> Receipt:
    given = {"hypotheses": hypotheses(), "timings": {"total": 41.5, "entailment only": 10}} | options
    with store.write() as tx:
        return submit(tx, lent.assignment_id, writer, key=key, **given)  # type: ignore[arg-type]


def started(store: Store, name: str = "single", people: int = 1) -> tuple[int, list[int], Assignment]:
    project_id = meadow(store, small_protocol(name), news=2)
    writers = join(store, project_id, "writer", people)
    return project_id, writers, get(store, project_id, writers[0], "write").tasks[0]


def rows(store: Store, table: object) -> int:
    with store.read() as tx:
        return int(tx.value(select(func.count()).select_from(table)))  # type: ignore[arg-type]


def test_what_was_written_is_stored_with_who_and_when_and_pay(store: Store, clock: MovableClock) -> None:
    project_id, [writer], lent = started(store)
    receipt = write(store, lent, writer)
    assert (receipt.state, receipt.repeated, receipt.amount) == ("counted", False, Decimal("0.90"))
    with store.read() as tx:
        stored = tx.all(select(pairs).order_by(pairs.c.id))
        answer = tx.one(select(answers))
        paid = lines(tx, project_id)
    assert [row.id for row in stored] == receipt.pair_ids
    assert {row.label: row.hypothesis for row in stored} == GOOD
    assert {(row.writer_id, row.level, row.created_at) for row in stored} == {(writer, "only", clock.now)}
    assert answer is not None
    assert (answer.seconds, answer.timings) == (41.5, {"total": 41.5, "entailment only": 10.0})
    assert [(line.kind, line.amount, line.reason) for line in paid] == [
        ("base", Decimal("0.90"), "written 3 pairs at 0.30 USD")
    ]
    assert agrees(store, project_id)


def test_the_same_key_again_stores_nothing(store: Store) -> None:
    project_id, [writer], lent = started(store)
    first = write(store, lent, writer)
    again = write(store, lent, writer, hypotheses=hypotheses(neutral="Something else altogether"))
    assert again == Receipt(**{**vars(first), "repeated": True})
    assert (rows(store, pairs), rows(store, answers)) == (3, 1)
    assert agrees(store, project_id)


def test_another_key_for_an_answered_task_is_refused(store: Store) -> None:
    _, [writer], lent = started(store)
    write(store, lent, writer)
    with pytest.raises(Conflict, match="this task was answered before, and that answer stands; nothing was changed"):
        write(store, lent, writer, key="other")
    assert rows(store, pairs) == 3


def test_rules_are_checked_here_too(store: Store) -> None:
    project_id, [writer], lent = started(store)
    broken = hypotheses(entailment=lent.premise, neutral="")
    with pytest.raises(BrokenRules, match=r"entailment only: is the sentence it was written for.*\(1 more\)") as told:
        write(store, lent, writer, hypotheses=broken)
    assert [one.rule for one in told.value.violations] == ["same_as_premise", "missing"]
    assert (rows(store, pairs), rows(store, answers)) == (0, 0)
    write(store, lent, writer)
    assert agrees(store, project_id)


def test_the_third_hypothesis_may_be_left_out(store: Store) -> None:
    project_id = meadow(store, small_protocol("multi"), news=1)
    [writer] = join(store, project_id, "writer", 1)
    [lent] = get(store, project_id, writer, "write").tasks
    texts = [
        Hypothesis(label=label, level=level, text="" if level == "hard" else f"{animal.title()}s {label} {level}")
        for animal, label in zip(ANIMALS, GOOD, strict=False)
        for level in ("easy", "medium", "hard")
    ]
    assert len(write(store, lent, writer, hypotheses=texts).pair_ids) == 6


@pytest.mark.parametrize(
    "text", ["Éowyn riu: 𝔘 🙂 שלום", "e\u0301owyn\u200b  laughs\r\nloudly", "x\0y and a\ud800 half", "w " * 400]
)
def test_any_text_is_stored_in_one_form(store: Store, text: str) -> None:
    _, [writer], lent = started(store)
    write(store, lent, writer, hypotheses=hypotheses(neutral="Plainly " + text))
    with store.read() as tx:
        kept = tx.value(select(pairs.c.hypothesis).where(pairs.c.label == "neutral"))
    assert kept == clean_text("Plainly " + text)
    assert "\0" not in kept


def test_a_premise_can_be_marked_as_unusable(store: Store) -> None:
    project_id, [writer], lent = started(store)
    with store.write() as tx:
        with pytest.raises(InputError, match="the note has 0 characters; say in 1 to 1000 why"):
            mark_unusable(tx, lent.assignment_id, writer, key="k", note=" ")
        receipt = mark_unusable(tx, lent.assignment_id, writer, key="k", note="half a sentence")
        assert mark_unusable(tx, lent.assignment_id, writer, key="k", note="half a sentence").repeated
    assert (receipt.state, receipt.label, receipt.amount) == ("counted", "unusable", 0)
    with store.read() as tx:
        assert tx.value(select(answers.c.note)) == "half a sentence"
        unusable = tx.one(
            select(tasks, premises.c.text)
            .join(premises, premises.c.id == tasks.c.premise_id)
            .where(tasks.c.state == "unusable")
        )
        assert unusable is not None
        assert unusable.text == lent.premise
    [following] = get(store, project_id, writer, "write").tasks
    assert following.premise != lent.premise
    assert agrees(store, project_id)


def test_late_pairs_are_kept_and_neither_counted_nor_paid(store: Store, clock: MovableClock) -> None:
    project_id, [first, second], lent = started(store, people=2)
    with store.write() as tx:
        claim(tx, project_id, second, "write")
    clock.move(hours=2)
    taken = get(store, project_id, second, "write", hold=2).tasks
    assert lent.premise in {one.premise for one in taken}
    late = write(store, lent, first)
    assert (late.state, late.amount, len(late.pair_ids)) == ("late", 0, 3)
    for one in taken:
        write(store, one, second)
    with store.read() as tx:
        stored = tx.all(select(pairs.c.state, pairs.c.number, pairs.c.draw_number).order_by(pairs.c.id))
        assert check(tx, project_id) == []
    assert [tuple(row) for row in stored[:3]] == [("late", None, None)] * 3
    assert sorted(row.number for row in stored[3:]) == [1, 2, 3, 4, 5, 6]


def test_a_draft_is_kept_by_its_revision(store: Store) -> None:
    _, [writer, other], lent = started(store, people=2)
    key = lent.assignment_id
    with store.write() as tx:
        assert load_draft(tx, key, writer) is None
        assert save_draft(tx, key, writer, revision=5, content={"entailment only": "Some"}) == 5
        assert save_draft(tx, key, writer, revision=3, content={"entailment only": "So"}) == 5
        assert save_draft(tx, key, writer, revision=6, content={"entailment only": "Someth\0\ud800"}) == 6
    with store.read() as tx:
        draft = load_draft(tx, key, writer)
        assert draft is not None
        assert (draft.revision, draft.content["entailment only"][:6]) == (6, "Someth")
        with pytest.raises(Missing):
            load_draft(tx, key, other)
    write(store, lent, writer)
    with store.write() as tx:
        assert load_draft(tx, key, writer) is None
        with pytest.raises(Conflict, match="is not being written any more"):
            save_draft(tx, key, writer, revision=7, content={})


def test_a_draft_from_another_window_is_not_written_over(store: Store) -> None:
    _, [writer], lent = started(store)
    key = lent.assignment_id
    with store.write() as tx:
        assert save_draft(tx, key, writer, revision=5, content={"texts": {"a": "here"}}, base=0) == 5
        assert save_draft(tx, key, writer, revision=9, content={"texts": {"a": "there"}}, base=0) == 5
        kept = load_draft(tx, key, writer)
        assert kept is not None
        assert kept.content == {"texts": {"a": "here"}}
        assert save_draft(tx, key, writer, revision=9, content={"texts": {"a": "there"}}, base=5) == 9


def test_what_was_set_aside_can_be_taken_up_again(store: Store, clock: MovableClock) -> None:
    project_id, [writer, other], lent = started(store, people=2)
    content = {"texts": {"neutral only": "Perhaps."}}
    with store.write() as tx:
        assert last_set_aside(tx, project_id, writer) is None
        for _ in range(2):
            set_aside(tx, lent.assignment_id, writer, revision=7, content=content)
        back = last_set_aside(tx, project_id, writer)
        assert back is not None
        assert back.premise == lent.premise
        for _ in range(2):
            assert take_up(tx, lent.assignment_id, writer).assignment_id == lent.assignment_id
        kept = load_draft(tx, lent.assignment_id, writer)
        assert kept is not None
        assert kept.content == content
        assert check(tx, project_id) == []
        set_aside(tx, lent.assignment_id, writer, revision=8, content=content)
    [taken, *_] = [one for one in get(store, project_id, other, "write", hold=9).tasks if one.premise == lent.premise]
    with store.write() as tx:
        assert last_set_aside(tx, project_id, writer) is None
        with pytest.raises(Conflict, match="someone else has been given it"):
            take_up(tx, lent.assignment_id, writer)
    clock.move(hours=2)
    with store.write() as tx:
        assert take_up(tx, lent.assignment_id, writer).premise == lent.premise
    assert write(store, lent, writer).state == "counted"
    assert write(store, taken, other).state == "late"
    with store.write() as tx:
        assert check(tx, project_id) == []
        with pytest.raises(Conflict, match="cannot be taken up again"):
            take_up(tx, taken.assignment_id, other)


def test_drafts_and_times_have_bounds(store: Store) -> None:
    _, [writer], lent = started(store)
    with store.write() as tx, pytest.raises(InputError, match="the draft is longer than 100000 characters"):
        save_draft(tx, lent.assignment_id, writer, revision=1, content={"text": "x" * 100_000})
    for revision, content in ((2**70, {}), (-1, {}), (1, {"text": float("nan")})):
        with store.write() as tx, pytest.raises(InputError, match=r"a draft's revision is|holds a number that JSON"):
            save_draft(tx, lent.assignment_id, writer, revision=revision, content=content)
    for wrong in (-1, 1e300, 604801, float("nan"), float("inf"), "9", True):
        with pytest.raises(InputError, match=r"the time 'total' is .*; allowed: 0 to 604800 seconds"):
            write(store, lent, writer, timings={"total": wrong})
    with pytest.raises(InputError, match="101 times were sent; allowed: 100"):
        write(store, lent, writer, timings={str(number): 1 for number in range(101)})


@pytest.mark.parametrize("key", ["", "x" * 201, "a\0b"])
def test_keys_that_cannot_be(store: Store, key: str) -> None:
    _, [writer], lent = started(store)
    with pytest.raises(InputError, match="an answer's key has 1 to 200 printable characters"):
        write(store, lent, writer, key=key)

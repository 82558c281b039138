"""What a requester hides, edits and decides; answers that were given stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import func, select

from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.editing import edit_pair, edit_premise
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.hiding import hide_pair, hide_premise
from goldlabel.collect.data.importing.batches import add_all_premises
from goldlabel.collect.events import history
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.rejection import carry_out, decide, take_back
from goldlabel.collect.schema import answers, pairs, premises, tasks
from goldlabel.collect.store import Store
from goldlabel.collect.work.adjudication import adjudicate, ties
from goldlabel.collect.work.assignment import claim, skip
from goldlabel.collect.work.verifying import vote
from goldlabel.errors import InputError
from goldlabel.pairs import read
from tests.collect.campaign import bring_pairs, join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_importing import pool

LABELS = ("entailment", "neutral", "contradiction")


def made(store: Store, name: str = "human-baseline", count: int = 4, verifiers: int = 2) -> int:
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol(name, verifiers=verifiers), seed=7).id
    if name == "human-baseline":
        bring_pairs(store, project_id, count, origin="imported", labels=LABELS)
    return project_id


def ids(store: Store, table: object = pairs) -> list[int]:
    with store.read() as tx:
        return [row.id for row in tx.all(select(table.c.id).order_by(table.c.id))]  # type: ignore[attr-defined]


def right(store: Store, project_id: int) -> bool:
    with store.read() as tx:
        return not check(tx, project_id)


def test_a_hidden_pair_is_not_given_out_and_comes_back(store: Store) -> None:
    project_id = made(store)
    people = join(store, project_id, "verifier", 2)
    hidden = ids(store)[1]
    with store.write() as tx:
        hide_pair(tx, project_id, hidden, "hidden", by=None)
        hide_pair(tx, project_id, hidden, "hidden", by=None)
    assert verify_all(store, project_id, people) == 6
    with store.read() as tx:
        assert claim_status(store, project_id, people[0]) == "finished"
        assert [one.kind for one in history(tx, project_id)].count("pair.hidden") == 1
    assert right(store, project_id)
    with store.write() as tx:
        hide_pair(tx, project_id, hidden, "shown", by=None)
    assert verify_all(store, project_id, people) == 2
    assert right(store, project_id)


def claim_status(store: Store, project_id: int, person: int) -> str:
    with store.write() as tx:
        return claim(tx, project_id, person, "verify").status


def test_a_pair_in_somebodys_hands_is_judged_and_paid_and_then_given_to_nobody(store: Store) -> None:
    project_id = made(store, count=1)
    first, second, third = join(store, project_id, "verifier", 3)
    (pair_id,) = ids(store)
    with store.write() as tx:
        one, other = (claim(tx, project_id, person, "verify").tasks[0] for person in (first, second))
        hide_pair(tx, project_id, pair_id, "hidden", by=None)
        assert vote(tx, one.assignment_id, first, key="k", label="neutral").state == "counted"
        skip(tx, other.assignment_id, second)
    assert claim_status(store, project_id, third) == "finished"
    with store.write() as tx:
        hide_pair(tx, project_id, pair_id, "shown", by=None)
        assert claim(tx, project_id, third, "verify").tasks
        hide_pair(tx, project_id, pair_id, "hidden", by=None)
    assert right(store, project_id)


def test_a_lapsed_task_of_a_hidden_pair_goes_to_nobody(store: Store, clock: MovableClock) -> None:
    project_id = made(store, count=1, verifiers=1)
    first, second = join(store, project_id, "verifier", 2)
    (pair_id,) = ids(store)
    with store.write() as tx:
        assert claim(tx, project_id, first, "verify").tasks
        hide_pair(tx, project_id, pair_id, "hidden", by=None)
    clock.move(days=1)
    with store.write() as tx:
        assert not claim(tx, project_id, second, "verify").tasks
        hide_pair(tx, project_id, pair_id, "shown", by=None)
        assert claim(tx, project_id, second, "verify").tasks


def test_a_hidden_premise_takes_its_pairs_along(store: Store) -> None:
    project_id = made(store, "multi")
    add_all_premises(store, project_id, pool(3), by=None)
    (writer,) = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer], most=1)
    with store.read() as tx:
        written = tx.value(select(pairs.c.premise_id).limit(1))
    waiting = next(one for one in ids(store, premises) if one != written)
    with store.write() as tx:
        for premise_id in (written, waiting):
            hide_premise(tx, project_id, premise_id, "hidden", by=None)
    assert right(store, project_id)
    assert write_all(store, project_id, [writer]) == 1
    (verifier,) = join(store, project_id, "verifier", 1)
    assert verify_all(store, project_id, [verifier]) == 9
    with store.write() as tx:
        for premise_id in (written, waiting):
            hide_premise(tx, project_id, premise_id, "shown", by=None)
    assert write_all(store, project_id, [writer]) == 1
    assert verify_all(store, project_id, [verifier]) == 18
    assert right(store, project_id)


def test_more_verifiers_are_asked_for_a_hidden_pair_when_it_is_shown_again(store: Store) -> None:
    project_id = made(store, count=2, verifiers=1)
    people = join(store, project_id, "verifier", 2)
    verify_all(store, project_id, people)
    hidden = ids(store)[0]
    with store.write() as tx:
        hide_pair(tx, project_id, hidden, "hidden", by=None)
        configure(tx, project_id, small_protocol("human-baseline", verifiers=2), by=None)
        assert tx.value(select(func.count()).select_from(tasks).where(tasks.c.pair_id == hidden)) == 1
        hide_pair(tx, project_id, hidden, "shown", by=None)
        assert tx.value(select(func.count()).select_from(tasks).where(tasks.c.pair_id == hidden)) == 2
    assert right(store, project_id)
    assert verify_all(store, project_id, people) == 2
    assert right(store, project_id)


def test_hidden_pairs_are_exported_on_request_and_deleted_ones_never(store: Store, tmp_path: Path) -> None:
    project_id = made(store)
    verify_all(store, project_id, join(store, project_id, "verifier", 2))
    first, second, *_ = ids(store)
    with store.write() as tx:
        hide_pair(tx, project_id, first, "hidden", by=None)
        hide_pair(tx, project_id, second, "deleted", by=None)
    with pytest.raises(InputError, match="deleted and cannot be shown"), store.write() as tx:
        hide_pair(tx, project_id, second, "shown", by=None)
    with pytest.raises(InputError, match="allowed: shown, hidden, deleted"), store.write() as tx:
        hide_pair(tx, project_id, second, "gone", by=None)
    export_project(store, project_id, tmp_path / "a")
    export_project(store, project_id, tmp_path / "b", hidden=True)
    assert {*read(tmp_path / "a").collect()["id"]} == {str(one) for one in ids(store)[2:]}
    frame = read(tmp_path / "b").collect()
    marks = {row["id"]: json.loads(row["meta"]).get("hidden") for row in frame.iter_rows(named=True)}
    assert marks == {str(one): True if one == first else None for one in ids(store) if one != second}
    with store.read() as tx:
        assert tx.value(select(func.count()).select_from(answers)) == 8
    assert right(store, project_id)


def test_work_that_is_set_aside_and_restored_leaves_hidden_pairs_hidden(store: Store) -> None:
    project_id = made(store, "multi")
    add_all_premises(store, project_id, pool(1), by=None)
    (writer,) = join(store, project_id, "writer", 1)
    (verifier,) = join(store, project_id, "verifier", 1)
    write_all(store, project_id, [writer])
    hidden = ids(store)[0]
    with store.write() as tx:
        hide_pair(tx, project_id, hidden, "hidden", by=None)
        decision = decide(tx, project_id, writer, "reject", reason="noise", by=None)
    carry_out(store, project_id, decision, by=None)
    with store.write() as tx:
        take_back(tx, project_id, decision, by=None)
    carry_out(store, project_id, decision, by=None)
    assert verify_all(store, project_id, [verifier]) == 8
    assert right(store, project_id)


def test_a_text_is_edited_until_somebody_was_given_it(store: Store) -> None:
    project_id = made(store)
    first, second, *_ = ids(store)
    with store.write() as tx:
        edit_pair(tx, project_id, first, hypothesis=" It  is raining. ", label="neutral", by=None)
        row = tx.row(pairs, id=first)
        assert row is not None
        assert (row.hypothesis, row.label) == ("It is raining.", "neutral")
        (event,) = [one for one in history(tx, project_id) if one.kind == "pair.edited"]
        assert event.data["old"] == {"hypothesis": "It is entailment saying 0", "label": "entailment"}
    (person,) = join(store, project_id, "verifier", 1)
    verify_all(store, project_id, [person], lambda *_: "neutral")
    with store.write() as tx:
        edit_pair(tx, project_id, second, hypothesis="It is neutral saying 1", label="-", by=None)
    for change, told in (
        ({"hypothesis": "Another.", "label": "-"}, "somebody was given this text"),
        ({"hypothesis": "It is neutral saying 1", "label": "perhaps"}, "label 'perhaps' is not one of"),
        ({"hypothesis": " ", "label": "-"}, "the text has 0 characters"),
    ):
        with pytest.raises(InputError, match=told), store.write() as tx:
            edit_pair(tx, project_id, second, **change, by=None)
    assert right(store, project_id)


def test_a_premise_is_edited_until_somebody_was_given_it(store: Store) -> None:
    project_id = made(store, "multi")
    add_all_premises(store, project_id, pool(2), by=None)
    (writer,) = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer], most=1)
    with store.read() as tx:
        pair = tx.one(select(pairs))
    assert pair is not None
    written = pair.premise_id
    other = next(one for one in ids(store, premises) if one != written)
    with store.write() as tx:
        edit_premise(tx, project_id, other, text="The barge lay at another pier.", by=None)
    with pytest.raises(InputError, match="somebody was given"), store.write() as tx:
        edit_premise(tx, project_id, written, text="The barge lay at another pier.", by=None)
    with pytest.raises(InputError, match="5 characters; allowed: 20 to 200"), store.write() as tx:
        edit_premise(tx, project_id, other, text="Short", by=None)
    with pytest.raises(InputError, match="author's own answer"), store.write() as tx:
        edit_pair(tx, project_id, pair.id, hypothesis=pair.hypothesis, label="-", by=None)


def test_a_requester_decides_what_votes_do_not(store: Store, tmp_path: Path) -> None:
    """The label of the export is the requester's; the votes are those of the verifiers, and say nothing of it."""
    project_id = made(store, "multi")
    add_all_premises(store, project_id, pool(1), by=None)
    write_all(store, project_id, join(store, project_id, "writer", 1))
    tied = ids(store)[0]
    people = join(store, project_id, "verifier", 2)
    verify_all(store, project_id, people, lambda n, _, text: LABELS[(LABELS.index(text.split()[2]) + n + 1) % 3])
    with store.read() as tx:
        assert list(ties(tx, project_id)) == ids(store)
    with store.write() as tx:
        adjudicate(tx, project_id, tied, "contradiction", note="It says so.", by=people[0])
        assert tied not in ties(tx, project_id)
    export_project(store, project_id, tmp_path / "a")
    data = read(tmp_path / "a")
    rows = {row["id"]: row for row in data.collect().iter_rows(named=True)}
    told = json.loads(rows[str(tied)]["meta"])["adjudication"]
    assert rows[str(tied)]["label"] == "contradiction"
    assert (told["label"], told["note"]) == ("contradiction", "It says so.")
    assert sorted(rows[str(tied)]["votes"]) == sorted(LABELS)
    assert all(row["label"] == "-" for key, row in rows.items() if key != str(tied))
    assert any("1 pairs without a gold label from votes decided by a requester" in step for step in data.card.history)
    assert right(store, project_id)
    with store.write() as tx:
        adjudicate(tx, project_id, tied, "-", by=people[0])
        assert tied in ties(tx, project_id)
    assert right(store, project_id)


def test_only_a_pair_without_a_gold_label_is_decided(store: Store) -> None:
    project_id = made(store)
    first, second, *_ = ids(store)
    people = join(store, project_id, "verifier", 2)
    with pytest.raises(InputError, match="votes on this pair are not complete"), store.write() as tx:
        adjudicate(tx, project_id, first, "neutral", by=None)
    verify_all(store, project_id, people)
    with pytest.raises(InputError, match="or they decide it"), store.write() as tx:
        adjudicate(tx, project_id, second, "neutral", by=None)
    with pytest.raises(InputError, match="label 'maybe' is not one of"), store.write() as tx:
        adjudicate(tx, project_id, second, "maybe", by=None)
    with pytest.raises(InputError, match="no such pair"), store.write() as tx:
        adjudicate(tx, project_id + 1, second, "neutral", by=None)

"""Renaming, copying, archiving and deleting projects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from goldlabel.collect import lifecycle
from goldlabel.collect.configuration import configure, create_project, set_state
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money.ledger import totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.consent import newest_consent, publish_consent
from goldlabel.collect.people.people import add_member
from goldlabel.collect.projects import all_projects, project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import answers, events, members, metadata, pairs, premises, projects
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.assignment import claim, skip
from goldlabel.collect.work.drafts import save_draft
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.collect.work.writing import mark_unusable, submit
from tests.collect.campaign import bring_pairs, small_protocol, verify_all, write_all


def worked(store: Store, name: str = "meadow") -> int:
    """A project in which people wrote and judged and still hold tasks; return its id."""
    with store.write() as tx:
        owner = create_account(tx, f"owner of {name}".replace(" ", "-"), "none")
        made = create_project(tx, name, small_protocol("single", verifiers=2), by=owner, seed=7)
        pool = [Premise(text=f"Yesterday a heron crossed the wet road number {n}.") for n in range(4)]
        add_premises(tx, made.id, pool, by=owner)
    writers, verifiers = joined(store, made.id, name, "writer"), joined(store, made.id, name, "verifier", "verifier")
    write_all(store, made.id, writers, most=2)
    bring_pairs(store, made.id, 2, origin="gold", labels=("neutral",))
    verify_all(store, made.id, verifiers, most=5)
    with store.write() as tx:
        task = claim(tx, made.id, writers[0], "write").tasks[0].assignment_id
        save_draft(tx, task, writers[0], revision=1, content={"texts": {"entailment only": "It was wet."}})
        claim(tx, made.id, verifiers[0], "verify")
    return made.id


def joined(store: Store, project_id: int, name: str, *roles: str) -> list[int]:
    people = []
    with store.write() as tx:
        for number, role in enumerate(roles):
            people.append(create_account(tx, f"{name}-{role}-{number}", "none"))
            add_member(tx, project_id, people[-1], role, by=None)
    return people


def test_a_project_gets_another_name(store: Store) -> None:
    with store.write() as tx:
        create_project(tx, "marsh", small_protocol())
        project_id = create_project(tx, "meadow", small_protocol()).id
        assert lifecycle.rename_project(tx, project_id, "  wet meadow ", by=None).name == "wet meadow"
        assert lifecycle.rename_project(tx, project_id, "wet meadow", by=None).name == "wet meadow"
        for name, refusal in (("marsh", Conflict), ("", Invalid), ("x" * 101, Invalid)):
            with pytest.raises(refusal):
                lifecycle.rename_project(tx, project_id, name, by=None)
        told = tx.all(select(events.c.data).where(events.c.kind == "project.renamed"))
        assert [row.data for row in told] == [{"old": "meadow", "new": "wet meadow"}]


def test_a_copy_has_the_settings_and_nothing_else(store: Store) -> None:
    project_id = worked(store)
    with store.write() as tx:
        owner = tx.value(select(projects.c.created_by).where(projects.c.id == project_id))
        protocol = replace(project(tx, project_id).protocol, instructions={"single": "Write *well*."})
        configure(tx, project_id, protocol, by=owner)
        publish_consent(tx, project_id, "You agree to *this*.", by=owner)
        copied = lifecycle.clone_project(tx, project_id, "copy", by=owner)
        assert copied.protocol == protocol
        consent = newest_consent(tx, copied.id)
        assert consent is not None
        assert (consent.version, consent.text) == (1, "You agree to *this*.")
        assert copied.seed != project(tx, project_id).seed
        for table in (premises, pairs, answers):
            assert tx.value(select(func.count()).where(table.c.project_id == copied.id)) == 0
        held = tx.all(select(members.c.person_id, members.c.role).where(members.c.project_id == copied.id))
        assert [tuple(row) for row in held] == [(owner, "requester")]


def test_an_archived_project_is_for_reading(store: Store) -> None:
    project_id = worked(store)
    with store.write() as tx:
        lifecycle.archive_project(tx, project_id, by=None)
        stays = rows(tx, project_id)
        writer, verifier, other = (
            tx.value(select(members.c.person_id).where(members.c.project_id == project_id, members.c.role == role))
            for role in ("writer", "verifier", "requester")
        )
        task = claim(tx, project_id, writer, "write").tasks[0].assignment_id
        judged = claim(tx, project_id, verifier, "verify").tasks[0].assignment_id
        boxes = [Hypothesis(label=label, level="only", text=f"Of {label} it tells") for label in ("entailment",)]
        changes: list[Any] = [
            lambda: submit(tx, task, writer, key="k", hypotheses=boxes),
            lambda: mark_unusable(tx, task, writer, key="k", note="cut off"),
            lambda: save_draft(tx, task, writer, revision=2, content={}),
            lambda: skip(tx, task, writer),
            lambda: vote(tx, judged, verifier, key="k", label="neutral"),
            lambda: undo(tx, project_id, verifier),
            lambda: configure(tx, project_id, small_protocol("single"), by=None),
            lambda: add_premises(tx, project_id, [Premise(text="A new sentence stands here now.")], by=None),
            lambda: set_state(tx, project_id, "running", by=None),
            lambda: add_member(tx, project_id, other, "verifier", by=None),
            lambda: lifecycle.rename_project(tx, project_id, "other", by=None),
        ]
        for change in changes:
            with pytest.raises(Conflict, match="is archived"):
                change()
        assert rows(tx, project_id) == stays
        lifecycle.restore_project(tx, project_id, by=None)
        assert project(tx, project_id).state == "paused"
        assert vote(tx, judged, verifier, key="k", label="neutral").state == "counted"
        assert check(tx, project_id) == []


def test_deleting_leaves_the_record_and_the_ledger(store: Store) -> None:
    doomed, stays = worked(store), worked(store, "marsh")
    with store.write() as tx:
        owed, before = totals(tx, doomed), rows(tx, stays)
        past = tx.value(select(func.count()).where(events.c.project_id == doomed))
        for name in ("", "marsh", "Meadow"):
            with pytest.raises(Invalid, match="type 'meadow' to delete it"):
                lifecycle.delete_project(tx, doomed, name=name, by=None)
        lifecycle.delete_project(tx, doomed, name="meadow", by=None)
        assert totals(tx, doomed) == owed
        assert tx.value(select(func.count()).where(events.c.project_id == doomed)) == past + 1
        data = tx.value(select(events.c.data).where(events.c.kind == "project.deleted"))
        assert data["name"] == "meadow"
        assert data["deleted"]["pairs"] == 8
        kept = {name: count for name, count in rows(tx, doomed).items() if count}
        assert {*kept} == {"projects", "events", "ledger", "pseudonyms", "answers", "assignments", "tasks"}
        for row in tx.all(select(answers).where(answers.c.project_id == doomed)):
            assert (row.label, row.note, row.timings, row.pair_id) == (None, None, None, None)
        assert [one.name for one in all_projects(tx)] == ["marsh"]
        with pytest.raises(Missing):
            project(tx, doomed)
        assert rows(tx, stays) == before
        assert check(tx, stays) == []
        assert create_project(tx, "meadow", small_protocol()).id != doomed


def test_every_table_has_its_way_to_a_project_or_is_about_people_alone() -> None:
    """A table that somebody adds is emptied, too, unless nothing in it can be a project's."""
    alone = [table for table in metadata.sorted_tables if lifecycle._own(table, 1) is None]
    assert "accounts" in [table.name for table in alone]
    assert {key.column.table.name for table in alone for key in table.foreign_keys} == {"people"}


def rows(tx: Transaction, project_id: int) -> dict[str, int]:
    """How many rows of a project each table holds."""
    counts = {}
    for table in metadata.sorted_tables:
        own = table.c.id == project_id if table is projects else lifecycle._own(table, project_id)
        if own is not None:
            counts[table.name] = tx.value(select(func.count()).select_from(table).where(own))
    return counts

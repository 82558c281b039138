from __future__ import annotations

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money import recount
from goldlabel.collect.people.accounts import create_account, open_session, session
from goldlabel.collect.people.leaving import delete_account, leave_project, remove_member
from goldlabel.collect.people.people import accept, add_member, require_role, roles, set_member
from goldlabel.collect.projects import projects_of
from goldlabel.collect.refusals import Conflict, Forbidden, Missing
from goldlabel.collect.schema import accounts, drafts, events, ledger, metadata, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.drafts import save_draft
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import undo
from tests.collect.campaign import join, small_protocol, verify_all, write_all
from tests.collect.test_people import DAY, HASH, links

PREMISES = [Premise(text=f"Yesterday an otter crossed the wet road number {n}.", genre="news") for n in range(4)]


def crew(store: Store) -> tuple[int, int, int]:
    """Make a project with two requesters."""
    with store.write() as tx:
        first, second = (create_account(tx, login, HASH) for login in ("wren@example.org", "owl@example.org"))
        project_id = create_project(tx, "marsh", small_protocol("single", verifiers=1), by=first, seed=3).id
        add_premises(tx, project_id, PREMISES, by=first)
        add_member(tx, project_id, second, "requester", by=first)
    return project_id, first, second


def test_a_paused_requester_has_no_power(store: Store) -> None:
    project_id, first, second = crew(store)
    with store.write() as tx:
        set_member(tx, project_id, second, "requester", state="paused", by=first)
        with pytest.raises(Forbidden, match="requester of this project is paused"):
            require_role(tx, project_id, second, "requester")
        assert [held for _, held in projects_of(tx, second)] == [[]]
        set_member(tx, project_id, second, "requester", state="active", by=first)
        assert require_role(tx, project_id, second, "requester").state == "active"


@pytest.mark.parametrize("way", ["paused", "removed", "left", "deleted"])
def test_the_last_requester_is_not_locked_out(store: Store, way: str) -> None:
    project_id, first, second = crew(store)

    def end(person_id: int) -> None:
        with store.write() as tx:
            if way == "paused":
                set_member(tx, project_id, person_id, "requester", state="paused", by=first)
            elif way == "removed":
                remove_member(tx, project_id, person_id, "requester", by=first)
            elif way == "left":
                leave_project(tx, project_id, person_id)
            else:
                delete_account(tx, person_id)

    end(second)
    with pytest.raises(Conflict, match="project 'marsh' has no other active requester"):
        end(first)
    with store.read() as tx:
        assert require_role(tx, project_id, first, "requester").state == "active"
        assert tx.row(accounts, person_id=first) is not None


def test_who_is_removed_gives_back_their_tasks_and_stays_out(store: Store) -> None:
    project_id, first, _ = crew(store)
    (writer,) = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer], most=1)
    with store.write() as tx:
        held = claim(tx, project_id, writer, "write").tasks[0]
        save_draft(tx, held.assignment_id, writer, revision=1, content={"texts": {}})
        remove_member(tx, project_id, writer, "writer", by=first)
        assert tx.one(select(drafts)) is None
        for refused in (
            lambda: require_role(tx, project_id, writer, "writer"),
            lambda: save_draft(tx, held.assignment_id, writer, revision=2, content={}),
            lambda: claim(tx, project_id, writer, "write"),
        ):
            with pytest.raises(Missing):
                refused()
        with pytest.raises(Forbidden, match="you were removed"):
            accept(tx, links(tx, project_id, "writer"), writer)
        assert len(tx.all(select(pairs).where(pairs.c.writer_id == writer))) == 3
        assert tx.all(select(ledger).where(ledger.c.person_id == writer))
        assert recount.check(tx, project_id) == []
        set_member(tx, project_id, writer, "writer", state="active", by=first)
        assert claim(tx, project_id, writer, "write").tasks


def test_who_is_removed_cannot_take_back_a_vote(store: Store) -> None:
    project_id, first, _ = crew(store)
    writers, (verifier,) = join(store, project_id, "writer", 1), join(store, project_id, "verifier", 1)
    write_all(store, project_id, writers, most=1)
    verify_all(store, project_id, [verifier], most=1)
    with store.write() as tx:
        remove_member(tx, project_id, verifier, "verifier", by=first)
        with pytest.raises(Missing):
            undo(tx, project_id, verifier)


def test_who_left_comes_back_by_an_invitation(store: Store) -> None:
    project_id, _, _ = crew(store)
    (writer,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        condition = roles(tx, project_id, writer)["writer"].condition
        leave_project(tx, project_id, writer)
        with pytest.raises(Missing):
            leave_project(tx, project_id, writer)
        accept(tx, links(tx, project_id, "writer"), writer)
        member = require_role(tx, project_id, writer, "writer")
        assert (member.state, member.condition) == ("active", condition)


def test_nothing_of_a_deleted_account_tells_who_it_was(store: Store) -> None:
    project_id, _, second = crew(store)
    with store.write() as tx:
        add_member(tx, project_id, second, "writer", by=None)
    write_all(store, project_id, [second], most=2)
    with store.write() as tx:
        opened = open_session(tx, second, lifetime=DAY)
        delete_account(tx, second)
        assert session(tx, opened.token) is None
        kept = "".join(str(tx.all(select(table))) for table in metadata.sorted_tables)
        assert "owl" not in kept
        assert "wren@example.org" in kept
        assert len(tx.all(select(pairs).where(pairs.c.writer_id == second))) == 6
        assert tx.all(select(events).where(events.c.kind == "account.deleted"))
        assert recount.check(tx, project_id) == []
        create_account(tx, "owl@example.org", HASH)

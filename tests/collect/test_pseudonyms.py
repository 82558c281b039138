"""Nobody can tell from two projects' exports and figures who is in both; within one everything still joins."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import polars as pl
from sqlalchemy import create_engine, text

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.stats import project_stats
from goldlabel.collect.money.payouts import paid_table, pay_out_everybody
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.contacts import contacts_table, set_contact
from goldlabel.collect.people.leaving import delete_account, leave_project
from goldlabel.collect.people.passwords import LETTERS
from goldlabel.collect.people.people import add_member
from goldlabel.collect.people.pseudonyms import give_pseudonym, own_pseudonyms, pseudonyms_of
from goldlabel.collect.schema import pseudonyms
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from tests.collect.campaign import join, small_protocol, verify_all, write_all
from tests.collect.test_assignment import meadow, pool
from tests.collect.test_migrations import at_revision, url_of
from tests.collect.test_payouts import DAY


def column(table: str, name: str) -> set[str]:
    return {row[name] for row in csv.DictReader(io.StringIO(table))}


def test_one_person_has_another_name_in_every_project(store: Store, tmp_path: Path) -> None:
    protocol = small_protocol("single", verifiers=2)
    with store.write() as tx:
        projects = [create_project(tx, name, protocol, seed=3).id for name in ("marsh", "heath")]
        for project_id in projects:
            add_premises(tx, project_id, pool({"news": 3}), by=None)
    crew = [*join(store, projects[0], "writer", 1), *join(store, projects[0], "verifier", 2)]
    with store.write() as tx:
        for person_id, role in zip(crew, ("writer", "verifier", "verifier"), strict=True):
            add_member(tx, projects[1], person_id, role, by=None)
            set_contact(tx, person_id, f"bird-{person_id}@example.org")
    names = []
    for project_id in projects:
        write_all(store, project_id, crew[:1])
        verify_all(store, project_id, crew[1:])
        with store.write() as tx:
            pay_out_everybody(tx, project_id, on=DAY, note="", key="january", by=None)
        export_project(store, project_id, tmp_path / str(project_id))
        with store.read() as tx:
            named = set(pseudonyms_of(tx, project_id).values())
            assert {one.pseudonym for one in project_stats(tx, project_id, resamples=10).people} == named
            assert column(paid_table(tx, project_id), "person") == named
        data = pl.read_parquet(tmp_path / str(project_id) / "*.parquet")
        annotators = data["meta"].str.json_path_match("$.annotators").str.json_decode(pl.List(pl.String))
        assert set(annotators.explode()) == named
        assert set(data["writer"]) <= named
        assert column((tmp_path / str(project_id) / "ledger.csv").read_text(), "person") == named
        names.append(named)
    assert [len(named) for named in names] == [3, 3]
    assert not names[0] & names[1]
    with store.write() as tx:
        assert own_pseudonyms(tx, crew[0]).keys() == {"heath", "marsh"}
        reached = column(contacts_table(tx, projects[0], by=crew[0]), "person")
    assert reached == names[0]


def test_no_line_of_an_exported_ledger_holds_the_number_of_a_person(store: Store, tmp_path: Path) -> None:
    """Numbers of people are the same in all projects."""
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    with store.write() as tx:
        tx.connection.execute(text("INSERT INTO people (id, pseudonym, created_at) VALUES (54321, '-', 0)"))
        add_member(tx, project_id, 54321, "writer", by=None)
    write_all(store, project_id, [54321])
    with store.write() as tx:
        pay_out_everybody(tx, project_id, on=DAY, note="", key="january", by=None)
    export_project(store, project_id, tmp_path / "out")
    assert "54321" not in (tmp_path / "out" / "ledger.csv").read_text()


def test_a_name_stays_whatever_somebody_does(store: Store) -> None:
    project_id = meadow(store, small_protocol("single", verifiers=1), news=1)
    [person_id] = join(store, project_id, "writer", 1)
    with store.write() as tx:
        name = pseudonyms_of(tx, project_id)[person_id]
        assert re.fullmatch(f"[{LETTERS}]{{6}}", name)
        add_member(tx, project_id, person_id, "verifier", by=None)
        give_pseudonym(tx, project_id, person_id)
        leave_project(tx, project_id, person_id)
        delete_account(tx, person_id)
        assert pseudonyms_of(tx, project_id) == {person_id: name}


def test_somebody_without_a_name_is_found_by_the_recount(store: Store) -> None:
    project_id = meadow(store)
    (person_id,) = join(store, project_id, "writer", 1)
    with store.write() as tx:
        assert check(tx, project_id) == []
        tx.run(pseudonyms.delete().where(pseudonyms.c.person_id == person_id))
        assert check(tx, project_id) == [f"pseudonyms of person {person_id}: the events say 1, the tables 0"]


def test_those_who_were_there_keep_their_name_in_their_first_project(place: str) -> None:
    at_revision(place, "0014")
    engine = create_engine(url_of(place))
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO projects VALUES (2, 'heath', 'elicitation', '{}', 7, 'running', 1, 0)"))
        connection.execute(text("INSERT INTO members VALUES (2, 2, 'writer', 'single', false, 'active', 1, 1000000)"))
        connection.execute(text("INSERT INTO measurements VALUES (2, 1500000, '{}', 'marks')"))
    engine.dispose()
    Store.migrate(place)
    store = Store.open(place)
    with store.read() as tx:
        assert pseudonyms_of(tx, 1) == {1: "qqq222", 2: "zzz333"}
        assert pseudonyms_of(tx, 2).keys() == {2}
        assert pseudonyms_of(tx, 2)[2] != "zzz333"
        measured = tx.connection.execute(text("SELECT project_id FROM measurements")).scalars().all()
    assert measured == [1]
    store.close()

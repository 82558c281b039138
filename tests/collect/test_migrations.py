from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, make_url, select, text

from goldlabel.collect import schema
from goldlabel.collect.migrations import REVISIONS
from goldlabel.collect.projects import project_named
from goldlabel.collect.schema import metadata
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from tests.collect.campaign import small_protocol

CONFIG = json.dumps(small_protocol("single").to_dict())

# One row or more of every table as each revision had it. A new revision adds an entry and leaves the others alone.
SAMPLES = {
    "0001": (
        "INSERT INTO people VALUES (1, 'qqq222', 1000000), (2, 'zzz333', 1000000)",
        "INSERT INTO accounts VALUES (1, 'wren', 'hash', true, 1000000)",
        "INSERT INTO sessions VALUES ('token', 1, 'secret', 1000000, 2000000)",
        "INSERT INTO rate_buckets VALUES ('bucket', 1000000, 3)",
        "INSERT INTO projects VALUES (1, 'meadow', 'elicitation', :config, 7, 'running', 1, 1000000)",
        "INSERT INTO members VALUES (1, 1, 'requester', '', false, 'active', 1, 1000000), "
        "(1, 2, 'writer', 'single', true, 'active', 1, 1000000)",
        "INSERT INTO invites VALUES (1, 'token', 1, 'writer', 'single', true, 1, 1, 1000000, 2000000, NULL)",
        "INSERT INTO invite_uses VALUES (1, 2, 1000000)",
        "INSERT INTO premises VALUES (1, 1, 1, '雨下了一夜。', 'news', 'paper', 'x1', '{\"page\": 3}', 1000000)",
        "INSERT INTO subsets VALUES (1, 1, 'written', 'single', 'news')",
        "INSERT INTO tasks VALUES (1, 1, 'write', 'single', 'news', NULL, 1, NULL, 0, NULL, 1, 5, 'answered', NULL)",
        "INSERT INTO assignments VALUES (1, 1, 1, 2, 'write', 1, NULL, 1, 'answered', 1000000, 2000000, 1500000)",
        "INSERT INTO answers VALUES (1, 1, 1, 1, 2, 'write', NULL, 'k', 'counted', NULL, NULL, NULL, 9.5, 1500000)",
        "INSERT INTO pairs VALUES (1, 1, 1, 1, 1, true, 'counted', 1, 1, 2, '地湿了。', 'entailment', 'only', NULL, "
        "NULL, 1500000)",
        "INSERT INTO tasks VALUES (2, 1, 'verify', '', 'news', 1, NULL, 1, 0, 2, 1, 5, 'open', NULL)",
        'INSERT INTO drafts VALUES (1, 4, \'{"text": "它"}\', 1400000)',
        "INSERT INTO training_answers VALUES (1, 1, 2, 1, 0, 'neutral', true, 1200000)",
        "INSERT INTO checks VALUES (1, 1, 1, 1600000, NULL, NULL, NULL, NULL)",
        "INSERT INTO events VALUES (1, 1, 2, 'answer.written', 'premise 1', "
        '\'{"pay": {"person": 2, "units": 3000}}\', 1500000)',
        "INSERT INTO ledger VALUES (1, 1, 2, 1, 1, 'base', 3000, 'written', 'base 1', NULL, 1500000)",
    ),
}
SAMPLES["0002"] = (
    *(
        statement.replace("NULL, 1500000)", "NULL, 1500000, NULL)") if " pairs " in statement else statement
        for statement in SAMPLES["0001"]
    ),
    "INSERT INTO tries VALUES (1, 1, 1, 'k', 'neutral', '地湿了。', 'model', '{\"neutral\": 1.0}', 1500000)",
)
SAMPLES["0003"] = (
    *(one for one in SAMPLES["0002"] if " ledger " not in one),
    "INSERT INTO ledger VALUES (1, 1, 2, 1, 1, 'base', 3000, 'taken back', 'base 1', NULL, 1500000, "
    '\'{"name": "pay_undone", "parameters": {}}\')',
)
SAMPLES["0004"] = (
    *SAMPLES["0003"],
    "INSERT INTO tokens VALUES (1, 1, 'hash', 'nightly', '[\"requester\"]', 1000000, 2000000, NULL, NULL)",
    "INSERT INTO repeats VALUES (1, 'k', 'digest', '{\"added\": 3}', 1000000)",
)
SAMPLES["0005"] = (
    *SAMPLES["0004"],
    "INSERT INTO jobs VALUES (1, 1, 'export', '{}', 'done', 1, 1.0, 1, 1500000, 'worker', NULL, 1600000, NULL)",
    "INSERT INTO job_files VALUES (1, 0, 'data')",
    "INSERT INTO measurements VALUES (1, 1500000, '{}', 'marks')",
)
SAMPLES["0006"] = (
    *SAMPLES["0005"],
    "INSERT INTO decisions VALUES (1, 1, 2, 'reject', false, 'hasty', '[]', 1, 1600000, NULL, NULL)",
    "INSERT INTO decided_answers VALUES (1, 1, NULL, NULL)",
)
SAMPLES["0007"] = (
    *SAMPLES["0006"],
    "INSERT INTO remarks VALUES (1, 1, 1, 2, '有错字。', 1600000, NULL, NULL, NULL)",
)
SAMPLES["0008"] = (
    *(
        one.replace("'x1', '{\"page\": 3}', 1000000)", "'x1', '{\"page\": 3}', 1000000, 'hidden')").replace(
            "NULL, 1500000, NULL)", "NULL, 1500000, NULL, NULL)"
        )
        if " premises " in one or " pairs " in one
        else one
        for one in SAMPLES["0007"]
    ),
    "INSERT INTO adjudications VALUES (1, 1, 'neutral', 'so', 1, 1600000)",
)
SAMPLES["0009"] = (
    *SAMPLES["0008"],
    "INSERT INTO contacts VALUES (1, 'wren@example.org', 1000000)",
    "INSERT INTO passes VALUES ('hash', 1, 'reset', 2000000)",
    "INSERT INTO second_factors VALUES (1, 'GEZDGNBVGY3TQOJQ', true, 0, '[]')",
)
SAMPLES["0010"] = (
    *SAMPLES["0009"],
    "INSERT INTO taggings VALUES (1, 1, 1, 2, 'ambiguous', 'which night?', 1600000)",
    "INSERT INTO tagging_tags VALUES (1, 'lexical')",
)
SAMPLES["0011"] = (*SAMPLES["0010"], "INSERT INTO collection VALUES ('key')")
SAMPLES["0012"] = (
    *SAMPLES["0011"],
    "INSERT INTO webhooks VALUES (1, 1, 'https://a.example', 'secret', '[\"pair.verified\"]', false, 1000000, NULL)",
    "INSERT INTO deliveries VALUES (1, 1, 'pair.verified', '{}', 'sent', 1, 1000000, 200, NULL, 1000000, 1000000)",
    "INSERT INTO markets VALUES (1, 'prolific', 'C0DE', 20)",
    "INSERT INTO outsiders VALUES (2, 1, 'prolific', 'a1b2')",
    "INSERT INTO visits VALUES (1, 1, 1, 2, 'study', 'session', '', 'C0DE', 0, 1000000, NULL)",
)
SAMPLES["0013"] = (
    *(
        one.replace("NULL, NULL)", "NULL, NULL, NULL)") if " pairs " in one else one
        for one in SAMPLES["0012"]
        if " tries " not in one
    ),
    "INSERT INTO rounds VALUES (1, 1, 1, 'open', '[]', 5, NULL, 1000000, NULL, NULL)",
    "INSERT INTO tries VALUES (1, 1, 1, 'k', 'neutral', '地湿了。', 'model', '{\"neutral\": 1.0}', 1500000, 1, "
    "'model', NULL, NULL, NULL, 1600000)",
)
SAMPLES["0014"] = (
    *SAMPLES["0013"],
    "INSERT INTO consent_texts VALUES (1, 1, '您同意吗？', 1, 1000000)",
    "INSERT INTO consents VALUES (1, 2, 1, 1100000)",
    "INSERT INTO letters VALUES (1, 1, 1, 2, NULL, '谢谢', 1200000)",
    "INSERT INTO letter_reads VALUES (1, 2, 1300000)",
)
SAMPLES["0015"] = tuple(
    one.replace("NULL, NULL)", "NULL, NULL, '{\"dev\": []}')") if " rounds " in one else one for one in SAMPLES["0014"]
)
SAMPLES["0016"] = tuple(
    one.replace("9.5, 1500000)", '9.5, 1500000, \'{"sure": "yes"}\')') if " answers " in one else one
    for one in SAMPLES["0015"]
)
SAMPLES["0017"] = tuple(one.removesuffix(")") + ", 'dev')" if " premises " in one else one for one in SAMPLES["0016"])
SUGGESTED = {" pairs ": ", 'neutral', 'model')", " assignments ": ", 'neutral')"}
SAMPLES["0018"] = tuple(
    one.removesuffix(")") + next((more for name, more in SUGGESTED.items() if name in one), ")")
    for one in SAMPLES["0017"]
)
SAMPLES["0019"] = (*SAMPLES["0018"], "INSERT INTO pseudonyms VALUES (1, 1, 'ccc444'), (1, 2, 'ddd555')")
SAMPLES["0020"] = tuple(
    statement.removesuffix(")") + ", 1)" if " tries " in statement else statement for statement in SAMPLES["0019"]
)
SAMPLES["0021"] = (
    *(
        statement.removesuffix(")") + ", NULL)" if " tries " in statement else statement
        for statement in SAMPLES["0020"]
    ),
    "INSERT INTO proposals VALUES (1, 1, 1, 'neutral', '地滑了。', 'mine:write', 1500000)",
)
SAMPLES["0022"] = (
    *SAMPLES["0021"],
    "INSERT INTO model_votes VALUES (1, 1, 1, 'esim', 'neutral', '{\"neutral\": 1.0}', 1500000)",
)

SAMPLES["0023"] = (*SAMPLES["0022"], "INSERT INTO model_costs VALUES (1, 1, 'openai:large', 0.25, 1600000)")


def url_of(place: str) -> str:
    return (
        place.replace("postgresql://", "postgresql+psycopg://") if "://" in place else f"sqlite:///{place}/{Store.file}"
    )


def at_revision(place: str, revision: str) -> None:
    """Make a collection as an older version of Goldlabel left it, with data in it."""
    if "://" not in place:
        Path(place).mkdir()
    engine = create_engine(url_of(place))
    with engine.begin() as connection:
        REVISIONS.upgrade(connection, revision)
        for statement in SAMPLES[revision]:
            values = {"config": CONFIG} if ":config" in statement else {}
            connection.execute(text(statement), values)
        tables = set(inspect(connection).get_table_names()) - {"alembic_version"}
        assert tables == {statement.split()[2] for statement in SAMPLES[revision]}
    engine.dispose()


def test_there_is_data_for_every_revision() -> None:
    assert tuple(SAMPLES) == REVISIONS.all


@pytest.mark.parametrize("revision", list(SAMPLES))
def test_a_collection_of_any_revision_is_migrated_with_all_it_holds(place: str, revision: str) -> None:
    at_revision(place, revision)
    assert Store.migrate(place) == (revision, REVISIONS.head)
    assert Store.migrate(place) == (REVISIONS.head, REVISIONS.head)
    store = Store.open(place)
    with store.read() as tx:
        assert REVISIONS.current(tx.connection) == REVISIONS.head
        filled = {statement.split()[2] for statement in SAMPLES[revision]}
        counts = {table.name: len(tx.all(select(table))) for table in metadata.sorted_tables if table.name in filled}
        assert min(counts.values()) >= 1, counts
        assert project_named(tx, "meadow").protocol == small_protocol("single")
        pair = tx.one(select(schema.pairs, schema.premises.c.text).join(schema.premises))
        assert pair is not None
        assert (pair.hypothesis, pair.text, pair.considered) == ("地湿了。", "雨下了一夜。", True)
        assert tx.value(select(schema.drafts.c.content)) == {"text": "它"}
        assert tx.value(select(schema.ledger.c.amount)) == 3000
        assert tx.value(select(schema.events.c.data)) == {"pay": {"person": 2, "units": 3000}}
    store.close()


def test_opening_migrates_nothing(place: str) -> None:
    older = REVISIONS.all[-2]
    at_revision(place, older)
    with pytest.raises(InputError, match=rf"schema {older}, this one works with .* goldlabel collect migrate") as told:
        Store.open(place)
    assert "\n" not in str(told.value)
    with pytest.raises(InputError, match="holds a collection already"):
        Store.create(place)
    engine = create_engine(url_of(place))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == older
    engine.dispose()


def test_there_must_be_something_to_migrate(place: str) -> None:
    with pytest.raises(InputError, match="holds no collection"):
        Store.migrate(place)


def test_the_migrations_lead_to_the_schema_of_the_code(place: str) -> None:
    Store.create(place).close()
    engine = create_engine(url_of(place))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        names = {index["name"] for index in inspect(connection).get_indexes("tasks")}
    engine.dispose()
    assert {"ix_tasks_queue", "ix_tasks_leased"} <= names


def test_a_collection_of_a_newer_version_is_refused_and_left_alone(place: str) -> None:
    Store.create(place).close()
    engine = create_engine(url_of(place))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    known = REVISIONS.head
    message = (
        rf"was written by a newer Goldlabel \(schema 9999, this one knows up to {known}\); install the newer version"
    )
    for opening in (Store.open, Store.create, Store.migrate):
        with pytest.raises(InputError, match=message) as told:
            opening(place)
        assert "\n" not in str(told.value)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()
    assert make_url(url_of(place)).get_backend_name() in str(told.value)


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["entailment"] * 4, "entailment"),
        (["neutral", "neutral", "neutral", "entailment"], "neutral"),
        (["neutral", "neutral", "entailment", "contradiction"], "-"),
        (["unrelated"] * 4, "-"),
        (["entailment"] * 3, None),
    ],
)
def test_verdicts_reached_before_are_filled_in(tmp_path: Path, votes: list[str], verdict: str | None) -> None:
    """Four votes are asked for; the author says entailment."""
    place = str(tmp_path / "collection")
    at_revision(place, "0001")
    engine = create_engine(url_of(place))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM tasks WHERE id = 2"))
        for number in range(4):
            person, task, state = 10 + number, 10 + number, "answered" if number < len(votes) else "open"
            for statement in (
                f"INSERT INTO people VALUES ({person}, 'p{person}', 1000000)",
                f"INSERT INTO tasks VALUES ({task}, 1, 'verify', '', 'news', 1, NULL, 1, {number}, 2, 1, 5, "
                f"'{state}', NULL)",
            ):
                connection.execute(text(statement))
            if state == "answered":
                connection.execute(
                    text(
                        f"INSERT INTO assignments VALUES ({task}, 1, {task}, {person}, 'verify', NULL, 1, 1, "
                        "'answered', 1000000, 2000000, 1500000)"
                    )
                )
                connection.execute(
                    text(
                        f"INSERT INTO answers VALUES ({task}, 1, {task}, {task}, {person}, 'verify', 1, 'k', "
                        f"'counted', '{votes[number]}', NULL, NULL, 2.5, 1500000)"
                    )
                )
    engine.dispose()
    Store.migrate(place)
    store = Store.open(place)
    with store.read() as tx:
        assert tx.value(select(schema.pairs.c.verdict)) == verdict
    store.close()


def test_opening_a_collection_logs_nothing(place: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        Store.create(place).close()
        Store.open(place).close()
    assert [record.name for record in caplog.records if record.name.startswith("alembic")] == []

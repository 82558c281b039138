from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

import goldlabel as gl
from goldlabel.cli.collect import app
from goldlabel.collect.configuration import configure
from goldlabel.collect.people.accounts import authenticate, create_account, open_session, session
from goldlabel.collect.people.passwords import hash_password
from goldlabel.collect.people.people import accept
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import with_settings
from goldlabel.collect.refusals import Forbidden
from goldlabel.collect.rounds.rounds import open_round_of, unused_contexts
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.errors import GoldlabelError, InputError
from tests.collect.campaign import join, verify_all, write_all

POOL = """premise,genre
The old mill by the river grinds rye again.,news
Our boat has a hole near the stern.,
Short.,news
"""
EASY = ("--set", "qualification.training=0", "--set", "verifying.share=1", "--set", "qualification.gold_rate=0")


def run(*arguments: object) -> str:
    """Run a command; what it prints is returned, and what it refuses is raised."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def run_json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A collection with a project and two premises."""
    run("init", tmp_path / "mill", "--protocol", "multi", "--language", "en", *EASY)
    pool = tmp_path / "pool.csv"
    pool.write_text(POOL)
    run("import", tmp_path / "mill", pool, "--genre", "letters", "--source", "attic")
    return tmp_path / "mill"


def work(site: Path) -> None:
    store = Store.open(site)
    write_all(store, 1, join(store, 1, "writer", 2))
    verify_all(store, 1, join(store, 1, "verifier", 4))
    store.close()


def test_init_prints_a_link_that_makes_a_requester(tmp_path: Path) -> None:
    told = run_json(
        "init", tmp_path / "a", "--protocol", "single", "--language", "zh", "--name", "河流",
        "--address", "https://nli.example/",
    )  # fmt: skip
    assert {*told} == {"project", "kind", "language", "database", "link"}
    assert (told["project"], told["kind"], told["language"]) == ("河流", "elicitation", "zh")
    address, _, token = told["link"].rpartition("/")
    assert address == "https://nli.example/invite"
    store = Store.open(tmp_path / "a")
    with store.write() as tx:
        offered = accept(tx, token, create_account(tx, "ada", "no hash"))
    assert (offered.role, offered.uses) == ("requester", 1)
    store.close()


def test_init_in_words_and_beside_another_project(tmp_path: Path) -> None:
    shown = run("init", tmp_path / "b", "--protocol", "human-baseline", "--language", "en")
    assert "project 'b' (human-baseline, en) in sqlite:///" in shown
    assert re.search(r"^http://127\.0\.0\.1:8000/invite/\S{20,}$", shown, flags=re.M)
    run("init", tmp_path / "b", "--protocol", "vetting", "--language", "en", "--name", "scale")
    assert run_json("stats", tmp_path / "b")["kind"] == "human-baseline"
    assert run_json("stats", tmp_path / "b", "--project", "scale")["kind"] == "vetting"
    run("init", tmp_path / "c", "--protocol", "multi", "--language", "en", "--name", "x")
    run("init", tmp_path / "c", "--protocol", "multi", "--language", "en", "--name", "y")
    with pytest.raises(InputError, match="there are 2 projects; name one with --project: x, y"):
        run("stats", tmp_path / "c")


def test_import_tells_what_was_left_out(site: Path, tmp_path: Path) -> None:
    told = run_json("stats", site)
    assert told["premises"] == 2
    assert {line["genre"] for line in told["queue"]} == {"news", "letters"}
    again = run_json("import", site, tmp_path / "pool.csv", "--limit", 1)
    assert {*again} == {"project", "as", "read", "added", "left_out"}
    assert (again["as"], again["read"], again["added"]) == ("premises", 3, 0)
    assert {(one["reason"], one["n"]) for one in again["left_out"]} == {
        ("a duplicate", 2),
        ("shorter than 20 characters", 1),
    }
    shown = run("import", site, tmp_path / "pool.csv")
    assert "mill: 0 of 3 premises added" in shown
    assert "left out: 1 (shorter than 20 characters), such as line 4: Short." in shown


def test_import_by_questions(site: Path, tmp_path: Path) -> None:
    pool, questions = tmp_path / "more.txt", tmp_path / "questions.txt"
    pool.write_text("Rye bread keeps for a week.\nThe stern of the boat is blue.\nNobody is at home tonight.\n")
    questions.write_text("Who painted the boat?\n")
    assert run_json("import", site, pool, "--questions", questions, "--limit", 1)["added"] == 1
    with pytest.raises(InputError, match="say how many with --limit"):
        run("import", site, pool, "--questions", questions)


def test_import_of_pairs(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    rows = [
        {"id": f"a{n}", "premise": f"Bird {n} sings.", "hypothesis": f"Noise {n}.", "label": "entailment"}
        for n in range(4)
    ]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("init", tmp_path / "b", "--protocol", "human-baseline", "--language", "en", "--set", "verifying.sample=3")
    assert run_json("import", tmp_path / "b", pairs)["as"] == "imported pairs"
    told = run_json("stats", tmp_path / "b")
    assert told["pairs"] == 4
    assert sum(line["waiting"] for line in told["queue"]) == 3 * 5
    run("init", tmp_path / "v", "--protocol", "vetting", "--language", "en")
    assert run_json("import", tmp_path / "v", pairs)["added"] == 4
    run("init", tmp_path / "m", "--protocol", "multi", "--language", "en")
    for kind in ("foreign", "gold"):
        assert run_json("import", tmp_path / "m", pairs, "--as", kind)["as"] == f"{kind} pairs"
    with pytest.raises(InputError, match="import pairs as foreign or gold"):
        run("import", tmp_path / "m", pairs, "--as", "pairs")
    with pytest.raises(InputError, match="nobody writes in it; import pairs instead"):
        run("import", tmp_path / "b", pairs, "--as", "premises")


def test_export_gives_a_dataset_that_other_commands_read(site: Path, tmp_path: Path) -> None:
    work(site)
    told = run_json("export", site, "-o", tmp_path / "out", "--no-audit")
    documented = {"name", "pairs", "verified", "splits", "with_overlap", "foreign", "ledger_lines", "agreement"}
    assert {*told} == documented | {"mixture", "human_baseline", "output"}
    assert (told["pairs"], told["verified"]) == (18, 18)
    assert len(gl.read(tmp_path / "out")) == 18
    assert not (tmp_path / "out" / "audit.json").exists()
    shown = run("export", site, "-o", tmp_path / "out")
    assert "mill: 18 pairs, 18 of them verified" in shown
    assert f"output: {tmp_path / 'out'}" in shown


def test_artifacts_are_on_the_card(site: Path, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("".join(f"Ferry number {n} is late this morning.\n" for n in range(6)))
    run("import", site, tmp_path / "more.txt")
    work(site)
    run("export", site, "-o", tmp_path / "out")
    card = gl.read(tmp_path / "out").card
    assert "## Artifacts\n\nWithout the premise, a linear model labels" in card.description
    found = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert {*found["groups"]} == {"all", "multi"}


def test_too_few_pairs_for_an_audit(site: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["export", str(site), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert "no audit on the card" in done.stderr


def test_what_comes_next_is_a_command_that_can_be_given(tmp_path: Path) -> None:
    place = tmp_path / "my pairs"
    shown = run("init", place, "--protocol", "vetting", "--language", "en")
    first, then = shown.splitlines()[-1].removeprefix("Next: ").split(", then ")
    assert shlex.split(first)[2:] == ["import", str(place), "PAIRS", "--project", "my pairs"]
    assert shlex.split(then)[2:] == ["serve", str(place)]
    shown = run("init", place, "--protocol", "adversarial", "--language", "en", "--name", "duels")
    assert "--project duels, then goldlabel collect round open" in shown


def test_stats_of_a_project_in_which_nobody_writes_have_no_empty_table(tmp_path: Path) -> None:
    run("init", tmp_path / "b", "--protocol", "vetting", "--language", "en")
    assert "condition" not in run("stats", tmp_path / "b")


def test_stats_in_words(site: Path) -> None:
    work(site)
    shown = run("stats", site)
    assert "mill (elicitation, running): 2 premises, 18 pairs, 18 of them verified; 19.80 USD owed" in shown
    assert "Fleiss' kappa" in shown
    assert shown.count("verifier") == 4


def test_check_agrees_until_somebody_meddles(site: Path) -> None:
    work(site)
    assert run_json("check", site) == {"agrees": True, "differences": {"mill": []}}
    assert "mill: agrees with its events" in run("check", site, "--project", "mill")
    store = Store.open(site)
    with store.write() as tx:
        tx.connection.execute(text("UPDATE answers SET state = 'undone' WHERE kind = 'verify' AND id % 7 = 0"))
    store.close()
    done = CliRunner().invoke(app, ["check", str(site)])
    assert done.exit_code == 1
    assert re.search(r"mill: \d+ differences\n  counted votes on pair", done.stdout)
    told = CliRunner().invoke(app, ["check", str(site), "--json"])
    assert (told.exit_code, json.loads(told.stdout)["agrees"]) == (1, False)


def test_invite(site: Path) -> None:
    told = run_json("invite", site, "--role", "writer", "--condition", "multi", "--exclusive", "--uses", 3, "--days", 2)
    assert {*told} == {"link", "role", "condition", "uses", "days"}
    assert run("invite", site, "--role", "verifier").startswith("http://127.0.0.1:8000/invite/")


def test_a_new_password_replaces_the_old_one(site: Path) -> None:
    store = Store.open(site)
    hashed = hash_password("seven herons")
    with store.write() as tx:
        person_id = create_account(tx, "wren@example.org", hashed)
        opened = open_session(tx, person_id, lifetime=timedelta(hours=1))
    told = run_json("password", site, "Wren@example.org")
    again = run("password", site, "wren@example.org").strip()
    assert again != told["password"]
    assert authenticate(store, "wren@example.org", again) == person_id
    with store.read() as tx:
        assert session(tx, opened.token) is None
    for old in ("seven herons", told["password"]):
        with pytest.raises(Forbidden):
            authenticate(store, "wren@example.org", old)
    store.close()


def test_configure(site: Path) -> None:
    changed = json.loads(
        run("configure", site, "--set", "writing.cap=null", "--set", "pay.pair=0.45", "--set", "instructions={}")
    )
    assert (changed["writing"]["cap"], changed["pay"]["pair"]) == (None, "0.45")
    assert json.loads(run("configure", site)) == changed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("init", "x", "--protocol", "multy", "--language", "en"), "no protocol 'multy'; did you mean 'multi'"),
        (("init", "x", "--protocol", "multi", "--language", "fr"), "language 'fr'; allowed: en, zh"),
        (("init", "x", "--protocol", "multi", "--language", "en", "--set", "writing.lap=1"), "no setting 'lap'"),
        (("init", "x", "--protocol", "multi", "--language", "en", "--set", "batch"), "not of the form KEY=VALUE"),
        (("init", "x", "--protocol", "multi", "--language", "en", "--set", "a.b=1"), "no setting 'a.b' in protocol"),
        (("init", "mill", "--protocol", "multi", "--language", "en"), "there is a project 'mill' already"),
        (("stats", "nowhere"), "nowhere: holds no collection; make one with: goldlabel collect init"),
        (("stats", "mill", "--project", "mil"), "--project 'mil' is not known; did you mean 'mill'"),
        (("stats", "mill", "--database", "mysql://h/x"), "mysql://h/x"),
        (("import", "mill", "none.csv"), "none.csv: there is no such file"),
        (("import", "mill", "pool.csv", "--as", "premise"), "--as 'premise' is not known; did you mean 'premises'"),
        (("export", "mill", "-o", "mill"), "is the input itself"),
        (("invite", "mill", "--role", "boss"), "--role 'boss' is not known; allowed: expert"),
        (("invite", "mill", "--role", "writer", "--condition", "single"), "no condition 'single' in this project"),
        (("password", "mill", "nobody"), "there is no account with the login 'nobody'"),
        (("serve", "mill", "--workers", "2"), "several workers need PostgreSQL; pass --database URL"),
    ],
)
def test_refusals_are_one_line(
    arguments: tuple[str, ...], message: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site.parent)
    with pytest.raises(GoldlabelError, match=re.escape(message)):
        run(*arguments)
    assert not Path("x").exists()


def test_serve_hands_over_to_the_pages(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import goldlabel.web

    asked: dict[str, Any] = {}
    monkeypatch.setattr(
        goldlabel.web, "serve", lambda folder, **options: asked.update(folder=folder, **options), raising=False
    )
    run("serve", site, "--host", "0.0.0.0", "--port", 9000)
    assert asked == {
        "folder": site,
        "database": None,
        "host": "0.0.0.0",
        "port": 9000,
        "workers": 1,
        "address": None,
        "log": "plain",
    }


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path) -> None:
    """In a process of its own, as here the extra's modules are loaded."""
    script = """
import sys
sys.modules.update(dict.fromkeys(["sqlalchemy", "alembic", "argon2", "fastapi"]))
from typer.testing import CliRunner
from goldlabel.cli.collect import app
calls = ["init d --protocol multi --language en", "import d p.txt", "serve d", "export d -o out", "stats d", "check d",
         "judge d --model linear", "invite d --role writer", "password d wren", "configure d", "migrate d",
         "backup d out.zip", "restore out.zip d", "play"]
assert {call.split()[0] for call in calls} == {one.name for one in app.registered_commands}
for call in calls:
    print(repr(CliRunner().invoke(app, call.split()).exception))
"""
    (tmp_path / "p.txt").write_text("The old mill by the river grinds rye again.\n")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert len(told) == 14
    assert all("MissingExtraError" in line and 'pip install "goldlabel[collect]"' in line for line in told), told


@pytest.mark.parametrize("command", ["stats", "check", "serve", "configure"])
def test_a_collection_of_an_older_version_is_left_alone_until_it_is_migrated(site: Path, command: str) -> None:
    database = sqlite3.connect(site / "goldlabel.db", isolation_level=None)
    database.execute("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(InputError, match=rf"run: goldlabel collect migrate {site}$") as told:
        run(command, site)
    assert "\n" not in str(told.value)
    assert database.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
    database.close()


def test_migrate_tells_what_it_did(site: Path) -> None:
    assert run("migrate", site).endswith("already; nothing to do\n")
    told = run_json("migrate", site)
    assert told["before"] == told["after"]


def test_import_of_another_tools_export(tmp_path: Path) -> None:
    rows = [
        {"id": n, "text": f"The bird number {n} sings aloud.", "hypothesis": f"Noise {n}.", "label": ["neutral"]}
        for n in range(3)
    ]
    path = tmp_path / "ann.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("init", tmp_path / "b", "--protocol", "human-baseline", "--language", "en")
    told = run_json("import", tmp_path / "b", path, "--from", "doccano")
    assert (told["as"], told["added"]) == ("imported pairs", 3)
    assert run_json("import", tmp_path / "b", path, "--from", "doccano")["added"] == 0
    run("init", tmp_path / "m", "--protocol", "multi", "--language", "en")
    told = run_json("import", tmp_path / "m", path, "--from", "doccano")
    assert (told["as"], told["added"]) == ("premises", 3)


def test_a_campaign_begins_with_its_models_and_takes_its_contexts_later(tmp_path: Path) -> None:
    model = "tests.worker.adversaries_here:sure"
    run(
        "init", tmp_path / "d", "--protocol", "adversarial", "--language", "en", "--adversary", model,
        "--adversary", tmp_path, "--tries", 3,
    )  # fmt: skip
    short, fitting = "The old mill grinds rye again. " * 3, "The old mill by the river grinds rye again. " * 8
    other = "A ferry crosses the wide lake every morning before the sun is up. " * 5
    (tmp_path / "texts.txt").write_text("\n".join((short, fitting, other, fitting)))
    told = run_json("import", tmp_path / "d", tmp_path / "texts.txt")
    assert (told["read"], told["added"]) == (4, 2)
    assert [one["reason"] for one in told["left_out"]] == ["shorter than 250 characters", "a duplicate"]
    (tmp_path / "asked.txt").write_text("Which ferry crosses the lake?\n")
    near = [text.replace("lake", "bay") for text in (fitting, other)]
    (tmp_path / "more.txt").write_text("\n".join(near).replace("rye", "oats"))
    told = run_json(
        "import", tmp_path / "d", tmp_path / "more.txt", "--questions", tmp_path / "asked.txt", "--limit", 1
    )
    assert told["added"] == 1
    store = Store.open(tmp_path / "d")
    (writer,) = join(store, 1, "writer", 1)
    with store.write() as tx:
        fought = open_round_of(tx, 1)
        assert fought is not None
        assert [(one.name, one.reference) for one in fought.adversaries] == [(model, model), (str(tmp_path),) * 2]
        assert (fought.number, fought.tries) == (1, 3)
        assert unused_contexts(tx, 1) == 3
        configure(tx, 1, with_settings(project(tx, 1).protocol, {"qualification.training": 0}), by=None)
        assert claim(tx, 1, writer, "write").status == "ok"
    store.close()


def test_models_are_for_protocols_with_rounds_and_must_be_some(tmp_path: Path) -> None:
    for more, problem in (
        (
            ("multi", "--adversary", "a:b"),
            "--adversary and --tries are for a protocol with rounds, and 'multi' has none",
        ),
        (("multi", "--tries", 3), "--adversary and --tries are for a protocol with rounds, and 'multi' has none"),
        (("adversarial", "--adversary", "no model"), "'no model' is no model"),
    ):
        with pytest.raises(InputError, match=problem):
            run("init", tmp_path / "e", "--language", "en", "--protocol", *more)
        assert not (tmp_path / "e").exists()

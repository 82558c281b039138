"""What a command imports before it does anything; seconds are measured by ``benchmarks/startup.py``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from goldlabel.cli.app import app
from goldlabel.pairs.reading import FORMATS
from goldlabel.sources.fragments import FEATURES, PHENOMENA
from tests.cli.commands import run

TABLES = {"polars", "numpy", "pyarrow"}
HEAVY = {"torch", "transformers", "sklearn", "scipy", "fastapi", "sqlalchemy", "matplotlib", "jinja2", "ray", "pandas"}
PROBE = """
import json, sys
from goldlabel.cli.app import app
imported = {}
for arguments in json.loads(sys.argv[1]):
    try:
        app(arguments, standalone_mode=False)
    except SystemExit:
        pass
    imported[" ".join(arguments)] = sorted({name.partition(".")[0] for name in sys.modules})
print("\\n" + json.dumps(imported))
"""


def _imported(*commands: list[str]) -> dict[str, set[str]]:
    """Return which packages are imported after each command, all in one process: what one imports, the next has."""
    done = subprocess.run([sys.executable, "-c", PROBE, json.dumps(commands)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {command: {*names} for command, names in json.loads(done.stdout.splitlines()[-1]).items()}


def _all_commands() -> list[list[str]]:
    paths = []

    def walk(path: list[str], command: object) -> None:
        paths.append(path)
        for name, child in getattr(command, "commands", {}).items():
            walk([*path, name], child)

    walk([], typer.main.get_command(app))
    return paths


def test_the_version_and_the_help_of_every_command_import_no_library_of_ours() -> None:
    commands = [[*path, "--help"] for path in _all_commands()]
    assert len(commands) > 30
    for command, names in _imported(["--version"], *commands).items():
        assert not names & (TABLES | HEAVY), command


def test_a_command_on_pairs_imports_no_model_and_no_other_command(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"premise": "A heron stands.", "hypothesis": "A bird stands.", "label": "entailment"}\n')
    [names] = _imported(["data", "show", str(path)]).values()
    assert "polars" in names
    assert not names & (HEAVY | {"numpy", "pyarrow", "yaml"}), "small files need none of them"
    script = f"{PROBE}\nprint(json.dumps([name for name in sys.modules if name.startswith('goldlabel.')]))"
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps([["data", "show", str(path)]])], capture_output=True
    )
    modules = json.loads(done.stdout.splitlines()[-1])
    rooms = {module.split(".")[1] for module in modules}
    assert not rooms & {
        "metrics",
        "audit",
        "verify",
        "models",
        "train",
        "evaluate",
        "report",
        "collect",
        "web",
        "demo",
        "recast",
    }
    assert not [module for module in modules if module.startswith("goldlabel.sources.") and module.endswith("snli")]


SLOW = {"scipy.stats", "scipy.signal", "scipy.optimize", "sklearn", "pandas", "matplotlib", "torch", "jinja2"} | {
    "pydantic",
    "rich.console",
}
"""Modules that take longer to import than most commands run."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few pairs and a model's answers to them."""
    folder = tmp_path_factory.mktemp("few")
    labels = ("entailment", "neutral", "contradiction")
    rows = [
        {"premise": f"{bird} sleep.", "hypothesis": f"{bird} dream.", "label": label, "votes": [label] * 3}
        for bird, label in zip(("Herons", "Owls", "Ducks", "Larks", "Crows", "Swifts"), labels * 2, strict=True)
    ]
    (folder / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "answers.csv").write_text("id,label\n" + "".join(f"pairs-{n + 1},neutral\n" for n in range(6)))
    return folder


@pytest.mark.parametrize(
    ("commands", "more"),
    [
        (
            "data list|data show PAIRS|data head PAIRS|data filter PAIRS --where length>1|recast list"
            "|train majority --on PAIRS -o OUT/run",
            {"scipy", "pyarrow", "yaml", "asyncio"},
        ),
        (
            "data sample PAIRS -n 2|data duplicates PAIRS|data split PAIRS --ratios 50:50 -o OUT/split --name half"
            "|data card OUT/split|data diff PAIRS OUT/split|data merge PAIRS OUT/split --prefix -o OUT/merged"
            "|data dedupe PAIRS -o OUT/deduped|data export PAIRS --to hf -o OUT/hf"
            "|data make fragments --pairs 5 -o OUT/made",
            {"scipy", "asyncio", "multiprocessing"},
        ),
        (
            "verify PAIRS|score ANSWERS PAIRS|compare ANSWERS ANSWERS PAIRS|audit PAIRS --no-near",
            {"pyarrow", "goldlabel.models.endpoint", "goldlabel.evaluate.results", "multiprocessing"},
        ),
    ],
    ids=["reading", "writing", "figures"],
)
def test_commands_on_a_few_pairs_import_nothing_slow(
    commands: str, more: set[str], folder: Path, tmp_path: Path
) -> None:
    places = {"PAIRS": folder / "pairs.jsonl", "ANSWERS": folder / "answers.csv", "OUT": tmp_path}
    for word, place in places.items():
        commands = commands.replace(word, str(place))
    script = PROBE.replace('name.partition(".")[0] for', "name for")
    words = [command.split() for command in commands.split("|")]
    done = subprocess.run([sys.executable, "-c", script, json.dumps(words)], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    for command, names in json.loads(done.stdout.splitlines()[-1]).items():
        assert not (SLOW | more) & {*names}, command


@pytest.mark.parametrize(
    ("command", "names"),
    [(("data", "show"), FORMATS), (("data", "make"), (*PHENOMENA, *FEATURES))],
)
def test_help_names_what_it_does_not_import(command: tuple[str, ...], names: tuple[str, ...]) -> None:
    words = " ".join(run(*command, "--help").stdout.replace("-\n", "-").split())
    assert [name for name in names if name not in words] == []


def test_an_option_without_its_value_leads_to_the_commands_own_help() -> None:
    for command in (("audit", "pairs.csv", "--label-errors"), ("data", "show", "pairs.csv", "--columns")):
        done = run(*command)
        words = " ".join(word for word in command if word.isalpha())
        assert (done.returncode, f"(see 'goldlabel {words} --help')" in done.stderr) == (2, True)


@pytest.mark.parametrize(("users", "holds"), [(None, "16"), ("24", "24")])
def test_idle_threads_of_numpy_sleep_soon_unless_the_user_says_otherwise(users: str | None, holds: str) -> None:
    script = """
import os, sys
from goldlabel.cli.entry import main
sys.argv[1:] = ["--version"]
try:
    main()
except SystemExit:
    print(os.environ["OPENBLAS_THREAD_TIMEOUT"], "numpy" in sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    environment |= {} if users is None else {"OPENBLAS_THREAD_TIMEOUT": users}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == f"{holds} False", done.stderr


def test_an_unknown_command_is_told_the_closest() -> None:
    done = run("verfy")
    assert (done.returncode, "verify" in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    done = run("data", "hed")
    assert (done.returncode, "head" in done.stderr) == (2, True)

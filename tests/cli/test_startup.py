"""What a command imports before it does anything; seconds are measured by ``benchmarks/startup.py``."""

from __future__ import annotations

import json
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


def test_commands_on_a_few_pairs_import_nothing_slow(tmp_path: Path) -> None:
    labels = ("entailment", "neutral", "contradiction")
    rows = [
        {"premise": f"Heron {n}.", "hypothesis": f"Bird {n}.", "label": labels[n % 3], "votes": [labels[n % 3]] * 3}
        for n in range(12)
    ]
    path, answers = tmp_path / "pairs.jsonl", tmp_path / "answers.csv"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    answers.write_text("id,label\n" + "".join(f"pairs-{n + 1},neutral\n" for n in range(12)))
    commands = (
        f"data list|data show {path}|data head {path}|data filter {path} --where length>1|data duplicates {path}"
        f"|data split {path} --ratios 50:50 -o {tmp_path}/split --name half|data card {tmp_path}/split"
        f"|data diff {path} {tmp_path}/split|data merge {path} {tmp_path}/split --prefix -o {tmp_path}/merged"
        f"|data export {path} --to hf -o {tmp_path}/hf"
        f"|recast list|verify {path}|score {answers} {path}|compare {answers} {answers} {path}|audit {path} --no-near"
        f"|train majority --on {path} -o {tmp_path}/run"
    )
    script = PROBE.replace('name.partition(".")[0] for', "name for")
    words = [command.split() for command in commands.split("|")]
    done = subprocess.run([sys.executable, "-c", script, json.dumps(words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for command, names in json.loads(done.stdout.splitlines()[-1]).items():
        assert not SLOW & {*names}, command


@pytest.mark.parametrize(
    ("command", "names"),
    [(("data", "show"), FORMATS), (("data", "make"), (*PHENOMENA, *FEATURES))],
)
def test_help_names_what_it_does_not_import(command: tuple[str, ...], names: tuple[str, ...]) -> None:
    words = " ".join(run(*command, "--help").stdout.replace("-\n", "-").split())
    assert [name for name in names if name not in words] == []


def test_an_unknown_command_is_told_the_closest() -> None:
    done = run("verfy")
    assert (done.returncode, "verify" in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    done = run("data", "hed")
    assert (done.returncode, "head" in done.stderr) == (2, True)

"""Sources, recasters and models of other packages, and sources that a file declares."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import goldlabel as gl
from goldlabel.errors import GoldlabelError, InputError
from goldlabel.sources import read_source
from tests.cli.commands import run

PLUGIN = Path(__file__).parents[1] / "examples" / "plugin"
DECLARED = PLUGIN / "src" / "puddles" / "puddles.yaml"
BROKEN = """\
[goldlabel.sources]
fog = fog.nowhere:FOG
snli = puddles.source:PUDDLES
mist = puddles.source:PUDDLES
haze = puddles.weather:WEATHER
[goldlabel.recasters]
fog = fog.nowhere:FOG
[goldlabel.models]
fog = fog.nowhere:FOG
haze = puddles.weather:WEATHER
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example package, beside one all of whose entry points are at fault."""
    source, target = tmp_path_factory.mktemp("plugin"), tmp_path_factory.mktemp("site")
    for path in PLUGIN.rglob("*"):  # building writes beside the source
        if path.is_file() and "__pycache__" not in path.parts:
            copy = source / path.relative_to(PLUGIN)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", target, source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    broken = target / "fog-0.1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: fog\nVersion: 0.1\n")
    (broken / "entry_points.txt").write_text(BROKEN)
    return target


@pytest.fixture
def goldlabel(installed: Path, tmp_path: Path) -> Any:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")]),
        "GOLDLABEL_HOME": str(tmp_path / "home"),
    }

    def call(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "goldlabel", *map(str, arguments)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done

    return call


def test_an_installed_package_brings_its_own_and_a_broken_one_is_a_line(goldlabel: Any, tmp_path: Path) -> None:
    reports = tmp_path / "reports.tsv"
    reports.write_text("Ely\train\nDiss\tsun\nHythe\tsnow\n")
    train = tmp_path / "puddles.train.1.tsv"
    train.write_text("weather\tclaim\tfollows\tday\nIt rains.\tIt is wet.\tyes\tmon\nIt is hot.\tIt snows.\tno\ttue\n")

    for command, key, name in (
        (("data", "list"), "sources", "puddles"),
        (("recast", "list"), "recasters", "weather"),
        (("models",), "models", "shared-words"),
    ):
        listed = json.loads(goldlabel(*command, "--json").stdout)
        assert {row["name"]: row["from"] for row in listed[key]}[name] == "puddles 0.3.0"
        assert {row["origin"] for row in listed["refused"]} == {"fog 0.1"}
        reasons = {row["name"]: row["problem"] for row in listed["refused"]}
        assert "(ModuleNotFoundError: No module named 'fog')" in reasons["fog"]
        assert not {row["name"] for row in listed[key]} & (reasons.keys() - {"snli"})
        if key == "sources":
            assert "Goldlabel has one of that name" in reasons["snli"]
            assert "calls itself 'puddles'" in reasons["mist"]
            assert "is no source" in reasons["haze"]

    shown = goldlabel("data", "list").stdout
    assert "puddles 0.3.0" in shown
    assert "source 'fog' of fog 0.1 cannot be used (ModuleNotFoundError: No module named 'fog')" in shown
    added = json.loads(goldlabel("data", "add", "puddles", train, "--json").stdout)
    assert added["labels"] == {"entailment": 1, "not_entailment": 1}
    recast = json.loads(goldlabel("recast", "run", "weather", reports, "-o", "umbrellas", "--json").stdout)
    assert recast["pairs"] == 3
    goldlabel("train", "shared-words", "--on", "umbrellas", "-o", "run")
    assert json.loads(goldlabel("score", "run", "umbrellas", "--split", "train", "--json").stdout)["scores"]
    refused = goldlabel("train", "fog", "--on", "umbrellas", "-o", "fog", code=2)
    assert "model 'fog' of fog 0.1 cannot be used" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_declared_source_needs_no_python(home: Path, tmp_path: Path) -> None:
    declared = tmp_path / "mine.yaml"
    declared.write_text(DECLARED.read_text().replace("name: puddles", "name: mine"))
    dev = tmp_path / "puddles.dev.tsv"
    dev.write_text("weather\tclaim\tfollows\tday\tstation\nIt rains.\tIt is wet.\tyes\tmon\t7\n")
    done = run("data", "add", declared, dev, "--json")
    assert done.returncode == 0, done.stderr
    pairs = gl.load("mine")
    [pair] = pairs
    assert (pair["label"], pair["split"], pair["group"]) == ("entailment", "dev", "mon")
    assert (pairs.card.licence, pairs.card.paper) == ("CC BY 4.0", "Rain and Shine (2024), Puddles")
    listed = json.loads(run("data", "list", "--json").stdout)
    origins = {row["name"]: row["from"] for row in listed["sources"]}
    assert (origins["mine"], listed["refused"]) == (str(home / "sources" / "mine.yaml"), [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence:", "license:", "key 'license' is not known; did you mean 'licence'"),
        ("licence: CC BY 4.0", "", "'licence' is missing"),
        ("  premise: weather", "", "say which column of the file is the premise"),
        ("  group: day", "  day: day", "columns 'day' is not known"),
        ("  dev: puddles.dev.tsv", "  validated: a.tsv", "files 'validated' is not known"),
        ("  dev: puddles.dev.tsv", "  dev: puddles.dev.doc", "files: format '.doc' is not known"),
        ("labels: nli2", "labels: nli7", "there is no label space 'nli7'"),
        ("name: puddles", "name: ../puddles", "is not made of small letters"),
        ("columns:", "columns: [", "cannot be read as YAML"),
        ("label_map:\n  yes: entailment", "label_map:\n  yes: [entailment]", "label_map: is not a list"),
    ],
)
def test_a_fault_in_a_declared_source_is_named(home: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "puddles.yaml"
    assert old in DECLARED.read_text()
    path.write_text(DECLARED.read_text().replace(old, new, 1))
    with pytest.raises(GoldlabelError) as error:
        read_source(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))
    done = run("data", "add", path, tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (home / "sources").exists()


def test_a_declared_source_that_was_spoilt_later_is_a_line_in_the_list(home: Path) -> None:
    (home / "sources").mkdir(parents=True)
    (home / "sources" / "mine.yaml").write_text("name: mine\n")
    done = run("data", "list")
    assert (done.returncode, "source 'mine' of" in done.stdout, "'title' is missing" in done.stdout) == (0, True, True)
    with pytest.raises(GoldlabelError, match="'title' is missing"):
        gl.load("mine")


def test_what_is_no_yaml_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as YAML"):
        read_source(tmp_path / "nowhere.yaml")

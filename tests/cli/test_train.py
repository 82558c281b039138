from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

import goldlabel as gl  # noqa: E402
from goldlabel.cli import steps  # noqa: E402
from goldlabel.cli.app import app as whole  # noqa: E402
from goldlabel.cli.steps import describe_step  # noqa: E402
from goldlabel.cli.train import parse_sample, train_command  # noqa: E402
from goldlabel.errors import GoldlabelError, InputError  # noqa: E402
from goldlabel.train.run import Step  # noqa: E402
from goldlabel.train.trainer import Trainer  # noqa: E402
from tests.train.samples import make_rows, weights, write_vectors  # noqa: E402

app = typer.Typer(rich_markup_mode=None)
app.command()(train_command)

SMALL = ("--set", "hidden=8", "--epochs", "2", "--device", "cpu")


@pytest.fixture
def pairs(jsonl: Callable[..., Path], home: Path) -> str:
    rows = [*make_rows(36, split="train"), *make_rows(12, split="dev", first=500)]
    rows[0]["label"] = "-"
    return str(jsonl(*rows, name="doors.jsonl"))


@pytest.fixture
def others(jsonl: Callable[..., Path]) -> str:
    return str(jsonl(*make_rows(18, first=900), name="walls.jsonl"))


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_a_run_for_people(pairs: str, tmp_path: Path) -> None:
    result = run("cbow", "--on", pairs, *SMALL, "-o", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("cbow trained on 35 pairs, ")
    assert "doors" in result.stdout
    assert result.stderr == "doors: 1 pair has no gold label and is left out\n"
    assert gl.load_model(tmp_path / "run").label_space.name == "nli3"


def test_one_json_document(pairs: str, tmp_path: Path) -> None:
    result = run("cbow", "--on", pairs, *SMALL, "--seed", 3, "-o", tmp_path / "run", "--json")
    document = json.loads(result.stdout)
    assert {"run", "model", "parameters", "epochs", "dev", "seconds", "pairs_per_second", "seed"} <= set(document)
    assert (document["model"], document["epochs"], document["seed"]) == ("cbow", 2, 3)
    assert document["run"] == str(tmp_path / "run")
    assert list(document["dev"]) == ["doors"]


def test_a_finished_run_says_that_it_was_finished(pairs: str, tmp_path: Path) -> None:
    first, again = (run("linear", "--on", pairs, "-o", tmp_path / "run") for _ in range(2))
    assert "finished already" not in first.stderr
    assert "this run was finished already and not trained again; another -o trains anew" in again.stderr
    assert again.stdout == first.stdout
    several = ("linear", "--on", pairs, "-o", tmp_path / "runs", "--seeds")
    assert "finished already" not in run(*several, 1 + 1).stderr
    assert "2 of 3 runs were finished already" in run(*several, 3).stderr


def test_what_a_run_has_noted_is_told_and_kept(pairs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Trainer.run

    def noting(self: Trainer) -> None:
        self.notes.append("the moon is full")
        real(self)

    monkeypatch.setattr(Trainer, "run", noting)
    for _ in range(2):
        result = run("cbow", "--on", pairs, *SMALL, "-o", tmp_path / "run")
        assert f"{tmp_path / 'run'}: the moon is full\n" in result.stderr
    assert "finished already" in result.stderr


def test_every_option_reaches_the_run(pairs: str, others: str, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    write_vectors(vectors, ["gate", "the", "stands"])
    result = run(
        "bilstm", "--on", f"{pairs}:20", "--on", others, "--dev", pairs, "--dev", others, "--hypothesis-only",
        "--epochs", 2, "--batch", 5, "--batch-tokens", 90, "--accumulate", 2, "--optimiser", "adamw",
        "--lr", 0.01, "--schedule", "linear", "--warmup", 0.1, "--floor", 1e-6, "--l2", 0.01, "--clip", 2,
        "--patience", 3, "--length", 30,
        "--stop-on", "walls", "--vectors", vectors, "--freeze-vectors", "--tokenizer", "characters",
        "--vocabulary", others, "--label-space", "nli2", "--set", "hidden=6,pooling=max", "--set", "dropout=0.2",
        "--debias", "focal", "--debias-set", "gamma=1.5",
        "--device", "cpu", "--precision", "fp32", "--seed", 5, "-o", tmp_path / "run", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    given = {
        "seed": 5, "reads": "hypothesis", "size": None, "epochs": 2, "batch": 5, "batch_tokens": 90, "accumulate": 2,
        "optimiser": "adamw", "lr": 0.01, "schedule": "linear", "warmup": 0.1, "floor": 1e-6, "l2": 0.01,
        "clip": 2.0, "patience": 3, "length": 30, "stop_on": "walls", "vectors": str(vectors), "train_vectors": False,
        "tokenizer": "characters", "tagger": "", "device": "cpu", "precision": "fp32", "start": None, "fixed": False,
        "options": {"hidden": 6, "pooling": "max", "dropout": 0.2},
        "debias": "focal", "debias_options": {"gamma": 1.5}, "bias": [],
    }  # fmt: skip
    assert config["training"]["options"] == given
    assert config["recipe"].items() >= {key: given[key] for key in ("optimiser", "schedule", "warmup", "l2")}.items()
    assert config["encoder"]["length"] == 30
    assert config["training"]["on"]["doors+walls"]["pairs"] == 38
    assert config["label_space"]["name"] == "nli2"
    assert list(json.loads(result.stdout)["dev"]) == ["doors", "walls"]


def test_options_of_files_without_a_card(jsonl: Callable[..., Path], home: Path, tmp_path: Path) -> None:
    rows = [{"a": row["premise"], "b": row["hypothesis"], "y": number % 2} for number, row in enumerate(make_rows(12))]
    path = jsonl(*rows, name="plain.jsonl")
    reading = ("--labels", "yes,no", "--map", "0=yes,1=no", "--columns", "premise=a,hypothesis=b,label=y")
    result = run("linear", "--on", path, *reading, "--limit", 8, "-o", tmp_path / "run", "--json")
    assert json.loads(result.stdout)["pairs"] == 8
    assert "no dev set: nothing is scored, and training does not stop early" in result.stderr
    assert gl.load_model(tmp_path / "run").label_space.labels == ("no", "yes")


def test_a_sample_is_asked_for_behind_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd:30").mkdir()
    assert parse_sample("snli:30000") == ("snli", 30000, 1)
    assert parse_sample("snli") == ("snli", None, 1)
    assert parse_sample("odd:30") == ("odd:30", None, 1)
    assert parse_sample("odd:31") == ("odd", 31, 1)
    assert parse_sample("a:b") == ("a:b", None, 1)
    assert parse_sample("anli:10x") == ("anli", None, 10)
    assert parse_sample("odd:30x") == ("odd", None, 30)
    for nothing in ("snli:0", "snli:0x"):
        with pytest.raises(InputError, match="0 pairs are nothing to train on"):
            parse_sample(nothing)


def test_pairs_of_one_set_come_several_times_an_epoch(pairs: str, others: str, tmp_path: Path) -> None:
    mixture = ("--on", pairs, "--on", f"{others}:3x")
    result = run("cbow", *mixture, *SMALL, "--epochs", 1, "--batch", 1, "-o", tmp_path / "run", "--json")
    assert json.loads(result.stdout)["pairs"] == 35 + 18
    metrics = json.loads((tmp_path / "run" / "metrics.jsonl").read_text())
    assert metrics["steps"] == 35 + 3 * 18
    refused = run("linear", *mixture, "-o", tmp_path / "linear")
    assert isinstance(refused.exception, InputError)
    assert "it takes each pair once; leave out :Nx in --on" in str(refused.exception)


def test_the_three_scenarios(pairs: str, others: str, tmp_path: Path) -> None:
    first = tmp_path / "first"
    assert run("cbow", "--on", pairs, *SMALL, "-o", first).exit_code == 0
    updated = run("cbow", "--on", others, "--dev", pairs, "--from", first, "--epochs", 1, "-o", tmp_path / "updated")
    assert updated.exit_code == 0, updated.output
    fixed = run("cbow", "--dev", others, "--from", first, "--fixed", "-o", tmp_path / "fixed", "--json")
    assert fixed.exit_code == 0, fixed.output
    assert weights(tmp_path / "fixed") == weights(first) != weights(tmp_path / "updated")
    assert list(json.loads(fixed.stdout)["dev"]) == ["walls"]


def test_a_sweep_for_people_and_programs(pairs: str, tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text("lr: [1e-3, 1e-2]\n")
    arguments = ("cbow", "--on", pairs, *SMALL, "--seeds", 2, "--sizes", "10,20", "--grid", tmp_path / "grid.yaml")
    result = run(*arguments, "-o", tmp_path / "runs")
    assert result.exit_code == 0, result.output
    header, *rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert header == ["size", "lr", "runs", "doors"]
    assert [row[:3] for row in rows] == [[size, lr, "2"] for size in ("10", "20") for lr in ("0.001", "0.01")]
    document = json.loads(run(*arguments, "-o", tmp_path / "runs", "--json").stdout)
    assert len(document["runs"]) == 8
    assert document["seeds"] == [0, 1]
    assert document["best"].startswith("size-20/lr-")


def test_a_failed_run_of_a_sweep_is_named(pairs: str, tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text("lr: [0.01, 1e30]\n")
    arguments = ("--set", "hidden=8", "--epochs", 9, "--batch", 4, "--grid", tmp_path / "grid.yaml")
    result = run("cbow", "--on", pairs, *arguments, "-o", tmp_path / "runs")
    assert result.exit_code == 1
    assert "1 runs, 1 failed" in result.stdout
    assert "goldlabel: lr-1e+30/seed-0: the loss is not a finite number at step" in result.stderr


def test_a_run_folder_goes_to_the_audit(pairs: str, tmp_path: Path) -> None:
    assert run("cbow", "--on", pairs, *SMALL, "-o", tmp_path / "run").exit_code == 0
    found = CliRunner().invoke(whole, ["audit", pairs, "--probabilities", str(tmp_path / "run"), "--no-near", "--json"])
    assert found.exit_code == 0, found.output
    cartography = json.loads(found.stdout)["cartography"]
    assert (cartography["pairs"], cartography["epochs"]) == (35, 2)


def test_the_line_of_a_run_under_way() -> None:
    step = Step(epoch=3, epochs=10, pairs=500, of=1000, loss=0.51234, rate=250.0, accuracy=0.7712)
    assert describe_step(step) == "250 pairs/s  loss 0.512  best dev 77.1 %  0:00:30 left at most"
    early = Step(epoch=1, epochs=2, pairs=0, of=1000, loss=1.1, rate=0.0, accuracy=None)
    assert "best" not in describe_step(early)


def test_a_terminal_shows_the_runs_under_way(pairs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(quiet=True)) as bars:
        follow = steps._follow(bars, 2)
        for name in ("seed-0", "seed-1", "seed-0", "seed-2"):
            follow(name, Step(2, 5, 30, 60, 0.5, 10.0, 0.9))
        assert [task.description for task in bars.tasks] == ["seed-0 epoch 2/5", "seed-2 epoch 2/5"]
        assert [(task.completed, task.total) for task in bars.tasks] == [(30, 60), (30, 60)]
        follow("seed-0", None)
        assert [task.description for task in bars.tasks] == ["seed-2 epoch 2/5"], "what is done is not shown any more"
    shown: list[str] = []
    monkeypatch.setattr(steps.sys, "stderr", _Terminal(shown))
    with steps.display_steps(1) as on_run:
        assert on_run is not None
        on_run("seed-0", Step(2, 5, 30, 60, 0.5, 10.0, 0.9))
    assert any("best dev 90.0 %" in text for text in shown)


class _Terminal:
    """A stderr that says it is one."""

    encoding = "utf-8"

    def __init__(self, shown: list[str]) -> None:
        self.write = shown.append

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        pass


CHILD = """
import sys
from goldlabel.cli import main
from goldlabel.train.step import TrainingStep

backward = TrainingStep.backward

def slowly(self, *arguments):
    print("step", flush=True)
    return backward(self, *arguments)

TrainingStep.backward = slowly
sys.argv = ["goldlabel", *sys.argv[1:]]
main()
"""
"""The command as it is, but for a word to the parent at each batch, who then presses Ctrl-C."""


def test_ctrl_c_saves_and_the_same_command_goes_on(pairs: str, tmp_path: Path) -> None:
    arguments = ["--on", pairs, "--set", "hidden=8", "--epochs", "40", "--patience", "40", "--device", "cpu"]
    command = [sys.executable, "-c", CHILD, "train", "cbow", *arguments, "-o", str(tmp_path / "run")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(3):
        assert child.stdout.readline() == "step\n"
    child.send_signal(signal.SIGINT)
    _, told = child.communicate()
    assert child.returncode == 130
    lines = [line for line in told.splitlines() if "no gold label" not in line]
    assert lines == [f"goldlabel: interrupted; give the same command once more to go on with {tmp_path / 'run'}"]
    assert (tmp_path / "run" / "checkpoint.pt").exists()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for name in ("run", "whole"):
        assert run("cbow", *arguments, "-o", tmp_path / name).exit_code == 0
    torch.set_num_threads(threads)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("esmi",), "there is no model 'esmi'; did you mean 'esim'"),
        (("cbow", "--hypothesis-only", "--premise-only"), "leave nothing to read; choose one"),
        (("cbow", "--set", "hiden=3"), "cbow has no option 'hiden'; did you mean 'hidden'"),
        (("cbow", "--set", "hidden=big"), "hidden=big is not a whole number"),
        (("cbow", "--set", "hidden=0"), "cbow: hidden 0 is not"),
        (("cbow", "--set", "dropout=2", "--seeds", "2"), "cbow: dropout 2.0 is not a number from 0 on and below 1"),
        (("cbow", "--set", "hidden"), "--set 'hidden' is not of the form A=B"),
        (("cbow", "--lr", "0"), "lr 0.0 is not above 0"),
        (("cbow", "--seed", "-1"), "seed -1 is not a whole number from 0 to"),
        (("cbow", "--seed", "-1", "--seeds", "2"), "seed -1 is not a whole number from 0 to"),
        (("cbow", "--split", "test"), "doors: has no test split, only dev, train; say with --split which one"),
        (("infersent", "--lr", "1e-6"), "lr 1e-06 is below 1e-05, where infersent stops training"),
        (("cbow", "--device", "tpu"), "device 'tpu' is not known"),
        (("cbow", "--sizes", "10;20"), "--sizes 10;20 are not numbers joined by commas"),
        (("cbow", "--grid", "esmi"), "there is no file and no grid 'esmi'; did you mean 'esim'"),
        (
            ("cbow", "--grid", "adv"),
            "grid adv.yaml: debias.alpha is an option of a debiasing method; pass --debias METHOD",
        ),
        (("cbow", "--stop-on", "dors"), "stop-on 'dors' is no dev set; did you mean 'doors'"),
        (("cbow", "--vectors", "none.txt"), "none.txt: there is no such file of vectors"),
        (("cbow", "--from", "nowhere"), "nowhere: is not a run folder"),
        (("cbow", "--fixed"), "say with --from RUN whose weights are scored"),
        (("cbow", "--dev", "nowhere.jsonl"), "nowhere"),
        (("cbow", "--label-space", "scitail"), "without a counterpart in scitail"),
        (("linear", "--lr", "0.1"), "linear is no network: --lr means nothing to it"),
    ],
)
def test_bad_input(pairs: str, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments, "--on", pairs, "-o", tmp_path / "run")
    assert isinstance(result.exception, GoldlabelError), result.output
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_nothing_to_train_on_and_nowhere_to_write(pairs: str, tmp_path: Path) -> None:
    result = run("cbow", "-o", tmp_path / "run")
    assert "nothing to train on; pass --on PATH" in str(result.exception)
    assert run("cbow", "--on", pairs).exit_code == 2
    assert CliRunner().invoke(whole, ["train", "--help"]).exit_code == 0

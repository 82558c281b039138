from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import orjson
import pytest

import goldlabel as gl
from goldlabel.cli import main
from tests.cli.commands import run, start
from tests.conftest import pair

Write = Callable[..., Path]


def run_json(*arguments: object, cwd: Path | None = None) -> dict[str, object]:
    done = run(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture
def snli(tmp_path: Path, jsonl: Write) -> Path:
    folder = tmp_path / "snli_1.0"
    folder.mkdir()
    for split, size in (("train", 9), ("dev", 4), ("test", 4)):
        rows = [
            pair(pairID=f"{split}{n}", sentence1=f"Heron {split} {n}.", captionID=f"{split}{n // 2}")
            for n in range(size)
        ]
        jsonl(*rows, name=f"snli_1.0/snli_1.0_{split}.jsonl")
    return folder


def test_help_and_version_import_nothing_heavy() -> None:
    assert start("--version").stdout.startswith(b"goldlabel 0.")
    for imported, heavy in (
        ("goldlabel.cli.app", {"torch", "transformers", "ray", "fastapi", "sklearn", "matplotlib"}),
        ("goldlabel", {"polars", "numpy", "pyarrow", "torch"}),
    ):
        probe = f"import sys, {imported}; print(sorted({heavy!r} & {{*sys.modules}}))"
        seen = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
        assert seen.stdout.strip() == "[]", seen


def test_add_list_show_export_split(home: Path, snli: Path, tmp_path: Path) -> None:
    added = run_json("data", "add", "snli", snli)
    assert (added["pairs"], added["problems"]) == (17, [])
    listed = {row["name"]: row for row in run_json("data", "list")["sources"]}  # type: ignore[attr-defined]
    assert (listed["snli"]["pairs"], listed["snli"]["added"], listed["ocnli"]["added"]) == (17, True, False)
    shown = run_json("data", "show", "snli")
    assert shown["splits"] == {"train": 9, "dev": 4, "test": 4}
    assert {
        "name",
        "pairs",
        "label_space",
        "labels",
        "splits",
        "languages",
        "genres",
        "with_votes",
        "licence",
        "source",
    } <= shown.keys()
    for kind in ("hf", "jsonl", "csv", "parquet"):
        exported = run_json("data", "export", "snli", "--to", kind, cwd=tmp_path)
        assert len(gl.read(tmp_path / str(exported["output"]))) == 17
    split = run_json(
        "data", "split", "snli", "--ratios", "50:25:25", "--by", "group", "-o", tmp_path / "s", "--seed", 3
    )
    assert split["dropped"] == 0
    assert sum(split["splits"].values()) == 17  # type: ignore[attr-defined]
    assert (split["seed"], split["output"]) == (3, str(tmp_path / "s"))
    assert gl.read(tmp_path / "s").to_dict()["splits"] == split["splits"]


def test_tables_for_people(home: Path, snli: Path) -> None:
    run("data", "add", "snli", snli)
    done = run("data", "show", "snli")
    assert done.stdout.splitlines()[0].strip() == "snli: 17 pairs, nli3"
    assert "train" in done.stdout
    assert "snli" in run("data", "list").stdout


def test_every_plan_from_the_command_line(jsonl: Write, tmp_path: Path) -> None:
    rows = [
        pair(
            pairID=f"{n:03}",
            sentence1=f"Heron {n // 3}.",
            annotator_labels=["entailment"] * 5,
            level=("easy", "hard")[n % 2],
            writer=f"w{n % 6}",
            genre=("news", "lit")[n % 2],
            shade=("dark", "light")[n % 2],
        )
        for n in range(60)
    ]
    path = jsonl(*rows)
    out = tmp_path / "out"
    assert run_json("data", "split", path, "--halves", "-o", out)["splits"] == {"dev": 30, "test": 30}
    nested = run_json("data", "split", path, "--nested", "6,12", "--stratify", "genre", "-o", tmp_path / "nested")
    assert {name: subset["splits"] for name, subset in nested["subsets"].items()} == {  # type: ignore[attr-defined]
        "6": {"train": 6},
        "12": {"train": 12},
    }
    alike = run_json("data", "split", path, "--halves", "--stratify", "meta.shade,genre", "-o", tmp_path / "alike")
    assert alike["splits"] == {"dev": 30, "test": 30}
    refused = run("data", "split", path, "--halves", "--stratify", "gene", "-o", tmp_path / "wrong")
    assert (refused.returncode, "did you mean 'genre'" in refused.stderr, "meta.FIELD" in refused.stderr) == (
        2,
        True,
        True,
    )
    small, large = (set(gl.read(tmp_path / "nested" / size).collect()["id"]) for size in ("6", "12"))
    assert small < large
    verified = run_json("data", "split", path, "--verified", "6:8", "-o", out)
    assert verified["splits"] == {"train": 45, "dev": 6, "test": 8, "none": 1}
    writers = run_json("data", "split", path, "--exclusive-writers", "4:10", "--writers", "w1", "-o", out)
    # Each pair of w1 shares its premise with two of others.
    assert writers["splits"] == {"train": 24, "dev": 4, "test": 10, "none": 22}
    assert writers["dropped"] == 0
    cleared = run_json(
        "data", "split", path, "--verified", "6:8", "--by", "pair", "--exclude-overlap", "premise", "-o", out
    )
    assert cleared["dropped"] == 46 - cleared["splits"]["train"] > 0  # type: ignore[index]
    limited = run_json("data", "split", path, "--ratios", "80:20", "--limit", 10, "-o", out)
    assert limited["splits"] == {"train": 7, "test": 3}
    done = run("data", "split", path, "--ratios", "80:10:10", "--limit", 6, "-o", out)
    why = "there are too few units, or too large ones"
    assert done.stderr.splitlines() == [f"dev stays empty: {why}", f"test stays empty: {why}"]


def test_duplicates_are_found_and_dropped(jsonl: Write, tmp_path: Path) -> None:
    train = [pair(pairID=f"t{n}", sentence1=f"Heron {n // 2} stands.", split="train") for n in range(4)]
    test = [pair(pairID=f"x{n}", sentence1=f"heron {n} STANDS", split="test") for n in range(3)]
    path, other = jsonl(*train, *test, name="herons.jsonl"), jsonl(test[2] | {"pairID": "y"}, name="older.jsonl")
    found = run_json("data", "duplicates", path, "--threshold", 1)
    assert {key: found[key] for key in ("clusters", "pairs", "across_splits", "dropped")} == {
        "clusters": 2,
        "pairs": 7,
        "across_splits": 2,
        "dropped": 0,
    }
    dropped = run_json(
        "data", "duplicates", path, "--against", other, "--threshold", 1, "--drop", "-o", tmp_path / "clean"
    )
    assert (dropped["clusters"], dropped["pairs"], dropped["dropped"]) == (3, 8, 5)
    assert gl.read(tmp_path / "clean").collect()["id"].to_list() == ["x0", "x1"]
    both = run_json("data", "duplicates", path, other, "--threshold", 1, "--drop", "-o", tmp_path / "both")
    assert both["dropped"] == 5
    assert {name: len(gl.read(tmp_path / "both" / name)) for name in ("herons", "older")} == {"herons": 3, "older": 0}
    told = run("data", "duplicates", path, "--on", "hypothesis")
    assert told.stdout.splitlines()[:2] == [
        "clusters of duplicates among 7 pairs, by hypothesis: 1",
        "across splits: 1",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "show", "snly"], "did you mean 'snli'"),
        (["data", "show", "snli"], "run 'goldlabel data add snli PATH'"),
        (["data", "add", "snli", "nowhere"], "nowhere: there is no such file or folder"),
        (["data", "add", "snil", "."], "did you mean 'snli'"),
        (["data", "fetch", "snil"], "did you mean 'snli'"),
        (["data", "export", "PATH", "--to", "xml"], "--to 'xml' is not known"),
        (["data", "split", "PATH"], "no way to split was given"),
        (["data", "duplicates", "PATH", "--on", "premises"], "--on 'premises' is not known; did you mean 'premise'"),
        (["data", "duplicates", "PATH", "--threshold", "0.1"], "threshold 0.1 is not between 0.5 and 1"),
        (["data", "duplicates", "PATH", "--drop"], "--drop and -o go together"),
        (["data", "duplicates", "PATH", "PATH", "--drop", "-o", "out"], "two datasets are called"),
        (["data", "duplicates", "PATH", "--drop", "-o", "PATH"], "is the input itself"),
        (["data", "split", "PATH", "--ratios", "1:2", "--halves"], "--halves and --ratios were given; choose one"),
        (["data", "split", "PATH", "--ratios", "80"], "ratios '80' are not understood"),
        (["data", "split", "PATH", "--halves", "--by", "grop"], "did you mean 'group'"),
        (["data", "split", "PATH", "--exclude-overlap", "premise"], "there is no dev or test split"),
        (["data", "split", "PATH", "--nested", "3,x"], "--nested: 'x' is not a whole number"),
        (["data", "split", "PATH", "--verified", "5"], "--verified DEV:TEST: '' is not a whole number"),
        (
            ["data", "split", "PATH", "--ratios", "80:20", "--writers", "w"],
            "--writers goes with --exclusive-writers only",
        ),
        (["data", "split", "PATH", "--exclude-overlap", "premise", "--by", "group"], "--by goes with --ratios or"),
        (["data", "split", "PATH", "--halves", "--by", "group,genre"], "there is no column 'group,genre' to group by"),
        (["data", "split", "PATH", "--halves", "--by", "tags"], "column 'tags' holds lists"),
        (["data", "export", "PATH", "--to", "jsonl"], "is the input itself; choose another place"),
        (["data", "export", "PATH", "--to", "csv", "--split", "foo"], "split 'foo' is not known; allowed: dev"),
        (["data", "export", "PATH", "--to", "hf", "-o", "pairs.jsonl"], "is the input itself"),
        (["data", "export", "PATH", "--to", "jsonl", "-o", "."], "is a folder; name a file"),
        (["data", "export", "PATH", "--to", "hf", "-o", "-"], "hf is a folder, and standard output takes one file"),
        (["data", "export", "PATH", "--to", "csv", "-o", "-", "--json"], "both want standard output"),
        (
            ["data", "split", "PATH", "--ratios", "80:20", "-o", "-"],
            "writes a folder, and standard output takes one file",
        ),
        (["audit", "PATH", "-o", "-"], "writes a folder, and standard output takes one file"),
        (["train", "majority", "--on", "PATH", "-o", "-"], "writes a folder, and standard output takes one file"),
        (["data", "show", "PATH", "--labels", "nli9"], "there is no label space 'nli9'"),
        (["data", "show", "PATH", "--map", "entailment"], "--map 'entailment' is not of the form A=B"),
        (["data", "show", "PATH", "--labels", "nli2", "--map", "entailment=yes"], "leads out of label space 'nli2'"),
        (["data", "show", "PATH", "--colour"], "No such option: --colour"),
        (["data", "shwo"], "No such command 'shwo'"),
        (["data", "split", "PATH", "--ratios", "80:20", "--seed", "x"], "Invalid value for '--seed'"),
        (
            ["data", "split", "PATH", "--ratios", "80:20", "--seed", "-1"],
            "seed -1 is not a whole number from 0 to 4294967295",
        ),
        (["verify", "PATH", "--seed", "-1"], "seed -1 is not a whole number"),
        (["audit", "PATH", "--seed", "-1"], "seed -1 is not a whole number"),
        (["train", "majority", "--on", "PATH", "-o", "run", "--seed", "-1"], "seed -1 is not a whole number"),
        (["data", "make", "fragments", "--seed", "-1"], "seed -1 is not a whole number"),
        (["recast", "run", "puns", "PATH", "--seed", "-1"], "seed -1 is not a whole number"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    home: Path,
    jsonl: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    path = jsonl(pair())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["goldlabel", *(str(path) if word == "PATH" else word for word in arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capfd.readouterr()
    assert stopped.value.code == 2
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1
    assert printed.out == ""
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pairs.jsonl"]


def test_a_bad_file_leaves_no_output(jsonl: Write, tmp_path: Path) -> None:
    path = jsonl(pair(), pair(gold_label="entail"))
    done = run("data", "export", path, "--to", "parquet", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert f"{path} line 2: label 'entail' is not one of" in done.stderr
    assert not (tmp_path / "out").exists()


def test_labels_columns_and_maps(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text_a\ttext_b\ty\nAn owl.\tA bird.\t0\nAn owl.\tA cat.\t1\n")
    columns = ["--columns", "premise=text_a,hypothesis=text_b", "--columns", "label=y"]
    shown = run_json("data", "show", path, *columns, "--labels", "nli2", "--map", "0=entailment,1=not_entailment")
    assert shown["labels"] == {"entailment": 1, "not_entailment": 1}


SLOW_IMPORT = """
import builtins, os, signal, sys

real, library = builtins.__import__, sys.argv.pop(1)

def interrupted(name, *rest):
    if name == library:
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)

builtins.__import__ = interrupted
from goldlabel.cli import main
main()
"""
"""The command, whose user presses Ctrl-C the moment it imports a library."""


@pytest.mark.parametrize("library", ["polars", "goldlabel.pairs.standard_input", "rich.cells"])
def test_ctrl_c_during_imports_is_one_line(jsonl: Write, library: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SLOW_IMPORT, library, "data", "show", str(jsonl(pair()))],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as in a terminal
    )
    assert (done.returncode, done.stderr) == (130, "goldlabel: interrupted; nothing was half-written\n")


def test_ctrl_c_during_a_write_leaves_nothing(home: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "snli_1.0_train.jsonl"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [sys.executable, "-m", "goldlabel", "data", "add", "snli", str(fifo)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as in a terminal
    )
    seen_writing = False
    with suppress(BrokenPipeError), fifo.open("wb") as stream:
        for number in range(10_000_000):
            stream.write(orjson.dumps(pair(pairID=f"{number}", sentence1="An owl. " * 20)) + b"\n")
            if number % 1000 == 0 and not seen_writing and any((home / "data").glob(".snli.*/train.parquet")):
                seen_writing = True
                process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert seen_writing
    assert process.returncode == 130
    assert stderr == "goldlabel: interrupted; nothing was half-written\n"
    assert list((home / "data").iterdir()) == []


def test_a_full_disk_is_one_line(jsonl: Write, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here: not root, or no mount(8)")
    try:
        path = jsonl(*(pair(pairID=f"{n}", sentence1=os.urandom(60).hex()) for n in range(4000)))
        for kind, target in (("parquet", "out"), ("jsonl", "out.jsonl"), ("hf", "out")):
            done = run("data", "export", path, "--to", kind, "-o", disk / target)
            assert done.returncode == 2, done.stderr
            assert "No space left on device" in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_one_file_may_go_to_standard_output(jsonl: Write, tmp_path: Path) -> None:
    path = jsonl(pair(pairID="a"), pair(pairID="b"))
    done = start("data", "export", path, "--to", "jsonl", "-o", "-")
    assert [json.loads(line)["pairID"] for line in done.stdout.splitlines()] == ["a", "b"]
    assert b"2 pairs" in done.stderr
    done = start("data", "export", path, "--to", "parquet", "-o", "/dev/stdout")
    (tmp_path / "a.parquet").write_bytes(done.stdout)
    assert len(gl.read(tmp_path / "a.parquet")) == 2
    assert not (tmp_path / "-").exists()


def test_the_whole_disk_is_no_dataset() -> None:
    done = run("data", "show", "/")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_closed_pipe_is_no_error(jsonl: Write) -> None:
    path = jsonl(pair())
    command = f"{sys.executable} -m goldlabel data show {path} | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert done.stderr == ""

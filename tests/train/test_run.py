"""What a run leaves."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import goldlabel as gl  # noqa: E402
from goldlabel import files  # noqa: E402
from goldlabel.errors import InputError, StorageError  # noqa: E402
from goldlabel.files import lock_folder, sha256  # noqa: E402
from goldlabel.train import Run, train  # noqa: E402
from goldlabel.train import trainer as trainer_module  # noqa: E402
from goldlabel.train.run import RunFolder  # noqa: E402
from goldlabel.train.trainer import Interrupted  # noqa: E402
from tests.train.samples import SMALL, make_pairs, make_rows, with_dev, write_vectors  # noqa: E402


def run(folder: Path, **changes: Any) -> Run:
    return train("cbow", with_dev(), folder, **{**SMALL, "epochs": 3, "batch": 8, **changes})


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_file_of_a_run(tmp_path: Path) -> None:
    result = run(tmp_path / "run", seed=3, lr=0.002)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "config.json", "dynamics", "environment.json", "metrics.jsonl", "model.safetensors", "result.json",
        "tensorboard", "trained-on.npy", "vocab.txt",
    ]  # fmt: skip
    config = read(tmp_path / "run" / "config.json")
    assert (config["format"], config["model"], config["label_space"]["name"]) == (1, "cbow", "nli3")
    assert config["options"] == {"hidden": 8, "dropout": 0.0}
    assert (config["recipe"]["lr"], config["recipe"]["batch"], config["recipe"]["optimiser"]) == (0.002, 8, "adam")
    assert config["train_vectors"] is True
    assert config["training"]["options"]["seed"] == 3
    environment = read(tmp_path / "run" / "environment.json")
    assert environment["settings"] == config["training"]
    assert environment["settings"]["on"]["doors"]["pairs"] == 48
    assert len(environment["settings"]["dev"]["doors"]["sha256"]) == 64
    assert (environment["seed"], environment["device"]) == (3, "cpu")
    assert environment["versions"]["torch"] == torch.__version__
    assert environment["versions"]["goldlabel"] == gl.__version__
    assert {"python", "numpy", "polars"} <= set(environment["versions"])
    assert "git_commit" in environment
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert [line["steps"] for line in lines] == [6, 12, 18]
    assert set(lines[0]) == {"epoch", "steps", "loss", "lr", "dev", "seconds"}
    assert set(lines[0]["dev"]["doors"]) == {"value", "interval", "level", "n", "units", "method"}
    held = read(tmp_path / "run" / "result.json")
    assert held["dev"] == {"doors": result.dev["doors"].to_dict()} == lines[result.best_epoch - 1]["dev"]
    # 300 for each word and bucket, 1,200 to 8 to 8 to 8 to 3
    words = len((tmp_path / "run" / "vocab.txt").read_text().splitlines()) + 6
    assert held["parameters"] == words * 300 + 1200 * 8 + 8 + 2 * (8 * 8 + 8) + 8 * 3 + 3


def test_the_result_reads_well(tmp_path: Path) -> None:
    result = run(tmp_path / "run")
    assert result.title.startswith("cbow trained on 48 pairs, ")
    score = result.dev["doors"].percent()
    assert result.table.rows() == [("doors", f"{score.value:.1f} % ({score.low:.1f} to {score.high:.1f})", 24, 24)]
    keys = {"run", "model", "parameters", "epochs", "dev", "seconds", "pairs_per_second", "seed"}
    assert keys <= set(result.to_dict())
    assert json.loads(json.dumps(result.to_dict()))["dev"] == {"doors": result.dev["doors"].value}
    assert "doors" in repr(result)


def test_a_dev_set_of_one_premise_has_no_interval(tmp_path: Path) -> None:
    dev = make_pairs([{**row, "premise": "The gate stands open."} for row in make_rows(6)], name="gate")
    result = run(tmp_path / "run", dev=dev)
    assert result.to_dict()["dev_intervals"] == {"gate": None}
    assert result.table.row(0)[1] == f"{100 * result.accuracies['gate']:.1f} %"
    assert run(tmp_path / "run", dev=dev) == result


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Read the scalars of TensorBoard's files: records of a length, its check, an event and its check."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")
    found: dict[str, list[tuple[int, float]]] = {}
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        place = 0
        while place < len(data):
            (length,) = struct.unpack_from("<Q", data, place)
            event = event_pb2.Event.FromString(data[place + 12 : place + 12 + length])
            place += 12 + length + 4
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_tensorboard_reads_the_log_once_also_after_going_on(tmp_path: Path) -> None:
    run(tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(tmp_path / "run", on_step=lambda step: step.epoch == 3)
    run(tmp_path / "run")
    for name in ("whole", "run"):
        found = scalars(tmp_path / name / "tensorboard")
        assert set(found) == {"loss/train", "lr", "accuracy/doors"}
        lines = [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        assert [step for step, _ in found["loss/train"]] == [6, 12, 18]
        assert [value for _, value in found["loss/train"]] == pytest.approx([line["loss"] for line in lines])
        assert [value for _, value in found["accuracy/doors"]] == pytest.approx(
            [line["dev"]["doors"]["value"] for line in lines]
        )


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years")
    with pytest.raises(InputError, match="thesis: holds something else than a run; choose another folder with -o"):
        run(tmp_path / "thesis")
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter.txt"]
    with pytest.raises(InputError, match=r"chapter\.txt: holds something else than a run"):
        run(tmp_path / "thesis" / "chapter.txt")


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    with lock_folder(tmp_path / "run", "training"):
        with pytest.raises(
            InputError, match="run: another process is training here; wait for it, or choose"
        ) as refused:
            run(tmp_path / "run")
        assert "\n" not in str(refused.value)
        assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]
    with pytest.raises(Interrupted):
        run(tmp_path / "run", on_step=lambda step: True)
    with lock_folder(tmp_path / "run", "training"), pytest.raises(InputError, match="another process is training here"):
        run(tmp_path / "run")
    result = run(tmp_path / "run")
    with lock_folder(tmp_path / "run", "training"):
        assert run(tmp_path / "run") == result, "what is finished can be read by anybody"


@contextmanager
def small_disk(most: int) -> Iterator[None]:
    """Let the system refuse to write a file beyond so many bytes, as a full disk does."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("name", "most", "options"),
    [
        ("model.safetensors", 64_000, {}),
        ("checkpoint.pt", 64_000, {"due": 0.0}),
        ("model.safetensors", 12_000, {"vectors": "vectors.txt"}),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, options: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_vectors(Path("vectors.txt"), [str(number) for number in range(48)], size=64)
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SECONDS", options.pop("due", 60.0))
    with (
        small_disk(most),
        pytest.raises(StorageError, match=rf"{name}: cannot be written \(File too large\); nothing was cha") as refused,
    ):
        run(Path("run"), **options)
    assert "\n" not in str(refused.value)
    assert not list(Path("run").rglob(f"*{name}*"))
    assert run(Path("run"), **options).epochs == 3


def test_a_finished_run_says_so(tmp_path: Path) -> None:
    first, again = run(tmp_path / "run"), run(tmp_path / "run")
    assert (first.finished_before, again.finished_before) == (False, True)
    assert first == again


def test_the_content_of_the_vectors_is_a_part_of_what_a_run_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []
    monkeypatch.setattr(files, "sha256", lambda path: hashed.append(path) or sha256(path))
    vectors = tmp_path / "vectors.txt"
    write_vectors(vectors, ["gate", "barn"])
    run(tmp_path / "run", vectors=str(vectors))
    run(tmp_path / "other", vectors=str(vectors), seed=1)
    assert hashed == [vectors], "the file is read once"
    write_vectors(vectors, ["gate", "barn"], seed=1)
    os.utime(vectors, ns=(1, 1))
    with pytest.raises(InputError, match=r"run: holds a run with other settings \(vectors\)"):
        run(tmp_path / "run", vectors=str(vectors))


def test_a_run_folder_of_a_newer_version(tmp_path: Path) -> None:
    run(tmp_path / "run")
    path = tmp_path / "run" / "environment.json"
    path.write_text(json.dumps(read(path) | {"format": 99}))
    with pytest.raises(InputError, match="was written by a newer version of Goldlabel"):
        run(tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(read(config) | {"format": 99}))
    with pytest.raises(InputError, match="was written by a newer version of Goldlabel"):
        run(tmp_path / "next", start=str(tmp_path / "run"))
    path.write_text("{")
    with pytest.raises(InputError, match=r"environment\.json: is damaged"):
        run(tmp_path / "run")


def test_names_and_texts_of_any_script(tmp_path: Path) -> None:
    pairs = make_pairs([*make_rows(12, split="train"), *make_rows(6, split="dev", first=50)], name="门 \u2028 doors")
    result = train("cbow", pairs, tmp_path / "运行", epochs=1, **SMALL)
    assert list(result.dev) == ["门 \u2028 doors"]
    assert len(RunFolder(tmp_path / "运行").metrics()) == 1


def test_a_run_keeps_what_it_was_trained_on(tmp_path: Path) -> None:
    """Of a sample the sample alone, and with a run that it goes on from, that one's pairs, too."""
    first = train("cbow", make_pairs(24), tmp_path / "first", **SMALL, epochs=1, size=12)
    mine, theirs = (load_trained_on(folder) for folder in (first.run, _go_on(tmp_path, first)))
    assert len(mine) == 12
    assert len(theirs) == 12 + 9
    assert set(mine) < set(theirs)
    fixed = train("cbow", make_pairs(24), tmp_path / "fixed", dev=make_pairs(6), start=str(first.run), fixed=True)
    assert load_trained_on(fixed.run).tolist() == mine.tolist()


def test_a_folder_that_is_begun_anew_keeps_the_new_pairs(tmp_path: Path) -> None:
    settings = {"model": "cbow", "options": {}}
    folder = RunFolder(tmp_path / "run")
    for number in (1, 1, 2):
        with folder.open({**settings, "seed": number}, {}, lambda number=number: np.array([number], dtype=np.uint64)):
            pass
        assert load_trained_on(folder.path).tolist() == [number]


def _go_on(tmp_path: Path, first: Run) -> Path:
    return train("cbow", make_pairs(9, first=500), tmp_path / "second", **SMALL, epochs=1, start=str(first.run)).run


def load_trained_on(folder: Path) -> Any:
    return np.load(folder / "trained-on.npy")

"""A run's folder: resolved configuration, environment, metrics, TensorBoard logs."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.files import write_text
from goldlabel.metrics import Estimate
from goldlabel.models.model import CONFIG, FORMAT, read_config

METRICS = "metrics.jsonl"
ENVIRONMENT = "environment.json"
RESULT = "result.json"
CHECKPOINT = "checkpoint.pt"
DYNAMICS = "dynamics"
ERROR = "error.txt"
"""Where a run of a sweep leaves the traceback of a fault."""
TENSORBOARD = "tensorboard"
PACKAGES = ("goldlabel", "torch", "numpy", "polars", "scikit-learn", "fasttext-community")

_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}(\.\w+)?")
"""Names that an atomic write uses until it is done; a killed process leaves such a file behind."""


class RunFolder:
    """Where one run writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._board: Any = None

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a state to go on from."""
        return (self.path / CHECKPOINT).exists()

    def open(self, settings: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any] | None:
        """Begin or go on; return the result of a run that is finished. Another run's folder is refused."""
        self.check(settings)
        for path in self._leftovers():
            path.unlink(missing_ok=True)
        wanted = json.loads(json.dumps(settings))
        held = self._read(ENVIRONMENT)
        if held is None or held.get("settings") != wanted:
            document = {"format": FORMAT, "settings": wanted, **environment, **_machine()}
            write_text(self.path / ENVIRONMENT, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        result: dict[str, Any] | None = self._read(RESULT)
        return result

    def check(self, settings: Mapping[str, Any]) -> None:
        """Refuse a folder that holds something else than this run.

        A run with other settings does not count if it failed before it had learnt anything.
        """
        wanted = json.loads(json.dumps(settings))
        held = self._read(ENVIRONMENT)
        if held is None:
            if self.path.exists() and (not self.path.is_dir() or set(self.path.iterdir()) - set(self._leftovers())):
                raise InputError(f"{self.path}: holds something else than a run; choose another folder with -o")
        elif held.get("format", 1) > FORMAT:
            raise InputError(f"{self.path}: was written by a newer version of Goldlabel; update, or choose another -o")
        elif held.get("settings") != wanted and self._has_progress:
            other = ", ".join(_differences(held.get("settings", {}), wanted))
            raise InputError(
                f"{self.path}: holds a run with other settings ({other}); give the same ones to go on, or choose "
                "another folder with -o"
            )

    def add_to_config(self, **more: Any) -> None:
        """Put more into the configuration that a model has written."""
        config = read_config(self.path) | more
        write_text(self.path / CONFIG, json.dumps(config, indent=2, ensure_ascii=False) + "\n")

    def log_epoch(
        self,
        epoch: int,
        *,
        steps: int,
        loss: float | None,
        lr: float | None,
        dev: Mapping[str, Estimate],
        seconds: float,
    ) -> None:
        """Append an epoch to the metrics and to TensorBoard's log."""
        entry = {
            "epoch": epoch,
            "steps": steps,
            "loss": loss,
            "lr": lr,
            "dev": {name: score_entry(score) for name, score in dev.items()},
            "seconds": round(seconds, 3),
        }
        board = self._tensorboard()
        with (self.path / METRICS).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry, ensure_ascii=False) + "\n")
        if board:
            _draw(board, entry)

    def metrics(self) -> list[dict[str, Any]]:
        """Return the epochs logged so far; a line that a killed process left half-written is not among them."""
        path = self.path / METRICS
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def truncate_metrics(self, epochs: int) -> None:
        """Forget what was logged after an epoch, as the run goes on from there."""
        kept = [entry for entry in self.metrics() if entry["epoch"] <= epochs]
        if (self.path / METRICS).exists():
            write_text(self.path / METRICS, "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept))
        self.close()
        shutil.rmtree(self.path / TENSORBOARD, ignore_errors=True)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write the result, which marks the run as finished; what was needed to go on is removed."""
        self.close()
        write_text(self.path / RESULT, json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of TensorBoard's log."""
        if self._board:
            self._board.close()
        self._board = None

    @property
    def _has_progress(self) -> bool:
        return any((self.path / name).exists() for name in (CHECKPOINT, METRICS, RESULT))

    def _leftovers(self) -> Iterator[Path]:
        for folder in (self.path, self.path / DYNAMICS):
            for one in list(folder.iterdir()) if folder.is_dir() else []:
                if one.name == ERROR or (one.is_file() and _TEMPORARY.fullmatch(one.name)):
                    yield one

    def _read(self, name: str) -> Any:
        path = self.path / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise InputError(f"{path}: is damaged ({error}); choose another folder with -o") from error

    def _tensorboard(self) -> Any:
        """Open the log, with the epochs before."""
        if self._board is None:
            try:
                tensorboard = import_module("tensorboardX")
            except ModuleNotFoundError:
                self._board = False
            else:
                self._board = tensorboard.SummaryWriter(str(self.path / TENSORBOARD))
                for entry in self.metrics():
                    _draw(self._board, entry)
        return self._board


def score_entry(score: Estimate) -> dict[str, Any]:
    """Return an accuracy with its interval, as files keep it."""
    return {"accuracy": score.value, "interval": [score.low, score.high], "n": score.n, "units": score.units}


def _draw(board: Any, entry: Mapping[str, Any]) -> None:
    values = {"loss/train": entry["loss"], "lr": entry["lr"]}
    values |= {f"accuracy/{name}": one["accuracy"] for name, one in entry["dev"].items()}
    for name, value in values.items():
        if value is not None:
            board.add_scalar(name, value, entry["steps"])
    board.flush()


def _differences(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Name what differs: ``lr`` where an option does, ``on`` or ``dev`` where the data does."""
    names = []
    for name in wanted:
        if name == "options":
            was = held.get(name, {})
            names += [one for one in wanted[name] if was.get(one) != wanted[name][one]]
        elif held.get(name) != wanted[name]:
            names.append(name)
    return names


def _machine() -> dict[str, Any]:
    """Return versions, machine and git commit: what a figure was obtained with."""
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "platform": platform.platform(),
        "git_commit": _git_commit(),
    }


def _git_commit() -> str | None:
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return asked.stdout.strip() or None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

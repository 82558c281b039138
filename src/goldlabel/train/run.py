"""A run: its folder, which knows it by its settings, its lock, its checkpoint, and the result that it ends in.

A folder belongs to one run and to one process at a time. It begins with ``environment.json``, which holds the settings,
grows by metrics and checkpoints, and is finished when it has a ``result.json``.
"""

from __future__ import annotations

import json
import pickle
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import LOCK, atomic_file, lock_folder, storage_errors, write_text
from goldlabel.messages import many
from goldlabel.metrics import Estimate, in_percent
from goldlabel.models.model import CONFIG, FORMAT, read_config
from goldlabel.pairs import Result
from goldlabel.pairs.fingerprints import TRAINED_ON, Fingerprints, write_fingerprints

if TYPE_CHECKING:
    import torch

METRICS = "metrics.jsonl"
ENVIRONMENT = "environment.json"
RESULT = "result.json"
CHECKPOINT = "checkpoint.pt"
CHECKPOINT_FORMAT = 2
BEST = "best-{}.pt"
"""The best weights of a run that is not finished, by their epoch."""
DYNAMICS = "dynamics"
ERROR = "error.txt"
"""Where a run of a sweep leaves the traceback of a fault."""
TENSORBOARD = "tensorboard"
PACKAGES = ("goldlabel", "torch", "numpy", "polars", "scikit-learn", "fasttext-community")

_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}(\.\w+)?")
"""Names that an atomic write uses until it is done; a killed process leaves such a file behind."""


@dataclass(frozen=True, repr=False)
class Run(Result):
    """A finished run."""

    run: Path
    model: str
    seed: int
    pairs: int
    """Pairs trained on; 0 where the weights of another run were scored as they are."""
    parameters: int | None
    epochs: int
    best_epoch: int
    dev: Mapping[str, Estimate]
    """The accuracy on each dev set, of the epoch whose weights were kept."""
    seconds: float
    pairs_per_second: float
    settings: dict[str, Any]
    notes: Sequence[str] = ()
    """What the user should know of the run though it is no error."""
    finished_before: bool = field(default=False, compare=False)
    """Whether the folder held the run finished already, so that nothing was done."""

    @property
    def title(self) -> str:
        """What was trained, and where it lies."""
        size = f", {self.parameters:,} trained parameters" if self.parameters else ""
        if not self.pairs:
            return f"{self.model} as {self.settings['start']['path']} left it: {self.run}"
        debias = self.settings["options"].get("debias")
        method = f", debiased by {debias}" if debias else ""
        return f"{self.model} trained on {many(self.pairs, 'pair')}{size}{method}: {self.run}"

    @property
    def table(self) -> pl.DataFrame:
        """Accuracy on each dev set in per cent, with its interval."""
        rows = [(name, in_percent(score), score.n, score.units) for name, score in self.dev.items()]
        schema = {"dev set": pl.String, "accuracy": pl.String, "pairs": pl.Int64, "units": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def accuracies(self) -> dict[str, float]:
        """The accuracy on each dev set, alone."""
        return {name: score.defined for name, score in self.dev.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the figures; ``dev`` gives accuracies, ``dev_intervals`` their intervals."""
        return {
            "run": str(self.run),
            "model": self.model,
            "parameters": self.parameters,
            "pairs": self.pairs,
            "epochs": self.epochs,
            "best_epoch": self.best_epoch,
            "dev": self.accuracies,
            "dev_intervals": {name: score.interval for name, score in self.dev.items()},
            "seconds": self.seconds,
            "pairs_per_second": self.pairs_per_second,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Step:
    """Where a run stands, for progress bars."""

    epoch: int
    epochs: int
    pairs: int
    """Pairs of this epoch done."""
    of: int
    loss: float
    rate: float
    """Pairs per second."""
    accuracy: float | None
    """The best dev accuracy so far."""
    unit: str = "epoch"
    """What ``epoch`` counts: the folds of a bias model, say."""


OnStep = Callable[[Step], "bool | None"]
"""Called every so often; True asks the run to save its state and stop."""


class RunFolder:
    """Where one run writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._board: Any = None

    def check(self, settings: Mapping[str, Any]) -> None:
        """Refuse a folder that holds something else than this run.

        A run with other settings does not count if it failed before it had learnt anything.
        """
        environment = self._read(ENVIRONMENT)
        if environment is None:
            ours = {*self._leftovers(), self.path / LOCK}
            if self.path.exists() and (not self.path.is_dir() or set(self.path.iterdir()) - ours):
                raise InputError(f"{self.path}: holds something else than a run; choose another folder with -o")
        elif environment.get("format", 1) > FORMAT:
            raise InputError(f"{self.path}: was written by a newer version of Goldlabel; update, or choose another -o")
        elif environment.get("settings") != _plain(settings) and self._has_progress:
            names = ", ".join(_differences(environment.get("settings", {}), _plain(settings)))
            raise InputError(
                f"{self.path}: holds a run with other settings ({names}); give the same ones to go on, or choose "
                "another folder with -o"
            )

    def result(self) -> Run | None:
        """Return the result of a run that is finished."""
        result = self._read(RESULT)
        if result is None:
            return None
        dev = {name: Estimate.from_dict(score) for name, score in result["dev"].items()}
        notes = tuple(result.get("notes", ()))
        return Run(**{**result, "run": self.path, "dev": dev, "notes": notes, "finished_before": True})

    @contextmanager
    def open(
        self,
        settings: Mapping[str, Any],
        environment: Mapping[str, Any],
        fingerprints: Callable[[], Fingerprints],
    ) -> Iterator[None]:
        """Begin or go on with the run, alone in the folder; ``fingerprints`` are those of the pairs it learns from."""
        with lock_folder(self.path, "training"):
            self.check(settings)
            for path in self._leftovers():
                path.unlink(missing_ok=True)
            begun = self._read(ENVIRONMENT)
            if begun is None or begun.get("settings") != _plain(settings):
                (self.path / TRAINED_ON).unlink(missing_ok=True)
                document = {"format": FORMAT, "settings": settings, **environment, **describe_machine()}
                write_text(self.path / ENVIRONMENT, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
            if not (self.path / TRAINED_ON).exists():
                write_fingerprints(self.path / TRAINED_ON, fingerprints())
            try:
                yield
            finally:
                self.close()

    def finish(self, run: Run) -> None:
        """Write the result, which marks the run as finished; what was needed to go on is removed."""
        self.close()
        result = {name: value for name, value in vars(run).items() if name != "finished_before"}
        result |= {"run": str(run.run), "dev": {name: score.to_dict() for name, score in run.dev.items()}}
        write_text(self.path / RESULT, json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        for path in (self.path / CHECKPOINT, *self._best_files()):
            path.unlink(missing_ok=True)

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a state to go on from."""
        return (self.path / CHECKPOINT).exists()

    def write_checkpoint(
        self, state: dict[str, Any], best_epoch: int, best_weights: Mapping[str, torch.Tensor] | None
    ) -> None:
        """Write tensors and plain values; what was there before stays until the new file is whole.

        The best weights so far are written beside it, once for the epoch that they are of.
        """
        import torch

        rng = {"cpu": torch.get_rng_state()}
        if torch.cuda.is_available():
            rng["cuda"] = torch.cuda.get_rng_state()
        best = self.path / BEST.format(best_epoch)
        if best_weights is not None and not best.exists():
            _save_tensors(dict(best_weights), best)
        _save_tensors({**state, "format": CHECKPOINT_FORMAT, "rng": rng}, self.path / CHECKPOINT)
        for older in self._best_files():
            if older != best:
                older.unlink(missing_ok=True)

    def read_best(self, epoch: int) -> dict[str, torch.Tensor]:
        """Read the best weights, which are those of an epoch."""
        return _load_tensors(self.path / BEST.format(epoch))

    def _best_files(self) -> Iterator[Path]:
        yield from self.path.glob(BEST.format("*"))

    def read_checkpoint(self) -> dict[str, Any] | None:
        """Read the state and set the random generators back, or return None where there is no checkpoint.

        Its tensors lie in the processor's memory: what takes them over knows where each belongs.
        """
        import torch

        path = self.path / CHECKPOINT
        if not path.exists():
            for best in self._best_files():  # of a run whose checkpoint was deleted
                best.unlink(missing_ok=True)
            return None
        state = _load_tensors(path)
        if state.pop("format") > CHECKPOINT_FORMAT:
            raise InputError(f"{path}: was written by a newer version of Goldlabel; update to go on with this run")
        rng = state.pop("rng")
        torch.set_rng_state(rng["cpu"].cpu())
        if "cuda" in rng and torch.cuda.is_available():
            torch.cuda.set_rng_state(rng["cuda"].cpu())
        return state

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
            "dev": {name: score.to_dict() for name, score in dev.items()},
            "seconds": round(seconds, 3),
        }
        with storage_errors(self.path / METRICS):
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

    def close(self) -> None:
        """Let go of TensorBoard's log."""
        board, self._board = self._board, None
        if board:
            with suppress(OSError):  # each epoch was written when it ended; a disk that is full since has been told of
                board.close()

    @property
    def _has_progress(self) -> bool:
        return any((self.path / name).exists() for name in (CHECKPOINT, METRICS, RESULT))

    def _leftovers(self) -> Iterator[Path]:
        for folder in (self.path, self.path / DYNAMICS):
            for path in list(folder.iterdir()) if folder.is_dir() else []:
                if path.name == ERROR or (path.is_file() and _TEMPORARY.fullmatch(path.name)):
                    yield path

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
        if self._board is None and "torch" not in sys.modules:
            self._board = False  # a baseline has one epoch and no curve, and tensorboardX imports torch
        if self._board is None:
            try:
                events = import_module("tensorboardX.event_file_writer")
            except ModuleNotFoundError:
                self._board = False
            else:
                # Not its SummaryWriter, whose thread ends in a traceback when the disk is full.
                (self.path / TENSORBOARD).mkdir(exist_ok=True)
                self._board = events.EventsWriter(str(self.path / TENSORBOARD / "events"))
                for entry in self.metrics():
                    _draw(self._board, entry)
        return self._board


class ReadFolder(RunFolder):
    """A run's folder for a process that helps with the run: another one writes."""

    def write_checkpoint(self, *_: Any) -> None:
        """Leave it to the process that writes."""

    def log_epoch(self, *_: Any, **__: Any) -> None:
        """Leave it to the process that writes."""

    def truncate_metrics(self, *_: Any) -> None:
        """Leave it to the process that writes."""


def is_unfinished(folder: Path) -> bool:
    """Whether a run was begun in a folder and has not ended."""
    return (folder / ENVIRONMENT).exists() and not (folder / RESULT).exists()


def _draw(board: Any, entry: Mapping[str, Any]) -> None:
    values = {"loss/train": entry["loss"], "lr": entry["lr"]}
    values |= {f"accuracy/{name}": score["value"] for name, score in entry["dev"].items()}
    event, summary = import_module("tensorboardX.proto.event_pb2"), import_module("tensorboardX.summary")
    for name, value in values.items():
        if value is not None:
            scalar = summary.scalar(name, value)
            board.write_event(event.Event(wall_time=time.time(), step=entry["steps"], summary=scalar))
    board.flush()


def _save_tensors(state: dict[str, Any], path: Path) -> None:
    import torch

    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        try:
            torch.save(state, stream)
        except RuntimeError as error:
            # What the disk refused is hidden behind a complaint about the half-written file.
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise


def _load_tensors(path: Path) -> dict[str, Any]:
    import torch

    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, FileNotFoundError, pickle.UnpicklingError) as error:
        raise InputError(f"{path}: is damaged or missing; delete {CHECKPOINT} to begin the run again") from error
    return state


def _differences(begun: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Name what differs: ``lr`` where an option does, ``on`` or ``dev`` where the data does."""
    options, before = wanted["options"], begun.get("options", {})
    names = [name for name in wanted if name != "options" and begun.get(name) != wanted[name]]
    return [*names, *(name for name in options if before.get(name) != options[name] and name not in names)]


def _plain(settings: Mapping[str, Any]) -> Any:
    """Return settings as they are read back from a file."""
    return json.loads(json.dumps(settings))


def describe_machine() -> dict[str, Any]:
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

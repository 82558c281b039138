"""Hugging Face checkpoints: finding them in a folder or on the hub, and reading them or saying in one line why not."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn

from goldlabel.errors import InputError
from goldlabel.files import digest_file
from goldlabel.registry import import_extra

TRUST = "?trust"
"""Behind a name: the checkpoint may run its own Python code."""
WEIGHTS = ("*.safetensors", "*.bin")
"""The forms of weights, the better one first."""
LENGTH = 512
"""Of what an encoder reads at once, where nothing says how long that may be."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a checkpoint is, and how it may be read."""

    source: str
    """A folder, or a name on the hub."""
    order: tuple[str, ...] = ()
    """The user's words for its labels, in its own order."""
    trusted: bool = False

    @classmethod
    def parse(cls, reference: str) -> Self:
        """Read ``NAME_OR_PATH``, behind which ``?trust`` and ``#entailment,neutral,contradiction`` may stand."""
        reference = "" if reference == "hf" else reference.removeprefix("hf:")
        if reference and Path(reference).is_dir():
            return cls(reference)
        source, _, order = reference.partition("#")
        labels = tuple(label.strip() for label in order.split(",")) if order else ()
        trusted = source.endswith(TRUST)
        if not source.removesuffix(TRUST):
            raise InputError("hf: names no checkpoint; pass hf:FOLDER, or hf:NAME of the model hub")
        return cls(source.removesuffix(TRUST), labels, trusted)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"hf:{self.source}{TRUST if self.trusted else ''}"

    @cached_property
    def folder(self) -> Path:
        """Where its files are; from the hub they are fetched first."""
        if Path(self.source).is_dir():
            return Path(self.source)
        if self.source.count("/") > 1 or self.source.startswith(("/", ".", "~")):  # no name of the hub looks so
            raise InputError(f"{self.name}: there is no such folder")
        hub = import_extra("huggingface_hub", "hf")
        if not sys.stderr.isatty():
            hub.utils.disable_progress_bars()
        wanted = ["*.json", "*.txt", "*.model", *(["*.py"] if self.trusted else [])]
        try:
            folder = _fetch(hub, self.source, [*wanted, WEIGHTS[0]])
            if not any(folder.glob(WEIGHTS[0])):
                folder = _fetch(hub, self.source, [*wanted, WEIGHTS[1]])
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.name}: is no folder here and cannot be had from the model hub ({first_line(error)})"
            ) from error
        return folder

    def check_weights(self) -> None:
        """Refuse a folder without weights, which costs less to find out than reading them."""
        if not any(file for form in WEIGHTS for file in self.folder.glob(form)):
            raise InputError(f"{self.name}: has no weights; copy its {' or '.join(WEIGHTS)} into the folder")

    def digest(self) -> str:
        """Return hashes of its weights, configuration and tokenizer, as one string."""
        names = sorted(file for form in (*WEIGHTS, "*.json", "*.txt", "*.model") for file in self.folder.glob(form))
        return " ".join(f"{file.name}:{digest_file(file)[:16]}" for file in names)

    @cached_property
    def config(self) -> Any:
        """What its configuration says."""
        transformers = import_extra("transformers", "hf")
        try:
            written = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{self.name}: has no readable config.json, so that it is no model") from error
        if "label_space" in written:
            raise InputError(f"{self.name}: is a run folder of Goldlabel; leave hf: out")
        with self._reading("its configuration"):
            return transformers.AutoConfig.from_pretrained(self.folder, trust_remote_code=self.trusted)

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        transformers = import_extra("transformers", "hf")
        with self._reading("its tokenizer"):
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                self.folder, config=self.config, trust_remote_code=self.trusted
            )
        # Without its files, the library makes one that knows its special tokens and no other.
        if len(tokenizer) <= len(tokenizer.all_special_ids):
            raise InputError(f"{self.name}: has no tokenizer; copy the files of its tokenizer into the folder")
        return tokenizer

    @property
    def length(self) -> int:
        """The most tokens that it reads at once."""
        limits = [int(self.tokenizer.model_max_length)]
        positions = getattr(self.config, "max_position_embeddings", None) or 0
        if positions > 0:  # some of these count their positions from the padding's number on
            limits.append(positions - (self.config.pad_token_id + 1 if self.config.model_type in _FROM_PADDING else 0))
        return min(limits) if min(limits) < 1_000_000 else LENGTH

    def read_classifier(self, **changes: Any) -> tuple[Any, set[str]]:
        """Return it with a head for labels, and the names of the weights that it does not have and that are fresh."""
        return self._read("AutoModelForSequenceClassification", **changes)

    def read_encoder(self) -> tuple[Any, set[str]]:
        """Return it without a head, and the names of the weights that are fresh."""
        return self._read("AutoModel")

    def _read(self, kind: str, **changes: Any) -> tuple[Any, set[str]]:
        transformers = import_extra("transformers", "hf")
        for name, value in changes.items():
            setattr(self.config, name, value)
        with self._reading("its weights"):
            network, report = getattr(transformers, kind).from_pretrained(
                self.folder,
                config=self.config,
                dtype=torch.float32,
                ignore_mismatched_sizes=True,
                output_loading_info=True,
                trust_remote_code=self.trusted,
            )
        rows = network.get_input_embeddings().num_embeddings
        if len(self.tokenizer) > rows:
            raise InputError(
                f"{self.name}: its tokenizer has {len(self.tokenizer):,} tokens and its weights know {rows:,}; they do "
                "not belong together"
            )
        _keep_positions(network)
        fresh = set(report["missing_keys"]) | {key[0] for key in report["mismatched_keys"]}
        return network, fresh

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Silence the library, and turn what it refuses into one line."""
        try:
            with quiet():
                yield
        except InputError:
            raise
        except Exception as error:  # the library raises whatever its parsers raise
            if "trust_remote_code" in str(error):
                raise InputError(
                    f"{self.name}: {what} needs Python code of its own, which is run only if you trust it; read the "
                    f"code, then pass {self.name}{TRUST}"
                ) from error
            raise InputError(f"{self.name}: {what} cannot be read ({first_line(error)})") from error


_FROM_PADDING = ("camembert", "data2vec-text", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl")


def last_linear(network: nn.Module, labels: int) -> nn.Linear:
    """Return the layer that scores the labels."""
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear) and layer.out_features == labels]
    if not layers:
        raise InputError(f"{type(network).__name__} has no linear layer that scores {labels} labels")
    return layers[-1]


@contextmanager
def quiet() -> Iterator[None]:
    """Let the library neither report nor show bars: what matters of it, we say ourselves."""
    library: Any = import_extra("transformers.utils.logging", "hf")
    level, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity(logging.CRITICAL)
    library.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of what the library itself still uses
            yield
    finally:
        library.set_verbosity(level)
        if bars:
            library.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """Return the first line of an error, or its kind where it says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


def _fetch(hub: Any, name: str, patterns: list[str]) -> Path:
    return Path(hub.snapshot_download(name, allow_patterns=patterns, ignore_patterns=["*/*"]))


def _keep_positions(network: nn.Module) -> None:
    """Let DeBERTa make the distances between words once for each length.

    It makes some numbers on the processor, and bringing them to the GPU cannot be captured into a CUDA graph.
    """
    module: Any
    for module in network.modules():
        if hasattr(module, "get_rel_pos"):
            module.get_rel_pos = _Kept(module.get_rel_pos)


class _Kept:
    def __init__(self, make: Any) -> None:
        self._make = make
        self._made: dict[tuple[int, torch.device], Any] = {}

    def __call__(self, states: torch.Tensor, query_states: Any = None, relative_pos: Any = None) -> Any:
        if query_states is not None or relative_pos is not None:
            return self._make(states, query_states, relative_pos)
        key = states.size(1), states.device
        if key not in self._made:
            self._made[key] = self._make(states)
        return self._made[key]

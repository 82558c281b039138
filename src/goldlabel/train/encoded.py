"""Everything the runs of a model share, made once: what it prepares of the texts, and the encoded pairs.

It lies in a folder whose name tells the data and the options it was made from, so that runs with the same ones, a
run that goes on and the processes of a sweep all find it made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.files import atomic_folder
from goldlabel.models.model import find_member
from goldlabel.models.torch_model import Preparation, Rows, TorchModel
from goldlabel.pairs.gold import GoldPairs
from goldlabel.train.task import Task

TRAIN = "train.arrow"


@dataclass(frozen=True)
class EncodedTask:
    """Encoded training and dev pairs, mapped from their files, and what is needed to build the model."""

    preparation: Any
    rows: Rows
    dev: Sequence[Rows]


def encode_task(task: Task, start: TorchModel | None, root: Path) -> EncodedTask:
    """Let the model prepare what it needs of all texts, and encode all pairs, once under ``root``.

    ``start`` is the model that training goes on from.
    """
    folder, member = root / encoding_key(task), find_member(task.model)
    if not folder.exists():
        frames = [task.gold.frame, *(gold.frame for gold in task.dev), *(texts.frame for texts in task.vocabulary)]
        texts = [frame[side] for frame in frames for side in ("premise", "hypothesis")]
        preparation: Preparation = member.prepare(task.choices, texts, start)
        with atomic_folder(folder) as temporary:
            preparation.write(temporary)
            _encode(task.gold, preparation, temporary / TRAIN)
            for number, gold in enumerate(task.dev):
                _encode(gold, preparation, temporary / _dev_file(number))
    dev = [member.read_rows(folder / _dev_file(number)) for number in range(len(task.dev))]
    return EncodedTask(member.read_preparation(folder), member.read_rows(folder / TRAIN), dev)


def encoding_key(task: Task) -> str:
    """Name what the encoded pairs depend on."""
    settings = task.settings
    parts = [
        find_member(task.model).encoded_by(task.choices),
        [gold.digest for gold in (task.gold, *task.dev)],
        [settings.get(name) for name in ("vocabulary", "vectors", "start", "weights")],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _encode(gold: GoldPairs, preparation: Preparation, path: Path) -> None:
    preparation.encode(gold.frame["premise"].to_list(), gold.frame["hypothesis"].to_list()).write(path)


def _dev_file(number: int) -> str:
    return f"dev-{number}.arrow"

"""What the runs of one call share: the model and its data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import write_text
from goldlabel.models.model import find_member, read_space
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import GoldPairs, digest_texts
from goldlabel.pairs.labels import LabelSpace
from goldlabel.train.data import dev_pairs, training_pairs, with_own_dev
from goldlabel.train.options import TrainOptions
from goldlabel.train.starting import check_start

TASK = "task.json"


@dataclass(frozen=True)
class Task:
    """A model, the pairs it is trained on, its dev sets, and further texts whose words it shall know."""

    model: str
    gold: GoldPairs
    dev: Sequence[GoldPairs]
    others: Sequence[pl.DataFrame]

    def settings(self, options: TrainOptions, size: int) -> dict[str, Any]:
        """Return what a run is a function of, for its folder."""
        return {
            "model": self.model,
            "options": options.to_dict(),
            "on": {self.gold.name: {"pairs": size, "sha256": self.gold.digest}} if size else {},
            "dev": {one.name: {"pairs": len(one), "sha256": one.digest} for one in self.dev},
            "vocabulary": [digest_texts(frame) for frame in self.others],
        }

    def write(self, folder: Path) -> None:
        """Write the task for other processes."""
        parts = [self.gold, *self.dev]
        about = [
            {"name": one.name, "space": [one.space.name, one.space.labels], "without_gold": one.without_gold}
            for one in parts
        ]
        folder.mkdir(parents=True, exist_ok=True)
        for number, frame in enumerate([*(one.frame for one in parts), *self.others]):
            frame.write_parquet(folder / f"{number}.parquet")
        write_text(folder / TASK, json.dumps({"model": self.model, "parts": about, "others": len(self.others)}))

    @classmethod
    def read(cls, folder: Path) -> Task:
        """Read what ``write`` wrote."""
        about = json.loads((folder / TASK).read_text(encoding="utf-8"))
        parts = [
            GoldPairs(
                one["name"],
                LabelSpace(one["space"][0], tuple(one["space"][1])),
                pl.read_parquet(folder / f"{number}.parquet"),
                one["without_gold"],
            )
            for number, one in enumerate(about["parts"])
        ]
        others = [pl.read_parquet(folder / f"{len(parts) + number}.parquet") for number in range(about["others"])]
        return cls(about["model"], parts[0], parts[1:], others)


def gather_task(
    model: str,
    on: Sequence[Pairs],
    *,
    sizes: Sequence[int | None] | None = None,
    split: str | None = None,
    dev: Sequence[Pairs] = (),
    vocabulary: Sequence[Pairs] = (),
    label_space: LabelSpace | str | None = None,
    seed: int = 0,
    fixed: str | None = None,
) -> Task:
    """Bring the data together; without dev sets, the training sets' own dev splits are taken.

    ``split`` is the one that is trained on, by default train.
    ``fixed`` names a run whose weights are to be scored as they are: nothing is trained on then.
    """
    find_member(model)
    if label_space is not None:
        on, dev = ([part.map_labels(label_space) for part in parts] for parts in (on, dev))
    if fixed is not None and split is not None:
        raise InputError("nothing is trained with --fixed; leave out --split, and name what is scored with --dev")
    if fixed is None:
        gold = training_pairs(on, sizes or [None] * len(on), seed=seed, split=split)
    else:
        gold = GoldPairs("", read_space(check_start(fixed, model)), pl.DataFrame(), 0)
    dev = list(dev) or with_own_dev(on, split)
    if fixed is not None and not dev:
        raise InputError(f"there is nothing to score {fixed} on; pass --dev PATH")
    others = [part.frame.select("premise", "hypothesis").collect(engine="streaming") for part in vocabulary]
    return Task(model, gold, dev_pairs(dev, gold.space, None if fixed else gold.languages), others)

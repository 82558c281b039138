"""Training after a round: on all rounds so far and whatever lies beside, chosen by the last round's dev set.

Several seeds are trained, and all of those together are the next round's adversaries: nobody then learns the weakness
of one single model (Nie et al. 2020, section 2.4). Where a grid is given, the seeds of the point are taken that is best
on dev.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.rounds.round_splits import round_name
from goldlabel.collect.rounds.rounds import keep_trained, rounds_of
from goldlabel.collect.store import Store
from goldlabel.errors import GoldlabelError, InputError
from goldlabel.pairs import Pairs, Result
from goldlabel.train.grid import Grid
from goldlabel.train.options import TrainOptions
from goldlabel.train.sweep import OnRun, Sweep, run_sweep
from goldlabel.train.task import gather_task

LEAST_DEV = 10
"""Verified pairs in dev: with fewer, chance chooses the model."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A dataset that is trained on beside the rounds: all, so many pairs of it, or each so many times."""

    pairs: Pairs
    size: int | None = None
    copies: int = 1


@dataclass(frozen=True, repr=False)
class Training(Result):
    """What was trained on a round and all before it."""

    number: int
    pairs: int
    verified: int
    dev: int
    sweep: Sweep
    adversaries: dict[str, str]

    @property
    def title(self) -> str:
        """What was learnt from, and what comes of it."""
        return (
            f"round {self.number}: {len(self.adversaries)} models trained on {self.pairs:,} pairs of the rounds "
            f"({self.verified:,} verified), chosen by {self.dev:,} dev pairs"
        )

    @property
    def table(self) -> pl.DataFrame:
        """A row for each setting that was tried."""
        return self.sweep.table

    def to_dict(self) -> dict[str, Any]:
        """Return the models, what they were trained on, and their figures."""
        return {
            "round": self.number,
            "pairs": self.pairs,
            "verified": self.verified,
            "dev_pairs": self.dev,
            "adversaries": self.adversaries,
            **self.sweep.to_dict(),
        }


def train_round(
    store: Store,
    project_id: int,
    model: str,
    output: str | Path,
    *,
    beside: Sequence[Beside] = (),
    seeds: int = 1,
    options: TrainOptions | None = None,
    grid: Grid | None = None,
    on_step: OnRun | None = None,
) -> Training:
    """Train models on all rounds so far, in a folder for the last one within ``output``, and have it remember them.

    Asked again, finished runs are taken as they are, and one that was broken off goes on.
    """
    with store.read() as tx:
        rounds, snapshot = rounds_of(tx, project_id), take_snapshot(tx, project_id)
    if not rounds:
        raise Conflict("no_round")
    last = rounds[-1]
    if last.state != "closed":
        raise Conflict("round_not_closed", n=last.number)
    pairs = split_pairs(snapshot).pairs
    train, dev = pairs.only(split="train"), pairs.only(split="dev", round=round_name(last.number))
    if len(dev) < LEAST_DEV:
        raise InputError(
            f"round {last.number} has {len(dev)} verified pairs in dev, and at least {LEAST_DEV} are needed to choose "
            "models by; have more verified before you close a round"
        )
    task = gather_task(
        model,
        [train, *(one.pairs for one in beside)],
        options,
        sizes=[None, *(one.size for one in beside)],
        copies=[1, *(one.copies for one in beside)],
        dev=[dev],
    )
    sweep = run_sweep(task, Path(output) / f"round-{last.number}", seeds=seeds, grid=grid, on_step=on_step)
    if sweep.best is None:
        raise GoldlabelError(f"no model could be trained: {next(iter(sweep.failed.values()), 'nothing was scored')}")
    chosen = sweep.runs_of(sweep.best)
    done = Training(
        number=last.number,
        pairs=len(train),
        verified=int(train.frame.select((pl.col("votes").list.len() > 1).sum()).collect().item()),
        dev=len(dev),
        sweep=sweep,
        adversaries={f"{round_name(last.number)}-seed-{run.seed}": str(run.run.resolve()) for run in chosen},
    )
    with store.write() as tx:
        keep_trained(
            tx,
            project_id,
            last.number,
            {
                "model": model,
                "adversaries": done.adversaries,
                "pairs": done.pairs,
                "verified": done.verified,
                "beside": [one.pairs.card.name for one in beside],
                "dev": {name: figures["mean"] for name, figures in sweep.figures(sweep.best)["dev"].items()},
            },
            by=None,
        )
    return done

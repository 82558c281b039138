"""What a finished run tells of itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.pairs import Result


@dataclass(frozen=True, repr=False)
class Training(Result):
    """A finished run."""

    run: Path
    model: str
    seed: int
    pairs: int
    """Pairs trained on; 0 where the weights of another run were scored as they are."""
    parameters: int | None
    epochs: int
    best_epoch: int
    dev: dict[str, dict[str, Any]]
    seconds: float
    pairs_per_second: float
    settings: dict[str, Any]

    @property
    def title(self) -> str:
        """What was trained, and where it lies."""
        size = f", {self.parameters:,} trained parameters" if self.parameters else ""
        if not self.pairs:
            return f"{self.model} as {self.settings['start']['path']} left it: {self.run}"
        return f"{self.model} trained on {self.pairs:,} pairs{size}: {self.run}"

    @property
    def table(self) -> pl.DataFrame:
        """Accuracy on each dev set, with its interval."""
        rows = [
            {
                "dev set": name,
                "accuracy": f"{100 * one['accuracy']:.1f}",
                "interval": f"{100 * one['interval'][0]:.1f}–{100 * one['interval'][1]:.1f}",
                "pairs": one["n"],
            }
            for name, one in self.dev.items()
        ]
        schema = {"dev set": pl.String, "accuracy": pl.String, "interval": pl.String, "pairs": pl.Int64}
        return pl.DataFrame(rows, schema=schema)

    @property
    def accuracies(self) -> dict[str, float]:
        """The accuracy on each dev set."""
        return {name: one["accuracy"] for name, one in self.dev.items()}

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
            "dev_intervals": {name: one["interval"] for name, one in self.dev.items()},
            "seconds": self.seconds,
            "pairs_per_second": self.pairs_per_second,
            "seed": self.seed,
        }

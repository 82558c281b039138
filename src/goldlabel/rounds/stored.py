"""Errors of models by what experts tagged, from predictions that came with the data (Nie et al. 2020, Table 7).

ANLI's expert annotations (Williams et al. 2022) hold what several models said of each pair, the adversary among them;
the source keeps them in ``meta``. So their errors are told without the models.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, in_percent, share
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.units import units_of

ENDING, ADVERSARY = "PredLabel", "adversary_pred"


@dataclass(frozen=True, kw_only=True)
class TypeErrors:
    """One kind of inference in one round, or ``all`` that are tagged, and how often each model is wrong on it."""

    round: str
    type: str
    pairs: int
    errors: dict[str, Estimate]


@dataclass(frozen=True, repr=False)
class StoredErrors(Result):
    """The errors of every model that left predictions."""

    name: str
    models: tuple[str, ...]
    types: tuple[TypeErrors, ...]

    @property
    def title(self) -> str:
        """Whose errors on what."""
        return f"{self.name}: errors of {len(self.models)} models by round and expert's tag"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each round and tag."""
        return pl.DataFrame(
            [
                {"round": one.round, "type": one.type, "pairs": one.pairs}
                | {model: in_percent(one.errors[model]) for model in self.models if model in one.errors}
                for one in self.types
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            "name": self.name,
            "models": list(self.models),
            "types": [
                {"round": one.round, "type": one.type, "pairs": one.pairs}
                | {"errors": {name: {"value": own.value, "interval": own.interval} for name, own in one.errors.items()}}
                for one in self.types
            ],
        }


def stored_errors(pairs: Pairs) -> StoredErrors:
    """Measure how often stored predictions are wrong: on all tagged pairs of a round, and on those of each tag."""
    frame = pairs.frame.filter(pl.col("tags").list.len() > 0, pl.col("round").is_not_null()).collect()
    said = [_predictions(meta) for meta in frame["meta"]]
    models = tuple(dict.fromkeys(name for row in said for name in row))
    if not models:
        raise InputError(f"{pairs.card.name} holds no predictions of models beside experts' tags")
    frame = frame.with_columns(pl.Series("unit", units_of(frame)))
    # As in the data, a label is told by its first letter.
    wrong = {
        name: np.array([row.get(name) != label[0] for row, label in zip(said, frame["label"], strict=True)])
        for name in models
    }
    answered = {name: np.array([name in row for row in said]) for name in models}
    types = []
    for number in sorted(frame["round"].unique()):
        own = (frame["round"] == number).to_numpy()
        names = sorted(frame.filter(pl.Series(own))["tags"].explode(empty_as_null=True).drop_nulls().unique())
        widest = [name for name in names if not any(name.startswith(f"{other}-") for other in names)]
        for kind in ("all", *widest):
            rows = own if kind == "all" else own & frame["tags"].list.contains(kind).to_numpy()
            errors = {
                name: share(wrong[name][chosen], units=frame["unit"].to_numpy()[chosen])
                for name in models
                if (chosen := rows & answered[name]).any()
            }
            types.append(TypeErrors(round=number, type=kind, pairs=int(rows.sum()), errors=errors))
    return StoredErrors(pairs.card.name, models, tuple(types))


def _predictions(meta: str | None) -> dict[str, str]:
    """Return what each model said, by its name."""
    analysis = (json.loads(meta) if meta else {}).get("analysis") or {}
    models = {
        key.removesuffix(ENDING).removeprefix("preds-"): label
        for key, label in analysis.items()
        if key.endswith(ENDING)
    }
    adversary = analysis.get(ADVERSARY)
    return ({"adversary": adversary} if adversary else {}) | {name: label for name, label in models.items() if label}

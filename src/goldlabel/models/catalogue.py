"""What can be trained and what can be loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from goldlabel.errors import MissingExtraError
from goldlabel.models.loading import FORMS
from goldlabel.models.model import MODELS, WITH_REFERENCE, find_member
from goldlabel.pairs.result import Result
from goldlabel.registry import Refused


@dataclass(frozen=True)
class Entry:
    """A model that can be trained."""

    name: str
    kind: str
    """``baseline``, ``network`` or ``encoder``."""
    summary: str
    paper: str
    recipe: Mapping[str, Any] | None
    """How its authors trained it; a baseline has none."""
    options: Mapping[str, Any]
    """Its own options and their defaults."""
    missing: str = ""
    """What has to be installed first; nothing else is known then."""
    origin: str = ""
    """The package that brings it; empty for those that come with Goldlabel."""

    @property
    def recipe_text(self) -> str:
        """The recipe in a few words; of a baseline, its options."""
        if self.missing:
            return self.missing
        if self.recipe is None:
            return ", ".join(f"{name} {value}" for name, value in self.options.items())
        recipe = self.recipe
        batch_and_rate = f"{recipe['optimiser']} {recipe['lr']:g}, batch {recipe['batch']}, {recipe['epochs']} epochs"
        schedule = "" if recipe["schedule"] == "constant" else f", {recipe['schedule']}"
        warmup = f", {recipe['warmup']:.0%} warm-up" if recipe["warmup"] else ""
        return f"{batch_and_rate}{schedule}{warmup}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = {name: value for name, value in vars(self).items() if name != "origin"}
        return plain | {
            "from": self.origin,
            "recipe": None if self.recipe is None else dict(self.recipe),
            "options": dict(self.options),
            "missing": self.missing or None,
        }


@dataclass(frozen=True, repr=False)
class Catalogue(Result):
    """The models that can be trained, and the forms of name by which others are loaded."""

    models: tuple[Entry, ...]
    refused: tuple[Refused, ...]
    forms: Mapping[str, str]

    @property
    def title(self) -> str:
        """How many there are."""
        return f"{len(self.models)} models can be trained by their names"

    @property
    def table(self) -> pl.DataFrame:
        """One row per model."""
        rows = [
            {"name": entry.name, "kind": entry.kind, "what": entry.summary, "recipe": entry.recipe_text}
            | {"paper": entry.paper, "from": entry.origin}
            for entry in self.models
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return both lists."""
        forms = [{"form": form, "loads": what} for form, what in self.forms.items()]
        return {
            "models": [entry.to_dict() for entry in self.models],
            "forms": forms,
            "refused": list(map(vars, self.refused)),
        }


def list_models() -> Catalogue:
    """Return what can be trained, baselines first, and what can be loaded."""
    order = ("baseline", "network", "encoder", "")
    refused = MODELS.refused
    unusable = {plugin.name for plugin in refused if MODELS.origin(plugin.name) == plugin.origin}
    usable = (_entry(name) for name in MODELS if name not in unusable)
    entries = sorted(usable, key=lambda entry: (order.index(entry.kind), entry.name))
    return Catalogue(tuple(entries), tuple(refused), FORMS)


def _entry(name: str) -> Entry:
    shown = f"{name}:NAME" if name == WITH_REFERENCE else name
    try:
        member = find_member(name)
    except MissingExtraError as error:
        return Entry(shown, "", "", "", None, {}, str(error))
    summary = str(member.__doc__).partition("\n")[0].rstrip(".")
    recipe = vars(member.recipe) if member.fitted_by_trainer else None
    return Entry(shown, member.kind, summary, member.paper, recipe, member.own_options(), origin=MODELS.origin(name))

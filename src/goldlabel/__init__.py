"""Goldlabel: the workbench for natural language inference data and models.

>>> import goldlabel as gl
>>> pairs = gl.read("pairs.jsonl")
>>> pairs.split("80:10:10").pairs.write("my-corpus")
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldlabel.audit import audit
    from goldlabel.errors import GoldlabelError
    from goldlabel.models import Model, load_model, predict_labels
    from goldlabel.pairs import Card, LabelSpace, Pairs, convert, label_space, read, score_mapping
    from goldlabel.sources import load
    from goldlabel.train import train
    from goldlabel.verify import verify

_HOMES = {
    "audit": "goldlabel.audit",
    "GoldlabelError": "goldlabel.errors",
    "Model": "goldlabel.models",
    "load_model": "goldlabel.models",
    "predict_labels": "goldlabel.models",
    "Card": "goldlabel.pairs",
    "LabelSpace": "goldlabel.pairs",
    "Pairs": "goldlabel.pairs",
    "convert": "goldlabel.pairs",
    "label_space": "goldlabel.pairs",
    "read": "goldlabel.pairs",
    "score_mapping": "goldlabel.pairs",
    "load": "goldlabel.sources",
    "train": "goldlabel.train",
    "verify": "goldlabel.verify",
}

__all__ = [
    "Card",
    "GoldlabelError",
    "LabelSpace",
    "Model",
    "Pairs",
    "audit",
    "convert",
    "label_space",
    "load",
    "load_model",
    "predict_labels",
    "read",
    "score_mapping",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import goldlabel`` costs nothing."""
    if name == "__version__":
        return importlib.metadata.version("goldlabel")
    if name not in _HOMES:
        raise AttributeError(f"module 'goldlabel' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    return home if _HOMES[name] == f"goldlabel.{name}" else getattr(home, name)


def __dir__() -> list[str]:
    return __all__

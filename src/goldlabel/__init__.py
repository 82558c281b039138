"""Goldlabel: the workbench for natural language inference data and models.

>>> import goldlabel as gl
>>> pairs = gl.read("pairs.jsonl")
>>> pairs.split("80:10:10").pairs.write("my-corpus")
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldlabel.audit import audit
    from goldlabel.bench import bench
    from goldlabel.errors import GoldlabelError
    from goldlabel.evaluate import compare, predict, score
    from goldlabel.explain import explain
    from goldlabel.models import Model, load_model, predict_labels
    from goldlabel.pairs import (
        Card,
        LabelSpace,
        Pairs,
        convert,
        from_datasets,
        from_pandas,
        from_polars,
        from_rows,
        label_space,
        read,
        score_mapping,
    )
    from goldlabel.sources import load
    from goldlabel.train import train
    from goldlabel.verify import verify

_HOMES = {
    "audit": "goldlabel.audit",
    "bench": "goldlabel.bench",
    "GoldlabelError": "goldlabel.errors",
    "compare": "goldlabel.evaluate",
    "predict": "goldlabel.evaluate",
    "score": "goldlabel.evaluate",
    "explain": "goldlabel.explain",
    "Model": "goldlabel.models",
    "load_model": "goldlabel.models",
    "predict_labels": "goldlabel.models",
    "Card": "goldlabel.pairs",
    "LabelSpace": "goldlabel.pairs",
    "Pairs": "goldlabel.pairs",
    "convert": "goldlabel.pairs",
    "from_datasets": "goldlabel.pairs",
    "from_pandas": "goldlabel.pairs",
    "from_polars": "goldlabel.pairs",
    "from_rows": "goldlabel.pairs",
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
    "bench",
    "compare",
    "convert",
    "explain",
    "from_datasets",
    "from_pandas",
    "from_polars",
    "from_rows",
    "label_space",
    "load",
    "load_model",
    "predict",
    "predict_labels",
    "read",
    "score",
    "score_mapping",
    "train",
    "verify",
]


class _Package(ModuleType):
    """A package some of whose rooms are called like their main function.

    Python binds a sub-package under its name when it is first imported, by whomever. There users expect the
    function, so that is what is bound; the room itself is imported as any other.
    """

    def __setattr__(self, name: str, value: object) -> None:
        is_room = isinstance(value, ModuleType) and _HOMES.get(name) == value.__name__
        super().__setattr__(name, getattr(value, name) if is_room else value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import goldlabel`` costs nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("goldlabel")
    if name not in _HOMES:
        raise AttributeError(f"module 'goldlabel' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

"""Annotations of other tasks become pairs: one file per phenomenon, pure functions."""

from goldlabel.recast import (  # noqa: F401  (each registers its recaster)
    dpr,
    factuality,
    fnplus,
    megaveridicality,
    named_entities,
    puns,
    relations,
    sentiment,
    spr,
    template,
    verbnet,
    winogender,
)
from goldlabel.recast.check import Comparison, check_recast
from goldlabel.recast.recaster import RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.run import RecastRun, run_recast

__all__ = [
    "RECASTERS",
    "Comparison",
    "Options",
    "RecastRun",
    "Recaster",
    "Recasting",
    "Skipped",
    "check_recast",
    "run_recast",
]

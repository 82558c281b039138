"""Scoring a submission: its accuracy on every set and the mean over those that count, with intervals.

Figures are published to a tenth of a per cent, and no finer anywhere, so that one answer more or less hardly shows in a
large set; in a small one it does, and only the limits keep labels from being dug out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.leaderboard.board import BoardSuite
from goldlabel.leaderboard.checking import Labels, check_predictions
from goldlabel.leaderboard.contents import ModelCard, unpack
from goldlabel.metrics import Estimate, mean_over_sets, share

PLACES = 3
"""Of a share: a tenth of a per cent."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a submission came to."""

    figures: Mapping[str, Any]
    """``mean``, ``sets`` and ``hypothesis_only``, as ``Estimate.to_dict`` has them."""
    hits: bytes
    card: ModelCard


def score_upload(suite: BoardSuite, upload: Path, file: str, folder: Path) -> Score:
    """Check and score a file that was submitted; ``folder`` is for what is unpacked."""
    try:
        contents = unpack(upload, file, folder)
        labels = check_predictions(suite, contents.predictions)
        hidden = check_predictions(suite, contents.hidden) if contents.hidden else None
    except GoldlabelError as error:
        # Where it lay on our disk is nobody's business.
        raise InputError(str(error).replace(f"{folder}/", "").replace(upload.name, file)) from error
    hits = hits_of(suite, labels)
    return Score(
        figures={
            "mean": _mean(suite, hits).to_dict(),
            "sets": {
                part.name: published(share(hits[part.name], units=suite.units[part.name], level=suite.level)).to_dict()
                for part in suite.sets
            },
            "hypothesis_only": None if hidden is None else _mean(suite, hits_of(suite, hidden)).to_dict(),
        },
        hits=pack_hits(suite, hits),
        card=contents.card,
    )


def hits_of(suite: BoardSuite, labels: Labels) -> dict[str, NDArray[np.bool_]]:
    """Return for each set which pairs were answered right."""
    return {part.name: np.asarray(labels[part.name] == part.gold.frame["label"].to_numpy()) for part in suite.sets}


def pack_hits(suite: BoardSuite, hits: Mapping[str, NDArray[np.bool_]]) -> bytes:
    """Return hits as they are kept: a bit for each pair, the sets one after another."""
    return np.packbits(np.concatenate([hits[part.name] for part in suite.sets])).tobytes()


def unpack_hits(suite: BoardSuite, packed: bytes) -> dict[str, NDArray[np.bool_]]:
    """Return hits that were kept."""
    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=suite.pairs).astype(bool)
    ends = np.cumsum([part.pairs for part in suite.sets])[:-1]
    return {part.name: own for part, own in zip(suite.sets, np.split(bits, ends), strict=True)}


def published(figure: Estimate) -> Estimate:
    """Return a figure as anybody may see it."""
    value, low, high = (None if end is None else round(end, PLACES) for end in (figure.value, figure.low, figure.high))
    return replace(figure, value=value, low=low, high=high)


def _mean(suite: BoardSuite, hits: Mapping[str, NDArray[np.bool_]]) -> Estimate:
    own, units = zip(*((hits[name], suite.units[name]) for name in suite.counted), strict=True)
    return published(mean_over_sets(own, units, level=suite.level))

"""Negators per language and label: how often hypotheses of each label carry a word of the lexicon's negation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.tags import carries
from goldlabel.pairs.lexicon import LEXICONS


def count_negators(
    tags: NDArray[np.uint32],
    languages: NDArray[np.int16],
    language_names: list[str],
    labels: NDArray[np.int8],
    names: tuple[str, ...],
) -> dict[str, Any] | None:
    """Return shares per language and label; ``None`` if no pair's language has a lexicon."""
    negated = carries(tags, "negation")
    found = {}
    for code, language in enumerate(language_names):
        rows = languages == code
        if language in LEXICONS and rows.any():
            per_label = {name: _share(negated, rows & (labels == number)) for number, name in enumerate(names)}
            found[language] = _share(negated, rows) | {"by_label": per_label}
    return found or None


def _share(negated: NDArray[np.bool_], rows: NDArray[np.bool_]) -> dict[str, Any]:
    pairs, count = int(rows.sum()), int((negated & rows).sum())
    return {"pairs": pairs, "negated": count, "share": count / pairs if pairs else None}

"""Foreign text: Roman letters in languages that are written otherwise.

Hu et al. (2020), Appendix C, count the Chinese pairs of XNLI with more than ten Roman letters, a trace of
translation. Premise and hypothesis are counted together. Pairs in a language that is not known are left out.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

MORE_THAN = 10
ROMAN = (
    *("af", "ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "id", "is", "it"),
    *("la", "lt", "lv", "ms", "mt", "nl", "no", "pl", "pt", "ro", "sk", "sl", "sq", "sv", "sw", "tl", "tr", "vi"),
)
"""Languages written in Roman letters, for which the count says nothing."""


def count_letters(frame: pl.DataFrame) -> NDArray[np.int32]:
    """Return the number of Roman letters in each pair."""
    letters = sum(pl.col(name).str.count_matches("[A-Za-z]") for name in ("premise", "hypothesis"))
    return frame.select(letters).to_series().to_numpy().astype(np.int32)

"""Foreign text: Roman letters in languages that are written otherwise.

Hu et al. (2020), Appendix C, count the Chinese pairs of XNLI with more than ten Roman letters, a trace of
translation. Premise and hypothesis are counted together. Pairs in any language that is not known to be written
otherwise are left out.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

MORE_THAN = 10
NOT_ROMAN = (
    *(
        "am",
        "ar",
        "be",
        "bg",
        "bn",
        "bo",
        "cmn",
        "dv",
        "dz",
        "el",
        "fa",
        "gu",
        "he",
        "hi",
        "hy",
        "ja",
        "ka",
        "km",
        "kn",
    ),
    *("ko", "ky", "lo", "mk", "ml", "mn", "mr", "my", "ne", "or", "pa", "ps", "ru", "sa", "si", "ta", "te", "tg", "th"),
    *("ti", "ug", "uk", "ur", "wuu", "yi", "yue", "zh"),
)
"""Languages that are not written in Roman letters; in any other the count says nothing."""


def count_letters(frame: pl.DataFrame) -> NDArray[np.int32]:
    """Return the number of Roman letters in each pair."""
    letters = sum(pl.col(name).str.count_matches("[A-Za-z]") for name in ("premise", "hypothesis"))
    return frame.select(letters).to_series().to_numpy().astype(np.int32)

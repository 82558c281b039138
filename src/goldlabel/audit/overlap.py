"""What premise and hypothesis share: lexical overlap and HANS's heuristics.

Overlap is the share of the hypothesis's different tokens that also occur in the premise; tokens are words, in
Chinese and Japanese characters. The heuristics are those of McCoy et al. (2019), each inside the one before:

*lexical overlap*: every token of the hypothesis is in the premise;
*subsequence*: the hypothesis is a stretch of the premise;
*constituent*: it is also bounded on both sides by the end of the premise, a punctuation mark or a conjunction.
The paper asks for a subtree of a parse there; without a parser the bounds stand in for it, so that some
constituents inside a clause are missed.

The 70 % rule is the one given to the writers of OCNLI (Hu et al. 2020, section 3).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs.tokens import CJK

RULE = 0.7
LEXICAL, SUBSEQUENCE, CONSTITUENT = np.uint8(1), np.uint8(2), np.uint8(4)
HEURISTICS = {"lexical_overlap": LEXICAL, "subsequence": SUBSEQUENCE, "constituent": CONSTITUENT}

_BOUNDS = {
    "en": r"\b(?:and|or|but|nor|that|if|because|although|though|while|when|before|after|since|unless|until|so)\b",
    "zh": "如果|因为|所以|但是|但|虽然|而且|而|并且|或者|或|和|然后|接着|当|那么|除非|否则|以及",
}
_MARKS = r"[^\p{L}\p{M}\p{N}\s']+"
_CHARACTER = rf"([{CJK}])"


def measure_heuristics(frame: pl.DataFrame, overlap: NDArray[np.float32], language: str) -> NDArray[np.uint8]:
    """Return which heuristics hold for each pair as bits; texts are looked at only where all tokens are shared."""
    holding = np.zeros(len(overlap), dtype=np.uint8)
    rows = np.flatnonzero(overlap == 1)
    holding[rows] = LEXICAL
    if not len(rows):
        return holding
    texts = frame[rows].select(
        _spaced(pl.col("premise"), " ").alias("stretch"),
        _spaced(pl.col("premise").str.to_lowercase().str.replace_all(_bounds(language), "|"), "|").alias("clauses"),
        _spaced(pl.col("hypothesis"), "").alias("hypothesis"),
    )
    within = pl.col("stretch").str.contains(pl.format(" {} ", "hypothesis"), literal=True)
    bounded = pl.col("clauses").str.contains(pl.format("|{}|", "hypothesis"), literal=True)
    inside, whole = (texts.select(holds).to_series().to_numpy() for holds in (within, bounded))
    holding[rows[inside]] |= SUBSEQUENCE
    holding[rows[inside & whole]] |= CONSTITUENT
    return holding


def _bounds(language: str) -> str:
    return f"{_BOUNDS[language]}|{_MARKS}" if language in _BOUNDS else _MARKS


def _spaced(text: pl.Expr, edge: str) -> pl.Expr:
    """Set single spaces between tokens and ``edge`` at both ends; a run with a bar in it becomes the bar."""
    apart = text.str.to_lowercase().str.replace_all("’", "'", literal=True).str.replace_all(_CHARACTER, " $1 ")
    bare = apart.str.replace_all(r"[^\p{L}\p{M}\p{N}'|]+", " ").str.replace_all(r"[ |]*\|[ |]*", "|")
    return pl.format(f"{edge}{{}}{edge}", bare.str.strip_chars(" |"))

"""How well people do on a set: each vote against the majority of the pair's other votes.

The votes that made the gold labels cannot be held against them, as each is part of its own gold label. Held against the
others alone, a vote is a fresh one. It is no stand-in for the figure of people who had no part in the labels
(``goldlabel.verify.human_baseline``), which a corpus seldom has.
"""

from __future__ import annotations

import numpy as np

from goldlabel.metrics import Estimate, share
from goldlabel.pairs.gold import GoldPairs

FEWEST = 3
"""Two others are the fewest that can have a majority."""


def score_votes(gold: GoldPairs, *, level: float = 0.95) -> Estimate | None:
    """Return the share of votes equal to the others' majority, where they have one; None where nobody has.

    A majority is more than half of the others. A vote that is no label (``unrelated``) can be wrong and be outvoted.
    """
    hits, units = [], []
    for votes, unit in zip(gold.frame["votes"].to_list(), gold.units.tolist(), strict=True):
        for place in range(len(votes)) if len(votes) >= FEWEST else ():
            others = votes[:place] + votes[place + 1 :]
            majority = max(gold.space.labels, key=others.count)
            if 2 * others.count(majority) > len(others):
                hits.append(votes[place] == majority)
                units.append(unit)
    return share(np.array(hits), units=np.array(units), level=level) if hits else None

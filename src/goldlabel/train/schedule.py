"""How the learning rate changes from step to step, as a factor of how far the run is.

After a linear warm-up, ``constant`` stays, ``linear`` falls to 0 at the end of the last epoch, and ``cosine`` falls
along half a cosine (Loshchilov and Hutter 2017, without restarts). The rules that networks have for whole epochs, such
as halving the rate when nothing gets better, multiply with it (see ``Recipe``).
"""

from __future__ import annotations

import math


def rate_factor(schedule: str, warmup: float, progress: float) -> float:
    """Return the factor of the learning rate when the share ``progress`` of all steps is done."""
    if progress < warmup:
        return progress / warmup
    left = (1 - progress) / (1 - warmup)
    return {"constant": 1.0, "linear": left, "cosine": (1 - math.cos(math.pi * left)) / 2}[schedule]

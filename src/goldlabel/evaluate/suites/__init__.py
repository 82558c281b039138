"""The suites, one file each."""

from goldlabel.evaluate.suite import SUITES
from goldlabel.evaluate.suites import cross, elicitation, mine, recast, rounds, stress

__all__ = ["SUITES", "cross", "elicitation", "mine", "recast", "rounds", "stress"]

"""The suites, one file each."""

from goldlabel.evaluate.suite import SUITES
from goldlabel.evaluate.suites import cross, mine, recast, stress

__all__ = ["SUITES", "cross", "mine", "recast", "stress"]

"""Why the number: one file per question that is asked of a model's accuracy, and what all of them say together."""

from goldlabel.evaluate.explanation.asking import asking
from goldlabel.evaluate.explanation.counterfactuals import EditEffect, measure_edits
from goldlabel.evaluate.explanation.cues import Cue, CueEffect, measure_cues
from goldlabel.evaluate.explanation.hypothesis_only import Kinship, measure_kinship
from goldlabel.evaluate.explanation.result import Explanation
from goldlabel.evaluate.explanation.sides import Survival, measure_sides

__all__ = [
    "Cue",
    "CueEffect",
    "EditEffect",
    "Explanation",
    "Kinship",
    "Survival",
    "asking",
    "measure_cues",
    "measure_edits",
    "measure_kinship",
    "measure_sides",
]

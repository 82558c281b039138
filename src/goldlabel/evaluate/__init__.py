"""What models say of pairs, and how well they do: predictions, scores with intervals, comparisons."""

from goldlabel.evaluate.comparison import Comparison, Contrast, Example, compare
from goldlabel.evaluate.prediction import Prediction, predict
from goldlabel.evaluate.scores import DatasetScore, LabelScore, Score, Scores, score

__all__ = [
    "Comparison",
    "Contrast",
    "DatasetScore",
    "Example",
    "LabelScore",
    "Prediction",
    "Score",
    "Scores",
    "compare",
    "predict",
    "score",
]

"""What models say of pairs, and how well they do: predictions, scores with intervals, comparisons."""

from goldlabel.evaluate.comparison import Comparison, Contrast, Example, compare
from goldlabel.evaluate.prediction import Prediction, predict
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.scores import DatasetScore, LabelScore, Score, Scores, score

__all__ = [
    "BenchResults",
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

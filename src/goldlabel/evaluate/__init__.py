"""What models say of pairs, and how well they do: predictions, scores with intervals, comparisons."""

from goldlabel.evaluate.prediction import Prediction, predict
from goldlabel.evaluate.scores import DatasetScore, LabelScore, Score, Scores, score

__all__ = ["DatasetScore", "LabelScore", "Prediction", "Score", "Scores", "predict", "score"]

"""Models: the protocol that everything which scores pairs follows, and its members."""

from goldlabel.models.model import MODELS, Model, load_model, predict_labels

MODELS.add("majority", "goldlabel.models.majority:Majority")
MODELS.add("linear", "goldlabel.models.linear:Linear")

__all__ = ["MODELS", "Model", "load_model", "predict_labels"]

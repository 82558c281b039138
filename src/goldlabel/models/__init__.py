"""Models: the protocol that everything which scores pairs follows, and its members."""

from goldlabel.models.loading import load_model
from goldlabel.models.model import MODELS, Model, Unmoved, predict_labels

MODELS.add("majority", "goldlabel.models.majority:Majority")
MODELS.add("linear", "goldlabel.models.linear:Linear")
MODELS.add("hom", "goldlabel.models.hom:HOM")
MODELS.add("random-forest", "goldlabel.models.random_forest:RandomForest")
MODELS.add("cbow", "goldlabel.models.cbow:CBOW")
MODELS.add("esim", "goldlabel.models.esim:ESIM")
MODELS.add("esim-nyu", "goldlabel.models.esim:ESIMNYU")
MODELS.add("bilstm", "goldlabel.models.bilstm:BiLSTMNYU")
MODELS.add("bilstm-siamese", "goldlabel.models.bilstm:BiLSTMSiamese")
MODELS.add("bimpm", "goldlabel.models.bimpm:BiMPM")
MODELS.add("decomposable-attention", "goldlabel.models.decomposable_attention:DecomposableAttention")
MODELS.add("decomposable-attention-300", "goldlabel.models.decomposable_attention:DecomposableAttention300")
MODELS.add("decomposable-attention-intra", "goldlabel.models.decomposable_attention:IntraAttention")
MODELS.add("diin", "goldlabel.models.diin:DIIN")
MODELS.add("disan", "goldlabel.models.disan:DiSAN")
MODELS.add("hbmp", "goldlabel.models.hbmp:HBMP")
MODELS.add("infersent", "goldlabel.models.infersent:InferSent")
MODELS.add("lstm", "goldlabel.models.lstm:LSTM100")
MODELS.add("hf", "goldlabel.models.pretrained:Pretrained")

__all__ = ["MODELS", "Model", "Unmoved", "load_model", "predict_labels"]

"""Debiasing: objectives that keep a model from reading what a bias model can tell already.

Each method is one file: an objective, or a change of the weights or the sampling of rows. It composes with every model
that the trainer fits and with every bias model (``goldlabel.train.bias``).
"""

from typing import Any

from goldlabel.registry import Registry

DEBIAS: Registry[Any] = Registry("debiasing method")
"""Classes, each a ``Method`` of ``goldlabel.train.debias.method``; they are imported when asked for, as torch is."""

DEBIAS.add("adv", "goldlabel.train.debias.adv:Adversarial")
DEBIAS.add("drift", "goldlabel.train.debias.drift:DRiFt")
DEBIAS.add("learned-mixin", "goldlabel.train.debias.learned_mixin:LearnedMixin")
DEBIAS.add("learned-mixin-h", "goldlabel.train.debias.learned_mixin_h:LearnedMixinH")
DEBIAS.add("weighting", "goldlabel.train.debias.weighting:Weighting")
DEBIAS.add("confidence", "goldlabel.train.debias.confidence:Confidence")
DEBIAS.add("focal", "goldlabel.train.debias.focal:Focal")
DEBIAS.add("jtt", "goldlabel.train.debias.jtt:JustTrainTwice")

USUAL = "audit"
"""The bias model that is meant where none is named: the audit's, linear and of the hypothesis alone."""
OF_BASELINES = ("weighting", "drift")
"""What a model that fits itself may be debiased by, with the methods' defaults; torch is not needed."""

__all__ = ["DEBIAS", "OF_BASELINES", "USUAL"]

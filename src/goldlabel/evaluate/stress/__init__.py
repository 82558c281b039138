"""The six stress tests of Naik et al. (2018), made of any NLI set in English or Chinese; one recipe per file.

``recipe`` says what a recipe is, ``making`` runs one over a dataset, ``sentences`` is what they ask of a sentence.
"""

from goldlabel.evaluate.stress.antonym import Antonym, read_antonyms
from goldlabel.evaluate.stress.making import StressTest, make_stress
from goldlabel.evaluate.stress.recipe import STRESS_TESTS, BasePair, Recipe, UnsuitableError, Variant

__all__ = [
    "STRESS_TESTS",
    "Antonym",
    "BasePair",
    "Recipe",
    "StressTest",
    "UnsuitableError",
    "Variant",
    "make_stress",
    "read_antonyms",
]

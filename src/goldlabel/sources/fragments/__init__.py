"""The embedded generator: pairs from small grammars of English and Chinese, with labels true by construction.

Each phenomenon is a set of sentence forms with logical forms and a table that says which label a premise form
gives a hypothesis form (``grammar``, ``phenomena``). Pairs are drawn from it without repetition (``drawing``),
and may carry a planted artifact (``artifact``). ``semantics`` decides labels on its own, by looking at models.
"""

from goldlabel.sources.fragments.artifact import FEATURES, Artifact, parse_artifact
from goldlabel.sources.fragments.drawing import capacity
from goldlabel.sources.fragments.grammar import LANGUAGES
from goldlabel.sources.fragments.making import (
    fragment_pairs,
    fragments_card,
    logical_forms,
    make_fragments,
)
from goldlabel.sources.fragments.phenomena import PHENOMENA
from goldlabel.sources.fragments.writing import Made, write_fragments

__all__ = [
    "FEATURES",
    "LANGUAGES",
    "PHENOMENA",
    "Artifact",
    "Made",
    "capacity",
    "fragment_pairs",
    "fragments_card",
    "logical_forms",
    "make_fragments",
    "parse_artifact",
    "write_fragments",
]

"""The phenomena, one file each: the forms of its sentences and the table of their labels."""

from goldlabel.sources.fragments.grammar import Phenomenon
from goldlabel.sources.fragments.phenomena.adjectives import ADJECTIVES
from goldlabel.sources.fragments.phenomena.comparatives import COMPARATIVES
from goldlabel.sources.fragments.phenomena.conditionals import CONDITIONALS
from goldlabel.sources.fragments.phenomena.conjunction import CONJUNCTION
from goldlabel.sources.fragments.phenomena.coreference import COREFERENCE
from goldlabel.sources.fragments.phenomena.factivity import FACTIVITY
from goldlabel.sources.fragments.phenomena.hypernyms import HYPERNYMS
from goldlabel.sources.fragments.phenomena.negation import NEGATION
from goldlabel.sources.fragments.phenomena.numbers import NUMBERS
from goldlabel.sources.fragments.phenomena.quantifiers import QUANTIFIERS
from goldlabel.sources.fragments.phenomena.temporal import TEMPORAL
from goldlabel.sources.fragments.phenomena.voice import VOICE

PHENOMENA: dict[str, Phenomenon] = {
    phenomenon.name: phenomenon
    for phenomenon in (
        NEGATION,
        QUANTIFIERS,
        COMPARATIVES,
        NUMBERS,
        CONDITIONALS,
        CONJUNCTION,
        COREFERENCE,
        TEMPORAL,
        FACTIVITY,
        VOICE,
        HYPERNYMS,
        ADJECTIVES,
    )
}

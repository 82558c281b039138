"""What a page's words and commands mean: each is a link to its line in a list at the end, as the page stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from goldlabel.report.language import N_, say, speaking, spoken
from goldlabel.report.page import Item, Link, Page, Section, Words, anchor_of
from goldlabel.report.table import Cell, Table

HEADING = N_("Terms and commands")


@dataclass(frozen=True)
class Term:
    """A term, or a command, and what it means; ``also`` is what else the page says for it."""

    name: str
    meaning: str
    also: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Where links to it lead."""
        return f"term-{anchor_of(self.name)}"


TERMS = (
    Term(N_("hypothesis only"), N_("A model that is shown the hypothesis and never the premise (Poliak et al. 2018).")),
    Term(N_("premise only"), N_("The control: a model that is shown the premise and never the hypothesis.")),
    Term(N_("gain"), N_("Accuracy less that of always saying the most frequent label, in points.")),
    Term(
        N_("intervals"),
        N_("What holds the true figure as often as the level says; pairs of one premise or group are one observation."),
        (N_("interval"),),
    ),
    Term(
        N_("pointwise mutual information"),
        N_("PMI: how much more often a word and a label go together than by chance, as a logarithm; 0 is chance."),
        ("PMI",),
    ),
    Term(
        N_("z-score"),
        N_(
            "How many standard errors the share of a label among a feature's carriers lies above equally frequent "
            "labels (Gardner et al. 2021)."
        ),
    ),
    Term(
        N_("false-discovery rate"),
        N_(
            "The expected share of features that are named though nothing is behind them; q is the least rate at "
            "which a feature is still named (Benjamini and Hochberg 1995)."
        ),
    ),
    Term(
        N_("Holm"), N_("P-values are made larger by how many tests there are, so that none passes by luck (Holm 1979).")
    ),
    Term(
        N_("near-duplicates"),
        N_("Pairs whose texts are the same but for a word or two; identical ones are among them."),
        (N_("near-duplicate"),),
    ),
    Term(N_("negator"), N_("A word that denies, such as not or nobody, from the list of the pair's language.")),
    Term(
        N_("confident learning"),
        N_(
            "A label is in doubt where a model that never saw the pair is surer of another one than it usually is "
            "(Northcutt et al. 2021)."
        ),
    ),
    Term(
        N_("confidence"),
        N_("The mean over epochs of the probability that training gave the gold label (Swayamdipta et al. 2020)."),
    ),
    Term(
        N_("variability"),
        N_(
            "The standard deviation over epochs of the probability that training gave the gold label (Swayamdipta et "
            "al. 2020)."
        ),
    ),
    Term(
        N_("hard subset"),
        N_("The pairs that a model without the premise labels wrongly, as SNLI-hard (Gururangan et al. 2018)."),
    ),
    Term(
        "goldlabel audit",
        N_("Audit a dataset: artifacts in the hypotheses, overlap, leaks, tags; with -o also as a page."),
    ),
    Term(
        "goldlabel data apply-review",
        N_("Apply a review's decisions: keep, a label, or drop; a row without one is left alone."),
    ),
    Term(
        "goldlabel data duplicates",
        N_("Find exact and near duplicates within and across datasets, and drop them if you like."),
    ),
    Term(
        "goldlabel data split",
        N_("Split a dataset by one plan; --exclude-overlap may follow any of them."),
        ("--exclude-overlap premise",),
    ),
)


@cache
def _by_name(language: str) -> dict[str, Term]:
    """Return the terms by what a page in a language calls them."""
    with speaking(language):
        return {say(name).lower(): term for term in TERMS for name in (term.name, *term.also)}


def is_command(name: str) -> bool:
    """Say whether this is a command or an option of one."""
    return name.startswith(("goldlabel ", "--"))


def with_terms(page: Page) -> Page:
    """Make every term and command on a page a link, and list those that are there at its end."""
    sections = [
        replace(section, text=_linked(section.text), items=[_item(item) for item in section.items])
        for section in page.sections
    ]
    page = replace(page, sections=sections, footer=_linked(page.footer))
    addresses = {piece.address for words in _all_words(page) if not isinstance(words, str) for piece in _links(words)}
    rows = [
        (Cell(say(term.name), anchor=term.anchor), say(term.meaning))
        for term in TERMS
        if f"#{term.anchor}" in addresses
    ]
    table = Table(name="terms", columns=(say("term"), say("meaning")), rows=rows, texts=True, filtered=False)
    text = say("As they are meant here.")
    return replace(page, sections=[*sections, Section(heading=say(HEADING), text=text, table=table)])


def _item(item: Item) -> Item:
    """A finding quotes words of the data, which may be spelt like a term."""
    return replace(item, text=_linked(item.text, commands_only=True), note=_linked(item.note, commands_only=True))


def _linked(words: Words, *, commands_only: bool = False) -> Words:
    pieces: list[str | Link] = []
    for piece in [words] if isinstance(words, str) else words:
        pieces += [piece] if isinstance(piece, Link) else _pieces(piece, commands_only)
    return words if len(pieces) == 1 and isinstance(words, str) else pieces


def _pieces(text: str, commands_only: bool) -> Iterator[str | Link]:
    for part in _pattern(spoken(), commands_only).split(text):
        term = _by_name(spoken()).get(part.lower())
        if part:
            yield Link(part, f"#{term.anchor}") if term else part


@cache
def _pattern(language: str, commands_only: bool) -> re.Pattern[str]:
    known = (name for name in _by_name(language) if is_command(name) or not commands_only)
    names = sorted(known, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(_alone, names))})", re.IGNORECASE)


def _alone(name: str) -> str:
    """Return the pattern of a name that is no part of a longer word; between Chinese words stands nothing."""
    return rf"(?<![\w-]){re.escape(name)}(?![\w-])" if name.isascii() else re.escape(name)


def _all_words(page: Page) -> Iterator[Words]:
    yield page.footer
    for section in page.sections:
        yield section.text
        for item in section.items:
            yield item.text
            yield item.note


def _links(words: Sequence[str | Link]) -> Iterator[Link]:
    return (piece for piece in words if isinstance(piece, Link))

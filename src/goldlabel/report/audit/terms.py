"""What a page's words and commands mean: each is a link to its line in a list at the end, as the page stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from goldlabel.report.page import Item, Link, Page, Section, Words, anchor_of
from goldlabel.report.table import Cell, Table

HEADING = "Terms and commands"


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
    Term("hypothesis only", "A model that is shown the hypothesis and never the premise (Poliak et al. 2018)."),
    Term("premise only", "The control: a model that is shown the premise and never the hypothesis."),
    Term("gain", "Accuracy less that of always saying the most frequent label, in points."),
    Term(
        "intervals",
        "What holds the true figure as often as the level says; pairs of one premise or group are one observation.",
        ("interval",),
    ),
    Term(
        "pointwise mutual information",
        "PMI: how much more often a word and a label go together than by chance, as a logarithm; 0 is chance.",
        ("PMI",),
    ),
    Term(
        "z-score",
        "How many standard errors the share of a label among a feature's carriers lies above equally frequent labels "
        "(Gardner et al. 2021).",
    ),
    Term(
        "false-discovery rate",
        "The expected share of features that are named though nothing is behind them; q is the least rate at which a "
        "feature is still named (Benjamini and Hochberg 1995).",
    ),
    Term("Holm", "P-values are made larger by how many tests there are, so that none passes by luck (Holm 1979)."),
    Term(
        "near-duplicates",
        "Pairs whose texts are the same but for a word or two; identical ones are among them.",
        ("near-duplicate",),
    ),
    Term("negator", "A word that denies, such as not or nobody, from the list of the pair's language."),
    Term(
        "confident learning",
        "A label is in doubt where a model that never saw the pair is surer of another one than it usually is "
        "(Northcutt et al. 2021).",
    ),
    Term(
        "confidence",
        "The mean over epochs of the probability that training gave the gold label (Swayamdipta et al. 2020).",
    ),
    Term(
        "variability",
        "The standard deviation over epochs of the probability that training gave the gold label (Swayamdipta et al. "
        "2020).",
    ),
    Term(
        "hard subset",
        "The pairs that a model without the premise labels wrongly, as SNLI-hard (Gururangan et al. 2018).",
    ),
    Term(
        "goldlabel audit", "Audit a dataset: artifacts in the hypotheses, overlap, leaks, tags; with -o also as a page."
    ),
    Term(
        "goldlabel data apply-review",
        "Apply a review's decisions: keep, a label, or drop; a row without one is left alone.",
    ),
    Term(
        "goldlabel data duplicates",
        "Find exact and near duplicates within and across datasets, and drop them if you like.",
    ),
    Term(
        "goldlabel data split",
        "Split a dataset by one plan; --exclude-overlap may follow any of them.",
        ("--exclude-overlap premise",),
    ),
)
_BY_NAME = {name.lower(): term for term in TERMS for name in (term.name, *term.also)}


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
    rows = [(Cell(term.name, anchor=term.anchor), term.meaning) for term in TERMS if f"#{term.anchor}" in addresses]
    table = Table(name="terms", columns=("term", "meaning"), rows=rows, texts=True, filtered=False)
    return replace(page, sections=[*sections, Section(heading=HEADING, text="As they are meant here.", table=table)])


def _item(item: Item) -> Item:
    """A finding quotes words of the data, which may be spelt like a term."""
    return replace(item, text=_linked(item.text, commands_only=True), note=_linked(item.note, commands_only=True))


def _linked(words: Words, *, commands_only: bool = False) -> Words:
    pieces: list[str | Link] = []
    for piece in [words] if isinstance(words, str) else words:
        pieces += [piece] if isinstance(piece, Link) else _pieces(piece, commands_only)
    return words if len(pieces) == 1 and isinstance(words, str) else pieces


def _pieces(text: str, commands_only: bool) -> Iterator[str | Link]:
    for part in _pattern(commands_only).split(text):
        term = _BY_NAME.get(part.lower())
        if part:
            yield Link(part, f"#{term.anchor}") if term else part


@cache
def _pattern(commands_only: bool) -> re.Pattern[str]:
    names = sorted((name for name in _BY_NAME if is_command(name) or not commands_only), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w-])", re.IGNORECASE)


def _all_words(page: Page) -> Iterator[Words]:
    yield page.footer
    for section in page.sections:
        yield section.text
        for item in section.items:
            yield item.text
            yield item.note


def _links(words: Sequence[str | Link]) -> Iterator[Link]:
    return (piece for piece in words if isinstance(piece, Link))

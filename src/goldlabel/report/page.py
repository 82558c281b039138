"""``Page``: a sentence that answers the question, then sections with figures, bars, tables and pairs.

``render_page`` writes one HTML file that needs nothing beside it: it opens from ``file://``, follows the system's light
or dark, prints, and is read on a telephone. From four sections on it has a list of contents. Whatever text is given is
shown as text, never as HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from goldlabel.files import write_text
from goldlabel.metrics import Estimate
from goldlabel.report.figure import Figure
from goldlabel.report.pair_card import PairCard
from goldlabel.report.rendering import environment
from goldlabel.report.table import Table

CONTENTS_FROM = 4


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1 with its interval, if it has one, drawn as a bar."""

    name: str
    share: Estimate
    note: str = ""


@dataclass(frozen=True)
class Link:
    """Words that lead somewhere: to ``#section``, to a file beside the page, or into the world."""

    text: str
    address: str


Words = str | Sequence[str | Link]
"""A text, or the pieces of one in which something is a link."""


@dataclass(frozen=True)
class Item:
    """An entry of a numbered list, with a note in small type, and pairs in a fold."""

    text: Words
    note: Words = ""
    group: str = ""
    """What stands above it and those that follow in the same group."""
    anchor: str = ""
    """Where links to it lead."""
    pairs: Sequence[PairCard] = ()


@dataclass(frozen=True)
class Tile:
    """A figure that is to be seen at once, in large type: ``Tile("SNLI", "84.1 %", "83.5–84.7")``."""

    name: str
    figure: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, a sentence or two, and what they are about."""

    heading: str
    text: Words
    items: Sequence[Item] = ()
    bars: Sequence[Bar] = ()
    figures: Sequence[Figure] = ()
    pairs: Sequence[PairCard] = ()
    table: Table | pl.DataFrame | None = None
    tables: Sequence[Table] = ()
    """More of them, each with its caption."""

    @property
    def shown_tables(self) -> list[Table]:
        """All tables, that of a frame made into one."""
        first = Table.of(self.table) if isinstance(self.table, pl.DataFrame) else self.table
        return [*([] if first is None else [first]), *self.tables]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A whole page."""

    title: str
    lead: str
    """The sentence that answers the question."""
    sections: Sequence[Section]
    tiles: Sequence[Tile] = ()
    footer: Words = ""
    wide: bool = False
    """Whether its tables have so many columns that they take the width of the screen."""

    @property
    def anchors(self) -> list[str]:
        """Where links lead, for each section."""
        slugs: list[str] = []
        for section in self.sections:
            slug = anchor_of(section.heading)
            slugs.append(slug if slug not in slugs else f"{slug}-{len(slugs)}")
        return slugs

    @property
    def has_contents(self) -> bool:
        """Whether there are enough sections to list."""
        return len(self.sections) >= CONTENTS_FROM


def anchor_of(heading: str) -> str:
    """Return where links to a section lead."""
    return re.sub(r"\W+", "-", heading.casefold()).strip("-") or "section"


def page_html(page: Page) -> str:
    """Return a page as HTML that needs nothing beside it."""
    return environment().get_template("page.html").render(page=page)


def render_page(page: Page, path: Path) -> None:
    """Write a page as one HTML file that needs nothing beside it."""
    write_text(path, page_html(page))

"""One calm HTML page: a sentence that answers the question, then sections with bars and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from goldlabel.files import write_text
from goldlabel.metrics import Estimate


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1 with its interval, if it has one, drawn as a bar."""

    name: str
    share: Estimate
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, and what it shows in words."""

    svg: str
    shows: str


@dataclass(frozen=True)
class Item:
    """An entry of a numbered list, with a note in small type."""

    text: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, a sentence or two, and what they are about."""

    heading: str
    text: str
    items: Sequence[Item] = ()
    bars: Sequence[Bar] = ()
    figures: Sequence[Figure] = ()
    table: pl.DataFrame | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """A whole report."""

    title: str
    lead: str
    sections: Sequence[Section]
    footer: str = ""
    wide: bool = False
    """Whether its tables have so many columns that they take the width of the screen."""


def render_page(page: Page, path: Path) -> None:
    """Write a page as one HTML file that needs nothing beside it."""
    loader = ChoiceLoader([PackageLoader("goldlabel.report"), PackageLoader("goldlabel.report", "static")])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"cell": _cell, "begins_with_figure": _begins_with_figure}
    write_text(path, environment.get_template("page.html").render(page=page))


def _begins_with_figure(value: object) -> bool:
    """Say whether a text is a figure, with its interval or what else stands beside it: it is not broken."""
    return re.match(r"[-+<]?\s*\d+\.\d", str(value)) is not None


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)

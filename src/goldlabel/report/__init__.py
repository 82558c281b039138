"""Tables, plots, cards and pages; computes no score.

The kit that every page is made of:

======================  ============================================================================================
``page.py``             ``Page`` of ``Section``: headline, tiles, contents; one self-contained HTML file
``table.py``            ``Table``: sorts and filters on the page; CSV, Markdown, LaTeX
``plots.py``            the chart family; each returns a ``Figure`` (``figure.py``): SVG here, SVG and PNG as files
``pair_card.py``        ``PairCard``: a pair with its label, shared words marked
``static/tokens.css``   type, space and colour, light and dark; shared with the web pages
``static/kit.css``      how the parts look; ``static/kit.js`` sorts and filters; ``static/page.css`` is the page's frame
======================  ============================================================================================

A page of another room links ``tokens.css``, ``kit.css`` and ``kit.js`` and shows ``render_part("table", table)``.
"""

from goldlabel.report.figure import Figure
from goldlabel.report.page import Bar, Item, Link, Page, Section, Tile, render_page
from goldlabel.report.pair_card import PairCard
from goldlabel.report.rendering import render_part
from goldlabel.report.table import Cell, Column, Table

__all__ = [
    "Bar",
    "Cell",
    "Column",
    "Figure",
    "Item",
    "Link",
    "Page",
    "PairCard",
    "Section",
    "Table",
    "Tile",
    "render_page",
    "render_part",
]

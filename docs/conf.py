"""How Sphinx builds the documentation."""

import re
from importlib.metadata import version as installed_version
from typing import Any

from goldlabel.sources import SOURCES

project = "Goldlabel"
author = "The Goldlabel developers"
copyright = "The Goldlabel developers"
version = release = installed_version("goldlabel")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"Goldlabel {release}"
html_show_sphinx = False
html_favicon = "../src/goldlabel/web/static/icon.svg"
# Type, space and colour are the report's; theme.css hands them to furo.
html_static_path = ["_static", "../src/goldlabel/report/static/tokens.css"]
html_css_files = ["tokens.css", "theme.css"]


def _fill_table_of_sources(_: object, page: str, text: list[str]) -> None:
    """Put the table of the registry where docs/sources.md wants it, so that a source is named in one place."""
    rows = ["| name | title | language | labels | licence |", "| --- | --- | --- | --- | --- |"]
    for source in map(SOURCES.get, SOURCES):
        cells = (f"`{source.name}`", source.title, source.language, f"`{source.label_space.name}`", source.licence)
        rows.append(f"| {' | '.join(cells)} |")
    text[0] = text[0].replace("<!-- table of sources -->", "\n".join(rows))


def _let_everybody_read(_: object, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Make what may be wider than the page reachable by keys, tables and code, and give headings their level."""
    wrapped = '<div tabindex="0" role="region" aria-label="Table" class="table-wrapper'
    body = context.get("body", "").replace('<div class="table-wrapper', wrapped)
    body = body.replace("<pre>", '<pre tabindex="0">')
    # Parameters of a long signature are lines, no list of definitions.
    lines = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>')
    context["body"] = lines.sub(lambda found: re.sub("(</?)d[ld]>", r"\1span>", found[0]), body)
    for part in {"body", "furo_navigation_tree"} & context.keys():
        context[part] = context[part].replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: object) -> None:
    """Connect to Sphinx."""
    app.connect("source-read", _fill_table_of_sources)  # type: ignore[attr-defined]
    app.connect("html-page-context", _let_everybody_read, priority=900)  # type: ignore[attr-defined]

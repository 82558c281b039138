"""How Sphinx builds the documentation."""

from importlib.metadata import version as installed_version

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


def _fill_table_of_sources(_: object, page: str, text: list[str]) -> None:
    """Put the table of the registry where docs/sources.md wants it, so that a source is named in one place."""
    rows = ["| name | title | language | labels | licence |", "| --- | --- | --- | --- | --- |"]
    for source in map(SOURCES.get, SOURCES):
        cells = (f"`{source.name}`", source.title, source.language, f"`{source.label_space.name}`", source.licence)
        rows.append(f"| {' | '.join(cells)} |")
    text[0] = text[0].replace("<!-- table of sources -->", "\n".join(rows))


def setup(app: object) -> None:
    """Connect to Sphinx."""
    app.connect("source-read", _fill_table_of_sources)  # type: ignore[attr-defined]

"""How Sphinx builds the documentation."""

from importlib.metadata import version as installed_version

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

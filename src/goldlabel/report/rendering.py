"""The templates of the kit, for whatever shows a part of it: ``templates/kit.html`` has a macro for each part."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from goldlabel.report.table import interval_text, sort_key, value_text


@cache
def environment() -> Environment:
    """Return the templates and the files of ``static``, all of whose values are escaped."""
    loader = ChoiceLoader([PackageLoader("goldlabel.report"), PackageLoader("goldlabel.report", "static")])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        "value_text": value_text,
        "interval_text": interval_text,
        "sort_key": sort_key,
        "begins_with_figure": _begins_with_figure,
    }
    return made


def render_part(name: str, part: Any) -> Markup:
    """Return one part as HTML: ``name`` is a macro of ``kit.html``."""
    macro = getattr(environment().get_template("kit.html").module, name)
    return Markup(macro(part))


def _begins_with_figure(value: object) -> bool:
    """Say whether a text is a figure, with its interval or what else stands beside it: it is not broken."""
    return re.match(r"[-+<]?\s*\d+\.\d", str(value)) is not None

"""The templates of the kit, for whatever shows a part of it: ``templates/kit.html`` has a macro for each part."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from goldlabel.messages import Word
from goldlabel.metrics import Estimate
from goldlabel.report.language import say, spoken, translate
from goldlabel.report.table import Column, Value, interval_text, sort_key, value_text

SHORT = 24
"""Characters of a text that a table does not break."""


@cache
def environment() -> Environment:
    """Return the templates and the files of ``static``, all of whose values are escaped."""
    loader = ChoiceLoader([PackageLoader("goldlabel.report"), PackageLoader("goldlabel.report", "static")])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.globals |= {"say": say, "spoken": spoken}
    made.filters |= {
        "word": lambda name: translate(Word(name)),
        "value_text": _page_value,
        "unbroken": _unbroken,
        "interval_text": interval_text,
        "sort_key": sort_key,
        "begins_with_figure": _begins_with_figure,
        "is_short": _is_short,
    }
    return made


def render_part(name: str, part: Any) -> Markup:
    """Return one part as HTML: ``name`` is a macro of ``kit.html``."""
    macro = getattr(environment().get_template("kit.html").module, name)
    return Markup(macro(part))


def _page_value(value: Value, column: Column) -> str:
    """Return a value as a page has it: a share with its sign, a number and its sign on one line."""
    number = value.value if isinstance(value, Estimate) else value
    is_share = column.percent and not column.signed and isinstance(number, float)
    return _unbroken(value_text(value, column) + " %" * is_share)


def _unbroken(text: str) -> str:
    """Keep a number and its per cent sign, and a p-value, on one line."""
    return re.sub(r"(?<=\bp) ([=<]) ", "\u00a0\\1\u00a0", text.replace(" %", "\u00a0%"))


def _begins_with_figure(value: object) -> bool:
    """Say whether a text is a figure, with its interval or what else stands beside it: it is not broken."""
    return re.match(r"[-+<]?\s*\d+\.\d", str(value)) is not None


def _is_short(value: object) -> bool:
    """Say whether a text is so short that it is not broken."""
    return isinstance(value, str) and len(value) <= SHORT

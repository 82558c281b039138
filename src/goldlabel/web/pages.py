"""Pages: the templates, and what every one of them has at hand.

There is one environment of templates per language. Everything is escaped; the one thing that becomes HTML is
Markdown written by a requester, in which HTML is shown as text.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from babel.dates import format_date, format_datetime, format_timedelta
from babel.numbers import format_decimal, format_percent
from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from goldlabel.collect.money.ledger import in_currency, reason_of
from goldlabel.collect.work.tryout import tryout_number
from goldlabel.web.done import COOKIE, done_of
from goldlabel.web.language import LANGUAGES, catalogue, language_of
from goldlabel.web.security import CSRF_FIELD, session_of
from goldlabel.web.translation import translate
from goldlabel.web.words import word

THEME_COOKIE = "goldlabel_theme"
THEMES = ("light", "dark")
STATIC = ("goldlabel.web", "goldlabel.report")
"""Packages whose folder ``static`` is served: ours, and the one with the tokens that reports use as well."""


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template for a visitor, in their language and theme."""
    language = language_of(request)
    theme = request.cookies.get(THEME_COOKIE)
    csrf: str = request.state.csrf
    just_done = done_of(request)
    text = (
        environment(language)
        .get_template(template)
        .render(
            language=language,
            languages=LANGUAGES,
            theme=theme if theme in THEMES else "",
            person=session_of(request),
            trial=_trial(request),
            csrf=csrf,
            csrf_field=lambda: Markup('<input type="hidden" name="{}" value="{}">').format(CSRF_FIELD, csrf),
            url=request.url.path,
            here=_here(request),
            just_done=just_done,
            **values,
        )
    )
    response = HTMLResponse(text, status)
    if just_done:
        response.delete_cookie(COOKIE)
    return response


@cache
def environment(language: str) -> Environment:
    """Return the templates in one language, compiled, so that no visitor waits for it."""
    made = Environment(
        loader=PackageLoader(__package__ or "goldlabel.web"),
        autoescape=True,
        extensions=["jinja2.ext.i18n"],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.install_gettext_translations(catalogue(language), newstyle=True)  # type: ignore[attr-defined]
    made.globals.update(static=static, gap="" if language == "zh" else " ")
    made.filters.update(
        number=lambda value, digits=0: _number(value, digits, language),
        percent=lambda share, digits=0: _percent(share, digits, language),
        money=lambda amount, currency: f"{_number(Decimal(amount), 2, language)} {currency}",
        moment=lambda at: moment(at, language),
        day=lambda at: format_date(at.date(), "medium", locale=language),
        amount=lambda units: in_currency(units),
        said=lambda message: translate(message, language),
        reason=lambda line: translate(reason_of(line), language),
        label=lambda name, kind=None: word(name, catalogue(language), kind),
        markdown=lambda text: Markup(MARKDOWN.render(text)),
    )
    for name in made.list_templates():
        made.get_template(name)
    return made


@cache
def static(name: str) -> str:
    """Return the address of a static file, with a hash of its content, so that browsers may keep it for good."""
    places = (files(package).joinpath("static", name) for package in STATIC)
    content = next(place for place in places if place.is_file()).read_bytes()
    return f"/static/{name}?{hashlib.sha256(content).hexdigest()[:12]}"


def moment(at: datetime | None, language: str) -> str:
    """Return a time as people say it, with the exact one (UTC) behind it."""
    if at is None:
        return "–"
    exact = format_datetime(at.astimezone(UTC), "medium", locale=language)
    spoken = format_timedelta(at - datetime.now(UTC), add_direction=True, locale=language)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        at.isoformat(timespec="seconds"), exact, spoken
    )


def _number(value: float | Decimal, digits: int, language: str) -> str:
    places = f".{'0' * digits}" if digits else ""
    return format_decimal(value, f"#,##0{places}", locale=language)


def _percent(share: float, digits: int, language: str) -> str:
    places = f".{'0' * digits}" if digits else ""
    sign = "%" if language == "zh" else "\N{NO-BREAK SPACE}%"
    return format_percent(share, f"#,##0{places}{sign}", locale=language)


def _trial(request: Request) -> int | None:
    """Return the number of the try-out that a page belongs to."""
    return tryout_number(request.path_params.get("project_id"))


def _here(request: Request) -> str:
    if request.method != "GET":
        return "/"
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")

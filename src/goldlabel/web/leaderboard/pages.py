"""The leaderboard's pages, made of the parts that reports are made of; the live server and the static site share them.

A page is a function of the board and its entries. Where its links lead is told by ``Links``.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from urllib.parse import quote_plus

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from goldlabel.leaderboard.board import Board, BoardSuite
from goldlabel.leaderboard.contents import ALLOWED, HIDDEN
from goldlabel.leaderboard.standings import Entry
from goldlabel.leaderboard.submissions import MOST_BYTES
from goldlabel.metrics import Estimate
from goldlabel.report import Cell, Column, Figure, Page, Section, Table, Tile
from goldlabel.report.page import Link, Words
from goldlabel.report.plots import draw_dots
from goldlabel.report.rendering import environment as kit
from goldlabel.web.pages import MARKDOWN

MOST_DRAWN, LONGEST_DRAWN = 25, 24
NO_RANK = "paper"
NOBODY = "Nobody has submitted yet."
_FRONT_MATTER = re.compile(r"\A---\s*\n.*?\n---\s*(\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Links:
    """Where the pages lie: those of a server, or files beside each other."""

    static: bool = False

    @property
    def home(self) -> str:
        """The table."""
        return "index.html" if self.static else "/"

    @property
    def how(self) -> str:
        """How to submit."""
        return "submit.html" if self.static else "/submit"

    def csv(self, number: int = 1) -> str:
        """The table of a suite as a file; the name of a suite is never part of an address."""
        file = f"{table_name(number)}.csv"
        return file if self.static else f"/{file}"

    @property
    def shown(self) -> list[tuple[str, str]]:
        """What stands at the top of every page."""
        return [("Leaderboard", self.home), ("Submit", self.how), ("CSV", self.csv())]

    def entry(self, number: int) -> str:
        """One entry; its name is never part of an address."""
        return f"entry-{number}.html" if self.static else f"/entries/{number}"


def render(page: Page, links: Links, *, heading: str = "", markdown: str = "") -> str:
    """Return a page as HTML that needs nothing beside it; Markdown of others is shown, their HTML is not."""
    text = _markdown(markdown) if markdown.strip() else ""
    shown = {"page": page, "links": links.shown, "text": text, "text_heading": heading}
    return _environment().get_template("board.html").render(**shown)


def render_form(board: Board, page: Page, links: Links, *, markdown: str, **more: object) -> str:
    """Return the page on which a file is submitted, as HTML."""
    shown = {"page": page, "links": links.shown, "text": _markdown(markdown), "text_heading": "How"}
    template = _environment().get_template("submit.html")
    return template.render(**shown, board=board, megabytes=MOST_BYTES >> 20, **more)


def table_name(number: int) -> str:
    """Return what the table of a suite is called, by the suite's number."""
    return "board" if number == 1 else f"board-{number}"


def board_table(board: Board, suite: BoardSuite, entries: Sequence[Entry], links: Links | None = None) -> Table:
    """Return a suite as one table: for files, or with links for a page, which says above it what a caption says."""
    shares = [Column(part.name, percent=True) for part in suite.sets]
    return Table(
        name=table_name(board.suites.index(suite) + 1),
        caption="" if links is not None else _caption(suite, entries),
        columns=(
            "model",
            "rank",
            Column("mean", percent=True),
            Column("without the premise", percent=True),
            "trained on",
            *shares,
            "submitted",
        ),
        rows=[
            (
                Cell(
                    entry.name,
                    note=entry.submitter,
                    link=links.entry(entry.id) if links is not None and entry.id is not None else "",
                    mark="†" if entry.is_reference else "",
                ),
                rank_text(entry),
                Cell(entry.mean, strong=entry.rank == 1),
                entry.hypothesis_only,
                ", ".join(entry.training),
                *(entry.sets.get(part.name) for part in suite.sets),
                entry.received_at.date().isoformat() if entry.received_at else "",
            )
            for entry in entries
        ],
    )


def board_page(board: Board, entries: Sequence[Entry], links: Links) -> Page:
    """Return the page with the table: who leads, how surely, and everything beside each entry."""
    own = [entry for entry in entries if not entry.is_reference]
    several = len(board.suites) > 1
    counted = sum(len(suite.counted) for suite in board.suites)
    return Page(
        title=f"{board.title}: leaderboard",
        lead=" ".join(
            f"{suite.name}: {line}" if several else line
            for suite in board.suites
            if (line := headline(suite, own)) or not several
        )
        or NOBODY,
        tiles=[
            Tile("entries", f"{len(own):,}", _papers(len(entries) - len(own))),
            *([Tile("suites", str(len(board.suites)), "each ranked by itself")] if several else []),
            Tile("sets", str(len(board.sets)), f"{counted} in {'a' if several else 'the'} mean"),
            Tile("pairs", f"{board.pairs:,}", "whose labels stay here"),
            Tile("submissions", f"{board.limits.per_day} a day", f"{board.limits.per_week} a week for each submitter"),
        ],
        sections=[section for suite in board.suites for section in _sections(board, suite, entries, links)],
        wide=True,
        footer="Figures are rounded to a tenth of a per cent, and submissions are few: labels are not to be dug out.",
    )


def _sections(board: Board, suite: BoardSuite, entries: Sequence[Entry], links: Links) -> list[Section]:
    """Return what a page shows of one suite."""
    own = [entry for entry in entries if entry.suite == suite.name]
    several = len(board.suites) > 1
    if not own:
        return [Section(heading=suite.name, text=NOBODY)] if several else []
    file = links.csv(board.suites.index(suite) + 1)
    text: Words = [_caption(suite, own), " ", Link("CSV", file)] if several else _caption(suite, own)
    heading = suite.name if several else "Entries"
    sections = [Section(heading=heading, text=text, table=board_table(board, suite, own, links))]
    if drawn := [entry for entry in own if entry.mean is not None][:MOST_DRAWN]:
        papers = "; papers' rows have none" if any(entry.is_reference for entry in drawn) else ""
        text = f"The mean of each entry with its interval{papers}."
        heading = f"{suite.name}: how far apart" if several else "How far apart"
        sections.append(Section(heading=heading, text=text, figures=[_drawing(*map(_drawn, drawn))]))
    return sections


def entry_page(board: Board, entry: Entry) -> Page:
    """Return the page of one entry."""
    suite = board.suite(entry.suite)
    columns = ("set", Column("accuracy", percent=True), "pairs", "units", "in the mean")
    rows = [
        (part.name, figure, figure.n, figure.units, part.counts)
        for part in suite.sets
        if (figure := entry.sets.get(part.name)) is not None
    ]
    mean, hidden = entry.mean, entry.hypothesis_only
    told = [
        Tile("rank", rank_text(entry), f"of {suite.name}"),
        Tile("mean", f"{mean.percent().value:.1f} %" if mean else "–", _interval(entry)),
        Tile(
            "without the premise",
            "–" if hidden is None else f"{hidden.percent().value:.1f} %",
            "not submitted" if hidden is None else "the same model, premises hidden",
        ),
    ]
    about = [
        ("submitter", entry.submitter),
        ("model", entry.model),
        ("parameters", "" if entry.parameters is None else f"{entry.parameters:,}"),
        ("trained on", ", ".join(entry.training)),
        ("submitted", entry.received_at.strftime("%Y-%m-%d %H:%M UTC") if entry.received_at else ""),
        ("not told apart from", ", ".join(entry.tied)),
    ]
    return Page(
        title=f"{board.title}: entry {entry.id}",
        lead=f"{entry.name} {headline_of(suite, entry)}",
        tiles=told,
        sections=[
            Section(heading="Accuracy", text="", table=Table(name="entry", columns=columns, rows=rows)),
            Section(
                heading="About it",
                text=entry.description,
                table=Table(name="about", columns=("what", "said"), rows=[row for row in about if row[1]]),
            ),
        ],
    )


def how_page(board: Board) -> Page:
    """Return the page that says how to submit."""
    columns = ("set", "pairs", "labels", "in the mean")
    several = len(board.suites) > 1
    sections = [
        Section(
            heading=f"Sets of {suite.name}" if several else "Sets",
            text="",
            table=Table(
                name="sets",
                columns=columns,
                rows=[(part.name, part.pairs, ", ".join(part.space.labels), part.counts) for part in suite.sets],
            ),
        )
        for suite in board.suites
    ]
    return Page(
        title=f"{board.title}: how to submit",
        lead=f"Send predictions for every pair of every set{' of a suite' if several else ''}; the labels stay here.",
        sections=sections,
    )


def how_text(board: Board, address: str) -> str:
    """Return how to submit, as Markdown."""
    texts = (
        "It fetches the texts under ids of their own, predicts on your machine, once more without the premises, and "
        "sends the predictions; the model stays with you."
        if board.texts
        else "This leaderboard does not give out its texts: predict your own copy of the pairs and send the file."
    )
    several = len(board.suites) > 1
    option = f" --suite {shlex.quote(board.suites[0].name)}" if several else ""
    query = f"&suite={quote_plus(board.suites[0].name)}" if several else ""
    return f"""Ask who runs the leaderboard for a token. A model of `goldlabel train`, or any other that it loads:

```sh
goldlabel leaderboard submit runs/mine --to {address} --token TOKEN --name "My model"{option}
```

{texts}

Files of predictions have the columns `id` and `label`, or `id` and one column of probabilities for each label
({", ".join(ALLOWED)}; up to {MOST_BYTES >> 20} MB): one file for all sets with a column `dataset`, or a zip with one
for each set, called as the set is. A zip may also hold `{HIDDEN}/` (the same, predicted without the premises),
`card.json` (`model`, `training`, `parameters`) and `README.md` (the model card).

```sh
goldlabel leaderboard submit predictions.zip --to {address} --token TOKEN --name "My model"{option}
curl -H "Authorization: Bearer TOKEN" --data-binary @predictions.zip \\
  "{address}/api/v1/submissions?name=My+model&file=predictions.zip{query}"
```

Every pair must be answered once, and nothing else may be there. {board.limits.per_day} submissions a day and
{board.limits.per_week} a week are scored for each submitter; what is refused does not count. A submission can be
withdrawn: it goes from the table and stays in the trail.
"""


def failure_page(heading: str, message: str) -> Page:
    """Return the page that says what could not be done."""
    return Page(title=heading, lead=message, sections=[])


def headline(suite: BoardSuite, own: Sequence[Entry]) -> str:
    """Return who leads a suite, how surely, and what of it needs no premise; nothing where nobody does."""
    ranked = [entry for entry in own if entry.suite == suite.name and entry.mean is not None]
    return f"{ranked[0].name} {headline_of(suite, ranked[0], leads=True)}" if ranked else ""


def headline_of(suite: BoardSuite, entry: Entry, *, leads: bool = False) -> str:
    """Return what an entry scores, in a sentence."""
    assert entry.mean is not None
    over = f"the mean of {len(suite.counted)} sets" if len(suite.counted) > 1 else suite.counted[0]
    first = f"{'leads with' if leads else 'scores'} {entry.mean.percent().text()} on {over}"
    if entry.hypothesis_only is not None:
        first += f"; without the premise it scores {entry.hypothesis_only.percent().value:.1f}"
    if entry.rank is None:
        return f"{first}. It is not held against the others yet."
    if not entry.tied:
        return f"{first}."
    others = ", ".join(entry.tied[:2]) + (f" and {len(entry.tied) - 2} more" if len(entry.tied) > 2 else "")
    verb = "is" if len(entry.tied) == 1 else "are"
    return f"{first}. {others} {verb} not told apart from it by the paired test."


def rank_text(entry: Entry) -> str:
    """Return a rank as it is printed: ``1``, ``2=`` where it is shared, ``…`` where it is not known yet."""
    if entry.is_reference:
        return NO_RANK
    return "…" if entry.rank is None else f"{entry.rank}{'=' if entry.shared else ''}"


@cache
def script_hash() -> str:
    """Return the hash by which a browser is allowed to run the one script of the pages, and no other."""
    [script] = re.findall("<script>(.*?)</script>", render(failure_page("", ""), Links()), re.DOTALL)
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    loader = kit().loader
    assert loader is not None
    return kit().overlay(loader=ChoiceLoader([PackageLoader("goldlabel.web.leaderboard"), loader]))


def _markdown(text: str) -> Markup:
    """Return Markdown as HTML, its headings below those of the page; front matter is for programs."""
    tokens = MARKDOWN.parse(_FRONT_MATTER.sub("", text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return Markup(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))


def _caption(suite: BoardSuite, entries: Sequence[Entry]) -> str:
    told = (
        f"Accuracy in per cent with its interval at {100 * suite.level:g} %. Entries share a rank (=) where the paired "
        "test, corrected for all comparisons (Holm), does not tell them apart."
    )
    papers = " † is a row of a paper, as printed (its mean is over the same sets), without interval and rank."
    return told + papers * any(entry.is_reference for entry in entries)


def _papers(number: int) -> str:
    return f"and {number} row{'s' * (number != 1)} of papers" if number else ""


def _interval(entry: Entry) -> str:
    if entry.mean is None or entry.mean.interval is None:
        return ""
    low, high = entry.mean.percent().interval or (0.0, 0.0)
    return f"{low:.1f}–{high:.1f}"


def _drawn(entry: Entry) -> tuple[str, Estimate, Estimate | None]:
    assert entry.mean is not None
    name = entry.name if len(entry.name) <= LONGEST_DRAWN else f"{entry.name[: LONGEST_DRAWN - 1]}…"
    return f"{name}{'†' * entry.is_reference}", entry.mean, entry.hypothesis_only


@lru_cache(maxsize=8)
def _drawing(*rows: tuple[str, Estimate, Estimate | None]) -> Figure:
    """Draw entries; the same ones are not drawn again for every visitor."""
    shown = [
        (name, [("the mean", mean), *([("without the premise", hidden)] if hidden is not None else [])])
        for name, mean, hidden in rows
    ]
    said = "; ".join(f"{name}: {mean.percent().text()}" for name, mean, _ in rows)
    return draw_dots(shown, shows=f"The mean of each entry: {said}", x_name="accuracy", width=6.4)

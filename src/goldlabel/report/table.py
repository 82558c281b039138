"""``Table``: columns and rows, once, for the page, for a spreadsheet, for a README and for a paper.

A table is made of columns and rows by hand, or from a frame::

    Table(name="scores", columns=("model", Column("SNLI", percent=True)), rows=[("esim", estimate), ("cbow", None)])
    Table.of(frame, name="scores", caption="Accuracy in per cent")

``render_part("table", table)`` (or ``Section(table=…)``) makes HTML of it that sorts and filters by ``kit.js``;
``to_csv``, ``to_markdown`` and ``to_latex`` make text, ``write`` all three files. A cell is a value, or a ``Cell``
where something stands beside it. An ``Estimate`` is shown with its interval, sorted by its value, and is three columns
in CSV.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from goldlabel.files import write_text
from goldlabel.metrics import Estimate
from goldlabel.report.language import say

Value = str | bool | int | float | Estimate | None
FILTERED_FROM = 12
"""A table of so many rows has a field to filter it by."""


@dataclass(frozen=True)
class Column:
    """What stands in a column and how its figures are printed."""

    name: str
    places: int = 1
    """Behind the point."""
    percent: bool = False
    """Whether figures are shares, printed in per cent."""
    signed: bool = False
    """Whether figures are differences, printed with their sign."""


@dataclass(frozen=True)
class Cell:
    """A value and what stands beside it."""

    value: Value
    note: str = ""
    """In small type below it on the page, in parentheses behind it elsewhere."""
    strong: bool = False
    """Whether it stands out, as the best of a column."""
    link: str = ""
    """Where a page leads from it."""
    anchor: str = ""
    """Where links to it lead."""
    mark: str = ""
    """A sign right behind it, such as a dagger."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns and rows; the first column names the row."""

    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Value | Cell]]
    name: str = "table"
    """What its files are called, and how a page's link ends."""
    caption: str = ""
    texts: bool = False
    """Whether rows are texts, such as pairs, which become cards on a narrow screen."""
    filtered: bool | None = None
    """Whether the page offers to filter the rows; where nothing is said, if there are many."""

    def __post_init__(self) -> None:
        if wrong := next((row for row in self.rows if len(row) != len(self.columns)), None):
            raise ValueError(f"table {self.name!r}: {len(wrong)} cells do not fill {len(self.columns)} columns")

    @classmethod
    def of(cls, frame: pl.DataFrame, *, name: str = "table", caption: str = "", places: int = 3) -> Table:
        """Return a frame as a table."""
        columns = tuple(Column(column, places) for column in frame.columns)
        return cls(columns=columns, rows=frame.rows(), name=name, caption=caption)

    @property
    def heads(self) -> tuple[Column, ...]:
        """The columns, those that are only named with the defaults."""
        return tuple(Column(column) if isinstance(column, str) else column for column in self.columns)

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows, every value in a cell."""
        return tuple(tuple(own if isinstance(own, Cell) else Cell(own) for own in row) for row in self.rows)

    @property
    def has_filter(self) -> bool:
        """Whether the page offers to filter the rows."""
        return len(self.rows) >= FILTERED_FROM if self.filtered is None else self.filtered

    def is_numeric(self, place: int) -> bool:
        """Say whether a column holds figures, and nothing else."""
        values = [row[place].value for row in self.cells if row[place].value is not None]
        return bool(values) and all(isinstance(own, int | float | Estimate) for own in values)

    def to_csv(self) -> str:
        """Return plain values: figures as they are (in per cent where the column is), an interval in two columns."""
        heads = self.heads
        wide = {
            place for place in range(len(heads)) if any(isinstance(row[place].value, Estimate) for row in self.cells)
        }
        noted = {place for place in range(len(heads)) if any(row[place].note for row in self.cells)}
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        names: list[str] = []
        for place, head in enumerate(heads):
            names += [head.name, *([f"{head.name}_low", f"{head.name}_high"] if place in wide else [])]
            names += [f"{head.name}_note"] if place in noted else []
        writer.writerow(names)
        for row in self.cells:
            line: list[Value] = []
            for place, (head, cell) in enumerate(zip(heads, row, strict=True)):
                line += _plain(cell.value, head) if place in wide else _plain(cell.value, head)[:1]
                line += [cell.note] if place in noted else []
            writer.writerow(["" if own is None else own for own in line])
        return stream.getvalue()

    def to_markdown(self) -> str:
        """Return a table of GitHub's Markdown."""
        lines = [[escape_markdown(head.name) for head in self.heads]]
        lines.append(["---:" if self.is_numeric(place) else "---" for place in range(len(self.heads))])
        for row in self.cells:
            texts = [escape_markdown(cell_text(cell, head)) for head, cell in zip(self.heads, row, strict=True)]
            lines.append(
                [f"**{text}**" if cell.strong and text else text for text, cell in zip(texts, row, strict=True)]
            )
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
        return f"{table}\n{escape_markdown(self.caption)}\n" if self.caption else table

    def to_latex(self) -> str:
        """Return a floating table for ``booktabs``."""
        kinds = "".join("r" if self.is_numeric(place) else "l" for place in range(len(self.heads)))
        lines = [" & ".join(escape_latex(head.name) for head in self.heads), r"\midrule"]
        for row in self.cells:
            texts = [escape_latex(cell_text(cell, head)) for head, cell in zip(self.heads, row, strict=True)]
            bold = [
                rf"\textbf{{{text}}}" if cell.strong and text else text for text, cell in zip(texts, row, strict=True)
            ]
            lines.append(" & ".join(bold))
        body = "\n".join(line if line == r"\midrule" else rf"{line} \\" for line in lines)
        caption = f"\\caption{{{escape_latex(self.caption)}}}\n" if self.caption else ""
        label = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return (
            "% needs \\usepackage{booktabs}; Chinese needs XeLaTeX or LuaLaTeX with ctex\n"
            f"\\begin{{table}}\n\\centering\n{caption}\\label{{tab:{label}}}\n"
            f"\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )

    def write(self, folder: Path) -> list[Path]:
        """Write the table as CSV, Markdown and LaTeX; return the files."""
        texts = {".csv": self.to_csv(), ".md": self.to_markdown(), ".tex": self.to_latex()}
        paths = [folder / f"{file_name(self.name)}{suffix}" for suffix in texts]
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts.values(), strict=True):
            write_text(path, text)
        return paths


def file_name(name: str) -> str:
    """Return a name as a file may be called."""
    return re.sub(r"[^\w.+@-]+", "-", name).strip("-.") or "unnamed"


def value_text(value: Value, column: Column) -> str:
    """Return a value without its interval, as pages and papers print it."""
    if isinstance(value, Estimate):
        value = value.value
        if value is None:
            return "–"
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, float):
        scaled = round(100 * value if column.percent else value, column.places) + 0.0  # no -0.0
        return f"{scaled:+.{column.places}f}" if column.signed else f"{scaled:.{column.places}f}"
    if isinstance(value, int):
        return f"{value:+,}" if column.signed else f"{value:,}"
    return "" if value is None else value


def interval_text(value: Value, column: Column) -> str:
    """Return the interval of an estimate: ``79.0–83.1``, or nothing."""
    if not isinstance(value, Estimate) or value.interval is None:
        return ""
    low, high = (value_text(float(end), column) for end in value.interval)
    return say("{low} to {high}", low=low, high=high) if column.signed else f"{low}–{high}"


def sort_key(value: Value) -> str:
    """Return what a page sorts a figure by; nothing for a text."""
    number = value.value if isinstance(value, Estimate) else value
    return f"{float(number)!r}" if isinstance(number, int | float) else ""


def cell_text(cell: Cell, column: Column) -> str:
    """Return a cell as one line."""
    text, between = value_text(cell.value, column) + cell.mark, interval_text(cell.value, column)
    beside = ", ".join(part for part in (between, cell.note) if part)
    return f"{text} ({beside})" if beside else text


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    '"': r"\textquotedbl{}",
    "-": "{-}",  # two of them would be a dash
    "[": "{[}",  # right after \\ it would begin an argument, as a star would
    "]": "{]}",
    "*": "{*}",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "Δ": r"$\Delta$",
    "†": r"\dag{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
}


def escape_latex(text: str) -> str:
    """Return a text that LaTeX prints as it is; line breaks become spaces, control characters go."""
    visible = "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
    return "".join(_LATEX.get(sign, sign) for sign in visible)


def escape_markdown(text: str) -> str:
    """Return a text that Markdown prints as it is, in one line."""
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", line)


def _plain(value: Value, column: Column) -> list[Value]:
    factor = 100 if column.percent else 1
    if isinstance(value, Estimate):
        return [None if end is None else factor * end for end in (value.value, value.low, value.high)]
    return [factor * value if isinstance(value, float) else value, None, None]

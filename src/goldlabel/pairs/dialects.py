"""How a table of text is written: its separator, whether cells are quoted, what stands before and beside its columns.

The separator is the one under which the header has the most names that are looked for; where it has none of them, the
one that gives every row the same number of cells. Cells are quoted as RFC 4180 says. Tab-separated files mostly are
not, as NLI corpora write them; those of pandas, R and spreadsheets are, and are told by a header in quotes, by
doubled quotes, or by cells that would otherwise be torn apart.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from goldlabel.errors import InputError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
SPACE = " "
"""R's ``write.table`` parts cells by it, quotes texts and escapes quotes by a backslash; nobody else does."""
SPELLINGS = {"\\t": "\t", "space": SPACE, **{word: character for character, word in SEPARATORS.items()}}
ROWS = 200
"""The rows from which a separator is told where the header does not tell it."""


@dataclass(frozen=True)
class Dialect:
    """How a table of text is written.

    ``skipped`` lines stand before the header: Excel's ``sep=;``. With ``row_names``, each row begins with its number,
    which the header does not name, as R writes it.
    """

    delimiter: str
    quoted: bool = True
    skipped: int = 0
    row_names: bool = False

    @property
    def escape(self) -> str | None:
        """What stands before a quote within a cell, where it is not doubled."""
        return escape_of(self.delimiter)

    def __str__(self) -> str:
        shown = {"\t": "tab", SPACE: "space"}.get(self.delimiter, repr(self.delimiter))
        return f"separator is {shown}"


def heading(name: str) -> str:
    """Return a column's name as names are compared: whatever its case and the space around it."""
    return name.strip().casefold()


def separator(text: str) -> str:
    """Return the separator that somebody insists on: one character, or its name."""
    character = SPELLINGS.get(text, text)
    if len(character) != 1 or character in '"\r\n':
        raise InputError(f"delimiter {text!r} is not one character; allowed: such as , ; | or tab")
    return character


def tell_dialect(sample: str, *, ending: str, known: Container[str], delimiter: str | None, complete: bool) -> Dialect:
    """Tell how a table is written from its beginning; ``complete`` says that this is all of it.

    ``ending`` of the file's name says which separator is the likeliest, ``known`` are the names looked for in the
    header, as ``heading`` writes them.
    """
    skipped = 0
    announced = re.match(r'\s*"?sep=(.)"?\r?\n', sample)
    if announced:
        sample, skipped = sample[announced.end() :], 1
    lines = re.split(r"\r\n|\r|\n", sample)
    lines = lines if complete or len(lines) < 2 else lines[:-1]
    lines = [line for line in lines if line.strip()]
    likeliest = "," if ending == ".csv" else "\t"
    chosen = delimiter or (announced[1] if announced else _separator(lines, likeliest, known))
    quoted = chosen != "\t" or _is_quoted(lines, chosen)
    rows = _rows(lines, chosen, quoted)
    numbers = [row[0].strip('"') for row in rows[1:] if len(row) == len(rows[0]) + 1]
    in_order = chosen == SPACE or numbers == [str(n) for n in range(1, len(rows))]
    numbered = bool(numbers) and len(numbers) == len(rows) - 1 and in_order
    return Dialect(chosen, quoted, skipped, numbered)


def _separator(lines: list[str], likeliest: str, known: Container[str]) -> str:
    def fitness(delimiter: str) -> tuple[int, bool, bool, int]:
        rows = _rows(lines[:ROWS], delimiter, quoted=True)
        widths = {len(row) for row in rows}
        names = sum(heading(name) in known for name in rows[0])
        return names, len(widths) == 1 and widths != {1}, delimiter == likeliest and widths != {1}, max(widths)

    if not lines:
        return likeliest
    best = max(SEPARATORS, key=fitness)
    # Texts are full of spaces, so that they count only where the header speaks for them and for nothing else.
    return SPACE if fitness(best)[0] < 2 <= fitness(SPACE)[0] else best


def escape_of(delimiter: str) -> str | None:
    """Return what stands before a quote within a cell, where it is not doubled."""
    return "\\" if delimiter == SPACE else None


def quoting(quoted: bool) -> Literal[0, 3]:
    """Return how Python's ``csv`` calls it that cells are quoted, or never are."""
    return csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE


def _rows(lines: list[str], delimiter: str, quoted: bool) -> list[list[str]]:
    """Return rows of cells, as far as they can be read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(csv.reader(lines, delimiter=delimiter, quoting=quoting(quoted), escapechar=escape_of(delimiter)))
    return rows or [[]]


def _is_quoted(lines: list[str], delimiter: str) -> bool:
    if not any('"' in line for line in lines):
        return False
    plain = [line.split(delimiter) for line in lines]
    width = len(plain[0])
    rows: list[list[str]] = []
    try:
        text = io.StringIO("\n".join(lines), newline="")
        rows.extend(csv.reader(text, delimiter=delimiter, strict=True))
    except csv.Error as error:
        if "unexpected end" not in str(error):  # the sample may end within a cell
            return False
    if len({len(row) for row in rows[1:]}) > 1 or len(rows) < 2 or len(rows[1]) not in (width, width + 1):
        return False
    if len({len(cells) for cells in plain}) > 1 and len(rows) < len(plain):
        return True  # cells hold line ends
    if {len(cells) for cells in plain} != {len(row) for row in rows}:
        return True  # cells hold separators
    if all(_in_quotes(cell) for cell in plain[0]):
        return True
    return any(_in_quotes(cell) and '""' in cell[1:-1] for cells in plain for cell in cells)


def _in_quotes(cell: str) -> bool:
    return re.fullmatch(r'"(?:[^"]|"")*"', cell) is not None

"""Tables that the server sorts as the address says: ``?sort=votes``, or ``?sort=-votes`` for the most first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request

T = TypeVar("T")


@dataclass(frozen=True)
class Sorting:
    """By which column a table is sorted, and the rest of the address."""

    column: str
    falls: bool
    others: Mapping[str, str]

    def rows(self, rows: Iterable[T], columns: Mapping[str, Callable[[T], Any]]) -> list[T]:
        """Return rows in the order asked for; those without a value come last. Without such a column they stay."""
        rows, value_of = list(rows), columns.get(self.column)
        if value_of is None:
            return rows
        known = [row for row in rows if value_of(row) is not None]
        return [
            *sorted(known, key=value_of, reverse=self.falls),
            *(row for row in rows if value_of(row) is None),
        ]

    def link(self, column: str) -> str:
        """Return the query that sorts by a column: the most first, and the other way round the second time."""
        rises = self.column == column and self.falls
        return f"?{urlencode({**self.others, 'sort': column if rises else f'-{column}'})}"

    @property
    def chosen(self) -> str:
        """What the address says."""
        return f"-{self.column}" if self.falls else self.column

    def direction(self, column: str) -> str:
        """Return how a column is sorted, as ``aria-sort`` says it."""
        return ("descending" if self.falls else "ascending") if self.column == column else "none"


UNSORTED = Sorting("", False, {})
"""The usual order."""


def sorting(request: Request, sort: Annotated[str, Query(max_length=40)] = "") -> Sorting:
    """Return what the address of a request asks for."""
    others = {name: value for name, value in request.query_params.items() if name not in ("sort", "before")}
    return Sorting(sort.removeprefix("-"), sort.startswith("-"), others)


Sorted = Annotated[Sorting, Depends(sorting)]

"""What every computation returns: a table, a dictionary, and a face in a notebook."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import atomic_file, write_text

TABLE_SUFFIXES = (".csv", ".jsonl", ".parquet")


class Result(ABC):
    """A value with a table for people and a dictionary for programs."""

    @property
    @abstractmethod
    def title(self) -> str:
        """One line that says what the table shows."""

    @property
    @abstractmethod
    def table(self) -> pl.DataFrame:
        """The figures, one row per thing counted."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""

    def save(self, path: str | Path) -> None:
        """Write the result: all of it as ``.json``; its table as ``.csv``, ``.jsonl`` or ``.parquet``."""
        path = Path(path)
        if path.suffix == ".json":
            write_text(path, json.dumps(self.to_dict(), ensure_ascii=False, indent=2, default=str) + "\n")
            return
        if path.suffix not in TABLE_SUFFIXES:
            raise InputError(f"{path}: the ending tells no format; allowed: .json, {', '.join(TABLE_SUFFIXES)}")
        with atomic_file(path) as temporary:
            if path.suffix == ".csv":
                _joined(self.table).write_csv(temporary)
            elif path.suffix == ".jsonl":
                self.table.write_ndjson(temporary)
            else:
                self.table.write_parquet(temporary)

    def __repr__(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=20):
            return f"{self.title}\n{self._table_for_people}"

    @property
    def _table_for_people(self) -> pl.DataFrame:
        """The table as people read it: files have ``-`` for no gold label."""
        return self.table.rename({"-": "no gold"}, strict=False)

    def _repr_html_(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=50):
            return f"<p><b>{escape(self.title)}</b></p>{self._table_for_people._repr_html_()}"


def _joined(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with its lists as words joined by bars, as a cell can hold them."""
    lists = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)]
    return table.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join("|")) if lists else table

"""What every computation returns: a table, a dictionary, and a face in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import Any

import polars as pl


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

    def __repr__(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=20):
            return f"{self.title}\n{self.table}"

    def _repr_html_(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_rows=50):
            return f"<p><b>{escape(self.title)}</b></p>{self.table._repr_html_()}"

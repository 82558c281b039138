"""What all tables of a collection are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Integer, MetaData
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(TypeDecorator[datetime]):
    """A moment as whole microseconds since 1970, which both databases order and compare alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        """Turn an aware datetime into microseconds."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        """Turn microseconds into an aware datetime in UTC."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

KEY = BigInteger().with_variant(Integer, "sqlite")
DATA = JSON(none_as_null=True)


def id_column() -> Column[int]:
    """Return the column of a number that tells a row from any other of its table."""
    return Column("id", KEY, primary_key=True)


def reference(name: str, table: str, **options: Any) -> Column[int]:
    """Return a column that holds the id of a row of another table."""
    return Column(name, KEY, ForeignKey(f"{table}.id"), **{"nullable": False, **options})

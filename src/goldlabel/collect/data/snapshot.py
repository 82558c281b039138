"""A snapshot: a project's pairs with their votes, as one transaction sees them, in the record of ``goldlabel.pairs``.

``records`` says what a record tells. A snapshot is held in memory, or in files, so that a project of any size fits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import select

from goldlabel.collect.data.records import record_blocks
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.projects import Project, project
from goldlabel.collect.rounds.round_splits import HeldOut, round_name
from goldlabel.collect.schema import members, pseudonyms, rounds
from goldlabel.collect.store import Transaction
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.arrow import SCHEMA
from goldlabel.pairs.record import DTYPES

FOREIGN, TRIED = "foreign", "tried"


@dataclass(frozen=True)
class Snapshot:
    """A project at one moment: its own pairs, written or imported, and the foreign ones mixed in.

    ``verdicts`` tell what was decided of own pairs (``id``, ``verdict``), by votes or, where these gave no label, by a
    requester (``adjudicated`` of them). ``exclusive`` are the pseudonyms of writers whose pairs are for test alone,
    ``held_out`` what rounds that are closed hold out, by their names.
    """

    project: Project
    at: datetime
    own: Pairs
    foreign: Pairs
    verdicts: pl.DataFrame
    exclusive: tuple[str, ...]
    adjudicated: int = 0
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)


def take_snapshot(tx: Transaction, project_id: int, *, hidden: bool = False, scratch: Path | None = None) -> Snapshot:
    """Read a project's pairs and counted votes, also hidden pairs if so wished; deleted ones never.

    Where there is a ``scratch`` folder, the pairs lie in files in it and are read from there as they are needed.
    """
    found = project(tx, project_id)
    shelf = _Files(scratch) if scratch else _Memory()
    verdicts: list[tuple[str, str, bool]] = []
    with shelf:
        for block in record_blocks(tx, found, hidden=hidden):
            for origin, table in block.tables.items():
                shelf.add(origin, table)
            verdicts += block.verdicts
    own = pl.concat([shelf.frame(found.kind.own), shelf.frame(TRIED)])
    return Snapshot(
        project=found,
        at=tx.now,
        own=_pairs(own, found, found.name, "first" if found.kind.writes else "none"),
        foreign=_pairs(shelf.frame(FOREIGN), found, f"{found.name}, foreign pairs", "none"),
        verdicts=pl.DataFrame(
            [verdict[:2] for verdict in verdicts], schema={"id": pl.String, "verdict": pl.String}, orient="row"
        ),
        exclusive=_exclusive(tx, project_id),
        adjudicated=sum(by_requester for _, _, by_requester in verdicts),
        held_out=_held_out(tx, project_id),
    )


def verified(chosen: Pairs) -> Pairs:
    """Keep the pairs that have every vote that was asked for."""
    least = 2 if chosen.frame.select(pl.col("writer").is_not_null().any()).collect().item() else 1
    return Pairs(chosen.frame.filter(pl.col("votes").list.len() >= least), chosen.card)


class _Memory(ExitStack):
    """Keeps records in memory, by where they come from."""

    def __init__(self) -> None:
        super().__init__()
        self._tables: dict[str, list[pa.Table]] = defaultdict(list)

    def add(self, origin: str, table: pa.Table) -> None:
        self._tables[origin].append(table)

    def frame(self, origin: str) -> pl.LazyFrame:
        if origin not in self._tables:
            return pl.LazyFrame(schema=DTYPES)
        frame = pl.from_arrow(pa.concat_tables(self._tables[origin]))
        assert isinstance(frame, pl.DataFrame)
        return frame.lazy()


class _Files(ExitStack):
    """Keeps records in files of a folder, by where they come from; a block is in memory at a time."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._writers: dict[str, pq.ParquetWriter] = {}

    def add(self, origin: str, table: pa.Table) -> None:
        if origin not in self._writers:
            self._writers[origin] = self.enter_context(pq.ParquetWriter(self._path(origin), SCHEMA))
        self._writers[origin].write_table(table)

    def frame(self, origin: str) -> pl.LazyFrame:
        return pl.scan_parquet(self._path(origin)) if origin in self._writers else pl.LazyFrame(schema=DTYPES)

    def _path(self, origin: str) -> Path:
        return self._folder / f"{origin}.parquet"


def _exclusive(tx: Transaction, project_id: int) -> tuple[str, ...]:
    query = (
        select(pseudonyms.c.pseudonym)
        .join(members, known_as(members.c.project_id, members.c.person_id))
        .where(members.c.project_id == project_id, members.c.role == "writer", members.c.exclusive)
        .order_by(pseudonyms.c.pseudonym)
    )
    return tuple(row.pseudonym for row in tx.all(query))


def _held_out(tx: Transaction, project_id: int) -> dict[str, HeldOut]:
    query = (
        select(rounds.c.number, rounds.c.held_out).where(rounds.c.project_id == project_id).order_by(rounds.c.number)
    )
    return {round_name(row.number): HeldOut(**row.held_out) for row in tx.all(query) if row.held_out is not None}


def _pairs(frame: pl.LazyFrame, found: Project, name: str, author: str) -> Pairs:
    protocol = found.protocol
    card = Card(name=name, label_space=protocol.label_space, languages=(protocol.language,), author=author)
    return Pairs(frame, card)

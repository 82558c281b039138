"""Reports: what became of a file, kept as an event, so that a page can show it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldlabel.collect.data.premises import LeftOut
from goldlabel.collect.events import record
from goldlabel.collect.messages import message
from goldlabel.collect.schema import events
from goldlabel.collect.store import Store, Transaction
from goldlabel.messages import Message

KIND = "upload.read"


@dataclass(frozen=True, kw_only=True)
class Report:
    """How many rows of a file were read, how many were added as what, and why others were not."""

    file: str
    what: str
    read: int
    added: int
    left_out: Sequence[LeftOut] = ()


def pairs_report(file: str, origin: str, read: int, added: int) -> Report:
    """Return the report on a file of pairs, of which those that were there already are left out."""
    twice = LeftOut(reason=message("left_there"), count=read - added, examples=())
    return Report(file=file, what=origin, read=read, added=added, left_out=(twice,) if added < read else ())


def keep_report(store: Store, project_id: int, report: Report, *, by: int | None) -> int:
    """Write a report down and return the id of its event."""
    left_out = [
        {
            "reason": _dumped(one.reason),
            "n": one.count,
            "examples": [[_dumped(where), text] for where, text in one.examples],
        }
        for one in report.left_out
    ]
    data = {"file": report.file, "what": report.what, "read": report.read, "added": report.added, "left_out": left_out}
    with store.write() as tx:
        return record(tx, KIND, project_id=project_id, person_id=by, subject=f"project {project_id}", data=data)


def report_of(tx: Transaction, project_id: int, event_id: int | None) -> Report | None:
    """Return the report of an event of a project, if it is one."""
    row = None if event_id is None else tx.row(events, id=event_id, project_id=project_id, kind=KIND)
    if row is None:
        return None
    left_out = [
        LeftOut(
            reason=_loaded(one["reason"]),
            count=one["n"],
            examples=tuple((_loaded(where), text) for where, text in one["examples"]),
        )
        for one in row.data["left_out"]
    ]
    return Report(**{**row.data, "left_out": left_out})


def _dumped(said: Message) -> dict[str, Any]:
    return {"name": said.name, "parameters": dict(said.parameters)}


def _loaded(said: Mapping[str, Any]) -> Message:
    return message(said["name"], **said["parameters"])

"""What the commands of a collection share: which collection, and which project of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.errors import InputError
from goldlabel.registry import import_extra, one_of

if TYPE_CHECKING:
    from goldlabel.collect.projects import Project
    from goldlabel.collect.store import Store, Transaction

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the collection.")]
DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="PostgreSQL instead of the folder: postgresql://USER@HOST/NAME."),
]
ProjectOption = Annotated[
    str | None, typer.Option("--project", help="Name of the project, where the collection has several.")
]


def adversary_option(more: str) -> Any:
    """Return ``--adversary`` of a command, with what its help says beside what it is."""
    return typer.Option("--adversary", metavar="MODEL", help=f"A model to write against; {more}")


def tries_option(more: str) -> Any:
    """Return ``--tries`` of a command, with what its help says of its default."""
    return typer.Option("--tries", min=1, max=100, help=f"Tries of a job; {more}")


def require_collect() -> None:
    """Say what to install where the extra is missing."""
    for module in ("sqlalchemy", "alembic", "argon2"):
        import_extra(module, "collect")


def open_store(folder: Path, database: str | None) -> Store:
    """Open the collection of a folder or a database."""
    from goldlabel.collect.store import Store

    return Store.open(database or folder)


@contextmanager
def open_project(folder: Path, database: str | None, wanted: str | None) -> Iterator[tuple[Store, Project]]:
    """Open a collection, and give it with the project that is meant."""
    with closing(open_store(folder, database)) as store:
        with store.read() as tx:
            found = find_project(tx, folder, wanted)
        yield store, found


def find_project(tx: Transaction, folder: Path, wanted: str | None) -> Project:
    """Return the project by its name; without one, the only one or the one named after the folder."""
    from goldlabel.collect.projects import all_projects

    found = {one.name: one for one in all_projects(tx)}
    if wanted is not None:
        return found[one_of("--project", wanted, list(found))]
    if len(found) == 1:
        return next(iter(found.values()))
    name = folder.resolve().name
    if name not in found:
        raise InputError(f"there are {len(found)} projects; name one with --project: {', '.join(found) or 'none yet'}")
    return found[name]

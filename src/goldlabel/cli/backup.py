"""``goldlabel collect backup`` and ``restore``: a whole collection in one file, and back."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.collecting import DatabaseOption, FolderArgument, require_collect
from goldlabel.cli.output import JsonOption, note, print_json, progress

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The backup, such as rivers.zip.")]


def backup_command(
    folder: FolderArgument, file: FileArgument, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Write a collection as it is at this moment into one file; people may go on working."""
    require_collect()
    from goldlabel.collect.backup import back_up
    from goldlabel.collect.store import Store

    with closing(Store.open(database or folder, older=True)) as store, progress("backing up", None) as advance:
        manifest = back_up(store, file, advance)
    if as_json:
        print_json({**asdict(manifest), "output": str(file)})
    else:
        typer.echo(f"{file}: {manifest.total:,} rows of {len(manifest.rows)} tables, as of {manifest.taken_at}")


def restore_command(
    file: FileArgument, folder: FolderArgument, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Make a new collection of a backup, in a folder or in an empty PostgreSQL database."""
    require_collect()
    from goldlabel.collect.backup import read_manifest, restore
    from goldlabel.collect.migrations import REVISIONS

    with progress("restoring", read_manifest(file).total) as advance:
        manifest = restore(file, database or folder, advance)
    if manifest.revision != REVISIONS.head:
        note(f"its schema is that of an older Goldlabel ({manifest.revision}); next: goldlabel collect migrate")
    if as_json:
        print_json(asdict(manifest))
    else:
        typer.echo(f"{manifest.total:,} rows of {len(manifest.rows)} tables, as of {manifest.taken_at}, restored")

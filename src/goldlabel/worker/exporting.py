"""An export as one file: the dataset folder of a snapshot, with its audit, in a zip, for a page to download.

The zip is kept in the database: the process that makes it and the one that sends it may have no disk in common.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from goldlabel.collect.data.export import Section, export_project
from goldlabel.collect.jobs import PIECE, Job, add_piece, renew_job
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.tokens import UNKNOWN
from goldlabel.worker.measuring import tokenizer_for


def export_job(store: Store, job: Job) -> None:
    """Export a project into a folder on disk, pack it, and keep the zip in the database, a piece at a time."""

    def tell(share: float) -> None:
        with store.write() as tx:
            renew_job(tx, job.id, share)

    with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
        target, packed = Path(folder) / "export", Path(folder) / "export.zip"
        describe = [audit_section] if job.options.get("audit") else []
        export_project(
            store,
            job.project_id,
            target,
            describe=describe,
            hidden=bool(job.options.get("hidden")),
            progress=lambda share: tell(0.8 * share),
        )
        files = sorted(path for path in target.rglob("*") if path.is_file())
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.relative_to(target))
        tell(0.9)
        with packed.open("rb") as stream:
            for number, piece in enumerate(iter(lambda: stream.read(PIECE), b"")):
                with store.write() as tx:
                    add_piece(tx, job.id, number, piece)


def audit_section(pairs: Pairs, refused: Callable[[str], None] = lambda _: None) -> Section | None:
    """Audit what is exported; where there is too little to tell, the card says nothing of it and ``refused`` why."""
    from goldlabel.audit import audit
    from goldlabel.report.artifacts import artifact_section

    by = "condition" if pairs.frame.select("condition").collect()["condition"].null_count() < len(pairs) else None
    language = pairs.card.languages[0] if pairs.card.languages else UNKNOWN
    try:
        return artifact_section(audit(pairs, by=by, tokenizer=tokenizer_for(language)))
    except InputError as error:
        refused(str(error))
        return None

"""An export as one file: the dataset folder of a snapshot, with its audit, in a zip."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from goldlabel.collect.export import Section, export_project
from goldlabel.collect.projects import Project
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.pairs.tokens import UNKNOWN
from goldlabel.worker.measuring import tokenizer_for


def pack_export(store: Store, project: Project, *, audit: bool, hidden: bool = False) -> tuple[IO[bytes], int]:
    """Export a project and return an open file, already without a name on disk, that holds the zip, and its size."""
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when it has been sent
    try:
        with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
            target = Path(folder) / "export"
            export_project(store, project.id, target, describe=[audit_section] if audit else [], hidden=hidden)
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(path for path in target.rglob("*") if path.is_file()):
                    archive.write(file, file.relative_to(target))
        size = packed.tell()
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return packed, size


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

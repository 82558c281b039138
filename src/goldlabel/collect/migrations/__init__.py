"""The history of a collection's schema: one file per revision under ``versions``."""

from __future__ import annotations

from pathlib import Path

from goldlabel.collect.revisions import Revisions

REVISIONS = Revisions(Path(__file__).parent)

"""What kinds have in common in which nobody writes: people label pairs that the requester brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldlabel.collect.kinds.kind import JUDGING_SETTINGS

if TYPE_CHECKING:
    from goldlabel.collect.data.snapshot import Snapshot

LABELLING_SETTINGS = ("verifying.verifiers", "verifying.foreign", "verifying.sample", *JUDGING_SETTINGS)
LABELLING_IMPORTS = ("imported", "foreign", "gold")


def no_splits(_: Snapshot) -> None:
    """Leave pairs in no split: they come from a dataset that has splits of its own."""

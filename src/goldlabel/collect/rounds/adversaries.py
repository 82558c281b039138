"""Adversaries by the names of models: what a person types becomes what a round keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from goldlabel.collect.rounds.rounds import Adversary
from goldlabel.models.loading import check_reference


def named_adversaries(references: Sequence[str]) -> list[Adversary]:
    """Return adversaries of models by their names; one that no model has the form of is refused.

    Whoever answers tries works in another folder, so a path is kept as it is reached from anywhere.
    """
    for reference in references:
        check_reference(reference)
    return [Adversary(name=one, reference=_from_anywhere(one), options={}) for one in references]


def _from_anywhere(reference: str) -> str:
    return str(Path(reference).resolve()) if Path(reference).exists() else reference

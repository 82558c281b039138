"""Kinds of collection, one file each: who does what in which order, when a pair is decided, and what is told of it.

Nothing outside this folder asks for a kind by its name: a project has its kind (``Project.kind``), and whoever wants
to know something asks that. A kind is loaded when it is first asked for, since kinds make protocols and protocols
name their kind.
"""

from __future__ import annotations

from goldlabel.collect.kinds.kind import Kind
from goldlabel.registry import Registry

__all__ = ["KINDS", "Kind", "offered_kinds"]

KINDS: Registry[Kind] = Registry("kind of project")
KINDS.add("elicitation", "goldlabel.collect.kinds.elicitation:ELICITATION")
KINDS.add("human-baseline", "goldlabel.collect.kinds.human_baseline:HUMAN_BASELINE")
KINDS.add("vetting", "goldlabel.collect.kinds.vetting:VETTING")
KINDS.add("adversarial", "goldlabel.collect.kinds.adversarial:ADVERSARIAL")


def offered_kinds() -> list[Kind]:
    """Return the kinds that a project can be made of; those in which people write come first.

    Of these, the ones that need no model come before those in which people write against one.
    """
    return sorted(map(KINDS.get, KINDS), key=lambda kind: (not kind.writes, kind.has_rounds, kind.name))

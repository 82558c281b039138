"""Exports of other annotation tools, one file each: items with their texts, who answered what, and what was suggested.

``read_tool`` makes pairs with votes of them, which every other room takes; a collection takes their premises, too.
"""

from __future__ import annotations

from goldlabel.pairs.tools.items import Item, Tool, Vote
from goldlabel.registry import Registry

__all__ = ["TOOLS", "Item", "Tool", "Vote"]

TOOLS: Registry[Tool] = Registry("annotation tool")
TOOLS.add("label-studio", "goldlabel.pairs.tools.label_studio:read_items")
TOOLS.add("argilla", "goldlabel.pairs.tools.argilla:read_items")
TOOLS.add("potato", "goldlabel.pairs.tools.potato:read_items")
TOOLS.add("doccano", "goldlabel.pairs.tools.doccano:read_items")

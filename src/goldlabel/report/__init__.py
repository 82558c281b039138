"""Tables, plots, cards and pages; computes no score."""

from goldlabel.report.page import Bar, Figure, Item, Page, Section, render_page

__all__ = ["Bar", "Figure", "Item", "Page", "Section", "render_page"]

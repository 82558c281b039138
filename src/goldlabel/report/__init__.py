"""Tables, plots, cards and pages; computes no score."""

from goldlabel.report.page import Bar, Page, Section, render_page

__all__ = ["Bar", "Page", "Section", "render_page"]

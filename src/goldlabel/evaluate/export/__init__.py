"""Suites for other evaluation harnesses: the same pairs, asked in the words of the shipped prompts."""

from goldlabel.evaluate.export.exporting import Exported, export_tasks

__all__ = ["Exported", "export_tasks"]

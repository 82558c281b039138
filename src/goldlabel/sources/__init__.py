"""Sources: one file and one card per public corpus."""

from goldlabel.sources import multinli, ocnli, snli
from goldlabel.sources.library import Added, add, data_folder, find, is_added, load
from goldlabel.sources.source import SOURCES, Source

__all__ = [
    "SOURCES",
    "Added",
    "Source",
    "add",
    "data_folder",
    "find",
    "is_added",
    "load",
    "multinli",
    "ocnli",
    "snli",
]

"""Sources: one file and one card per public corpus.

Each module here registers the sources it holds, and a new one is known by being here. Sources of other packages come by
the entry point ``goldlabel.sources``, those that a user declared in YAML from the library's folder.
"""

from goldlabel.sources.declared import declare, declared_sources, read_source
from goldlabel.sources.library import Added, add, data_folder, find, is_added, load
from goldlabel.sources.source import SOURCES, Source

SOURCES.elsewhere = declared_sources

__all__ = [
    "SOURCES",
    "Added",
    "Source",
    "add",
    "data_folder",
    "declare",
    "find",
    "is_added",
    "load",
    "read_source",
]

"""Sources: one file and one card per public corpus.

Each module here registers the sources it holds, and a new one is known by being here. Sources of other packages come by
the entry point ``goldlabel.sources``.
"""

from importlib import import_module
from pkgutil import iter_modules

from goldlabel.sources.library import Added, add, data_folder, find, is_added, load
from goldlabel.sources.source import SOURCES, Source

for _module in iter_modules(__path__, f"{__name__}."):
    if not _module.ispkg:
        import_module(_module.name)

__all__ = ["SOURCES", "Added", "Source", "add", "data_folder", "find", "is_added", "load"]

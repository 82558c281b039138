"""The errors a user can cause: one root class, a few children.

The command line prints any of these as one line and exits with code 2. Everything else is a fault of
Goldlabel and keeps its traceback.
"""


class GoldlabelError(Exception):
    """Root of all errors that say: the input, the request or the machine is at fault."""


class InputError(GoldlabelError):
    """Data or an argument that cannot be used as it is."""


class UnknownNameError(GoldlabelError):
    """A name that is not registered: a source, a model, a label space."""


class MissingExtraError(GoldlabelError):
    """A feature needs an optional dependency that is not installed."""


class PluginError(GoldlabelError):
    """Something that another package brings cannot be used."""


class PieceError(GoldlabelError):
    """A piece of work that the others need has failed."""


class StorageError(GoldlabelError):
    """The disk refused: full, read-only, no permission."""

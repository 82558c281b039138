"""The errors a user can cause: one root class, a few children.

The command line prints any of these as one line and exits with code 2. Everything else is a fault of
Goldlabel and keeps its traceback.
"""


class GoldlabelError(Exception):
    """Root of all errors that say: the input, the request or the machine is at fault."""


class InputError(GoldlabelError):
    """Data or an argument that cannot be used as it is."""


class FileError(InputError):
    """A file that cannot be read.

    ``fault`` is the name of what is wrong with it, ``number`` the line or the item (``unit``) where it is, for who has
    words of their own for it.
    """

    def __init__(
        self, text: str, fault: str, /, *, unit: str = "line", number: int | None = None, **parameters: object
    ) -> None:
        super().__init__(text)
        self.fault, self.unit, self.number, self.parameters = fault, unit, number, parameters


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

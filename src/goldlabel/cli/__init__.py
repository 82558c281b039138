"""The command line: parsing and printing; each command calls one function of another room."""

from goldlabel.cli.entry import main

__all__ = ["main"]

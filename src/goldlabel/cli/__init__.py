"""The command line: parsing and printing; each command calls one function of another room."""

from goldlabel.cli.app import app, main

__all__ = ["app", "main"]

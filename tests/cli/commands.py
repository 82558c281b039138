"""The command line, run for its output."""

from __future__ import annotations

import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from goldlabel.cli import main


@dataclass(frozen=True)
class Done:
    """What a command said and how it ended."""

    returncode: object
    stdout: str
    stderr: str


def run(*arguments: object, cwd: Path | None = None) -> Done:
    """Run the command in this process, which is quicker than to start another."""
    words = ["goldlabel", *map(str, arguments)]
    stdout, stderr = StringIO(), StringIO()
    with chdir(cwd or Path.cwd()), patch.object(sys, "argv", words), redirect_stdout(stdout), redirect_stderr(stderr):
        with pytest.raises(SystemExit) as stopped:
            main()
        return Done(stopped.value.code, stdout.getvalue(), stderr.getvalue())


def start(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, with a standard output of its own."""
    return subprocess.run([sys.executable, "-m", "goldlabel", *map(str, arguments)], capture_output=True)

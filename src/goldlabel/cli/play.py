"""``goldlabel collect play``: write against a model at once."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.collecting import adversary_option, require_collect
from goldlabel.cli.output import note, progress
from goldlabel.registry import one_of


def play_command(
    adversary: Annotated[str | None, adversary_option("by default one is trained now.")] = None,
    language: Annotated[str, typer.Option("--language", help="Language of the texts: zh or en.")] = "en",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to serve on, if it is free.")] = 8000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Write against a small model in the browser, at once and without set-up; nothing is kept after Ctrl-C."""
    require_collect()
    from goldlabel.play import STEPS, make_game
    from goldlabel.sources.fragments import LANGUAGES
    from goldlabel.web import serve_player

    one_of("--language", language, LANGUAGES)

    def opened(address: str) -> None:
        typer.echo(address)
        note("Ctrl-C ends")
        if browser:
            webbrowser.open(address)

    with tempfile.TemporaryDirectory(prefix="goldlabel-play-") as folder:
        with progress("making texts and a model", STEPS, in_bytes=False) as advance:
            game = make_game(Path(folder), language, adversary, advance)
        serve_player(game.folder, game.project_id, game.person_id, port=port, opened=opened)

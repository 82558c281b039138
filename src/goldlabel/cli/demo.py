"""``goldlabel demo``: the way of the data, end to end, on pairs made on the spot."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.output import JsonOption, SeedOption, folder_option, note, print_json, progress


def demo_command(
    output: Annotated[Path, folder_option("Folder for everything the demo makes.")] = Path("demo"),
    language: Annotated[
        str, typer.Option("--language", help="Language of the pairs and of what is said: en or zh.")
    ] = "en",
    serve: Annotated[bool, typer.Option(help="Serve the report on 127.0.0.1 at the end.")] = True,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to serve on; 0 takes a free one.")] = 8000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Walk the whole way on generated pairs: make, audit, train plain and debiased, judge; then serve the report."""
    from goldlabel.bench import BenchProgress
    from goldlabel.demo import run_demo

    # While a bar is shown, what is printed goes above it, on stderr: right for a terminal, and wrong for a pipe.
    stdout = None if sys.stdout.isatty() else sys.stdout
    with progress("making pairs", None, in_bytes=False) as bar:
        demo = run_demo(
            output,
            seed,
            language,
            tell=lambda line: None if as_json else typer.echo(line, file=stdout),
            progress=BenchProgress(on_pairs=bar, on_phase=bar.begin),
        )
    if as_json:
        print_json(demo.to_dict() | {"report": str(demo.report)})
    if serve:
        _serve(output, demo.report.relative_to(output).as_posix(), port)


def _serve(folder: Path, page: str, port: int) -> None:
    import http.server
    import webbrowser

    class Quiet(http.server.SimpleHTTPRequestHandler):
        """Serves files without a line per request."""

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    handler = partial(Quiet, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    address = f"http://127.0.0.1:{server.server_address[1]}/{page}"
    note(f"Serving it on {address} ; Ctrl-C ends")
    if sys.stderr.isatty() and _has_windows():
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        note("")
    finally:
        server.server_close()


def _has_windows() -> bool:
    """Whether a browser would have a window of its own, and not take the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

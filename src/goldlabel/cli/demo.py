"""``goldlabel demo``: the way of the data, end to end, on pairs made on the spot."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.output import JsonOption, SeedOption, folder_option, note, print_json, progress


def demo_command(
    output: Annotated[Path, folder_option("Folder for everything the demo makes.")] = Path("demo"),
    serve: Annotated[bool, typer.Option(help="Serve the report on 127.0.0.1 at the end.")] = True,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to serve on; 0 takes a free one.")] = 8000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run the workbench end to end on generated pairs, and serve the report."""
    from goldlabel.demo import run_demo

    with progress("running the demo", 6, in_bytes=False) as advance:
        demo = run_demo(output, seed, advance)
    if as_json:
        print_json(demo.to_dict() | {"report": str(demo.report)})
    else:
        typer.echo(f"The report is at {demo.report.resolve()}")
    if serve:
        _serve(output, port)


def _serve(folder: Path, port: int) -> None:
    import http.server

    class Quiet(http.server.SimpleHTTPRequestHandler):
        """Serves files without a line per request."""

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    handler = partial(Quiet, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    note(f"Serving it on http://127.0.0.1:{server.server_address[1]}/ ; Ctrl-C ends")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        note("")
    finally:
        server.server_close()

"""The application, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from goldlabel.cli.entry import INTERRUPTED
from goldlabel.cli.on_use import group_of
from goldlabel.errors import GoldlabelError
from goldlabel.messages import at_command_line

BAD_INPUT = 2

UsageError: Any = typer.BadParameter.__mro__[1]  # Typer gives its root of command-line errors no public name

COMMANDS = {
    "data": "goldlabel.cli.app:data",
    "recast": "goldlabel.cli.recast:app",
    "verify": "goldlabel.cli.verify:verify_command",
    "audit": "goldlabel.cli.audit:audit_command",
    "train": "goldlabel.cli.train:train_command",
    "models": "goldlabel.cli.models:models_command",
    "predict": "goldlabel.cli.predict:predict_command",
    "score": "goldlabel.cli.score:score_command",
    "compare": "goldlabel.cli.compare:compare_command",
    "bench": "goldlabel.cli.bench:bench_command",
    "explain": "goldlabel.cli.explain:explain_command",
    "report": "goldlabel.cli.report:report_command",
    "collect": "goldlabel.cli.collect:app",
    "leaderboard": "goldlabel.cli.leaderboard:app",
    "demo": "goldlabel.cli.demo:demo_command",
}
DATA_COMMANDS = {
    "list": "goldlabel.cli.data:list_command",
    "show": "goldlabel.cli.data:show_command",
    "add": "goldlabel.cli.data:add_command",
    "fetch": "goldlabel.cli.data:fetch_command",
    "export": "goldlabel.cli.data:export_command",
    "make": "goldlabel.cli.make:make_command",
    "card": "goldlabel.cli.card:card_command",
    "head": "goldlabel.cli.verbs:head_command",
    "sample": "goldlabel.cli.verbs:sample_command",
    "filter": "goldlabel.cli.verbs:filter_command",
    "merge": "goldlabel.cli.verbs:merge_command",
    "diff": "goldlabel.cli.verbs:diff_command",
    "dedupe": "goldlabel.cli.verbs:dedupe_command",
    "apply-review": "goldlabel.cli.review:apply_review_command",
    "split": "goldlabel.cli.split:split_command",
    "duplicates": "goldlabel.cli.duplicates:duplicates_command",
}
RENAMED = {("audit", "--dynamics"): "--probabilities"}
"""Options by their command and their old name."""

app = typer.Typer(
    name="goldlabel",
    cls=group_of(COMMANDS),
    help="The workbench for natural language inference data and models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data = typer.Typer(
    cls=group_of(DATA_COMMANDS),
    help="Sources, counts, exports and splits of pairs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"goldlabel {version('goldlabel')}")
        raise typer.Exit


@app.callback()
def root(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """The workbench for natural language inference data and models."""


def run() -> int:
    """Run the command that was asked for; return the exit code, after one line on stderr if the input is at fault."""
    try:
        with at_command_line():
            code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # Typer has caught it and returns the code
    except GoldlabelError as error:
        return _refuse(str(error))
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return BAD_INPUT
        command = error.ctx.command_path if error.ctx else " ".join(("goldlabel", *_command_words()))
        option = getattr(error, "option_name", "")
        new = RENAMED.get((error.ctx.command.name if error.ctx else "", option))
        if new is not None:
            return _refuse(f"{option} is called {new} now (see '{command} --help')")
        return _refuse(f"{error.format_message()} (see '{command} --help')")
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code or 0


def _command_words() -> list[str]:
    """Return the words that name the command which was asked for."""
    words: list[str] = []
    command: Any = typer.main.get_command(app)
    for word in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        words.append(word)
    return words


def _refuse(message: str) -> int:
    typer.echo(f"goldlabel: {' '.join(message.split())}", err=True)
    return BAD_INPUT

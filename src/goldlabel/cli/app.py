"""The application, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer

from goldlabel.cli import (
    audit,
    bench,
    card,
    collect,
    compare,
    data,
    demo,
    duplicates,
    explain,
    models,
    predict,
    recast,
    score,
    split,
    train,
    verbs,
    verify,
)
from goldlabel.cli.entry import INTERRUPTED
from goldlabel.errors import GoldlabelError

BAD_INPUT = 2

UsageError: Any = typer.BadParameter.__mro__[1]  # Typer gives its root of command-line errors no public name

app = typer.Typer(
    name="goldlabel",
    help="The workbench for natural language inference data and models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(data.app, name="data")
data.app.command("card")(card.card_command)
data.app.command("head")(verbs.head_command)
data.app.command("sample")(verbs.sample_command)
data.app.command("filter")(verbs.filter_command)
data.app.command("merge")(verbs.merge_command)
data.app.command("diff")(verbs.diff_command)
data.app.command("dedupe")(verbs.dedupe_command)
data.app.command("split")(split.split_command)
data.app.command("duplicates")(duplicates.duplicates_command)
app.add_typer(recast.app, name="recast")
app.command("verify")(verify.verify_command)
app.command("audit")(audit.audit_command)
app.command("train")(train.train_command)
app.command("models")(models.models_command)
app.command("predict")(predict.predict_command)
app.command("score")(score.score_command)
app.command("compare")(compare.compare_command)
app.command("bench")(bench.bench_command)
app.command("explain")(explain.explain_command)
app.add_typer(collect.app, name="collect")
app.command("demo")(demo.demo_command)


def _print_version(wanted: bool) -> None:
    if wanted:
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
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # Typer has caught it and returns the code
    except GoldlabelError as error:
        return _refuse(str(error))
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return BAD_INPUT
        command = error.ctx.command_path if error.ctx else "goldlabel"
        return _refuse(f"{error.format_message()} (see '{command} --help')")
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code or 0


def _refuse(message: str) -> int:
    typer.echo(f"goldlabel: {' '.join(message.split())}", err=True)
    return BAD_INPUT

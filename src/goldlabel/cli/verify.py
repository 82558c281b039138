"""``goldlabel verify``: gold labels from votes, and how far to trust them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.card import Details, makes_dataset, refuse_details
from goldlabel.cli.output import (
    AllOption,
    ByOption,
    JsonOption,
    LimitOption,
    PathArgument,
    SeedOption,
    folder_option,
    most_rows,
    note,
    open_pairs,
    print_json,
    print_table,
    progress,
    refuse_own_input,
)
from goldlabel.cli.reading import ReadingOptions, reads_files, with_options
from goldlabel.cli.tools import QuestionOption, ToolOption, open_tool
from goldlabel.errors import InputError

if TYPE_CHECKING:
    from goldlabel.metrics import Estimate
    from goldlabel.pairs import Result
    from goldlabel.verify import Verification

UNDEFINED = "undefined"
GROUPS_PER_TABLE = 3
SHOWN = 10
"""How many annotators are printed: those to look at come first."""


def judging_options(
    by: ByOption = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="Way to a gold label: majority, two-plus-one, weighted-majority, wawa, zbs, dawid-skene, mace, "
            "soft-labels; through crowd-kit glad.",
        ),
    ] = "majority",
    quorum: Annotated[
        int | None,
        typer.Option("--quorum", help="Equal votes that a majority needs; by default more than half of the votes."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            help="How sure to be of a label: for the votes still needed (default 0.95), and of dawid-skene and mace.",
        ),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option("--author", help="Where the author's label is, if not where the card says: first, label or none."),
    ] = None,
    repeats: Annotated[
        str | None,
        typer.Option("--repeats", help="Which of an annotator's votes on the same pair counts: first or last."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level of intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option("--resamples", min=0, help="Bootstrap resamples behind intervals.")] = 1000,
    seed: SeedOption = 0,
) -> dict[str, Any]:
    """Return what ``gl.verify`` takes."""
    return locals()


@with_options(judging_options, "judging")
@makes_dataset
@reads_files
def verify_command(
    path: PathArgument,
    votes: Annotated[
        Path | None,
        typer.Option(
            "--votes", help="File with a row for each vote (pair, annotator, label[, seconds, time]) used instead."
        ),
    ] = None,
    foreign: Annotated[
        str | None,
        typer.Option("--foreign", metavar="PATH", help="Pairs of another dataset that were mixed in blindly."),
    ] = None,
    baseline: Annotated[
        bool,
        typer.Option("--baseline", help="Score the votes of --votes, cast by fresh people, against the labels."),
    ] = False,
    output: Annotated[
        Path | None,
        folder_option("Folder for the pairs with gold labels, verification.json and .csv."),
    ] = None,
    tool: ToolOption = None,
    question: QuestionOption = None,
    *,
    judging: dict[str, Any],
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Turn votes into gold labels, and measure agreement, annotators and what is ambiguous."""
    from goldlabel.pairs.card import rewrite_card
    from goldlabel.verify import compare_mixture, human_baseline, read_votes, verify

    if output is None:
        refuse_details(details, "without -o none is written")
    else:
        refuse_own_input(output, path)
    vote_columns = _take_vote_columns(reading, votes)
    if tool is not None:
        pairs = open_tool([Path(path)], tool, question, reading, limit)
    else:
        pairs = open_pairs(path, {**reading, "unlabelled": votes is not None}, limit=limit)
    more: dict[str, Result] = {}
    cast = None
    if votes is not None:
        form: ReadingOptions = {"columns": vote_columns, "label_map": reading["label_map"]}
        cast = read_votes(votes, pairs, author=judging["author"], repeats=judging["repeats"], **form)
    if baseline:
        if cast is None:
            raise InputError("--baseline scores votes of people who had no part in the labels; pass them with --votes")
        more["human_baseline"] = human_baseline(cast, level=judging["level"])
    if foreign is not None:
        drawn = {name: judging[name] for name in ("resamples", "level", "seed")}
        more["foreign"] = compare_mixture(pairs, open_pairs(foreign, reading, limit=limit), **drawn)
    with progress("verifying", None):
        result = verify(pairs, votes=cast, **judging)
        if output is not None:
            result.write(output)
            rewrite_card(output, **details)
    written = {"output": str(output)} if output is not None else {}
    if as_json:
        print_json(result.to_dict() | {name: part.to_dict() for name, part in more.items()} | written)
        return
    _print(result, list(more.values()), print_all)
    for name, value in written.items():
        typer.echo(f"{name}: {value}")


def _take_vote_columns(reading: ReadingOptions, votes: Path | None) -> dict[str, str]:
    """Take out of the columns those of a file of votes, and return them."""
    from goldlabel.verify.vote_files import VOTE_COLUMNS

    columns = reading["columns"] or {}
    vote_columns = {name: column for name, column in columns.items() if name in VOTE_COLUMNS}
    if vote_columns and votes is None:
        raise InputError(
            f"--columns {next(iter(vote_columns))}=… names a column of a file of votes; pass it with --votes"
        )
    reading["columns"] = {name: column for name, column in columns.items() if name not in VOTE_COLUMNS}
    return vote_columns


def _print(result: Verification, more: list[Result], print_all: bool) -> None:
    typer.echo(result.title)
    _print_agreement(result, print_all)
    for part in [*more, *([result.annotators] if result.annotators else [])]:
        typer.echo(f"\n{part.title}")
        columns = part.table.columns
        rows = ([_shown(*cell) for cell in zip(columns, row, strict=True)] for row in part.table.iter_rows())
        print_table(columns, rows, most=most_rows(print_all, SHOWN))
    typer.echo(f"\n{result.opinions.title}\n{result.plan.title}")
    for line in result.notes:
        note(f"note: {line}")


def _print_agreement(result: Verification, print_all: bool) -> None:
    """Print statistics as rows and groups as columns, as papers do, a few groups to a table."""
    from goldlabel.pairs.groups import group_title
    from goldlabel.verify.agreement import AUTHOR_SHARES, SHARES

    relabelled = [key for key, group in result.groups.items() if group.relabelled]
    known = {name for name in result.whole.figures if name not in AUTHOR_SHARES or result.whole.figures[name].n}
    printed = relabelled if print_all else relabelled[: 2 * GROUPS_PER_TABLE]
    for start in range(0, len(printed), GROUPS_PER_TABLE):
        keys = printed[start : start + GROUPS_PER_TABLE]
        groups = [result.groups[key] for key in keys]
        rows: list[list[object]] = [
            ["n", *(group.n for group in groups)],
            ["relabelled", *(group.relabelled for group in groups)],
        ]
        for name in result.whole.figures:
            if name in known:
                figures = (group.figures[name] for group in groups)
                rows.append([name, *(_figure(own, name in SHARES) for own in figures)])
        if start:
            typer.echo()
        print_table(["", *map(group_title, keys)], rows)
    if len(relabelled) > len(printed):
        note(f"{len(relabelled) - len(printed):,} groups more; --all prints them")
    if others := [group_title(key) for key in result.groups if key not in relabelled]:
        typer.echo(f"\n{UNDEFINED}, as no pair was relabelled: {', '.join(others)}")


def _figure(figure: Estimate, is_share: bool) -> str:
    from goldlabel.metrics import percentage

    if figure.value is None:
        return UNDEFINED
    return percentage(figure) if is_share else figure.text(3)


def _shown(column: str, value: object) -> object:
    """Return a cell as it is printed; the agreement of annotators is a share."""
    if value is None:
        return UNDEFINED
    return f"{value} %" if column == "agreement" else value

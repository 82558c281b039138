"""``goldlabel leaderboard``: make, serve and build a leaderboard, hand out tokens, and submit to one."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.collecting import require_collect
from goldlabel.cli.loading import DeviceOption, LevelOption, PrecisionOption, SetOption, loading_options
from goldlabel.cli.output import (
    JsonOption,
    SeedOption,
    folder_option,
    note,
    open_pairs,
    parse_map,
    print_json,
    print_table,
    progress,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.errors import InputError
from goldlabel.messages import many

if TYPE_CHECKING:
    from goldlabel.evaluate.suite import SuitePlan
    from goldlabel.leaderboard.board import Board, PlannedSuite

FAILED = 1
URL = ("http://", "https://")

app = typer.Typer(
    help="Submissions to a suite, scored by labels that stay private.", no_args_is_help=True, rich_markup_mode=None
)

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the leaderboard.")]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL", help="PostgreSQL instead of a file in the folder: postgresql://USER@HOST/NAME."
    ),
]
TokenOption = Annotated[
    str, typer.Option("--token", envvar="GOLDLABEL_TOKEN", help="Your token; or in the variable GOLDLABEL_TOKEN.")
]


@app.command("init")
@reads_files
def init_command(
    folder: FolderArgument,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="Datasets with gold labels, instead of a suite.")
    ] = None,
    suites: Annotated[
        list[str] | None,
        typer.Option("--suite", help="cross, stress, recast, rounds, or a YAML file of your own; several allowed."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME=PATH", help="Where a set of the suite lies that is not in the library."),
    ] = None,
    suite_settings: Annotated[
        list[str] | None, typer.Option("--suite-set", metavar="KEY=VALUE", help="An option of the only suite.")
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Split of PATH to score by; by default test, or the only one.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What pages call it; by default as the suite.")] = None,
    references: Annotated[
        str | None, typer.Option("--references", help="papers: list what the suite's paper printed, marked as such.")
    ] = None,
    per_day: Annotated[int, typer.Option("--per-day", help="Submissions scored for one submitter in a day.")] = 2,
    per_week: Annotated[int, typer.Option("--per-week", help="Submissions scored for one submitter in a week.")] = 6,
    texts: Annotated[
        bool,
        typer.Option("--texts/--no-texts", help="Give submitters the texts without labels; or keep them here, too."),
    ] = True,
    database: DatabaseOption = None,
    level: LevelOption = 0.95,
    *,
    reading: ReadingOptions,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Score by the first N pairs of each set.")] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Make a leaderboard of a suite or of datasets; the gold labels are copied into its folder and never leave it."""
    require_collect()
    from goldlabel.leaderboard.board import Limits, PlannedSuite, make_board

    limits = Limits(per_day=per_day, per_week=per_week)
    if (not suites) == (not paths):
        raise InputError("name what is scored by: either --suite SUITE, once or more, or one or more PATHs")
    if references is not None and not suites:
        raise InputError("--references is for a suite, whose paper is known; leave it out, or name --suite")
    if suite_settings and len(suites or ()) > 1:
        raise InputError("--suite-set is an option of one suite; leave it out where there are several")
    planned = _plan_suites(
        suites or [], parse_map("--data", data), limit, seed, parse_map("--suite-set", suite_settings), references
    )
    if paths:
        planned = [PlannedSuite(name=folder.resolve().name, plan=_plan_of(paths, split, limit, reading))]
    board = make_board(folder, planned, title=title, limits=limits, texts=texts, level=level, database=database)
    missing = {name: why for suite in planned for name, why in suite.plan.missing.items()}
    for name, why in missing.items():
        note(f"{name} is missing: {why}")
    if as_json:
        print_json({**_described(board), "missing": list(missing), "folder": str(folder)})
    else:
        _show_board(board, folder, database)


def _described(board: Board) -> dict[str, Any]:
    suites = {
        suite.name: {part.name: {"pairs": part.pairs, "labels": list(part.space.labels)} for part in suite.sets}
        for suite in board.suites
    }
    return {
        "title": board.title,
        "suites": suites,
        "references": sum(len(suite.references) for suite in board.suites),
    }


def _show_board(board: Board, folder: Path, database: str | None) -> None:
    """Print what is scored by, and what to do next."""
    typer.echo(f"{board.title}: {len(board.sets)} sets, {many(board.pairs, 'pair')}; their labels are in {folder}/gold")
    rows = [
        (suite.name, part.name, part.pairs, ", ".join(part.space.labels), part.counts)
        for suite in board.suites
        for part in suite.sets
    ]
    print_table(["suite", "set", "pairs", "labels", "in the mean"], rows)
    elsewhere = ["--database", database] if database else []
    steps = [["token", str(folder), "NAME", *elsewhere], ["serve", str(folder), *elsewhere]]
    typer.echo("Next: " + ", then ".join(shlex.join(["goldlabel", "leaderboard", *step]) for step in steps))


@app.command("token")
def token_command(
    folder: FolderArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The submitter, as the table calls them.")],
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Make all tokens of NAME useless instead.")] = False,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token for a submitter and print it; it is shown once."""
    require_collect()
    from goldlabel.leaderboard.board import open_board
    from goldlabel.leaderboard.submitters import make_token, withdraw_tokens

    _, store = open_board(folder, database)
    with closing(store), store.write() as tx:
        made = withdraw_tokens(tx, name) if withdraw else make_token(tx, name)
    if as_json:
        print_json({"submitter": name, "withdrawn": made} if withdraw else {"submitter": name, "token": made})
    else:
        typer.echo(f"{made} tokens of {name} withdrawn" if withdraw else made)


@app.command("serve")
def serve_command(
    folder: FolderArgument,
    database: DatabaseOption = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Server processes; several need PostgreSQL.")] = 1,
    address: Annotated[
        str | None,
        typer.Option("--address", help="Where people reach the server through a proxy, such as https://nli.example."),
    ] = None,
) -> None:
    """Serve the pages, take submissions and score them until Ctrl-C."""
    require_collect()
    if workers > 1 and not database:
        raise InputError("several workers need PostgreSQL; pass --database URL, or leave --workers out")
    from goldlabel.web import serve_leaderboard

    serve_leaderboard(folder, database=database, host=host, port=port, workers=workers, address=address)


@app.command("build")
def build_command(
    folder: FolderArgument,
    output: Annotated[Path, folder_option("Folder of the site to write.")],
    address: Annotated[
        str, typer.Option("--address", help="Where submissions are sent, for the page that says how.")
    ] = "https://HOST",
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the leaderboard as a static site that needs no server; submissions need one."""
    require_collect()
    from goldlabel.web import build_leaderboard

    listed = build_leaderboard(folder, output, database=database, address=address)
    own = sum(not entry.is_reference for entry in listed)
    if as_json:
        print_json({"entries": own, "references": len(listed) - own, "output": str(output)})
    else:
        typer.echo(f"{own} entries and {len(listed) - own} rows of papers: {output}/index.html")


@app.command("submit")
def submit_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A model to predict with here (a run folder, hf:NAME, …), or a file of predictions, or a zip of them.",
        ),
    ],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The leaderboard's address.")],
    token: TokenOption,
    name: Annotated[
        str | None, typer.Option("--name", help="What the table calls it; by default as the run or file.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", help="The suite that it answers, where the leaderboard has several.")
    ] = None,
    training: Annotated[str, typer.Option("--training", help="What it was trained on; of a run it is known.")] = "",
    description: Annotated[str, typer.Option("--description", help="What it is, in a sentence or two.")] = "",
    device: DeviceOption = "auto",
    precision: PrecisionOption = "fp32",
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict here, send the predictions, and wait for the score; the same submission is taken once."""
    from goldlabel.leaderboard.client import Client, pack_predictions

    client = Client(to, token)
    path = Path(what)
    with tempfile.TemporaryDirectory(prefix="goldlabel-") as folder:
        if path.is_file():
            file = path
        else:
            with progress(f"predicting with {what}", None, in_bytes=False) as bar:
                file = pack_predictions(
                    client,
                    what,
                    Path(folder),
                    suite=suite,
                    expect=bar.expect,
                    on_pairs=bar,
                    **loading_options(device, precision, settings, None),
                )
        about = {"training": training, "description": description} | ({} if suite is None else {"suite": suite})
        sent = client.submit(file, name=name or path.resolve().stem, **about)
    note(f"submission {sent['id']} is {sent['state']}")
    with progress("scoring", None, in_bytes=False):
        told = client.wait(sent["id"])
    entry = client.entry(sent["id"])
    if as_json:
        print_json({**told, "entry": entry})
    elif entry is None:
        typer.echo(f"submission {told['id']} is {told['state']}: {told['problem'] or 'it is not on the board'}")
    else:
        _print_entry(entry)
    if told["state"] != "scored":
        raise typer.Exit(FAILED)


@app.command("withdraw")
def withdraw_command(
    where: Annotated[
        str, typer.Argument(metavar="PLACE", help="The leaderboard's address, or its folder if it is yours.")
    ],
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Number of the submission.")],
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="GOLDLABEL_TOKEN", help="Your token, for an address; or in GOLDLABEL_TOKEN."),
    ] = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a submission off the table; it stays in the trail."""
    if where.startswith(URL):
        from goldlabel.leaderboard.client import Client

        if token is None:
            raise InputError("whoever withdraws at an address shows their token; pass --token TOKEN")
        Client(where, token).withdraw(number)
    else:
        require_collect()
        from goldlabel.leaderboard.board import open_board
        from goldlabel.leaderboard.submissions import withdraw

        _, store = open_board(Path(where), database)
        with closing(store), store.write() as tx:
            withdraw(tx, number, submitter=None)
    if as_json:
        print_json({"id": number, "state": "withdrawn"})
    else:
        typer.echo(f"submission {number} is withdrawn")


@app.command("migrate")
def migrate_command(folder: FolderArgument, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Bring a leaderboard of an older version up to date; stop its server and keep a copy before."""
    require_collect()
    from goldlabel.leaderboard.board import read_board
    from goldlabel.leaderboard.store import BoardStore

    read_board(folder)
    before, after = BoardStore.migrate(database or folder)
    if as_json:
        print_json({"before": before, "after": after})
    else:
        typer.echo(f"schema {after} already; nothing to do" if before == after else f"schema {before} is now {after}")


@app.command("trail")
def trail_command(folder: FolderArgument, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Print everything that happened on a leaderboard, in order."""
    require_collect()
    from goldlabel.leaderboard.board import open_board
    from goldlabel.leaderboard.trail import steps

    _, store = open_board(folder, database)
    with closing(store), store.read() as tx:
        happened = [step.to_dict() for step in steps(tx, most=None)]
    if as_json:
        print_json(happened)
    else:
        rows = [(step["at"], step["submitter"], step["kind"], step["subject"]) for step in happened]
        print_table(["at", "submitter", "what", "of"], rows)


def _plan_suites(
    names: list[str],
    data: Mapping[str, str],
    limit: int | None,
    seed: int,
    options: Mapping[str, str],
    references: str | None,
) -> list[PlannedSuite]:
    """Plan the sets of suites, and find what papers printed of them."""
    from goldlabel.bench.benching import plan_suites
    from goldlabel.evaluate.suite import Published
    from goldlabel.leaderboard.board import PlannedSuite
    from goldlabel.leaderboard.references import references_of

    planned = []
    for name, suite, plan in plan_suites(names, data=data, limit=limit, seed=seed, options=options):
        # Of several suites, those without a paper's figures have none to list.
        unknown = references is None or (len(names) > 1 and not isinstance(suite, Published))
        rows = [] if unknown else references_of(suite, str(references), [part.name for part in plan.sets])
        planned.append(PlannedSuite(name=name, plan=plan, references=rows))
    return planned


def _plan_of(paths: list[str], split: str | None, limit: int | None, reading: ReadingOptions) -> SuitePlan:
    from goldlabel.evaluate.sets import evaluation_set
    from goldlabel.evaluate.suite import SuitePlan

    sets = [evaluation_set(open_pairs(path, reading, limit=None), split=split, limit=limit) for path in paths]
    names = [part.name for part in sets]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(
            f"two datasets are called {twice!r}; name them apart on their cards with 'goldlabel data card'"
        )
    return SuitePlan(sets=tuple(sets), systems=())


def _print_entry(entry: dict[str, Any]) -> None:
    from goldlabel.metrics import Estimate

    mean = Estimate.from_dict(entry["mean"]).percent().text()
    rank = "not ranked yet" if entry["rank"] is None else f"rank {entry['rank']}"
    tied = f", not told apart from {', '.join(entry['tied'])}" if entry["tied"] else ""
    typer.echo(f"{entry['name']}: {mean} on the mean, {rank}{tied}")
    rows = [(name, Estimate.from_dict(figure).percent().text()) for name, figure in entry["sets"].items()]
    if entry["hypothesis_only"]:
        rows.append(("mean without the premise", Estimate.from_dict(entry["hypothesis_only"]).percent().text()))
    print_table(["set", "accuracy"], rows)

"""``goldlabel collect``: people write and verify pairs in the browser."""

from __future__ import annotations

import json
import shlex
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli import rounds
from goldlabel.cli.backup import backup_command, restore_command
from goldlabel.cli.collecting import (
    DatabaseOption,
    FolderArgument,
    ProjectOption,
    adversary_option,
    find_project,
    open_project,
    open_store,
    require_collect,
    tries_option,
)
from goldlabel.cli.output import (
    AllOption,
    JsonOption,
    folder_option,
    most_rows,
    note,
    open_pairs,
    print_json,
    print_table,
    progress,
    refuse_own_input,
    show,
)
from goldlabel.cli.play import play_command
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.cli.tools import QuestionOption, ToolOption, open_tool
from goldlabel.errors import InputError
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.collect.data.premises import PremiseReading
    from goldlabel.collect.projects import Project
    from goldlabel.collect.protocols import Protocol
    from goldlabel.collect.store import Store
    from goldlabel.pairs import Pairs

app = typer.Typer(help="People write and verify pairs in the browser.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(rounds.app, name="round")
app.command("play")(play_command)
app.command("backup")(backup_command)
app.command("restore")(restore_command)

DISAGREES = 1
VOTES = ("keep", "count")
KINDS_OF_IMPORT = ("premises", "pairs", "foreign", "gold")

AddressOption = Annotated[str, typer.Option("--address", help="Where people reach the server; links begin with it.")]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the protocol, KEY=VALUE, such as writing.cap=100; may be repeated."),
]


@app.command("init")
def init_command(
    folder: FolderArgument,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            help="single, multi, multi-encourage, multi-constraint, or several of these: a,b; human-baseline; vetting; "
            "adversarial, plain, assisted, or several of these three as arms.",
        ),
    ],
    language: Annotated[str, typer.Option("--language", help="Language of the pairs: zh or en.")],
    name: Annotated[str | None, typer.Option("--name", help="Name of the project; by default the folder's.")] = None,
    settings: SettingsOption = None,
    adversaries: Annotated[
        list[str] | None,
        adversary_option(
            "several allowed. Round 1 of --protocol adversarial is open then, and the contexts that are imported "
            "belong to it."
        ),
    ] = None,
    tries: Annotated[int | None, tries_option("in round 1 5 by default.")] = None,
    database: DatabaseOption = None,
    address: AddressOption = "http://127.0.0.1:8000",
    as_json: JsonOption = False,
) -> None:
    """Make a project, in a new collection or beside others, and print the requester's link."""
    require_collect()
    from goldlabel.collect.configuration import create_project
    from goldlabel.collect.kinds import KINDS
    from goldlabel.collect.people.people import invite
    from goldlabel.collect.protocols import make_protocol
    from goldlabel.collect.rounds.adversaries import named_adversaries
    from goldlabel.collect.rounds.rounds import open_round

    configured = _changed(make_protocol(protocol, language), settings)
    if (adversaries or tries) and not KINDS.get(configured.kind).has_rounds:
        raise InputError(f"--adversary and --tries are for a protocol with rounds, and {protocol!r} has none")
    if tries:
        configured = replace(configured, writing=replace(configured.writing, tries=tries))
    chosen = named_adversaries(adversaries or ())
    with closing(_create_or_open(folder, database)) as store, store.write() as tx:
        made = create_project(tx, name or folder.resolve().name, configured)
        if chosen:
            open_round(tx, made.id, chosen, contexts_follow=True, by=None)
        token = invite(tx, project_id=made.id, role="requester", lifetime=timedelta(days=7), by=None)
        place = store.url
    link = _link(address, token)
    if as_json:
        print_json(
            {"project": made.name, "kind": made.kind.name, "language": language, "database": place, "link": link}
        )
        return
    typer.echo(f"project {made.name!r} ({made.kind.name}, {language}) in {place}")
    typer.echo(f"The requester's link, for one person within 7 days:\n{link}")
    elsewhere = ["--database", database] if database else []
    bring = ["import", str(folder), "PREMISES" if made.kind.writes else "PAIRS", "--project", made.name, *elsewhere]
    then = [["round", "open", str(folder), "--adversary", "MODEL", *elsewhere]] if made.kind.has_rounds else []
    steps = [bring, *([] if chosen else then), ["serve", str(folder), *elsewhere]]
    typer.echo("Next: " + ", then ".join(shlex.join(["goldlabel", "collect", *step]) for step in steps))


@app.command("import")
@reads_files
def import_command(
    folder: FolderArgument,
    paths: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Files of premises or of pairs.")],
    what: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="premises: to write about; pairs: to label; foreign: mixed in blindly; gold: questions with known "
            "answers. By default premises, or pairs where nobody writes.",
        ),
    ] = None,
    genre: Annotated[str | None, typer.Option("--genre", help="Genre of premises that have none of their own.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Source of premises that have none of their own.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Only premises nearest to these questions, one a line.")
    ] = None,
    tool: ToolOption = None,
    question: QuestionOption = None,
    votes: Annotated[
        str,
        typer.Option(
            "--votes",
            help="Votes that pairs bring along: keep them beside the pairs, or count them as those of people with "
            "pseudonyms, unpaid.",
        ),
    ] = "keep",
    *,
    reading: ReadingOptions,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N.")] = None,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add premises (CSV, JSON lines, plain text), pairs (any format) or another tool's export to a project."""
    require_collect()
    with open_project(folder, database, project) as (store, found):
        usual = "premises" if found.kind.writes else "pairs"
        if one_of("--as", what or usual, KINDS_OF_IMPORT) == "premises":
            told = _import_premises(store, found, paths, genre, source, questions, limit, tool, reading)
        else:
            if tool is not None:
                given = [open_tool(paths, tool, question, reading, limit)]
            else:
                given = [open_pairs(str(path), {**reading, "unlabelled": True}, limit=limit) for path in paths]
            origin = "imported" if (what or usual) == "pairs" else str(what)
            names = [path.name for path in paths[: len(given)]]
            told = _import_pairs(store, found, given, names, origin, one_of("--votes", votes, VOTES))
    if as_json:
        print_json({"project": found.name, **told})
        return
    typer.echo(f"{found.name}: {told['added']:,} of {told['read']:,} {told['as']} added")
    for one in told["left_out"]:
        example = f", such as {one['examples'][0]}" if one["examples"] else ""
        typer.echo(f"left out: {one['n']:,} ({one['reason']}){example}")


@app.command("serve")
def serve_command(
    folder: FolderArgument,
    database: DatabaseOption = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Server processes; several need PostgreSQL.")] = 1,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="Where people reach the server through a proxy, such as https://nli.example; links begin with it, and "
            "the proxy's headers are believed.",
        ),
    ] = None,
    log: Annotated[
        str, typer.Option("--log", help="plain, or json: an object on one line for each event and request.")
    ] = "plain",
) -> None:
    """Serve the pages for writers, verifiers and requesters until Ctrl-C."""
    require_collect()
    if workers > 1 and not database:
        raise InputError("several workers need PostgreSQL; pass --database URL, or leave --workers out")
    from goldlabel.web import serve

    serve(
        folder,
        database=database,
        host=host,
        port=port,
        workers=workers,
        address=address,
        log=one_of("--log", log, ["plain", "json"]),
    )


@app.command("export")
def export_command(
    folder: FolderArgument,
    output: Annotated[Path, folder_option("Folder to write.")],
    audit: Annotated[bool, typer.Option("--audit/--no-audit", help="Also put artifacts on the dataset card.")] = True,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Also export pairs that were hidden, marked in meta.")
    ] = False,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a snapshot of a project as a dataset with splits, card and ledger; people may go on working."""
    require_collect()
    from goldlabel.collect.data.export import export_project
    from goldlabel.worker.exporting import audit_section

    refuse_own_input(output, str(folder))
    described = partial(audit_section, refused=lambda reason: note(f"no audit on the card: {reason}"))
    with open_project(folder, database, project) as (store, found), progress(f"exporting {found.name}", None):
        written = export_project(store, found.id, output, describe=[described] if audit else [], hidden=hidden)
    show(written, as_json, **({} if as_json else {"output": str(output)}))


@app.command("judge")
def judge_command(
    folder: FolderArgument,
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="A model that judges, as for predict.")],
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a model judge what people judge; it is kept apart, and counts only where the setting verifying.models is."""
    require_collect()
    from goldlabel.collect.work.model_votes import judge_pairs, unjudged
    from goldlabel.models.loading import load_model

    with open_project(folder, database, project) as (store, found):
        judge = load_model(model, default_space=found.protocol.label_space)
        with store.read() as tx:
            waiting = len(unjudged(tx, found.id, model))
        with progress(f"asking {model}", waiting, in_bytes=False) as advance:
            votes = judge_pairs(store, found.id, model, judge, told=advance)
    if as_json:
        print_json({"model": model, "votes": votes, "counted": found.protocol.verifying.models})
    else:
        counted = "they count" if found.protocol.verifying.models else "they decide nothing"
        typer.echo(f"{votes:,} votes of {model}; {counted}")


@app.command("migrate")
def migrate_command(folder: FolderArgument, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Bring a collection of an older version up to date; stop its servers and keep a copy before."""
    require_collect()
    from goldlabel.collect.store import Store

    before, after = Store.migrate(database or folder)
    if as_json:
        print_json({"before": before, "after": after})
    else:
        typer.echo(f"schema {after} already; nothing to do" if before == after else f"schema {before} is now {after}")


@app.command("stats")
def stats_command(
    folder: FolderArgument,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Count what a project holds, measure agreement, and sum up what is owed."""
    require_collect()
    from goldlabel.collect.data.stats import project_stats

    with open_project(folder, database, project) as (store, chosen), store.read() as tx:
        found = project_stats(tx, chosen.id)
    if as_json:
        print_json(found.to_dict())
        return
    typer.echo(found.title)
    if len(found.table):
        print_table(found.table.columns, found.table.iter_rows())
        typer.echo()
    if found.people:
        people = [
            (one.pseudonym, ", ".join(sorted(one.roles)), one.pairs, one.votes, one.owed, "; ".join(one.flags))
            for one in found.people
        ]
        print_table(["person", "roles", "pairs", "votes", "owed", "flags"], people, most=most_rows(print_all))


@app.command("check")
def check_command(
    folder: FolderArgument,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Work out sums and counters from the events alone; exit with 1 if the tables say otherwise."""
    require_collect()
    from goldlabel.collect.money.recount import check
    from goldlabel.collect.projects import all_projects

    with closing(open_store(folder, database)) as store, store.read() as tx:
        chosen = [find_project(tx, folder, project)] if project else all_projects(tx)
        differences = {one.name: check(tx, one.id) for one in chosen}
    wrong = sum(map(len, differences.values()))
    if as_json:
        print_json({"agrees": not wrong, "differences": differences})
    else:
        for name, found in differences.items():
            typer.echo(f"{name}: {'agrees with its events' if not found else f'{len(found)} differences'}")
            for one in found:
                typer.echo(f"  {one}")
    if wrong:
        raise typer.Exit(DISAGREES)


@app.command("invite")
def invite_command(
    folder: FolderArgument,
    role: Annotated[str, typer.Option("--role", help="requester, writer, verifier or expert.")],
    condition: Annotated[
        str, typer.Option("--condition", help="A writer's condition; by default the one with the fewest writers.")
    ] = "",
    exclusive: Annotated[bool, typer.Option("--exclusive", help="A writer whose pairs are for test alone.")] = False,
    uses: Annotated[int, typer.Option("--uses", min=1, help="How many people may use the link.")] = 1,
    days: Annotated[int, typer.Option("--days", min=1, help="For how many days it can be used.")] = 7,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    address: AddressOption = "http://127.0.0.1:8000",
    as_json: JsonOption = False,
) -> None:
    """Print a link with which people join a project."""
    require_collect()
    from goldlabel.collect.people.people import ROLES, invite

    one_of("--role", role, ROLES)
    with open_project(folder, database, project) as (store, found), store.write() as tx:
        token = invite(
            tx,
            project_id=found.id,
            role=role,
            condition=condition,
            exclusive=exclusive,
            uses=uses,
            lifetime=timedelta(days=days),
            by=None,
        )
    link = _link(address, token)
    if as_json:
        print_json({"link": link, "role": role, "condition": condition or None, "uses": uses, "days": days})
    else:
        typer.echo(link)


@app.command("password")
def password_command(
    folder: FolderArgument,
    login: Annotated[str, typer.Argument(metavar="LOGIN", help="The login of who forgot their password.")],
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give an account a new password and print it; the old one, a second factor and all open sessions end."""
    require_collect()
    from goldlabel.collect.people.accounts import change_password, person_of
    from goldlabel.collect.people.passwords import draw_words, hash_password
    from goldlabel.collect.people.second_factor import drop_factor

    password = draw_words()
    hashed = hash_password(password)
    with closing(open_store(folder, database)) as store, store.write() as tx:
        person_id = person_of(tx, login)
        change_password(tx, person_id, hashed)
        drop_factor(tx, person_id)
    if as_json:
        print_json({"login": login, "password": password})
    else:
        typer.echo(password)


@app.command("configure")
def configure_command(
    folder: FolderArgument,
    settings: SettingsOption = None,
    project: ProjectOption = None,
    database: DatabaseOption = None,
) -> None:
    """Change settings of a project, and print its protocol as one JSON document."""
    require_collect()
    from goldlabel.collect.configuration import configure

    with open_project(folder, database, project) as (store, found), store.write() as tx:
        if settings:
            found = configure(tx, found.id, _changed(found.protocol, settings), by=None)
    print_json(found.protocol.to_dict())


def _create_or_open(folder: Path, database: str | None) -> Store:
    """Make a new collection, or open the one that is there: a project may stand beside others."""
    from goldlabel.collect.store import Store

    try:
        return Store.create(database or folder)
    except InputError:
        return Store.open(database or folder)


def _changed(protocol: Protocol, settings: list[str] | None) -> Protocol:
    """Apply ``KEY=VALUE`` settings; a value is JSON where it reads as JSON, otherwise text."""
    from goldlabel.collect.protocols import with_settings

    changes: dict[str, str] = {}
    for entry in settings or []:
        key, equals, text = entry.partition("=")
        if not equals:
            raise InputError(f"--set {entry!r} is not of the form KEY=VALUE, such as writing.cap=100")
        changes[key.strip()] = text.strip()
    return with_settings(protocol, changes, _value)


def _value(text: str, present: object) -> Any:
    if isinstance(present, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _link(address: str, token: str) -> str:
    return f"{address.rstrip('/')}/invite/{token}"


def _import_premises(
    store: Store,
    found: Project,
    paths: list[Path],
    genre: str | None,
    source: str | None,
    questions: Path | None,
    limit: int | None,
    tool: str | None,
    reading: ReadingOptions,
) -> dict[str, Any]:
    from goldlabel.collect.data.importing.batches import add_all_premises
    from goldlabel.collect.data.importing.known import known_premises
    from goldlabel.collect.data.importing.tools import tool_premises
    from goldlabel.collect.data.premises import read_premises, select_by_questions, select_premises

    if questions is not None and limit is None:
        raise InputError("--questions draws the nearest premises; say how many with --limit")
    known = known_premises(found.id)
    with store.read() as tx:
        known.catch_up(tx)
    rules = found.protocol.premises
    readings: list[PremiseReading] = []
    if tool is not None:
        items = tool_premises(paths, tool, columns=reading["columns"])
        readings.append(select_premises(items, rules, known, genre=genre, source=source))
    for path in paths if tool is None else ():
        readings.append(read_premises(path, path.name, rules, genre=genre, source=source, known=known))
        for one in readings[-1].premises:
            known.add(one.text, split=one.split)
    premises = [one for reading in readings for one in reading.premises]
    if questions is not None and limit is not None:
        premises = select_by_questions(premises, questions.read_text(encoding="utf-8").splitlines(), limit)
    with progress(f"importing into {found.name}", len(premises[:limit]), in_bytes=False) as advance:
        added = add_all_premises(store, found.id, premises[:limit], by=None, told=advance)
    left_out = [
        one | {"file": path.name}
        for path, told in zip(paths, readings, strict=False)
        for one in told.to_dict()["left_out"]
    ]
    return {"as": "premises", "read": sum(one.read for one in readings), "added": added, "left_out": left_out}


def _import_pairs(
    store: Store, found: Project, given: list[Pairs], names: list[str], origin: str, votes: str
) -> dict[str, Any]:
    from goldlabel.collect.data.importing.batches import add_all_pairs
    from goldlabel.collect.data.importing.known import known_pairs
    from goldlabel.collect.data.importing.pairs import NewPairs, naming_file
    from goldlabel.collect.data.importing.reports import pairs_report
    from goldlabel.collect.data.new_pairs import check_import

    files = [NewPairs(pairs, found.protocol, origin, votes) for pairs in given]
    known = known_pairs(found.id, origin)
    with store.read() as tx:
        known.catch_up(tx)
    for name, pairs in zip(names, files, strict=True):
        with naming_file(name):
            check_import(found, pairs, origin, known)
    new = [one for pairs in files for one in pairs]
    with progress(f"importing into {found.name}", len(new), in_bytes=False) as advance:
        read, added = add_all_pairs(store, found.id, new, origin=origin, by=None, votes=votes, told=advance)
    report = pairs_report("", origin, read, added)
    left_out = [{"reason": str(one.reason), "n": one.count, "examples": []} for one in report.left_out]
    return {"as": f"{origin} pairs", "read": read, "added": added, "left_out": left_out}

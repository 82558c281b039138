"""``goldlabel data``: sources, counts and exports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.card import Details, makes_dataset, refuse_details
from goldlabel.cli.output import (
    AllOption,
    JsonOption,
    LimitOption,
    PathArgument,
    most_rows,
    note,
    open_pairs,
    print_json,
    print_refused,
    print_table,
    progress,
    refuse_own_input,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.errors import InputError
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs
    from goldlabel.pairs.hub import Repository

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of a source (see 'goldlabel data list'), or a YAML file that declares a new one."
    ),
]
FORMATS = ("hf", "jsonl", "csv", "parquet")
PROBLEMS = 10
"""Rows that could not be read and are printed unless all are asked for."""
STDOUT = Path("/dev/stdout")


def list_command(print_all: AllOption = False, as_json: JsonOption = False) -> None:
    """List the known sources, and which of them are here; with --all their titles, too."""
    from goldlabel.sources import SOURCES, is_added, load

    rows = []
    for name, source in SOURCES.items():
        added = is_added(name)
        rows.append(
            {
                "name": name,
                "language": source.language,
                "labels": source.label_space.name,
                "pairs": len(load(name)) if added else None,
                "added": added,
                "licence": source.licence,
                "title": source.title,
                "from": SOURCES.origin(name),
            }
        )
    if as_json:
        print_json({"sources": rows, "refused": list(map(vars, SOURCES.refused))})
    else:
        columns = [
            name
            for name in rows[0]
            if (name != "title" or print_all) and (name != "from" or any(row["from"] for row in rows))
        ]
        print_table(columns, ([row[name] for name in columns] for row in rows))
        print_refused(SOURCES)


@reads_files
def show_command(
    path: PathArgument,
    *,
    reading: ReadingOptions,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the pairs of a dataset by split and label."""
    from goldlabel.pairs.card import AUTHORS

    pairs = open_pairs(path, reading, limit=limit)
    show(pairs, as_json)
    if not as_json and pairs.to_dict()["with_votes"]:
        typer.echo(f"author's own label: {AUTHORS[pairs.card.author]}")


def add_command(
    name: NameArgument,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="The corpus's files, folder or archive.")],
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add a source from files that you have."""
    from goldlabel.files import as_url, input_files
    from goldlabel.remote import fetch
    from goldlabel.sources import SOURCES, add

    name = _declared(name)
    SOURCES.get(name)
    paths = [fetch(url) if (url := as_url(path)) else path for path in paths]
    total = sum(file.size for path in paths for file in input_files(path))
    with progress(f"adding {name}", total) as advance:
        added = add(name, paths, on_bytes=advance)
    told = added.problems[: most_rows(print_all, PROBLEMS)]
    for problem in told:
        note(f"not read: {problem}")
    if left_out := len(added.problems) - len(told):
        note(f"not read: {left_out:,} rows more; --all prints them, problems.jsonl beside the data lists them")
    show(added, as_json)


def fetch_command(name: NameArgument, as_json: JsonOption = False) -> None:
    """Download a source from the address on its card, and add it."""
    from goldlabel.sources import SOURCES
    from goldlabel.sources.fetch import Progress, fetch

    name = _declared(name)
    source = SOURCES.get(name)
    note(f"{source.title}\n  licence: {source.licence}\n  paper: {source.paper}\n  from: {source.address}")
    with progress(f"fetching {name}") as bar:
        added = fetch(name, Progress(total=bar.expect, advance=bar))
    show(added, as_json)


def _declared(name: str) -> str:
    """Take a source that a file declares into the library; return the name of the one that is meant."""
    from goldlabel.sources import declare

    return declare(Path(name)) if name.lower().endswith((".yaml", ".yml")) else name


@makes_dataset
@reads_files
def export_command(
    path: PathArgument,
    to: Annotated[str, typer.Option("--to", help="Format: hf, jsonl, csv or parquet.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File or folder to write, or - for standard output; by default named after the dataset.",
        ),
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="Only this split: train, dev, test or none.")] = None,
    push: Annotated[
        str | None,
        typer.Option(
            "--push", metavar="ORG/NAME", help="With --to hf: upload to this repository of the Hugging Face hub."
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="With --push: everybody may see a repository that is made.")
    ] = False,
    *,
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a dataset in another format: one JSONL or CSV file, a Parquet dataset, a Hugging Face folder."""
    from goldlabel.pairs.hub import Repository
    from goldlabel.pairs.record import split_name

    one_of("--to", to, FORMATS)
    if push and to != "hf":
        raise InputError(f"--push is for the hub's own layout, and --to {to} is another; pass --to hf")
    if public and not push:
        raise InputError("--public is about the repository of --push; pass that too, or leave it out")
    repository = Repository(push) if push else None
    pairs = open_pairs(path, reading, limit=limit)
    if split:
        pairs = pairs.only(split=split_name(split))
    to_stdout = output is not None and output.as_posix() in ("-", STDOUT.as_posix())
    if to_stdout and to == "hf":
        raise InputError("hf is a folder, and standard output takes one file; choose another format, or a folder")
    if to_stdout and as_json:
        raise InputError(f"-o {output} and --json both want standard output; choose one")
    is_folder = to == "hf" or (to == "parquet" and not to_stdout and (output is None or output.suffix != ".parquet"))
    if not is_folder:
        refuse_details(details, "one file carries none")
    pairs = pairs.describe(**details)
    default = Path(f"{pairs.card.name}-{to}" if is_folder else f"{pairs.card.name}.{to}")
    target = STDOUT if to_stdout else output or default
    refuse_own_input(target, path)
    if repository:
        _push(pairs, repository, output, public=public, as_json=as_json)
        return
    with progress(f"writing {target}", None):
        if is_folder:
            pairs.write(target, hf=to == "hf")
        else:
            pairs.export(target, to)
    if to_stdout:
        note(pairs.title)
    else:
        show(pairs, as_json, output=str(target))


def _push(pairs: Pairs, repository: Repository, output: Path | None, *, public: bool, as_json: bool) -> None:
    """Upload the pairs, with the hub's own progress bars; the folder is kept where somebody names one."""
    note(f"pushing to {repository.name}")
    if output:
        pairs.write(output, hf=True)
        pushed = repository.push(output, private=not public)
    else:
        pushed = pairs.push_to_hub(repository.name, private=not public)
    if public and pushed.private:
        note(f"{pushed.repository} was there already and stays private; change that in its settings on the hub")
    kept = {"output": str(output)} if output else {}
    show(pairs, as_json, **kept, **vars(pushed))

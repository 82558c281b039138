"""``goldlabel data``: sources, counts, exports, splits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.card import makes_dataset, makes_dataset_in_a_language, refuse_details
from goldlabel.cli.output import (
    JsonOption,
    LimitOption,
    PathArgument,
    SeedOption,
    folder_option,
    note,
    open_pairs,
    print_json,
    print_table,
    progress,
    refuse_own_input,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.errors import InputError
from goldlabel.files import input_files
from goldlabel.pairs import Pairs
from goldlabel.pairs.card import AUTHORS, Details, rewrite_card
from goldlabel.pairs.hub import Repository
from goldlabel.pairs.record import SPLITS
from goldlabel.registry import one_of
from goldlabel.sources import SOURCES, add, is_added, load
from goldlabel.sources.fetch import Progress, fetch
from goldlabel.sources.fragments import FEATURES, PHENOMENA, write_fragments

app = typer.Typer(help="Sources, counts, exports and splits of pairs.", no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a source; see 'goldlabel data list'.")]
FORMATS = ("hf", "jsonl", "csv", "parquet")
GENERATORS = ("fragments",)
STDOUT = Path("/dev/stdout")


@app.command("list")
def list_command(as_json: JsonOption = False) -> None:
    """List the known sources, and which of them are here."""
    rows = []
    for name in SOURCES:
        source = SOURCES.get(name)
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
            }
        )
    if as_json:
        print_json({"sources": rows})
    else:
        print_table(list(rows[0]), (row.values() for row in rows))


@app.command("show")
@reads_files
def show_command(
    path: PathArgument,
    *,
    reading: ReadingOptions,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the pairs of a dataset by split and label."""
    pairs = open_pairs(path, reading, limit=limit)
    show(pairs, as_json)
    if not as_json and pairs.to_dict()["with_votes"]:
        typer.echo(f"author's own label: {AUTHORS[pairs.card.author]}")


@app.command("add")
def add_command(
    name: NameArgument,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="The corpus's files, folder or archive.")],
    as_json: JsonOption = False,
) -> None:
    """Add a source from files that you have."""
    SOURCES.get(name)
    total = sum(file.size for path in paths for file in input_files(path))
    with progress(f"adding {name}", total) as advance:
        added = add(name, paths, on_bytes=advance)
    for problem in added.problems[:10]:
        note(f"not read: {problem}")
    if len(added.problems) > 10:
        note(f"not read: {len(added.problems) - 10} more rows, all listed in problems.jsonl beside the data")
    show(added, as_json)


@app.command("fetch")
def fetch_command(name: NameArgument, as_json: JsonOption = False) -> None:
    """Download a source from the address on its card, and add it."""
    source = SOURCES.get(name)
    note(f"{source.title}\n  licence: {source.licence}\n  paper: {source.paper}\n  from: {source.address}")
    with progress(f"fetching {name}") as bar:
        added = fetch(name, Progress(total=bar.expect, advance=bar))
    show(added, as_json)


@app.command("export")
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
    one_of("--to", to, FORMATS)
    if push and to != "hf":
        raise InputError(f"--push is for the hub's own layout, and --to {to} is another; pass --to hf")
    if public and not push:
        raise InputError("--public is about the repository of --push; pass that too, or leave it out")
    repository = Repository(push) if push else None
    pairs = open_pairs(path, reading, limit=limit)
    if split:
        pairs = pairs.only(split=one_of("--split", split, SPLITS))
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


@app.command("make")
@makes_dataset_in_a_language
def make_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"The generator: {', '.join(GENERATORS)}.")],
    language: Annotated[str, typer.Option("--language", help="Language of the pairs: en or zh.")] = "en",
    pairs: Annotated[int, typer.Option("--pairs", help="How many different pairs to make.")] = 10_000,
    phenomena: Annotated[
        str | None,
        typer.Option("--phenomena", help=f"Only these, joined by commas, of: {', '.join(PHENOMENA)}."),
    ] = None,
    artifact: Annotated[
        str | None,
        typer.Option(
            "--artifact",
            help="Plant an artifact, FEATURE:LABEL:STRENGTH, such as negation:contradiction:0.8: of the pairs whose "
            f"hypothesis carries FEATURE, the share STRENGTH has LABEL. Features: {', '.join(FEATURES)}.",
        ),
    ] = None,
    output: Annotated[Path | None, folder_option("Folder to write; by default NAME-LANGUAGE.")] = None,
    *,
    details: Details,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Make pairs from the embedded grammars, with labels that are true by construction."""
    one_of("NAME", name, GENERATORS)
    with progress(f"making {name}", pairs, in_bytes=False) as advance:
        made = write_fragments(
            output or Path(f"{name}-{language}"),
            language,
            pairs,
            seed=seed,
            phenomena=None if phenomena is None else [word.strip() for word in phenomena.split(",")],
            artifact=artifact,
            on_pairs=advance,
        )
    rewrite_card(Path(made.output), **details)
    show(made, as_json, output=made.output)

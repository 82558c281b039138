"""``goldlabel data``: sources, counts, exports, splits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.output import (
    ColumnsOption,
    JsonOption,
    LabelsOption,
    LimitOption,
    MapOption,
    PathArgument,
    SeedOption,
    note,
    open_pairs,
    print_json,
    print_table,
    progress,
    show,
)
from goldlabel.errors import InputError
from goldlabel.files import input_files
from goldlabel.pairs import Pairs
from goldlabel.pairs.record import COLUMNS
from goldlabel.pairs.splits import (
    ExcludeOverlap,
    ExclusiveWriters,
    Halves,
    Plan,
    Ratios,
    Split,
    Subset,
    Verified,
)
from goldlabel.registry import suggest
from goldlabel.sources import SOURCES, add, is_added, load
from goldlabel.sources.fetch import Progress, fetch

app = typer.Typer(help="Sources, counts, exports and splits of pairs.", no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a source; see 'goldlabel data list'.")]
FORMATS = ("hf", "jsonl", "csv", "parquet")


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
        print_table("Sources", list(rows[0]), (row.values() for row in rows))


@app.command("show")
def show_command(
    path: PathArgument,
    labels: LabelsOption = "nli3",
    spellings: MapOption = None,
    columns: ColumnsOption = None,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the pairs of a dataset by split and label."""
    show(open_pairs(path, labels=labels, spellings=spellings, columns=columns, limit=limit), as_json)


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
    with progress(f"fetching {name}") as advance:
        added = fetch(name, Progress(total=lambda size: None, advance=advance))
    show(added, as_json)


@app.command("export")
def export_command(
    path: PathArgument,
    to: Annotated[str, typer.Option("--to", help="Format: hf, jsonl, csv or parquet.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File or folder to write; by default named after the dataset."),
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="Only this split: train, dev, test or none.")] = None,
    labels: LabelsOption = "nli3",
    spellings: MapOption = None,
    columns: ColumnsOption = None,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a dataset in another format: one JSONL or CSV file, a Parquet dataset, a Hugging Face folder."""
    if to not in FORMATS:
        raise InputError(f"--to {to!r} is no format; {suggest(to, list(FORMATS))}")
    pairs = open_pairs(path, labels=labels, spellings=spellings, columns=columns, limit=limit)
    if split:
        pairs = pairs.only(split=split)
    is_folder = to == "hf" or (to == "parquet" and (output is None or output.suffix != ".parquet"))
    target = output or Path(f"{pairs.card.name}-{to}" if is_folder else f"{pairs.card.name}.{to}")
    with progress(f"writing {target}", None):
        if is_folder:
            pairs.write(target, hf=to == "hf")
        else:
            pairs.export(target, to)
    show(pairs, as_json, output=str(target))


@app.command("split")
def split_command(
    path: PathArgument,
    ratios: Annotated[str | None, typer.Option("--ratios", help="Shares, such as 80:10:10 or 90:10.")] = None,
    halves: Annotated[bool, typer.Option("--halves", help="Two equal halves, dev and test.")] = False,
    exclude_overlap: Annotated[
        str | None,
        typer.Option("--exclude-overlap", help="Drop training pairs that share this column with dev or test."),
    ] = None,
    nested: Annotated[
        str | None,
        typer.Option("--nested", help="Training subsets inside each other, such as 3000,10000,30000."),
    ] = None,
    verified: Annotated[
        str | None,
        typer.Option("--verified", help="DEV:TEST sizes, drawn from verified pairs, such as 3000:3000."),
    ] = None,
    exclusive_writers: Annotated[
        str | None,
        typer.Option("--exclusive-writers", help="DEV:TEST sizes; test only from writers who are in no other split."),
    ] = None,
    writers: Annotated[
        str | None,
        typer.Option("--writers", help="The exclusive writers, joined by commas; drawn if not given."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", help="Keep together what shares this column, such as group or premise."),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option("--stratify", help="Columns in which the splits are alike, such as label,genre."),
    ] = None,
    balance: Annotated[
        str | None,
        typer.Option("--balance", help="Columns balanced in dev and test, such as level or label,genre."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write; by default NAME-split.")
    ] = None,
    labels: LabelsOption = "nli3",
    spellings: MapOption = None,
    columns: ColumnsOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Split a dataset by one plan; --exclude-overlap may follow any of them."""
    plans = _plans(ratios, halves, nested, verified, exclusive_writers, writers, by, stratify, balance)
    if not plans and exclude_overlap:
        plans, exclude_overlap = {"": ExcludeOverlap(column=_columns(exclude_overlap)[0])}, None
    if not plans:
        raise InputError(
            "no way to split was given; pass one of --ratios, --halves, --nested, --verified, --exclusive-writers, "
            "--exclude-overlap"
        )
    pairs = open_pairs(path, labels=labels, spellings=spellings, columns=columns, limit=limit)
    target = output or Path(f"{pairs.card.name}-split")
    with progress(f"writing {target}", None):
        results = {name: _split(pairs, plan, exclude_overlap, seed) for name, plan in plans.items()}
        for name, result in results.items():
            result.pairs.write(target / name)
    if len(results) == 1:
        show(next(iter(results.values())), as_json, output=str(target))
    elif as_json:
        print_json({"subsets": {name: result.to_dict() for name, result in results.items()}, "output": str(target)})
    else:
        for name, result in results.items():
            show(result, False, output=str(target / name))


def _split(pairs: Pairs, plan: Plan, exclude_overlap: str | None, seed: int) -> Split:
    """Apply the plan, then drop what overlaps; what both dropped is counted together."""
    result = pairs.split(plan, seed=seed)
    if exclude_overlap is None:
        return result
    cleared = result.pairs.split(ExcludeOverlap(column=_columns(exclude_overlap)[0]), seed=seed)
    return replace(cleared, dropped=result.dropped + cleared.dropped)


def _plans(
    ratios: str | None,
    halves: bool,
    nested: str | None,
    verified: str | None,
    exclusive_writers: str | None,
    writers: str | None,
    by: str | None,
    stratify: str | None,
    balance: str | None,
) -> dict[str, Plan]:
    """Return the plan the options ask for, under the name of its output; nested subsets are several."""
    given = {
        "--ratios": ratios,
        "--halves": halves,
        "--nested": nested,
        "--verified": verified,
        "--exclusive-writers": exclusive_writers,
    }
    chosen = [option for option, value in given.items() if value]
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} were given; choose one")
    alike = _columns(stratify)
    group = _columns(by)[0] if by else None
    if ratios:
        return {"": Ratios(ratios=ratios, by=group, stratify=alike)}
    if halves:
        return {"": Halves(by=group, stratify=alike)}
    if nested:
        return {size: Subset(size=_whole(size), stratify=alike) for size in nested.split(",")}
    if verified:
        dev, test = _sizes("--verified", verified)
        return {"": Verified(dev=dev, test=test, balance=_columns(balance) or ("level",))}
    if exclusive_writers:
        dev, test = _sizes("--exclusive-writers", exclusive_writers)
        names = tuple(writers.split(",")) if writers else ()
        cells = _columns(balance) or ("label", "genre")
        return {"": ExclusiveWriters(dev=dev, test=test, writers=names, balance=cells)}
    return {}


def _columns(names: str | None) -> tuple[str, ...]:
    columns = tuple(names.split(",")) if names else ()
    for name in columns:
        if name not in COLUMNS:
            raise InputError(f"there is no column {name!r}; {suggest(name, list(COLUMNS))}")
    return columns


def _sizes(option: str, text: str) -> tuple[int, int]:
    dev, _, test = text.partition(":")
    return _whole(dev, f"{option} takes DEV:TEST"), _whole(test, f"{option} takes DEV:TEST")


def _whole(text: str, hint: str = "sizes are joined by commas") -> int:
    if not text.strip().isdecimal():
        raise InputError(f"{text!r} is not a whole number; {hint}")
    return int(text)

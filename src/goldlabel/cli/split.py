"""``goldlabel data split``: one plan from the command line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.card import Details, makes_dataset
from goldlabel.cli.output import (
    JsonOption,
    LimitOption,
    PathArgument,
    SeedOption,
    folder_option,
    note,
    open_pairs,
    print_json,
    progress,
    refuse_own_input,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.errors import InputError
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs
    from goldlabel.pairs.splits import Plan, Split

DETAILS = {
    "--by": ("--ratios", "--halves", "--nested", "--verified", "--exclusive-writers"),
    "--stratify": ("--ratios", "--halves", "--nested"),
    "--balance": ("--verified", "--exclusive-writers"),
    "--writers": ("--exclusive-writers",),
}
"""Which plans an option says more about; with any other plan it is refused rather than ignored."""


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """What the command line asked for."""

    ratios: str | None
    halves: bool
    nested: str | None
    verified: str | None
    exclusive_writers: str | None
    exclude_overlap: str | None
    by: str | None
    stratify: str | None
    balance: str | None
    writers: str | None


@makes_dataset
@reads_files
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
        typer.Option(
            "--by", help="What stays together: unit (group, else premise), pair (nothing), or a column or meta.FIELD."
        ),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option("--stratify", help="Columns in which the splits are alike, such as label,genre or meta.FIELD."),
    ] = None,
    balance: Annotated[
        str | None,
        typer.Option("--balance", help="Columns balanced in dev and test, such as level, label,genre, meta.FIELD."),
    ] = None,
    output: Annotated[Path | None, folder_option("Folder to write; by default NAME-split.")] = None,
    *,
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Split a dataset by one plan; --exclude-overlap may follow any of them."""
    from goldlabel.pairs.card import CARD

    options = SplitOptions(
        ratios=ratios,
        halves=halves,
        nested=nested,
        verified=verified,
        exclusive_writers=exclusive_writers,
        exclude_overlap=exclude_overlap,
        by=by,
        stratify=stratify,
        balance=balance,
        writers=writers,
    )
    plans = _plans(options)
    pairs = open_pairs(path, reading, limit=limit)
    target = output or Path(f"{pairs.card.name}-split")
    refuse_own_input(target, path)
    if nested and (target / CARD).exists():
        raise InputError(f"{target}: is a dataset, and subsets need a folder of their own; choose another with -o")
    with progress(f"writing {target}", None):
        results = {name: _split(pairs, plan, exclude_overlap, seed) for name, plan in plans.items()}
        for name, result in results.items():
            result.pairs.describe(**details).write(target / name)
    for result in results.values():
        for line in result.notes:
            note(line)
    if not nested:
        show(results[""], as_json, output=str(target))
    elif as_json:
        print_json({"subsets": {name: result.to_dict() for name, result in results.items()}, "output": str(target)})
    else:
        for name, result in results.items():
            show(result, False, output=str(target / name))


def _plans(options: SplitOptions) -> dict[str, Plan]:
    """Return the plan the options ask for, under the name of its output; nested subsets are several."""
    from goldlabel.pairs.drawing import PAIR, UNIT
    from goldlabel.pairs.groups import group_columns
    from goldlabel.pairs.record import COLUMNS
    from goldlabel.pairs.splits import ExcludeOverlap, ExclusiveWriters, Halves, Ratios, Subset, Verified

    passed = {f"--{name.replace('_', '-')}" for name, value in vars(options).items() if value}
    chosen = sorted(passed - {*DETAILS, "--exclude-overlap"})
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} were given; choose one")
    for option in sorted(passed & DETAILS.keys()):
        if not {*chosen} & {*DETAILS[option]}:
            raise InputError(f"{option} goes with {' or '.join(DETAILS[option])} only; leave it out")
    alike = group_columns(options.stratify)
    by = options.by or UNIT
    if by not in (UNIT, PAIR, "premise", "hypothesis"):
        group_columns((by,))
    if options.ratios:
        return {"": Ratios(ratios=options.ratios, by=by, stratify=alike)}
    if options.halves:
        return {"": Halves(by=by, stratify=alike)}
    if options.nested:
        sizes = options.nested.split(",")
        return {size: Subset(size=_whole(size, "--nested"), by=by, stratify=alike) for size in sizes}
    balance = group_columns(options.balance)
    if options.verified:
        dev, test = _sizes("--verified", options.verified)
        return {"": Verified(dev=dev, test=test, by=by, balance=balance or ("level",))}
    if options.exclusive_writers:
        dev, test = _sizes("--exclusive-writers", options.exclusive_writers)
        names = tuple(options.writers.split(",")) if options.writers else ()
        alike = balance or ("label", "genre")
        return {"": ExclusiveWriters(dev=dev, test=test, by=by, writers=names, balance=alike)}
    if options.exclude_overlap:
        return {"": ExcludeOverlap(column=one_of("--exclude-overlap", options.exclude_overlap, COLUMNS))}
    raise InputError(
        "no way to split was given; pass one of --ratios, --halves, --nested, --verified, --exclusive-writers, "
        "--exclude-overlap"
    )


def _split(pairs: Pairs, plan: Plan, exclude_overlap: str | None, seed: int) -> Split:
    """Apply the plan, then drop what overlaps; what both dropped is counted together."""
    from goldlabel.pairs.record import COLUMNS
    from goldlabel.pairs.splits import ExcludeOverlap

    result = pairs.split(plan, seed=seed)
    if exclude_overlap is None or isinstance(plan, ExcludeOverlap):
        return result
    column = one_of("--exclude-overlap", exclude_overlap, COLUMNS)
    cleared = result.pairs.split(ExcludeOverlap(column=column), seed=seed)
    return replace(cleared, dropped=result.dropped + cleared.dropped, notes=result.notes)


def _sizes(option: str, text: str) -> tuple[int, int]:
    dev, _, test = text.partition(":")
    return _whole(dev, f"{option} DEV:TEST"), _whole(test, f"{option} DEV:TEST")


def _whole(text: str, option: str) -> int:
    if not text.strip().isdecimal():
        raise InputError(f"{option}: {text!r} is not a whole number")
    return int(text)

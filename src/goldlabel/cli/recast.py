"""``goldlabel recast``: annotations of other tasks become pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from goldlabel.cli.card import Details, makes_dataset
from goldlabel.cli.output import (
    JsonOption,
    LimitOption,
    SeedOption,
    folder_option,
    note,
    parse_map,
    print_json,
    print_refused,
    print_table,
    progress,
)
from goldlabel.cli.work import WorkOptions, does_pieces
from goldlabel.errors import InputError
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs
    from goldlabel.recast import Options

app = typer.Typer(help="Annotations of other tasks, recast as pairs.", no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a recaster; see 'goldlabel recast list'.")]
StyleOption = Annotated[
    str, typer.Option("--style", help="dnc: as published, faults and all; plain: natural text, faults mended.")
]
PersonOption = Annotated[
    str,
    typer.Option("--person", help="Premises of the first and second person: conservative, observer or speaker."),
]
QuestionsOption = Annotated[str, typer.Option("--questions", help="Premises that are questions: keep or remove.")]
NamesOption = Annotated[
    Path | None, typer.Option("--names", help="File of first names, Name,Sex,Count; a short list is built in.")
]


@app.command("list")
def list_command(as_json: JsonOption = False) -> None:
    """List the recasters and what files they take."""
    from goldlabel.recast import RECASTERS

    recasters = [recaster for _, recaster in RECASTERS.items()]
    if as_json:
        rows = [
            {
                "name": recaster.name,
                "phenomenon": recaster.phenomenon,
                "title": recaster.title,
                "paper": recaster.paper,
                "sources": recaster.sources,
                "labels": recaster.label_space.name,
                "settings": dict(recaster.settings),
                "from": RECASTERS.origin(recaster.name),
            }
            for recaster in recasters
        ]
        print_json({"recasters": rows, "refused": list(map(vars, RECASTERS.refused))})
        return
    body = [
        (
            recaster.name,
            recaster.phenomenon,
            recaster.sources,
            "; ".join(recaster.settings),
            RECASTERS.origin(recaster.name),
        )
        for recaster in recasters
    ]
    print_table(["name", "phenomenon", "sources", "settings", "from"], body)
    print_refused(RECASTERS)


@app.command("run")
@makes_dataset
def run_command(
    name: NameArgument,
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE…", help="The annotated files, folder or archive.")],
    output: Annotated[Path | None, folder_option("Folder to write; by default NAME-STYLE.")] = None,
    style: StyleOption = "plain",
    person: PersonOption = "speaker",
    questions: QuestionsOption = "keep",
    names: NamesOption = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of this recaster, KEY=VALUE; may be repeated.")
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit/--no-audit", help="Also say how well labels are told without the premise.")
    ] = True,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    *,
    details: Details,
    as_json: JsonOption = False,
) -> None:
    """Recast annotated files into a dataset of pairs."""
    from goldlabel.files import input_files
    from goldlabel.pairs.card import rewrite_card
    from goldlabel.recast import RECASTERS, run_recast

    RECASTERS.get(name)
    options = _options(style, person, questions, names, seed, parse_map("--set", settings))
    target = output or Path(f"{name}-{style}")
    _refuse_source(target, sources)
    total = sum(file.size for path in sources for file in input_files(path))
    with progress(f"recasting {name}", total) as advance:
        run = run_recast(name, sources, options, output=target, limit=limit, on_bytes=advance)
        rewrite_card(target, **details)
    artifacts = _artifacts(run.pairs, seed) if audit else None
    if as_json:
        print_json(run.to_dict() | {"artifacts": artifacts})
        return
    typer.echo(run.title)
    print_table(run.table.columns, run.table.iter_rows())
    for reason, n in run.skipped.items():
        typer.echo(f"left out: {n:,} ({reason})")
    for remark, n in run.remarks.items():
        typer.echo(f"kept: {n:,} of {len(run.pairs):,} pairs ({remark})")
    for policy, n in run.policies.items():
        if n:
            typer.echo(f"{policy} would cost {n:,} pairs")
    if artifacts:
        typer.echo(_in_words(artifacts))
    typer.echo(f"output: {target}")


@app.command("check")
def check_command(
    name: NameArgument,
    path: Annotated[Path, typer.Argument(metavar="OUT", help="A dataset that 'goldlabel recast run' wrote.")],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE…", help="More published files, after the first.")
    ] = None,
    published: Annotated[
        list[Path] | None,
        typer.Option("--published", help="The DNC's files or folder, recast_NAME_data.json and its metadata."),
    ] = None,
    own_names: Annotated[
        bool, typer.Option("--own-names", help="Do not put the published first names in the place of ours.")
    ] = False,
    show: Annotated[int, typer.Option("--show", min=0, help="How many differences to show.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Hold a recast dataset against the published pairs, aligned by source id."""
    from goldlabel.pairs import read
    from goldlabel.recast import RECASTERS, check_recast

    RECASTERS.get(name)
    if not published:
        raise InputError("the published files were not given; pass them with --published")
    result = check_recast(name, read(path), [*published, *(more or [])], published_names=not own_names, shown=show)
    if as_json:
        print_json(result.to_dict())
        return
    typer.echo(result.title)
    print_table(result.table.columns, result.table.iter_rows())
    for difference in result.differences:
        typer.echo(f"\n{difference['source_id']}: {', '.join(difference['differ'])}")
        for side in ("published", "ours"):
            pair = difference[side]
            typer.echo(f"  {side + ':':10} {pair['context']} => {pair['hypothesis']} ({pair['label']})")


@app.command("all")
@does_pieces
def all_command(
    sources: Annotated[Path, typer.Option("--sources", help="Folder of sources, laid out as the documentation says.")],
    output: Annotated[Path, folder_option("Folder to write.")] = Path("recast"),
    style: StyleOption = "plain",
    person: PersonOption = "speaker",
    questions: QuestionsOption = "keep",
    names: NamesOption = None,
    audit: Annotated[
        bool, typer.Option("--audit/--no-audit", help="Also say how well labels are told without the premise.")
    ] = True,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N pairs of each dataset.")] = None,
    seed: SeedOption = 0,
    *,
    work: WorkOptions,
    as_json: JsonOption = False,
) -> None:
    """Build one collection of everything a folder holds that can be recast."""
    from goldlabel.files import input_files
    from goldlabel.recast.collection import find_parts, recast_all

    options = _options(style, person, questions, names, seed, {})
    _refuse_source(output, [sources])
    paths = [path for files in find_parts(sources).values() for path in files]
    total = sum(file.size for path in paths for file in input_files(path))
    with work.open(on_gpus=False) as executor, progress("recasting", total) as advance:
        result = recast_all(sources, output, options, limit=limit, on_bytes=advance, executor=executor)
    made = [str(row["dataset"]) for row in result.rows if row["ours"]]
    artifacts: dict[str, Any] = {}
    if audit:
        with progress("looking for artifacts", len(made), in_bytes=False) as advance:
            for name in made:
                artifacts[name] = _artifacts(result.pairs.only(dataset=name), seed)
                advance(1)
    if as_json:
        print_json(result.to_dict() | {"artifacts": artifacts})
        return
    typer.echo(result.title)
    print_table(result.table.columns, result.table.iter_rows())
    for name, figures in artifacts.items():
        if figures:
            typer.echo(f"{name}: {_in_words(figures)}")
    typer.echo(f"output: {output}")


@app.command("release")
def release_command(
    name: NameArgument,
    path: Annotated[Path, typer.Argument(metavar="OUT", help="A dataset that 'goldlabel recast run' wrote.")],
    output: Annotated[Path, folder_option("Folder to write; it must be new or empty.")],
    as_json: JsonOption = False,
) -> None:
    """Write a recast dataset in the DNC's own files, a folder for each split."""
    from goldlabel.pairs import read
    from goldlabel.recast.dnc import write_release

    written = write_release(read(path), output, name)
    if as_json:
        print_json({"name": name, "files": [str(file) for file in written], "output": str(output)})
        return
    for file in written:
        typer.echo(str(file))


def _options(
    style: str, person: str, questions: str, names: Path | None, seed: int, settings: dict[str, str]
) -> Options:
    from goldlabel.recast import Options

    one_of("--style", style, ("dnc", "plain"))
    one_of("--person", person, ("conservative", "observer", "speaker"))
    one_of("--questions", questions, ("keep", "remove"))
    return Options(
        style=cast(Literal["dnc", "plain"], style),
        seed=seed,
        person=cast(Literal["conservative", "observer", "speaker"], person),
        questions=cast(Literal["keep", "remove"], questions),
        names=names,
        settings=settings,
    )


def _refuse_source(target: Path, sources: list[Path]) -> None:
    for source in sources:
        if target.resolve() == source.resolve():
            raise InputError(f"{target}: is the source itself; choose another place for the output with -o")


def _artifacts(pairs: Pairs, seed: int) -> dict[str, Any] | None:
    """Return majority and hypothesis-only accuracy, out of fold; ``None`` where there is too little to tell."""
    from goldlabel.audit import judge_hypotheses

    try:
        figures = judge_hypotheses(pairs, seed=seed).to_dict()
    except InputError as error:
        note(f"no hypothesis-only accuracy: {error}")
        return None
    kept = ("majority", "accuracy", "interval", "n", "gain", "gain_interval")
    return {name: figures[name] for name in kept}


def _in_words(figures: dict[str, Any]) -> str:
    from goldlabel.metrics import percent

    low, high = (100 * end for end in figures["interval"])
    return (
        f"without the premise {percent(figures['accuracy'])} ({low:.1f} to {high:.1f}) of the labels are told "
        f"({percent(figures['majority'])} by always saying the most frequent)"
    )

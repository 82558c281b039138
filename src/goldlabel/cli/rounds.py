"""``goldlabel collect round``: people write against models for a time, and models learn from it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.collecting import (
    DatabaseOption,
    FolderArgument,
    ProjectOption,
    adversary_option,
    open_project,
    require_collect,
    tries_option,
)
from goldlabel.cli.entry import INTERRUPTED
from goldlabel.cli.loading import BudgetOption, SetOption
from goldlabel.cli.output import (
    JsonOption,
    SeedOption,
    folder_option,
    note,
    open_pairs,
    parse_map,
    print_json,
    progress,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.cli.steps import display_steps
from goldlabel.cli.train import parse_sample
from goldlabel.errors import InputError

if TYPE_CHECKING:
    from goldlabel.train import TrainOptions

app = typer.Typer(
    help="Rounds in which people write against models, which learn from it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FAILED = 1


@app.command("open")
def open_command(
    folder: FolderArgument,
    adversaries: Annotated[
        list[str] | None, adversary_option("several allowed. By default those that the last round trained.")
    ] = None,
    tries: Annotated[int | None, tries_option("by default 5, and 10 from the second round on.")] = None,
    pay: Annotated[
        str | None, typer.Option("--pay", metavar="AMOUNT", help="Pay for a job; by default the project's.")
    ] = None,
    bonus: Annotated[
        str | None,
        typer.Option("--bonus", metavar="AMOUNT", help="Bonus for a verified pair that fooled the model."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, max=30, help="Seconds that a model may take for its answers.")
    ] = 30.0,
    fallback: Annotated[
        str | None,
        typer.Option("--fallback", metavar="MODEL", help="Answers where another model cannot; it is drawn for no try."),
    ] = None,
    settings: SetOption = None,
    budget: BudgetOption = None,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the next round, with contexts that no earlier one used."""
    require_collect()
    from goldlabel.rounds import open_next

    with open_project(folder, database, project) as (store, found):
        open_next(
            store,
            found.id,
            adversaries or (),
            tries=tries,
            pay=_amount("--pay", pay),
            bonus=_amount("--bonus", bonus),
            seconds=seconds,
            fallback=fallback,
            options=parse_map("--set", settings) | ({} if budget is None else {"budget": str(budget)}),
        )
    status_command(folder, project, database, as_json)


@app.command("close")
def close_command(
    folder: FolderArgument,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Also with work still open (jobs are taken back, their tries kept) or without a verified pair.",
        ),
    ] = False,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close the open round and fix its splits."""
    require_collect()
    from goldlabel.collect.rounds.rounds import close_round

    with open_project(folder, database, project) as (store, found), store.write() as tx:
        close_round(tx, found.id, force=force, by=None)
    status_command(folder, project, database, as_json)


@app.command("train")
@reads_files
def train_command(
    folder: FolderArgument,
    model: Annotated[str, typer.Option("--model", help="Name of a model, such as esim or linear, or hf:NAME.")],
    output: Annotated[
        Path, folder_option("Folder of runs; those of round N lie in round-N, and unfinished ones go on.")
    ],
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="PATH[:N|:Nx]",
            help="Pairs to train on beside the rounds: all, N drawn by the seed, or each N times an epoch; several "
            "allowed.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Train with so many seeds; all are adversaries.")] = 3,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="An option of training or of the model; several allowed."),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(
            "--grid", metavar="FILE|NAME", help="Values of options to choose from, by the last round's dev set."
        ),
    ] = None,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    *,
    reading: ReadingOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train the next adversaries on all rounds so far, chosen by the last one's dev set."""
    require_collect()
    from goldlabel.rounds.training import Beside, train_round
    from goldlabel.train import read_grid

    samples = [parse_sample(text) for text in beside or []]
    opened = partial(open_pairs, reading=reading, limit=None)
    options = _options(model, seed, parse_map("--set", settings))
    with open_project(folder, database, project) as (store, found):
        try:
            with display_steps(1) as on_step:
                done = train_round(
                    store,
                    found.id,
                    model,
                    output,
                    beside=[Beside(pairs=opened(path), size=size, copies=copies) for path, size, copies in samples],
                    seeds=seeds,
                    options=options,
                    grid=read_grid(grid, model, None) if grid else None,
                    on_step=on_step,
                )
        except KeyboardInterrupt:
            note(f"goldlabel: interrupted; give the same command once more to go on with {output}")
            raise SystemExit(INTERRUPTED) from None
    show(done, as_json)
    for name, problem in done.sweep.failed.items():
        note(f"goldlabel: {name}: {problem}")
    if done.sweep.failed:
        raise typer.Exit(FAILED)


@app.command("status")
def status_command(
    folder: FolderArgument,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the rounds, how often models were wrong, and what keeps the last one open."""
    require_collect()
    from goldlabel.rounds import status_of

    with open_project(folder, database, project) as (store, found):
        show(status_of(store, found.id), as_json)


@app.command("propose")
@reads_files
def propose_command(
    folder: FolderArgument,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="openai:URL#NAME", help="A language model behind an endpoint that writes them."
        ),
    ] = None,
    generator: Annotated[
        str | None,
        typer.Option(
            "--generator", metavar="MODULE:FUNCTION", help="A function of premises and labels that writes hypotheses."
        ),
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option("--examples", metavar="PATH", help="Pairs; the hypothesis of the nearest premise is proposed."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="With --model: an option of its calls, such as timeout; several allowed."
        ),
    ] = None,
    budget: BudgetOption = None,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    *,
    reading: ReadingOptions,
    as_json: JsonOption = False,
) -> None:
    """Make suggestions that writers of the assisted arm begin with, where a context has none."""
    require_collect()
    from goldlabel.collect.rounds.proposals import empty_places
    from goldlabel.rounds.proposing import by_endpoint, by_examples, by_function, propose

    if sum(place is not None for place in (model, generator, examples)) != 1:
        raise InputError(
            "suggestions come from one place; give --model openai:URL#NAME, --generator MODULE:FUNCTION or "
            "--examples PATH"
        )
    if (settings or budget is not None) and model is None:
        raise InputError(
            "--set and --budget are about the calls of an endpoint; give --model openai:URL#NAME with them"
        )
    with open_project(folder, database, project) as (store, found):
        if model is not None:
            spent = {} if budget is None else {"budget": budget}
            proposer = by_endpoint(model, found.protocol.language, **parse_map("--set", settings), **spent)
        elif generator is not None:
            proposer = by_function(generator)
        else:
            pairs = open_pairs(str(examples), reading=reading, limit=None)
            proposer = by_examples(pairs, f"examples {examples}")
        with store.read() as tx:
            wanted = len(empty_places(tx, found))
        with progress("writing suggestions", wanted, in_bytes=False) as advance:
            added = propose(store, found.id, proposer, told=advance)
        with store.read() as tx:
            missing = len(empty_places(tx, found))
    usage = proposer.usage()
    if as_json:
        print_json({"added": added, "missing": missing, "source": proposer.source, "usage": usage or None})
        return
    typer.echo(f"{added:,} suggestions by {proposer.source}; {missing:,} places have none")
    if usage:
        tokens = f"{usage['tokens_in']:,} tokens sent and {usage['tokens_out']:,} received"
        typer.echo(f"{usage['calls']:,} calls, {usage['cached']:,} from the cache; {tokens}; cost {usage['cost']:,.4f}")
        if usage["unanswered"].get("budget"):
            typer.echo(
                f"{usage['unanswered']['budget']:,} were not asked, as the budget was used up; give the command again "
                "with a larger --budget to go on"
            )


@app.command("pilot")
def pilot_command(
    folder: FolderArgument,
    contexts: Annotated[
        int | None,
        typer.Option("--contexts", min=1, help="Contexts of the round; by default those that none has used."),
    ] = None,
    fooling: Annotated[float, typer.Option("--fooling", help="Share of tries that fool the model.")] = 0.25,
    agreement: Annotated[
        float, typer.Option("--agreement", help="Share of judgements that confirm the writer.")
    ] = 0.85,
    seconds_per_try: Annotated[float, typer.Option("--seconds-per-try", help="Seconds that a try takes.")] = 60.0,
    seconds_per_judgement: Annotated[
        float, typer.Option("--seconds-per-judgement", help="Seconds that a judgement takes.")
    ] = 20.0,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Estimate what a round will cost and take: simulated people play it on a copy, and nothing is left of it."""
    require_collect()
    from goldlabel.rounds.pilot import Assumptions, run_pilot

    assumptions = Assumptions(
        fooling=fooling,
        agreement=agreement,
        seconds_per_try=seconds_per_try,
        seconds_per_judgement=seconds_per_judgement,
    )
    with open_project(folder, database, project) as (store, found), progress("simulating", None, in_bytes=False):
        pilot = run_pilot(store, found.id, contexts=contexts, assumptions=assumptions, seed=seed)
    show(pilot, as_json)


@app.command("report")
def report_command(
    folder: FolderArgument,
    output: Annotated[
        Path, folder_option("Folder to write; what was trained there for --compare is not trained again.")
    ],
    beside: Annotated[
        list[str] | None,
        typer.Option("--beside", metavar="PATH", help="Pairs to judge models on beside the rounds; several allowed."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="MODEL",
            help="Train this model to compare what teaches more: the rounds or plain data, verified pairs or not.",
        ),
    ] = None,
    plain: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="PATH[:N]", help="Plain pairs that --compare trains on, all or N; several allowed."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="With --compare: train with so many seeds.")] = 3,
    project: ProjectOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the figures of all rounds, and how well every model so far does on every round's test set."""
    require_collect()
    from goldlabel.bench import BenchProgress
    from goldlabel.rounds import write_report
    from goldlabel.rounds.comparisons import Comparison

    if plain and compare is None:
        raise InputError("--with is trained on by the model that --compare names; give both")
    comparison = None
    if compare is not None:
        samples = [parse_sample(text) for text in plain or []]
        comparison = Comparison(
            model=compare,
            plain=[open_pairs(path, {}, limit=None) for path, _, _ in samples],
            sizes=[size for _, size, _ in samples],
            seeds=seeds,
        )
    try:
        with (
            open_project(folder, database, project) as (store, found),
            display_steps(1) as on_step,
            progress("measuring", None, in_bytes=False) as bar,
        ):
            told = BenchProgress(on_pairs=bar, on_phase=bar.begin, on_step=on_step)
            report = write_report(store, found.id, output, beside=beside or (), comparison=comparison, progress=told)
    except KeyboardInterrupt:
        note(f"goldlabel: interrupted; give the same command once more to go on with {output}")
        raise SystemExit(INTERRUPTED) from None
    show(report, as_json, output=str(output))


@app.command("compare")
def compare_command(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Pairs with rounds or conditions: a name or a path.")],
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Compare by a column, by meta.FIELD, or by several: a,b. By default by round and condition, as far as "
            "there are any.",
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare rounds and protocols of any dataset: hypothesis-only accuracy, telling words, agreement."""
    from goldlabel.rounds.protocols import compare_protocols

    pairs = open_pairs(path, {}, limit=None)
    with progress("comparing", len(pairs), in_bytes=False) as bar:
        compared = compare_protocols(pairs, by, seed=seed, advance=bar)
    show(compared, as_json)


@app.command("errors")
def errors_command(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Pairs with experts' tags and stored predictions.")],
    as_json: JsonOption = False,
) -> None:
    """Show how often models were wrong by round and expert's tag, from predictions that came with the data (ANLI)."""
    from goldlabel.rounds.stored import stored_errors

    show(stored_errors(open_pairs(path, {}, limit=None)), as_json)


def _amount(option: str, text: str | None) -> Decimal | None:
    from goldlabel.collect.money.amounts import parse_amount

    amount = None if text is None else parse_amount(text)
    if text is not None and amount is None:
        raise InputError(f"{option} {text!r} is no amount of money; give digits with up to four places, such as 0.30")
    return amount


def _options(model: str, seed: int, settings: Mapping[str, str]) -> TrainOptions:
    """Read options of training, and those of the model."""
    from goldlabel.models.options import parse_options
    from goldlabel.train.options import OPTION_NAMES, TrainOptions, change_options, model_options, parse_field

    own = {name: value for name, value in settings.items() if name not in OPTION_NAMES}
    of_training = {name: parse_field(name, value) for name, value in settings.items() if name in OPTION_NAMES}
    return change_options(TrainOptions(seed=seed), of_training | parse_options(own, model_options(model), model))

"""``goldlabel audit``: what the labels give away, and other faults of a dataset."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.loading import MODEL_HELP, asks_model, tell_usage
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
)
from goldlabel.cli.reading import ReadingOptions, reads_files, with_options
from goldlabel.cli.work import WorkOptions, does_pieces
from goldlabel.errors import InputError

if TYPE_CHECKING:
    from goldlabel.audit import Audit, AuditOptions, Fit
    from goldlabel.evaluate.model_audit import ModelAudit
    from goldlabel.pairs import Pairs

FAILED = 1
_STEPS = 7


def measure_options(
    by: ByOption = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", help="words, characters, letters, jieba or jieba-search; by default by language."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many words to list by PMI.")] = 10,
    smoothing: Annotated[float, typer.Option("--smoothing", min=0, help="Added to counts for PMI.")] = 10.0,
    count: Annotated[str, typer.Option("--count", help="What PMI counts: documents or tokens.")] = "documents",
    level: Annotated[float, typer.Option("--level", help="Confidence of every interval.")] = 0.95,
    fdr: Annotated[float, typer.Option("--fdr", help="Rate of false discoveries among features.")] = 0.05,
    folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation.")] = 5,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--hypothesis-only",
            metavar="NAME",
            help="Also cross-validate this model without the premise, such as cbow; may be given several times.",
        ),
    ] = None,
    near: Annotated[
        bool | None, typer.Option("--near/--no-near", help="Look for near-duplicates; by default up to 100,000 pairs.")
    ] = None,
    label_errors: Annotated[
        str | None, typer.Option("--label-errors", help="Rank label errors by this model, cross-validated on pairs.")
    ] = None,
    probabilities: Annotated[
        str | None,
        typer.Option(
            "--probabilities",
            metavar="PATH",
            help="A model's probabilities, for label errors, and of several epochs for cartography: a file of "
            "'goldlabel predict', a folder of several, or a run folder.",
        ),
    ] = None,
    seed: SeedOption = 0,
) -> dict[str, Any]:
    """Return what ``AuditOptions`` takes."""
    return {**locals(), "models": tuple(models or ())}


@with_options(measure_options, "measures")
@asks_model
@does_pieces
@reads_files
def audit_command(
    path: PathArgument,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="Another dataset to look for leaks into; may be given several times."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help=f"Also audit a model on these pairs: half of the input, each artifact found. {MODEL_HELP}"
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option("--split", help="What --model is judged by; by default test, or the only one that the data has."),
    ] = None,
    aflite: Annotated[bool, typer.Option("--aflite", help="Also write what AFLite leaves, into -o DIR.")] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on", help="Exit with 1 if this holds, such as hypothesis_only_gain>0.15; several allowed."
        ),
    ] = None,
    output: Annotated[Path | None, folder_option("Folder for the page, the tables and the hard subset.")] = None,
    *,
    measures: dict[str, Any],
    loading: dict[str, Any],
    work: WorkOptions,
    reading: ReadingOptions,
    limit: LimitOption = None,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Audit a dataset: artifacts in the hypotheses, overlap, leaks, tags; with -o also as a page."""
    from goldlabel.audit import AuditOptions, parse_bound

    if output is not None:
        from goldlabel.report.audit_page import check_folder

        check_folder(output)
    bounds = [parse_bound(text) for text in fail_on or []]
    if model is not None:
        _check_model(model)
    if aflite and output is None:
        raise InputError("--aflite writes a dataset; say where with -o DIR")
    options = AuditOptions(**measures, curve=output is not None, agreement=output is not None)
    if work.chosen and not options.trained:
        raise InputError(f"{work.chosen} is for models that are fitted; ask for one, or leave it out")
    pairs, *others = (open_pairs(name, reading, limit=limit) for name in (path, *(against or ())))
    result = _audit(pairs, others, options, work)
    audited = None if model is None else _audit_model(model, result, split, loading)
    more: dict[str, Any] = {}
    lines = [] if output is None else _write(result, audited, output, more, aflite)
    if as_json:
        print_json(result.to_dict() | ({"model": audited.to_dict()} if audited else {}) | more)
    else:
        _print(result, audited, lines, most_rows(print_all))
    tripped = [bound for bound in bounds if bound.trips(result)]
    if tripped:
        reasons = [f"{bound} ({bound.measure} is {result.measures()[bound.measure]:.4g})" for bound in tripped]
        note(f"goldlabel: the audit fails on {'; '.join(reasons)}")
        raise typer.Exit(FAILED)


def _audit(pairs: Pairs, others: list[Pairs], options: AuditOptions, work: WorkOptions) -> Audit:
    from goldlabel.audit import audit

    with (
        work.open() if options.trained else nullcontext() as executor,
        progress(f"auditing {pairs.card.name}", _STEPS, in_bytes=False) as advance,
    ):
        return audit(
            pairs,
            against=others,
            options=options,
            fit=_fit() if options.trained else None,
            advance=lambda _: advance(1),
            executor=executor,
            resume=True,
        )


def _audit_model(model: str, result: Audit, split: str | None, loading: dict[str, Any]) -> ModelAudit:
    from goldlabel.model_audit import audit_model

    with progress(f"asking {model}", None, in_bytes=False) as advance:
        audited = audit_model(model, result, split=split, on_pairs=advance, **loading)
    for line in audited.notes:
        note(line)
    tell_usage(audited.usage)
    return audited


def _write(result: Audit, audited: ModelAudit | None, output: Path, more: dict[str, Any], aflite: bool) -> list[str]:
    """Write the folder, add to ``more`` what lies in it, and return lines that say so."""
    from goldlabel.audit import AFLite
    from goldlabel.report.audit_page import AFLITE, write_audit

    more["output"] = str(output)
    lines = [f"output: {output}"]
    split = result.pairs.split(AFLite(), seed=result.options.seed) if aflite else None
    if split is not None:
        more["aflite"] = split.to_dict() | {"output": str(output / AFLITE)}
        lines.append(f"aflite: {split.title}: {output / AFLITE}")
    write_audit(result, output, model=audited, filtered=split.pairs if split else None, **more)
    return lines


def _check_model(model: str) -> None:
    """Refuse what is no trained model, before anything is computed."""
    from goldlabel.models import MODELS
    from goldlabel.models.loading import check_reference

    if model in MODELS and not Path(model).exists():
        raise InputError(
            f"--model {model}: is not trained; give the folder of a run, or let --hypothesis-only {model} "
            "cross-validate it without the premise"
        )
    check_reference(model)


def _fit() -> Fit:
    from goldlabel.train import fit_model

    return fit_model


def _print(result: Audit, audited: ModelAudit | None, lines: list[str], most: int | None) -> None:
    from goldlabel.metrics import in_percent

    typer.echo(result.title)
    print_table(result.table.columns, result.table.iter_rows(), most=most)
    typer.echo("")
    for number, finding in enumerate(result.findings, start=1):
        examples = ", ".join(example.id for example in finding.examples[:3])
        typer.echo(f"{number:2}. {finding.text}{f' See {examples}.' if examples else ''}")
    if not result.findings:
        typer.echo("Nothing stands out.")
    for name, judgement in result.models.items():
        if judgement:
            typer.echo(f"{name} without the premise: {in_percent(judgement.accuracy)} right")
    if result.label_errors:
        typer.echo(result.label_errors.title)
    if result.cartography:
        typer.echo(result.cartography.summary)
    if audited is not None:
        _print_model(audited)
    for line in lines:
        typer.echo(line)


def _print_model(audited: ModelAudit) -> None:
    typer.echo(f"\n{audited.title}")
    for table in (audited.table, audited.artifact_table):
        if len(table):
            print_table(table.columns, table.iter_rows())
    if audited.untested:
        typer.echo(f"{audited.untested} more artifacts are carried by too few of these pairs, or not by too few")
    for sentence in audited.findings:
        typer.echo(sentence)

"""What the commands that ask a model share: how it is named and loaded, and what it cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.output import note, parse_map
from goldlabel.cli.reading import with_options
from goldlabel.messages import many

if TYPE_CHECKING:
    from goldlabel.models.endpoint import EndpointSummary

MODEL_HELP = "A run folder, hf:NAME, openai:URL#MODEL, module:function, or a file of predictions."
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu, cuda or auto.")]
PrecisionOption = Annotated[str, typer.Option("--precision", help="fp32, tf32, bf16 or auto; encoders: fp16, int8.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of the model; several allowed.")
]
BudgetOption = Annotated[
    float | None, typer.Option("--budget", min=0, help="The most that an endpoint may cost, by its prices (--set).")
]
LevelOption = Annotated[float, typer.Option("--level", help="Confidence level of intervals.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N pairs of the split.")]
SplitOption = Annotated[
    str | None,
    typer.Option("--split", help="Use this split; by default test, or the only one that the data has."),
]


def loading_options(
    device: DeviceOption = "auto",
    precision: PrecisionOption = "fp32",
    settings: SetOption = None,
    budget: BudgetOption = None,
) -> dict[str, Any]:
    """Return what ``load_model`` takes."""
    more = {} if budget is None else {"budget": budget}
    return {"device": device, "precision": precision, **parse_map("--set", settings), **more}


def asks_model(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of ``loading_options``, in the place of its parameter ``loading``."""
    return with_options(loading_options, "loading")(command)


def tell_usage(usage: EndpointSummary | None) -> None:
    """Say what an endpoint cost, and why pairs have no answer."""
    if usage is None:
        return
    note(f"{usage.title}; {usage.calls:,} calls, {usage.cached:,} more from the cache")
    for count, reason in usage.reasons:
        note(f"{many(count, 'pair has', 'pairs have')} no answer: {reason}")

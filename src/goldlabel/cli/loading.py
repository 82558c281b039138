"""What the commands that ask a model share: how to load it, and how to open the pairs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from goldlabel.cli.output import parse_map

MODEL_HELP = "A run folder, hf:NAME, openai:URL#MODEL, module:function, or a file of predictions."
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu, cuda or auto.")]
PrecisionOption = Annotated[str, typer.Option("--precision", help="fp32, tf32, bf16 or auto; encoders: fp16, int8.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of the model; several allowed.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N pairs of the split.")]
SplitOption = Annotated[
    str | None,
    typer.Option("--split", help="Use this split; by default test, or the only one that the data has."),
]


def loading_options(device: str, precision: str, settings: list[str] | None) -> dict[str, Any]:
    """Return what ``load_model`` takes."""
    return {"device": device, "precision": precision, **parse_map("--set", settings)}

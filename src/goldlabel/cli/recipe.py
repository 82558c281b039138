"""The options that change a model's published recipe, and say on what and from where it is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from goldlabel.cli.reading import with_options

RecipeOptions = dict[str, Any]
"""Fields of ``TrainOptions``."""
PARAMETER = "recipe"
"""The parameter of a command in whose place the options stand."""


def recipe_options(
    epochs: Annotated[int | None, typer.Option("--epochs", help="Epochs at most.")] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="Pairs in a batch.")] = None,
    batch_tokens: Annotated[
        int | None, typer.Option("--batch-tokens", help="Tokens in a batch, padding counted, instead of pairs.")
    ] = None,
    accumulate: Annotated[int, typer.Option("--accumulate", help="Batches to a step of the optimiser.")] = 1,
    optimiser: Annotated[str | None, typer.Option("--optimiser", help="adam, adamw, adadelta, adagrad or sgd.")] = None,
    lr: Annotated[float | None, typer.Option("--lr", help="Learning rate.")] = None,
    schedule: Annotated[
        str | None,
        typer.Option("--schedule", help="How the learning rate falls from step to step: constant, linear or cosine."),
    ] = None,
    warmup: Annotated[
        float | None, typer.Option("--warmup", help="Share of all steps over which the learning rate rises from 0.")
    ] = None,
    floor: Annotated[
        float | None, typer.Option("--floor", help="Stop when the learning rate of an epoch falls below.")
    ] = None,
    l2: Annotated[
        float | None, typer.Option("--l2", help="Weight of the squared weights in the loss; with adamw, their decay.")
    ] = None,
    clip: Annotated[float | None, typer.Option("--clip", help="Largest norm of the gradients.")] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", help="Stop after so many epochs without a better dev accuracy.")
    ] = None,
    length: Annotated[int | None, typer.Option("--length", help="Tokens read of a sentence.")] = None,
    stop_on: Annotated[
        str, typer.Option("--stop-on", metavar="NAME", help="The dev set that decides, or mean for the mean over all.")
    ] = "mean",
    vectors: Annotated[
        str | None, typer.Option("--vectors", metavar="FILE", help="Word vectors: text, word2vec's .bin, or .npz.")
    ] = None,
    train_vectors: Annotated[
        bool | None,
        typer.Option("--train-vectors/--freeze-vectors", help="Train the given vectors, or leave them as they are."),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", help="words, characters, letters, jieba or jieba-search; by default by language."),
    ] = None,
    tagger: Annotated[str, typer.Option("--tagger", help="Tagger of parts of speech, for diin; by default none.")] = "",
    start: Annotated[
        str | None, typer.Option("--from", metavar="RUN", help="Start from the weights of a finished run.")
    ] = None,
    fixed: Annotated[
        bool,
        typer.Option("--fixed", help="Only score the weights of --from as a run (see goldlabel score); train nothing."),
    ] = False,
    device: Annotated[str, typer.Option("--device", help="cpu, cuda or auto.")] = "auto",
    precision: Annotated[str, typer.Option("--precision", help="fp32, tf32, bf16 or auto.")] = "auto",
) -> RecipeOptions:
    """Return what ``TrainOptions`` takes."""
    return {
        "epochs": epochs,
        "batch": batch,
        "batch_tokens": batch_tokens,
        "accumulate": accumulate,
        "optimiser": optimiser,
        "lr": lr,
        "schedule": schedule,
        "warmup": warmup,
        "floor": floor,
        "l2": l2,
        "clip": clip,
        "patience": patience,
        "length": length,
        "stop_on": stop_on,
        "vectors": vectors,
        "train_vectors": train_vectors,
        "tokenizer": tokenizer,
        "tagger": tagger,
        "start": start,
        "fixed": fixed,
        "device": device,
        "precision": precision,
    }


def follows_recipe(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of ``recipe_options``, in the place of its parameter ``recipe``."""
    return with_options(recipe_options, PARAMETER)(command)

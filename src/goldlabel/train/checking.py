"""Which options a model understands, and whether those given fit it and the data."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from goldlabel.errors import InputError
from goldlabel.models.model import find_member
from goldlabel.registry import suggest
from goldlabel.train.options import OPTION_NAMES, TrainOptions
from goldlabel.train.starting import check_start

if TYPE_CHECKING:
    from goldlabel.train.task import Task

_FOR_ALL = ("seed", "reads", "size", "stop_on", "device", "precision", "fixed", "options")
"""What every model understands, or what means nothing to a baseline."""
_ASKED = ("seed", "vectors", "hypothesis_only", "premise_only")
"""What a baseline's ``fit`` takes from ``TrainOptions`` and not from ``--set``."""


def is_network(member: Any) -> bool:
    """Whether the trainer fits a model; the others fit themselves."""
    return hasattr(member, "recipe")


def model_options(model: str) -> dict[str, Any]:
    """Return the names of a model's own options and their defaults."""
    member = find_member(model)
    known: dict[str, Any] = member.hyper_parameters() if is_network(member) else _fit_arguments(member)
    return known if is_network(member) else {name: known[name] for name in known if name not in _ASKED}


def check_task(task: Task, options: TrainOptions) -> None:
    """Refuse options that do not fit the model or the data, before anything is written."""
    names = [one.name for one in task.dev]
    if options.stop_on != "mean" and options.stop_on not in names:
        raise InputError(f"stop-on {options.stop_on!r} is no dev set; {suggest(options.stop_on, ['mean', *names])}")
    if options.fixed:
        return
    if options.size is not None and options.size > len(task.gold):
        raise InputError(f"{options.size:,} pairs were asked for and there are {len(task.gold):,}")
    known = model_options(task.model)
    for name in options.options:
        if name not in known:
            raise InputError(f"{task.model} has no option {name!r}; {suggest(name, [*known, *OPTION_NAMES])}")
    member = find_member(task.model)
    if is_network(member):
        _check_network(task.model, member, options)
    else:
        baseline_arguments(task, options)


def baseline_arguments(task: Task, options: TrainOptions) -> dict[str, Any]:
    """Return what a baseline's ``fit`` is called with; refuse what it does not understand."""
    known = _fit_arguments(find_member(task.model))
    given = {
        one.name: getattr(options, one.name)
        for one in fields(TrainOptions)
        if one.name not in _FOR_ALL and getattr(options, one.name) != one.default
    }
    strange = [name for name in given if name not in known] + ["vocabulary"] * bool(task.others)
    if strange:
        option = {"start": "from"}.get(strange[0], strange[0].replace("_", "-"))
        raise InputError(f"{task.model} is no network: --{option} means nothing to it")
    # A model with a premise-only form and no other reads the hypothesis alone anyway.
    always = options.reads == "hypothesis" and "hypothesis_only" not in known and "premise_only" in known
    if options.reads != "both" and not always:
        if f"{options.reads}_only" not in known:
            raise InputError(f"{task.model} has no {options.reads}-only form")
        given[f"{options.reads}_only"] = True
    return given | ({"seed": options.seed} if "seed" in known else {}) | dict(options.options)


def _check_network(model: str, network: Any, options: TrainOptions) -> None:
    from goldlabel.models.network import resolve_device
    from goldlabel.models.precision import resolve_precision

    resolve_precision(options.precision, resolve_device(options.device))
    if options.tagger and "tags" not in network.fields:
        raise InputError(f"{model} does not use parts of speech; leave --tagger out")
    if options.train_vectors is not None and options.vectors is None and options.start is None:
        choice = "train" if options.train_vectors else "freeze"
        raise InputError(f"--{choice}-vectors is about vectors that are given; pass --vectors FILE, or leave it out")
    if options.start is not None:
        check_start(options.start, model)


def _fit_arguments(member: Any) -> dict[str, Any]:
    parameters = inspect.signature(member.fit).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}

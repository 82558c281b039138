"""Which options go to which of the models that are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from goldlabel.errors import InputError
from goldlabel.evaluate.model_choice import ModelChoice, parse_choice
from goldlabel.models import Model
from goldlabel.models.model import find_member
from goldlabel.models.options import own_options, parse_options
from goldlabel.registry import suggest
from goldlabel.train.grid import read_grid
from goldlabel.train.options import OPTION_NAMES, model_options, parse_field

_OF_WORDS = ("tokenizer", "tagger", "vectors", "train_vectors")
"""What a pre-trained encoder brings itself."""


def choose_models(
    models: Sequence[str] | Mapping[str, str | Model],
    settings: Mapping[str, Any],
    loading: Mapping[str, Any],
    grids: Mapping[str, str] | None = None,
) -> tuple[ModelChoice, ...]:
    """Read the models, and give each the options that it knows and the grid of its name."""
    if isinstance(models, Mapping):
        choices = [
            replace(
                parse_choice(model) if isinstance(model, str) else ModelChoice(name=name, reference=model), name=name
            )
            for name, model in models.items()
        ]
    else:
        choices = [parse_choice(text) for text in models]
    used: set[str] = set()
    configured = []
    for choice in choices:
        own = {
            key.removeprefix(f"{choice.name}."): value
            for key, value in settings.items()
            if key.startswith(f"{choice.name}.")
        }
        used |= {f"{choice.name}.{key}" for key in own}
        if not choice.is_trained:
            more = loading if isinstance(choice.reference, str) else {}
            configured.append(choice.with_options({**more, **own}))
            continue
        for_all = {key: value for key, value in settings.items() if "." not in key and _knows(choice, key)}
        used |= set(for_all)
        parsed = {key: _parse(choice, key, value) for key, value in {**for_all, **own}.items()}
        configured.append(choice.with_options({"device": loading["device"], **parsed}))
    if unused := [key for key in settings if key not in used]:
        raise InputError(
            f"--set {unused[0]}: none of the models that are trained knows this option; one that is loaded is told by "
            f"its name, --set NAME.{unused[0]}=…"
        )
    return tuple(_with_grids(configured, grids or {}))


def _with_grids(choices: Sequence[ModelChoice], grids: Mapping[str, str]) -> Iterator[ModelChoice]:
    trained = [choice.name for choice in choices if choice.is_trained]
    for name in grids:
        if name not in trained:
            raise InputError(f"--grid {name}: no model that is trained is called so; {suggest(name, trained)}")
    for choice in choices:
        grid = grids.get(choice.name)
        parsed = grid and choice.model and read_grid(grid, choice.model, choice.options.get("debias"))
        yield replace(choice, grid=parsed or None)


def _knows(choice: ModelChoice, option: str) -> bool:
    """Say whether a model that is trained can be told an option; a baseline knows few of the trainer's, an encoder not
    all of them."""
    assert choice.model is not None
    member = find_member(choice.model)
    if option in model_options(choice.model):
        return True
    if not member.fitted_by_trainer:
        return option in OPTION_NAMES and option in own_options(member.fit)
    return option in OPTION_NAMES and not (member.kind == "encoder" and option in _OF_WORDS)


def _parse(choice: ModelChoice, option: str, value: Any) -> Any:
    """Read what the command line gives as a value of the option's kind."""
    assert choice.model is not None
    if not isinstance(value, str):
        return value
    if option in OPTION_NAMES:
        return parse_field(option, value)
    own = model_options(choice.model)
    return parse_options({option: value}, own, choice.model)[option] if option in own else value

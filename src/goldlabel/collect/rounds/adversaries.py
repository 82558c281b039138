"""Adversaries by the names of models: what a person types becomes what a round keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from goldlabel.collect.refusals import Invalid
from goldlabel.collect.rounds.rounds import Adversary
from goldlabel.models.loading import ENDPOINT, check_reference

SECONDS = Adversary.seconds


def named_adversaries(references: Sequence[str]) -> list[Adversary]:
    """Return adversaries of models by their names; one that no model has the form of is refused.

    Whoever answers tries works in another folder, so a path is kept as it is reached from anywhere.
    """
    for reference in references:
        check_reference(reference)
    return [Adversary(name=one, reference=_from_anywhere(one), options={}) for one in references]


def with_limits(
    adversaries: Sequence[Adversary],
    *,
    seconds: float = SECONDS,
    fallback: str | None = None,
    options: Mapping[str, str] | None = None,
) -> list[Adversary]:
    """Return adversaries that have so many ``seconds``, and for whom ``fallback`` answers where they do not.

    The fallback is drawn for no try itself, unless it is one of the adversaries. ``options`` are for those that are
    endpoints: prices, a budget, and whatever else these have.
    """
    chosen = [*adversaries]
    if fallback is not None and fallback not in [one.name for one in adversaries]:
        chosen += [replace(one, stands_in=True) for one in named_adversaries([fallback])]
    endpoints = [one.name for one in chosen if one.reference.startswith(ENDPOINT)]
    if options and not endpoints:
        raise Invalid("no_endpoint", options=", ".join(options))
    for reference in endpoints if options else ():
        from goldlabel.models.endpoint import Endpoint

        Endpoint.from_reference(reference, **dict(options or {}))  # refuses what it does not have
    return [
        replace(
            one,
            seconds=seconds,
            fallback=None if one.name == fallback else fallback,
            options=dict(options or {}) if one.name in endpoints else one.options,
        )
        for one in chosen
    ]


def _from_anywhere(reference: str) -> str:
    return str(Path(reference).resolve()) if Path(reference).exists() else reference

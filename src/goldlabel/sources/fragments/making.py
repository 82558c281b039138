"""Making pairs: what was asked for is checked, planned, and written a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs
from goldlabel.registry import suggest
from goldlabel.seeds import check_seed
from goldlabel.sources.fragments.artifact import Artifact, Recipe, make_recipe, parse_artifact, plant
from goldlabel.sources.fragments.cells import cells
from goldlabel.sources.fragments.drawing import capacity, plan_drawing
from goldlabel.sources.fragments.grammar import LANGUAGES
from goldlabel.sources.fragments.knowledge import axioms
from goldlabel.sources.fragments.phenomena import PHENOMENA

NAME = "fragments"
_TRIAL = 24_000
_SPARE = 1.1


def make_fragments(
    language: str,
    pairs: int,
    *,
    seed: int = 0,
    phenomena: Sequence[str] | None = None,
    artifact: Artifact | str | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield generated pairs as records, block by block; no two are alike, and memory stays flat.

    The labels are true by construction, equally frequent within each phenomenon, and cannot be told from the
    hypothesis alone, unless ``artifact`` (``"negation:contradiction:0.8"``, see the module ``artifact``) makes them
    so. The same arguments give the same pairs on every machine; with another number of pairs, other pairs are
    drawn. A pair's id depends on the pair alone. Everything asked for is checked before the first block.
    """
    names = check_request(language, pairs, seed, phenomena)
    planted = parse_artifact(artifact) if isinstance(artifact, str) else artifact
    if planted is None:
        return plan_drawing(language, pairs, names, seed).blocks()
    return _make_planted(language, pairs, names, seed, planted)


def fragment_pairs(
    language: str,
    pairs: int,
    *,
    seed: int = 0,
    phenomena: Sequence[str] | None = None,
    artifact: Artifact | str | None = None,
) -> Pairs:
    """Return what ``make_fragments`` makes as a dataset in memory."""
    blocks = make_fragments(language, pairs, seed=seed, phenomena=phenomena, artifact=artifact)
    card = fragments_card(language, pairs, seed=seed, phenomena=phenomena, artifact=artifact)
    return Pairs(pl.concat(blocks).lazy(), card)


def fragments_card(
    language: str,
    pairs: int,
    *,
    seed: int = 0,
    phenomena: Sequence[str] | None = None,
    artifact: Artifact | str | None = None,
) -> Card:
    """Return the card of generated pairs, with what it takes to make them again."""
    request = f"language {language}, {pairs} pairs, seed {seed}, phenomena {', '.join(phenomena or PHENOMENA)}"
    return Card(
        name=f"{NAME}-{language}",
        languages=(language,),
        description=(
            "Pairs generated from hand-written grammars, with labels that are true by construction."
            + (f" An artifact was planted on purpose: {artifact}." if artifact else "")
        ),
        licence="Apache-2.0",
        history=(f"made by fragments: {request}{f', artifact {artifact}' if artifact else ''}",),
    )


def check_request(language: str, pairs: int, seed: int, phenomena: Sequence[str] | None) -> tuple[str, ...]:
    """Refuse what cannot be made; return the phenomena asked for."""
    if language not in LANGUAGES:
        raise InputError(f"fragments: there is no language {language!r}; {suggest(language, list(LANGUAGES))}")
    names = tuple(dict.fromkeys(PHENOMENA if phenomena is None else phenomena))
    for name in names:
        if name not in PHENOMENA:
            raise InputError(f"fragments: there is no phenomenon {name!r}; {suggest(name, list(PHENOMENA))}")
    if not names:
        raise InputError(f"fragments: no phenomenon was given; allowed: {', '.join(PHENOMENA)}")
    if pairs < 1:
        raise InputError(f"fragments: {pairs} pairs cannot be made; ask for at least 1")
    check_seed(seed)
    most = sum(capacity(language, name) for name in names)
    if pairs > most:
        raise InputError(
            f"fragments: {pairs:,} different pairs are more than {', '.join(names)} can give ({language}); "
            f"the most is {most:,}"
        )
    return names


def logical_forms(identifier: str) -> tuple[str, str, list[str]]:
    """Return the logical forms of a generated pair's premise and hypothesis, and what both take for granted.

    ``identifier`` is the pair's id. The third value holds the sentences' presuppositions and the axioms about
    their words; ``goldlabel.sources.fragments.semantics.verdict`` takes all three.
    """
    try:
        language, phenomenon, place, number = identifier.split("-")
        cell = cells(language, phenomenon)[int(place)]
        filling = cell.fill(np.array([int(number)]))
    except (ValueError, KeyError, IndexError) as error:
        raise InputError(
            f"{identifier!r} is not the id of a generated pair, such as en-negation-003-0000017"
        ) from error
    sides = (cell.rule.premise, cell.rule.hypothesis)
    premise, hypothesis = (cell.logic(side, side.form.logic, filling, 0) for side in sides)
    granted = [cell.logic(side, side.form.given, filling, 0) for side in sides if side.form.given]
    return premise, hypothesis, [*granted, *axioms(language, (premise, hypothesis))]


def _make_planted(
    language: str, pairs: int, names: tuple[str, ...], seed: int, artifact: Artifact
) -> Iterator[pl.DataFrame]:
    most = sum(capacity(language, name) for name in names)
    trial = pl.concat(plan_drawing(language, min(_TRIAL, most), names, seed).blocks())
    recipe = make_recipe(artifact, language, names, trial)
    if pairs > (possible := int(most * recipe.gain / _SPARE)):
        raise InputError(
            f"fragments: {pairs:,} different pairs with {artifact} are more than {', '.join(names)} can give "
            f"({language}); the most is about {possible:,}"
        )
    return _plant(language, pairs, names, seed, recipe)


def _plant(language: str, pairs: int, names: tuple[str, ...], seed: int, recipe: Recipe) -> Iterator[pl.DataFrame]:
    most = sum(capacity(language, name) for name in names)
    supply = min(most, int(pairs / recipe.gain * _SPARE) + _TRIAL)
    yield from plant(plan_drawing(language, supply, names, seed).blocks(), recipe, pairs)

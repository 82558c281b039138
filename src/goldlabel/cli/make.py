"""``goldlabel data make``: pairs of the embedded generator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.card import Details, makes_dataset_in_a_language
from goldlabel.cli.output import JsonOption, SeedOption, folder_option, progress, show
from goldlabel.registry import one_of

GENERATORS = ("fragments",)


@makes_dataset_in_a_language
def make_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"The generator: {', '.join(GENERATORS)}.")],
    language: Annotated[str, typer.Option("--language", help="Language of the pairs: en or zh.")] = "en",
    pairs: Annotated[int, typer.Option("--pairs", help="How many different pairs to make.")] = 10_000,
    phenomena: Annotated[
        str | None,
        typer.Option(
            "--phenomena",
            help="Only these, joined by commas, of: negation, quantifiers, comparatives, numbers, conditionals, "
            "conjunction, coreference, temporal, factivity, voice, hypernyms, adjectives.",
        ),
    ] = None,
    artifact: Annotated[
        str | None,
        typer.Option(
            "--artifact",
            help="Plant an artifact, FEATURE:LABEL:STRENGTH, such as negation:contradiction:0.8: of the pairs whose "
            "hypothesis carries FEATURE, the share STRENGTH has LABEL. Features: negation, number, length, overlap, "
            "quantifier, word=W.",
        ),
    ] = None,
    output: Annotated[Path | None, folder_option("Folder to write; by default NAME-LANGUAGE.")] = None,
    *,
    details: Details,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Make pairs from the embedded grammars, with labels that are true by construction."""
    from goldlabel.pairs.card import rewrite_card
    from goldlabel.sources.fragments import write_fragments

    one_of("NAME", name, GENERATORS)
    with progress(f"making {name}", pairs, in_bytes=False) as advance:
        made = write_fragments(
            output or Path(f"{name}-{language}"),
            language,
            pairs,
            seed=seed,
            phenomena=None if phenomena is None else [word.strip() for word in phenomena.split(",")],
            artifact=artifact,
            on_pairs=advance,
        )
    rewrite_card(Path(made.output), **details)
    show(made, as_json, output=made.output)

"""What a dataset says of itself: the options wherever one is made, and ``goldlabel data card``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.output import JsonOption, parse_map, print_json, print_table
from goldlabel.cli.reading import with_options
from goldlabel.errors import InputError
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.pairs.card import Card
    from goldlabel.pairs.card import Details as Details
else:  # only a type checker asks what is in them
    Details = dict

NameOption = Annotated[str | None, typer.Option("--name", help="Name of the dataset on its card.")]
LicenceOption = Annotated[str | None, typer.Option("--licence", help="Licence of the dataset, such as CC BY 4.0.")]
LanguageOption = Annotated[str | None, typer.Option("--language", help="Language of pairs that name none, such as en.")]
DescriptionOption = Annotated[str | None, typer.Option("--description", help="What the dataset is, in a sentence.")]
CitationOption = Annotated[str | None, typer.Option("--citation", help="How to cite the dataset.")]
SETTABLE = ("name", "licence", "language", "description", "citation", "source", "author")


def card_options(
    card_name: NameOption = None,
    licence: LicenceOption = None,
    language: LanguageOption = None,
    description: DescriptionOption = None,
    citation: CitationOption = None,
) -> Details:
    """Return what was said of the dataset."""
    return {**_known_language(card_name, licence, description, citation), "language": language}


def _known_language(
    card_name: NameOption = None,
    licence: LicenceOption = None,
    description: DescriptionOption = None,
    citation: CitationOption = None,
) -> Details:
    return {"name": card_name, "licence": licence, "description": description, "citation": citation}


def makes_dataset(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say what the dataset is, in the place of its parameter ``details``."""
    return with_options(card_options, "details")(command)


def makes_dataset_in_a_language(command: Callable[..., None]) -> Callable[..., None]:
    """Do the same for a command that has a language of its own."""
    return with_options(_known_language, "details")(command)


def refuse_details(details: Details, why: str) -> None:
    """Refuse to be told what a dataset is where none is made."""
    said = [name for name, value in details.items() if value]
    if said:
        raise InputError(f"--{said[0]} is for the card of a dataset, and {why}; leave it out")


def card_command(
    folder: Annotated[Path, typer.Argument(metavar="PATH", help="A dataset folder.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help=f"Say something on the card: {', '.join(SETTABLE)}."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a dataset's card, or change what it says."""
    from goldlabel.pairs.card import read_card, rewrite_card

    changes = parse_map("--set", settings)
    for key in changes:
        one_of("--set", key, SETTABLE)
    card = rewrite_card(folder, **changes) if changes else read_card(folder)
    if as_json:
        print_json(card.to_dict())
    else:
        print_table(["", card.name], _lines(card))


def _lines(card: Card) -> list[tuple[str, object]]:
    from goldlabel.pairs.card import AUTHORS

    lines: list[tuple[str, object]] = [
        ("licence", card.licence),
        ("languages", ", ".join(card.languages)),
        ("description", card.description),
        ("citation", card.paper),
        ("source", card.source),
        ("author's label", AUTHORS[card.author]),
        ("labels", ", ".join(card.label_space.labels)),
        ("pairs", sum(entry.pairs for entry in card.files)),
    ]
    return [*lines, *((f"step {number}", step) for number, step in enumerate(card.history, 1))]

"""Semantic proto-roles: what an event does to those who take part in it. (White et al. 2017)

For each argument and property a hypothesis, worded as in the questionnaire of Reisinger et al. (2015). It is entailed
when the mean rating is 4 or more of 5 and most annotators find the property applicable.

- SPR2 (White et al. 2016): ``protoroles_eng_ud*.tsv`` with the sentences of the English Web Treebank, as event
  factuality takes them. Pilots are left out, and so is the table of adjuncts, which asks other questions.
- SPR1 (Reisinger et al. 2015): ``protoroles_eng_pb*.tsv``. Its text is the Penn Treebank's, which is licensed: give
  along a CSV with ``Sentence.ID``, ``Pred.Token``, ``Arg.Pos``, ``sentence`` (tokens parted by spaces) and
  ``argument`` (the argument's words).

The pairs that White et al. published are of SPR1 and cannot be checked without that text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.gerunds import accusative, gerund, is_plural, nominative
from goldlabel.recast.reading import header_of, names_of, table_rows
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.treebank import join
from goldlabel.recast.web_treebank import Sentences, judgement_tables, treebank_place, treebank_sentences

ENTAILED_FROM = 4.0
TEMPLATES = {
    "awareness": "{Argument} {was} aware of being involved in the {event}",
    "change_of_location": "{Argument} changed location during the {event}",
    "change_of_possession": "{Argument} changed possession during the {event}",
    "change_of_state": "{Argument} {was} altered or somehow changed during or by the end of the {event}",
    "change_of_state_continuous": "The change in {argument} happened throughout the {event}",
    "changes_possession": "{Argument} changed possession during the {event}",
    "created": "{Argument} {was} created as a result of the {event}",
    "destroyed": "{Argument} {was} destroyed as a result of the {event}",
    "existed_after": "{Argument} existed after the {event} stopped",
    "existed_before": "{Argument} existed before the {event} began",
    "existed_during": "{Argument} existed during the {event}",
    "exists_as_physical": "{Argument} existed as a physical object",
    "instigation": "{Argument} caused the {event} to happen",
    "location_of_event": "{Argument} described the location of the {event}",
    "makes_physical_contact": "{Argument} made physical contact with someone or something else involved in the {event}",
    "manipulated_by_another": "{Argument} {was} manipulated by someone or something else during the {event}",
    "partitive": "Only a part or portion of {argument} was involved in the {event}",
    "predicate_changed_argument": "The {event} caused a change in {argument}",
    "sentient": "{Argument} {was} sentient",
    "stationary": "{Argument} {was} stationary during the {event}",
    "volition": "{Argument} chose to be involved in the {event}",
    "was_for_benefit": "The {event} happened for the benefit of {argument}",
    "was_used": "{Argument} {was} used in carrying out the {event}",
}
_COLUMNS = ("Split", "Sentence.ID", "Pred.Token", "Property", "Response", "Applicable")
_PLACE1 = ("Sentence.ID", "Pred.Token", "Arg.Pos")
_PLACE2 = ("Sentence.ID", "Pred.Token", "Arg.Tokens.Begin", "Arg.Tokens.End")
_TEXT_COLUMNS = (*_PLACE1, "sentence", "argument")
_RELATIVE = frozenset(["that", "what", "which", "who", "whom", "whose", "there"])
_DETERMINER = re.compile(r"(?:A|An|The|This|That|These|Those|My|Your|His|Her|Its|Our|Their)\s")

Key = tuple[str, ...]


@dataclass
class Argument:
    """An argument and, for each property, its ratings and whether it was found applicable."""

    where: str
    corpus: str
    split: str
    predicate: str
    ratings: dict[str, list[tuple[int, bool]]]


@dataclass(frozen=True)
class Text:
    """A sentence's tokens and an argument's."""

    sentence: Sequence[str]
    argument: Sequence[str]


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield a pair for each argument and property."""
    arguments_only = [file for file in files if not file.name.lower().startswith("adjunct")]
    tables = judgement_tables(arguments_only, ".tsv", _COLUMNS)
    if not tables:
        raise InputError(f"spr takes protoroles_eng_*.tsv and the sentences they rate; given: {names_of(files)}")
    sentences = treebank_sentences(files)
    own: dict[Key, Text] = {}
    for file in files:
        if file.name.lower().endswith(".csv"):
            own |= _own_texts(file)
    for table in tables:
        for key, argument in _arguments(table).items():
            text = own.get(key[1:]) if argument.corpus == "SPR1" else _treebank_text(key, argument, sentences)
            source_id = ":".join([argument.split, *key[1:]])
            if text is None:
                yield Skipped(source_id, "its sentence is not among those given")
            elif options.style == "plain" and _RELATIVE.intersection(map(str.lower, text.argument[:1])):
                yield Skipped(source_id, "its argument is a relative pronoun or a question word")
            else:
                sentence_id = f"{argument.split}:{key[1]}"
                yield from _pairs(text, argument, source_id, sentence_id, options)


def _arguments(table: InputFile) -> dict[Key, Argument]:
    """Gather the ratings of each argument, by its split, its sentence and its place there."""
    arguments: dict[Key, Argument] = {}
    corpus, place = ("SPR1", _PLACE1) if _PLACE1[-1] in header_of(table, "\t") else ("SPR2", _PLACE2)
    for line, row in table_rows(table, (*_COLUMNS, *place), delimiter="\t", quoted=False):
        if row["Property"] not in TEMPLATES:
            raise InputError(f"{table} line {line}: property {row['Property']!r} is not one of {', '.join(TEMPLATES)}")
        if row.get("Is.Pilot") == "True" or row["Response"] in ("nan", "NA"):
            continue
        if row["Response"] not in ("1", "2", "3", "4", "5"):
            raise InputError(f"{table} line {line}: response {row['Response']!r} is not a number from 1 to 5")
        key: Key = (row["Split"], *(row[name] for name in place))
        predicate = row.get("Pred.Lemma") or row.get("Roleset", "").partition(".")[0]
        argument = arguments.setdefault(key, Argument(f"{table} line {line}", corpus, row["Split"], predicate, {}))
        rating = (int(row["Response"]), row["Applicable"].lower() in ("yes", "true"))
        argument.ratings.setdefault(row["Property"], []).append(rating)
    return arguments


def _treebank_text(key: Key, argument: Argument, sentences: Sentences) -> Text | None:
    tokens = sentences.get((argument.split, treebank_place(argument.where, key[1])))
    if tokens is None:
        return None
    begin, end = key[3:]
    if not (begin.isdecimal() and end.isdecimal() and int(begin) <= int(end) < len(tokens)):
        raise InputError(
            f"{argument.where}: the argument {begin}–{end} is not in the sentence, which has {len(tokens)} tokens"
        )
    return Text(tokens, tokens[int(begin) : int(end) + 1])


def _own_texts(file: InputFile) -> dict[Key, Text]:
    return {
        (row["Sentence.ID"], row["Pred.Token"], row["Arg.Pos"]): Text(row["sentence"].split(), row["argument"].split())
        for _, row in table_rows(file, _TEXT_COLUMNS, filled=True)
    }


def _pairs(text: Text, argument: Argument, source_id: str, sentence_id: str, options: Options) -> Iterator[Recasting]:
    plain = options.style == "plain"
    premise = join(text.sentence) if plain else " ".join(text.sentence)
    words = _words(text.argument, argument.predicate, plain)
    for name, ratings in argument.ratings.items():
        mean = sum(rating for rating, _ in ratings) / len(ratings)
        applicable = 2 * sum(applies for _, applies in ratings) > len(ratings)
        parts = re.split(r"\{(\w+)\}", TEMPLATES[name])
        hypothesis = "".join(words[part] if number % 2 else part for number, part in enumerate(parts))
        yield Recasting(
            premise=premise,
            hypothesis=f"{hypothesis}." if plain else f"{hypothesis} .",
            label=ENTAILED if mean >= ENTAILED_FROM and applicable else NOT_ENTAILED,
            source_id=source_id,
            corpus=argument.corpus,
            licence="CC BY-SA 4.0",
            split=argument.split,
            group=premise if plain else sentence_id,
            where=argument.where,
            meta={"property": name, "ratings": [rating for rating, _ in ratings], "predicate": argument.predicate},
        )


def _words(argument: Sequence[str], predicate: str, plain: bool) -> Mapping[str, str]:
    phrase = join(argument) if plain else " ".join(argument)
    subject, inside = nominative(phrase), accusative(phrase)
    if _DETERMINER.match(inside):
        inside = inside[0].lower() + inside[1:]
    return {
        "Argument": subject[:1].upper() + subject[1:],
        "argument": inside,
        "was": "were" if is_plural(phrase) else "was",
        "event": gerund(predicate),
    }


RECASTERS.add(
    "spr",
    Recaster(
        name="spr",
        phenomenon="semantic proto-roles",
        title="Semantic proto-roles",
        paper="White et al. (2017), Inference is Everything, IJCNLP; Reisinger et al. (2015), TACL; "
        "White et al. (2016), Universal decompositional semantics, EMNLP",
        sources="protoroles_eng_ud*.tsv with the treebank's sentences; protoroles_eng_pb*.tsv with a csv of its text",
        recast=recast,
    ),
)

"""Your own table, recast without Python: a CSV, and a YAML file of templates and label rules.

.. code-block:: yaml

    corpus: station log            # goes into meta; by default the table's name
    licence: CC0                   # by default "not stated"
    labels: nli2                   # a label space; nli2 by default
    language: en                   # of the texts; by default as their script tells, else en
    id: number                     # the column that names a row; by default its line
    split: part                    # the column with train, dev or test; by default 80:10:10
    group: station                 # the column whose values must not be split apart
    premise: "The log says: {entry}"
    hypotheses:
      - text: "The {machine} was running."
        label: {column: state, equals: [on, idle], then: entailment, else: not_entailment}

A label is a word, or a rule over one column: ``map`` (value to label), ``equals`` (a value or a list), ``at_least``,
``at_most`` (numbers). ``then`` and ``else`` are ``entailment`` and ``not_entailment`` unless given; ``else: skip``
leaves the pair out. ``{{`` and ``}}`` stand for braces; ``{NAME}`` draws a first name, one for each row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.pairs.labels import LabelSpace, label_space
from goldlabel.pairs.languages import SAMPLE, detect_language
from goldlabel.recast.names import read_names
from goldlabel.recast.reading import choose, names_of, table_rows, text_rows
from goldlabel.recast.recaster import ENGLISH, ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.registry import suggest

SKIP = "skip"
YAML = (".yaml", ".yml")
TABLES = (".csv", ".tsv")
NAME = "NAME"
FIELDS = ("corpus", "licence", "labels", "language", "id", "split", "group", "premise", "hypotheses")
TESTS = ("map", "equals", "at_least", "at_most")
_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")

Row = Mapping[str, str]
Judge = Callable[[Row], str | None]
"""Gives a row's label, ``None`` to leave it out, and raises where the rule does not cover the value."""


@dataclass(frozen=True, kw_only=True)
class Templates:
    """What the YAML file asks for."""

    where: InputFile
    corpus: str | None
    licence: str
    space: LabelSpace
    language: str | None
    columns: Mapping[str, str | None]
    premise: str
    hypotheses: Sequence[tuple[str, Judge]]
    used: frozenset[str]


def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
    """Fill the templates with each row's values."""
    templates = read_templates(_one(files, YAML, "YAML file of templates"))
    table = _one(files, TABLES, "table")
    names = read_names(options.names)
    delimiter = "\t" if table.name.lower().endswith(".tsv") else ","
    checked = False
    for line, row in table_rows(table, (), delimiter=delimiter):
        if not checked:
            _require_columns(templates, table, row)
            checked = True
        source_id = _cell(row, templates.columns["id"]) or f"{table.name} {line}"
        values = {NAME: names.draw(options.seed, source_id), **row}
        for number, (text, judge) in enumerate(templates.hypotheses, 1):
            try:
                label = judge(row)
            except InputError as error:
                raise InputError(
                    f"{table} line {line}: {error} ({templates.where.name}, hypothesis {number})"
                ) from error
            if label is None:
                yield Skipped(source_id, f"left out by the rule of hypothesis {number}")
                continue
            yield Recasting(
                premise=filled(templates.premise, values),
                hypothesis=filled(text, values),
                label=label,
                source_id=source_id,
                corpus=templates.corpus or table.name,
                licence=templates.licence,
                split=_cell(row, templates.columns["split"]),
                group=_cell(row, templates.columns["group"]),
                creation="template",
                where=f"{table} line {line}",
                meta={"row": dict(row)},
            )


def space_of(files: Sequence[InputFile]) -> LabelSpace:
    """Return the label space that the YAML file names."""
    return read_templates(_one(files, YAML, "YAML file of templates")).space


def language_of(files: Sequence[InputFile]) -> str:
    """Return the language that the YAML file names, or that the script of the first pairs leaves no doubt about."""
    if language := read_templates(_one(files, YAML, "YAML file of templates")).language:
        return language
    first = islice((item for item in recast(files, Options()) if isinstance(item, Recasting)), SAMPLE)
    texts = [{"premise": item.premise, "hypothesis": item.hypothesis} for item in first]
    return detect_language(pl.DataFrame(texts, schema={"premise": pl.String, "hypothesis": pl.String})) or ENGLISH


def filled(template: str, values: Row) -> str:
    """Put values in their places, in one pass: what a value holds is never read as a template."""

    def value(match: re.Match[str]) -> str:
        return match[0][0] if match[1] is None else values[match[1]]

    return _PLACE.sub(value, template)


def read_templates(file: InputFile) -> Templates:
    """Read and check the YAML file."""
    import yaml

    text = "\n".join(line for _, line in text_rows(file))
    try:
        config = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0))
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise InputError(f"{file} line {line + 1}: is not YAML ({problem})") from error
    if not isinstance(config, dict) or not config.get("premise") or not isinstance(config.get("hypotheses"), list):
        raise InputError(f"{file}: needs premise (a template) and hypotheses (a list)")
    for name in config:
        if name not in FIELDS:
            raise InputError(f"{file}: {name!r} is not known; {suggest(str(name), list(FIELDS))}")
    space = label_space(str(config.get("labels", "nli2")))
    hypotheses = [_hypothesis(file, number, entry, space) for number, entry in enumerate(config["hypotheses"], 1)]
    if not hypotheses:
        raise InputError(f"{file}: has no hypotheses; give one or more")
    premise = str(config["premise"])
    texts = [premise, *(text for text, _, _ in hypotheses)]
    columns = {name: str(config[name]) if name in config else None for name in ("id", "split", "group")}
    used = {name for text in texts for name in _places(file, text)} - {NAME}
    ruled = {column for _, _, column in hypotheses if column}
    return Templates(
        where=file,
        corpus=config.get("corpus"),
        licence=str(config.get("licence", "not stated")),
        space=space,
        language=_language(file, config["language"]) if "language" in config else None,
        columns=columns,
        premise=premise,
        hypotheses=[(text, judge) for text, judge, _ in hypotheses],
        used=frozenset(used | ruled | {name for name in columns.values() if name}),
    )


def _language(file: InputFile, code: object) -> str:
    if not isinstance(code, str) or not re.fullmatch(r"[a-z]{2,3}(-\w+)*", code):
        raise InputError(f"{file}: language {code!r} is no code of a language; give one such as en, zh or de")
    return code


def _hypothesis(file: InputFile, number: int, entry: Any, space: LabelSpace) -> tuple[str, Judge, str | None]:
    where = f"{file}: hypothesis {number}"
    if not isinstance(entry, dict) or {*entry} != {"text", "label"}:
        raise InputError(f"{where} needs exactly text and label")
    rule = entry["label"]
    if isinstance(rule, str):
        word = _label(where, rule, space)
        return str(entry["text"]), lambda row: word, None
    if not isinstance(rule, dict) or "column" not in rule:
        raise InputError(f"{where}: its label is neither a word nor a rule with column")
    chosen = [name for name in TESTS if name in rule]
    unknown = sorted({*map(str, rule)} - {"column", "then", "else", *TESTS})
    if len(chosen) != 1 or unknown:
        problem = f"{unknown[0]!r} is not known" if unknown else f"it needs one of {', '.join(TESTS)}"
        raise InputError(f"{where}: of its label's rule, {problem}")
    return str(entry["text"]), _judge(where, rule, chosen[0], space), str(rule["column"])


def _judge(where: str, rule: Mapping[str, Any], test: str, space: LabelSpace) -> Judge:
    column, wanted = str(rule["column"]), rule[test]
    if test == "map":
        if not isinstance(wanted, dict):
            raise InputError(f"{where}: map is not a mapping of values to labels")
        words = {_text(value): _label(where, str(label), space) for value, label in wanted.items()}
        rest = _label(where, str(rule["else"]), space) if "else" in rule else SKIP

        def mapped(row: Row) -> str | None:
            if row[column] not in words and "else" not in rule:
                raise InputError(f"{column} {row[column]!r} has no label; known: {', '.join(words)}")
            return _kept(words.get(row[column], rest))

        return mapped
    then = _label(where, str(rule.get("then", ENTAILED)), space)
    other = _label(where, str(rule.get("else", NOT_ENTAILED)), space)
    if test == "equals":
        values = {_text(value) for value in (wanted if isinstance(wanted, list) else [wanted])}
        return lambda row: _kept(then if row[column] in values else other)
    if not isinstance(wanted, int | float) or isinstance(wanted, bool):
        raise InputError(f"{where}: {test} is not a number but {wanted!r}")
    sign = 1 if test == "at_least" else -1
    return lambda row: _kept(then if sign * _number(column, row[column]) >= sign * wanted else other)


def _kept(label: str) -> str | None:
    return None if label == SKIP else label


def _label(where: str, word: str, space: LabelSpace) -> str:
    if word != SKIP and word not in space:
        raise InputError(f"{where}: label {word!r} is not one of {', '.join(space.labels)}, or {SKIP}")
    return word


def _text(value: object) -> str:
    """Write a YAML value as a table would: ``yes`` and ``no`` are words there, not truth values."""
    if isinstance(value, bool):
        raise InputError(f"a value {value!r} of a label's rule is a truth value in YAML; put it in quotes")
    return str(value)


def _number(column: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{column} {value!r} is not a number") from None


def _places(file: InputFile, template: str) -> Iterator[str]:
    for match in _PLACE.finditer(template):
        if match[1] is not None:
            yield match[1]
        elif match[0] in "{}":
            raise InputError(f"{file}: template {template!r} has a single {match[0]}; write {match[0] * 2} for a brace")


def _require_columns(templates: Templates, table: InputFile, row: Row) -> None:
    for name in sorted(templates.used):
        if name not in row:
            raise InputError(
                f"{table} line 1: {templates.where.name} asks for column {name!r}; {suggest(name, list(row))}"
            )


def _cell(row: Row, column: str | None) -> str | None:
    return row[column] or None if column else None


def _one(files: Sequence[InputFile], suffixes: tuple[str, ...], what: str) -> InputFile:
    wanted = f"template takes one {what} ({', '.join(suffixes)})"
    chosen = choose(files, suffixes, wanted)
    if len(chosen) > 1:
        raise InputError(f"{wanted}; given: {names_of(chosen)}")
    return chosen[0]


RECASTERS.add(
    "template",
    Recaster(
        name="template",
        phenomenon="template",
        title="Your own table and templates",
        paper="none: your own",
        sources="a CSV or TSV with a header, and a YAML file of templates and label rules",
        recast=recast,
        space_of=space_of,
        language_of=language_of,
    ),
)

"""Figurative language: did somebody hear a pun?

SemEval-2017 task 7 (Miller et al. 2017): XML with a ``.gold`` file beside it. Yang et al. (2015), Pun of the Day, or
any collection: a CSV with the columns ``text`` and ``label`` (1, or 0 or -1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.names import Names, read_names
from goldlabel.recast.reading import choose, folder_of, table_rows, text_rows
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.treebank import join
from goldlabel.sources.markup import parse_xml

SEMEVAL = "SemEval-2017 task 7"
_LABELS = {"1": True, "true": True, "yes": True, "pun": True, "0": False, "-1": False, "false": False, "no": False}
_FINAL = frozenset([".", "!", "?", "...", "…"])
_CLITIC = re.compile(r"(\w) ' (s|m|d|t|ll|re|ve)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text and whether it holds a pun."""

    where: str
    source_id: str
    tokens: Sequence[str]
    text: str
    pun: bool
    corpus: str
    licence: str


def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
    """Give two pairs for each text; a text that comes again is left out, as in the release."""
    names = read_names(options.names)
    seen: set[str] = set()
    for text in _texts(files):
        key = " ".join(text.text.lower().split())
        if key in seen:
            yield Skipped(text.source_id, "the same text again")
            continue
        seen.add(key)
        yield from _pairs(text, key, options, names)


def _pairs(text: Text, key: str, options: Options, names: Names) -> Iterator[Recasting]:
    plain = options.style == "plain"
    for number, heard in enumerate((True, False)):
        name = names.draw(options.seed, text.source_id, 0 if plain else number)
        claim = f"{name} heard a pun" if heard else f"{name} did not hear a pun"
        yield Recasting(
            premise=f'{name} heard someone say, "{text.text}"' if plain else f"{name} heard that {_released(text)}",
            hypothesis=f"{claim}." if plain else claim,
            label=ENTAILED if heard == text.pun else NOT_ENTAILED,
            source_id=text.source_id,
            corpus=text.corpus,
            licence=text.licence,
            group=key if plain else None,
            where=text.where,
            meta={"name": name},
        )


def _released(text: Text) -> str:
    """Write as the release does: lower-cased, SemEval's tokens apart and without the last full stop."""
    if not text.tokens:
        return text.text.lower().replace("cannot", "can not")
    tokens = text.tokens[:-1] if len(text.tokens) > 1 and text.tokens[-1] in _FINAL else text.tokens
    return " ".join(tokens).lower()


def _natural(tokens: Sequence[str]) -> str:
    """Write SemEval's tokens as people do; its apostrophes and quotation marks stand apart as ``'`` and ``' '``."""
    text = _CLITIC.sub(r"\1'\2", " ".join(tokens).replace("' '", '"'))
    return join(text.split())


def _texts(files: Sequence[InputFile]) -> Iterator[Text]:
    wanted = "puns takes SemEval's XML with its .gold file, or a CSV with the columns text and label"
    chosen = choose(files, (".xml", ".csv"), wanted)
    xml = [file for file in chosen if file.name.lower().endswith(".xml")]
    # Of the shared task's three parts, the first asks whether there is a pun.
    for file in [file for file in xml if "subtask1" in file.name] or xml:
        yield from _semeval(file, files)
    for file in chosen:
        if file not in xml:
            yield from _table(file)


def _table(file: InputFile) -> Iterator[Text]:
    for line, row in table_rows(file, ("text", "label"), filled=True):
        label = row["label"].strip().lower()
        if label not in _LABELS:
            raise InputError(f"{file} line {line}: label {row['label']!r} is neither 1 nor 0")
        yield Text(
            where=f"{file} line {line}",
            source_id=f"{file.name} {line}",
            tokens=(),
            text=row["text"].strip(),
            pun=_LABELS[label],
            corpus=file.name,
            licence="not stated",
        )


def _semeval(file: InputFile, files: Sequence[InputFile]) -> Iterator[Text]:
    root, lines = parse_xml(file)
    gold_file, gold = _gold(file, files)
    texts = list(root.iter("text"))
    if not texts:
        raise InputError(f"{file} line 1: holds no element text; is it a file of the shared task?")
    for text in texts:
        where, source_id = f"{file} line {lines[text]}", text.get("id", "")
        tokens = [word for element in text.iter("word") if (word := "".join(element.itertext()).strip())]
        if not source_id or not tokens:
            raise InputError(f"{where}: a text has no {'words' if source_id else 'id'}")
        if source_id not in gold:
            raise InputError(f"{where}: text {source_id!r} has no gold label in {gold_file.name}")
        yield Text(
            where=where,
            source_id=source_id,
            tokens=tokens,
            text=_natural(tokens),
            pun=gold[source_id],
            corpus=SEMEVAL,
            licence="in parts CC BY 4.0, see the task's LICENCE.md",
        )


def _gold(file: InputFile, files: Sequence[InputFile]) -> tuple[InputFile, dict[str, bool]]:
    name = str(PurePosixPath(file.name).with_suffix(".gold"))
    beside = InputFile(file.path.with_name(name))
    candidates = [other for other in files if other.name == name and folder_of(other) == folder_of(file)]
    candidates += [other for other in files if other.name == name]
    candidates += [beside] if file.member is None and beside.path.exists() else []
    if not candidates:
        raise InputError(f"{file} line 1: its gold labels, {name}, were not given; give both together")
    gold: dict[str, bool] = {}
    for line, text in text_rows(candidates[0]):
        source_id, tab, label = text.partition("\t")
        if text.strip() and (not tab or label.strip() not in ("0", "1")):
            raise InputError(
                f"{candidates[0]} line {line}: is not an id, a tab, and 0 or 1; is it the gold of subtask 1?"
            )
        gold[source_id] = label.strip() == "1"
    return candidates[0], gold


RECASTERS.add(
    "puns",
    Recaster(
        name="puns",
        phenomenon="figurative language",
        title="Puns",
        paper="Poliak et al. (2018), section 3.7; Miller et al. (2017); Yang et al. (2015)",
        sources="subtask1-*.xml of SemEval-2017 task 7 with its .gold, or a CSV with text and label",
        recast=recast,
    ),
)

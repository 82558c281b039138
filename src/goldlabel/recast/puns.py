"""Figurative language: did somebody hear a pun?

SemEval-2017 task 7 (Miller et al. 2017): XML with a ``.gold`` file beside it. Yang et al. (2015), Pun of the Day, or
any collection: a CSV with the columns ``text`` and ``label``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from xml.parsers import expat

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.names import Names, read_names
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.tables import table_rows, text_rows
from goldlabel.recast.treebank import join

SEMEVAL = "SemEval-2017 task 7"
_LABELS = {"1": True, "true": True, "yes": True, "pun": True, "0": False, "-1": False, "false": False, "no": False}
_FINAL = frozenset([".", "!", "?", "...", "…"])
_CLITIC = re.compile(r"(\w) ' (s|m|d|t|ll|re|ve)\b", re.IGNORECASE)
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Text:
    """A text and whether it holds a pun."""

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
    xml = [file for file in files if file.name.lower().endswith(".xml")]
    # Of the shared task's three parts, the first asks whether there is a pun.
    chosen = [file for file in xml if "subtask1" in file.name] or xml
    tables = [file for file in files if file.name.lower().endswith(".csv")]
    if not chosen and not tables:
        raise InputError(
            f"{files[0] if files else 'no file'} line 1: is neither SemEval's XML with its .gold file nor a CSV "
            "with the columns text and label"
        )
    for file in chosen:
        gold_file, gold = _gold(file, files)
        for line, source_id, tokens in _elements(file):
            if source_id not in gold:
                raise InputError(f"{file} line {line}: text {source_id!r} has no gold label in {gold_file.name}")
            yield Text(
                source_id,
                tokens,
                _natural(tokens),
                gold[source_id],
                SEMEVAL,
                "in parts CC BY 4.0, see the task's LICENCE.md",
            )
    for file in tables:
        for line, row in table_rows(file, ("text", "label")):
            label = row["label"].strip().lower()
            if label not in _LABELS:
                raise InputError(f"{file} line {line}: label {row['label']!r} is neither 1 nor 0")
            if not row["text"].strip():
                raise InputError(f"{file} line {line}: text is empty")
            yield Text(f"{file.name} {line}", (), row["text"].strip(), _LABELS[label], file.name, "not stated")


def _gold(file: InputFile, files: Sequence[InputFile]) -> tuple[InputFile, dict[str, bool]]:
    name = str(PurePosixPath(file.name).with_suffix(".gold"))
    found = next((other for other in files if other.name == name), None)
    if found is None and file.member is None:
        beside = file.path.with_name(name)
        found = InputFile(beside) if beside.exists() else None
    if found is None:
        raise InputError(f"{file} line 1: its gold labels, {name}, were not given; give both together")
    gold: dict[str, bool] = {}
    for line, text in text_rows(found):
        source_id, tab, label = text.partition("\t")
        if text.strip() and (not tab or label.strip() not in ("0", "1")):
            raise InputError(f"{found} line {line}: is not an id, a tab, and 0 or 1; is it the gold of subtask 1?")
        gold[source_id] = label.strip() == "1"
    return found, gold


def _elements(file: InputFile) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each text with the line it starts on; entities are refused, so nothing can grow out of a small file."""
    done: list[tuple[int, str, list[str]]] = []
    inside = False
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        if name == "text":
            done.append((parser.CurrentLineNumber, attributes.get("id", ""), []))
        elif name == "word" and done:
            inside = True
            done[-1][2].append("")

    def end(name: str) -> None:
        nonlocal inside
        inside = inside and name != "word"

    def data(text: str) -> None:
        if inside:
            done[-1][2][-1] += text

    def refuse(*_: object) -> None:
        raise InputError(f"{file} line {parser.CurrentLineNumber}: declares an entity, which is not read")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    parser.EntityDeclHandler = refuse
    try:
        with file.open() as stream:
            while chunk := stream.read(_CHUNK):
                parser.Parse(chunk, False)
                yield from (_checked(file, one) for one in done[:-1])
                del done[:-1]
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InputError(f"{file} line {error.lineno}: is not well-formed XML ({error})") from error
    if not done:
        raise InputError(f"{file} line 1: holds no element text; is it a file of the shared task?")
    yield from (_checked(file, one) for one in done)


def _checked(file: InputFile, found: tuple[int, str, list[str]]) -> tuple[int, str, list[str]]:
    line, source_id, words = found
    tokens = [word.strip() for word in words if word.strip()]
    if not source_id or not tokens:
        raise InputError(f"{file} line {line}: a text has no {'words' if source_id else 'id'}")
    return line, source_id, tokens


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

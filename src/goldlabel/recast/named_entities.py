"""Named entities: what kind of thing is a name? (Poliak et al. 2018, section 3.2)

``{NP} is a {label}`` with the entity's own label and with a wrong one. Three kinds of files are read.

- Columns (CoNLL-2003 and its kin): a token per line, the token first (after a running number, if there is one) and
  its tag last, an empty line between sentences. Tags are IOB1, IOB2, IOBES or bare types; MISC is left out.
- The Groningen Meaning Bank's csv with ``Sentence #``, ``Word`` and ``Tag``.
- JSON lines with ``text`` and ``entities`` of ``[start, end, type]`` in characters.

Style ``dnc`` draws the wrong label from the tags seen with the phrase, or from the corpus if the phrase has one tag
only, and merges neighbours of one type. A phrase then mostly tells its label. Style ``plain`` gives only pairs that
balance: within a phrase, each label is wrong as often as it is right, so a hypothesis is as often entailed as not.
That leaves phrases that have two or more tags, which is a tenth of the Groningen Meaning Bank. It balances each
split by itself, for else a label frequent in one would be rare in the other; a file without a split is therefore
split here, 80:10:10 by the sentence's text.

Files are read twice and never held: memory grows with the number of different phrases only.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.factuality import distinct_names
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped
from goldlabel.recast.run import made_split
from goldlabel.recast.treebank import join, tokenise
from goldlabel.registry import suggest

_TYPES = {
    "person": "per person per-nam",
    "location": "loc location geo geo-nam",
    "organization": "org organization org-nam",
    "geopolitical entity": "gpe gpe-nam",
    "time": "tim tim-nam",
    "artifact": "art art-nam",
    "event": "eve event eve-nam",
    "natural phenomenon": "nat nat-nam",
    "person's title": "per-tit",
    "given name": "per-giv",
    "middle name": "per-mid",
    "family name": "per-fam",
    "initial": "per-ini",
    "day of the week": "tim-dow",
    "day of the month": "tim-dom",
    "month": "tim-moy",
    "year": "tim-yoc",
    "date": "date tim-dat",
    "time of day": "time tim-clo",
    "group of people": "norp group",
    "facility": "fac facility",
    "corporation": "corporation",
    "product": "product",
    "work of art": "work_of_art creative-work",
    "law": "law",
    "language": "language",
    "percentage": "percent",
    "amount of money": "money",
    "quantity": "quantity",
    "ordinal number": "ordinal",
    "number": "cardinal",
}
LABELS: Mapping[str, str | None] = {
    **{kind: label for label, kinds in _TYPES.items() for kind in kinds.split()},
    "misc": None,
}
"""What a tag's type is called in a hypothesis; ``None`` is left out."""

_TAG = re.compile(r"(?:([BIELSU])-)?(.*)", re.DOTALL)
_SPLITS = {"train": "train", "valid": "dev", "testa": "dev", "dev": "dev", "testb": "test", "test": "test"}
_SUFFIXES = (".csv", ".jsonl", ".conll", ".txt", ".tsv", ".iob", ".iob2", ".bio", ".train", ".testa", ".testb")
_GMB_COLUMNS = ("Sentence #", "Word", "Tag")
_NO_DATA = re.compile(r"(?i)(?:readme|licen[cs]e)\b.*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens and the entities among them: first token, token after the last, label. ``text`` is the original."""

    number: int
    tokens: Sequence[str]
    entities: Sequence[tuple[int, int, str]]
    text: str | None = None


Decode = Callable[[bytes], str]
Counts = dict[str, dict[str, int]]
Draw = Callable[[str, str], str | None]
"""From a phrase and its label: the wrong label, or ``None`` if the entity gives no pairs."""


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield two pairs for each entity, or in the plain style for each that can be balanced."""
    given = [(file, _decoder(file)) for file in _data_files(files)]
    plain = options.style == "plain"
    counts: dict[str | None, Counts] = {}
    for file, decode in given:
        for sentence in read(file, decode, merge=not plain):
            if sentence.entities:
                _count(sentence, counts.setdefault(_split(file, sentence, options) if plain else None, {}))
    generator = random.Random(options.seed)
    draws = {scope: (_balanced if plain else _prior)(seen, generator) for scope, seen in counts.items()}
    names = distinct_names([file for file, _ in given])
    for file, decode in given:
        for sentence in read(file, decode, merge=not plain):
            if sentence.entities:
                split = _split(file, sentence, options)
                draw = draws[split if plain else None]
                yield from _pairs(names[file], sentence, split, draw, options)


def read(file: InputFile, decode: Decode, *, merge: bool) -> Iterator[Sentence]:
    """Yield a file's sentences; with ``merge``, neighbouring entities of one type are one."""
    name = file.name.lower()
    if name.endswith(".jsonl"):
        yield from _read_spans(file, decode)
        return
    rows = _csv_rows(file, decode) if name.endswith(".csv") else _column_rows(file, decode)
    known: dict[str, tuple[str | None, str | None]] = {}
    tokens: list[str] = []
    tags: list[tuple[str | None, str | None]] = []
    number = 0
    for line, token, tag in rows:
        if token:
            if tag not in known:
                known[tag] = _parse_tag(file, line, tag)
            tokens.append(token)
            tags.append(known[tag])
        elif tokens:
            number += 1
            yield Sentence(number, tokens, list(_entities(tags, merge)))
            tokens, tags = [], []


def _data_files(files: Sequence[InputFile]) -> list[InputFile]:
    found: dict[tuple[object, str], InputFile] = {}
    for file in files:
        if file.name.lower().endswith(_SUFFIXES) and not _NO_DATA.fullmatch(file.name):
            found.setdefault((file.path.parent, file.name), file)  # the same file packed in two ways
    if not found:
        names = ", ".join(file.name for file in files) or "nothing"
        raise InputError(f"named-entities takes files that end in {', '.join(_SUFFIXES)}; given: {names}")
    return list(found.values())


def _split(file: InputFile, sentence: Sentence, options: Options) -> str | None:
    found = re.search(r"(?:^|[^a-z])(train|valid|testa|testb|dev|test)(?:[^a-z]|$)", file.name.lower())
    if found or options.style == "dnc":
        return _SPLITS[found[1]] if found else None
    return made_split(options.seed, " ".join(sentence.tokens))


def _decoder(file: InputFile) -> Decode:
    """Find out the encoding, which is that of the whole file: UTF-8, or Windows-1252, which holds Latin-1."""
    unicode_line = other_line = 0
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            if line.isascii():
                continue
            try:
                line.decode()
                unicode_line = unicode_line or number
            except UnicodeDecodeError:
                other_line = other_line or number
            if unicode_line and other_line:
                raise InputError(
                    f"{file} line {max(unicode_line, other_line)}: encodings are mixed, line {unicode_line} is UTF-8 "
                    f"and line {other_line} is not; convert the file to UTF-8"
                )
    return _western if other_line else lambda line: line.decode().removeprefix("\ufeff")


def _western(line: bytes) -> str:
    if line.isascii():
        return line.decode()
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _column_rows(file: InputFile, decode: Decode) -> Iterator[tuple[int, str, str]]:
    token_at: int | None = None
    number = 0
    with file.open() as stream:
        for number, raw in enumerate(stream, 1):
            line = decode(raw).strip()
            if not line or line.startswith("-DOCSTART-"):
                yield number, "", ""
                continue
            cells = line.split("\t") if "\t" in line else line.split()
            if cells[0].startswith("#") and len(cells) != 2 and cells[-1] not in ("O", "o"):
                continue
            if token_at is None:
                token_at = 1 if len(cells) > 2 and cells[0] in ("0", "1") else 0
            if len(cells) < token_at + 2:
                raise InputError(f"{file} line {number}: has no tag; a token and, last, its tag are expected")
            yield number, cells[token_at], cells[-1]
    yield number, "", ""


def _csv_rows(file: InputFile, decode: Decode) -> Iterator[tuple[int, str, str]]:
    with file.open() as stream:
        reader = csv.reader(decode(line) for line in stream)
        try:
            header = next(reader, [])
            missing = [name for name in _GMB_COLUMNS if name not in header]
            if missing:
                raise InputError(
                    f"{file} line 1: column {missing[0]!r} is missing; allowed is a csv with {', '.join(_GMB_COLUMNS)}"
                )
            sentence_at, word_at, tag_at = (header.index(name) for name in _GMB_COLUMNS)
            for row in reader:
                if len(row) != len(header) or not row[word_at].strip() or not row[tag_at]:
                    raise InputError(f"{file} line {reader.line_num}: lacks its word or its tag")
                if row[sentence_at]:
                    yield reader.line_num, "", ""
                yield reader.line_num, row[word_at], row[tag_at]
        except csv.Error as error:
            raise InputError(f"{file} line {reader.line_num}: {error}") from error
    yield reader.line_num, "", ""


def _read_spans(file: InputFile, decode: Decode) -> Iterator[Sentence]:
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(decode(line))
                text, spans = str(row["text"]), sorted((int(s), int(e), str(t)) for s, e, t in row["entities"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{file} line {number}: is no row with text and entities ({error!r})") from error
            tokens: list[str] = []
            entities: list[tuple[int, int, str]] = []
            last = 0
            for start, end, kind in spans:
                if not last <= start < end <= len(text):
                    raise InputError(f"{file} line {number}: entity {start}–{end} overlaps another or leaves the text")
                label = _parse_tag(file, number, kind)[1]
                tokens += tokenise(text[last:start])
                first = len(tokens)
                tokens += text[start:end].split()
                entities += [(first, len(tokens), label)] if label else []
                last = end
            yield Sentence(number, [*tokens, *tokenise(text[last:])], entities, text)


def _parse_tag(file: InputFile, line: int, tag: str) -> tuple[str | None, str | None]:
    """Return a tag's prefix and its label."""
    if tag in ("O", "o"):
        return None, None
    prefix, kind = _TAG.fullmatch(tag).groups()  # type: ignore[union-attr]
    if kind.lower() not in LABELS:
        allowed = suggest(kind.lower(), list(LABELS))
        raise InputError(f"{file} line {line}: tag {tag!r} is neither O nor B- or I- with a known type; {allowed}")
    return prefix or "I", LABELS[kind.lower()]


def _entities(tags: Sequence[tuple[str | None, str | None]], merge: bool) -> Iterator[tuple[int, int, str]]:
    start, current = 0, None
    for place, (prefix, label) in enumerate([*tags, (None, None)]):
        if label != current or (prefix in ("B", "S", "U") and not merge):
            if current:
                yield start, place, current
            start, current = place, label


def _count(sentence: Sentence, counts: Counts) -> None:
    for start, end, label in sentence.entities:
        seen = counts.setdefault(" ".join(sentence.tokens[start:end]), {})
        seen[label] = seen.get(label, 0) + 1


def _prior(counts: Counts, generator: random.Random) -> Draw:
    corpus: dict[str, int] = {}
    for seen in counts.values():
        for label, number in seen.items():
            corpus[label] = corpus.get(label, 0) + number

    def draw(phrase: str, label: str) -> str | None:
        for prior in (counts[phrase], corpus):
            wrong = {other: number for other, number in prior.items() if other != label}
            if wrong:
                return generator.choices(list(wrong), list(wrong.values()))[0]
        return None

    return draw


def _balanced(counts: Counts, generator: random.Random) -> Draw:
    """Draw without replacement from plans in which a phrase's labels stand against each other equally often."""
    plans = {phrase: _plan(seen) for phrase, seen in counts.items() if len(seen) > 1}
    left = {phrase: dict(counts[phrase]) for phrase in plans}

    def draw(phrase: str, label: str) -> str | None:
        if phrase not in plans:
            return None
        wrong = plans[phrase][label]
        left[phrase][label] -= 1
        chosen = generator.randrange(left[phrase][label] + 1)
        for other, number in wrong.items():
            if chosen < number:
                wrong[other] -= 1
                return other
            chosen -= number
        return None

    return draw


def _plan(seen: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Match the occurrences of each label with those of others, the most frequent two first, one for one."""
    left = dict(sorted(seen.items()))
    plan: dict[str, dict[str, int]] = {label: {} for label in left}
    while True:
        first, second = sorted(left, key=lambda label: -left[label])[:2]
        if not left[second]:
            return plan
        for label, other in ((first, second), (second, first)):
            plan[label][other] = plan[label].get(other, 0) + 1
            left[label] -= 1


def _pairs(
    file: str, sentence: Sentence, split: str | None, draw: Draw, options: Options
) -> Iterator[Recasting | Skipped]:
    group = f"{file}:{sentence.number}"
    premise = ""
    for start, end, label in sentence.entities:
        tokens = sentence.tokens[start:end]
        wrong = draw(" ".join(tokens), label)
        source_id = f"{group}:{start + 1}"
        if wrong is None:
            yield Skipped(source_id, "its phrase has no other tag to balance it with")
            continue
        plain = options.style == "plain"
        premise = premise or ((sentence.text or join(sentence.tokens)) if plain else " ".join(sentence.tokens))
        name = _capital(join(tokens)) if plain else " ".join(tokens)
        gmb = file.lower().endswith(".csv")
        for said, judged in ((label, ENTAILED), (wrong, NOT_ENTAILED)):
            article = "an" if said[0] in "aeiou" else "a"
            yield Recasting(
                premise=premise,
                hypothesis=f"{name} is {article} {said}{'.' if plain else ''}",
                label=judged,
                source_id=source_id,
                corpus="Groningen" if gmb else "CoNLL",
                licence="ODbL" if gmb else "none stated",
                split=split,
                group=premise if plain else group,
                meta={"entity": name, "entity_label": label},
            )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


RECASTERS.add(
    "named-entities",
    Recaster(
        name="named-entities",
        phenomenon="named entity recognition",
        title="Named entities",
        paper="Poliak et al. (2018), section 3.2; Bos et al. (2017), The Groningen Meaning Bank; "
        "Tjong Kim Sang and De Meulder (2003), CoNLL",
        sources="columns, the token first and the tag last (CoNLL-2003); the GMB csv; jsonl with text and entities",
        recast=recast,
    ),
)

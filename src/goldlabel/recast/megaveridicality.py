"""Lexicosyntactic inference: did what the embedded clause says happen?

White and Rawlins (2018), MegaVeridicality v2: ten people say yes, maybe or no of each verb in each frame. Each item
gives three pairs, one of which is entailed: the one that says what most of the annotators do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.chance import chance
from goldlabel.recast.ordinal import fit_ordinal
from goldlabel.recast.reading import table_rows
from goldlabel.recast.recaster import (
    ENTAILED,
    NOT_ENTAILED,
    RECASTERS,
    Options,
    Recaster,
    Recasting,
    Skipped,
    chosen_setting,
)

ANSWERS = ("no", "maybe", "yes")
CLASSES = ("ordinal", "majority")
NEEDED = ("participant", "verb", "frame", "polarity", "conditional", "sentence", "veridicality")

_HAPPENED = {
    "yes": "that thing happened",
    "no": "that thing didn't happen",
    "maybe": "that thing might or might not have happened",
}
_DID = {
    "yes": "that person did that thing",
    "no": "that person didn't do that thing",
    "maybe": "that person might or might not have done that thing",
}
_HAD = {
    "yes": "that person had that thing",
    "no": "that person didn't have that thing",
    "maybe": "that person might or might not have had that thing",
}
HYPOTHESES: Mapping[str, Mapping[str, str]] = {
    "that_S": _HAPPENED,
    "for_NP_to_VP": _HAPPENED,
    "to_VPeventive": _DID,
    "NP_to_VPeventive": _DID,
    "to_VPstative": _HAD,
    "NP_to_VPstative": _HAD,
}
"""What each answer says, in the order of the release; v2's frames."""

_FRAMES = {
    "that S": "that_S",
    "for NP to VP": "for_NP_to_VP",
    "to VP[+eventive]": "to_VPeventive",
    "NP to VP[+eventive]": "NP_to_VPeventive",
    "to VP[-eventive]": "to_VPstative",
    "NP to VP[-eventive]": "NP_to_VPstative",
}
"""What v2.1 calls the frames, after the verb, and what v2 calls them."""


@dataclass
class Item:
    """A verb in a frame, and what was answered of it."""

    where: str
    verb: str
    frame: str
    sentence: str
    answers: list[tuple[str, str]] = field(default_factory=list)


def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
    """Give three pairs for each item; in the plain style as many entailed as not for each hypothesis."""
    plain = options.style == "plain"
    by = chosen_setting(options, "classes", CLASSES, "ordinal")
    balance = chosen_setting(options, "balance", ("yes", "no"), "yes" if plain else "no")
    items: dict[str, Item] = {}
    for file in _judgements(files):
        yield from _read(file, items)
    if not items:
        return
    classes = item_classes(list(items.values()), by)
    pairs = [
        _pair(key, item, answer, said, plain)
        for (key, item), said in zip(items.items(), classes, strict=True)
        for answer in HYPOTHESES[item.frame]
    ]
    if balance == "no":
        yield from pairs
        return
    kept = _balanced(pairs, options.seed)
    for number, pair in enumerate(pairs):
        yield pair if number in kept else Skipped(pair.source_id, "more of a hypothesis's labels than of the other")


def item_classes(items: Sequence[Item], by: str) -> list[str]:
    """Return what most annotators say of each item: yes, maybe or no.

    ``majority`` counts the answers given, and a tie is a maybe. ``ordinal`` takes out how each annotator uses the
    scale, and asks what all of them would say.
    """
    if by == "majority":
        return [_majority([answer for _, answer in item.answers]) for item in items]
    annotators = sorted({who for item in items for who, _ in item.answers})
    people = {person: number for number, person in enumerate(annotators)}
    votes = [
        (number, people[who], ANSWERS.index(answer))
        for number, item in enumerate(items)
        for who, answer in item.answers
    ]
    item, annotator, answer = np.array(votes, dtype=np.int64).T
    return [ANSWERS[place] for place in fit_ordinal(item, annotator, answer).classes()]


def _majority(answers: Sequence[str]) -> str:
    (first, most), *rest = Counter(answers).most_common()
    return "maybe" if rest and rest[0][1] == most else first


def _pair(key: str, item: Item, answer: str, said: str, plain: bool) -> Recasting:
    hypothesis = HYPOTHESES[item.frame][answer]
    sentence = item.sentence.replace("\\'", "'").rstrip(" .")
    if plain:
        premise, hypothesis = f"{sentence}.", f"{hypothesis[0].upper()}{hypothesis[1:]}."
    else:
        premise = f"{sentence[0].lower()}{sentence[1:]} .".replace("n't", " n't")
        hypothesis = f"{hypothesis} ."
    return Recasting(
        premise=premise,
        hypothesis=hypothesis,
        label=ENTAILED if answer == said else NOT_ENTAILED,
        source_id=key,
        corpus="MegaVeridicality v2",
        licence="CC BY-SA 4.0",
        group=item.verb if plain else None,
        where=item.where,
        meta={
            "class": said,
            "verb": item.verb,
            "frame": item.frame,
            "answers": dict(Counter(a for _, a in item.answers)),
        },
    )


def _balanced(pairs: Sequence[Recasting], seed: int) -> set[int]:
    """Choose as many entailed pairs of each hypothesis as others, so that it alone does not tell its label."""
    numbers: dict[str, dict[str, list[int]]] = {}
    for number, pair in enumerate(pairs):
        numbers.setdefault(pair.hypothesis, {}).setdefault(pair.label, []).append(number)
    kept: set[int] = set()
    for by_label in numbers.values():
        size = min(len(by_label.get(label, [])) for label in (ENTAILED, NOT_ENTAILED))
        for members in by_label.values():
            drawn = sorted(members, key=lambda n: chance(seed, "balance", pairs[n].source_id, pairs[n].hypothesis))
            kept.update(drawn[:size])
    return kept


def _read(file: InputFile, items: dict[str, Item]) -> Iterator[Skipped]:
    delimiter = "\t" if file.name.endswith(".tsv") else ","
    for line, row in table_rows(file, NEEDED, delimiter=delimiter):
        frame, voice = _frame(file, line, row)
        key = f"{row['verb']}:{frame}:{voice}:{row['polarity']}"
        answer = row["veridicality"]
        if row["conditional"] == "True":
            yield Skipped(key, "a judgement of a conditional")
        elif answer in ("", "NA"):
            yield Skipped(key, "a judgement without an answer")
        elif answer not in ANSWERS:
            raise InputError(f"{file} line {line}: veridicality {answer!r} is not one of {', '.join(ANSWERS)}")
        elif not row["sentence"].strip(" ."):
            raise InputError(f"{file} line {line}: sentence is empty")
        else:
            item = items.setdefault(key, Item(f"{file} line {line}", row["verb"], frame, row["sentence"]))
            if not item.where.startswith(f"{file} line "):
                raise InputError(f"{item.where} and {file} line {line} both hold the item {key!r}; give one of them")
            item.answers.append((row["participant"], answer))


def _frame(file: InputFile, line: int, row: Mapping[str, str]) -> tuple[str, str]:
    """Return the frame and the voice as v2 names them."""
    frame, voice = row["frame"], row.get("voice")
    if voice is None:
        voice = "passive" if frame.startswith("NP was Ved ") else "active"
        frame = _FRAMES.get(frame.removeprefix("NP was Ved ").removeprefix("NP Ved "), frame)
    if frame not in HYPOTHESES:
        raise InputError(f"{file} line {line}: frame {frame!r} is not one of {', '.join(HYPOTHESES)}")
    return frame, voice


def _judgements(files: Sequence[InputFile]) -> list[InputFile]:
    """Return the files of judgements; of two versions of one corpus, the newer holds the same and is not read."""
    tables = [file for file in files if file.name.endswith((".csv", ".tsv")) and "normalized" not in file.name]
    if not tables:
        raise InputError(
            f"{files[0] if files else 'no file'} line 1: is no table of judgements; give mega-veridicality-v2.csv"
        )
    older = [file for file in tables if file.name == "mega-veridicality-v2.csv"]
    return older or tables


RECASTERS.add(
    "megaveridicality",
    Recaster(
        name="megaveridicality",
        phenomenon="lexicosyntactic inference",
        title="Veridicality of clause-embedding verbs",
        paper="Poliak et al. (2018), section 3.4; White and Rawlins (2018)",
        sources="mega-veridicality-v2.csv, or the .tsv of v2.1",
        recast=recast,
        settings={
            "classes": "ordinal: a mixed model of the annotators (the default); majority: the answers as given",
            "balance": "yes or no: as many entailed pairs of each hypothesis as others; yes in the plain style",
        },
    ),
)

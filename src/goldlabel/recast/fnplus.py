"""FrameNet+: does a paraphrase keep the meaning? (White et al. 2017; data of Pavlick et al. 2015)

FrameNet's sentences are licensed, so the recaster takes a table that you make of them, CSV with a header:

- ``sentence``: the text;
- ``trigger``: the word or words that evoke the frame;
- where the trigger stands: ``start`` and ``end`` in characters, or ``index``, the number from 0 of its first word
  between spaces; neither is needed where the trigger stands once;
- ``paraphrase``: what replaces the trigger;
- ``rating``: how well the paraphrase fits, the mean of human ratings from 1 to 5;
- ``frame``, ``id`` and ``split``, if there are any.

The hypothesis is the sentence with the trigger replaced; a rating of 4 or more is entailed, the same threshold as for
proto-roles. Style ``plain`` also fits *a* and *an*, and the capital letter, to the paraphrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.reading import choose, table_rows
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped

ENTAILED_FROM = 4.0
_NEEDED = ("sentence", "trigger", "paraphrase", "rating")


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield a pair for each row of the tables."""
    for file in choose(files, ".csv", f"fnplus takes a csv with {', '.join(_NEEDED)}"):
        for line, row in table_rows(file, _NEEDED, filled=True):
            yield _pair(file, line, row, options)


def _pair(file: InputFile, line: int, row: Mapping[str, str], options: Options) -> Recasting:
    where = f"{file} line {line}"
    rating = _rating(where, row["rating"])
    start, end = _place(where, row)
    sentence = row["sentence"]
    before, paraphrase = sentence[:start], row["paraphrase"]
    if options.style == "plain":
        before, paraphrase = _fitted(before, paraphrase)
    return Recasting(
        premise=sentence,
        hypothesis=before + paraphrase + sentence[end:],
        label=ENTAILED if rating >= ENTAILED_FROM else NOT_ENTAILED,
        source_id=row.get("id") or f"{file.name}:{line}",
        corpus="FN+",
        licence="none stated",
        split=row.get("split") or None,
        group=sentence,
        where=where,
        meta={"rating": rating, "trigger": row["trigger"], "frame": row.get("frame") or None},
    )


def _rating(where: str, text: str) -> float:
    try:
        rating = float(text)
    except ValueError:
        rating = 0.0
    if not 1.0 <= rating <= 5.0:
        raise InputError(f"{where}: rating {text!r} is not a number from 1 to 5")
    return rating


def _place(where: str, row: Mapping[str, str]) -> tuple[int, int]:
    sentence, trigger = row["sentence"], row["trigger"]
    places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(trigger)}(?!\w)", sentence)]
    if row.get("start") or row.get("index"):
        start = _start(where, row)
        if not sentence.startswith(trigger, start) or (row.get("end") and row["end"] != str(start + len(trigger))):
            raise InputError(f"{where}: the trigger {trigger!r} does not stand where the row says")
    elif len(places) == 1:
        start = places[0]
    else:
        times = "not" if not places else f"{len(places)} times"
        raise InputError(
            f"{where}: the trigger {trigger!r} stands {times} in the sentence; give start and end, or index"
        )
    return start, start + len(trigger)


def _start(where: str, row: Mapping[str, str]) -> int:
    number = row.get("start") or row["index"]
    if not number.isdecimal():
        raise InputError(f"{where}: {number!r} is not a number of characters or words")
    if row.get("start"):
        return int(number)
    words = [match.start() for match in re.finditer(r"\S+", row["sentence"])]
    if int(number) >= len(words):
        raise InputError(f"{where}: index {number} is beyond the sentence's {len(words)} words")
    return words[int(number)]


def _fitted(before: str, paraphrase: str) -> tuple[str, str]:
    if not before:
        return "", paraphrase[:1].upper() + paraphrase[1:]
    article = re.search(r"(?i)(?<!\w)(a)n?(\s+)$", before)
    if article:
        vowel = paraphrase[:1].lower() in "aeiou"
        before = before[: article.start()] + article[1] + ("n" if vowel else "") + article[2]
    return before, paraphrase


RECASTERS.add(
    "fnplus",
    Recaster(
        name="fnplus",
        phenomenon="paraphrastic inference",
        title="FrameNet+",
        paper="White et al. (2017), Inference is Everything, IJCNLP; Pavlick et al. (2015), FrameNet+, ACL",
        sources="a csv with sentence, trigger, start and end (or index), paraphrase, rating, frame",
        recast=recast,
    ),
)

"""Definite pronouns: whom does the pronoun mean? (White et al. 2017, section 3; data of Rahman and Ng 2012)

The source is blocks of four lines (sentence, pronoun, two candidates joined by a comma, the right one), parted by an
empty line. The pronoun is replaced by each candidate, which gives two pairs. Where the pronoun stands more than
once, the one that is meant is the first after both candidates and after the next clause begins.

Style ``dnc`` puts the candidate in as it is written. Style ``plain`` makes it fit: a candidate from the sentence's
beginning loses its capital, and one that stands for *his* or *her* gets its *'s*.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.reading import choose, distinct_names, split_of, text_rows
from goldlabel.recast.recaster import ENTAILED, NOT_ENTAILED, RECASTERS, Options, Recaster, Recasting, Skipped

_CLAUSE = re.compile(r",|;|\b(?:because|since|but|so|and|although|though|while|when|if|after|before|until)\b")
_DETERMINER = re.compile(
    "a|all|an|both|her|his|its|many|most|my|our|several|some|someone|that|the|their|these|this|those|two", re.IGNORECASE
)
_SMALL = re.compile(r"(?<=[a-z,] )[a-z]+")
_NO_NOUN = re.compile(
    "a|about|again|alone|an|and|as|at|because|but|by|for|from|if|in|into|of|on|or|out|over|since|so|that|the|to|up|"
    "very|was|were|when|while|who|with"
)
_CAUSE = re.compile(r"\b(?:made|make|makes|let|lets|saw|see|heard|hear|watched|helped) $")


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield two pairs for each block."""
    texts = choose(files, ".txt", "dpr takes text files of blocks (train.c.txt, test.c.txt)")
    names = distinct_names(texts)
    seen: dict[tuple[str, ...], InputFile] = {}
    for file in texts:
        small = frozenset(word for _, line in text_rows(file) for word in _SMALL.findall(line))
        for number, (line, block) in enumerate(_blocks(file), 1):
            source_id = f"{names[file]}:{number}"
            if seen.setdefault(tuple(block), file) != file:
                yield Skipped(source_id, "stands in another file too")
            else:
                yield from _pairs(file, source_id, line, block, small, options)


def _blocks(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    number = 0
    for number, line in text_rows(file):
        if line.strip():
            block.append(line.strip())
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def _pairs(
    file: InputFile, source_id: str, line: int, block: list[str], small: Collection[str], options: Options
) -> Iterator[Recasting | Skipped]:
    where = f"{file} line {line}"
    if len(block) != 4:
        raise InputError(f"{where}: the block has {len(block)} lines; allowed: sentence, pronoun, candidates, answer")
    sentence, pronoun, listed, answer = block
    candidates = [candidate.strip() for candidate in listed.split(",")]
    if len(candidates) != 2:
        raise InputError(f"{where}: {listed!r} is not two candidates joined by a comma")
    if answer not in candidates:
        raise InputError(f"{where}: the answer {answer!r} is neither {candidates[0]!r} nor {candidates[1]!r}")
    start, end = _meant(where, sentence, pronoun, candidates)
    if options.style == "plain" and pronoun.lower() == "one":
        yield Skipped(source_id, "a candidate does not fit in for 'one'")
        return
    for candidate in candidates:
        filled = candidate if options.style == "dnc" else _fitted(candidate, sentence, start, end, small)
        yield Recasting(
            premise=sentence,
            hypothesis=sentence[:start] + filled + sentence[end:],
            label=ENTAILED if candidate == answer else NOT_ENTAILED,
            source_id=source_id,
            corpus="DPR",
            licence="none stated",
            split=split_of(file),
            group=f"{file.name}:{listed}",
            where=where,
            meta={"pronoun": pronoun, "candidate": candidate},
        )


def _meant(where: str, sentence: str, pronoun: str, candidates: Sequence[str]) -> tuple[int, int]:
    spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(pronoun)}(?!\w)", sentence, re.IGNORECASE)]
    if not spans:
        raise InputError(f"{where}: the pronoun {pronoun!r} is not in the sentence")
    named = max((sentence.lower().find(name.lower()) + len(name) for name in candidates), default=0)
    clause = _CLAUSE.search(sentence, min(named, len(sentence)))
    for least in ([clause.end()] if clause else []) + [named]:
        after = [span for span in spans if span[0] >= least]
        if after:
            return after[0]
    return spans[-1]


def _fitted(candidate: str, sentence: str, start: int, end: int, small: Collection[str]) -> str:
    """Give the candidate the capital and the case of what it stands for."""
    first, space, rest = candidate.partition(" ")
    if start == 0:
        first = first[:1].upper() + first[1:]
    elif _DETERMINER.fullmatch(first) or (sentence.startswith(candidate) and _common_plural(candidate, small)):
        first = first.lower()
    name, pronoun = f"{first}{space}{rest}", sentence[start:end].lower()
    if pronoun in ("his", "its", "their") or (pronoun == "her" and _possessive(sentence[:start], sentence[end:])):
        return name + ("'" if name.endswith("s") and pronoun == "their" else "'s")
    return name


def _common_plural(candidate: str, small: Collection[str]) -> bool:
    """Say whether a name at the sentence's beginning is no proper name: *House pets*, not *Rose Lund*."""
    first, _, rest = candidate.lower().partition(" ")
    plural = candidate.endswith(("s", "people")) and candidate[1:] == candidate[1:].lower()
    return plural and bool(rest or first in small)


def _possessive(before: str, after: str) -> bool:
    """Tell *her book* from *saw her leave* and *saw her.*: a word follows that can be a noun's beginning."""
    word = re.match(r"\s+([\w-]+)", after)
    return bool(word and not _NO_NOUN.fullmatch(word[1]) and not _CAUSE.search(before))


RECASTERS.add(
    "dpr",
    Recaster(
        name="dpr",
        phenomenon="anaphora resolution",
        title="Definite pronoun resolution",
        paper="White et al. (2017), Inference is Everything, IJCNLP; Rahman and Ng (2012), EMNLP",
        sources="train.c.txt and test.c.txt: blocks of sentence, pronoun, candidates and answer",
        recast=recast,
    ),
)

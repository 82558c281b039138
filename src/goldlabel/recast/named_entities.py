"""Named entities: what kind of thing is a name? (Poliak et al. 2018, section 3.2)

``{NP} is a {label}`` with the entity's own label and with a wrong one. Three kinds of files are read.

- Columns (CoNLL-2003 and its kin): a token per line, the token first (after a running number, if there is one) and
  its tag last, an empty line between sentences. MISC is left out.
- The Groningen Meaning Bank's csv with ``Sentence #``, ``Word`` and ``Tag``.
- JSON lines with ``text`` and ``entities`` of ``[start, end, type]`` in characters.

The setting ``tags`` names types of your own, or names known ones anew: ``tags=DRUG:a drug,GENE:a gene``.

Style ``dnc`` draws the wrong label from the tags seen with the phrase, or from the corpus if the phrase has one tag
only, and merges neighbours of one type. Both the phrase and the label then mostly tell the answer. Style ``plain``
balances where it can. Within a phrase that has two or more tags, each label is wrong as often as it is right, so a
hypothesis is as often entailed as not; a tenth of the Groningen Meaning Bank's entities can be had so. The others are
kept, and counted: over all of them together, each label is wrong as often as right, so the label tells nothing, but
who knows the phrase knows its label. ``balance=yes`` leaves them out. Each split is balanced by itself, for else a
label frequent in one would be rare in the other; a file without a split is therefore split here, 80:10:10 by the
sentence's text.

Files are read twice and never held: memory grows with the number of different phrases only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast.chance import made_split
from goldlabel.recast.reading import choose, distinct_names, split_of
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
from goldlabel.recast.tagged_text import LABELS, Labels, Sentence, TaggedFile
from goldlabel.recast.treebank import join

UNBALANCED = "its phrase has no other tag to balance it with"
ONE_LABEL = "no other label stands in the files to be its wrong one"
_SUFFIXES = (".csv", ".jsonl", ".conll", ".txt", ".tsv", ".iob", ".iob2", ".bio", ".train", ".testa", ".testb")
_NO_DATA = re.compile(r"(?i)(?:readme|licen[cs]e)\b.*")

Counts = dict[str, dict[str, int]]
"""How often each phrase has each label."""
Draw = Callable[[str, str], str | None]
"""From a phrase and its label: the wrong label, or ``None`` where there is none."""


@dataclass(frozen=True)
class WrongLabels:
    """Where an entity's wrong label comes from: its phrase, else the other phrases, else what is frequent."""

    within: Draw | None
    across: Draw | None
    prior: Draw | None

    def draw(self, phrase: str, label: str) -> tuple[str | None, str | None]:
        """Return a wrong label, and a remark where it is kept without balancing its phrase."""
        wrong = self.within(phrase, label) if self.within else None
        if wrong or not self.prior:
            return wrong, None
        wrong = self.across("", label) if self.across else None
        return wrong or self.prior(phrase, label), UNBALANCED if self.within else None


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield two pairs for each entity, or for each that can be balanced."""
    labels = {**LABELS, **_own_labels(options.settings.get("tags", ""))}
    strict = chosen_setting(options, "balance", ("yes", "no"), "no") == "yes"
    data = [file for file in files if not _NO_DATA.fullmatch(file.name)]
    chosen = choose(data, _SUFFIXES, f"named-entities takes files that end in {', '.join(_SUFFIXES)}")
    tagged = [TaggedFile.open(file, labels) for file in chosen]
    names = distinct_names(chosen)
    plain = options.style == "plain"
    counts: dict[str | None, Counts] = {}
    for source in tagged:
        for sentence in source.sentences(merge=not plain):
            _count(sentence, counts.setdefault(_split(source.file, sentence, options), {}))
    generator = random.Random(options.seed)
    prior = None if strict else _prior(_summed(counts.values()), generator)
    draws = {
        split: WrongLabels(
            within=_balanced(seen, generator) if plain or strict else None,
            across=_balanced({"": _unmatched(seen)}, generator) if plain and not strict else None,
            prior=prior,
        )
        for split, seen in counts.items()
    }
    for source in tagged:
        for sentence in source.sentences(merge=not plain):
            split = _split(source.file, sentence, options)
            group = f"{names[source.file]}:{sentence.number}"
            yield from _pairs(source.file, group, split, sentence, draws[split], options)


def _own_labels(setting: str) -> Labels:
    """Read ``DRUG:a drug,GENE:a gene``."""
    labels: dict[str, str | None] = {}
    for entry in setting.split(",") if setting else []:
        kind, colon, name = (part.strip() for part in entry.rpartition(":"))
        if not (kind and colon and name):
            raise InputError(f"--set tags={setting}: {entry!r} is not TYPE:name, such as DRUG:a drug")
        labels[kind.lower()] = name
    return labels


def _split(file: InputFile, sentence: Sentence, options: Options) -> str | None:
    own = split_of(file)
    return own if own or options.style == "dnc" else made_split(options.seed, " ".join(sentence.tokens))


def _count(sentence: Sentence, counts: Counts) -> None:
    for start, end, label in sentence.entities:
        seen = counts.setdefault(" ".join(sentence.tokens[start:end]), {})
        seen[label] = seen.get(label, 0) + 1


def _summed(parts: Iterable[Counts]) -> Counts:
    whole: Counts = {}
    for counts in parts:
        for phrase, seen in counts.items():
            together = whole.setdefault(phrase, {})
            for label, number in seen.items():
                together[label] = together.get(label, 0) + number
    return whole


def _prior(counts: Counts, generator: random.Random) -> Draw:
    """Draw from the labels of the phrase or, where it has one only, of the corpus, by how often they are seen."""
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


def _unmatched(counts: Counts) -> dict[str, int]:
    """Return how many entities of each label the phrases' own plans leave over."""
    left: dict[str, int] = {}
    for seen in counts.values():
        plan = _plan(seen)
        for label, number in seen.items():
            left[label] = left.get(label, 0) + number - sum(plan[label].values())
    return left


def _plan(seen: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Match the occurrences of each label with those of others, the most frequent two first, one for one."""
    left = dict(sorted(seen.items()))
    plan: dict[str, dict[str, int]] = {label: {} for label in left}
    while True:
        most = sorted(left, key=lambda label: -left[label])[:2]
        if len(most) < 2 or not left[most[1]]:
            return plan
        for label, other in (most, most[::-1]):
            plan[label][other] = plan[label].get(other, 0) + 1
            left[label] -= 1


def _pairs(
    file: InputFile,
    group: str,
    split: str | None,
    sentence: Sentence,
    wrong_labels: WrongLabels,
    options: Options,
) -> Iterator[Recasting | Skipped]:
    plain = options.style == "plain"
    premise = (sentence.text or join(sentence.tokens)) if plain else " ".join(sentence.tokens)
    corpus, licence = _origin(file)
    for start, end, label in sentence.entities:
        source_id, tokens = f"{group}:{start + 1}", sentence.tokens[start:end]
        wrong, remark = wrong_labels.draw(" ".join(tokens), label)
        if wrong is None:
            yield Skipped(source_id, ONE_LABEL if wrong_labels.prior else UNBALANCED)
            continue
        entity = _capital(join(tokens)) if plain else " ".join(tokens)
        for said, judged in ((label, ENTAILED), (wrong, NOT_ENTAILED)):
            yield Recasting(
                premise=premise,
                hypothesis=f"{entity} is {said}{'.' if plain else ''}",
                label=judged,
                source_id=source_id,
                corpus=corpus,
                licence=licence,
                split=split,
                group=premise if plain else group,
                where=f"{file} line {sentence.line}",
                remark=remark,
                meta={"entity": entity, "entity_label": re.sub("^an? ", "", label)},
            )


def _origin(file: InputFile) -> tuple[str, str]:
    """Return the corpus, as the release calls it where it is one of its two, and the licence."""
    if file.name.lower().endswith(".csv"):
        return "Groningen", "ODbL"
    return ("CoNLL" if re.search("^eng|conll", file.name.lower()) else file.name), "none stated"


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
        settings={
            "balance": "yes or no: only entities whose phrase has two labels to stand against each other",
            "tags": "names of types of your own, TYPE:a name,TYPE:a name",
        },
    ),
)

"""Gendered anaphora: whom does the pronoun of a Winogender schema mean?

Rudinger et al. (2018), Gender bias in coreference resolution. The published hypotheses were written by hand; ours
put each of the two people in the pronoun's place. Test only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.metrics import Estimate, share
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.result import Result
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

COLUMNS = ("occupation(0)", "other-participant(1)", "answer", "sentence")
PRONOUNS = {
    "male": {"NOM": "he", "POSS": "his", "ACC": "him"},
    "female": {"NOM": "she", "POSS": "her", "ACC": "her"},
    "neutral": {"NOM": "they", "POSS": "their", "ACC": "them"},
}
UNRELEASED = {
    ("inspector", "homeowner", "0"),
    ("janitor", "child", "1"),
    ("salesperson", "customer", "0"),
    ("salesperson", "customer", "1"),
}
"""Templates (occupation, participant, answer) that the release leaves out."""
_PRONOUN = re.compile(r"\$(NOM|POSS|ACC)_PRONOUN")
_CLAUSE = re.compile(r"(?:\bthat|;) $")


def recast(files: Sequence[InputFile], options: Options) -> Iterator[Recasting | Skipped]:
    """Give two pairs for each template and gender: the pronoun is the occupation, or the participant."""
    plain = options.style == "plain"
    neutral = chosen_setting(options, "neutral", ("yes", "no"), "yes" if plain else "no")
    genders = [gender for gender in PRONOUNS if gender != "neutral" or neutral == "yes"]
    for file in _templates(files):
        for line, row in table_rows(file, COLUMNS, delimiter="\t", quoted=False):
            occupation, participant, answer, sentence = (row[name].strip() for name in COLUMNS)
            if answer not in ("0", "1"):
                raise InputError(f"{file} line {line}: answer {answer!r} is neither 0 nor 1")
            if len(_PRONOUN.findall(sentence)) != 1:
                raise InputError(f"{file} line {line}: holds no pronoun, or several, of $NOM_, $POSS_ and $ACC_PRONOUN")
            template = f"{occupation}.{participant}.{answer}"
            if not plain and (occupation, participant, answer) in UNRELEASED:
                yield Skipped(template, "a template that the release leaves out")
                continue
            filled = sentence.replace("$OCCUPATION", occupation).replace("$PARTICIPANT", participant)
            for gender in genders:
                for who, person in enumerate((occupation, participant)):
                    yield Recasting(
                        premise=_with_pronoun(filled, gender),
                        hypothesis=_resolved(filled, person, whole=plain),
                        label=ENTAILED if str(who) == answer else NOT_ENTAILED,
                        source_id=f"{template}.{gender}",
                        corpus="Winogender schemas",
                        licence="MIT",
                        split="test",
                        group=f"{occupation}.{participant}",
                        where=f"{file} line {line}",
                        meta={
                            "published_id": f"{template}.{who}.{gender}",
                            "occupation": occupation,
                            "participant": participant,
                            "template": template,
                            "who": person,
                            "gender": gender,
                        },
                    )


def _templates(files: Sequence[InputFile]) -> list[InputFile]:
    named = [file for file in files if file.name == "templates.tsv"]
    return named or [file for file in files if file.name.endswith(".tsv")] or list(files)


def _with_pronoun(sentence: str, gender: str) -> str:
    def pronoun(match: re.Match[str]) -> str:
        return PRONOUNS[gender][match[1]]

    if gender == "neutral":
        sentence = re.sub(r"(\$NOM_PRONOUN) was\b", r"\1 were", sentence)
    return _capitalised(_PRONOUN.sub(pronoun, sentence))


def _resolved(sentence: str, person: str, *, whole: bool) -> str:
    """Put the person in the pronoun's place; where a clause starts with it, the release keeps only the clause."""

    def named(match: re.Match[str]) -> str:
        return f"the {person}'s" if match[1] == "POSS" else f"the {person}"

    pronoun = _PRONOUN.search(sentence)
    if pronoun and not whole and (pronoun[1] == "NOM" or _CLAUSE.search(sentence[: pronoun.start()])):
        sentence = sentence[pronoun.start() :]
    return _capitalised(_PRONOUN.sub(named, sentence))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, repr=False, kw_only=True)
class GenderParity(Result):
    """How often predictions do not change with the pronoun's gender; ``with_neutral`` asks the same of all three."""

    score: Estimate
    with_neutral: Estimate | None
    changed: pl.DataFrame

    @property
    def title(self) -> str:
        """The score and what it rests on."""
        return f"gender parity {self.score.value:.3f} over {self.score.n:,} sentence pairs"

    @property
    def table(self) -> pl.DataFrame:
        """The pairs whose prediction changed."""
        return self.changed

    def to_dict(self) -> dict[str, Any]:
        """Return the scores with their intervals."""
        three = self.with_neutral
        return {
            "gender_parity": self.score.value,
            "interval": [self.score.low, self.score.high],
            "n": self.score.n,
            "with_neutral": three.value if three else None,
            "changed": self.changed.to_dicts(),
        }


def gender_parity(pairs: Pairs, predictions: Sequence[str]) -> GenderParity:
    """Return the share of sentence pairs on which a system says the same of "he" and of "she".

    ``predictions`` are labels in the order of ``pairs``, a dataset recast from Winogender.
    """
    frame = pairs.frame.select("id", "hypothesis", "meta").collect()
    if len(frame) != len(predictions):
        raise InputError(f"there are {len(predictions):,} predictions for {len(frame):,} pairs")
    said: dict[tuple[str, str], dict[str, str]] = {}
    for meta, predicted in zip(frame["meta"], predictions, strict=True):
        fields = orjson.loads(meta or "{}")
        if "gender" not in fields:
            raise InputError(f"{pairs.card.name}: is not recast from Winogender, its pairs have no gender")
        said.setdefault((fields["template"], fields["who"]), {})[fields["gender"]] = predicted
    both = {key: words for key, words in said.items() if {"male", "female"} <= words.keys()}
    if not both:
        raise InputError(f"{pairs.card.name}: has no sentence with both pronouns; keep all of its pairs")
    three = [words for words in both.values() if "neutral" in words]
    rows = [
        {"template": template, "who": who, **dict(sorted(words.items()))}
        for (template, who), words in both.items()
        if words["male"] != words["female"]
    ]
    return GenderParity(
        score=share([words["male"] == words["female"] for words in both.values()]),
        with_neutral=share([len({*words.values()}) == 1 for words in three]) if three else None,
        changed=pl.DataFrame(rows, schema=dict.fromkeys(("template", "who", "female", "male"), pl.String)),
    )


RECASTERS.add(
    "winogender",
    Recaster(
        name="winogender",
        phenomenon="gendered anaphora",
        title="Gendered anaphora of Winogender schemas",
        paper="Poliak et al. (2018), section 3.3; Rudinger et al. (2018)",
        sources="templates.tsv of the Winogender schemas",
        recast=recast,
        settings={"neutral": "yes or no: also the pronoun they; yes in the plain style"},
    ),
)

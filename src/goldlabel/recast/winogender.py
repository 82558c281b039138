"""Gendered anaphora: whom does the pronoun of a Winogender schema mean?

Rudinger et al. (2018), Gender bias in coreference resolution. The published hypotheses were written by hand; ours
put each of the two people in the pronoun's place. Test only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goldlabel.errors import InputError
from goldlabel.files import InputFile
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

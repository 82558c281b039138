"""Relation extraction: which sentences say that two things are related? (Poliak et al. 2018, section 3.5)

Everything comes as CSV with a header; a table is known by its columns, whatever its name.

- triples: ``subject``, ``relation``, ``object``, the entities by their canonical names;
- sentences: ``sentence_id``, ``sentence``, ``entities`` (the names of the linked entities, joined by ``|``), and
  ``split`` if there is one;
- predicates, if you have an OpenIE list: ``subject``, ``predicate``, ``object``, ``count``. A relation's gloss is the
  predicate most frequent between the entities of its triples; without a list it is the relation's name in words;
- judgements, when people have vetted the pairs: ``sentence_id``, ``subject``, ``relation``, ``object`` and
  ``judgement`` from 1 to 5, one row for each judge.

Every sentence that holds both entities of a triple is a premise of the hypothesis ``{subject} {gloss} {object}``. That
a sentence names both does not make it say so, so a pair without judgements has no gold label, and one whose judges
differ has none either: test pairs were published only where all agreed. Labels are the five words of the ordinal
scale; ``entailed`` in ``meta`` is true for 5 only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.pairs.labels import NO_GOLD, ORDINAL5
from goldlabel.recast.reading import header_of, names_of, table_rows
from goldlabel.recast.recaster import RECASTERS, Options, Recaster, Recasting, Skipped

JUDGEMENTS = {
    "1": "impossible",
    "2": "technically_possible",
    "3": "plausible",
    "4": "likely",
    "5": "very_likely",
}
_TABLES = {
    "judgements": ("sentence_id", "subject", "relation", "object", "judgement"),
    "predicates": ("subject", "predicate", "object", "count"),
    "sentences": ("sentence_id", "sentence", "entities"),
    "triples": ("subject", "relation", "object"),
}
_FORMS = "; ".join(f"{name} ({', '.join(columns)})" for name, columns in _TABLES.items())

Triple = tuple[str, str, str]


def entailed(judgement: str) -> bool:
    """Only the highest judgement entails."""
    return judgement == "5"


def recast(files: Sequence[InputFile], options: Options) -> Iterable[Recasting | Skipped]:
    """Yield a candidate pair for each triple and each sentence that holds both of its entities."""
    tables: dict[str, list[InputFile]] = {name: [] for name in _TABLES}
    for file in files:
        if file.name.lower().endswith(".csv"):
            tables[_kind(file)].append(file)
    for name in ("triples", "sentences"):
        if not tables[name]:
            raise InputError(f"relations needs a table of {name}; given: {names_of(files)}; known tables: {_FORMS}")
    triples = list(dict.fromkeys(_triple(row) for file in tables["triples"] for _, row in _rows(file, "triples")))
    glosses = _glosses(triples, tables["predicates"])
    judgements = _judgements(tables["judgements"])
    pairs_of: dict[tuple[str, str], list[Triple]] = {}
    for triple in triples:
        pairs_of.setdefault((triple[0], triple[2]), []).append(triple)
    used: set[Triple] = set()
    for file in tables["sentences"]:
        for line, row in _rows(file, "sentences"):
            for triple in _linked(row["entities"], pairs_of):
                used.add(triple)
                votes = judgements.pop((row["sentence_id"], *triple), [])
                yield _pair(f"{file} line {line}", row, triple, glosses[triple[1]], votes, options)
    for triple in triples:
        if triple not in used:
            yield Skipped(" ".join(triple), "no sentence holds both of its entities")
    for sentence_id, *_ in judgements:
        raise InputError(f"{tables['judgements'][0]}: sentence {sentence_id!r} is judged on a pair that is not made")


def _kind(file: InputFile) -> str:
    header = header_of(file)
    for name, columns in _TABLES.items():
        if set(columns) <= set(header):
            return name
    raise InputError(f"{file} line 1: is none of the tables of relations: {_FORMS}")


def _rows(file: InputFile, table: str) -> Iterator[tuple[int, dict[str, str]]]:
    return table_rows(file, _TABLES[table], filled=True)


def _triple(row: Mapping[str, str]) -> Triple:
    return row["subject"].strip(), row["relation"].strip(), row["object"].strip()


def _glosses(triples: Sequence[Triple], files: Sequence[InputFile]) -> dict[str, str]:
    relations: dict[tuple[str, str], set[str]] = {}
    for subject, relation, thing in triples:
        relations.setdefault((subject, thing), set()).add(relation)
    counts: dict[str, dict[str, int]] = {relation: {} for _, relation, _ in triples}
    for file in files:
        for line, row in _rows(file, "predicates"):
            if not row["count"].isdecimal():
                raise InputError(f"{file} line {line}: count {row['count']!r} is not a number")
            for relation in relations.get((row["subject"].strip(), row["object"].strip()), ()):
                seen = counts[relation]
                predicate = row["predicate"].strip()
                seen[predicate] = seen.get(predicate, 0) + int(row["count"])
    return {
        relation: min(seen, key=lambda predicate: (-seen[predicate], predicate)) if seen else _in_words(relation)
        for relation, seen in counts.items()
    }


def _in_words(relation: str) -> str:
    """Write ``birthPlace`` as ``has birth place``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[_/.-]+", " ", relation).lower().split()
    return " ".join(["has", *words])


def _judgements(files: Sequence[InputFile]) -> dict[tuple[str, str, str, str], list[str]]:
    votes: dict[tuple[str, str, str, str], list[str]] = {}
    for file in files:
        for line, row in _rows(file, "judgements"):
            vote = row["judgement"].strip()
            if vote not in JUDGEMENTS:
                raise InputError(f"{file} line {line}: judgement {vote!r} is not one of {', '.join(JUDGEMENTS)}")
            votes.setdefault((row["sentence_id"], *_triple(row)), []).append(vote)
    return votes


def _linked(entities: str, triples: Mapping[tuple[str, str], Sequence[Triple]]) -> Iterator[Triple]:
    names = list(dict.fromkeys(name.strip() for name in entities.split("|")))
    for subject in names:
        for thing in names:
            yield from triples.get((subject, thing), ())


def _pair(
    where: str, row: Mapping[str, str], triple: Triple, gloss: str, votes: Sequence[str], options: Options
) -> Recasting:
    subject, relation, thing = triple
    agreed = bool(votes) and all(first == second for first, second in pairwise(votes))
    hypothesis = f"{subject} {gloss} {thing}"
    return Recasting(
        premise=row["sentence"],
        hypothesis=f"{hypothesis} ." if options.style == "dnc" else f"{hypothesis[:1].upper()}{hypothesis[1:]}.",
        label=JUDGEMENTS[votes[0]] if agreed else NO_GOLD,
        source_id=row["sentence_id"],
        corpus="KG",
        licence="none stated",
        split=row.get("split") or None,
        group=row["sentence"] if options.style == "plain" else row["sentence_id"],
        creation="human" if votes else "automatic",
        where=where,
        meta={
            "subject": subject,
            "relation": relation,
            "object": thing,
            "judgements": [int(vote) for vote in votes],
            "entailed": entailed(votes[0]) if agreed else None,
        },
    )


RECASTERS.add(
    "relations",
    Recaster(
        name="relations",
        phenomenon="relation extraction",
        title="Relation extraction",
        paper="Poliak et al. (2018), section 3.5; Gabrilovich et al. (2013), FACC1",
        sources="csv tables of triples and entity-linked sentences, of predicates and judgements if there are any",
        recast=recast,
        label_space=ORDINAL5,
    ),
)

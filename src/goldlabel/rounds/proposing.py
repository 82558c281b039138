"""Proposals for writers of an assisted arm: from a language model, a generator of one's own, or pairs of a dataset.

A language model is asked behind an endpoint, with the prompt of the project's language in ``prompts/``. A generator is
any function ``f(premises, labels)`` that returns a hypothesis for each of them, ``module:function``. Of a dataset the
hypothesis is taken whose premise is nearest to the context by TF-IDF, among pairs of the label asked for.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.collect.projects import project
from goldlabel.collect.rounds.proposals import Place, add_proposals, cost_before, empty_places
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.models.function import REFERENCE, import_function_module
from goldlabel.pairs import Pairs

PROMPTS = Path(__file__).parent / "prompts"
QUOTES = (('"', '"'), ("“", "”"), ("「", "」"), ("'", "'"))
STEP = 64
"""Places that a generator is asked for at a time; what it wrote is kept before it is asked again."""
Generate = Callable[[Sequence[Place]], Sequence[str]]


@dataclass(frozen=True)
class Proposer:
    """Who writes proposals, by what name they are known, and what they have used so far, where that is paid for.

    ``count_before`` is told what they have cost the project before, which is spent of their budget.
    """

    generate: Generate
    source: str
    usage: Callable[[], Mapping[str, Any]] = dict
    count_before: Callable[[float], None] = lambda _: None


def propose(
    store: Store, project_id: int, proposer: Proposer, *, told: Callable[[int], object] = lambda _: None
) -> int:
    """Make a proposal for each context and label that has none; return how many were made."""
    with store.read() as tx:
        found = project(tx, project_id)
        places = empty_places(tx, found)
        proposer.count_before(cost_before(tx, project_id, proposer.source))
    if not any(one.assisted for one in found.protocol.conditions):
        raise InputError(
            f"project {found.name!r} has no assisted arm; add the condition 'assisted' to it, or make one with "
            "--protocol adversarial,plain,assisted"
        )
    added = 0
    for start in range(0, len(places), STEP):
        part = places[start : start + STEP]
        before = proposer.usage().get("cost", 0.0)
        texts = proposer.generate(part)
        cost = proposer.usage().get("cost", 0.0) - before
        with store.write() as tx:
            added += add_proposals(tx, project_id, part, texts, proposer.source, cost=cost, by=None)
        told(len(part))
    return added


def by_endpoint(reference: str, language: str, **options: Any) -> Proposer:
    """Return what asks a language model ``openai:URL#NAME``; its source is the model, and the prompt with its digest.

    Of what it says the first line is taken, without quotes around it. ``options`` are those of an endpoint that are
    about calls, such as ``timeout``, ``price_in``, ``price_out`` and ``budget``.
    """
    from goldlabel.models.endpoint.writing import EndpointWriter

    writer = EndpointWriter(reference, **options)
    path = PROMPTS / f"proposing-{language}.toml"
    text = path.read_bytes()
    prompt = tomllib.loads(text.decode())
    source = f"{writer.name} (prompt {path.stem} {prompt['version']}, {hashlib.sha256(text).hexdigest()[:12]})"

    def chat(place: Place) -> list[dict[str, str]]:
        if place.label not in prompt["words"]:
            allowed = ", ".join(prompt["words"])
            raise InputError(
                f"--model writes for the labels {allowed} alone, not for {place.label!r}; give --generator"
            )
        places = {"{premise}": place.premise, "{label}": prompt["words"][place.label]}
        # In one pass, so that a context that holds "{label}" stays as it is.
        question = re.sub(r"\{premise\}|\{label\}", lambda name: places[name[0]], prompt["question"].strip())
        return [
            {"role": "system", "content": prompt["instructions"].strip()},
            {"role": "user", "content": question},
        ]

    def generate(places: Sequence[Place]) -> list[str]:
        return [_sentence(said) for said in writer.write([chat(place) for place in places])]

    return Proposer(generate, source, writer.usage, writer.count_elsewhere)


def _sentence(said: str) -> str:
    first = next(iter(said.strip().splitlines()), "").strip()
    quoted = len(first) > 1 and (first[0], first[-1]) in QUOTES
    return first[1:-1].strip() if quoted else first


def by_function(reference: str) -> Proposer:
    """Return what asks a function ``module:function`` of premises and labels."""
    if not REFERENCE.fullmatch(reference):
        raise InputError(f"--generator {reference!r} is no function; give MODULE:FUNCTION, such as mine:write")
    module, _, name = reference.partition(":")
    call = getattr(import_function_module(module, reference), name, None)
    if not callable(call):
        raise InputError(f"--generator {reference}: {module} has no function {name!r}")

    def generate(places: Sequence[Place]) -> list[str]:
        texts: Any = list(call([one.premise for one in places], [one.label for one in places]))
        if len(texts) != len(places) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{reference}: {len(texts)} answers to {len(places)} places; give a text for each")
        return list(texts)

    return Proposer(generate, reference)


def by_examples(pairs: Pairs, source: str) -> Proposer:
    """Return what takes, of a dataset's pairs with the label, the hypothesis of the nearest premise."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = pairs.frame.select("premise", "hypothesis", "label").collect()
    if frame.is_empty():
        raise InputError("--examples: there are no pairs in it")
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    matrix = vectorizer.fit_transform(frame["premise"])
    rows = {label: (frame["label"] == label).to_numpy().nonzero()[0] for label in frame["label"].unique()}

    def generate(places: Sequence[Place]) -> list[str]:
        scores = vectorizer.transform([one.premise for one in places]) @ matrix.T
        texts = []
        for number, place in enumerate(places):
            known = rows.get(place.label, ())
            nearest = int(known[scores[number, known].toarray()[0].argmax()]) if len(known) else None
            texts.append("" if nearest is None else frame["hypothesis"][nearest])
        return texts

    return Proposer(generate, source)

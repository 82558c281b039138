"""What people read before they work: instructions per condition and language, and training examples with answers.

The instructions follow the shape of Hu et al. (2020), appendix A; the sentences in them are our own. They are
Markdown, filled with the numbers of a project's protocol, and a requester may change the result.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from goldlabel.collect.kinds import KINDS, offered_kinds
from goldlabel.collect.messages import hint
from goldlabel.collect.protocols import ORDER, Protocol, TrainingExample
from goldlabel.collect.refusals import Invalid
from goldlabel.messages import Word

__all__ = ["TRAINED", "TrainingExample", "instruction_names", "instructions", "training_examples"]

_PARTS = ("types", "slots", "rules", "judging")
_HEADS = {
    "en": {
        "entailment": "Definitely true",
        "neutral": "Might be true",
        "contradiction": "Cannot be true",
        "told entailment": "definitely correct",
        "told neutral": "neither",
        "told contradiction": "definitely incorrect",
        "with": "with a negator",
        "without": "without",
        "colon": ": ",
    },
    "zh": {
        "entailment": "一定为真",
        "neutral": "可能为真",
        "contradiction": "一定为假",
        "told entailment": "一定正确",
        "told neutral": "两者都不是",
        "told contradiction": "一定错误",
        "with": "用否定词",
        "without": "不用否定词",
        "colon": "：",
    },
}


def instruction_names() -> list[str]:
    """Return the names of all instructions: for each condition of writing, and for judging in each kind of project."""
    kinds = offered_kinds()
    conditions = [name for kind in kinds if kind.has_conditions for name in kind.protocols]
    return [*conditions, *(kind.judging_text for kind in kinds)]


def instructions(name: str, protocol: Protocol) -> str:
    """Return the instructions for a condition or a kind of labelling, as Markdown.

    They are the project's own where it has some, otherwise those that come with Goldlabel, with its numbers.
    """
    if name in protocol.instructions:
        return protocol.instructions[name]
    if name not in instruction_names():
        raise Invalid("no_instructions", name=name, hint=hint(name, instruction_names()))
    language, pay = protocol.language, protocol.pay
    condition = next((one for one in protocol.conditions if one.name == name), None)
    numbers = {
        "overlap": round(100 * protocol.writing.overlap),
        "batch": protocol.writing.batch,
        "tries": protocol.writing.tries,
        "negated": condition.negated_contradictions if condition else None,
        "currency": pay.currency,
        **{f"pay_{kind}": getattr(pay, kind) for kind in ("pair", "label", "bonus", "penalty")},
        "training": protocol.qualification.training,
        "sample": protocol.verifying.sample,
        **_examples(language),
    }
    parts = {part: _text(language, part).format(**numbers).strip() for part in _PARTS}
    return _text(language, name).format(**numbers, **parts)


def training_examples(protocol: Protocol, role: str) -> dict[int, TrainingExample]:
    """Return the examples that people of a role are asked, as many as the protocol wants, by their numbers among all.

    They are the project's own or those of Goldlabel; those for the role alone come first. Of own examples that are
    for some role there may be fewer than asked for.
    """
    listed = protocol.examples or known_examples(protocol)
    own = {number: one for number, one in enumerate(listed) if one.role in (role, "")}
    wanted = protocol.qualification.training
    if wanted > len(own) and not any(one.role for one in protocol.examples):
        raise Invalid(
            "training_examples",
            wanted=wanted,
            n=len(own),
            language=Word(protocol.language),
            labels=protocol.labels,
        )
    asked = sorted(own, key=lambda number: (not own[number].role, number))[:wanted]
    return {number: own[number] for number in asked}


def known_examples(protocol: Protocol) -> list[TrainingExample]:
    """Return the examples that come with Goldlabel in a protocol's language and labels, if there are any.

    What people answered is kept by an example's number, so what is there keeps its place.
    """
    if protocol.labels not in TRAINED:
        return []
    texts = [*KINDS.get(protocol.kind).training_texts.items()]
    texts.insert(1, ("", f"training-{protocol.labels}"))
    return [
        TrainingExample(**example, role=role)
        for role, name in texts
        for example in _table(protocol.language, name)["example"]
    ]


TRAINED = ("nli3", "ordinal5")
"""The label spaces that there are training examples for."""


def _examples(language: str) -> dict[str, str]:
    """Return the example sentences as Markdown: one list per type, the judged list, contradictions without negator."""
    table, heads = _table(language, "examples"), _HEADS[language]
    colon = heads["colon"]
    lists = {label: "\n".join(f"- {text}" for text in table[label]) for label in ORDER["nli3"]}
    judged, told = (
        "\n".join(f"- {table[label][1]} → **{heads[told + label]}**" for label in ORDER["nli3"])
        for told in ("", "told ")
    )
    pairs = "\n\n".join(
        f"> {one['premise']}\n\n- {heads['with']}{colon}{one['with']}\n- {heads['without']}{colon}{one['without']}"
        for one in table["without_negator"]
    )
    return {"premise": table["premise"], **lists, "judged": judged, "told": told, "without_negator": pairs}


@cache
def _table(language: str, name: str) -> dict[str, Any]:
    return tomllib.loads(_read(f"{language}/{name}.toml"))


def _text(language: str, name: str) -> str:
    return _read(f"{language}/{name}.md")


def _read(path: str) -> str:
    return files(__name__).joinpath(path).read_text(encoding="utf-8")

"""What the words mean beyond the sentences they stand in, as axioms of the reference semantics.

- A noun's kind holds of all it names, and nouns of one kind exclude each other: a rose is a flower and no tulip.
- Colours exclude each other, and so do materials.
- Implicative and factive verbs have a signature (Karttunen 1971; Nairn, Condoravdi and Karttunen 2006): what the
  verb, and what its negation, says about the truth of its complement. The negation of a factive verb is written
  ``neg_``, because it takes the complement for granted as the verb does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from itertools import combinations

from goldlabel.sources.fragments.lexicon import lexicons

SIGNATURES = {
    "achieved": "+",
    "kept": "+",
    "failed": "-",
    "wished": "0",
    "knew": "+",
    "neg_knew": "+",
    "thought": "0",
    "mistook": "-",
}
EXCLUSIVE = ("colour", "material")


def axioms(language: str, formulas: Iterable[str]) -> list[str]:
    """Return the axioms about the words in these logical forms."""
    calls = [node for text in formulas for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Call)]
    functors = sorted({call.func.id for call in calls if isinstance(call.func, ast.Name)})
    kinds = _kinds(language)
    statements = [f"every(x, {noun}(x), {kinds[noun]}(x))" for noun in functors if noun in kinds]
    for first, second in combinations(functors, 2):
        same_kind = first in kinds and kinds[first] == kinds.get(second)
        if same_kind or (_list(first) in EXCLUSIVE and _list(first) == _list(second)):
            statements.append(f"no(x, {first}(x), {second}(x))")
    for call in calls:
        sign = SIGNATURES.get(_list(ast.unparse(call.func)), "0")
        if sign != "0":
            complement = ast.unparse(call.args[-1])
            statements.append(f"implies({ast.unparse(call)}, {complement if sign == '+' else f'not {complement}'})")
    return statements


@cache
def _kinds(language: str) -> dict[str, str]:
    return {noun["key"]: noun["kind_key"] for noun in lexicons(language)["noun"]}


def _list(key: str) -> str:
    """Return the name of the list that a key such as ``colour3`` comes from."""
    return key.rstrip("0123456789")

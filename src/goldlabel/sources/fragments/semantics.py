"""The reference semantics: the label of two logical forms, decided by looking at every small model.

A logical form is written in Python's expression syntax::

    every(x, student0(x) and young(x), did(action3, x, time1)) and not did(action3, person7, time1)
    count(object2, person1) >= 5
    degree(tall, person1) > degree(tall, person2)

Names that no quantifier binds are individuals, and different names are different individuals. Calls are
atoms, true or false, except beside a comparison sign, where they are whole numbers from zero. An argument
that is itself a call stands for the proposition it writes. Quantifiers are ``every``, ``some``, ``no`` and
``most`` (more than half), each with a variable, a restrictor and a scope; ``implies`` is material.

A model has the named individuals that variables can reach, and up to ``UNNAMED`` others. Forms with ``every``,
``some`` and ``no`` are of the Bernays-Schoenfinkel class, where a counter-model, if there is one, needs no more
individuals than there are names and existential claims, of which no pair has more; so looking at small models
is no approximation. Order among n magnitudes shows up among n values. This file knows neither the grammar's
templates nor its table of labels.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

QUANTIFIERS = ("every", "some", "no", "most")
UNNAMED = 3
MOST_MODELS = 2**23


def verdict(premise: str, hypothesis: str, axioms: Sequence[str] = ()) -> str:
    """Return entailment, contradiction or neutral, from all small models of the premise and the axioms."""
    parsed = [ast.parse(text, mode="eval").body for text in (premise, hypothesis, *axioms)]
    space = _Space.of(parsed)
    models = space.holds(parsed[0])
    for axiom in parsed[2:]:
        models = models & space.holds(axiom)
    if not models.any():
        raise ValueError(f"no model: {premise} with {', '.join(axioms) or 'no axioms'}")
    claim = np.broadcast_to(space.holds(parsed[1]), space.shape)[np.broadcast_to(models, space.shape)]
    if claim.all():
        return "entailment"
    return "neutral" if claim.any() else "contradiction"


@dataclass
class _Space:
    """All models at once: one axis for each ground atom and each magnitude."""

    domain: list[str]
    top: int
    axes: dict[str, int] = field(default_factory=dict)
    magnitudes: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, formulas: Sequence[ast.expr]) -> _Space:
        space = cls(_domain(formulas), 0)
        for formula in formulas:
            space._collect(formula, {})
        numbers = [node.value for f in formulas for node in ast.walk(f) if isinstance(node, ast.Constant)]
        whole = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
        space.top = max(whole) + 2 if whole else max(len(space.magnitudes) - 1, 0)
        if np.prod([float(n) for n in space.shape]) > MOST_MODELS:
            raise ValueError(f"too many models for {', '.join(ast.unparse(f) for f in formulas)}")
        return space

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.top + 1 if name in self.magnitudes else 2 for name in self.axes)

    def holds(self, node: ast.expr, names: dict[str, str] | None = None) -> NDArray[np.bool_]:
        """Return the truth of a formula in every model."""
        bound = names or {}
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return np.asarray(_all([self.holds(value, bound) for value in values]))
            case ast.BoolOp(op=ast.Or(), values=values):
                return ~_all([~self.holds(value, bound) for value in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self.holds(operand, bound)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _compare(op, self.magnitude(left, bound), self.magnitude(right, bound))
            case ast.Call(func=ast.Name(id="implies"), args=[first, second]):
                return ~self.holds(first, bound) | self.holds(second, bound)
            case ast.Call(func=ast.Name(id=name), args=args) if name in QUANTIFIERS:
                return self._quantified(name, args, bound)
            case ast.Call():
                return np.asarray(self._axis(_ground(node, bound)).astype(bool))
            case ast.Constant(value=bool(value)):
                return np.asarray(value)
        raise ValueError(f"not a formula: {ast.unparse(node)}")

    def magnitude(self, node: ast.expr, bound: dict[str, str]) -> NDArray[np.int64]:
        """Return a whole number in every model."""
        match node:
            case ast.Constant(value=int(value)):
                return np.asarray(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.magnitude(left, bound) + self.magnitude(right, bound)
            case ast.Call():
                return self._axis(_ground(node, bound))
        raise ValueError(f"not a magnitude: {ast.unparse(node)}")

    def _quantified(self, name: str, args: list[ast.expr], bound: dict[str, str]) -> NDArray[np.bool_]:
        variable, restrictor, scope = args
        assert isinstance(variable, ast.Name)
        inside = [bound | {variable.id: individual} for individual in self.domain]
        restricted = [self.holds(restrictor, names) for names in inside]
        both = [r & self.holds(scope, names) for r, names in zip(restricted, inside, strict=True)]
        if name == "some":
            return ~_all([~value for value in both])
        if name == "no":
            return _all([~value for value in both])
        if name == "every":
            return _all([~r | b for r, b in zip(restricted, both, strict=True)])
        surplus = np.asarray(0)
        for r, b in zip(restricted, both, strict=True):
            surplus = surplus + 2 * b.astype(np.int64) - r.astype(np.int64)
        return np.asarray(surplus > 0)

    def _axis(self, atom: str) -> NDArray[np.int64]:
        place = self.axes[atom]
        values = np.arange(self.top + 1 if atom in self.magnitudes else 2)
        return values.reshape([-1 if axis == place else 1 for axis in range(len(self.axes))])

    def _collect(self, node: ast.expr, bound: dict[str, str], magnitude: bool = False) -> None:
        match node:
            case ast.Call(func=ast.Name(id="implies"), args=args):
                for arg in args:
                    self._collect(arg, bound)
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=variable), *parts]) if name in QUANTIFIERS:
                for individual in self.domain:
                    for part in parts:
                        self._collect(part, bound | {variable: individual})
            case ast.Call():
                atom = _ground(node, bound)
                self.axes.setdefault(atom, len(self.axes))
                if magnitude:
                    self.magnitudes.add(atom)
            case _:
                is_number = isinstance(node, ast.Compare) or magnitude
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._collect(child, bound, is_number)


def _domain(formulas: Sequence[ast.expr]) -> list[str]:
    """Return what variables range over: the names that stand where a variable can, and unnamed others."""
    calls = [node for formula in formulas for node in ast.walk(formula) if isinstance(node, ast.Call)]
    quantified = [call for call in calls if _functor(call) in QUANTIFIERS]
    variables = {ast.unparse(call.args[0]) for call in quantified}
    if not variables:
        return []
    places: dict[tuple[str, int], set[str]] = {}
    for call in calls:
        if _functor(call) not in (*QUANTIFIERS, "implies"):
            for place, arg in enumerate(call.args):
                places.setdefault((_functor(call), place), set()).add(ast.unparse(arg))
    named = {name for there in places.values() if there & variables for name in there - variables}
    return [*sorted(named), *(f"unnamed{number}" for number in range(UNNAMED))]


def _functor(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)
    return call.func.id


def _ground(node: ast.expr, bound: dict[str, str]) -> str:
    if isinstance(node, ast.Call):
        return f"{_functor(node)}({', '.join(_ground(arg, bound) for arg in node.args)})"
    text = ast.unparse(node)
    return bound.get(text, text)


def _all(parts: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    result = np.asarray(True)
    for part in parts:
        result = result & part
    return result


def _compare(op: ast.cmpop, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    match op:
        case ast.Gt():
            return np.asarray(left > right)
        case ast.GtE():
            return np.asarray(left >= right)
        case ast.Lt():
            return np.asarray(left < right)
        case ast.LtE():
            return np.asarray(left <= right)
        case ast.Eq():
            return np.asarray(left == right)
    raise ValueError(f"not a comparison: {ast.dump(op)}")

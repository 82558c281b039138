"""Any function as a model: ``module:function``, called with premises and hypotheses."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.models.model import Unmoved, check_sides
from goldlabel.models.probabilities import named_space, one_hot, scaled
from goldlabel.pairs.labels import LABEL_SPACES, NO_GOLD, LabelSpace, label_space
from goldlabel.registry import suggest

REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(eq=False)
class Function(Unmoved):
    """A user's function ``f(premises, hypotheses)``.

    It returns a label for each pair, or a dictionary from labels to probabilities, or a matrix of probabilities. A
    matrix has columns without names, so their order must be told: as the function's attribute ``label_space``, a
    sequence of labels (or a ``LabelSpace``, whose order is the alphabet's), or when it is loaded. ``None``, ``-`` or a
    row of NaN is a pair without an answer. Whatever the function raises is the user's own and passes through.
    """

    name: str
    call: Callable[[list[str], list[str]], Any]
    label_space: LabelSpace
    columns: tuple[str, ...] | None
    """The labels in the order of a matrix's columns, where somebody told it."""

    @classmethod
    def from_reference(
        cls, reference: str, label_space: LabelSpace | str | None = None, default: LabelSpace | None = None
    ) -> Self:
        """Import ``module:function``, also from the current folder.

        ``label_space`` are its labels, a name, or words in the order of its columns, in place of its own attribute;
        ``default`` are the labels where neither tells them.
        """
        module_name, _, name = reference.partition(":")
        call = getattr(import_function_module(module_name, reference), name, None)
        if not callable(call):
            names = [key for key, value in vars(sys.modules[module_name]).items() if callable(value)]
            raise InputError(f"{reference}: {module_name} has no function {name!r}; {suggest(name, names)}")
        space, columns = _told_space(label_space or getattr(call, "label_space", None), reference)
        if space is None:
            space = default
        if space is None:
            raise InputError(
                f"{reference}: its labels are not told; set {name}.label_space = (LABEL, …) where it is defined, or "
                "give the option label_space, such as --set label_space=a,b,c"
            )
        return cls(reference, call, space, columns)

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Call the function and check what it returns."""
        check_sides(premises, hypotheses)
        if not len(premises):  # at which many a function breaks
            return np.empty((0, len(self.label_space)))
        returned = self.call(list(premises), list(hypotheses))
        if not hasattr(returned, "__array__") and not isinstance(returned, Iterable):
            raise InputError(f"{self.name}: returned {returned!r}, and an answer for each pair was expected")
        rows: Any = np.asarray(returned) if hasattr(returned, "__array__") else list(returned)
        if len(rows) != len(premises):
            raise InputError(f"{self.name}: returned {len(rows):,} answers for {len(premises):,} pairs")
        if all(row is None or isinstance(row, str) for row in rows):
            return self._from_labels([NO_GOLD if row is None else str(row) for row in rows])
        if all(row is None or isinstance(row, Mapping) for row in rows):
            return self._from_mappings(rows)
        return self._from_matrix(rows)

    def _from_labels(self, labels: list[str]) -> NDArray[np.float64]:
        columns = {label: number for number, label in enumerate(self.label_space.labels)} | {NO_GOLD: -1}
        for row, label in enumerate(labels):
            if label not in columns:
                raise self._unknown(row, label)
        return one_hot(np.array([columns[label] for label in labels]), self.label_space)

    def _from_mappings(self, rows: Sequence[Mapping[str, float] | None]) -> NDArray[np.float64]:
        matrix = np.zeros((len(rows), len(self.label_space)))
        for number, row in enumerate(rows):
            if row is None:
                matrix[number] = np.nan
                continue
            for label, value in row.items():
                if label not in self.label_space:
                    raise self._unknown(number, label)
                matrix[number, self.label_space.index(label)] = self._number(value, number)
        return scaled(matrix, f"{self.name}:")

    def _from_matrix(self, rows: Any) -> NDArray[np.float64]:
        if self.columns is None:
            raise InputError(
                f"{self.name}: returned columns without names, and their order is not told; set "
                f"its label_space to ({', '.join(map(repr, self.label_space.labels))}) in the order of the columns, or "
                "return dictionaries from labels to probabilities"
            )
        try:
            matrix = np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: returned neither a label, nor a dictionary, nor a row of numbers for each pair ({error})"
            ) from error
        if matrix.shape != (len(rows), len(self.columns)):
            raise InputError(
                f"{self.name}: returned a matrix of {' × '.join(map(str, matrix.shape))} for {len(rows):,} pairs and "
                f"{len(self.columns)} labels ({', '.join(self.columns)})"
            )
        matrix = scaled(matrix, f"{self.name}:")
        return matrix[:, [self.columns.index(label) for label in self.label_space.labels]]

    def _number(self, value: Any, row: int) -> float:
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.name}: row {row + 1}: {value!r} is no probability") from error

    def _unknown(self, row: int, label: object) -> InputError:
        allowed = ", ".join(self.label_space.labels)
        return InputError(f"{self.name}: row {row + 1}: {label!r} is not one of {allowed}")


def import_function_module(module: str, reference: str) -> Any:
    """Import the module of a function, also from the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        # As 'python -m' has it: a function beside the data is found, and so is what it imports later.
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise InputError(
            f"{reference}: there is no module {error.name!r}, neither in {here} nor where Python looks (PYTHONPATH)"
        ) from error


def _told_space(told: object, reference: str) -> tuple[LabelSpace | None, tuple[str, ...] | None]:
    """Return the label space that was told and the order of its columns."""
    if told is None:
        return None, None
    if isinstance(told, LabelSpace):
        return told, told.labels
    if isinstance(told, str) and "," not in told:
        return LABEL_SPACES.get(told), None
    words = told.split(",") if isinstance(told, str) else told
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{reference}: label_space {told!r} is neither a name, nor labels, nor a LabelSpace")
    columns = tuple(word.strip() for word in words)
    label_space(",".join(columns))  # refuses what is no space, such as a label twice
    return named_space(columns), columns

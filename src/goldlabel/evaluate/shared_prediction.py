"""Predictions by many workers: pairs are cut into slices of one size, and each slice is a piece of work.

A slice lies in a file beside the output until it is answered, and its answers in a part that is named by its place and
by what it is about. So a worker needs nothing but the folder; a slice whose worker dies is answered by another, and one
that is answered never again. As slices are cut the same way whoever answers them, and a model is asked once for each,
the bytes do not depend on how many workers there are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import OnPairs, answer_slice, open_model
from goldlabel.evaluate.parts import ASKED_COLUMNS, Parts, answers_frame
from goldlabel.executors import Executor, Tell, collect
from goldlabel.files import atomic_file
from goldlabel.models import Model, load_model
from goldlabel.models.loading import ENDPOINT
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import LabelSpace

SLICE = 4096


def share_out(
    executor: Executor,
    model: str | Path,
    frame: pl.LazyFrame,
    parts: Parts,
    loading: Mapping[str, Any],
    on_pairs: OnPairs | None,
) -> tuple[int, float]:
    """Have every slice answered that is not yet; return how many pairs were before, and the seconds of the others."""
    began = time.monotonic()
    blocks = frame.select(ASKED_COLUMNS).collect_batches(chunk_size=SLICE, maintain_order=True)
    before = parts.rows
    if on_pairs is not None:
        on_pairs(before)
    sizes = {}
    for name, block in parts.without_known(_of_size(blocks, SLICE)):
        sizes[name] = len(block)
        with atomic_file(parts.asked(name)) as temporary:
            block.write_parquet(temporary)

    def done(name: str, _: Any) -> None:
        parts.asked(name).unlink(missing_ok=True)
        if on_pairs is not None:
            on_pairs(sizes[name])

    work = {name: (str(model), dict(loading), parts.folder.resolve(), name) for name in sizes}
    files = [Path(model).resolve()] if Path(model).exists() else []
    try:
        collect(executor, _answer, work, on_done=done, paths=[parts.folder.resolve(), *files])
    finally:
        _Loaded.release()
    return before, time.monotonic() - began


def label_space_of(model: Model | str | Path, pairs: Pairs, loading: Mapping[str, Any]) -> LabelSpace:
    """Return the labels of a model that workers can load, or say why they cannot."""
    if not isinstance(model, str | Path):
        raise InputError("a model that is loaded stays in its process; give its name, and each worker loads its own")
    if str(model).startswith(ENDPOINT):
        raise InputError(f"{model}: one process asks an endpoint as much as it bears; leave --executor and --jobs out")
    with open_model(model, [pairs], **loading) as (_, opened):
        return opened.label_space


def _of_size(blocks: Iterable[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    rest = pl.DataFrame()
    for block in blocks:
        rest = pl.concat([rest, block]) if len(rest) else block
        while len(rest) >= size:
            yield rest.head(size)
            rest = rest.slice(size)
    if len(rest):
        yield rest


# In the workers


class _Loaded:
    """The model that a worker keeps from slice to slice."""

    key: Any = None
    model: Model | None = None

    @classmethod
    def get(cls, model: str, loading: Mapping[str, Any]) -> Model:
        key = (model, repr(loading))
        if cls.model is None or cls.key != key:
            cls.release()
            cls.model, cls.key = load_model(model, **loading), key
        return cls.model

    @classmethod
    def release(cls) -> None:
        if cls.model is not None:
            with closing(cls.model):
                cls.model = None


def _answer(tell: Tell, model: str, loading: Mapping[str, Any], folder: Path, name: str) -> None:
    parts = Parts(folder)
    if parts.path(name).exists():  # the worker before died between its answer and its word of it
        return
    asked = pl.read_parquet(parts.asked(name))
    opened = _Loaded.get(model, loading)
    parts.write_part(name, answers_frame(asked["id"], answer_slice(opened, asked), opened.label_space))

"""``mine``: the user's own datasets, named by a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan
from goldlabel.evaluate.suite_file import SetEntry, SuiteFile, read_suite
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import splits_of


class Mine:
    """The datasets of a suite file, and the mean over them."""

    title: ClassVar[str] = "How do models do on datasets of your own?"
    paper: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Any]] = {"file": ""}

    def plan(self, request: Request) -> SuitePlan:
        """Judge by the sets of the file; training stops on their validation halves."""
        if not request.options["file"]:
            raise InputError("suite mine: name its YAML file, 'goldlabel bench FILE.yaml'")
        file = read_suite(request.options["file"])
        sets, missing = [], {}
        for entry in file.sets:
            if entry.data.missing and request.path(entry.name) is None:
                missing[entry.name] = entry.data.missing
            else:
                sets.append(_judged(entry, file, request))
        dev = tuple(part.dev for part in sets if part.dev is not None)
        on = request.train or tuple(dataset.read() for dataset in file.train)
        sizes = request.sizes if request.train else None
        return SuitePlan(
            sets=tuple(sets),
            systems=request.systems(on=on, sizes=sizes, dev=dev),
            missing=missing,
            name=file.name,
            in_domain=None if file.in_domain in missing else file.in_domain,
            notes=(file.title,) if file.title else (),
        )

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return none: the accuracies are a table of every suite."""
        return {}


def _judged(entry: SetEntry, file: SuiteFile, request: Request) -> EvaluationSet:
    pairs = entry.data.read(request.path(entry.name))
    counts = entry.counts and entry.name != file.in_domain
    try:
        part = evaluation_set(pairs, entry.name, split=entry.split, limit=request.limit, counts=counts)
        return replace(part, dev=_dev(entry, pairs, part.gold.split))
    except GoldlabelError as error:
        raise InputError(f"{entry.data.where}: {error}") from error


def _dev(entry: SetEntry, pairs: Pairs, judged: str) -> Pairs | None:
    """Return the pairs to stop and tune on: of their own, or of a split that is not judged by."""
    if not isinstance(entry.dev, str):
        return None if entry.dev is None else entry.dev.read()
    if entry.dev == judged:
        raise InputError(f"{entry.name}: its split {judged!r} cannot be judged by and tuned on at once")
    if entry.dev not in (splits := splits_of(pairs)):
        raise InputError(f"{entry.name}: has no {entry.dev} split to tune on, only {', '.join(sorted(splits))}")
    return pairs.only(split=entry.dev)


SUITES.add("mine", Mine())

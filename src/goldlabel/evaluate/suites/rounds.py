"""``rounds``: every model on every round of a campaign (Nie et al. 2020, Tables 3, 5, 6, 7 and Figure 3).

A campaign is any dataset with a ``round`` column. Models that are trained learn from ``--train`` and from more and more
of the campaign's rounds. Where a campaign lacks what a table needs, the table says so by its absence, and the plan why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import SUITES, EvaluationSet, Request, SuitePlan, System
from goldlabel.evaluate.suites.campaign import (
    Lesson,
    as_training,
    choose_parts,
    enrol,
    filtered,
    find_dataset,
    gold_count,
    is_verified,
    judging_split,
    learnable,
    names_in,
    systems_of,
)
from goldlabel.evaluate.suites.claims import Claims
from goldlabel.evaluate.suites.off_paper import OFF_PAPER, off_paper_table
from goldlabel.evaluate.suites.paper_tables import Cell, Row, Slice, cell, paper_cells, paper_table, read_figures
from goldlabel.metrics import share
from goldlabel.pairs import Pairs
from goldlabel.registry import suggest

ANLI = "anli"
EXCLUSIVE, ALL_ROUNDS, TRAIN, ROUNDS = "exclusive", "all", "train", "rounds"
EFFICIENCY = "efficiency"
PARTS = ("table-3", "table-5", "table-6", "table-7", "figure-3", EFFICIENCY)
CURVES = ("figure-3", EFFICIENCY)
"""The parts for which models are trained on more and more pairs."""
VERIFIED, UNVERIFIED = "verified", "unverified"


class Rounds:
    """A campaign of several rounds, its exclusive writers, and datasets beside it."""

    title: ClassVar[str] = "Do rounds of collection get harder, and do models learn from them?"
    paper: ClassVar[str] = "Nie et al. 2020"
    options: ClassVar[Mapping[str, Any]] = {
        "campaign": ANLI,
        "parts": "",
        "beside": "snli,multinli,multinli-mismatched",
        "mixtures": "",
        "size": 0,
    }

    def plan(self, request: Request) -> SuitePlan:
        """Judge by every round, and train on more and more of them."""
        options, missing = request.options, dict[str, str]()
        parts = choose_parts(options["parts"], PARTS)
        name = options["campaign"]
        pairs = find_dataset(request, name, missing)
        if pairs is None:
            return SuitePlan(sets=(), systems=(), missing=missing)
        judged = judging_split(pairs)
        rounds = _rounds(pairs, judged)
        sets = [
            evaluation_set(pairs.only(round=number), number, split=judged, limit=request.limit) for number in rounds
        ]
        exclusive = _exclusive(pairs, judged)
        if exclusive is None:
            missing[EXCLUSIVE] = f"{name} does not tell which of its {judged} pairs are by writers that train has not"
        else:
            sets.append(evaluation_set(exclusive, EXCLUSIVE, split=judged, limit=request.limit, counts=False))
        sets += _beside(request, names_in(options["beside"]), missing)
        lessons = _Lessons.gather(pairs, judged, request, missing)
        trained = any(choice.is_trained for choice in request.models)
        taught = [(part, lesson) for part in parts if trained for lesson in lessons.of_part(part, options, missing)]
        systems = enrol(request.models, taught, ("table-3", "table-7"))
        if "table-7" in parts and not any(
            (part.gold.frame["tags"].list.len() > 0).any() for part in sets[: len(rounds)]
        ):
            missing["table-7"] = f"no {judged} pair of {name} has a tag"
        notes = (f"{name} is judged by its {judged} split", *lessons.notes)
        if name == ANLI and judged != "test":
            notes = (*notes, "the paper's Tables 3 and 6 are about test, so a difference is also one between splits")
        return SuitePlan(
            sets=tuple(sets), systems=systems, missing=missing, notes=notes, options={**options, "parts": parts}
        )

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the paper's tables, and its claims with their tests."""
        options = results.plan.options
        figures = read_figures("rounds") if reference and options["campaign"] == ANLI else None
        keys = {
            "table-3": ("model", "data"),
            "table-5": ("model", "data"),
            "table-6": ("model", "data", "reads"),
            "figure-3": ("model", "data"),
            EFFICIENCY: ("model", "data"),
            "table-7": ("round", "type"),
        }
        rows = {
            part: list(_types(results) if part == "table-7" else _rows(results, part))
            for part in keys
            if part in options["parts"]
        }
        tables = {part: paper_table(own, keys[part], figures, part) for part, own in rows.items() if own}
        if figures is not None:
            cells = [
                cell
                for part, own in rows.items()
                for cell in paper_cells(own, keys[part], figures, part, pairs={}, level=results.level)
            ]
            tables |= {OFF_PAPER: off_paper_table(cells)} if cells else {}
        claims = _claims(results)
        return tables if claims.is_empty() else {**tables, "claims": claims}


def _rounds(pairs: Pairs, split: str) -> list[str]:
    """Return the rounds that have gold labels in a split, in order: R2 before R10."""
    labelled = pairs.frame.filter((pl.col("label") != "-") & (pl.col("split") == split))
    rounds = labelled.select(pl.col("round").drop_nulls().unique()).collect()["round"].to_list()
    if not rounds and split != TRAIN:
        raise InputError(f"{pairs.card.name}: no {split} pair has a round; give a dataset with a round column")
    return sorted(rounds, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def _exclusive(pairs: Pairs, judged: str) -> Pairs | None:
    """Return the judged pairs of writers who have none in train, if the data tell.

    ANLI's release has no writers, but marks the pairs of exclusive ones as ``emturk``.
    """
    frame = pairs.frame.select("split", "writer", "meta").collect()
    held_out = frame.filter(pl.col("split") == judged)
    marked = held_out["meta"].str.json_path_match("$.emturk")
    if marked.is_not_null().any():
        chosen = pl.col("meta").str.json_path_match("$.emturk") == "true"
    else:
        training = frame.filter(pl.col("split") == TRAIN)["writer"].drop_nulls().unique()
        if training.is_empty() or held_out["writer"].is_null().all():
            return None
        chosen = ~pl.col("writer").is_in(training.implode())
    exclusive = filtered(pairs, chosen & (pl.col("split") == judged) & (pl.col("label") != "-"), EXCLUSIVE)
    return exclusive if len(exclusive) else None


def _beside(request: Request, names: tuple[str, ...], missing: dict[str, str]) -> Iterator[EvaluationSet]:
    for name in names:
        pairs = find_dataset(request, name, missing)
        if pairs is not None:
            yield evaluation_set(pairs, name, split=judging_split(pairs), limit=request.limit, counts=False)


@dataclass(frozen=True)
class _Lessons:
    """What there is to learn from: the user's own sets, and the rounds of the campaign."""

    base: tuple[Pairs, ...]
    base_sizes: tuple[int | None, ...]
    rounds: Mapping[str, Pairs]
    checked: Mapping[str, Pairs]
    """The rounds' verified and unverified pairs."""
    notes: tuple[str, ...]

    @classmethod
    def gather(cls, pairs: Pairs, judged: str, request: Request, missing: dict[str, str]) -> _Lessons:
        seed, name = request.seed, pairs.card.name
        training = _rounds(pairs, TRAIN)
        rounds = {number: learnable(pairs.only(round=number), number, judged=judged, seed=seed) for number in training}
        if not rounds and any(choice.is_trained for choice in request.models):
            missing["training rounds"] = f"{name} has no train split, so no model learns from its rounds"
        checked = {
            mark: learnable(
                filtered(pairs, (chosen & (pl.col("split") == TRAIN)) | (pl.col("split") == "dev"), mark),
                judged=judged,
                seed=seed,
            )
            for mark, chosen in ((VERIFIED, is_verified(pairs)), (UNVERIFIED, ~is_verified(pairs)))
        }
        kept_back = judged == "dev" and bool(rounds)
        return cls(
            tuple(learnable(as_training(part), seed=seed) for part in request.train),
            request.sizes or (None,) * len(request.train),
            rounds,
            checked,
            (f"dev judges, so a twentieth of {name}'s training pairs is kept back to stop on",) if kept_back else (),
        )

    def of_part(self, part: str, options: Mapping[str, Any], missing: dict[str, str]) -> Iterator[Lesson]:
        """Yield what a part has models learn."""
        if part in ("table-3", "table-7"):
            for count in range(0 if self.base else 1, len(self.rounds) + 1):
                yield self._lesson(TRAIN, *[*self.rounds][:count])
        elif part == "table-5":
            yield from self._equal_sizes(names_in(options["mixtures"]), options["size"], missing)
        elif part == "table-6":
            mixtures = ((TRAIN, ROUNDS), (TRAIN,), (ROUNDS,))
            for lesson in {lesson.data: lesson for names in mixtures if (lesson := self._lesson(*names)).on}.values():
                yield from (lesson, replace(lesson, hypothesis_only=True))
        elif part == EFFICIENCY:
            yield from self._efficiency(missing)
        else:
            yield from self._verified_or_not(missing)

    def _parts(self, *names: str) -> list[tuple[Pairs, int | None]]:
        """Return the sets that names stand for: ``train``, ``rounds``, one of either."""
        base = list(zip(self.base, self.base_sizes, strict=True))
        chosen: list[tuple[Pairs, int | None]] = []
        for name in names:
            if name == TRAIN:
                chosen += base
            elif name == ROUNDS:
                chosen += [(part, None) for part in self.rounds.values()]
            elif name in self.rounds:
                chosen.append((self.rounds[name], None))
            elif own := [entry for entry in base if entry[0].card.name == name]:
                chosen += own
            else:
                known = [TRAIN, ROUNDS, *self.rounds, *(part.card.name for part in self.base)]
                raise InputError(f"mixtures: there is nothing called {name!r} to train on; {suggest(name, known)}")
        return chosen

    def _lesson(self, *names: str) -> Lesson:
        sets = self._parts(*names)
        data = "+".join(part.card.name for part, _ in sets)
        return Lesson(data=data, on=tuple(part for part, _ in sets), sizes=tuple(size for _, size in sets))

    def _equal_sizes(self, mixtures: tuple[str, ...], size: int, missing: dict[str, str]) -> Iterator[Lesson]:
        """Draw the same number of pairs for every mixture, in equal shares of what it mixes.

        Without ``mixtures``: the user's sets, each round, and half and half of the user's sets and the rounds.
        """
        whole = [TRAIN, f"{TRAIN}+{ROUNDS}"] if self.base and self.rounds else [TRAIN] if self.base else []
        asked = mixtures or (*whole, *self.rounds)
        if len(asked) < 2:
            missing["table-5"] = (
                "there are no two mixtures to compare; give --train, or a campaign with training rounds"
            )
            return
        members = {mixture: [self._parts(name) for name in mixture.split("+")] for mixture in asked}
        counts = {
            mixture: [[gold_count(part) if most is None else most for part, most in sets] for sets in several]
            for mixture, several in members.items()
        }
        most = min(len(several) * min(map(sum, several)) for several in counts.values())
        if size > most:
            raise InputError(f"size={size}: the smallest of the mixtures has {most:,} pairs; ask for that or fewer")
        total = size or most
        for mixture, several in members.items():
            shares = _share_out(total, [1] * len(several))
            sizes = [
                number
                for own, available in zip(shares, counts[mixture], strict=True)
                for number in _share_out(own, available)
            ]
            on = tuple(part for sets in several for part, _ in sets)
            yield Lesson(data=f"{mixture}, {total} pairs", on=on, sizes=tuple(sizes))

    def _verified_or_not(self, missing: dict[str, str]) -> Iterator[Lesson]:
        """Train on as many verified as unverified pairs: a quarter, a half and all of what there is of both."""
        most = min(gold_count(part) for part in self.checked.values()) if self.rounds else 0
        if most < 4:
            missing["figure-3"] = "there are no verified and unverified training pairs to compare"
            return
        for size in _steps(most):
            for mark, part in self.checked.items():
                yield Lesson(data=f"{mark}, {size} pairs", on=(part,), sizes=(size,), mark=mark)

    def _efficiency(self, missing: dict[str, str]) -> Iterator[Lesson]:
        """Train on as many pairs of the rounds as of the user's sets: a quarter, a half and all of what both have."""
        sources = {TRAIN: self._parts(TRAIN), ROUNDS: self._parts(ROUNDS)}
        counts = {
            name: [gold_count(part) if size is None else size for part, size in sets] for name, sets in sources.items()
        }
        most = min(map(sum, counts.values()))
        if most < 4 * max(map(len, counts.values())) or not most:
            missing[EFFICIENCY] = "there are no training rounds and sets of --train to compare"
            return
        for size in _steps(most):
            for name, sets in sources.items():
                sizes = tuple(_share_out(size, counts[name]))
                yield Lesson(data=f"{name}, {size} pairs", on=tuple(part for part, _ in sets), sizes=sizes)


def _steps(most: int) -> tuple[int, ...]:
    """Return the sizes at which a curve is measured."""
    return most // 4, most // 2, most


def _share_out(total: int, weights: list[int]) -> list[int]:
    """Return whole shares of a total in proportion to weights; what is left goes to the first."""
    shares = [total * weight // sum(weights) for weight in weights]
    order = np.argsort([-(total * weight % sum(weights)) for weight in weights], kind="stable")
    for place in order[: total - sum(shares)]:
        shares[place] += 1
    return shares


def _round_names(results: BenchResults) -> list[str]:
    return list(results.plan.counted)


def by_size(results: BenchResults, part: str) -> list[System]:
    """Return the systems of a part model by model, those first that learnt from fewer pairs."""
    systems = systems_of(results, part)
    models = [*dict.fromkeys(system.marks.model for system in systems)]
    return sorted(systems, key=lambda system: (models.index(system.marks.model), system.marks.pairs or 0))


def _rows(results: BenchResults, part: str) -> Iterator[Row]:
    """Yield a row for each system of a part: every round, all of them, the exclusive pairs, the sets beside."""
    rounds = _round_names(results)
    for system in by_size(results, part) if part in CURVES else systems_of(results, part):
        row: dict[str, str | Cell | None] = {"model": system.marks.model, "data": system.marks.data}
        if part == "table-6":
            row["reads"] = system.marks.reads
        row["pairs"] = system.marks.size
        row |= {number: cell(results, system.name, (number, None)) for number in rounds}
        row[ALL_ROUNDS] = cell(results, system.name, *((number, None) for number in rounds))
        row |= {name: cell(results, system.name, (name, None)) for name in results.sets if name not in rounds}
        yield row


def _types(results: BenchResults) -> Iterator[Row]:
    """Yield for each round and type of inference how many pairs have it, and how often each system is wrong on them.

    Of tags that lie in one another (``Numerical``, ``Numerical-Cardinal``) the widest are taken.
    """
    systems = [system.name for system in systems_of(results, "table-7")]
    for number in _round_names(results):
        tags = results.plan.find_set(number).gold.frame["tags"]
        names = sorted(tags.explode(empty_as_null=True).drop_nulls().unique())
        widest = [name for name in names if not any(name.startswith(f"{other}-") for other in names)]
        tagged = tags.list.len().to_numpy() > 0
        for name in widest:
            rows = tags.list.contains(name).to_numpy()
            row: dict[str, str | Cell | None] = {"round": number, "type": name, "n": str(int(rows.sum()))}
            row["share"] = Cell(share(rows[tagged], units=results.plan.find_set(number).gold.units[tagged]))
            for system in systems:
                if results.has(system, number):
                    errors = 1 - results.hits(system, number)[rows]
                    units = results.plan.find_set(number).gold.units[rows]
                    row[f"{system} errors"] = Cell(share(errors, units=units, level=results.level))
            yield row


def _claims(results: BenchResults) -> pl.DataFrame:
    """Test what the paper says of its tables."""
    claims, rounds = Claims(results), _round_names(results)
    every: tuple[Slice, ...] = tuple((number, None) for number in rounds)
    others = [name for name in results.sets if name not in (*rounds, EXCLUSIVE)]
    for system in systems_of(results, "table-3"):
        for first, second in pairwise(rounds):
            parts = (first, (first, None)), (second, (second, None))
            claims.easier("a round is harder than the one before", system.name, *parts)
        if EXCLUSIVE in results.sets:
            for number in rounds:
                rest = _not_exclusive(results, number)
                parts = ("other pairs", (number, rest)), (f"exclusive pairs of {number}", (number, ~rest))
                claims.easier("exclusive writers make little difference", system.name, *parts)
    for part, text in (
        ("table-3", "more rounds to learn from help"),
        ("table-5", "of equally many pairs these teach more"),
    ):
        for model in dict.fromkeys(system.marks.model for system in systems_of(results, part)):
            names = [system.name for system in systems_of(results, part) if system.marks.model == model]
            for other in names[1:]:
                claims.better(text, other, names[0], *every)
                for name in others:
                    claims.better(f"{text} (beside)", other, names[0], (name, None))
    by_reading = {
        (system.marks.model, system.marks.data, system.marks.reads): system.name
        for system in systems_of(results, "table-6")
    }
    for (model, data, reads), alone in by_reading.items():
        if reads == "hypothesis" and (both := by_reading.get((model, data, "both"))):
            for number in rounds:
                claims.better("premises help", both, alone, (number, None))
    by_mark = {
        (system.marks.model, system.marks.pairs, system.marks.mark): system.name
        for system in systems_of(results, "figure-3")
    }
    for (model, size, mark), verified in by_mark.items():
        if mark == VERIFIED and (unverified := by_mark.get((model, size, UNVERIFIED))):
            claims.better("verified pairs teach more than unverified ones", verified, unverified, *every)
    for plain, taught in zip(*[iter(by_size(results, EFFICIENCY))] * 2, strict=True):
        text = "the rounds teach more than as many plain pairs"
        claims.better(text, taught.name, plain.name, *every)
        for name in others:
            claims.better(f"{text} (beside)", taught.name, plain.name, (name, None))
    return claims.table


def _not_exclusive(results: BenchResults, number: str) -> Any:
    exclusive = results.plan.find_set(EXCLUSIVE).gold.frame["id"]
    return ~results.plan.find_set(number).gold.frame["id"].is_in(exclusive.implode()).to_numpy()


SUITES.add("rounds", Rounds())

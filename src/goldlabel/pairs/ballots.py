"""Votes as people have them: a column for each rater, a row for each vote, how many voted or how many would.

A row of any of these forms becomes a row with ``votes``; who cast them stands beside them in ``meta``. A row for each
vote names its annotator (crowd-kit calls it ``worker``, and the pair ``task``); ``join_votes`` makes one pair of the
rows with one id. A number for each label is how many voted for it (whole numbers: ``label_counts``) or how probable it
is (shares that sum to one, or per cent: ``soft_labels``); counts are votes too, and probabilities are not. Whole
numbers that sum to 100 may be either, so that the names of their columns must say what they are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import orjson
import polars as pl

from goldlabel.errors import FileError, InputError
from goldlabel.pairs.dialects import heading
from goldlabel.pairs.labels import ABSTENTIONS, NO_GOLD, LabelSpace
from goldlabel.pairs.record import BESIDE_VOTES, MISSING
from goldlabel.pairs.rows import Row, Transform, by_name

SOFT_LABELS = "soft_labels"
"""Where in ``meta`` the probability of each label stands that the data came with."""

LABEL_COUNTS = "label_counts"
"""Where in ``meta`` it stands how many voted for each label."""

COUNT_FIELDS = (SOFT_LABELS, LABEL_COUNTS, "label_counter")
"""Fields that hold a number for each label; the last is ChaosNLI's."""

ANNOTATOR_NAMES = ("annotator", "worker")
TASK = "task"
_SCALARS = {"seconds": "seconds", "time": "times"}
_COUNT, _PERCENT = r"(?:counts?|n|votes?)", r"(?:%|percent|percentage|per cent|pct)"
_BEFORE = rf"(?:p|prob|probability|share|soft|{_COUNT}|{_PERCENT})"


def votes_by_name(
    names: Mapping[str, str], *, space: LabelSpace, label_map: Mapping[str, str], votes_from: Sequence[str] = ()
) -> Transform:
    """Return the transform that renames fields, and gathers votes from the columns of raters or of labels."""
    rename = by_name(names)
    heads: dict[str, str] = {}
    plans: dict[tuple[str, ...], _Plan] = {}
    raters = {heading(name): name.strip() for name in votes_from}
    spellings = space.spellings(label_map)

    def gather(source: Row) -> Row:
        if raters:
            for key in source.keys() - heads.keys():
                heads[key] = heading(key)
            return _with_raters(source, raters, rename, heads)
        row = rename(source)
        rest = row.get("meta")
        if not isinstance(rest, dict) or "votes" in row:
            return row
        keys = tuple(rest)
        plan = plans.get(keys) or plans.setdefault(keys, _Plan.of(keys, space, spellings))
        if plan.annotator:
            _take_single(row, rest, plan)
        if plan.fields or plan.columns:
            _take_numbers(row, rest, plan, space, spellings)
        return row

    return gather


def plain_names(
    keys: Sequence[str], names: Mapping[str, str], *, space: LabelSpace, label_map: Mapping[str, str]
) -> dict[str, str] | None:
    """Return which of these columns the record has, with its names, if the others hold no votes to be gathered."""
    headings = {heading(key): name for key, name in names.items()}
    renamed: dict[str, str] = {}
    for key in keys:
        name = headings.get(heading(key))
        if name and name not in renamed.values():
            renamed[key] = name
    plan = _Plan.of([key for key in keys if key not in renamed], space, space.spellings(label_map))
    gathers = plan.annotator or plan.fields or plan.columns
    return None if gathers and "votes" not in renamed.values() else renamed


def has_label_columns(keys: Sequence[str], *, space: LabelSpace, label_map: Mapping[str, str]) -> bool:
    """Say whether each label has a column of numbers among these."""
    return bool(_Plan.of(keys, space, space.spellings(label_map)).columns)


def join_votes(frame: pl.DataFrame) -> pl.DataFrame:
    """Make one pair of records that are one vote each on the same pair; all others are left as they are."""
    again = frame["id"].is_duplicated()
    single = (frame["votes"].list.len() <= 1) & frame["meta"].str.json_path_match("$.annotators").is_not_null()
    if not again.any() or not (single | ~again).all():
        return frame
    texts = frame.group_by("id").agg(pl.struct("premise", "hypothesis").n_unique().alias("texts"))
    differing = texts.filter(pl.col("texts") > 1)["id"].sort()
    if len(differing):
        text = f"the votes on pair {differing[0]!r} are on different texts; give each pair an id of its own"
        raise FileError(text, "id_twice", id=differing[0])
    joined = frame.group_by("id", maintain_order=True).agg(
        pl.exclude("votes", "label", "meta").first(),
        pl.col("votes").list.explode(empty_as_null=False),
        pl.when(pl.len() > 1).then(pl.lit(NO_GOLD)).otherwise(pl.col("label").first()).first().alias("label"),
        pl.col("meta"),
    )
    return joined.with_columns(joined["meta"].map_elements(_join_meta, return_dtype=pl.String)).select(frame.columns)


def content_id(premise: str, hypothesis: str) -> str:
    """Return an id that is the same wherever these texts stand."""
    texts = normalize("NFC", premise) + "\x1f" + normalize("NFC", hypothesis)
    return hashlib.blake2b(texts.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _is_missing(value: object) -> bool:
    return value is None or value != value or (isinstance(value, str) and value.strip().lower() in MISSING)


def _with_raters(source: Row, raters: Mapping[str, str], rename: Transform, heads: Mapping[str, str]) -> Row:
    """Take the votes from the columns of raters, and all else by name; ``heads`` are names as they are compared."""
    cast = {heads[key]: value for key, value in source.items() if heads[key] in raters}
    row = rename({key: value for key, value in source.items() if heads[key] not in raters})
    voted = {key: name for key, name in raters.items() if not _is_missing(cast.get(key))}
    meta = row.get("meta")
    rest: Row = dict(meta) if isinstance(meta, dict) else {}
    if "votes" in row:
        rest["votes"] = row["votes"]
    return row | {"votes": [str(cast[key]) for key in voted], "meta": rest | {BESIDE_VOTES[0]: list(voted.values())}}


@dataclass(frozen=True)
class _Plan:
    """Under which names a row has its votes; rows with the same names share it."""

    annotator: str | None
    task: str | None
    scalars: Mapping[str, str]
    """The names of what stands beside a vote, with those of their lists."""
    fields: tuple[str, ...]
    """The names under which a number for each label may stand."""
    columns: Mapping[str, str]
    """The column of each label, if every label has one."""
    means: str | None = None
    """What the columns say that their numbers are: ``count``, ``percent`` or nothing."""

    @classmethod
    def of(cls, keys: Sequence[str], space: LabelSpace, spellings: Mapping[str, str]) -> _Plan:
        named = {heading(key): key for key in reversed(keys)}
        labels = [(label, key) for key in keys if (label := _label_of(key, spellings))]
        columns = dict(labels) if sorted(label for label, _ in labels) == list(space.labels) else {}
        return cls(
            annotator=next((named[name] for name in ANNOTATOR_NAMES if name in named), None),
            task=named.get(TASK),
            scalars={named[name]: beside for name, beside in _SCALARS.items() if name in named},
            fields=tuple(named[name] for name in COUNT_FIELDS if name in named),
            columns=columns,
            means=_meaning(list(columns.values())),
        )


def _meaning(keys: Sequence[str]) -> str | None:
    for meaning, pattern in (("count", _COUNT), ("percent", _PERCENT)):
        if keys and all(re.search(rf"(?:^|[ _.(-]){pattern}(?:$|[ _.)-])", heading(key)) for key in keys):
            return meaning
    return None


def _take_single(row: Row, rest: Row, plan: _Plan) -> None:
    """Take a row that is one annotator's vote, or has room for one that was never cast."""
    annotator, label = rest.get(plan.annotator or ""), row.get("label")
    if not isinstance(annotator, str | int):
        return
    if "id" not in row:
        task = rest.pop(plan.task, None) if plan.task else None
        row["id"] = content_id(str(row.get("premise")), str(row.get("hypothesis"))) if task is None else str(task)
    if _is_missing(label):
        for key in (plan.annotator or "", *plan.scalars):
            del rest[key]
        row |= {"label": NO_GOLD, "votes": []}
        rest |= {beside: [] for beside in (BESIDE_VOTES[0], *plan.scalars.values())}
        return
    row["votes"] = [label]
    rest[BESIDE_VOTES[0]] = [str(rest.pop(plan.annotator or ""))]
    for key, beside in plan.scalars.items():
        value = rest.pop(key)
        if value is not None:
            number = _number(value) if beside == "seconds" else None
            rest[beside] = [value if number is None else number]
    if str(label).strip().lower() in ABSTENTIONS:
        del row["label"]


def _take_numbers(row: Row, rest: Row, plan: _Plan, space: LabelSpace, spellings: Mapping[str, str]) -> None:
    """Take a number for each label, from one field that holds them all or from a column each."""
    for key in plan.fields:
        counted = rest[key]
        if isinstance(counted, dict):
            numbers = {spellings.get(word.strip().lower()): _number(value) for word, value in counted.items()}
            if _take(row, rest, [key], {label: numbers.get(label, 0.0) for label in space.labels}):
                return
    if plan.columns:
        signed = any("%" in str(rest[key]) for key in plan.columns.values())
        numbers = {label: _number(rest[key]) for label, key in plan.columns.items()}
        means = "percent" if signed else plan.means or "unknown"
        _take(row, rest, list(plan.columns.values()), {label: numbers[label] for label in space.labels}, means)


def _label_of(key: str, spellings: Mapping[str, str]) -> str | None:
    name = heading(key)
    bare = re.fullmatch(rf"{_BEFORE}[ _.(-](.+?)\)?|(.+?)[ _.-]\(?{_BEFORE}\)?", name)
    return spellings.get(name) or (spellings.get(bare[1] or bare[2]) if bare else None)


def _take(row: Row, rest: Row, keys: list[str], numbers: dict[str, float | None], means: str = "count") -> bool:
    """Take numbers as votes or as probabilities, if they are either; ``means`` is what their names say."""
    values = [value for value in numbers.values() if value is not None and value >= 0]
    if len(values) < len(numbers):
        return False
    total, whole = sum(values), all(value == int(value) for value in values)
    if means == "unknown" and whole and total == 100:
        raise InputError(
            f"the columns {', '.join(map(repr, keys))} sum to 100, which may be per cent or votes; call them "
            f"{next(iter(numbers))}_percent or {next(iter(numbers))}_votes and so on"
        )
    percent = means == "percent" or (means == "unknown" and not whole)
    if percent and abs(total - 100) <= 2:
        numbers = {label: (value or 0.0) / 100 for label, value in numbers.items()}
        total /= 100
    if means != "percent" and total >= 2 and whole:
        counts = {label: int(value or 0) for label, value in numbers.items()}
        ordered = sorted(counts, key=lambda label: (-counts[label], label))
        row["votes"] = [label for label in ordered for _ in range(counts[label])]
        taken: dict[str, Any] = {LABEL_COUNTS: counts}
    elif abs(total - 1) <= 0.02:
        taken = {SOFT_LABELS: {label: (value or 0.0) / total for label, value in numbers.items()}}
        if _is_missing(row.get("label")):
            row["label"] = NO_GOLD
    else:
        return False
    for key in keys:
        del rest[key]
    rest |= taken
    return True


def _number(value: object) -> float | None:
    try:
        number = float(value.replace("%", "") if isinstance(value, str) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if number == number and abs(number) < 1e15 else None


def _join_meta(texts: pl.Series) -> str:
    rows = [orjson.loads(text) for text in texts]
    joined: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if name in BESIDE_VOTES:
            joined[name] = [item for value in values for item in ([None] if value is None else value)]
        else:
            joined[name] = values[0] if all(value == values[0] for value in values) else values
    return orjson.dumps(joined, option=orjson.OPT_SORT_KEYS).decode()

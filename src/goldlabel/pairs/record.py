"""The record: one pair is one row with these columns, and nothing else counts as a pair.

``conform`` is the only gate into it. Readers hand over raw frames, whose columns carry the record's names
and a line number; the gate spells labels as words of the space, normalises text, fills in what the source
leaves open, and names the line and column of everything it must refuse.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
import polars as pl

from goldlabel.errors import FileError, InputError
from goldlabel.messages import option
from goldlabel.pairs.labels import ABSTENTIONS, NLI3, NO_GOLD, LabelSpace
from goldlabel.registry import one_of

REQUIRED = ("id", "premise", "hypothesis", "label", "split")
LISTS = ("votes", "tags")
BESIDE_VOTES = ("annotators", "seconds", "times")
"""The lists in ``meta`` that have a member for each vote: who cast it, how long it took, when."""

COLUMNS = (
    "id",
    "premise",
    "hypothesis",
    "label",
    "votes",
    "split",
    "dataset",
    "language",
    "genre",
    "level",
    "round",
    "writer",
    "reason",
    "condition",
    "tags",
    "group",
    "meta",
)
DTYPES: dict[str, pl.DataType] = {name: pl.List(pl.String()) if name in LISTS else pl.String() for name in COLUMNS}

SPLITS = ("train", "dev", "test", "none")
SPLIT_SPELLINGS = {"validation": "dev", "valid": "dev", "val": "dev", "development": "dev", "": "none"}

MISSING = ("", "na", "n/a", "#n/a", "nan", "<na>", "null", "none")
"""How programs write in a cell, in any case, that there is no label; a space may have one of them as a label."""

LINE = "_line"
"""The column of a raw frame that says where in its file a row stands."""


@dataclass(frozen=True)
class Problem:
    """A row that cannot be read: where it stands and what is wrong with it."""

    where: str
    line: int
    column: str
    message: str
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.where} {self.unit} {self.line}: {self.message}"


class RowError(InputError):
    """A row that cannot be read; who has words of their own for it finds the problem here."""

    def __init__(self, problem: Problem, more: str = "") -> None:
        super().__init__(f"{problem}{more}")
        self.problem = problem


class ColumnError(InputError):
    """There is no column for something that every pair must have."""

    def __init__(self, text: str, column: str) -> None:
        super().__init__(text)
        self.column = column


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What a file's rows are measured against."""

    where: str
    space: LabelSpace = NLI3
    label_map: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    id_prefix: str = ""
    unit: str = "line"
    unlabelled: bool = False
    """Whether a pair that has neither label nor votes is taken as one without a gold label, and not refused."""


def split_name(split: str) -> str:
    """Return the split that somebody names, however they spell it, or say which there are."""
    return one_of("split", SPLIT_SPELLINGS.get(split.lower(), split), SPLITS)


def raw_frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Build a raw frame from dictionaries in the record's names (and ``LINE``), typed as the record."""
    present = set().union(*rows)
    schema = {LINE: pl.Int64(), **{name: DTYPES[name] for name in COLUMNS if name in present}}
    return pl.DataFrame([[row.get(name) for row in rows] for name in schema], schema=schema, orient="col")


def conform(raw: pl.DataFrame, gate: Gate) -> tuple[pl.DataFrame, list[Problem]]:
    """Return the rows of ``raw`` as records, and a problem for each row that had to be left out."""
    if raw.is_empty():
        return pl.DataFrame(schema=DTYPES), []
    raw = _with_labels(raw, gate)
    votes, bad_votes = _spell_votes(raw, gate)
    label, bad_labels = _spell_labels(raw, votes[0], gate)
    split, bad_splits = _spell_split(raw, gate)
    frame = raw.with_columns(
        _text(raw["premise"]), _text(raw["hypothesis"]), label, *votes, split, _ids(raw, gate)
    ).with_columns(
        *(_filled(raw, name, gate) for name in ("dataset", "language")),
        *(pl.lit(None, pl.String).alias(name) for name in COLUMNS if name not in raw.columns and name in _OPTIONAL),
        raw["tags"].fill_null([]) if "tags" in raw.columns else pl.lit([], pl.List(pl.String)).alias("tags"),
    )
    checks = {
        "premise": ~frame["premise"].str.contains(r"\S").fill_null(False),
        "hypothesis": ~frame["hypothesis"].str.contains(r"\S").fill_null(False),
        "label": bad_labels,
        "votes": bad_votes,
        "split": bad_splits,
    }
    problems = [_problem(name, raw, row, gate) for name, bad in checks.items() if bad.any() for row in bad.arg_true()]
    if problems:
        refused = pl.Series([problem.line for problem in problems])
        frame = frame.filter(~frame[LINE].is_in(refused.implode()))
        problems.sort(key=lambda problem: problem.line)
    return frame.select(COLUMNS), problems


def conform_strictly(raw: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return the rows of ``raw`` as records, or raise at the first row that is none."""
    frame, problems = conform(raw, gate)
    if problems:
        more = f" ({len(problems) - 1} more near it)" if len(problems) > 1 else ""
        raise RowError(problems[0], more)
    return frame


def refuse_double_ids(frame: pl.DataFrame, where: str) -> None:
    """Refuse records of which two have one id."""
    repeated = frame["id"].filter(frame["id"].is_duplicated())
    if len(repeated):
        text = f"{where}: id {repeated[0]!r} is given to more than one pair; ids must be unique in a dataset"
        raise FileError(text, "id_twice", id=repeated[0])


def check_columns(schema: pl.Schema, where: str) -> None:
    """Refuse a Parquet file whose columns are not the record's."""
    for name, dtype in DTYPES.items():
        if name not in schema:
            raise InputError(f"{where}: column {name!r} is missing; the record's columns are {', '.join(COLUMNS)}")
        if schema[name] != dtype:
            raise InputError(f"{where}: column {name!r} holds {schema[name]}, and {dtype} was expected")


_OPTIONAL = tuple(name for name in COLUMNS if name not in (*REQUIRED, *LISTS, "dataset", "language"))


def _with_labels(raw: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Refuse rows of which none has a text, or of which none has a label where nothing else decides."""
    decided = "votes" in raw.columns or gate.unlabelled
    needed = ("premise", "hypothesis") if decided else ("premise", "hypothesis", "label")
    missing = [name for name in needed if name not in raw.columns]
    if missing:
        raise ColumnError(
            f"{gate.where} {gate.unit} {raw[LINE][0]}: field {missing[0]!r} is missing; "
            f"pass {option('columns', {missing[0]: 'NAME'})} if it has another name",
            missing[0],
        )
    return raw if "label" in raw.columns else raw.with_columns(pl.lit(None, pl.String).alias("label"))


def _text(column: pl.Series) -> pl.Series:
    """Normalise to NFC; ASCII is in that form already and is spared the work."""
    if (column.str.len_bytes() == column.str.len_chars()).all():
        return column
    return column.str.normalize("NFC")


def _ids(raw: pl.DataFrame, gate: Gate) -> pl.Expr:
    made = pl.format("{}{}", pl.lit(gate.id_prefix), pl.col(LINE))
    return (pl.coalesce(pl.col("id"), made) if "id" in raw.columns else made).alias("id")


def _filled(raw: pl.DataFrame, name: str, gate: Gate) -> pl.Expr:
    default = pl.lit(gate.defaults.get(name), pl.String)
    return (pl.coalesce(pl.col(name), default) if name in raw.columns else default).alias(name)


def _spell_labels(raw: pl.DataFrame, votes: pl.Expr, gate: Gate) -> tuple[pl.Series, pl.Series]:
    """Spell each label as the space does; also say which rows hold none, though nothing else decides."""
    words = raw["label"]
    allowed = (*gate.space.labels, NO_GOLD)
    if not gate.label_map and not words.has_nulls() and words.unique().is_in(allowed).all():
        return words, _none(raw)
    spellings = dict.fromkeys(MISSING, NO_GOLD) | gate.space.spellings(gate.label_map) | {NO_GOLD: NO_GOLD}
    trimmed = raw.select(plain(pl.col("label").fill_null(""))).to_series()
    spelled = trimmed.replace_strict(spellings, default=None, return_dtype=pl.String).alias("label")
    empty = trimmed.is_in([word for word in MISSING if spellings[word] == NO_GOLD])
    if gate.unlabelled:
        return spelled, spelled.is_null()
    voted = raw.select(votes.list.eval(pl.element() != NO_GOLD).list.any().fill_null(False)).to_series()
    return spelled, spelled.is_null() | (empty & ~voted)


def plain(word: pl.Expr) -> pl.Expr:
    """Return a label as labels are compared: whatever its case and the space around it, and ``2.0`` is ``2``."""
    return word.str.strip_chars().str.to_lowercase().str.replace(r"^(-?\d+)\.0$", "${1}")


def _spell_votes(raw: pl.DataFrame, gate: Gate) -> tuple[list[pl.Expr], pl.Series]:
    """Spell votes as the space does, without those for no label; also say which rows hold what is no vote.

    What stands beside a vote in ``meta`` goes where the vote goes. A first vote for no label stays where others
    follow, so that the second does not pass for the author's.
    """
    if "votes" not in raw.columns:
        return [pl.lit([], pl.List(pl.String)).alias("votes")], _none(raw)
    votes = raw["votes"].fill_null([])
    seen = votes.list.explode(keep_nulls=True, empty_as_null=False).unique()
    if not gate.label_map and seen.is_in((*gate.space.labels, *ABSTENTIONS)).all() and not seen.has_nulls():
        return [pl.lit(votes).alias("votes")], _none(raw)
    spellings = dict.fromkeys(MISSING, NO_GOLD) | gate.space.spellings(gate.label_map)
    spellings |= {word: word for word in (*ABSTENTIONS, NO_GOLD)}
    word = pl.element()
    spelled = votes.list.eval(plain(word.fill_null("")).replace_strict(spellings, default=None))
    wrong = spelled.list.eval(word.is_null()).list.any()
    for_label = word != NO_GOLD
    kept = spelled.list.eval((for_label | (for_label.any() & (pl.int_range(pl.len()) == 0))).arg_true())
    columns = [pl.lit(spelled.list.gather(kept)).alias("votes")]
    shorter = kept.list.len() < spelled.list.len()
    if "meta" in raw.columns and shorter.any():
        texts = raw["meta"].to_list()
        for row in shorter.arg_true():
            texts[row] = _keep_beside(texts[row], kept[row].to_list(), len(spelled[row]))
        columns.append(pl.lit(pl.Series("meta", texts, dtype=pl.String)))
    return columns, wrong


def _keep_beside(meta: str | None, kept: list[int], votes: int) -> str | None:
    """Keep of the lists beside the votes what stands beside a vote that is kept."""
    fields = orjson.loads(meta) if meta else None
    if not isinstance(fields, dict):
        return meta
    for name in BESIDE_VOTES:
        members = fields.get(name)
        if isinstance(members, list) and len(members) == votes:
            fields[name] = [members[place] for place in kept]
    return orjson.dumps(fields).decode()


def _spell_split(raw: pl.DataFrame, gate: Gate) -> tuple[pl.Expr, pl.Series]:
    default = gate.defaults.get("split", "none")
    if "split" not in raw.columns:
        return pl.lit(default).alias("split"), _none(raw)
    words = raw["split"].fill_null(default).str.strip_chars().str.to_lowercase()
    spelled = words.replace_strict(
        SPLIT_SPELLINGS | {name: name for name in SPLITS}, default=None, return_dtype=pl.String
    )
    return pl.lit(spelled).alias("split"), spelled.is_null()


def _none(raw: pl.DataFrame) -> pl.Series:
    return pl.Series([False]).new_from_index(0, len(raw))


def _problem(column: str, raw: pl.DataFrame, row: int, gate: Gate) -> Problem:
    value = raw[column][row]
    allowed = ", ".join(gate.space.labels)
    if column in ("premise", "hypothesis"):
        message = f"{column} is missing" if value is None else f"{column} is empty"
    elif column == "split":
        message = f"split {value!r} is not one of {', '.join(SPLITS)}"
    elif value is None or (column == "label" and value.strip().lower() in MISSING):
        message = f"label is missing; allowed: {allowed}, or {NO_GOLD} for no gold label"
    elif column == "label":
        message = f"label {value!r} is not one of {allowed}; {_map_hint(value, gate)}"
    else:
        spellings = {*gate.space.spellings(gate.label_map), *ABSTENTIONS, NO_GOLD, *MISSING}
        vote = next(word for word in value if word is not None and word.strip().lower() not in spellings)
        message = f"vote {vote!r} is not one of {allowed}, {', '.join(ABSTENTIONS)}; {_map_hint(vote, gate)}"
    return Problem(gate.where, raw[LINE][row], column, message, gate.unit)


def _map_hint(word: str, gate: Gate) -> str:
    close = difflib.get_close_matches(word.lower(), gate.space.labels, n=1)
    spelling = option("label_map", {word: close[0] if close else "LABEL"})
    return f"pass {spelling}, or say with {option('labels')} what the labels are"

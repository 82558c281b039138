"""Several datasets become one, in which each pair still says where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from goldlabel.errors import InputError
from goldlabel.messages import many, option
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs


def merge(datasets: Sequence[Pairs], *, name: str = "merged", prefix: bool = False) -> Pairs:
    """Put datasets of one label space one after the other; ``dataset`` says which each pair is from.

    Two pairs with one id are refused, unless ``prefix`` puts the name of its dataset before each id.
    """
    names = [pairs.card.name for pairs in datasets]
    if len(datasets) < 2:
        raise InputError("there is nothing to merge; give two datasets or more")
    if prefix and len(set(names)) < len(names):
        raise InputError(
            f"two datasets are called {_first_twice(names)!r}, so their ids cannot be told apart; rename one "
            "with 'goldlabel data card PATH --set name=NAME'"
        )
    space = datasets[0].card.label_space
    other = next((pairs.card for pairs in datasets if pairs.card.label_space.labels != space.labels), None)
    if other is not None:
        raise InputError(
            f"{names[0]} has the labels {', '.join(space.labels)}, and {other.name} has "
            f"{', '.join(other.label_space.labels)}; bring them into one label space first"
        )
    frame = pl.concat([_named(pairs, prefix) for pairs in datasets])
    ids = frame.select("id").collect(engine="streaming")["id"]
    if ids.is_duplicated().any():
        again = _first_twice(ids.to_list())
        problem = f"id {again!r} is given to a pair of more than one dataset"
        raise InputError(f"{problem}; pass {option('prefix')} to tell them apart")
    licences = list(dict.fromkeys(pairs.card.licence or "unknown" for pairs in datasets))
    card = Card(
        name=name,
        label_space=space,
        languages=tuple(sorted({language for pairs in datasets for language in pairs.card.languages})),
        licence=None if licences == ["unknown"] else "; ".join(licences),
        author=datasets[0].card.author if len({pairs.card.author for pairs in datasets}) == 1 else "none",
        history=tuple(f"merged {pairs.card.name}, {many(len(pairs), 'pair')}" for pairs in datasets),
    )
    return Pairs(frame, card)


def _named(pairs: Pairs, prefix: bool) -> pl.LazyFrame:
    name = pl.lit(pairs.card.name)
    frame = pairs.frame.with_columns(pl.col("dataset").fill_null(name))
    return frame.with_columns(pl.format("{}:{}", name, pl.col("id")).alias("id")) if prefix else frame


def _first_twice(words: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]

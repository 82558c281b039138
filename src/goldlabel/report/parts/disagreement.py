"""Where models disagree, with pairs to look at: by id, and with their texts where the user's own files have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl

from goldlabel.messages import Word
from goldlabel.report.language import say, translate
from goldlabel.report.page import Section
from goldlabel.report.pair_card import PairCard
from goldlabel.report.parts.bench_results import BenchFolder
from goldlabel.report.table import Table

Texts = Mapping[str, tuple[str, str, str | None]]
"""Premise, hypothesis and language by id."""
FindTexts = Callable[[str, Sequence[str]], Texts]
"""Returns the texts of some pairs of a set; empty where the user has no such set."""
MOST_PAIRS, PER_SET = 12, 2


def disagreement_sections(bench: BenchFolder, find_texts: FindTexts) -> Iterator[Section]:
    """Yield how often models disagree on each set, and the pairs that split them most."""
    models = bench.learners
    if bench.labels is None or len(models) < 2:
        return
    labels = bench.labels.filter(pl.col("model").is_in(models))
    pairs = labels.group_by("set", "id", maintain_order=True).agg(
        pl.col("label").first(),
        pl.col("answer").n_unique().alias("answers"),
        (pl.col("answer") == pl.col("label")).sum().alias("right"),
        pl.len().alias("models"),
    )
    table = Table(
        name=f"{bench.suite}-disagreement",
        columns=(say("set"), say("pairs"), say("all models right"), say("all wrong"), say("divided")),
        rows=pairs.group_by("set", maintain_order=True)
        .agg(
            pl.len(),
            (pl.col("right") == pl.col("models")).sum().alias("all"),
            (pl.col("right") == 0).sum().alias("none"),
            ((pl.col("right") > 0) & (pl.col("right") < pl.col("models"))).sum().alias("divided"),
        )
        .rows(),
    )
    # The most different answers first, then those that are right for about half of the models.
    contested = (
        pairs.filter(pl.col("answers") > 1)
        .with_columns((pl.col("right") / pl.col("models") - 0.5).abs().alias("distance"))
        .sort("answers", "distance", "id", descending=[True, False, False], maintain_order=True)
        .group_by("set", maintain_order=True)
        .head(PER_SET)
        .head(MOST_PAIRS)
    )
    cards, untold = [], []
    answers = {
        key: dict(part.select("model", "answer").iter_rows())
        for key, part in labels.join(contested.select("set", "id"), on=["set", "id"]).group_by(
            "set", "id", maintain_order=True
        )
    }
    for (name,), part in contested.group_by("set", maintain_order=True):
        texts = find_texts(str(name), part["id"].to_list())
        for pair_id, label in part.select("id", "label").iter_rows():
            said = answers[name, pair_id]
            if pair_id in texts:
                premise, hypothesis, language = texts[pair_id]
                cards.append(
                    PairCard(
                        premise=premise,
                        hypothesis=hypothesis,
                        language=language,
                        label=label,
                        id=pair_id,
                        note=str(name),
                        answers=said,
                    )
                )
            else:
                untold.append((str(name), pair_id, *(_shown(answer) for answer in (label, *map(said.get, models)))))
    examples = Table(
        name=f"{bench.suite}-divided",
        columns=(say("set"), "id", say("label"), *models),
        rows=untold,
        caption=say("Pairs by id; their texts are not in your library."),
        texts=True,
    )
    text = say(
        "Where all models are wrong the pair is hard or its label is; where they are divided they have learnt "
        "different things. The examples have the most different answers."
    )
    yield Section(
        heading=say("Where models disagree"), text=text, pairs=cards, table=table, tables=[examples] if untold else []
    )


def _shown(label: str | None) -> str | None:
    return None if label is None else translate(Word(label))

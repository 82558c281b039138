"""Auditing generated pairs, beside a plain pandas and scikit-learn script that computes the same figures.

Both read the same Parquet file and give PMI, overlap with HANS's heuristics, tags and the five-fold hypothesis-only
accuracy; the audit computes everything else it has as well. The script's classifier is SGDClassifier, the fastest
logistic regression scikit-learn has for this size (--logistic takes LogisticRegression instead).
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any

from measure import measure, write_result

LABELS = ("contradiction", "entailment", "neutral")
WORDS = 20_000
ROWS_PER_BLOCK = 250_000


def generate(folder: str, pairs: int) -> int:
    """Write pairs of Zipf-distributed words; three hypotheses share a premise, and some contradictions negate."""
    import numpy as np
    import polars as pl

    from goldlabel.pairs.card import Card
    from goldlabel.pairs.record import DTYPES
    from goldlabel.pairs.writing import DatasetWriter

    random = np.random.RandomState(0)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    made = sorted({"".join(random.choice(syllables, random.randint(1, 5))) for _ in range(2 * WORDS)})[:WORDS]
    common = ["the", "a", "and", "or", "two", "he", "some", "can", "who", "today", "every", "must", "they", "before"]
    words = np.array([*common, *random.permutation(made)])
    share = 1 / np.arange(1, len(words) + 1)
    edges = np.cumsum(share / share.sum())

    def texts(rows: int, length: int) -> pl.Series:
        drawn = words[np.searchsorted(edges, random.rand(rows * length))]
        return pl.Series(drawn).reshape((rows, length)).arr.to_list().list.join(" ") + "."

    with DatasetWriter(Path(folder), Card(name="generated")) as writer:
        for start in range(0, pairs, ROWS_PER_BLOCK):
            rows = min(ROWS_PER_BLOCK, pairs - start)
            number = np.arange(start, start + rows)
            label = random.randint(0, 3, rows)
            hypothesis = texts(rows, 7)
            negated = pl.Series((label == 0) & (random.rand(rows) < 0.1))
            frame = pl.DataFrame(
                {
                    "id": pl.Series(number).cast(pl.String),
                    "premise": texts(-(-rows // 3), 14).gather(np.arange(rows) // 3),
                    "hypothesis": pl.select(
                        pl.when(negated).then("not " + hypothesis).otherwise(hypothesis)
                    ).to_series(),
                    "label": pl.Series(np.array(LABELS)[label]),
                    "split": pl.Series(["none"]).new_from_index(0, rows),
                    "language": pl.Series(["en"]).new_from_index(0, rows),
                }
            )
            rest = [name for name in DTYPES if name not in frame.columns]
            empty = {"votes": pl.lit([], DTYPES["votes"]), "tags": pl.lit([], DTYPES["tags"])}
            frame = frame.with_columns(empty.get(name, pl.lit(None, DTYPES[name])).alias(name) for name in rest)
            writer.write(frame.select(list(DTYPES)))
    return pairs


def goldlabel_audit(folder: str) -> dict[str, float]:
    import goldlabel as gl
    from goldlabel.audit import audit

    found = audit(gl.read(folder))
    return {
        "accuracy": found.hypothesis_only.accuracy.value or 0.0,
        "overlap": found.whole.overlap.mean.value or 0.0,
        "pmi": found.whole.words[0].pmi.value or 0.0,
    }


def plain_audit(folder: str, logistic: bool) -> dict[str, float]:
    import math

    import pandas as pd
    from joblib.externals.loky import get_reusable_executor
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.model_selection import GroupKFold, cross_val_predict

    from goldlabel.audit.tags import TAGS
    from goldlabel.pairs.lexicon import lexicon

    data = pd.read_parquet(f"{folder}/none.parquet", columns=["premise", "hypothesis", "label"])
    token = re.compile(r"\w+(?:'\w+)*")
    premises = data["premise"].str.lower().map(token.findall)
    hypotheses = data["hypothesis"].str.lower().map(token.findall)

    exploded = pd.DataFrame({"word": hypotheses.map(set).map(list), "label": data["label"]}).explode("word")
    counts = exploded.groupby(["word", "label"]).size().unstack(fill_value=0)
    shares = data["label"].value_counts(normalize=True)
    pmi = (counts + 10).div(counts.sum(axis=1) + 30, axis=0).div(shares, axis=1).map(math.log)

    overlap, lexical, subsequence = [], 0, 0
    for premise, hypothesis in zip(premises, hypotheses, strict=True):
        share = len(set(hypothesis) & set(premise)) / len(set(hypothesis))
        overlap.append(share)
        if share == 1:
            lexical += 1
            subsequence += f" {' '.join(hypothesis)} " in f" {' '.join(premise)} "
    pd.Series(overlap).groupby(data["label"]).mean()
    hypotheses.map(len).groupby(data["label"]).mean()

    for tag in TAGS[:-1]:
        entry = lexicon("en")[tag]
        listed = "|".join([*map(re.escape, entry["words"]), *([entry["pattern"]] if "pattern" in entry else [])])
        for column in ("premise", "hypothesis"):
            data[column].str.contains(rf"\b(?:{listed})\b", case=False, regex=True).groupby(data["label"]).mean()

    matrix = HashingVectorizer(ngram_range=(1, 2), n_features=2**18, norm=None, alternate_sign=False).fit_transform(
        data["hypothesis"]
    )
    model = LogisticRegression() if logistic else SGDClassifier(loss="log_loss", max_iter=5, tol=None, random_state=0)
    folds = GroupKFold(5)
    predicted = cross_val_predict(
        model, matrix, data["label"], groups=data["premise"], cv=folds, method="predict_proba", n_jobs=-1
    ).argmax(axis=1)
    get_reusable_executor().shutdown()
    right = (pd.Series(sorted(LABELS)).reindex(predicted).to_numpy() == data["label"].to_numpy()).mean()
    return {"accuracy": float(right), "overlap": sum(overlap) / len(overlap), "pmi": float(pmi.max().max())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--growth", default="10000,100000,1000000,5000000", help="sizes to audit; empty: none")
    parser.add_argument("--logistic", action="store_true")
    options = parser.parse_args()
    figures: dict[str, Any] = {"pairs": options.pairs, "growth": {}}
    with tempfile.TemporaryDirectory() as folder:
        measure(generate, f"{folder}/pairs", options.pairs)
        for name, job in (
            ("goldlabel", (goldlabel_audit, f"{folder}/pairs")),
            ("pandas and scikit-learn", (plain_audit, f"{folder}/pairs", options.logistic)),
        ):
            figures[name] = measure(*job)
            seen = figures[name]
            print(f"{name:24} {seen['seconds']:8.1f} s  peak {seen['peak_mb']:7,.0f} MB  {seen['result']}", flush=True)
        ratio = figures["pandas and scikit-learn"]["seconds"] / figures["goldlabel"]["seconds"]
        figures["times_as_fast"] = ratio
        print(f"{ratio:.1f} times as fast")
        for size in [int(size) for size in options.growth.split(",") if size]:
            measure(generate, f"{folder}/{size}", size)
            seen = measure(goldlabel_audit, f"{folder}/{size}")
            figures["growth"][size] = seen
            print(
                f"{size:>10,} pairs {seen['seconds']:7.1f} s  {size / seen['seconds']:9,.0f} pairs/s  "
                f"peak {seen['peak_mb']:6,.0f} MB",
                flush=True,
            )
    write_result("audit", figures)


if __name__ == "__main__":
    main()

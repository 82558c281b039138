from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.recast import Options, run_recast
from goldlabel.recast.megaveridicality import Item, item_classes
from goldlabel.recast.ordinal import fit_ordinal
from tests.recast.samples import VERBS, megaveridicality


def recast(folder: Path, **options: object) -> pl.DataFrame:
    return run_recast("megaveridicality", megaveridicality(folder), Options(**options)).pairs.collect()  # type: ignore[arg-type]


def test_the_released_form(tmp_path: Path) -> None:
    frame = recast(tmp_path, style="dnc")
    assert len(frame) == len(VERBS) * 3 * 3
    premise = "someone ladled that a particular thing happened ."
    assert frame.select("id", "premise", "hypothesis").rows()[:3] == [
        (f"megaveridicality-ladle:that_S:active:positive-{number}", premise, text)
        for number, text in enumerate(
            ("that thing happened .", "that thing didn't happen .", "that thing might or might not have happened ."), 1
        )
    ]
    assert "a particular person did n't hum to have a particular thing ." in frame["premise"]
    assert frame.group_by("group").agg((pl.col("label") == "entailment").sum())["label"].unique().to_list() == [1]


@pytest.mark.parametrize("classes", ["majority", "ordinal"])
def test_the_class_is_what_most_say(classes: str, tmp_path: Path) -> None:
    frame = recast(tmp_path, style="dnc", settings={"classes": classes})
    entailed = frame.filter(pl.col("label") == "entailment")
    said = dict(zip(entailed["meta"].str.json_path_match("$.verb"), entailed["hypothesis"], strict=True))
    assert said["fend"] == "that person didn't have that thing ."
    assert said["sniff"] == "that person had that thing ."
    assert said["dab"] == "that person might or might not have had that thing ."


def test_in_the_plain_form_a_hypothesis_does_not_tell_its_label(tmp_path: Path) -> None:
    frame = recast(tmp_path, style="plain")
    counts = frame.group_by("hypothesis").agg((pl.col("label") == "entailment").mean())
    assert counts["label"].unique().to_list() == [0.5]
    assert frame["premise"].str.ends_with(" thing.").any()
    assert (
        frame.group_by(pl.col("meta").str.json_path_match("$.verb")).agg(pl.col("split").n_unique())["split"].max() == 1
    )
    assert len(recast(tmp_path, style="plain", settings={"balance": "no"})) == len(VERBS) * 3 * 3


def test_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="classes=mean: is not one of ordinal, majority"):
        recast(tmp_path, settings={"classes": "mean"})


def test_a_tie_is_a_maybe() -> None:
    answers = [("a", "yes"), ("b", "no"), ("c", "yes"), ("d", "no")]
    item = Item("a.csv line 2", "hum", "that_S", "Someone hummed", answers)
    assert item_classes([item], "majority") == ["maybe"]


def test_the_newer_release_names_frames_otherwise(tmp_path: Path) -> None:
    rows = ["participant\tlist\tpresentationorder\tverb\tframe\tpolarity\tconditional\tsentence\tveridicality"]
    for frame in ("NP Ved that S", "NP was Ved to VP[+eventive]", "NP Ved NP to VP[-eventive]"):
        rows += [f"{who}\t0\t1\thum\t{frame}\tpositive\tFalse\tSomeone hummed a thing\tyes" for who in range(3)]
    file = tmp_path / "mega-veridicality-v2.1.tsv"
    file.write_text("\n".join(rows) + "\n")
    frame = run_recast("megaveridicality", [file], Options(style="dnc")).pairs.collect()
    assert set(frame["group"]) == {
        "hum:that_S:active:positive",
        "hum:to_VPeventive:passive:positive",
        "hum:NP_to_VPstative:active:positive",
    }


def simulate(seed: int) -> tuple[np.ndarray, ...]:
    """Draw answers of annotators, some of whom hardly ever commit themselves."""
    random = np.random.RandomState(seed)
    place = random.normal(0, 2, 150)
    low, gap = random.normal(-1.5, 1, 80), np.exp(random.normal(0.8, 0.6, 80))
    item, annotator = (part.ravel() for part in np.meshgrid(np.arange(150), np.arange(80), indexing="ij"))
    drawn = random.rand(len(item)) < 10 / 80
    item, annotator = item[drawn], annotator[drawn]
    latent = place[item] + random.logistic(size=len(item))
    answer = (latent > low[annotator]).astype(int) + (latent > low[annotator] + gap[annotator])
    return item, annotator, answer, place, low


def test_the_ordinal_model_finds_what_made_the_answers() -> None:
    item, annotator, answer, place, low = simulate(1)
    model = fit_ordinal(item, annotator, answer)
    assert np.corrcoef(model.items, place)[0, 1] > 0.9
    assert np.corrcoef(model.low, low)[0, 1] > 0.8
    raw = np.bincount(item, answer) / np.bincount(item)
    assert np.corrcoef(model.items, place)[0, 1] > np.corrcoef(raw, place)[0, 1]
    assert model.item_sd == pytest.approx(2, abs=0.5)
    assert model.low_sd == pytest.approx(1, abs=0.35)
    assert model.sweeps < 200
    assert np.allclose(model.shares().sum(axis=1), 1)


def test_the_ordinal_model_stands_at_a_maximum() -> None:
    """No small move of any effect makes the answers and the effects' normal densities more likely together."""
    item, annotator, answer, _, _ = simulate(2)
    model = fit_ordinal(item, annotator, answer)

    def density(items: np.ndarray, low: np.ndarray, log_gap: np.ndarray) -> float:
        from scipy.special import expit

        below, within = (
            expit(low[annotator] - items[item]),
            expit(low[annotator] + np.exp(log_gap[annotator]) - items[item]),
        )
        given = np.choose(answer, [below, within - below, 1 - within])
        prior = (items**2).sum() / model.item_sd**2
        prior += ((low - low.mean()) ** 2).sum() / model.low_sd**2
        prior += ((log_gap - log_gap.mean()) ** 2).sum() / model.gap_sd**2
        return float(np.log(given).sum() - prior / 2)

    best = density(model.items, model.low, model.log_gap)
    for number in range(30):
        for step in (-0.05, 0.05):
            moved = [model.items.copy(), model.low.copy(), model.log_gap.copy()]
            moved[number % 3][number] += step
            assert density(*moved) < best + 1e-3


def test_annotators_who_always_answer_alike_do_no_harm() -> None:
    item = np.repeat(np.arange(30), 10)
    annotator = np.tile(np.arange(10), 30)
    answer = np.where(annotator < 3, 1, np.where(item < 15, 0, 2))
    model = fit_ordinal(item, annotator, answer)
    assert np.isfinite(model.items).all()
    assert model.classes().tolist() == [0] * 15 + [2] * 15

"""The loop that fits networks."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

import goldlabel as gl  # noqa: E402
from goldlabel.errors import GoldlabelError, InputError  # noqa: E402
from goldlabel.models import precision as precision_module  # noqa: E402
from goldlabel.models.cbow import CBOW  # noqa: E402
from goldlabel.models.precision import computes_bf16  # noqa: E402
from goldlabel.models.vocabulary import NULL  # noqa: E402
from goldlabel.pairs import Pairs  # noqa: E402
from goldlabel.train import Run, train  # noqa: E402
from goldlabel.train import trainer as trainer_module  # noqa: E402
from goldlabel.train.run import Step  # noqa: E402
from goldlabel.train.step import TrainingStep  # noqa: E402
from goldlabel.train.task import nested_rows  # noqa: E402
from tests.train.samples import SMALL, make_pairs, make_rows, weights, with_dev  # noqa: E402


def quick(folder: Path, on: Pairs | None = None, **changes: Any) -> Run:
    """Train a small CBOW."""
    return train("cbow", with_dev() if on is None else on, folder, **{"epochs": 2, **SMALL, **changes})


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_what_is_learnt_is_loaded_back(tmp_path: Path) -> None:
    pairs = with_dev()
    result = quick(tmp_path / "run", pairs, epochs=30, lr=0.003, hidden=32, patience=30)
    assert result.dev["doors"].value == 1.0
    dev = pairs.only(split="dev").collect()
    model = gl.load_model(tmp_path / "run")
    assert gl.predict_labels(model, dev["premise"], dev["hypothesis"]) == dev["label"].to_list()


def test_a_run_is_a_function_of_its_seed(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        quick(tmp_path / name, seed=seed, dropout=0.3)
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")


def test_accumulated_gradients_are_those_of_larger_batches(tmp_path: Path) -> None:
    """With one length there is one order, so that two batches of 4 are a batch of 8."""
    rows = [{**row, "premise": f"Door {number}.", "hypothesis": "Open."} for number, row in enumerate(make_rows(16))]
    pairs = make_pairs(rows)
    plain = {"lr": 0.1, "clip": 0.5, "epochs": 3}
    quick(tmp_path / "whole", pairs, batch=16, **plain)
    quick(tmp_path / "halves", pairs, batch=8, accumulate=2, **plain)
    quick(tmp_path / "quarters", pairs, batch=4, accumulate=4, **plain)
    quick(tmp_path / "steps", pairs, batch=8, **plain)
    whole, halves, quarters, steps = (
        gl.load_model(tmp_path / name).predict([*pl.Series(rows).struct["premise"]], ["Open."] * 16)
        for name in ("whole", "halves", "quarters", "steps")
    )
    np.testing.assert_allclose(halves, whole, atol=1e-5)
    np.testing.assert_allclose(quarters, whole, atol=1e-5)
    assert np.abs(steps - whole).max() > 1e-3
    assert [one["steps"] for one in metrics(tmp_path / "halves")] == [1, 2, 3]
    assert [one["loss"] for one in metrics(tmp_path / "halves")] == pytest.approx(
        [one["loss"] for one in metrics(tmp_path / "whole")], abs=1e-5
    )


def test_batches_by_token_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    forward = CBOW.forward

    def spy(self: CBOW, premise: Any, hypothesis: Any, **options: Any) -> Any:
        if self.training:
            seen.append(premise.words.numel() + hypothesis.words.numel())
        return forward(self, premise, hypothesis, **options)

    monkeypatch.setattr(CBOW, "forward", spy)
    quick(tmp_path / "run", batch_tokens=64, epochs=1)
    assert max(seen) <= 64
    assert sum(seen) >= 48 * 10
    assert metrics(tmp_path / "run")[0]["steps"] == len(seen) > 8


class Judged:
    """Dev accuracies that a test decides on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **by_epoch: list[float]) -> None:
        from goldlabel.metrics import Estimate
        from goldlabel.pairs.gold import GoldPairs

        asked: dict[str, int] = dict.fromkeys(by_epoch, 0)

        def score(gold: GoldPairs, *_: Any) -> Estimate:
            value = by_epoch[gold.name][asked[gold.name]]
            asked[gold.name] += 1
            return Estimate(value, 0.0, 1.0, 0.95, len(gold), len(gold), "said by the test")

        monkeypatch.setattr(GoldPairs, "score", score)


@pytest.mark.parametrize(
    ("stop_on", "epochs", "best"),
    [("front", 4, 2), ("back", 6, 4), ("mean", 5, 3)],
)
def test_early_stopping_on_a_named_set_or_on_the_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_on: str, epochs: int, best: int
) -> None:
    Judged(monkeypatch, front=[0.4, 0.9, 0.9, 0.8, 0.3, 0.3, 0.1], back=[0.1, 0.2, 0.6, 0.65, 0.1, 0.1, 0.1])
    dev = [make_pairs(6, name=name) for name in ("front", "back")]
    result = quick(tmp_path / "run", make_pairs(24), dev=dev, epochs=7, patience=2, stop_on=stop_on)
    assert (result.epochs, result.best_epoch) == (epochs, best)
    assert result.accuracies == {
        "front": [0.4, 0.9, 0.9, 0.8][best - 1],
        "back": [0.1, 0.2, 0.6, 0.65][best - 1],
    }


def test_the_best_weights_are_kept_and_not_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Judged(monkeypatch, doors=[0.1, 0.9])
    quick(tmp_path / "short", make_pairs(24), dev=make_pairs(6), epochs=2)
    Judged(monkeypatch, doors=[0.1, 0.9, 0.2, 0.2, 0.2])
    result = quick(tmp_path / "long", make_pairs(24), dev=make_pairs(6), epochs=5, patience=9)
    assert (result.epochs, result.best_epoch) == (5, 2)
    assert weights(tmp_path / "long") == weights(tmp_path / "short")


def test_the_learning_rate_falls_and_stops_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decay after each epoch, a drop after an epoch that is not better, the end below the floor: InferSent's rules."""
    recipe = replace(CBOW.recipe, decay=0.5, drop=0.1, floor=1e-4, patience=99)
    monkeypatch.setattr(CBOW, "recipe", recipe)
    Judged(monkeypatch, doors=[0.5, 0.4, 0.6, 0.1, 0.1])
    result = quick(tmp_path / "run", make_pairs(12), dev=make_pairs(6), epochs=9, lr=0.1)
    rates = [one["lr"] for one in metrics(tmp_path / "run")]
    assert rates == pytest.approx([0.1, 0.05, 0.0025, 0.00125])
    assert result.epochs == 4  # the next would have had 0.0000625


def test_the_learning_rate_rises_and_falls_from_step_to_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    finish = TrainingStep.finish

    def spy(self: TrainingStep) -> None:
        rates.extend(group["lr"] for group in self.optimiser.param_groups[:1])
        finish(self)

    monkeypatch.setattr(TrainingStep, "finish", spy)
    quick(tmp_path / "run", make_pairs(40), batch=10, epochs=2, lr=0.8, schedule="linear", warmup=0.5)
    assert rates == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 0.6, 0.4, 0.2])
    assert [epoch["lr"] for epoch in metrics(tmp_path / "run")] == pytest.approx([0.6, 0.2]), "that of the last step"
    rates.clear()
    quick(tmp_path / "halves", make_pairs(40), batch=5, accumulate=2, epochs=2, lr=0.8, schedule="linear", warmup=0.5)
    assert rates == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 0.6, 0.4, 0.2])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schedule": "linaer"}, "schedule 'linaer' is not known; did you mean 'linear'"),
        ({"optimiser": "adamx"}, "optimiser 'adamx' is not known; did you mean 'adam"),
        ({"warmup": 1.0}, r"warmup 1\.0 is not a share from 0 on and below 1"),
        ({"l2": -1.0}, r"l2 -1\.0 is not a number from 0 on"),
        ({"floor": float("nan")}, "floor nan is not a number from 0 on"),
        ({"length": 0}, "length 0 is not a number from 1 on"),
    ],
)
def test_choices_of_the_recipe_that_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        quick(tmp_path / "run", **changes)


def test_a_learning_rate_at_which_training_would_be_over_before_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CBOW, "recipe", replace(CBOW.recipe, floor=1e-4))
    with pytest.raises(InputError, match=r"lr 1e-05 is below 0\.0001, where cbow stops training; pass a higher --lr"):
        quick(tmp_path / "run", lr=1e-5)
    assert not (tmp_path / "run").exists()
    assert quick(tmp_path / "run", make_pairs(6), lr=1e-5).epochs == 2, "without a dev set, nothing stops early"


def test_another_optimiser_is_not_told_what_was_published_for_the_first(tmp_path: Path) -> None:
    """Adadelta's rho and eps mean nothing to AdamW."""
    train("lstm", make_pairs(6), tmp_path / "run", optimiser="adamw", l2=0.1, epochs=1, hidden=4, device="cpu")
    recipe = json.loads((tmp_path / "run" / "config.json").read_text())["recipe"]
    assert (recipe["optimiser"], recipe["settings"], recipe["l2"]) == ("adamw", {}, 0.1)


@pytest.mark.parametrize(("in_a_row", "epochs"), [(True, 8), (False, 6)])
def test_epochs_without_gain_are_counted_in_a_row_or_in_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_a_row: bool, epochs: int
) -> None:
    """HBMP's released code counts them in all."""
    from goldlabel.models.hbmp import HBMP

    assert (HBMP.recipe.in_a_row, HBMP.recipe.patience) == (False, 4)
    monkeypatch.setattr(CBOW, "recipe", replace(CBOW.recipe, in_a_row=in_a_row))
    Judged(monkeypatch, doors=[0.5, 0.4, 0.6, 0.5, 0.7, 0.6, 0.6, 0.6, 0.6])
    result = quick(tmp_path / "run", make_pairs(12), dev=make_pairs(6), epochs=9, patience=3)
    assert result.epochs == epochs


def test_word_vectors_are_not_drawn_towards_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bowman et al. penalise all weights but those; a word that never occurs keeps the vector it began with."""
    networks = []
    for l2 in (0.0, 0.5):
        monkeypatch.setattr(CBOW, "recipe", replace(CBOW.recipe, optimiser="sgd", l2=l2))
        quick(tmp_path / f"{l2}", make_pairs(12), lr=0.1, epochs=1)
        networks.append(gl.load_model(tmp_path / f"{l2}", "cpu").network)  # type: ignore[attr-defined]
    rows = [network.words.weight.detach()[NULL] for network in networks]
    assert torch.equal(rows[0], rows[1])
    heads = [network.head[0].weight.detach() for network in networks]
    assert heads[1].norm() < 0.99 * heads[0].norm()


def test_without_dev_sets_every_epoch_is_trained(tmp_path: Path) -> None:
    result = quick(tmp_path / "run", make_pairs(12), epochs=4, patience=1)
    assert (result.epochs, result.best_epoch, result.dev) == (4, 4, {})


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_loss_that_is_no_number_stops_and_keeps_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(trainer_module, "CHECKPOINT_SHARE", math.inf)  # however long one takes on a busy machine
    message = (
        r"not a finite number at step \d+ \(epoch \d\); the last checkpoint is kept: pass a lower --lr than 1e\+30"
    )
    with pytest.raises(GoldlabelError, match=message) as raised:
        quick(tmp_path / "run", lr=1e30, epochs=9, batch=4)
    assert "\n" not in str(raised.value)
    state = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert all(value.isfinite().all() for value in state["network"].values())
    step = int(str(raised.value).split("step ")[1].split()[0])
    assert state["steps"] == step - 1, "the checkpoint is that of the step before"
    assert not (tmp_path / "run" / "result.json").exists()


def test_the_step_is_named_where_gradients_are_accumulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    forward = CBOW.forward

    def poisoned(self: CBOW, premise: Any, hypothesis: Any, **options: Any) -> Any:
        nonlocal calls
        calls += self.training
        outputs = forward(self, premise, hypothesis, **options)
        return replace(outputs, logits=outputs.logits * (float("nan") if calls == 6 else 1.0))

    monkeypatch.setattr(CBOW, "forward", poisoned)
    monkeypatch.setattr(trainer_module, "LOOK_EVERY", 7)
    with pytest.raises(GoldlabelError, match=r"at step 2 \(epoch 1\); no checkpoint was due before"):
        quick(tmp_path / "run", make_pairs(48), batch=4, accumulate=3)


def test_weights_that_are_no_numbers_at_the_end_of_an_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss of the last step is finite, what it did to the weights is not."""
    real = TrainingStep.finish

    def poisoned(self: Any) -> None:
        real(self)
        with torch.no_grad():
            self.trained[0][1] = float("inf")

    monkeypatch.setattr(TrainingStep, "finish", poisoned)
    with pytest.raises(GoldlabelError, match=r"a weight is not a finite number after step 1 \(epoch 1\)"):
        quick(tmp_path / "run", make_pairs(6), batch=6, epochs=1)
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_out_of_memory_names_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated: the network raises what CUDA raises, in the third batch."""
    calls = 0
    forward = CBOW.forward

    def full(self: CBOW, premise: Any, hypothesis: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(self, premise, hypothesis, **options)

    monkeypatch.setattr(CBOW, "forward", full)
    pattern = r"out of memory in batch 3 of epoch 1: 8 pairs of (\d+) \+ (\d+) tokens; pass --batch-tokens (\d+)"
    with pytest.raises(GoldlabelError, match=pattern) as raised:
        quick(tmp_path / "run", batch=8)
    found = re.search(pattern, str(raised.value))
    assert found
    assert int(found[3]) == 8 * (int(found[1]) + int(found[2])) // 2


def test_another_fault_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any, **__: Any) -> None:
        raise RuntimeError("another fault")

    monkeypatch.setattr(CBOW, "forward", faulty)
    with pytest.raises(RuntimeError, match="another fault"):
        quick(tmp_path / "other")


@pytest.mark.skipif(not computes_bf16("cpu"), reason="this processor does not compute in bf16")
def test_bf16_runs_on_a_cpu_and_gives_other_weights(tmp_path: Path) -> None:
    plain = quick(tmp_path / "fp32", lr=0.01)
    mixed = quick(tmp_path / "bf16", precision="bf16", lr=0.01)
    assert weights(tmp_path / "fp32") != weights(tmp_path / "bf16")
    assert plain.parameters == mixed.parameters
    losses = [[one["loss"] for one in metrics(tmp_path / name)] for name in ("fp32", "bf16")]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


@pytest.mark.parametrize("model", ["cbow", "lstm"])
def test_bf16_on_a_processor_without_it_is_refused_and_nobody_gets_it_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """The processor is simulated: the one function that asks it answers no."""
    monkeypatch.setattr(precision_module, "computes_bf16", lambda _: False)
    with pytest.raises(InputError, match="bf16 was asked for and this processor has none; pass --precision fp32") as no:
        train(model, with_dev(), tmp_path / "bf16", precision="bf16", epochs=1, device="cpu")
    assert "\n" not in str(no.value)
    assert not (tmp_path / "bf16").exists()
    train(model, with_dev(), tmp_path / "run", epochs=1, hidden=4, device="cpu")
    with pytest.raises(InputError, match="bf16 was asked for"):
        gl.load_model(tmp_path / "run", "cpu", precision="bf16")
    assert np.isfinite(gl.load_model(tmp_path / "run", "cpu").predict(["Open."], ["Shut."])).all()


def test_what_the_processor_says_is_what_happens() -> None:
    """Asked anew, in a process whose oneDNN is told to know no more than AVX2, and in this one."""
    code = """
import torch
from goldlabel.models.precision import computes_bf16
state = torch.get_rng_state()
answer = computes_bf16("cpu")
assert torch.equal(state, torch.get_rng_state()), "asking draws random numbers"
try:
    with torch.autocast("cpu", torch.bfloat16):
        torch.nn.LSTM(4, 4)(torch.zeros(2, 3, 4))[0].sum().backward()
    print(answer, True)
except RuntimeError:
    print(answer, False)
"""
    for limits in ({}, {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}):
        ended = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **limits}, capture_output=True, text=True, check=False
        )
        answer, happened = ended.stdout.split() or [ended.stderr, ""]
        assert answer == happened


def product_settings() -> dict[str, str]:
    """What torch makes of products of single-precision numbers."""
    backends = torch.backends
    return {
        "matmul": backends.cuda.matmul.fp32_precision,
        "conv": backends.cudnn.conv.fp32_precision,
        "rnn": backends.cudnn.rnn.fp32_precision,
        "cpu": backends.mkldnn.matmul.fp32_precision,
    }


def test_fp32_is_fp32_while_a_run_computes_and_torchs_settings_are_as_before_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings alone: what a GPU then computes is in ``tests/models/test_precision.py``."""
    before = product_settings()
    assert "tf32" in before.values(), "torch's own default is what must not stay"
    during: list[dict[str, str]] = []
    forward, classify = CBOW.forward, CBOW.classify

    def spy(method: Any) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            during.append(product_settings())
            return method(*arguments, **options)

        return called

    monkeypatch.setattr(CBOW, "forward", spy(forward))
    quick(tmp_path / "run", precision="fp32")
    assert product_settings() == before
    monkeypatch.setattr(CBOW, "classify", spy(classify))
    gl.load_model(tmp_path / "run", "cpu").predict(["Open."], ["Shut."])
    assert product_settings() == before
    assert during
    assert all(set(settings.values()) == {"ieee"} for settings in during)

    def faulty(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(CBOW, "forward", faulty)
    with pytest.raises(RuntimeError, match="a fault"):
        quick(tmp_path / "faulty", precision="fp32")
    assert product_settings() == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is here")
def test_cuda_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this machine has no CUDA device; pass --device cpu"):
        quick(tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"precision": "tf32"}, "tf32 is for CUDA devices; pass --precision fp32"),
        ({"precision": "fp16"}, "precision 'fp16' is not known; did you mean 'bf16'"),
        ({"stop_on": "dors"}, "stop-on 'dors' is no dev set; did you mean 'doors'"),
        ({"hiden": 3}, "cbow has no option 'hiden'; did you mean 'hidden'"),
        ({"size": 49}, "49 pairs were asked for and there are 48"),
        ({"train_vectors": False}, "--freeze-vectors is about vectors that are given; pass --vectors FILE"),
        ({"tagger": "jieba"}, "cbow does not use parts of speech; leave --tagger out"),
        ({"start": "nowhere"}, r"nowhere: is not a run folder, config\.json is missing"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        quick(tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


def test_what_is_told_on_the_way(tmp_path: Path) -> None:
    steps: list[Step] = []
    quick(tmp_path / "run", batch=8, on_step=steps.append)
    assert [(step.epoch, step.epochs, step.of) for step in steps[:1]] == [(1, 2, 48)]
    assert [step.pairs for step in steps if step.epoch == 1] == [8, 16, 24, 32, 40, 48, 48]
    assert all(np.isfinite(step.loss) and step.rate > 0 for step in steps)
    assert steps[0].accuracy is None
    assert steps[-1].accuracy == max(one["dev"]["doors"]["value"] for one in metrics(tmp_path / "run")[:1])


def test_labels_that_only_the_rest_of_a_sample_has_are_not_known(tmp_path: Path) -> None:
    rows = make_rows(40)
    for row in rows:
        row["label"] = "neutral"
    rows[nested_rows(40, 0)[-1]]["label"] = "entailment"
    quick(tmp_path / "run", make_pairs(rows), size=10)
    assert gl.load_model(tmp_path / "run").seen == ("neutral",)  # type: ignore[attr-defined]


def test_probabilities_of_each_epoch(tmp_path: Path) -> None:
    quick(tmp_path / "run", make_pairs(24), batch=5, epochs=2)
    tables = [pl.read_parquet(tmp_path / "run" / "dynamics" / f"epoch-00{epoch}.parquet") for epoch in (1, 2)]
    for epoch, table in enumerate(tables, start=1):
        assert table["id"].to_list() == [f"p{number}" for number in range(24)]
        assert table["epoch"].to_list() == [epoch] * 24
        np.testing.assert_allclose(table["probabilities"].list.sum(), 1, atol=1e-5)
    assert not tables[0]["probabilities"].equals(tables[1]["probabilities"])

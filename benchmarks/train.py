"""Training and scoring speed of the published networks, beside a straightforward loop over the same network.

The reference is what one writes first: random batches from a DataLoader, padded to the longest by the collate
function, the loss read after every step; scoring in batches of the same size in the order given. Ours is the trainer:
encoded once, length buckets, on a GPU whole steps captured into CUDA graphs. Both have the published batch and recipe,
the same precision and the same pairs, and train until the dev accuracy stops getting better (or --epochs; on a CPU,
one). ``training`` is the rate of the whole run, ``steady`` that of its last epoch, when everything is captured.

    python benchmarks/train.py --on snli --vectors glove.npz [--device cuda] [--models esim,infersent]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import write_result
from torch.nn import functional
from torch.utils.data import DataLoader

from goldlabel.models import MODELS
from goldlabel.models.encoding import EncodedPairs
from goldlabel.models.model import label_indices
from goldlabel.models.network import NetworkModel, PairTensors, build_network
from goldlabel.models.precision import single_precision
from goldlabel.pairs.gold import GoldPairs
from goldlabel.sources import find
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.train.encoded import EncodedTask, encode_task
from goldlabel.train.objective import CrossEntropy
from goldlabel.train.optimiser import KINDS
from goldlabel.train.options import TrainOptions
from goldlabel.train.run import RunFolder
from goldlabel.train.task import Task, gather_task
from goldlabel.train.trainer import Trainer, resolve_recipe

NETWORKS = "cbow,lstm,bilstm-siamese,infersent,hbmp,disan,decomposable-attention,bimpm,esim,diin"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", default=None, help="pairs with train and dev splits; generated ones by default")
    parser.add_argument("--vectors", default=None)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--models", default=NETWORKS)
    parser.add_argument("--precision", choices=["fp32", "tf32"], default="fp32")
    parser.add_argument("--side", choices=["both", "ours", "reference"], default="both")
    parser.add_argument(
        "--epochs", type=int, default=None, help="of both; by default each stops early, on a CPU after one"
    )
    parser.add_argument("--seconds", type=float, default=None, help="stop the reference after that long")
    parser.add_argument("--limit", type=int, default=None, help="training pairs")
    arguments = parser.parse_args()
    pairs = find(arguments.on) if arguments.on else fragment_pairs("en", 1_500, seed=0).split("80:20:0").pairs
    device = torch.device(arguments.device)
    if device.type == "cpu" and arguments.epochs is None:
        arguments.epochs = 1
    figures: dict[str, Any] = {"device": _name(device), "matrix_gflops": matrix_rate(device), "models": {}}
    for name in arguments.models.split(","):
        task = gather_task(name, [pairs], sizes=[arguments.limit])
        figures["models"][name] = compare(name, task, device, arguments)
        print(name, figures["models"][name], flush=True)
    write_result(f"train-{device.type}", figures)


def compare(name: str, task: Task, device: torch.device, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train and score both ways, or one of them."""
    both = {"ours": train_ours, "reference": train_reference}
    figures: dict[str, Any] = {
        side: train(name, task, device, arguments) for side, train in both.items() if arguments.side in (side, "both")
    }
    if len(figures) == 2:
        ours, reference = figures["ours"], figures["reference"]
        for work in ("training", "scoring"):
            figures[f"{work}_ratio"] = ours[work] / reference[work]
        figures["steady_ratio"] = ours["steady"] / reference["training"]
    return figures


def train_ours(name: str, task: Task, device: torch.device, arguments: argparse.Namespace) -> dict[str, Any]:
    """The trainer; its rate counts batches, steps and looks, not the dev set."""
    options = chosen_options(device, arguments)
    network: Any = MODELS.get(name)
    with tempfile.TemporaryDirectory() as folder:
        task = replace(task, options=options)
        encoded = encode_task(task, None, Path(folder))
        torch.manual_seed(0)
        model = fresh_model(name, encoded, task, device)
        recipe = resolve_recipe(network.recipe, options)
        rows = task.rows
        trainer = Trainer(task, model, CrossEntropy(), encoded, recipe, RunFolder(Path(folder) / "run"), None)
        torch.manual_seed(0)
        trainer.run()
        epochs = trainer.epoch - 1
        seconds = trainer.seconds
        ends = [0.0, *(line["seconds"] for line in trainer.folder.metrics())]
        scoring = _rate(lambda: model.predict_rows(encoded.dev[0]), len(task.dev[0]))
    gflops = flops_per_pair(model, encoded.dev[0], task.dev[0]) * len(rows) * epochs / seconds / 1e9
    return {
        "training": len(rows) * epochs / seconds,
        "steady": len(rows) / (ends[-1] - ends[-2]),
        "scoring": scoring,
        "accuracy": trainer.best,
        "epochs": epochs,
        "best_epoch": trainer.best_epoch,
        "seconds": seconds,
        "seconds_to_best": seconds / epochs * trainer.best_epoch,
        "forward_and_backward_gflops": gflops,
    }


def fresh_model(name: str, encoded: EncodedTask, task: Task, device: torch.device) -> NetworkModel:
    space, made = task.gold.space, encoded.preparation
    built = build_network(MODELS.get(name), made.encoder, len(space), options={}, vectors=made.vectors)
    return NetworkModel(built.to(device), made.encoder, space, space.labels, {})


def chosen_options(device: torch.device, arguments: argparse.Namespace) -> TrainOptions:
    """What both sides are told beside the published recipe."""
    return TrainOptions(
        device=device.type, vectors=arguments.vectors, epochs=arguments.epochs, precision=arguments.precision
    )


def train_reference(name: str, task: Task, device: torch.device, arguments: argparse.Namespace) -> dict[str, Any]:
    """The loop one writes first."""
    with single_precision(arguments.precision):
        return _train_reference(name, task, device, arguments)


def _train_reference(name: str, task: Task, device: torch.device, arguments: argparse.Namespace) -> dict[str, Any]:
    network: Any = MODELS.get(name)
    options = chosen_options(device, arguments)
    recipe = resolve_recipe(network.recipe, options)
    with tempfile.TemporaryDirectory() as folder:
        encoded = encode_task(replace(task, options=options), None, Path(folder))
    torch.manual_seed(0)
    model = fresh_model(name, encoded, task, device)
    trained = [p for p in model.network.parameters() if p.requires_grad]
    optimiser = KINDS[recipe.optimiser](trained, lr=recipe.lr, weight_decay=recipe.l2)
    training, dev = PlainPairs(encoded.rows, task.gold), PlainPairs(encoded.dev[0], task.dev[0])
    loader: Any = DataLoader(training, batch_size=recipe.batch, shuffle=True, collate_fn=training.collate)
    best, best_epoch, seconds, seen, epoch = 0.0, 0, 0.0, 0, 0
    stale = bad = 0
    while epoch < recipe.epochs and stale < recipe.patience and not _late(seconds, arguments.seconds):
        epoch += 1
        model.network.train()
        start = time.perf_counter()
        for rows, sizes, labels in loader:
            premise, hypothesis = training.tensors.batch(rows, sizes)
            premise, hypothesis = _moved(premise, device), _moved(hypothesis, device)
            loss = functional.cross_entropy(model.network(premise, hypothesis).logits, labels.to(device))
            penalty = model.network.penalty()
            loss = loss if penalty is None else loss + penalty
            optimiser.zero_grad()
            loss.backward()
            if recipe.clip:
                torch.nn.utils.clip_grad_norm_(trained, recipe.clip)
            optimiser.step()
            model.network.steps += 1
            loss.item()
            seen += len(rows)
            if _late(seconds + time.perf_counter() - start, arguments.seconds):
                break
        seconds += time.perf_counter() - start
        accuracy, scoring = score_reference(model, dev, task.dev[0], device, recipe.batch)
        if accuracy > best:
            best, best_epoch, stale, bad = accuracy, epoch, 0, 0
        else:
            stale, bad = stale + 1, bad + 1
        for group in optimiser.param_groups:
            if bad > recipe.drop_patience:
                group["lr"] *= recipe.drop
            group["lr"] *= recipe.decay
        bad = 0 if bad > recipe.drop_patience else bad
    return {
        "training": seen / seconds,
        "scoring": scoring,
        "accuracy": best,
        "epochs": seen / len(encoded.rows),
        "best_epoch": best_epoch,
        "seconds": seconds,
    }


class PlainPairs(torch.utils.data.Dataset[int]):
    """Encoded pairs on the host, padded batch by batch."""

    def __init__(self, pairs: Any, gold: GoldPairs) -> None:
        self.pairs = pairs
        self.labels = torch.from_numpy(label_indices(gold.frame["label"].to_list(), gold.space))
        self.tensors = PairTensors(pairs, torch.device("cpu"))
        self.lengths = pairs.premise.lengths, pairs.hypothesis.lengths

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, row: int) -> int:
        return row

    def collate(self, rows: list[int]) -> tuple[torch.Tensor, tuple[int, int], torch.Tensor]:
        sizes = int(self.lengths[0][rows].max()), int(self.lengths[1][rows].max())
        index = torch.tensor(rows)
        return index, sizes, self.labels[index]


@torch.inference_mode()
def score_reference(
    model: NetworkModel, dev: PlainPairs, gold: GoldPairs, device: torch.device, batch: int
) -> tuple[float, float]:
    model.network.eval()
    start = time.perf_counter()
    shares = []
    for rows, sizes, _ in DataLoader(dev, batch_size=batch, collate_fn=dev.collate):
        premise, hypothesis = dev.tensors.batch(rows, sizes)
        scores = model.network(_moved(premise, device), _moved(hypothesis, device))
        shares.append(scores.logits.softmax(dim=1).cpu().numpy())
    seconds = time.perf_counter() - start
    return gold.score(np.concatenate(shares).astype(np.float64), model.label_space).value, len(dev) / seconds


def flops_per_pair(model: NetworkModel, pairs: EncodedPairs, gold: GoldPairs) -> float:
    """Count the operations of one training step's matrix products, per pair; the backward pass takes twice as many."""
    from torch.utils.flop_counter import FlopCounterMode

    rows = torch.arange(min(64, len(gold)))
    sizes = int(pairs.premise.lengths[:64].max()), int(pairs.hypothesis.lengths[:64].max())
    network = model.network.to("cpu")
    recurrent = 0

    def count_lstm(lstm: Any, given: Any, _: Any) -> None:
        nonlocal recurrent  # torch's counter does not know fused LSTMs
        values = given[0]
        packed = isinstance(values, torch.nn.utils.rnn.PackedSequence)
        tokens = len(values.data) if packed else values.shape[0] * values.shape[1]
        directions = 2 if lstm.bidirectional else 1
        recurrent += tokens * 8 * directions * lstm.hidden_size * (lstm.input_size + lstm.hidden_size)

    hooks = [one.register_forward_hook(count_lstm) for one in network.modules() if isinstance(one, torch.nn.LSTM)]
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(*PairTensors(pairs, torch.device("cpu")).batch(rows, sizes))
    for hook in hooks:
        hook.remove()
    real = (pairs.premise.lengths.mean() + pairs.hypothesis.lengths.mean()) / sum(sizes)
    return 3 * (counter.get_total_flops() + recurrent) / len(rows) * float(real)


def matrix_rate(device: torch.device) -> float:
    """Return the billions of operations per second of a large single-precision matrix product."""
    size = 8_192 if device.type == "cuda" else 2_048
    left, right = torch.randn(size, size, device=device), torch.randn(size, size, device=device)
    torch.set_float32_matmul_precision("high")
    return _rate(lambda: (left @ right).sum().item(), 2 * size**3 / 1e9)


def _rate(work: Any, amount: float, repeats: int = 3) -> float:
    work()
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return amount * repeats / (time.perf_counter() - start)


def _late(seconds: float, limit: float | None) -> bool:
    return limit is not None and seconds > limit


def _moved(sentences: Any, device: torch.device) -> Any:
    fields = {name: None if value is None else value.to(device) for name, value in vars(sentences).items()}
    return type(sentences)(**fields)


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else f"{torch.get_num_threads()} CPU threads"


if __name__ == "__main__":
    main()

"""Fine-tuning a pre-trained encoder beside three others, by the same recipe.

The recipe is Devlin et al.'s: batches of 32, AdamW at 2e-5, a rate that rises over the first tenth of the steps and
then falls to 0, gradients clipped at 1, on a GPU in bf16. Ours is the trainer. The others are the ``Trainer`` of
transformers (tokenised before, four loader workers), ``CrossEncoder.fit`` of sentence-transformers (which has fp16),
and the loop that one writes first. Rates count what is between the first batch and the last; each model is then scored
on the same dev pairs. Whoever is not installed is left out, which is said.

    python benchmarks/finetune.py --encoder FOLDER --on snli --pairs 6400 --ours-pairs 64000   # about 90 s on an H200
    python benchmarks/finetune.py                       # generated pairs, random weights, few steps
"""

from __future__ import annotations

import argparse
import contextlib
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from measure import write_result
from score import LENGTH, SIZES, find_encoder
from torch import nn

from goldlabel.models.checkpoint import Checkpoint, quiet
from goldlabel.models.cross_encoder import CrossEncoder
from goldlabel.models.model import label_indices
from goldlabel.models.pair_tokenizer import PairTokenizer
from goldlabel.models.pretrained import Pretrained
from goldlabel.models.torch_model import Recipe
from goldlabel.pairs.gold import GoldPairs
from goldlabel.sources import find
from goldlabel.sources.fragments import fragment_pairs
from goldlabel.train.fit import run_task
from goldlabel.train.options import TrainOptions
from goldlabel.train.task import Task, gather_task

RECIPE: Recipe = Pretrained.recipe
WORKERS = {"cpu": 0, "cuda": 4}


@dataclass(frozen=True)
class Work:
    """What everybody is given."""

    folder: Path
    """The encoder, with a head for the labels."""
    task: Task
    device: str
    epochs: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        frame = self.task.gold.frame[self.task.rows]
        return list(zip(frame["premise"], frame["hypothesis"], strict=True))

    @property
    def labels(self) -> list[int]:
        frame = self.task.gold.frame[self.task.rows]
        return [int(label) for label in label_indices(frame["label"].to_list(), self.task.gold.space)]

    @property
    def steps(self) -> int:
        return math.ceil(len(self.task.rows) / RECIPE.batch) * self.epochs

    @property
    def bf16(self) -> bool:
        return self.device == "cuda"

    @property
    def dev(self) -> GoldPairs:
        return self.task.dev[0]


Trained = tuple[Any, float]
"""An encoder, and the seconds that it took."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--encoder", type=Path, default=None, help="a Hugging Face folder")
    parser.add_argument("--size", choices=list(SIZES), default=None, help="random weights of that size")
    parser.add_argument("--on", default=None, help="pairs with train and dev splits; generated ones by default")
    parser.add_argument("--pairs", type=int, default=None, help="training pairs of everybody")
    parser.add_argument("--ours-pairs", type=int, default=None, help="ours once more, on so many pairs")
    parser.add_argument("--dev-pairs", type=int, default=None)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--only", default="ours,Trainer,CrossEncoder.fit,plain loop")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    pairs = find(arguments.on) if arguments.on else fragment_pairs("en", 2_000, seed=0).split("80:20:0").pairs
    count = arguments.pairs or (6_400 if arguments.device == "cuda" else 64)
    contenders: dict[str, Callable[[Work], Trained]] = {
        "ours": train_ours,
        "Trainer": train_trainer,
        "CrossEncoder.fit": train_cross_encoder,
        "plain loop": train_plainly,
    }
    figures: dict[str, Any] = {"pairs": count, "epochs": arguments.epochs, "batch": RECIPE.batch, "contenders": {}}
    with tempfile.TemporaryDirectory() as temporary:
        frame = pairs.frame.select("premise", "hypothesis").head(20_000).collect()
        texts = [*frame["premise"], *frame["hypothesis"]]
        size = arguments.size or (None if arguments.encoder else "minilm")
        folder = find_encoder(arguments.encoder, size, texts, Path(temporary))
        runs = [(name, count) for name in contenders if name in arguments.only.split(",")]
        if arguments.ours_pairs:
            runs.append((f"ours, {arguments.ours_pairs:,} pairs", arguments.ours_pairs))
        for name, several in runs:
            options = TrainOptions(
                device=arguments.device,
                precision="bf16" if arguments.device == "cuda" else "fp32",
                epochs=arguments.epochs,
                size=several,
                length=LENGTH,
            )
            task = gather_task(f"hf:{folder}", [pairs], options)
            work = Work(folder, task, arguments.device, arguments.epochs)
            try:
                encoder, seconds = contenders.get(name, train_ours)(work)
            except ImportError as error:
                print(f"{name} is left out: {error}".splitlines()[0], flush=True)
                continue
            figures["contenders"][name] = judge(encoder, seconds, work, arguments.dev_pairs)
            print(name, figures["contenders"][name], flush=True)
    ours = figures["contenders"].get(runs[-1][0] if arguments.ours_pairs else "ours")
    for name, row in figures["contenders"].items():
        if ours and not name.startswith("ours"):
            row["ours_is_faster_by"] = ours["pairs_per_second"] / row["pairs_per_second"]
            print(f"ours over {name}: {row['ours_is_faster_by']:.1f}", flush=True)
    figures["device"] = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    write_result(f"finetune-{size or arguments.encoder.name}-{arguments.device}", figures)


def judge(encoder: Any, seconds: float, work: Work, several: int | None) -> dict[str, Any]:
    """Score the dev pairs with what was trained."""
    checkpoint = Checkpoint(str(work.folder))
    tokenizer = PairTokenizer(checkpoint.tokenizer, length=LENGTH)
    space = work.task.gold.space
    model = Pretrained("hf:trained", CrossEncoder(encoder), tokenizer, space, space.labels, {})
    model.move_to(work.device)
    dev = GoldPairs(work.dev.name, space, work.dev.frame.head(several)) if several else work.dev
    accuracy = dev.score(model.predict(dev.frame["premise"].to_list(), dev.frame["hypothesis"].to_list()), space)
    model.close()
    trained = len(work.task.rows) * work.epochs
    return {
        "pairs_per_second": trained / seconds,
        "steps_per_second": work.steps / seconds,
        "seconds": seconds,
        "accuracy": accuracy.to_dict(),
    }


def train_ours(work: Work) -> Trained:
    """Our trainer; its seconds hold the capturing of steps, too."""
    with tempfile.TemporaryDirectory() as folder:
        run = run_task(work.task, Path(folder))
        encoder, _ = Checkpoint(str(run.run / "encoder")).read_classifier()
    return encoder, run.seconds


def train_trainer(work: Work) -> Trained:
    """The ``Trainer`` of transformers, on pairs that are tokenised before."""
    import accelerate  # noqa: F401 - the Trainer asks for it late

    encoder, tokenizer = read_encoder(work)
    rows = tokenize(work, tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=RECIPE.batch,
            num_train_epochs=work.epochs,
            learning_rate=RECIPE.lr,
            warmup_steps=round(RECIPE.warmup * work.steps),
            lr_scheduler_type="linear",
            weight_decay=RECIPE.l2,
            max_grad_norm=RECIPE.clip or 0.0,
            bf16=work.bf16,
            use_cpu=work.device == "cpu",
            dataloader_num_workers=WORKERS[work.device],
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = transformers.Trainer(
            model=encoder,
            args=arguments,
            train_dataset=rows,
            data_collator=transformers.DataCollatorWithPadding(tokenizer),
        )
        start = time.perf_counter()
        trainer.train()
        return encoder, _since(start, work)


def train_cross_encoder(work: Work) -> Trained:
    """``CrossEncoder.fit``, which tokenises as it goes."""
    from sentence_transformers import CrossEncoder as Peer
    from sentence_transformers import InputExample

    peer = Peer(str(work.folder), device=work.device, max_length=LENGTH)
    examples = [
        InputExample(texts=list(pair), label=label) for pair, label in zip(work.pairs, work.labels, strict=True)
    ]
    loader: Any = torch.utils.data.DataLoader(examples, batch_size=RECIPE.batch, shuffle=True)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # it makes a folder for checkpoints
        start = time.perf_counter()
        peer.fit(
            train_dataloader=loader,
            epochs=work.epochs,
            warmup_steps=round(RECIPE.warmup * work.steps),
            optimizer_params={"lr": RECIPE.lr},
            weight_decay=RECIPE.l2,
            max_grad_norm=RECIPE.clip or 0.0,
            use_amp=work.bf16,
            show_progress_bar=False,
        )
        return peer.model, _since(start, work)


def train_plainly(work: Work) -> Trained:
    """The loop that one writes first."""
    encoder, tokenizer = read_encoder(work)
    encoder.to(work.device).train()
    loader: Any = torch.utils.data.DataLoader(
        tokenize(work, tokenizer),  # type: ignore[arg-type]
        batch_size=RECIPE.batch,
        shuffle=True,
        collate_fn=transformers.DataCollatorWithPadding(tokenizer),
    )
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=RECIPE.lr, weight_decay=RECIPE.l2)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, round(RECIPE.warmup * work.steps), work.steps)
    start = time.perf_counter()
    for _ in range(work.epochs):
        for batch in loader:
            moved = {name: values.to(work.device) for name, values in batch.items()}
            with torch.autocast(work.device, torch.bfloat16, enabled=work.bf16):
                loss = encoder(**moved).loss
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(encoder.parameters(), RECIPE.clip or math.inf)
            optimiser.step()
            schedule.step()
    return encoder, _since(start, work)


def read_encoder(work: Work) -> tuple[Any, Any]:
    torch.manual_seed(0)
    with quiet():
        encoder = transformers.AutoModelForSequenceClassification.from_pretrained(work.folder, dtype=torch.float32)
        return encoder, transformers.AutoTokenizer.from_pretrained(work.folder)


def tokenize(work: Work, tokenizer: Any) -> list[dict[str, Any]]:
    """Tokenise before training, as the documentation of transformers does."""
    encoded = tokenizer(work.pairs, truncation=True, max_length=LENGTH)
    return [
        {name: values[row] for name, values in encoded.items()} | {"labels": label}
        for row, label in enumerate(work.labels)
    ]


def _since(start: float, work: Work) -> float:
    if work.device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

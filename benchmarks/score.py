"""Scoring pairs with a pre-trained encoder, from texts to probabilities, beside two libraries.

Ours is ``predict`` of a pre-trained encoder, in each precision asked for. The others are sentence-transformers'
``CrossEncoder.predict``, in each batch size asked for, and the ``text-classification`` pipeline of transformers; on a
GPU they compute in fp16, too. All of them score the same pairs with the same weights, in turns; the ratio is that of
our rate over the best rate of the others. Whoever is not installed is left out, which is said.

    python benchmarks/score.py --encoder FOLDER --on snli --pairs 2000                     # two cores
    python benchmarks/score.py --encoder FOLDER --on snli --pairs 100000 --device cuda --precisions fp16,bf16
    python benchmarks/score.py --encoder FOLDER --size base ...   # its tokenizer, random weights of BERT-base's size
    python benchmarks/score.py                                    # generated pairs, a tokenizer made for them
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from measure import write_result
from numpy.typing import NDArray

from goldlabel.models import scoring
from goldlabel.models.checkpoint import Checkpoint
from goldlabel.models.cross_encoder import CrossEncoder
from goldlabel.models.pair_tokenizer import PairTokenizer
from goldlabel.models.pretrained import Pretrained
from goldlabel.models.torch_model import ROUNDING_PAIRS
from goldlabel.pairs.labels import NLI3
from goldlabel.sources import find
from goldlabel.sources.fragments import fragment_pairs

SIZES: dict[str, dict[str, int]] = {
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1_536},
    "base": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3_072},
}
LENGTH = 128
"""Tokens of a pair at most, for everybody."""
Contender = Callable[[list[str], list[str]], NDArray[np.float64]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--encoder", type=Path, default=None, help="a Hugging Face folder")
    parser.add_argument("--size", choices=list(SIZES), default=None, help="random weights; minilm without an encoder")
    parser.add_argument("--on", default=None, help="pairs; generated ones by default")
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--peer-pairs", type=int, default=None, help="fewer pairs for the others")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precisions", default=None, help="ours; by default fp32,int8 on a processor, else fp16")
    parser.add_argument("--batches", default=None, help="of the others; by default 32, on a GPU 512,2048")
    parser.add_argument("--tokens", default=None, help="in our batches, several to try; by default ours")
    parser.add_argument("--compiled", action="store_true", help="ours through torch.compile, too")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    on_gpu = arguments.device == "cuda"
    precisions = (arguments.precisions or ("fp16" if on_gpu else "fp32,int8")).split(",")
    batches = [int(size) for size in (arguments.batches or ("512,2048" if on_gpu else "32")).split(",")]
    premises, hypotheses = read_texts(arguments.on, arguments.pairs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = find_encoder(arguments.encoder, arguments.size, [*premises, *hypotheses], Path(temporary))
        peers = load_peers(folder, arguments.device, batches)
        ours = {f"ours {precision}": load_ours(folder, arguments.device, precision) for precision in precisions}
        for tokens in map(int, (arguments.tokens or "").split(",") if arguments.tokens else ()):
            for name in [f"ours {precision}" for precision in precisions]:
                ours[f"{name} {tokens:,} tokens"] = with_tokens(ours[name], arguments.device, tokens)
        if arguments.compiled:
            for precision in precisions:
                ours[f"ours {precision} compiled"] = load_ours(folder, arguments.device, precision, compiled=True)
        exact = load_ours(folder, arguments.device, "fp32")(premises, hypotheses)
        figures = compare(peers, ours, premises, hypotheses, exact, arguments)
    figures["device"] = torch.cuda.get_device_name() if on_gpu else f"{torch.get_num_threads()} CPU threads"
    name = arguments.size or (arguments.encoder.name if arguments.encoder else "minilm")
    write_result(f"score-{name}-{arguments.device}", figures)


def compare(
    peers: dict[str, Contender],
    ours: dict[str, Contender],
    premises: list[str],
    hypotheses: list[str],
    exact: NDArray[np.float64],
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    """Let everybody score in turns; the first turn, with what is made once, counts for itself alone."""
    several = arguments.peer_pairs or len(premises)
    seconds: dict[str, list[float]] = {}
    figures: dict[str, Any] = {"pairs": len(premises), "rounds": arguments.rounds, "contenders": {}}
    for turn in range(arguments.rounds + 1):
        for name, score in (peers | ours).items():
            count = several if name in peers else len(premises)
            start = time.perf_counter()
            scores = score(premises[:count], hypotheses[:count])
            seconds.setdefault(name, []).append((time.perf_counter() - start) / count)
            if turn == 0:
                differences = np.abs(scores - exact[:count]).max(axis=1)
                figures["contenders"][name] = {
                    "largest_difference": float(differences.max()),
                    "mean_difference": float(differences.mean()),
                    "labels_changed": float((scores.argmax(1) != exact[:count].argmax(1)).mean()),
                }
    for name, rates in seconds.items():
        times = {"first": rates[0], "median": statistics.median(rates[1:]), "best": min(rates[1:])}
        figures["contenders"][name] |= {f"{kind}_pairs_per_second": 1 / time for kind, time in times.items()}
    fastest = max((figures["contenders"][name]["median_pairs_per_second"] for name in peers), default=None)
    for name, row in figures["contenders"].items():
        row["ratio"] = row["median_pairs_per_second"] / fastest if fastest else None
        print(
            f"{name:28} {row['median_pairs_per_second']:>10,.0f} pairs/s (best {row['best_pairs_per_second']:,.0f}, "
            f"first {row['first_pairs_per_second']:,.0f})  ratio {row['ratio'] or float('nan'):.2f}  beside fp32: "
            f"at most {row['largest_difference']:.1e}, mean {row['mean_difference']:.1e}, "
            f"labels {row['labels_changed']:.2%}",
            flush=True,
        )
    return figures


def read_texts(on: str | None, count: int) -> tuple[list[str], list[str]]:
    """Return the texts of pairs from all over the data."""
    frame = (find(on) if on else fragment_pairs("en", count, seed=0)).frame.select("premise", "hypothesis").collect()
    frame = frame.sample(fraction=1.0, shuffle=True, seed=0).head(count)
    if len(frame) < count:
        print(f"only {len(frame):,} pairs are there")
    return frame["premise"].to_list(), frame["hypothesis"].to_list()


def find_encoder(encoder: Path | None, size: str | None, texts: list[str], temporary: Path) -> Path:
    """Return the encoder's folder, or one with random weights."""
    if encoder and not size and Checkpoint(str(encoder)).config.num_labels == len(NLI3):
        return encoder
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder) if encoder else make_tokenizer(texts)
    torch.manual_seed(0)
    if encoder and not size:
        network = transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=len(NLI3))
    else:
        config = transformers.BertConfig(vocab_size=len(tokenizer), num_labels=len(NLI3), **SIZES[size or "minilm"])
        network = transformers.AutoModelForSequenceClassification.from_config(config)
    network.config.id2label = dict(enumerate(NLI3.labels))
    network.config.label2id = {label: number for number, label in enumerate(NLI3.labels)}
    network.save_pretrained(temporary)
    tokenizer.save_pretrained(temporary)
    return temporary


def make_tokenizer(texts: list[str]) -> Any:
    """Train a tokenizer like BERT's on the texts."""
    from tokenizers import BertWordPieceTokenizer

    with tempfile.TemporaryDirectory() as folder:
        trained = BertWordPieceTokenizer()
        trained.train_from_iterator(texts, vocab_size=30_522, show_progress=False)
        trained.save_model(folder)
        return transformers.BertTokenizerFast(str(Path(folder) / "vocab.txt"))


def with_tokens(score: Contender, device: str, tokens: int) -> Contender:
    """Let ours have batches of another size."""

    def predict(premises: list[str], hypotheses: list[str]) -> NDArray[np.float64]:
        usual = scoring.TOKENS[device], scoring.ENOUGH[device]
        scoring.TOKENS[device], scoring.ENOUGH[device] = tokens, tokens // 4
        try:
            return score(premises, hypotheses)
        finally:
            scoring.TOKENS[device], scoring.ENOUGH[device] = usual

    return predict


def load_ours(folder: Path, device: str, precision: str, *, compiled: bool = False) -> Contender:
    """Load ours without asking whether random weights know entailment."""
    checkpoint = Checkpoint(str(folder))
    encoder, _ = checkpoint.read_classifier()
    tokenizer = PairTokenizer(checkpoint.tokenizer, length=LENGTH)
    model = Pretrained(f"hf:{folder}", CrossEncoder(encoder), tokenizer, NLI3, NLI3.labels, {})
    model.move_to(device, precision)
    model._checked = ROUNDING_PAIRS  # what the precision changes is printed, and not refused here
    if compiled:
        network = model._scorer().network.encoder
        body = getattr(network, network.base_model_prefix)
        setattr(network, network.base_model_prefix, torch.compile(body, dynamic=True))
    return model.predict


def load_peers(folder: Path, device: str, batches: list[int]) -> dict[str, Contender]:
    """Load the other libraries, in 16 bits on a GPU."""
    dtype = torch.float16 if device == "cuda" else torch.float32
    peers: dict[str, Contender] = {}
    try:
        from sentence_transformers import CrossEncoder as Peer
    except ImportError:
        print("sentence-transformers is not installed: CrossEncoder.predict is left out")
    else:
        encoder = Peer(str(folder), device=device, max_length=LENGTH, model_kwargs={"dtype": dtype})
        for batch in batches:
            peers[f"CrossEncoder.predict {batch}"] = lambda premises, hypotheses, batch=batch: np.asarray(
                encoder.predict(
                    list(zip(premises, hypotheses, strict=True)),
                    batch_size=batch,
                    apply_softmax=True,
                    show_progress_bar=False,
                ),
                dtype=np.float64,
            )
    for batch in batches:
        peers[f"pipeline {batch}"] = load_pipeline(folder, device, dtype, batch)
    return peers


def load_pipeline(folder: Path, device: str, dtype: torch.dtype, batch: int) -> Contender:
    pipeline = transformers.pipeline(
        "text-classification", model=str(folder), device=device, dtype=dtype, top_k=None, batch_size=batch
    )

    def predict(premises: list[str], hypotheses: list[str]) -> NDArray[np.float64]:
        pairs = [{"text": text, "text_pair": other} for text, other in zip(premises, hypotheses, strict=True)]
        answers = pipeline(pairs, truncation=True, max_length=LENGTH)
        rows = [{answer["label"]: answer["score"] for answer in row} for row in answers]
        return np.array([[row[label] for _, label in sorted(pipeline.model.config.id2label.items())] for row in rows])

    return predict


if __name__ == "__main__":
    main()

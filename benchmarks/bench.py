"""A suite judged by ``goldlabel bench`` beside what people write by hand, and beside lm-evaluation-harness.

With an encoder: ``bench`` of the suite, from reading the sets to the page, beside a loop of sentence-transformers'
``CrossEncoder.predict`` over the same pairs, set by set, in turns; every accuracy of the two is held together. Then
``bench`` once more over its answers, for which the model must not be asked at all: its calls are counted.

With a causal model of random weights: one set of the suite, exported as a task, scored by lm-evaluation-harness and
judged by ``bench``. Both have the same model compute the same likelihoods by the same code, so that what they take
beyond it is their own, which is compared: at the beginning, and for each further pair.

    python benchmarks/bench.py --encoder FOLDER --limit 200                               # two cores
    python benchmarks/bench.py --encoder FOLDER --limit 20000 --device cuda --causal-pairs 5000
    python benchmarks/bench.py                                # generated sets, random weights of MiniLM's size
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import polars as pl
import torch
import transformers
from measure import write_result
from numpy.typing import NDArray
from score import LENGTH, find_encoder

from goldlabel.bench import bench, find_suite
from goldlabel.evaluate.export import export_tasks
from goldlabel.evaluate.export.questions import questions_of
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import EvaluationSet, Request, Suite, SuitePlan
from goldlabel.models.endpoint.prompt import Prompt
from goldlabel.models.pretrained import Pretrained
from goldlabel.pairs.labels import NLI3
from goldlabel.sources import is_added
from goldlabel.sources.fragments import fragment_pairs

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
CAUSAL = {"n_embd": 256, "n_layer": 4, "n_head": 4, "n_positions": 1024}
"""Five million parameters, with the embeddings."""


class Generated:
    """Sets of generated pairs, where the library is empty."""

    title: ClassVar[str] = "Generated sets"
    paper: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Any]] = {}

    def plan(self, request: Request) -> SuitePlan:
        """Make four sets."""
        pairs = [fragment_pairs("en", request.limit or 500, seed=seed) for seed in range(4)]
        sets = tuple(evaluation_set(part, f"generated-{seed}") for seed, part in enumerate(pairs))
        return SuitePlan(sets=sets, systems=request.systems())

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the accuracies."""
        return {"accuracies": results.table}


class OneSet:
    """One set of another suite."""

    title: ClassVar[str] = "One set"
    paper: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, part: EvaluationSet) -> None:
        self.part = part

    def plan(self, request: Request) -> SuitePlan:
        """Judge by the set."""
        return SuitePlan(sets=(self.part,), systems=request.systems())

    def tables(self, results: BenchResults, *, reference: bool) -> Mapping[str, pl.DataFrame]:
        """Return the accuracies."""
        return {"accuracies": results.table}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite", default=None, help="cross by default, or generated sets where the library is empty")
    parser.add_argument("--encoder", type=Path, default=None, help="a Hugging Face folder with a head for three labels")
    parser.add_argument("--limit", type=int, default=100, help="pairs of each set")
    parser.add_argument("--causal-pairs", type=int, default=100)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", choices=list(DTYPES), default=None, help="fp32 on a processor, else fp16")
    parser.add_argument("--batch", type=int, default=None, help="of CrossEncoder; 32, on a GPU 512")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    on_gpu = arguments.device == "cuda"
    arguments.precision = arguments.precision or ("fp16" if on_gpu else "fp32")
    arguments.batch = arguments.batch or (512 if on_gpu else 32)
    suite: str | Suite = arguments.suite or ("cross" if is_added("snli") else Generated())
    _, chosen, options = find_suite(suite)
    sets = chosen.plan(Request(limit=arguments.limit, options=options)).sets
    figures: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if on_gpu else f"{torch.get_num_threads()} CPU threads",
        "precision": arguments.precision,
        "sets": {part.name: len(part.gold) for part in sets},
    }
    with tempfile.TemporaryDirectory() as temporary:
        texts = [text for part in sets for side in ("premise", "hypothesis") for text in part.gold.frame[side]]
        encoder = find_encoder(arguments.encoder, None, texts, Path(temporary) / "encoder")
        figures["encoder"] = compare_encoder(suite, sets, encoder, Path(temporary), arguments)
        figures["harness"] = compare_harness(sets, texts, Path(temporary), arguments)
    name = "generated" if isinstance(suite, Generated) else suite
    write_result(f"bench-{name}-{arguments.device}", figures)


def compare_encoder(
    suite: str | Suite, sets: Sequence[EvaluationSet], encoder: Path, folder: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Judge an encoder by the suite, by hand, and once more from its answers."""
    models = {"encoder": f"hf:{encoder}"}
    options = {"limit": arguments.limit, "device": arguments.device, "precision": arguments.precision}
    count = sum(len(part.gold) for part in sets)
    seconds: dict[str, list[float]] = {"plain": [], "bench": [], "repeated": []}
    calls = []
    for turn in range(arguments.rounds):
        start = time.perf_counter()
        plain = score_plainly(sets, encoder, arguments)
        seconds["plain"].append(time.perf_counter() - start)
        for kind in ("bench", "repeated"):
            with counted_calls() as asked:
                start = time.perf_counter()
                results = bench(suite, models, folder / f"bench-{turn}", **options)
                seconds[kind].append(time.perf_counter() - start)
            calls.append(sum(asked))
    ours = {part.name: results.accuracy("encoder", part.name).defined for part in sets}
    best = {kind: min(times) for kind, times in seconds.items()}
    figures = {
        "pairs": count,
        "seconds": seconds,
        "pairs_per_second": {kind: count / best[kind] for kind in ("plain", "bench")},
        "ratio": best["plain"] / best["bench"],
        "calls": {"bench": calls[0], "repeated": calls[1]},
        "largest_difference": max(abs(ours[name] - plain[name]) for name in ours),
    }
    print(
        f"encoder, {count:,} pairs of {len(sets)} sets: bench {best['bench']:.1f} s, CrossEncoder.predict by hand "
        f"{best['plain']:.1f} s, ratio {figures['ratio']:.2f}; accuracies differ by at most "
        f"{figures['largest_difference']:.4f}\nrepeated from its answers: {best['repeated']:.1f} s, "
        f"{figures['calls']['repeated']} calls of the model (the first time {figures['calls']['bench']})",
        flush=True,
    )
    return figures


def score_plainly(sets: Sequence[EvaluationSet], encoder: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """Load a CrossEncoder, score every set, and return the accuracies."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(
        str(encoder), device=arguments.device, max_length=LENGTH, model_kwargs={"dtype": DTYPES[arguments.precision]}
    )
    accuracies = {}
    for part in sets:
        pairs = list(part.gold.frame.select("premise", "hypothesis").iter_rows())
        scores = model.predict(pairs, batch_size=arguments.batch, apply_softmax=True, show_progress_bar=False)
        accuracies[part.name] = part.gold.score(np.asarray(scores, dtype=np.float64), NLI3).defined
    return accuracies


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Count how often a pre-trained encoder is asked."""
    asked: list[int] = []
    predict = Pretrained.predict

    def counting(self: Pretrained, *arguments: Any) -> NDArray[np.float64]:
        asked.append(1)
        return predict(self, *arguments)

    with patch.object(Pretrained, "predict", counting):
        yield asked


class Timed:
    """A causal model of lm-evaluation-harness, and the seconds that its likelihoods took."""

    seconds: ClassVar[float] = 0.0
    model: ClassVar[Any] = None
    prompt: ClassVar[Prompt]

    @classmethod
    def likelihoods(cls, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Have the seconds of each call added up."""

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return compute(*arguments, **options)
            finally:
                cls.seconds += time.perf_counter() - start

        return timed


def causal(premises: Sequence[str], hypotheses: Sequence[str]) -> list[dict[str, float]]:
    """Answer by the likelihoods of the label words behind the prompt, as the harness has them computed."""
    from lm_eval.api.instance import Instance

    labels = Timed.prompt.labels
    texts = [Timed.prompt.text(*pair) for pair in zip(premises, hypotheses, strict=True)]
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(text, f" {word}"), idx=number)
        for number, text in enumerate(texts)
        for word in labels.values()
    ]
    scores = np.array([score for score, _ in Timed.model.loglikelihood(requests, disable_tqdm=True)])
    scores = scores.reshape(len(texts), len(labels))
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return [dict(zip(labels, row, strict=True)) for row in shares.tolist()]


def compare_harness(
    sets: Sequence[EvaluationSet], texts: Sequence[str], folder: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Score one set with a causal model by lm-evaluation-harness and by ``bench``."""
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    whole = next(part for part in sets if part.gold.space.labels == NLI3.labels)
    counts = sorted({max(arguments.causal_pairs // 4, 1), min(arguments.causal_pairs, len(whole.gold))})
    (questions,) = questions_of(SuitePlan(sets=(whole,), systems=()), "one")
    network, tokenizer = make_causal([questions.prompt.text("", ""), *texts], arguments.device)
    Timed.prompt = questions.prompt
    Timed.model = HFLM(pretrained=network, tokenizer=tokenizer, backend="causal", batch_size=8)
    Timed.model.loglikelihood = Timed.likelihoods(Timed.model.loglikelihood)
    sys.modules["bench_models"] = sys.modules[__name__]  # by which ``bench`` finds the function above

    def judge(part: EvaluationSet, place: Path) -> float:
        results = bench(OneSet(part), {"causal": "bench_models:causal"}, place)
        return results.accuracy("causal", part.name).defined

    def evaluate(part: EvaluationSet, place: Path) -> float:
        export_tasks(SuitePlan(sets=(part,), systems=()), place, "lm-eval", suite="one")
        manager = TaskManager(include_path=str(place), include_defaults=False)
        outcome: Any = simple_evaluate(Timed.model, tasks=[questions.task], task_manager=manager)
        return float(outcome["results"][questions.task]["acc,none"])

    works = {"bench": judge, "harness": evaluate}
    for kind, work in works.items():  # what is imported and made once counts for nobody
        work(evaluation_set_head(whole, 1), folder / f"{kind}-first")
    own: dict[tuple[str, int], list[float]] = {}
    accuracies = {}
    for turn in range(arguments.rounds):
        for count in counts:
            for kind, work in works.items():
                Timed.seconds, start = 0.0, time.perf_counter()
                accuracies[kind] = work(evaluation_set_head(whole, count), folder / f"{kind}-{turn}-{count}")
                own.setdefault((kind, count), []).append(time.perf_counter() - start - Timed.seconds)
    few, many = counts[0], counts[-1]
    rows = {}
    for kind in ("bench", "harness"):
        seconds = min(own[kind, many])
        further = (seconds - min(own[kind, few])) / max(many - few, 1)
        rows[kind] = {"accuracy": accuracies[kind], "own_seconds": seconds, "ms_per_further_pair": 1000 * further}
    ratio = rows["harness"]["own_seconds"] / rows["bench"]["own_seconds"]
    parameters = sum(parameter.numel() for parameter in network.parameters())
    print(f"causal model of {parameters:,} parameters, {many:,} pairs of {whole.name}; beyond the model's own time:")
    for kind, row in rows.items():
        print(
            f"  {kind:8} {row['own_seconds']:.2f} s, {1000 * row['own_seconds'] / many:.2f} ms a pair, "
            f"{row['ms_per_further_pair']:.2f} ms for a further one; accuracy {row['accuracy']:.4f}"
        )
    print(f"  ratio {ratio:.2f}", flush=True)
    return {"set": whole.name, "pairs": many, "parameters": parameters, "ratio": ratio, **rows}


def evaluation_set_head(part: EvaluationSet, count: int) -> EvaluationSet:
    """Return the first pairs of a set."""
    return replace(part, gold=replace(part.gold, frame=part.gold.frame.head(count)))


def make_causal(texts: Sequence[str], device: str) -> tuple[Any, Any]:
    """Make a causal model of random weights, and a tokenizer of the texts."""
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=8_000, special_tokens=["<end>"], show_progress=False)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, eos_token="<end>", pad_token="<end>"
    )
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), initializer_range=0.5, bos_token_id=0, eos_token_id=0, **CAUSAL
    )
    return transformers.GPT2LMHeadModel(config).eval().to(device), tokenizer


if __name__ == "__main__":
    main()

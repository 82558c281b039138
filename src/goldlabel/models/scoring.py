"""Scoring pairs with a pre-trained encoder, fast: from texts to scores.

- Each different sentence is tokenised once; on a GPU a thread tokenises the next pairs while the last are scored.
- Pairs are sorted by their number of tokens. Where there are enough of one length they make batches of their own,
  which need neither padding nor a mask; on a GPU, pairs wait until there are enough.
- The head of most encoders reads the first token alone, so the last layer computes no other (``first_token_only``).
- In bf16, fp16 and int8 the weights themselves are of that kind (``rounded_copy``): autocast would convert them again
  for each batch.

Why torch itself, and no other runtime: for MiniLM on two cores it was as fast as ONNX Runtime and OpenVINO in single
precision and faster than both in int8, and it runs every architecture without exporting a graph of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from goldlabel.models.checkpoint import last_linear
from goldlabel.models.encoding import cut_by_tokens
from goldlabel.models.int8 import use_int8
from goldlabel.models.pair_tokenizer import PairBatch, PairReader, TokenRows, bring
from goldlabel.models.torch_model import within_memory

TOKENS = {"cpu": 1_024, "cuda": 131_072}
"""In a batch; on a processor it should fit into its cache."""
ENOUGH = {"cpu": 512, "cuda": 8_192}
"""Tokens of pairs of one length that make batches of their own."""
WAIT = {"cpu": 512, "cuda": 65_536}
"""Tokens of pairs of one length for which others wait while more is tokenised."""
PAIRS_AT_ONCE = 16_384
"""Pairs that are tokenised while others are scored; at first fewer, as nothing is scored yet."""
PAIRS_AT_FIRST = 2_048
TURN = 0.0005
"""Seconds for which a thread may keep Python's lock while another wants it.

torch hands the lock over with every operation, of which a batch has hundreds, and by default waits up to 5 ms to get it
back from the thread that tokenises. On an H200, MiniLM scored 122,000 pairs per second so, and about 100,000 without.
"""
ROUNDED = {"bf16": torch.bfloat16, "fp16": torch.float16}
EQUAL = 1e-5
"""By so much scores may differ when they are computed from fewer tokens: products are added up in another order."""

AnyModule = TypeVar("AnyModule", bound=nn.Module)
Score = Callable[[PairBatch], Tensor]


def score_texts(pairs: PairReader, score: Score, device: torch.device) -> Tensor:
    """Return the scores of pairs in their order, (pairs, labels)."""
    if device.type == "cpu":  # nothing is scored while something is tokenised
        rows = np.arange(len(pairs))
        return score_rows(pairs.encode(rows), rows, score, device)
    return score_in_parts(pairs, score, device)


def score_in_parts(pairs: PairReader, score: Score, device: torch.device) -> Tensor:
    """Tokenise some pairs while others are scored."""
    # Pairs of about the same length go together, known before they are tokenised by their characters.
    parts = cut_parts(np.argsort(pairs.characters, kind="stable"))
    scored, scores, waiting = [], [], parts[0][:0]
    with _short_turns(), ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenize") as pool:
        for number, (part, _) in enumerate(zip(parts, pool.map(pairs.prepare, parts), strict=True)):
            rows = np.concatenate([waiting, part])
            encoded = pairs.encode(rows)
            ready = has_company(encoded.lengths, WAIT[device.type]) | (number == len(parts) - 1)
            waiting = rows[~ready]
            if ready.any():
                scores.append(score_rows(encoded, np.flatnonzero(ready), score, device))
                scored.append(rows[ready])
    together = torch.cat(scores)
    return torch.empty_like(together).index_copy_(0, bring(np.concatenate(scored), device), together)


@contextmanager
def _short_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(TURN, before))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def cut_parts(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut rows into parts to be tokenised at once, each twice as long as the last up to some length."""
    ends, size = [0], PAIRS_AT_FIRST
    while ends[-1] + size < len(rows):
        ends.append(ends[-1] + size)
        size = min(2 * size, PAIRS_AT_ONCE)
    return np.split(rows, ends[1:])


def has_company(lengths: Sequence[NDArray[np.int64]], enough: int) -> NDArray[np.bool_]:
    """Return which pairs are of a length that has enough tokens to make batches of its own."""
    kinds = np.ravel_multi_index(tuple(lengths), [int(side.max()) + 1 for side in lengths])
    tokens: NDArray[np.int64] = np.bincount(kinds)[kinds] * np.sum(lengths, axis=0)
    return tokens >= enough


def score_rows(rows: TokenRows, chosen: NDArray[np.int64], score: Score, device: torch.device) -> Tensor:
    """Return the scores of some of the tokenised pairs, in the order in which they are chosen."""
    lengths = [side[chosen] for side in rows.lengths]
    order = np.lexsort(lengths)
    lengths = [side[order] for side in lengths]
    places, back = bring(chosen[order], device), bring(order, device)
    tensors = rows.tensors(device)

    def score_places(part: NDArray[np.int64]) -> Tensor:
        sides = [side[part] for side in lengths]
        batch = tensors.batch(places[part[0] : part[-1] + 1], tuple(int(side.max()) for side in sides))
        return score(replace(batch, full=all(side.min() == side.max() for side in sides))).float()

    cuts = cut_by_lengths(lengths, TOKENS[device.type], ENOUGH[device.type])
    scores = torch.cat([within_memory(score_places, part) for part in np.split(np.arange(len(order)), cuts)])
    return torch.empty_like(scores).index_copy_(0, back, scores)


def cut_by_lengths(lengths: list[NDArray[np.int64]], tokens: int, enough: int) -> list[int]:
    """Return where to cut sorted pairs, so that a batch stays within ``tokens`` and lengths with enough stand alone."""
    changes = np.flatnonzero(np.any([np.diff(side) != 0 for side in lengths], axis=0)) + 1
    starts = np.concatenate([[0], changes, [len(lengths[0])]])
    common = np.diff(starts) * np.sum([side[starts[:-1]] for side in lengths], axis=0) >= enough
    edges = [0, *changes[common[1:] | common[:-1]].tolist(), len(lengths[0])]
    cuts: list[int] = []
    for start, end in pairwise(edges):
        inside = cut_by_tokens([side[start:end] for side in lengths], tokens)
        cuts.extend([start, *(start + cut for cut in inside)])
    return cuts[1:]


def rounded_copy(network: AnyModule, precision: str, labels: int) -> AnyModule:
    """Return a network for scoring whose weights are in bf16, fp16 or int8."""
    copied = deepcopy(network).eval().requires_grad_(False)
    if precision == "int8":
        use_int8(copied, keep=last_linear(copied, labels))
        return copied
    return copied.to(ROUNDED[precision])


def first_token_only(encoder: Any) -> None:
    """Let scoring compute the first token alone in the last layer, where the head reads no other.

    Behind attention nothing mixes tokens any more, so there the others are cut off. Training is untouched: this holds
    in inference mode only. Whether the head reads more is tried once, and where it does, everything stays as it was.
    """
    modules = _behind_attention(encoder)
    if not modules:
        return
    training = encoder.training
    ids = torch.arange(16, device=encoder.device).view(2, 8) % encoder.config.vocab_size
    with torch.inference_mode():
        encoder.eval()
        whole = encoder(input_ids=ids).logits
        hooks = [module.register_forward_pre_hook(_first_token) for module in modules]
        try:
            narrow = encoder(input_ids=ids).logits
            same = bool(torch.allclose(whole, narrow, rtol=EQUAL, atol=EQUAL))
        except (RuntimeError, IndexError):  # a head that looks for other tokens
            same = False
        encoder.train(training)
    if not same:
        for hook in hooks:
            hook.remove()


def _behind_attention(encoder: Any) -> list[nn.Module]:
    """Return what the last layer does with the result of its attention, where it is built like BERT's."""
    layers = [module[-1] for module in encoder.modules() if isinstance(module, nn.ModuleList) and len(module)]
    for layer in layers:
        if isinstance(output := getattr(getattr(layer, "attention", None), "output", None), nn.Module):
            return [output]
        parts = [getattr(layer, name, None) for name in ("intermediate", "output")]
        if all(isinstance(part, nn.Module) for part in parts):
            return [part for part in parts if part is not None]
    return []


def _first_token(module: nn.Module, values: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
    if module.training or not torch.is_inference_mode_enabled():
        return None
    return tuple(states[:, :1] for states in values)

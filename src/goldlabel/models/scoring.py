"""Scoring pairs with a pre-trained encoder, fast: from texts to scores.

- Each different sentence is tokenised once; on a GPU a thread tokenises the next pairs while the last are scored.
- Pairs are sorted by their number of tokens. Where there are enough of one length they make batches of their own,
  which need neither padding nor a mask.
- The head of most encoders reads the first token alone, so the last layer computes no other (``first_token_only``).
- In bf16, fp16 and int8 the weights themselves are of that kind (``rounded_copy``): autocast would convert them again
  for each batch.

Why torch itself, and no other runtime: for MiniLM on two cores it was as fast as ONNX Runtime and OpenVINO in single
precision and faster than both in int8, and it runs every architecture without exporting a graph of it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from goldlabel.models.pair_tokenizer import PairBatch, TokenRows, bring
from goldlabel.models.torch_model import within_memory

TOKENS = {"cpu": 1_024, "cuda": 262_144}
"""In a batch; on a processor it should fit into its cache."""
ENOUGH = {"cpu": 512, "cuda": 65_536}
"""Tokens of pairs of one length that make batches of their own."""
PAIRS_AT_ONCE = 32_768
"""Pairs that are tokenised while others are scored."""
ROUNDED = {"bf16": torch.bfloat16, "fp16": torch.float16}
EQUAL = 1e-5
"""By so much scores may differ when they are computed from fewer tokens: products are added up in another order."""

AnyModule = TypeVar("AnyModule", bound=nn.Module)
Encode = Callable[[list[str], list[str]], TokenRows]
Score = Callable[[PairBatch], Tensor]


def score_texts(
    encode: Encode, score: Score, premises: list[str], hypotheses: list[str], device: torch.device
) -> Tensor:
    """Return the scores of pairs in their order, (pairs, labels)."""
    if device.type == "cpu" or len(premises) <= PAIRS_AT_ONCE:
        return score_rows(encode(premises, hypotheses), score, device)
    return score_in_parts(encode, score, premises, hypotheses, device)


def score_in_parts(
    encode: Encode, score: Score, premises: list[str], hypotheses: list[str], device: torch.device
) -> Tensor:
    """Tokenise some pairs while others are scored."""
    # Pairs of about the same length go together, known before they are tokenised by their characters.
    characters = [np.fromiter(map(len, texts), np.int64, len(texts)) for texts in (premises, hypotheses)]
    order = np.argsort(characters[0] + characters[1], kind="stable")
    parts = np.split(order, range(PAIRS_AT_ONCE, len(order), PAIRS_AT_ONCE))

    def encode_part(part: NDArray[np.int64]) -> TokenRows:
        return encode([premises[row] for row in part], [hypotheses[row] for row in part])

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenize") as pool:
        scores = torch.cat([score_rows(rows, score, device) for rows in pool.map(encode_part, parts)])
    return torch.empty_like(scores).index_copy_(0, bring(order, device), scores)


def score_rows(rows: TokenRows, score: Score, device: torch.device) -> Tensor:
    """Return the scores of tokenised pairs in their order."""
    order = np.lexsort(rows.lengths)
    lengths = [side[order] for side in rows.lengths]
    places = bring(order, device)
    tensors = rows.tensors(device)

    def score_places(part: NDArray[np.int64]) -> Tensor:
        sides = [side[part] for side in lengths]
        batch = tensors.batch(places[part[0] : part[-1] + 1], tuple(int(side.max()) for side in sides))
        return score(replace(batch, full=all(side.min() == side.max() for side in sides))).float()

    cuts = cut_by_lengths(lengths, TOKENS[device.type], ENOUGH[device.type])
    scores = torch.cat([within_memory(score_places, part) for part in np.split(np.arange(len(rows)), cuts)])
    return torch.empty_like(scores).index_copy_(0, places, scores)


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

"""Scoring by sentence vectors: each different sentence is encoded once, however many pairs it stands in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from goldlabel.models.torch_model import SCORING_TOKENS, Outputs, TorchModel, scoring_batches, within_memory

PAIRS_AT_ONCE = {"cpu": 4_096, "cuda": 16_384}
"""Pairs whose sentence vectors are held and compared at once; InferSent's widest matrix takes 64 kB for each."""

Encode = Callable[[list[str], str], Tensor]
"""From the different sentences of a side, and the name of the side, to their vectors."""
Classify = Callable[[Tensor, Tensor], Outputs]


def predict_by_sentences(
    model: TorchModel, premises: Sequence[str], hypotheses: Sequence[str], encode: Encode, classify: Classify
) -> NDArray[np.float64]:
    """Take so many pairs at once that the vectors of their sentences fit into memory."""
    order, several = neighbours(premises, hypotheses), PAIRS_AT_ONCE[model.device.type]
    scores = torch.empty(len(premises), len(model.label_space), device=model.device)
    with model.scoring():
        for rows in np.split(order, range(several, len(order), several)):
            sides = [[texts[row] for row in rows] for texts in (premises, hypotheses)]
            scores[torch.from_numpy(rows).to(model.device)] = _compare(model.device, sides, encode, classify)
    return model.probabilities(scores)


def neighbours(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.int64]:
    """Return an order that puts pairs of one premise together, or of one hypothesis where fewer of these differ.

    A sentence is then encoded once for all of its pairs, however few are taken at once.
    """
    fewer = min((premises, hypotheses), key=lambda texts: len(set(texts)))
    numbers: dict[str, int] = {}
    return np.argsort([numbers.setdefault(text, len(numbers)) for text in fewer], kind="stable")


def encode_batches(lengths: NDArray[np.int64], device: torch.device, encode: Callable[[Tensor, int], Tensor]) -> Tensor:
    """Encode sentences in batches of similar length; ``encode`` is given rows and the length to pad them to."""

    def encode_rows(rows: NDArray[np.int64]) -> Tensor:
        return encode(torch.from_numpy(rows).to(device), int(lengths[rows].max()))

    batches = list(scoring_batches([lengths], SCORING_TOKENS[device.type]))
    vectors = torch.cat([within_memory(encode_rows, rows) for rows in batches])
    order = torch.from_numpy(np.concatenate(batches)).to(device)
    return torch.empty_like(vectors).index_copy_(0, order, vectors)


def _compare(device: torch.device, sides: list[list[str]], encode: Encode, classify: Classify) -> Tensor:
    """Encode each different sentence once, and score the pairs."""
    vectors, places = [], []
    for side, texts in zip(("premise", "hypothesis"), sides, strict=True):
        numbers: dict[str, int] = {}
        places.append(torch.tensor([numbers.setdefault(text, len(numbers)) for text in texts], device=device))
        vectors.append(encode(list(numbers), side))

    def classify_rows(rows: NDArray[np.int64]) -> Tensor:
        index = torch.from_numpy(rows).to(device)
        premise, hypothesis = (values[place[index]] for values, place in zip(vectors, places, strict=True))
        return classify(premise, hypothesis).logits.float()

    return within_memory(classify_rows, np.arange(len(sides[0])))

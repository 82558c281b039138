"""What can be chosen for an endpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from goldlabel.errors import InputError
from goldlabel.models.model import READS
from goldlabel.models.options import Bounds, Count, OneOf, Positive
from goldlabel.seeds import check_seed

APIS = ("chat", "completion")
ANSWERS = ("auto", "logprobs", "constrained", "free")
LANGUAGES = ("auto", "en", "zh")


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """How an endpoint is asked."""

    label_space: str = "nli3"
    """The label space that it answers in."""
    language: Annotated[str, OneOf(LANGUAGES)] = "auto"
    """The language of the shipped prompt; ``auto`` asks about Chinese texts in Chinese, about others in English."""
    prompt: str = ""
    """A prompt file of the user's own, in place of the shipped ones."""
    reads: Annotated[str, OneOf(READS)] = "both"
    """What of a pair is shown."""
    api: Annotated[str, OneOf(APIS)] = "chat"
    answers: Annotated[str, OneOf(ANSWERS)] = "auto"
    """Where probabilities come from; ``auto`` takes log-probabilities, else constrained answers, else plain ones."""
    samples: Count = 1
    """Answers asked for each pair; several become probabilities by their shares."""
    temperature: Positive = 1.0
    """Of several samples; a single one is asked at 0."""
    max_tokens: Count = 32
    """Of one answer; a model that thinks before it answers needs more."""
    shots: Annotated[int, Bounds(least=0)] = 0
    """Solved examples in the prompt, as many of each label as of the others."""
    examples: str = ""
    """The dataset from which the examples are drawn; its train split, if it has splits."""
    seed: int = 0
    """Draws the examples, and is sent along with several samples."""
    concurrency: Count = 8
    """Calls under way at a time."""
    requests_per_minute: Positive = math.inf
    retries: Annotated[int, Bounds(least=0)] = 8
    """How often a call that failed is sent again."""
    timeout: Positive = 60.0
    """Seconds after which a call has failed."""
    price_in: Annotated[float, Bounds(least=0)] = 0.0
    """Of a million tokens of prompt."""
    price_out: Annotated[float, Bounds(least=0)] = 0.0
    """Of a million tokens of answer."""
    budget: Annotated[float, Bounds(least=0)] = math.inf
    """The most that may be spent, in the currency of the prices."""
    cache: str = ""
    """The file that keeps all replies; by default ``endpoint.sqlite`` where Goldlabel keeps its data."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.budget < math.inf and not (self.price_in or self.price_out):
            raise InputError(
                "a budget needs prices: set price_in and price_out, of a million tokens each (1 and 1 make the "
                "budget one of millions of tokens)"
            )
        if self.shots and not self.examples:
            raise InputError(f"shots={self.shots} needs examples=PATH, a dataset to draw them from")
        if self.samples > 1 and self.answers == "logprobs":
            raise InputError(
                f"answers=logprobs has the probabilities in one answer; leave samples={self.samples} or answers out"
            )

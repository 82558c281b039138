"""What was asked, answered and paid, and how much more may be."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.models.endpoint.answers import REASONS
from goldlabel.models.endpoint.replies import Reply
from goldlabel.pairs.result import Result

MILLION = 1_000_000
_EXAMPLE = 120
"""Characters of a reply that are shown."""


@dataclass
class Usage:
    """Tokens of some calls."""

    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, reply: Reply) -> None:
        """Count a reply's tokens, where it says how many."""
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0


@dataclass
class Tally:
    """Counts over the life of an endpoint's model; a call is counted when its reply was received, once.

    ``elsewhere`` is what others, or the same before, have spent of its budget.
    """

    price_in: float
    price_out: float
    pairs: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    cached: int = 0
    retried: int = 0
    lost: int = 0
    unmetered: int = 0
    paid: Usage = field(default_factory=Usage)
    before: Usage = field(default_factory=Usage)
    elsewhere: float = 0.0
    _counted: set[bytes] = field(default_factory=set)

    def pay(self, key: bytes, reply: Reply) -> None:
        """Count a reply that was received."""
        self.calls += 1
        self.unmetered += None in (reply.tokens_in, reply.tokens_out)
        self.paid.add(reply)
        self._counted.add(key)

    def reuse(self, key: bytes, reply: Reply) -> None:
        """Count a reply that was in the cache; what it cost is counted once, as paid before."""
        self.cached += 1
        if key not in self._counted:
            self._counted.add(key)
            self.before.add(reply)

    def leave(self, reason: str, example: str) -> None:
        """Count a pair that has no answer."""
        self.unanswered[reason] += 1
        self.examples.setdefault(reason, example[:_EXAMPLE])

    def cost(self, usage: Usage) -> float:
        """Return what tokens cost."""
        return (usage.tokens_in * self.price_in + usage.tokens_out * self.price_out) / MILLION


class Budget:
    """Money set aside for the calls under way, so that together they cannot exceed the budget.

    A token is at least a byte of the request, so a call never costs more than what is set aside for it.
    """

    def __init__(self, tally: Tally, most: float) -> None:
        self._tally = tally
        self._most = most
        self._under_way: list[Usage] = []
        self._changed = asyncio.Condition()
        self._turn = asyncio.Lock()
        self._used_up = False

    @asynccontextmanager
    async def set_aside(self, bytes_in: int, tokens_out: int) -> AsyncIterator[bool]:
        """Set aside what a call can cost at most while it is under way; whether there is room for it.

        It waits for the calls under way before it says no. Calls are let through in their order, and what was
        refused once stays so, or towards the end only short pairs would be asked about.
        """
        most = Usage(bytes_in, tokens_out)
        async with self._turn, self._changed:
            while not self._used_up and self._with(most) > self._most:
                if self._under_way:
                    await self._changed.wait()
                else:
                    self._used_up = True
            allowed = not self._used_up
            if allowed:
                self._under_way.append(most)
        try:
            yield allowed
        finally:
            async with self._changed:
                if allowed:
                    self._under_way.remove(most)
                self._changed.notify_all()

    def check_metered(self, reply: Reply, endpoint: str) -> None:
        """Refuse to go on with a budget that cannot be kept."""
        if self._most < math.inf and None in (reply.tokens_in, reply.tokens_out):
            raise InputError(
                f"{endpoint}: does not say how many tokens it used, so that no budget can be kept; leave the budget out"
            )

    def _with(self, call: Usage) -> float:
        """Return what is spent if this call and all under way cost as much as they can."""
        spent = self._tally.elsewhere + self._tally.cost(self._tally.paid)
        return spent + sum(map(self._tally.cost, [*self._under_way, call]))


@dataclass(frozen=True, repr=False)
class EndpointSummary(Result):
    """How many pairs an endpoint answered, why it did not answer the others, and what that cost."""

    endpoint: str
    prompts: tuple[dict[str, str], ...]
    way: str
    pairs: int
    unanswered: dict[str, int]
    examples: dict[str, str]
    calls: int
    cached: int
    retried: int
    lost: int
    unmetered: int
    tokens_in: int
    tokens_out: int
    cost: float
    cost_before: float

    @property
    def answered(self) -> int:
        """Pairs with probabilities."""
        return self.pairs - sum(self.unanswered.values())

    @property
    def title(self) -> str:
        """Who answered, and how much of it."""
        tokens = f"{self.tokens_in:,} tokens sent and {self.tokens_out:,} received"
        cost = f", cost {self.cost:,.4f}" if self.cost or self.cost_before else ""
        return f"{self.endpoint}: {self.answered:,} of {self.pairs:,} pairs answered; {tokens}{cost}"

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """How many pairs stayed unanswered, and why, with an example of what came back."""
        return [
            (row["pairs"], row["why"] + (f" ({row['example']})" if row["example"] else ""))
            for row in self.table.iter_rows(named=True)
        ]

    @property
    def table(self) -> pl.DataFrame:
        """Why pairs stayed unanswered."""
        rows = [
            {"unanswered": reason, "pairs": count, "why": REASONS[reason], "example": self.examples[reason]}
            for reason, count in self.unanswered.items()
        ]
        schema = {"unanswered": pl.String, "pairs": pl.Int64, "why": pl.String, "example": pl.String}
        return pl.DataFrame(rows, schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "endpoint": self.endpoint,
            "prompts": list(self.prompts),
            "answers": self.way,
            "pairs": self.pairs,
            "answered": self.answered,
            "unanswered": self.unanswered,
            "examples": self.examples,
            "calls": self.calls,
            "cached": self.cached,
            "retried": self.retried,
            "lost": self.lost,
            "unmetered": self.unmetered,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": self.cost,
            "cost_before": self.cost_before,
        }

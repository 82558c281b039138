"""Texts from a language model behind an endpoint: chats in, what it says out.

Calls are paced, retried and kept within a budget as those about pairs are, and replies are kept in the same cache, so
that what was written once is not paid for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from goldlabel.files import home
from goldlabel.models.endpoint.cache import ReplyCache, key_of
from goldlabel.models.endpoint.calls import Caller, FailedError, RejectedError
from goldlabel.models.endpoint.dialect import FREE, Dialect
from goldlabel.models.endpoint.model import CACHE, SCHEME, parse_reference
from goldlabel.models.endpoint.options import EndpointOptions
from goldlabel.models.endpoint.replies import Reply
from goldlabel.models.endpoint.session import PATHS
from goldlabel.models.endpoint.tally import Budget, Tally
from goldlabel.models.options import check_options, own_options, parse_options
from goldlabel.registry import import_extra

Chat = list[dict[str, str]]
MAX_TOKENS = 400
"""A model that thinks before it writes needs more than a sentence takes."""
CHOICES = (
    "max_tokens",
    "concurrency",
    "requests_per_minute",
    "retries",
    "timeout",
    "price_in",
    "price_out",
    "budget",
    "cache",
)
"""The options of an endpoint that are about calls, and not about pairs."""


class EndpointWriter:
    """A language model that writes; it is asked at a temperature of 0."""

    def __init__(self, reference: str, **options: Any) -> None:
        import_extra("httpx", "endpoint")
        url, self._model = parse_reference(reference)
        self.name = f"{SCHEME}{url}#{self._model}"
        kind, known = SCHEME.rstrip(":"), own_options(EndpointOptions)
        parsed = parse_options(options, {name: known[name] for name in CHOICES}, kind)
        check_options(kind, EndpointOptions, parsed)
        self._options = EndpointOptions(**({"max_tokens": MAX_TOKENS} | parsed))
        self._tally = Tally(self._options.price_in, self._options.price_out)
        self._address = url + PATHS["chat"]
        self._dialect = Dialect(*FREE)

    def write(self, chats: Sequence[Chat]) -> list[str]:
        """Return what the model says to each chat; nothing where it refuses, is cut off or may not be asked."""
        return asyncio.run(self._write(chats))

    def usage(self) -> dict[str, Any]:
        """Return what was asked and paid so far."""
        tally = self._tally
        return {
            "calls": tally.calls,
            "cached": tally.cached,
            "tokens_in": tally.paid.tokens_in,
            "tokens_out": tally.paid.tokens_out,
            "cost": tally.cost(tally.paid),
            "unanswered": dict(sorted(tally.unanswered.items())),
        }

    def count_elsewhere(self, cost: float) -> None:
        """Take as spent of the budget what the model has cost before."""
        self._tally.elsewhere = cost

    async def _write(self, chats: Sequence[Chat]) -> list[str]:
        path = Path(self._options.cache) if self._options.cache else home() / CACHE
        cache, caller = ReplyCache(path), Caller(self.name, self._address, self._options, self._tally)
        budget, problems = Budget(self._tally, self._options.budget), list[str]()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._text(chat, caller, cache, budget, problems)) for chat in chats]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            await caller.close()
            cache.close()
        if len(problems) == len(chats) and problems:
            raise caller.stopped(f"answered no call; the last one: {problems[-1]}")
        return [task.result() for task in tasks]

    async def _text(self, chat: Chat, caller: Caller, cache: ReplyCache, budget: Budget, problems: list[str]) -> str:
        while True:
            dialect = self._dialect
            body = dialect.body(self._model, {"messages": chat}, (), self._options, 0)
            try:
                reply = await self._reply(orjson.dumps(body, option=orjson.OPT_SORT_KEYS), caller, cache, budget)
            except RejectedError as error:
                other = dialect.concede(str(error), body, FREE)
                if other is not None:
                    self._dialect = other
                    continue
                problems.append(str(error))
            except FailedError as error:
                problems.append(str(error))
            else:
                if reply is None:
                    self._tally.leave("budget", "")
                    return ""
                return "" if reply.refusal or reply.finish == "length" else reply.text
            self._tally.leave("error", problems[-1])
            return ""

    async def _reply(self, sent: bytes, caller: Caller, cache: ReplyCache, budget: Budget) -> Reply | None:
        """Return the reply to a call, from the cache or from the server; nothing where the budget has no room."""
        key = key_of(self._address, sent, 0)
        reply = cache.reply(key)
        if reply is not None:
            self._tally.reuse(key, reply)
            return reply
        async with budget.set_aside(len(sent), self._options.max_tokens) as allowed:
            if not allowed:
                return None
            reply = await caller.post(sent)
            cache.keep_reply(key, reply)
            self._tally.pay(key, reply)
        budget.check_metered(reply, self.name)
        return reply

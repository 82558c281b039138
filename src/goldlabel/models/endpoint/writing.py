"""Texts from a language model behind an endpoint: chats in, what it says out.

Calls are paced and retried as those about pairs are, and replies are kept in the same cache, so that what was written
once is not paid for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson

from goldlabel.files import home
from goldlabel.models.endpoint.cache import ReplyCache, key_of
from goldlabel.models.endpoint.calls import Caller, FailedError, RejectedError
from goldlabel.models.endpoint.dialect import FREE, Dialect
from goldlabel.models.endpoint.model import CACHE, SCHEME, parse_reference
from goldlabel.models.endpoint.options import EndpointOptions
from goldlabel.models.endpoint.session import PATHS
from goldlabel.models.endpoint.tally import Tally
from goldlabel.registry import import_extra

Chat = list[dict[str, str]]
OPTIONS = EndpointOptions(max_tokens=400)
"""A model that thinks before it writes needs more than a sentence takes."""


class EndpointWriter:
    """A language model that writes; it is asked at a temperature of 0."""

    def __init__(self, reference: str) -> None:
        import_extra("httpx", "endpoint")
        url, self._model = parse_reference(reference)
        self.name = f"{SCHEME}{url}#{self._model}"
        self._address = url + PATHS["chat"]
        self._dialect = Dialect(*FREE)

    def write(self, chats: Sequence[Chat]) -> list[str]:
        """Return what the model says to each chat; nothing where it refuses, is cut off or gives no answer."""
        return asyncio.run(self._write(chats))

    async def _write(self, chats: Sequence[Chat]) -> list[str]:
        caller = Caller(self.name, self._address, OPTIONS, Tally(OPTIONS.price_in, OPTIONS.price_out))
        cache, problems = ReplyCache(home() / CACHE), list[str]()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._text(chat, caller, cache, problems)) for chat in chats]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            await caller.close()
            cache.close()
        if len(problems) == len(chats) and problems:
            raise caller.stopped(f"answered no call; the last one: {problems[-1]}")
        return [task.result() for task in tasks]

    async def _text(self, chat: Chat, caller: Caller, cache: ReplyCache, problems: list[str]) -> str:
        while True:
            dialect = self._dialect
            body = dialect.body(self._model, {"messages": chat}, (), OPTIONS, 0)
            sent = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
            key = key_of(self._address, sent, 0)
            reply = cache.reply(key)
            if reply is None:
                try:
                    reply = await caller.post(sent)
                except RejectedError as error:
                    other = dialect.concede(str(error), body, FREE)
                    if other is not None:
                        self._dialect = other
                        continue
                    problems.append(str(error))
                    return ""
                except FailedError as error:
                    problems.append(str(error))
                    return ""
                cache.keep_reply(key, reply)
            return "" if reply.refusal or reply.finish == "length" else reply.text

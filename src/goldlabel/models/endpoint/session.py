"""Asking about pairs, many at a time, on one event loop."""

from __future__ import annotations

import asyncio
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from goldlabel.models.endpoint.answers import Answer, read_answer
from goldlabel.models.endpoint.cache import ReplyCache, key_of
from goldlabel.models.endpoint.calls import Caller, FailedError, RejectedError
from goldlabel.models.endpoint.dialect import LOGPROBS, Dialect, ways_of
from goldlabel.models.endpoint.options import EndpointOptions
from goldlabel.models.endpoint.prompt import Example, Prompt
from goldlabel.models.endpoint.replies import Reply
from goldlabel.models.endpoint.tally import Budget, Tally

OnProgress = Callable[[int, int], None]
"""Called with the pairs that are done and the number of pairs."""
_FILTERED = ("content_filter", "content_policy")
"""Codes with which servers refuse a prompt for what it says."""
PATHS = {"chat": "/chat/completions", "completion": "/completions"}


@dataclass(frozen=True)
class Question:
    """A pair in the words of its prompt."""

    prompt: Prompt
    premise: str
    hypothesis: str
    examples: tuple[Example, ...]

    def form(self, api: str) -> dict[str, object]:
        """Return the question as the two forms of the protocol have it."""
        pair = self.premise, self.hypothesis, self.examples
        return {"messages": self.prompt.chat(*pair)} if api == "chat" else {"prompt": self.prompt.text(*pair)}


class UnansweredError(Exception):
    """A call without a reply; the arguments are the reason and what there is to say about it."""


class Session:
    """The connections, the cache and what was found out about the server; made and used on one event loop."""

    def __init__(self, endpoint: str, url: str, model: str, options: EndpointOptions, path: Path, tally: Tally) -> None:
        self._endpoint = endpoint
        self._address = url + PATHS[options.api]
        self._model = model
        self._options = options
        self._tally = tally
        self._ways = ways_of(options)
        self._cache = ReplyCache(path)
        self._caller = Caller(endpoint, self._address, options, tally)
        self._budget = Budget(tally, options.budget)
        self._negotiating = asyncio.Lock()
        self._under_way: weakref.WeakValueDictionary[bytes, asyncio.Lock] = weakref.WeakValueDictionary()
        known = orjson.dumps([model, options.answers, options.samples > 1])
        self._dialect_key = key_of(self._address, known, 0)
        self.dialect = self._cache.dialect(self._dialect_key)
        self._accepted: Dialect | None = None

    async def close(self) -> None:
        """Close connections and file."""
        await self._caller.close()
        self._cache.close()

    async def ask(self, questions: Sequence[Question], on_progress: OnProgress | None) -> NDArray[np.float64]:
        """Return a row of probabilities for each question, of NaN where it stays unanswered."""
        samples = self._options.samples
        labels = len(questions[0].prompt.words.own)
        sums, answered = np.zeros((len(questions), labels)), np.zeros(len(questions), dtype=np.int64)
        missing: dict[int, list[tuple[str, str]]] = {}
        left, done = [samples] * len(questions), 0

        async def work(calls: Iterator[tuple[int, int]]) -> None:
            nonlocal done
            for row, sample in calls:
                await asyncio.sleep(0)  # replies that are all in the cache leave others a turn
                try:
                    probabilities = await self._answer(questions[row], sample)
                    sums[row] += probabilities
                    answered[row] += 1
                except UnansweredError as error:
                    missing.setdefault(row, []).append(error.args)
                left[row] -= 1
                if not left[row]:
                    done += 1
                    if on_progress:
                        on_progress(done, len(questions))

        calls = ((row, sample) for row in range(len(questions)) for sample in range(samples))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._options.concurrency, len(questions) * samples)):
                    group.create_task(work(calls))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        self._count(missing, answered, len(questions))
        with np.errstate(invalid="ignore"):
            shares: NDArray[np.float64] = sums / answered[:, None]
        # A share of the few samples that were answered would be a guess about the others.
        shares[answered * 2 <= samples] = np.nan
        return shares

    def _count(self, missing: dict[int, list[tuple[str, str]]], answered: NDArray[np.int64], pairs: int) -> None:
        self._tally.pairs += pairs
        errors = []
        for row, reasons in sorted(missing.items()):
            errors += [said for reason, said in reasons if reason == "error"]
            if answered[row] * 2 <= self._options.samples:
                reason = Counter(reason for reason, _ in reasons).most_common(1)[0][0]
                self._tally.leave(reason, dict(reasons)[reason])
        if errors and not self._caller.answered and not answered.any():
            raise self._caller.stopped(f"answered no call; the last one: {errors[-1]}")

    async def _answer(self, question: Question, sample: int) -> NDArray[np.float64]:
        dialect = self.dialect
        if dialect is not None:
            try:
                reply = await self._fetch(question, sample, dialect)
                return self._told(read_answer(reply, question.prompt.words), reply)
            except RejectedError as error:
                if dialect is self._accepted:
                    raise self._rejected(error) from error
                # What was found out in another session is not so any more.
        async with self._negotiating:
            if self.dialect is dialect:
                return self._told(*await self._negotiate(question, sample))
        return await self._answer(question, sample)

    def _rejected(self, error: RejectedError) -> UnansweredError:
        """Return why a pair that the server will not have is unanswered."""
        said = str(error)
        if not self._caller.answered:
            self._caller.give_up(said)
        return UnansweredError("refused" if any(code in said for code in _FILTERED) else "error", said)

    def _told(self, answer: Answer, reply: Reply) -> NDArray[np.float64]:
        if answer.probabilities is None:
            raise UnansweredError(answer.reason, reply.refusal or reply.text)
        return answer.probabilities

    async def _negotiate(self, question: Question, sample: int) -> tuple[Answer, Reply]:
        """Find out with one pair what the server understands: the first way that gives a label is taken."""
        dialect: Dialect | None = Dialect(self._ways[0])
        accepted: list[tuple[Dialect, Answer, Reply]] = []
        rejection: RejectedError | None = None
        while dialect is not None:
            try:
                reply = await self._fetch(question, sample, dialect)
            except RejectedError as error:
                rejection = error
                dialect = dialect.concede(str(error), self._body(question, sample, dialect), self._ways)
                continue
            answer = read_answer(reply, question.prompt.words)
            if dialect.way not in LOGPROBS or reply.tokens:
                accepted.append((dialect, answer, reply))
            if answer.graded or (dialect.way not in LOGPROBS and answer.probabilities is not None):
                self._cache.keep_dialect(self._dialect_key, dialect)
                self.dialect = dialect
                return answer, reply
            # What was accepted and not done is not done in smaller numbers either.
            dialect = dialect.next_way([way for way in self._ways if way == dialect.way or way not in LOGPROBS])
        if accepted:
            # None gave a label: perhaps it is the pair, perhaps the model; the best way is kept for this session.
            self.dialect, answer, reply = accepted[0]
            return answer, reply
        if rejection:
            raise self._rejected(rejection) from rejection
        raise self._caller.stopped("gives no log-probabilities; leave answers=logprobs out")

    def _body(self, question: Question, sample: int, dialect: Dialect) -> dict[str, object]:
        words = list(question.prompt.labels.values())
        return dialect.body(self._model, question.form(self._options.api), words, self._options, sample)

    async def _fetch(self, question: Question, sample: int, dialect: Dialect) -> Reply:
        """Return the reply to a call from the cache, or from the server and into the cache."""
        body = orjson.dumps(self._body(question, sample, dialect), option=orjson.OPT_SORT_KEYS)
        key = key_of(self._address, body, sample)
        # Equal pairs are asked about once, also at the same time.
        lock = self._under_way.setdefault(key, asyncio.Lock())
        async with lock:
            cached = self._cache.reply(key)
            if cached is not None:
                self._tally.reuse(key, cached)
                return cached
            async with self._budget.set_aside(len(body), self._options.max_tokens) as allowed:
                if not allowed:
                    raise UnansweredError("budget", "")
                try:
                    reply = await self._caller.post(body)
                except FailedError as error:
                    raise UnansweredError("error", str(error)) from error
                self._accepted = dialect
                self._cache.keep_reply(key, reply)
                self._tally.pay(key, reply)
            self._budget.check_metered(reply, self._endpoint)
            return reply

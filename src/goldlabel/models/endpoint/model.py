"""The model: pairs in, probabilities out, with the calls made on an event loop of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import wait
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import home
from goldlabel.models.endpoint.options import EndpointOptions
from goldlabel.models.endpoint.prompt import Example, Prompt, prompt_language, read_prompt, shipped_prompt
from goldlabel.models.endpoint.session import OnProgress, Question, Session
from goldlabel.models.endpoint.tally import EndpointSummary, Tally
from goldlabel.models.model import Charging, check_sides
from goldlabel.models.options import check_options, own_options, parse_options
from goldlabel.pairs.dataset import read
from goldlabel.pairs.drawing import draw, quotas, shuffled
from goldlabel.pairs.gold import take_gold
from goldlabel.pairs.labels import LabelSpace, label_space
from goldlabel.registry import import_extra

SCHEME = "openai:"
CACHE = "endpoint.sqlite"
_LOOK_UP = 0.2
T = TypeVar("T")


def parse_reference(reference: str) -> tuple[str, str]:
    """Return the address of the endpoint and the name of the model in ``openai:URL#MODEL``."""
    reference = reference.removeprefix(SCHEME)
    url, _, model = reference.partition("#")
    example = f"write {SCHEME}http://127.0.0.1:8000/v1#MODEL"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise InputError(f"{SCHEME}{reference}: is not the address of an endpoint; {example}")
    if not model:
        raise InputError(f"{SCHEME}{reference}: names no model behind a '#'; {example}")
    if parts.username or parts.password or parts.query:
        raise InputError(
            f"{SCHEME}{parts.scheme}://{host}…: an address is written into results, so that a key does not "
            "belong into it; set OPENAI_API_KEY instead"
        )
    return url.rstrip("/"), model


class Endpoint(Charging):
    """A language model behind an OpenAI-compatible endpoint.

    ``predict`` may be called from any thread, several at a time, and from within a running event loop (which it
    blocks): calls are made on a thread of their own. A row that stays unanswered is NaN; ``summary`` says why.
    """

    def __init__(self, url: str, model: str, options: EndpointOptions) -> None:
        import_extra("httpx", "endpoint")
        self.name = f"{SCHEME}{url}#{model}"
        self.options = options
        self.label_space: LabelSpace = label_space(options.label_space)
        self._url = url
        self._model = model
        self._prompts = self._read_prompts()
        self._examples = self._draw_examples() if options.shots else ()
        self._tally = Tally(options.price_in, options.price_out)
        self._opening = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: Session | None = None
        self._way = ""

    @classmethod
    def from_reference(cls, reference: str, **options: Any) -> Self:
        """Return the model for ``URL#MODEL``; options go by the names of ``EndpointOptions``, as values or as words."""
        url, model = parse_reference(reference)
        kind = SCHEME.rstrip(":")
        parsed = parse_options(options, cls.own_options(), kind)
        check_options(kind, EndpointOptions, parsed)
        return cls(url, model, EndpointOptions(**parsed))

    def predict(
        self, premises: Sequence[str], hypotheses: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> NDArray[np.float64]:
        """Return an ``(n, labels)`` matrix of probabilities; rows of pairs without an answer are NaN.

        ``on_progress`` is called with the pairs that are done and their number, from another thread.
        """
        check_sides(premises, hypotheses)
        pairs = list(zip(premises, hypotheses, strict=True))
        if not pairs:
            return np.empty((0, len(self.label_space)))
        return self._run(self._ask([self._question(*pair) for pair in pairs], on_progress))

    @staticmethod
    def own_options() -> dict[str, Any]:
        """Return the names and defaults of what can be chosen."""
        return own_options(EndpointOptions)

    def count_elsewhere(self, cost: float) -> None:
        """Take as spent of the budget what others, or the same model before it was made anew, have cost."""
        self._tally.elsewhere = cost

    def close(self) -> None:
        """Close connections and cache; a later ``predict`` opens them again."""
        with self._opening:
            loop, self._loop = self._loop, None
            session, self._session = self._session, None
        if loop is not None:
            if session is not None:
                asyncio.run_coroutine_threadsafe(session.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()

    def summary(self) -> EndpointSummary:
        """Return what was answered, what was not and why, and what that cost, since the model was made."""
        tally = self._tally
        return EndpointSummary(
            endpoint=self.name,
            prompts=tuple(
                {"name": prompt.name, "version": prompt.version, "digest": prompt.digest}
                for prompt in self._prompts.values()
            ),
            way=self._way,
            pairs=tally.pairs,
            unanswered=dict(sorted(tally.unanswered.items())),
            examples=dict(tally.examples),
            calls=tally.calls,
            cached=tally.cached,
            retried=tally.retried,
            lost=tally.lost,
            unmetered=tally.unmetered,
            tokens_in=tally.paid.tokens_in,
            tokens_out=tally.paid.tokens_out,
            cost=tally.cost(tally.paid),
            cost_before=tally.cost(tally.before),
        )

    def _read_prompts(self) -> dict[str, Prompt]:
        """Return the prompt of each language that may be asked in; a prompt of the user's own is for all."""
        chosen = self.options
        if chosen.prompt:
            return {"": read_prompt(Path(chosen.prompt), self.label_space, chosen.reads)}
        languages = ("en", "zh") if chosen.language == "auto" else (chosen.language,)
        return {language: shipped_prompt(self.label_space, language, chosen.reads) for language in languages}

    def _draw_examples(self) -> tuple[Example, ...]:
        """Draw solved pairs by the seed, as many of each label as of the others, from different units if possible."""
        options = self.options
        pairs = read(options.examples, labels=self.label_space)
        gold = take_gold(pairs.map_labels(self.label_space), default="train", advice="examples are never drawn from it")
        if len(gold) < options.shots:
            raise InputError(f"{options.examples}: has {len(gold)} pairs with a label, and shots is {options.shots}")
        labels = np.array([self.label_space.index(label) for label in gold.frame["label"]])
        quota = quotas(labels, options.shots, options.seed)
        everywhere = np.ones(len(gold), dtype=np.bool_)
        rows = draw(gold.units, labels, everywhere, quota, gold.frame["id"], options.seed)
        frame = gold.frame[np.sort(rows)[shuffled(len(rows), options.seed)]]
        pairs_drawn = frame.select("premise", "hypothesis", "label").iter_rows()
        return tuple(Example(*self._read_sides(*texts), label) for *texts, label in pairs_drawn)

    def _read_sides(self, premise: str, hypothesis: str) -> tuple[str, str]:
        """Return a pair without the side that is not read: no language and no example is chosen by it either."""
        reads = self.options.reads
        return "" if reads == "hypothesis" else premise, "" if reads == "premise" else hypothesis

    def _question(self, premise: str, hypothesis: str) -> Question:
        premise, hypothesis = self._read_sides(premise, hypothesis)
        prompt = self._prompts[
            prompt_language(premise + hypothesis) if len(self._prompts) > 1 else next(iter(self._prompts))
        ]
        # An example that is the pair itself would give its label away.
        examples = tuple(example for example in self._examples if example[:2] != (premise, hypothesis))
        return Question(prompt, premise, hypothesis, examples)

    async def _ask(self, questions: list[Question], on_progress: OnProgress | None) -> NDArray[np.float64]:
        if self._session is None:
            path = Path(self.options.cache) if self.options.cache else home() / CACHE
            self._session = Session(self.name, self._url, self._model, self.options, path, self._tally)
        session = self._session
        try:
            return await session.ask(questions, on_progress)
        finally:
            self._way = str(session.dialect or "")

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the endpoint's own event loop, which is started when first needed."""
        with self._opening:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name=self.name, daemon=True)
                self._thread.start()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            # A lock cannot be interrupted everywhere, so that Ctrl-C is looked for from time to time.
            while not wait([future], timeout=_LOOK_UP).done:
                pass
            return future.result()
        except BaseException:
            # Ctrl-C: what is under way is given up, what was answered is in the cache.
            future.cancel()
            raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()

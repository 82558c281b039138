"""The form of the request: what a server accepts differs, and is found out with the first pair.

Servers refuse what they do not know (an answer limit called ``max_tokens``, a temperature, log-probabilities, a
schema) with a status 400 and words about it, or silently leave it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from goldlabel.models.endpoint.options import EndpointOptions

LOGPROBS = {"logprobs": 20, "logprobs-5": 5}
"""Alternatives asked for each token; some servers give five at most."""
CONSTRAINED = ("json_schema", "structured_outputs", "guided_choice")
"""``response_format`` is the protocol's; the others are vLLM's, today and before."""
FREE = ("free",)


@dataclass(frozen=True)
class Dialect:
    """What is asked for, and in which words."""

    way: str
    limit: str = "max_tokens"
    without: tuple[str, ...] = ()
    """Parameters; or ``system``, for chats whose instructions stand in the first question."""

    def __str__(self) -> str:
        return " without ".join([self.way, *self.without])

    def body(
        self, model: str, question: dict[str, Any], words: Sequence[str], options: EndpointOptions, sample: int
    ) -> dict[str, Any]:
        """Return the request: the question as messages or as a prompt, and the parameters of this dialect."""
        several = options.samples > 1
        body = {"model": model, **question, self.limit: options.max_tokens}
        body["temperature"] = options.temperature if several else 0
        if several:
            body["seed"] = options.seed + sample
        if options.api == "completion":
            body["stop"] = ["\n"]
        if "system" in self.without:
            instructions, first, *later = question["messages"]
            merged = f"{instructions['content']}\n\n{first['content']}"
            body["messages"] = [{**first, "content": merged}, *later]
        body |= self._asked(words, options.api)
        return {name: value for name, value in body.items() if name not in self.without}

    def _asked(self, words: Sequence[str], api: str) -> dict[str, Any]:
        if self.way in LOGPROBS:
            if api == "completion":
                return {"logprobs": 5}
            return {"logprobs": True, "top_logprobs": LOGPROBS[self.way]}
        if self.way == "json_schema":
            label = {"type": "string", "enum": list(words)}
            schema = {"type": "object", "properties": {"label": label}, "required": ["label"]}
            form = {"name": "label", "strict": True, "schema": {**schema, "additionalProperties": False}}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        if self.way == "structured_outputs":
            return {"structured_outputs": {"choice": list(words)}}
        if self.way == "guided_choice":
            return {"guided_choice": list(words)}
        return {}

    def concede(self, refusal: str, sent: dict[str, Any], ways: Sequence[str]) -> Dialect | None:
        """Return what to try after a refusal: without the parameter that it names, else in the next way."""
        if any(name in refusal for name in self._asked((), "chat")):
            return self.next_way(ways)
        if self.limit == "max_tokens" and ("max_tokens" in refusal or "max_completion_tokens" in refusal):
            return replace(self, limit="max_completion_tokens")
        roles = [message["role"] for message in sent.get("messages", ())]
        for name in ("temperature", "seed", "stop", "system"):
            if name in refusal.lower() and (name in sent or name in roles):
                return replace(self, without=(*self.without, name))
        return self.next_way(ways)

    def next_way(self, ways: Sequence[str]) -> Dialect | None:
        """Return the same with the next way of asking, if there is one."""
        later = ways[ways.index(self.way) + 1 :]
        return replace(self, way=later[0]) if later else None

    def to_dict(self) -> dict[str, Any]:
        """Return what the cache keeps."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Dialect:
        """Return what the cache kept."""
        return cls(**document | {"without": tuple(document["without"])})


def ways_of(options: EndpointOptions) -> tuple[str, ...]:
    """Return the ways of asking that the options allow, the best first."""
    logprobs = tuple(LOGPROBS) if options.api == "chat" else ("logprobs",)
    constrained = CONSTRAINED if options.api == "chat" else CONSTRAINED[1:]
    if options.answers == "auto":
        return (*(logprobs if options.samples == 1 else ()), *constrained, *FREE)
    return {"logprobs": logprobs, "constrained": constrained, "free": FREE}[options.answers]

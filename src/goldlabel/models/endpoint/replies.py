"""What an endpoint sends back, in the two forms of the protocol, checked before it is believed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Token:
    """One token of a reply, with the log-probabilities of it and of others in its place."""

    text: str
    logprob: float
    others: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """One reply; tokens are there where log-probabilities were asked for and given."""

    text: str
    finish: str = ""
    refusal: str = ""
    tokens: tuple[Token, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what the cache keeps."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Reply:
        """Return what the cache kept."""
        return cls(**document | {"tokens": tuple(Token(**token) for token in document["tokens"])})


def read_reply(document: Any) -> Reply:
    """Read a chat's or a completion's response, or raise ``ValueError`` where it is neither."""
    try:
        choice = document["choices"][0]
        message = choice["message"] if "message" in choice else {"content": choice["text"]}
        usage = document.get("usage") or {}
        return Reply(
            text=_text(message.get("content")),
            finish=str(choice.get("finish_reason") or ""),
            refusal=str(message.get("refusal") or ""),
            tokens=_tokens(choice.get("logprobs")),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"the response is no chat and no completion ({type(error).__name__}: {error})") from error


def _text(content: Any) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str | None):
        raise TypeError("content is no text")
    return content or ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """Read log-probabilities as chats have them, or as completions do; none where they are in neither form."""
    try:
        if logprobs.get("content"):
            return tuple(
                Token(
                    str(token["token"]),
                    float(token["logprob"]),
                    {str(other["token"]): float(other["logprob"]) for other in token.get("top_logprobs") or []},
                )
                for token in logprobs["content"]
            )
        rows = zip(logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True)
        return tuple(
            Token(str(text), float(logprob), {str(other): float(value) for other, value in others.items()})
            for text, logprob, others in rows
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return ()

"""Messages: what is said to people, as a name and parameters from the start.

The text of a message is a template of ours with gaps; a catalogue may hold another template under the same name. What
fills a gap is shown and never read again: it may be anybody's text.

An option is named as whoever reads it would give it: ``--votes-from A,B`` on the command line,
``votes_from=['A', 'B']`` in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

LONGEST = 300
"""Characters of a parameter that are shown; the rest is cut off."""


_FLAGS = {"label_map": "map"}
"""Options that are called otherwise on the command line."""
_at_command_line = False


@contextmanager
def at_command_line() -> Iterator[None]:
    """Name options as the command line has them, in all threads."""
    global _at_command_line
    before, _at_command_line = _at_command_line, True
    try:
        yield
    finally:
        _at_command_line = before


def option(name: str, value: str | Sequence[str] | Mapping[str, str] | None = None) -> str:
    """Return an option, called as in Python, as whoever reads it would give it; without a value, its name."""
    if not _at_command_line:
        return f"{name}=…" if value is None else f"{name}={value!r}"
    flag = f"--{_FLAGS.get(name, name).replace('_', '-')}"
    if value is None:
        return flag
    if isinstance(value, Mapping):
        value = [f"{key}={item}" for key, item in value.items()]
    return f"{flag} {value if isinstance(value, str) else ','.join(value)}"


def many(count: int, one: str, more: str | None = None) -> str:
    """Return a number of things: ``1 pair``, ``1,200 pairs``; ``more`` where an s is not enough."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


class Word(str):
    """A name in code, such as a role or a label, for which a page has a word in the reader's language."""


@dataclass(frozen=True)
class Message:
    """Something to say: its name, its text in English, and what stands in the gaps of the text.

    A parameter is text, a number, a ``Word``, another message, or a list or tuple of these.
    """

    name: str
    english: str
    parameters: Mapping[str, object]

    def __str__(self) -> str:
        return fill(self.english, self.parameters, str, ", ")

    def to_dict(self) -> dict[str, object]:
        """Return the name and the parameters as plain values, from which a room that knows the name has it again."""
        return {"name": self.name, "parameters": {name: _plain(value) for name, value in self.parameters.items()}}


def fill(template: str, parameters: Mapping[str, object], say: Callable[[Message | Word], str], comma: str) -> str:
    """Return a template with its gaps filled; ``say`` gives messages and words in the language of the template."""
    return template.format_map({name: _shown(value, say, comma) for name, value in parameters.items()})


def _shown(value: object, say: Callable[[Message | Word], str], comma: str) -> str:
    """Return a parameter in one line that is not too long."""
    if isinstance(value, Message):
        return say(value)
    if isinstance(value, list | tuple):
        text = comma.join(_shown(item, say, comma) for item in value[:LONGEST])
    else:
        text = say(value) if isinstance(value, Word) else str(value)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {"word": str(value)} if isinstance(value, Word) else value

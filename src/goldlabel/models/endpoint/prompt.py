"""Prompts: one per label space and language, shipped as files with a version, or a file of the user's own.

A prompt is a TOML file: ``version``, ``language``, the ``[words]`` that stand for the labels, and for each form of
the pair that it can show (``[both]``, ``[hypothesis]``, ``[premise]``) the ``instructions`` and how one ``pair`` is
written, with ``{premise}`` and ``{hypothesis}`` in the places of the texts.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.models.endpoint.answers import Words, plain
from goldlabel.models.model import READS
from goldlabel.pairs.labels import LabelSpace

PROMPTS = Path(__file__).parent / "prompts"
_KEYS = ("version", "language", "words", *READS)
_PLACES = {"both": ("premise", "hypothesis"), "hypothesis": ("hypothesis",), "premise": ("premise",)}
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")


class Example(NamedTuple):
    """A solved pair that is shown before the question."""

    premise: str
    hypothesis: str
    label: str


@dataclass(frozen=True)
class Prompt:
    """How a pair is put to a language model, and the words that it may answer with."""

    name: str
    version: str
    digest: str
    language: str
    instructions: str
    pair: str
    labels: dict[str, str]
    """The word of each label."""
    words: Words

    def messages(self, example: Example | None, premise: str, hypothesis: str) -> list[dict[str, str]]:
        """Return one turn of a chat: the pair, and behind an example's its answer."""
        turn = [{"role": "user", "content": self._written(premise, hypothesis)}]
        return turn if example is None else [*turn, {"role": "assistant", "content": self.labels[example.label]}]

    def chat(self, premise: str, hypothesis: str, examples: Sequence[Example] = ()) -> list[dict[str, str]]:
        """Return the messages of a chat: instructions, the examples with their answers, the pair."""
        shown = [turn for example in examples for turn in self.messages(example, example.premise, example.hypothesis)]
        return [
            {"role": "system", "content": self.instructions},
            *shown,
            *self.messages(None, premise, hypothesis),
        ]

    def text(self, premise: str, hypothesis: str, examples: Sequence[Example] = ()) -> str:
        """Return one text that ends where the answer begins."""
        shown = [
            f"{self._written(example.premise, example.hypothesis)} {self.labels[example.label]}" for example in examples
        ]
        return "\n\n".join([self.instructions, *shown, self._written(premise, hypothesis)])

    def _written(self, premise: str, hypothesis: str) -> str:
        # In one pass, so that a premise that holds "{hypothesis}" stays as it is.
        texts = {"{premise}": premise, "{hypothesis}": hypothesis}
        return re.sub(r"\{premise\}|\{hypothesis\}", lambda place: texts[place[0]], self.pair)


def shipped_prompt(space: LabelSpace, language: str, reads: str) -> Prompt:
    """Return the shipped prompt for a label space and language."""
    path = PROMPTS / f"{space.name}-{language}.toml"
    if not path.exists():
        shipped = sorted({file.stem.rpartition("-")[0] for file in PROMPTS.glob("*.toml")})
        raise InputError(
            f"no prompt is shipped for the labels {', '.join(space.labels)}, only for {', '.join(shipped)}; "
            "write one and name it with prompt=FILE"
        )
    return read_prompt(path, space, reads)


def prompt_language(text: str) -> str:
    """Return the language of the prompt for a text: Chinese where it is mostly Chinese characters."""
    letters = sum(character.isalpha() for character in text)
    return "zh" if len(_HAN.findall(text)) * 2 > letters and not _KANA.search(text) else "en"


def read_prompt(path: Path, space: LabelSpace, reads: str) -> Prompt:
    """Read and check a prompt file."""
    with InputFile(path).open() as stream:
        source = stream.read()
    try:
        document = tomllib.loads(source.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not a prompt in TOML ({error})") from error
    for key in document:
        if key not in _KEYS:
            raise InputError(f"{path}: {key!r} is not known in a prompt; allowed: {', '.join(_KEYS)}")
    form = _texts(path, document, reads, ("instructions", "pair"))
    labels = _texts(path, document, "words", space.labels)
    _check_places(path, form["pair"], reads)
    words = _words_of(path, labels, space)
    return Prompt(
        name=path.stem,
        version=str(document.get("version", "")),
        digest=hashlib.sha256(source).hexdigest()[:12],
        language=str(document.get("language", "")),
        instructions=form["instructions"].strip(),
        pair=form["pair"].strip(),
        labels=labels,
        words=words,
    )


def _texts(path: Path, document: dict[str, Any], table: str, keys: Sequence[str]) -> dict[str, str]:
    """Return a table that has exactly these keys, each with a text."""
    section = document.get(table)
    if not isinstance(section, dict):
        raise InputError(f"{path}: has no section [{table}]; it holds {', '.join(keys)}")
    if set(section) != set(keys) or not all(isinstance(text, str) and text.strip() for text in section.values()):
        raise InputError(f"{path}: [{table}] holds a text for each of {', '.join(keys)} and nothing else")
    return section


def _check_places(path: Path, pair: str, reads: str) -> None:
    places = re.findall(r"\{(premise|hypothesis)\}", pair)
    if sorted(places) != sorted(_PLACES[reads]):
        wanted = " and ".join(f"{{{place}}}" for place in _PLACES[reads])
        raise InputError(f"{path}: the pair of [{reads}] has {wanted} once and nothing else in braces")


def _words_of(path: Path, labels: dict[str, str], space: LabelSpace) -> Words:
    """Return the words of a prompt in the order of the labels, and those of the other shipped prompts."""
    words = tuple(plain(labels[label]) for label in space.labels)
    if len(set(words)) < len(words) or not all(words):
        raise InputError(f"{path}: [words] must tell the labels apart, whatever their case and signs")
    others = {plain(label) for label in space.labels}
    for file in PROMPTS.glob(f"{space.name}-*.toml"):
        shipped = tomllib.loads(file.read_text(encoding="utf-8"))["words"]
        others |= {plain(word) for word in shipped.values()}
    return Words(words, frozenset(others) - set(words))

"""Pre-trained encoders: any Hugging Face checkpoint, scored as it is or fine-tuned on pairs.

``Pretrained.from_reference`` loads a fine-tuned classifier of somebody else's: its labels are brought into the order
of their label space, which is checked on pairs with a known answer (``label_order.py``). ``build`` puts a fresh head on
an encoder for the trainer, ``load`` reads what was trained. Checkpoints are found and read by ``checkpoint.py``, texts
become tokens in ``pair_tokenizer.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import atomic_folder
from goldlabel.models.checkpoint import Checkpoint, quiet
from goldlabel.models.cross_encoder import CrossEncoder, draw_labels, reorder_labels
from goldlabel.models.label_order import read_words, settle_order
from goldlabel.models.model import read_space, write_config
from goldlabel.models.options import OneOf, check_options, own_options
from goldlabel.models.pair_tokenizer import PairBatch, PairTokenizer, TokenRows
from goldlabel.models.torch_model import Choices, Outputs, Recipe, TorchModel
from goldlabel.pairs.labels import LabelSpace

ENCODER = "encoder"
"""The folder in a run folder that other libraries load."""


def _options(*, head: Annotated[str, OneOf(("cross",))] = "cross") -> None:
    """Declare what ``--set`` may say."""


class Pretrained(TorchModel):
    """A pre-trained encoder from Hugging Face, fine-tuned."""

    paper: ClassVar[str] = "Devlin et al. 2019"
    fitted_by_trainer: ClassVar[bool] = True
    any_language: ClassVar[bool] = True
    recipe: ClassVar[Recipe] = Recipe(
        optimiser="adamw",
        lr=2e-5,
        batch=32,
        epochs=3,
        patience=3,
        clip=1.0,
        l2=0.01,
        schedule="linear",
        warmup=0.1,
        length=128,
    )

    network: CrossEncoder

    def __init__(
        self,
        name: str,
        network: CrossEncoder,
        tokenizer: PairTokenizer,
        label_space: LabelSpace,
        seen: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(network, label_space, seen, options)
        self.name = name
        """What it was made from, such as ``hf:org/name``."""
        self.tokenizer = tokenizer

    @classmethod
    def from_reference(cls, reference: str) -> Self:
        """Load a fine-tuned classifier from ``NAME_OR_PATH``, behind which ``?trust`` and ``#label,…`` may stand."""
        checkpoint = Checkpoint.parse(reference)
        words = _label_words(checkpoint)
        encoder, fresh = checkpoint.read_classifier()
        if fresh:
            raise InputError(
                f"{checkpoint.name}: is not fine-tuned, its weights have no {', '.join(sorted(fresh)[:3])}; train it "
                f"first: goldlabel train {checkpoint.name} --on PATH -o RUN"
            )
        tokenizer = PairTokenizer(checkpoint.tokenizer, length=checkpoint.length)
        columns = LabelSpace("columns", tuple(f"{number:03}" for number in range(len(words))))
        raw = cls(checkpoint.name, CrossEncoder(encoder), tokenizer, columns, columns.labels, {})
        space, order = settle_order(checkpoint.name, words, raw.predict, order=checkpoint.order)
        reorder_labels(encoder, order, space.labels)
        return cls(checkpoint.name, raw.network, tokenizer, space, space.labels, {})

    @classmethod
    def own_options(cls) -> dict[str, Any]:
        """Return the names and defaults of what can be chosen."""
        return own_options(_options)

    @classmethod
    def check(cls, choices: Choices) -> None:
        """Refuse what no encoder understands, and a checkpoint that is not there."""
        check_options(choices.model, _options, choices.options)
        own = {"tokenizer": choices.tokenizer, "tagger": choices.tagger, "vectors": choices.vectors}
        for option, value in own.items():
            if value:
                raise InputError(f"{choices.model} brings its own words and vectors; leave --{option} out")
        checkpoint = Checkpoint.parse(choices.model)
        if choices.length is not None and choices.length > checkpoint.length:
            raise InputError(f"{choices.model} reads {checkpoint.length} tokens at most, not {choices.length}")
        _tokenizer(checkpoint, choices)

    @classmethod
    def sources(cls, choices: Choices) -> dict[str, Any]:
        """Return hashes of the checkpoint's files; what else pairs are encoded by stands beside them."""
        head = choices.options.get("head", cls.own_options()["head"])
        return {"weights": {"files": Checkpoint.parse(choices.model).digest(), "head": head}}

    @classmethod
    def prepare(cls, choices: Choices, texts: Sequence[pl.Series], start: Self | None) -> PairTokenizer:
        """Return the checkpoint's tokenizer, or that of ``start``."""
        return _tokenizer(Checkpoint.parse(choices.model), choices) if start is None else start.tokenizer

    @classmethod
    def read_preparation(cls, folder: Path) -> PairTokenizer:
        """Read a tokenizer that was written."""
        return _read_tokenizer(folder)

    @classmethod
    def read_rows(cls, path: Path) -> TokenRows:
        """Map tokenised pairs."""
        return TokenRows.read(path)

    @classmethod
    def build(
        cls,
        choices: Choices,
        preparation: PairTokenizer,
        space: LabelSpace,
        seen: Sequence[str],
        start: Self | None,
    ) -> Self:
        """Put a fresh head on the encoder; a checkpoint's own is kept where its words are the labels."""
        if start is not None:
            return cls(choices.model, start.network, preparation, space, seen, start.options)
        checkpoint = Checkpoint.parse(choices.model)
        named = read_words([word for _, word in sorted(checkpoint.config.id2label.items())])
        encoder, fresh = checkpoint.read_classifier(num_labels=len(space))
        if named is not None and named[0].labels == space.labels and not fresh:
            reorder_labels(encoder, named[1], space.labels)
        else:
            draw_labels(encoder, space.labels)
        return cls(choices.model, CrossEncoder(encoder), preparation, space, seen, choices.options)

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read what ``save`` wrote."""
        if not (folder / ENCODER).is_dir():
            raise InputError(f"{folder}: is not a complete run folder, {ENCODER} is missing")
        # Whoever wrote the run folder may trust the code in it; who loads it says so again.
        checkpoint = Checkpoint(str(folder / ENCODER))
        encoder, fresh = checkpoint.read_classifier()
        if fresh:
            raise InputError(f"{folder}: its weights do not fit its configuration; train again")
        tokenizer = _read_tokenizer(folder / ENCODER)
        return cls(
            config["model"], CrossEncoder(encoder), tokenizer, read_space(config), config["seen"], config["options"]
        )

    def encode(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenRows:
        """Turn texts into tokens."""
        return self.tokenizer.encode(premises, hypotheses)

    def forward(self, batch: PairBatch, *, sides: bool = False) -> Outputs:
        """Score a batch."""
        outputs: Outputs = self.network(batch, sides=sides)
        return outputs

    def parameter_groups(self, recipe: Recipe) -> list[dict[str, Any]]:
        """Return what is trained; biases and the weights of normalisation do not decay (Devlin et al. 2019)."""
        trained = [entry for entry in self.network.named_parameters() if entry[1].requires_grad]
        decaying = [parameter for name, parameter in trained if parameter.dim() > 1 and not name.endswith("bias")]
        taken = {id(parameter) for parameter in decaying}
        rest = [parameter for _, parameter in trained if id(parameter) not in taken]
        return [{"params": decaying, "weight_decay": recipe.l2}, {"params": rest, "weight_decay": 0.0}]

    def save_config(self, folder: Path, **more: Any) -> None:
        """Write what the encoder's own folder does not say."""
        write_config(
            folder,
            self.name,
            self.label_space,
            seen=list(self.seen),
            options=self.options,
            encoder={"reads": self.tokenizer.reads, "length": self.tokenizer.length},
            **more,
        )

    def save_weights(self, folder: Path) -> None:
        """Write an ordinary Hugging Face folder."""
        with atomic_folder(folder / ENCODER) as temporary, quiet():
            self.network.encoder.save_pretrained(temporary)
            self.tokenizer.write(temporary)


def _label_words(checkpoint: Checkpoint) -> list[str]:
    """Return what a classifier's configuration calls its labels, or say that it is no classifier of pairs."""
    config = checkpoint.config
    if config.num_labels == 1 or config.problem_type == "regression":
        raise InputError(f"{checkpoint.name}: has a regression head, which gives a number and no label")
    if config.problem_type == "multi_label_classification":
        raise InputError(f"{checkpoint.name}: gives several labels at once, and a pair has one")
    words = [word for _, word in sorted(config.id2label.items())]
    numbers = {str(word): int(number) for word, number in (config.label2id or {}).items()}
    if not checkpoint.order and any(numbers.get(word, number) != number for number, word in enumerate(words)):
        raise InputError(
            f"{checkpoint.name}: its configuration gives its labels two orders (id2label and label2id); pass the right "
            f"one, such as {checkpoint.name}#{','.join(words)}"
        )
    return words


def _tokenizer(checkpoint: Checkpoint, choices: Choices) -> PairTokenizer:
    length = choices.length or min(Pretrained.recipe.length, checkpoint.length)
    return PairTokenizer(checkpoint.tokenizer, length=length, reads=choices.reads)


def _read_tokenizer(folder: Path) -> PairTokenizer:
    from transformers import AutoTokenizer

    with quiet():
        return PairTokenizer.read(folder, AutoTokenizer.from_pretrained(folder))

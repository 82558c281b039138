"""Pre-trained encoders: any Hugging Face checkpoint, scored as it is or fine-tuned on pairs.

``Pretrained.from_reference`` loads a fine-tuned classifier of somebody else's: its labels are brought into the order
of their label space, which is checked on pairs with a known answer (``label_order.py``). ``build`` puts a fresh head on
an encoder for the trainer, ``load`` reads what was trained. Checkpoints are found and read by ``checkpoint.py``, texts
become tokens in ``pair_tokenizer.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from goldlabel.errors import InputError
from goldlabel.files import atomic_folder
from goldlabel.models.bi_encoder import BiEncoder
from goldlabel.models.checkpoint import Checkpoint, quiet
from goldlabel.models.cross_encoder import CrossEncoder, draw_labels, reorder_labels
from goldlabel.models.label_order import read_words, settle_order
from goldlabel.models.lora import add_lora, plain_weights
from goldlabel.models.model import SCORING_PRECISIONS, read_space, read_tensors, write_config, write_tensors
from goldlabel.models.options import Bounds, OneOf, Share, check_options, own_options
from goldlabel.models.pair_tokenizer import PairBatch, PairTokenizer, SentenceTensors, TokenRows, put_together
from goldlabel.models.scoring import rounded_copy, score_texts
from goldlabel.models.sentence_scoring import encode_batches, predict_by_sentences
from goldlabel.models.torch_model import ROUNDING_PAIRS, Choices, Outputs, Recipe, TorchModel
from goldlabel.pairs.labels import LabelSpace
from goldlabel.registry import import_extra

ENCODER = "encoder"
"""The folder in a run folder that other libraries load."""


def _options(
    *,
    head: Annotated[str, OneOf(("cross", "bi"))] = "cross",
    lora: Annotated[int, Bounds(least=0)] = 0,
    dropout: Share = 0.1,
) -> None:
    """Declare what ``--set`` may say; a checkpoint keeps its own dropout where nothing is said of it."""


class Pretrained(TorchModel):
    """A pre-trained encoder from Hugging Face, fine-tuned."""

    precisions: ClassVar[tuple[str, ...]] = SCORING_PRECISIONS
    kind: ClassVar[str] = "encoder"
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

    network: CrossEncoder | BiEncoder

    def __init__(
        self,
        name: str,
        network: CrossEncoder | BiEncoder,
        tokenizer: PairTokenizer,
        label_space: LabelSpace,
        seen: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(network, label_space, seen, options)
        self.name = name
        """What it was made from, such as ``hf:org/name``."""
        self.tokenizer = tokenizer
        self._rounded: Self | None = None
        """The same with weights in the precision of scores; made when something is scored."""
        self._checked = 0
        """Pairs on which that precision was tried."""

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
        checkpoint.check_weights()
        if choices.options.get("lora"):
            import_extra("peft", "hf")

    @classmethod
    def sources(cls, choices: Choices) -> dict[str, Any]:
        """Return hashes of the checkpoint's files; what else pairs are encoded by stands beside them."""
        return {"weights": {"files": Checkpoint.parse(choices.model).digest(), "joined": _is_joined(choices.options)}}

    @classmethod
    def prepare(cls, choices: Choices, texts: Sequence[pl.Series], start: Self | None) -> PairTokenizer:
        """Return the checkpoint's tokenizer, or that of ``start``."""
        return _tokenizer(Checkpoint.parse(choices.model), choices) if start is None else start.tokenizer

    @classmethod
    def encoded_by(cls, choices: Choices) -> list[Any]:
        """Return what its tokenizer is told."""
        return [choices.model, choices.reads, choices.length, choices.options.get("length")]

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
        if start is None:
            checkpoint = Checkpoint.parse(choices.model)
            network, options = _build_network(checkpoint, space, choices.options), dict(choices.options)
        else:
            network, options = start.network, start.options
        if options.get("lora"):
            add_lora(network.encoder, options["lora"])
        return cls(choices.model, network, preparation, space, seen, options)

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read what ``save`` wrote."""
        if not (folder / ENCODER).is_dir():
            raise InputError(f"{folder}: is not a complete run folder, {ENCODER} is missing")
        # Whoever wrote the run folder may trust the code in it; who loads it says so again.
        checkpoint = Checkpoint(str(folder / ENCODER))
        space, joined = read_space(config), _is_joined(config["options"])
        encoder, fresh = checkpoint.read_classifier() if joined else checkpoint.read_encoder()
        if fresh:
            raise InputError(f"{folder}: its weights do not fit its configuration; train again")
        network: CrossEncoder | BiEncoder = CrossEncoder(encoder) if joined else BiEncoder(encoder, len(space))
        if isinstance(network, BiEncoder):
            head = {name: torch.from_numpy(values) for name, values in read_tensors(folder).items()}
            network.classifier.load_state_dict(head)
        tokenizer = _read_tokenizer(folder / ENCODER)
        return cls(config["model"], network, tokenizer, space, config["seen"], config["options"])

    @property
    def length(self) -> int:
        """The tokens of a pair that are read, or of a sentence by a bi-encoder."""
        return self.tokenizer.length

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

    def move_to(self, device: str, precision: str = "fp32") -> None:
        """Bring the weights to ``cpu``, ``cuda`` or ``auto``, and let scores be computed in ``precision`` there."""
        super().move_to(device, precision)
        self._rounded, self._checked = None, 0

    def close(self) -> None:
        """Leave the GPU's memory to others."""
        super().close()
        self._rounded = None

    def _predict(self, premises: list[str], hypotheses: list[str]) -> NDArray[np.float64]:
        scorer = self._scorer()
        if isinstance(scorer.network, BiEncoder):
            encode = partial(scorer._encode_sentences, scorer.network)
            return predict_by_sentences(scorer, premises, hypotheses, encode, scorer.network.classify)
        with scorer.scoring():
            pairs = self.tokenizer.reader(premises, hypotheses)
            scores = score_texts(pairs, lambda batch: scorer.forward(batch).logits, self.device)
        return self.probabilities(scores)

    def _scorer(self) -> Self:
        """Return the model that scores: this one, or a copy with rounded weights, made anew after training."""
        if self.precision in ("fp32", "tf32"):
            return self
        if self._rounded is None or self.network.training:
            rounded = copy(self)
            rounded.network = rounded_copy(self.network, self.precision, len(self.label_space))
            rounded.precision = "fp32"
            self.network.eval()
            self._rounded = rounded
        return self._rounded

    def _check_rounding(self, premises: list[str], hypotheses: list[str]) -> None:
        """Look at the first pairs that are scored; those of later calls are of the same kind."""
        if self._checked < ROUNDING_PAIRS:
            super()._check_rounding(premises, hypotheses)
            self._checked += len(premises)

    def _encode_sentences(self, network: BiEncoder, texts: list[str], side: str) -> Tensor:
        sentences = self.tokenizer.encode_sentences(texts, side)
        tensors, layout = SentenceTensors(sentences, self.device), self.tokenizer.layout

        def encode(rows: Tensor, size: int) -> Tensor:
            return network.encode(put_together(layout, layout.single, [tensors.pick(rows)], size))

        return encode_batches(sentences.lengths + layout.single.added, self.device, encode)

    def save_weights(self, folder: Path) -> None:
        """Write an ordinary Hugging Face folder; what compares sentence vectors has no place there."""
        with atomic_folder(folder / ENCODER) as temporary, quiet():
            self.network.encoder.save_pretrained(temporary, state_dict=plain_weights(self.network.encoder))
            self.tokenizer.write(temporary)
        if isinstance(self.network, BiEncoder):
            head = self.network.classifier.state_dict()
            write_tensors(folder, {name: value.cpu().numpy() for name, value in head.items()})


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


def _build_network(checkpoint: Checkpoint, space: LabelSpace, options: Mapping[str, Any]) -> CrossEncoder | BiEncoder:
    """Read a checkpoint for training, with a head for the labels of a space."""
    named = read_words([word for _, word in sorted(checkpoint.config.id2label.items())])
    if "dropout" in options:
        for name, value in checkpoint.config.to_dict().items():
            if "dropout" in name and isinstance(value, float | int):
                setattr(checkpoint.config, name, options["dropout"])
    if not _is_joined(options):
        return BiEncoder(checkpoint.read_encoder()[0], len(space))
    encoder, fresh = checkpoint.read_classifier(num_labels=len(space))
    if named is not None and named[0].labels == space.labels and not fresh:
        reorder_labels(encoder, named[1], space.labels)
    else:
        draw_labels(encoder, space.labels)
    return CrossEncoder(encoder)


def _is_joined(options: Mapping[str, Any]) -> bool:
    """Whether the encoder reads both sentences at once."""
    return bool(options.get("head", "cross") == "cross")


def _tokenizer(checkpoint: Checkpoint, choices: Choices) -> PairTokenizer:
    length = choices.length or min(Pretrained.recipe.length, checkpoint.length)
    joined = _is_joined(choices.options)
    return PairTokenizer(checkpoint.tokenizer, length=length, reads=choices.reads, joined=joined)


def _read_tokenizer(folder: Path) -> PairTokenizer:
    from transformers import AutoTokenizer

    with quiet():
        return PairTokenizer.read(folder, AutoTokenizer.from_pretrained(folder))

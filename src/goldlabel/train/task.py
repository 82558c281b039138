"""The task of a run: a model, the pairs it learns from and stops on, and its options.

``gather_task`` brings it together from datasets, ``Task.check`` refuses what cannot be done before anything is written,
and ``Task.settings`` is what a run is a function of: its folder is known by it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.files import digest_file
from goldlabel.models.loading import HF, trained_on
from goldlabel.models.model import CONFIG, WEIGHTS, find_member, read_config, read_space
from goldlabel.models.options import check_options, own_options
from goldlabel.pairs import Pairs
from goldlabel.pairs.fingerprints import Fingerprints, fingerprint_pairs
from goldlabel.pairs.gold import GoldPairs, digest_texts, splits_of, take_gold
from goldlabel.pairs.labels import LabelSpace, score_mapping
from goldlabel.pairs.tokens import UNKNOWN
from goldlabel.registry import one_of, suggest
from goldlabel.seeds import check_seed
from goldlabel.train.debias import OF_BASELINES
from goldlabel.train.options import OPTION_NAMES, TrainOptions, model_options
from goldlabel.train.run import is_unfinished

if TYPE_CHECKING:
    from goldlabel.models.torch_model import Choices

_WHICH_TRAIN = "say with --split which one shall be trained on ('goldlabel train'), or give pairs without splits"
_WHICH_DEV = "give pairs with a dev split, or of one split alone"
_FOR_ALL = ("seed", "reads", "size", "stop_on", "device", "precision", "fixed", "options", "debias_options")
"""What every model understands, or what means nothing to a baseline."""


@dataclass(frozen=True)
class Texts:
    """Premises and hypotheses without labels."""

    frame: pl.DataFrame

    @cached_property
    def digest(self) -> str:
        """A hash of the texts, in order."""
        return digest_texts(self.frame)


@dataclass(frozen=True)
class Task:
    """What one run does."""

    model: str
    gold: GoldPairs
    """What is trained on; empty where the weights of another run are scored as they are."""
    dev: Sequence[GoldPairs]
    vocabulary: Sequence[Texts]
    """Further texts whose words the model shall know."""
    options: TrainOptions
    copies: NDArray[np.int64] | None = None
    """How often each of the gold pairs is trained on in an epoch; once where there is nothing."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of the gold pairs that are trained on: all, or the sample of the size that was asked for."""
        count, size = len(self.gold), self.options.size
        return np.arange(count) if size is None else nested_rows(count, self.options.seed)[:size]

    @property
    def epoch_rows(self) -> NDArray[np.int64]:
        """The rows of one epoch: those that are trained on, each as often as its dataset was asked for."""
        return self.rows if self.copies is None else np.repeat(self.rows, self.copies[self.rows])

    @property
    def fitted_by_trainer(self) -> bool:
        """Whether the trainer fits the model; the others fit themselves."""
        return bool(find_member(self.model).fitted_by_trainer)

    @cached_property
    def choices(self) -> Choices:
        """What of the options concerns a model that the trainer fits."""
        from goldlabel.models.torch_model import Choices

        taken = ("reads", "length", "tokenizer", "tagger", "vectors", "train_vectors", "options")
        chosen = {name: getattr(self.options, name) for name in taken}
        return Choices(model=self.model, languages=self.gold.languages, **chosen)

    @property
    def files(self) -> list[Path]:
        """What of the disk the run reads: vectors, weights to start from, bias models, an encoder."""
        encoder = self.model.removeprefix(HF) if self.model.startswith(HF) else None
        names = (self.options.vectors, self.options.start, *self.options.bias, encoder)
        return [Path(name) for name in names if name is not None and Path(name).exists()]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the run is a function of."""
        options = self.options
        settings: dict[str, Any] = {
            "model": self.model,
            "options": options.to_dict(),
            "on": {} if options.fixed else _named(self.gold, options.size),
            "dev": {name: entry for gold in self.dev for name, entry in _named(gold).items()},
            "vocabulary": [texts.digest for texts in self.vocabulary],
        }
        if self.copies is not None:
            settings["copies"] = hashlib.sha256(self.copies.tobytes()).hexdigest()
        if self.fitted_by_trainer and not options.fixed:
            settings |= find_member(self.model).sources(self.choices)
        elif options.vectors is not None:
            settings["vectors"] = {"sha256": digest_vectors(options.vectors)}
        if bias := {name: digest for name in options.bias if (digest := digest_model(name))}:
            settings["bias"] = bias
        if options.start is not None:
            settings["start"] = {"path": options.start, "sha256": digest_start(options.start)}
        return settings

    def fingerprints(self) -> Fingerprints:
        """Return those of the pairs that the model will have learnt from: its own, and those of what it starts from.

        What an encoder was pre-trained on, and what older versions trained on, nobody knows here.
        """
        own = [] if self.options.fixed else [fingerprint_pairs(self.gold.frame[self.rows])]
        encoder = self.model if self.model.startswith(HF) else None
        starts = [trained_on(start) for start in (self.options.start, encoder) if start is not None]
        before = [known for known in starts if known is not None]
        return np.concatenate([np.empty(0, dtype=np.uint64), *own, *before])

    def check(self) -> None:
        """Refuse options that do not fit the model or the data."""
        options, names = self.options, [gold.name for gold in self.dev]
        if options.stop_on != "mean" and options.stop_on not in names:
            raise InputError(f"stop-on {options.stop_on!r} is no dev set; {suggest(options.stop_on, ['mean', *names])}")
        if options.fixed:
            self._check_reads(read_start(options.start or "", self.model))
            return
        if options.size is not None and options.size > len(self.gold):
            raise InputError(f"{options.size:,} pairs were asked for and there are {len(self.gold):,}")
        known = model_options(self.model)
        for name in options.options:
            if name not in known:
                raise InputError(f"{self.model} has no option {name!r}; {suggest(name, [*known, *OPTION_NAMES])}")
        member = find_member(self.model)
        if self.fitted_by_trainer:
            self._check_trained(member)
        else:
            check_options(self.model, member.fit, options.options)
            self.baseline_arguments()
        if options.debias is not None:
            from goldlabel.train.debias.preparation import check_debias

            check_debias(self)

    def baseline_arguments(self) -> dict[str, Any]:
        """Return what a baseline's ``fit`` is called with; refuse what it does not understand."""
        member, options = find_member(self.model), self.options
        known = own_options(member.fit)
        if options.debias is not None and member.debiased:
            one_of(f"debias of {self.model}", options.debias, OF_BASELINES)
            options = replace(options, debias=None, debias_options={}, bias=())
        arguments = {
            field.name: getattr(options, field.name)
            for field in fields(TrainOptions)
            if field.name not in _FOR_ALL and getattr(options, field.name) != field.default
        }
        meaningless = [name for name in arguments if name not in known] + ["vocabulary"] * bool(self.vocabulary)
        if self.copies is not None:
            raise InputError(f"{self.model} is no network: it takes each pair once; leave out :Nx in --on")
        if meaningless:
            option = {"start": "from"}.get(meaningless[0], meaningless[0].replace("_", "-"))
            raise InputError(f"{self.model} is no network: --{option} means nothing to it")
        # A model with a premise-only form and no other reads the hypothesis alone anyway.
        always = options.reads == "hypothesis" and "hypothesis_only" not in known and "premise_only" in known
        if options.reads != "both" and not always:
            if f"{options.reads}_only" not in known:
                raise InputError(f"{self.model} has no {options.reads}-only form")
            arguments[f"{options.reads}_only"] = True
        return arguments | ({"seed": options.seed} if "seed" in known else {}) | dict(options.options)

    def _check_trained(self, member: Any) -> None:
        from goldlabel.models.precision import resolve_precision
        from goldlabel.models.torch_model import resolve_device
        from goldlabel.train.trainer import resolve_recipe

        options, recipe = self.options, resolve_recipe(member.recipe, self.options)
        member.check(self.choices)
        resolve_precision(options.precision, resolve_device(options.device))
        if self.dev and recipe.lr < recipe.floor:
            raise InputError(
                f"lr {recipe.lr:g} is below {recipe.floor:g}, where {self.model} stops training; pass a higher --lr"
            )
        if options.train_vectors is not None and options.vectors is None and options.start is None:
            choice = "train" if options.train_vectors else "freeze"
            raise InputError(
                f"--{choice}-vectors is about vectors that are given; pass --vectors FILE, or leave it out"
            )
        if options.start is not None:
            self._check_start(options.start)

    def _check_start(self, run: str) -> None:
        """Refuse to go on from a run of other labels or options."""
        config, options = read_start(run, self.model), self.options
        space = read_space(config)
        if space.labels != self.gold.space.labels:
            raise InputError(
                f"{self.gold.name} has the labels {', '.join(self.gold.space.labels)} and {run} was trained on "
                f"{', '.join(space.labels)}; train the first run with --label-space {self.gold.space.name}"
            )
        if options.options and dict(options.options) != config["options"]:
            raise InputError(f"{run}: was trained with other --set options; leave them out")
        self._check_reads(config)
        for name in ("tokenizer", "tagger", "length"):
            wanted, trained_with = getattr(options, name), config["encoder"].get(name)
            if wanted and wanted != trained_with:
                raise InputError(f"{run} was trained with {name} {trained_with!r}, not {wanted!r}; leave --{name} out")

    def _check_reads(self, config: dict[str, Any]) -> None:
        """Refuse to go on from, or to score, a run that reads something else than what is said."""
        partial = [side for side in ("hypothesis", "premise") if config.get(f"{side}_only")]
        reads = config["encoder"]["reads"] if "encoder" in config else partial[0] if partial else "both"
        if self.options.reads != reads:
            leave = "both sentences; leave --hypothesis-only and --premise-only out"
            needed = leave if reads == "both" else f"the {reads} alone; pass --{reads}-only"
            raise InputError(f"{self.options.start}: reads {needed}")


def gather_task(
    model: str,
    on: Sequence[Pairs],
    options: TrainOptions | None = None,
    *,
    sizes: Sequence[int | None] | None = None,
    copies: Sequence[int] | None = None,
    split: str | None = None,
    dev: Sequence[Pairs] = (),
    vocabulary: Sequence[Pairs] = (),
    label_space: LabelSpace | str | None = None,
) -> Task:
    """Bring the data together; without dev sets, the training sets' own dev splits are taken.

    ``copies`` says how often each set's pairs are trained on in an epoch, ``split`` is the one that is trained on, by
    default train. With ``options.fixed``, nothing is trained on.
    """
    member = find_member(model)
    options = options or TrainOptions()
    if label_space is not None:
        on, dev = ([part.map_labels(label_space) for part in parts] for parts in (on, dev))
    if options.fixed:
        if split is not None:
            raise InputError("nothing is trained with --fixed; leave out --split, and name what is scored with --dev")
        gold = GoldPairs("", read_space(read_start(options.start or "", model)), pl.DataFrame())
    else:
        gold, counts = training_pairs(on, sizes or [None] * len(on), seed=options.seed, split=split)
    dev = list(dev) or ([] if split == "dev" else [part for part in on if "dev" in splits_of(part)])
    if options.fixed and not dev:
        raise InputError(f"there is nothing to score {options.start} on; pass --dev PATH")
    texts = [Texts(part.frame.select("premise", "hypothesis").collect(engine="streaming")) for part in vocabulary]
    languages = None if options.fixed or member.any_language else gold.languages
    repeated = None
    if not options.fixed and copies is not None and max(copies) > 1:
        repeated = np.repeat(np.array(copies, dtype=np.int64), counts)
    return Task(model, gold, dev_pairs(dev, gold.space, languages), texts, options, repeated)


def training_pairs(
    parts: Sequence[Pairs], sizes: Sequence[int | None], *, seed: int, split: str | None = None
) -> tuple[GoldPairs, list[int]]:
    """Mix training sets, each whole or sampled to a size, and count the pairs of each; all share one label space.

    ``split`` is what is trained on of each, by default its train split. Where there are several sets, ids and groups
    begin with their set's name, as two sets may use the same ones.
    """
    if not parts:
        raise InputError("there is nothing to train on; pass --on PATH")
    sets = _numbered([take_gold(part, split, default="train", advice=_WHICH_TRAIN) for part in parts])
    first = sets[0]
    frames = []
    for gold, size in zip(sets, sizes, strict=True):
        if gold.space.labels != first.space.labels:
            raise InputError(
                f"{gold.name} has the labels {', '.join(gold.space.labels)} and {first.name} "
                f"{', '.join(first.space.labels)}; bring them into one with --label-space"
            )
        if size is not None and size > len(gold):
            raise InputError(f"{gold.name}: {size:,} pairs were asked for and it has {len(gold):,} with a gold label")
        frame = gold.frame if size is None else gold.frame[nested_rows(len(gold), seed)[:size]]
        named = [(pl.lit(f"{gold.name}/") + pl.col(column)).alias(column) for column in ("id", "group")]
        frames.append(frame.with_columns(named if len(sets) > 1 else []))
    mixed = GoldPairs(
        "+".join(gold.name for gold in sets), first.space, pl.concat(frames), sum(gold.without_gold for gold in sets)
    )
    if not len(mixed):
        raise InputError(
            f"{mixed.name}: has no pair with a gold label to train on; "
            "'goldlabel verify PATH -o OUT' makes some of votes or soft labels"
        )
    return mixed, [len(frame) for frame in frames]


def dev_pairs(parts: Sequence[Pairs], space: LabelSpace, languages: frozenset[str] | None) -> list[GoldPairs]:
    """Take the dev sets of a run; their labels must be reachable from the model's and their language known to it.

    Of pairs that are all of one split that one is taken: who names a set to stop on means what it holds.
    """
    taken: list[GoldPairs] = []
    for part in parts:
        splits = splits_of(part)
        gold = take_gold(part, splits.pop() if len(splits) == 1 else None, default="dev", advice=_WHICH_DEV)
        if any(gold.name == other.name for other in taken):
            raise InputError(f"two dev sets are called {gold.name!r}; rename one of the folders")
        if gold.name == "mean":
            raise InputError("a dev set is called 'mean', which means the mean over all of them; rename its folder")
        if not len(gold):
            raise InputError(f"{gold.name}: has no pair with a gold label to stop on")
        score_mapping(space, gold.space)
        others = gold.languages - (languages or set()) - {UNKNOWN}
        if languages is not None and UNKNOWN not in languages and others:
            raise InputError(
                f"dev set {gold.name} is in {', '.join(sorted(others))} and the training data in "
                f"{', '.join(sorted(languages))}; give a dev set of that language"
            )
        taken.append(gold)
    return taken


def nested_rows(count: int, seed: int) -> NDArray[np.int64]:
    """Return all rows in an order drawn by the seed; its beginnings are the nested samples."""
    return np.random.Generator(np.random.PCG64([check_seed(seed), count])).permutation(count)


def read_start(run: str, model: str) -> dict[str, Any]:
    """Return the configuration of a finished run of ``model``, whose weights training starts from."""
    config = read_config(Path(run))
    if config.get("model") != model:
        raise InputError(f"{run}: holds the model {config.get('model')}, not {model}; start from a run of the same one")
    if is_unfinished(Path(run)):
        raise InputError(f"{run}: is not finished; give its command once more first")
    return config


def digest_start(run: str) -> str:
    """Return a hash of a run's weights, or of its configuration where that is all there is to the model."""
    weights = sorted(Path(run).rglob(WEIGHTS))
    return digest_file(weights[0] if weights else Path(run) / CONFIG)


def digest_model(name: str) -> str | None:
    """Return a hash of a run or of a file of predictions; None for what is neither."""
    if Path(name).is_file():
        return digest_file(Path(name))
    return digest_start(name) if (Path(name) / CONFIG).exists() else None


def digest_vectors(file: str) -> str:
    """Return a hash of a file of vectors."""
    if not Path(file).is_file():
        raise InputError(f"{file}: there is no such file of vectors")
    return digest_file(Path(file))


def _named(gold: GoldPairs, size: int | None = None) -> dict[str, Any]:
    return {gold.name: {"pairs": size or len(gold), "sha256": gold.digest}}


def _numbered(sets: Sequence[GoldPairs]) -> list[GoldPairs]:
    """Give sets of the same name different ones: ``a``, ``a-2``."""
    seen: Counter[str] = Counter()
    named = []
    for gold in sets:
        seen[gold.name] += 1
        named.append(gold if seen[gold.name] == 1 else replace(gold, name=f"{gold.name}-{seen[gold.name]}"))
    return named

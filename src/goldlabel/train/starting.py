"""The run that training starts from, or whose weights are scored as they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldlabel.errors import InputError
from goldlabel.files import sha256
from goldlabel.models.model import CONFIG, WEIGHTS, load_model, read_config
from goldlabel.train.run_folder import ENVIRONMENT, RESULT

if TYPE_CHECKING:
    from goldlabel.models.network import NetworkModel
    from goldlabel.pairs.gold import GoldPairs
    from goldlabel.train.options import TrainOptions


def check_start(run: str, model: str) -> dict[str, Any]:
    """Return the configuration of a finished run of ``model``."""
    folder = Path(run)
    config = read_config(folder)
    if config.get("model") != model:
        raise InputError(f"{run}: holds the model {config.get('model')}, not {model}; start from a run of the same one")
    if (folder / ENVIRONMENT).exists() and not (folder / RESULT).exists():
        raise InputError(f"{run}: is not finished; give its command once more first")
    return config


def load_start(options: TrainOptions, model: str, gold: GoldPairs) -> NetworkModel | None:
    """Load the network that training starts from, and see that it fits."""
    if options.start is None:
        return None
    check_start(options.start, model)
    start: Any = load_model(options.start, "cpu")
    if start.label_space.labels != gold.space.labels:
        raise InputError(
            f"{gold.name} has the labels {', '.join(gold.space.labels)} and {options.start} was trained on "
            f"{', '.join(start.label_space.labels)}; train the first run with --label-space {gold.space.name}"
        )
    if options.options and dict(options.options) != start.options:
        raise InputError(f"{options.start}: was trained with other --set options; leave them out")
    if options.reads != (reads := start.encoder.options.reads):
        only = "both sentences; leave --hypothesis-only and --premise-only out"
        needed = only if reads == "both" else f"the {reads} alone; pass --{reads}-only"
        raise InputError(f"{options.start}: reads {needed}")
    network: NetworkModel = start
    return network


def trained_vectors(run: str) -> bool:
    """Whether a run trained its word vectors."""
    return bool(read_config(Path(run)).get("train_vectors", True))


def start_digest(run: str) -> str:
    """Return a hash of a run's weights, or of its configuration where that is all there is to the model."""
    weights = Path(run) / WEIGHTS
    return sha256(weights if weights.exists() else Path(run) / CONFIG)

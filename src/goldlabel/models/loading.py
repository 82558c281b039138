"""Loading a model by its name, whatever it is."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.files import digest_file, files_in
from goldlabel.models.function import REFERENCE, Function, import_function_module
from goldlabel.models.model import (
    CONFIG,
    DEVICES,
    MODELS,
    SCORING_PRECISIONS,
    WITH_REFERENCE,
    Model,
    find_member,
    read_config,
)
from goldlabel.models.predictions import SUFFIXES, Predictions
from goldlabel.pairs.fingerprints import TRAINED_ON, Fingerprints, read_fingerprints
from goldlabel.pairs.labels import LABEL_SPACES, LabelSpace, label_space
from goldlabel.registry import one_of, suggest

FORMS = {
    "a run folder": "what 'goldlabel train' left, such as runs/esim",
    "hf:NAME": "a Hugging Face model for pairs of sentences, from a folder or the hub, such as hf:org/name",
    "openai:URL#MODEL": "an OpenAI-compatible endpoint, such as openai:http://localhost:8000/v1#name",
    "module:function": "any function of premises and hypotheses, also in the current folder",
    "FILE": f"predictions ({', '.join(SUFFIXES)}), as 'goldlabel predict' writes them",
}
"""The forms of a model's name, and what each loads."""

HF, ENDPOINT = "hf:", "openai:"
ABOUT_TRAINING = ("environment.json", "metrics.jsonl", "result.json", TRAINED_ON)
"""Files of a run folder that tell how the model came to be, and not what it answers."""


def load_model(
    name: str | Path,
    device: str = "auto",
    precision: str = "fp32",
    *,
    default_space: LabelSpace | None = None,
    **options: Any,
) -> Model:
    """Load what scores pairs.

    ``name`` is a run folder, ``hf:NAME`` (a folder or a name on the hub), ``openai:URL#MODEL``, ``module:function``, or
    a file of predictions. What computes with PyTorch goes to ``cpu``, to ``cuda``, or with ``auto`` to a GPU if any,
    and computes its scores in ``precision``: ``fp32``, ``tf32``, ``bf16``, or with ``auto`` tf32 on a GPU and fp32
    elsewhere; a pre-trained encoder also in ``fp16`` on a GPU and in ``int8`` on a processor. bf16 is refused
    where it changes a probability by more than 0.001, fp16 by more than 0.005, int8 where it changes more than 2 % of
    the labels.
    ``options`` are the model's own; a function and a file of predictions have ``label_space``, where they do not tell
    their labels themselves; an endpoint has those of ``EndpointOptions``. ``default_space`` are the labels where nobody
    tells any.
    """
    one_of("device", device, DEVICES)
    one_of("precision", precision, SCORING_PRECISIONS)
    text, path = str(name), Path(name)
    if path.is_dir():
        _refuse_options(text, options)
        return _load_run(path, device, precision)
    if path.is_file():
        return Predictions.read(path, _space_option(text, options) or default_space)
    if text.startswith(HF):
        _refuse_options(text, options)
        model: Model = find_member(text).from_reference(text.removeprefix(HF))
        model.move_to(device, precision)
        return model
    if text.startswith(ENDPOINT):
        from goldlabel.models.endpoint import Endpoint

        return Endpoint.from_reference(text, **(_endpoint_labels(default_space) | options))
    if REFERENCE.fullmatch(text):
        given = options.pop("label_space", None)
        _refuse_options(text, options, "label_space")
        return Function.from_reference(text, given, default_space)
    raise _unknown(text)


def check_reference(name: str | Path) -> None:
    """Refuse a name that no model has the form of, before anything is done with it."""
    text, path = str(name), Path(name)
    if not (path.is_dir() or path.is_file() or text.startswith((HF, ENDPOINT)) or REFERENCE.fullmatch(text)):
        raise _unknown(text)


def describe_files(name: str | Path) -> dict[str, tuple[int, int]]:
    """Return the size and date of the files that a model's name stands for, as far as they lie here.

    They tell whether it still is the model that it was.
    """
    return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in _files_of(name)}


def digest_model(name: str | Path, options: Mapping[str, Any] | None = None) -> str:
    """Return a hash of what a model answers by: its files, wherever they lie, and the options that it is loaded with.

    What has no files here, an endpoint, or a name on the hub that was never loaded, is known by its name. On which
    device it computes is all the same, and so is what a run folder says of its training.
    """
    root, files = _place_of(name), _files_of(name)
    named = {str(file.relative_to(root)) if root.is_dir() else file.name: digest_file(file) for file in files}
    kept = {file: digest for file, digest in named.items() if Path(file).name not in ABOUT_TRAINING}
    chosen = {key: value for key, value in (options or {}).items() if key != "device"}
    suffix = "" if str(root) == str(name) else str(name).removeprefix(f"{HF}{root}")
    document = {"files": kept, "options": chosen, "name": suffix if root.exists() else str(name)}
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


def _place_of(name: str | Path) -> Path:
    """Return the path in a model's name; behind that of an encoder, labels and ``?trust`` may stand."""
    text = str(name)
    if Path(text).exists() or not text.startswith(HF):
        return Path(text)
    path = Path(text.removeprefix(HF))
    return path if path.exists() else Path(re.split(r"[?#]", str(path))[0])


def _files_of(name: str | Path) -> list[Path]:
    path = _place_of(name)
    if path.is_dir():
        return files_in(path)
    if path.is_file():
        return [path]
    if REFERENCE.fullmatch(str(name)) and not str(name).startswith((HF, ENDPOINT)):
        module = import_function_module(str(name).partition(":")[0], str(name))
        return [Path(module.__file__)] if module.__file__ else []
    return []


def trained_on(name: str | Path) -> Fingerprints | None:
    """Return the fingerprints of the pairs that a model has learnt from; None where nothing here tells them.

    They lie in a run folder; an encoder that is taken out of one (``hf:RUN/encoder``) is known by the folder above.
    """
    folder = Path(str(name).removeprefix(HF))
    if not folder.is_dir():
        return None
    fingerprints = read_fingerprints(folder / TRAINED_ON)
    return read_fingerprints(folder.parent / TRAINED_ON) if fingerprints is None else fingerprints


def _load_run(folder: Path, device: str, precision: str) -> Model:
    config = read_config(folder)
    try:
        model: Model = find_member(config["model"]).load(folder, config)
    except (ValueError, KeyError) as error:
        raise InputError(f"{folder / CONFIG}: is not a model's configuration ({error})") from error
    model.move_to(device, precision)
    return model


def _endpoint_labels(space: LabelSpace | None) -> dict[str, str]:
    if space is None:
        return {}
    return {"label_space": space.name if space.name in LABEL_SPACES else ",".join(space.labels)}


def _space_option(name: str, options: dict[str, Any]) -> LabelSpace | None:
    space = options.pop("label_space", None)
    _refuse_options(name, options, "label_space")
    return label_space(space) if isinstance(space, str) else space


def _refuse_options(name: str, options: dict[str, Any], *known: str) -> None:
    for option in options:
        raise InputError(f"{name} has no option {option!r}; {suggest(option, list(known)) if known else 'it has none'}")


def _unknown(name: str) -> InputError:
    if name in MODELS and name != WITH_REFERENCE:
        return InputError(
            f"{name!r} has to be trained first; run 'goldlabel train {name} --on PATH -o RUN', and give that folder"
        )
    if Path(name).suffix.lower() in SUFFIXES:
        return InputError(f"{name}: there is no such file of predictions")
    close = difflib.get_close_matches(name, list(MODELS), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return InputError(
        f"{name!r} is no model; {hint}give {', '.join(FORMS)} (a file of predictions); "
        "'goldlabel models' lists those that can be trained"
    )

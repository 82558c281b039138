"""Evaluation sets as tasks of lm-evaluation-harness: one YAML file each, and a group with the mean over sets.

A task is of the kind ``multiple_choice``: the label word that a model finds most likely behind the prompt is its answer
(Gao et al., "A framework for few-shot language model evaluation"). The harness's ``acc`` compares the sums of the
words' log-likelihoods, without regard to their lengths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from goldlabel.evaluate.export.questions import Questions, task_name

_READER = '''"""Reads the pairs that lie beside the tasks, wherever this folder is moved to."""

import json
from pathlib import Path

from datasets import Dataset


def read(splits, **_):
    """Return the splits of one task by their names."""
    return {split: Dataset.from_list(_rows(file)) for split, file in splits.items()}


def _rows(file):
    with (Path(__file__).parent / file).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
'''


class _Function(str):
    """The name of a function beside a YAML file, which the harness imports."""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such, and functions with the harness's tag."""


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", name))
_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def write_lm_eval(folder: Path, suite: str, asked: Sequence[Questions]) -> str:
    """Write tasks, group and data into a folder; return the command that runs them."""
    (folder / "data.py").write_text(_READER, encoding="utf-8")
    for questions in asked:
        splits = {"test": f"{questions.task}.jsonl"}
        questions.pairs.write_ndjson(folder / splits["test"])
        if questions.shots is not None:
            splits["dev"] = f"{questions.task}.dev.jsonl"
            questions.shots.write_ndjson(folder / splits["dev"])
        _write_yaml(folder / f"{questions.task}.yaml", _task(questions, splits))
    group = task_name(suite)
    _write_yaml(folder / f"{group}.yaml", _group(group, asked))
    beside = [questions.task for questions in asked if not questions.counts]
    return f"lm_eval run --include_path . --tasks {','.join([group, *beside])} --model hf --model_args pretrained=MODEL"


def _task(questions: Questions, splits: Mapping[str, str]) -> dict[str, Any]:
    prompt = questions.prompt
    shots = {"fewshot_split": "dev"} if "dev" in splits else {}
    return {
        "task": questions.task,
        "task_alias": questions.set,
        "custom_dataset": _Function("data.read"),
        "dataset_kwargs": {"splits": dict(splits)},
        "test_split": "test",
        **shots,
        "output_type": "multiple_choice",
        "description": f"{prompt.instructions}\n\n",
        "doc_to_text": re.sub(r"\{(premise|hypothesis)\}", r"{{\1}}", prompt.pair),
        "doc_to_choice": list(prompt.labels.values()),
        "doc_to_target": "answer",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": prompt.version, "prompt": prompt.name, "prompt_digest": prompt.digest},
    }


def _group(group: str, asked: Sequence[Questions]) -> dict[str, Any]:
    return {
        "group": group,
        "task": [questions.task for questions in asked if questions.counts],
        # Every set counts the same, however many pairs it has.
        "aggregate_metric_list": [{"metric": "acc", "aggregation": "mean", "weight_by_size": False}],
        "metadata": {"version": 1},
    }


def _write_yaml(path: Path, document: Mapping[str, Any]) -> None:
    text = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1000)
    path.write_text(text, encoding="utf-8")

"""Evaluation sets as tasks of Inspect: one Python file, and the questions beside it.

Inspect asks models that chat, so that a task takes what the model writes, not the likelihood of each label word: the
answer is right if it is the gold label's word, whatever its case and the signs around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from goldlabel.evaluate.export.questions import Questions

_HEAD = '''"""Tasks for Inspect; the questions lie beside this file, wherever the folder is moved to."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate


def _task(name):
    questions = json_dataset(str(Path(__file__).parent / f"{name}.jsonl"), name=name)
    return Task(dataset=questions, solver=generate(), scorer=match(location="exact"))
'''
_TASK = """

@task
def {name}():
    return _task("{name}")
"""


def write_inspect(folder: Path, suite: str, asked: Sequence[Questions]) -> str:
    """Write the tasks and their questions into a folder; return the command that runs them."""
    tasks = "".join(_TASK.format(name=questions.task) for questions in asked)
    (folder / "tasks.py").write_text(_HEAD + tasks, encoding="utf-8")
    for questions in asked:
        with (folder / f"{questions.task}.jsonl").open("wb") as stream:
            for identifier, premise, hypothesis, label, answer in questions.pairs.iter_rows():
                sample = {
                    "id": identifier,
                    "input": questions.prompt.chat(premise, hypothesis),
                    "target": answer,
                    "metadata": {"label": label},
                }
                stream.write(orjson.dumps(sample) + b"\n")
    return "inspect eval tasks.py --model MODEL"

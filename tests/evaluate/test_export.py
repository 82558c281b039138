"""Evaluation sets as tasks of other harnesses, which really load and score them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.evaluate.export import export_tasks
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import EvaluationSet, SuitePlan
from goldlabel.models.endpoint.prompt import Prompt, shipped_prompt
from goldlabel.pairs import Pairs
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NLI2, NLI3, ORDINAL5, SCITAIL, LabelSpace
from tests.evaluate.samples import make_pairs

NASTY = "Say {{ premise }}, {% if %} {hypothesis} or \N{BIRD}لا\n\nAnswer: neutral"
GOLD = ["entailment", "neutral", "contradiction", "neutral"] * 3


def make_set(name: str, labels: Sequence[str], space: LabelSpace = NLI3, **fields: Any) -> EvaluationSet:
    return evaluation_set(make_pairs(labels, name=name, space=space), **fields)


def chinese_set() -> EvaluationSet:
    pairs = make_pairs(GOLD, name="苍鹭 (zh)")
    texts = [f"第{number}只苍鹭在芦苇丛里睡觉。" for number in range(len(GOLD))]
    frame = pairs.collect().with_columns(premise=pl.Series(texts), hypothesis=pl.Series([text * 2 for text in texts]))
    return evaluation_set(Pairs(frame.lazy(), pairs.card))


def nasty_set() -> EvaluationSet:
    pairs = make_pairs(GOLD, name="nasty")
    return evaluation_set(Pairs(pairs.frame.with_columns(premise=pl.lit(NASTY)), pairs.card))


def plan_of(*sets: EvaluationSet) -> SuitePlan:
    return SuitePlan(sets=sets, systems=())


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level tokenizer whose tokens are the words of the prompts."""
    backend = ByteLevelBPETokenizer()
    prompts = [shipped_prompt(NLI3, language, "both") for language in ("en", "zh")]
    texts = [prompt.text("Herons stand in the reeds.", "Two herons sleep.") for prompt in prompts]
    backend.train_from_iterator(texts * 2, vocab_size=2000, min_frequency=2, special_tokens=["<end>"])
    return PreTrainedTokenizerFast(tokenizer_object=backend._tokenizer, eos_token="<end>", pad_token="<end>")


@pytest.fixture(scope="module")
def causal(tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    """A random model whose answers hang on what it reads."""
    torch.manual_seed(3)
    sizes = {"n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 1024}
    config = GPT2Config(vocab_size=len(tokenizer), initializer_range=1.0, bos_token_id=0, eos_token_id=0, **sizes)
    return GPT2LMHeadModel(config).eval()


@pytest.fixture
def harness_model(causal: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast) -> Any:
    """The same model as lm-evaluation-harness takes it."""
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=causal, tokenizer=tokenizer, backend="causal", batch_size=4)


def likelihood(causal: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, context: str, word: str) -> float:
    """The log-likelihood of a word behind a context, by one forward pass."""
    whole, behind = tokenizer(f"{context} {word}")["input_ids"], len(tokenizer(context)["input_ids"])
    with torch.inference_mode():
        scores = causal(torch.tensor([whole])).logits[0].log_softmax(-1)
    return sum(float(scores[place - 1, whole[place]]) for place in range(behind, len(whole)))


def our_likelihoods(
    causal: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, gold: GoldPairs, prompt: Prompt
) -> NDArray[np.float64]:
    """Of each pair's prompt and each label's word, the labels in the order of their space."""
    texts = [prompt.text(*row) for row in gold.frame.select("premise", "hypothesis").iter_rows()]
    words = [prompt.labels[label] for label in gold.space.labels]
    return np.array([[likelihood(causal, tokenizer, text, word) for word in words] for text in texts])


def run_lm_eval(folder: Path, tasks: list[str], model: Any, **options: Any) -> dict[str, Any]:
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(folder), include_defaults=False)
    results: Any = simple_evaluate(model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **options)
    return dict(results)


def test_lm_eval_scores_the_tasks_as_we_do(
    tmp_path: Path, harness_model: Any, causal: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast
) -> None:
    in_domain = make_set("Home", GOLD, counts=False)
    two = make_set("two-way", ["entailment", "not_entailment", "not_entailment"] * 2, NLI2)
    sets = [in_domain, chinese_set(), two, nasty_set()]
    export_tasks(plan_of(*sets), tmp_path / "written", "lm-eval", suite="lake")
    folder = (tmp_path / "written").rename(tmp_path / "moved")
    results = run_lm_eval(folder, ["goldlabel_lake", "goldlabel_lake_home"], harness_model)

    names = ["goldlabel_lake_home", "goldlabel_lake_zh", "goldlabel_lake_two_way", "goldlabel_lake_nasty"]
    accuracies, varied = {}, 0
    for name, part, language in zip(names, sets, ("en", "zh", "en", "en"), strict=True):
        gold, prompt = part.gold, shipped_prompt(part.gold.space, language, "both")
        ours = our_likelihoods(causal, tokenizer, gold, prompt)
        for row, sample in zip(ours, results["samples"][name], strict=True):
            assert sample["arguments"][0][0] == prompt.text(sample["doc"]["premise"], sample["doc"]["hypothesis"])
            theirs = dict(zip(prompt.labels, (score for score, _ in sample["filtered_resps"]), strict=True))
            assert dict(zip(gold.space.labels, row, strict=True)) == pytest.approx(theirs, rel=1e-4)
        probabilities = np.exp(ours) / np.exp(ours).sum(axis=1, keepdims=True)
        accuracies[name] = gold.score(probabilities, gold.space).value
        assert results["results"][name]["acc,none"] == pytest.approx(accuracies[name])
        varied += len(set(gold.answers(probabilities, gold.space))) > 1
    assert varied >= 2, "a model that answers all alike shows nothing"
    assert results["results"]["goldlabel_lake"]["acc,none"] == pytest.approx(
        np.mean([accuracies[name] for name in names[1:]])
    )


@pytest.mark.parametrize("space", [NLI3, NLI2, SCITAIL, ORDINAL5], ids=lambda space: space.name)
def test_every_label_space_loads_and_examples_come_from_the_validation_half(
    tmp_path: Path, harness_model: Any, space: LabelSpace
) -> None:
    dev = make_pairs([*space.labels, "-"], name="dev", space=space)
    dev = Pairs(dev.frame.with_columns(premise=pl.lit("Only the validation half has moles.")), dev.card)
    part = make_set("lake", space.labels * 2, space, dev=dev)
    exported = export_tasks(plan_of(part), tmp_path / "out", "lm-eval", suite="mine")
    assert exported.table.row(0) == (
        "goldlabel_mine_lake",
        "lake",
        2 * len(space),
        len(space),
        space.name,
        f"{space.name}-en",
        True,
    )
    results = run_lm_eval(tmp_path / "out", ["goldlabel_mine"], harness_model, num_fewshot=2)
    words = shipped_prompt(space, "en", "both").labels
    for sample in results["samples"]["goldlabel_mine_lake"]:
        assert sample["arguments"][0][0].count("Only the validation half has moles.") == 2
        assert [word for _, word in sample["arguments"]] == [f" {word}" for word in words.values()]
        assert sample["target"] == words[sample["doc"]["label"]]


# In a process of its own: Inspect leaves streams open, and warnings are errors here.
RUN_INSPECT = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

asked = []

def answer(messages, *_):
    asked.append([message.text for message in messages])
    word = "**Neutral**." if "Premise" in messages[1].text else "中立"
    output = ModelOutput.from_content("mockllm/model", word)
    output.usage = ModelUsage()  # or tokens are counted, by a vocabulary from the network
    return output

logs = eval("tasks.py", model=get_model("mockllm/model", custom_outputs=answer), display="none", log_dir=sys.argv[1])
accuracies = {log.eval.task: log.results.scores[0].metrics["accuracy"].value for log in logs}
print(json.dumps({"accuracies": accuracies, "asked": asked}))
"""


def test_inspect_scores_the_tasks_by_the_gold_words(tmp_path: Path) -> None:
    sets = [chinese_set(), nasty_set()]
    exported = export_tasks(plan_of(*sets), tmp_path / "written", "inspect", suite="lake")
    assert exported.command == "inspect eval tasks.py --model MODEL"
    folder = (tmp_path / "written").rename(tmp_path / "moved")
    command = [sys.executable, "-c", RUN_INSPECT, str(tmp_path / "logs")]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    results = json.loads(printed.splitlines()[-1])
    share = GOLD.count("neutral") / len(GOLD)
    assert results["accuracies"] == {"goldlabel_lake_zh": share, "goldlabel_lake_nasty": share}
    for questions, language in zip(exported.asked, ("zh", "en"), strict=True):
        prompt = shipped_prompt(NLI3, language, "both")
        for _, premise, hypothesis, *_ in questions.pairs.iter_rows():
            assert [message["content"] for message in prompt.chat(premise, hypothesis)] in results["asked"]


def test_a_folder_of_something_else_is_left_alone_and_an_export_is_replaced(tmp_path: Path) -> None:
    plan = plan_of(make_set("lake", GOLD))
    kept = tmp_path / "letters" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("dear heron")
    with pytest.raises(InputError, match="is not empty and no export of tasks"):
        export_tasks(plan, kept.parent, "lm-eval", suite="lake")
    assert [path.name for path in kept.parent.iterdir()] == ["kept.txt"]
    for kind in ("lm-eval", "inspect"):
        export_tasks(plan, tmp_path / "out", kind, suite="lake")
        assert json.loads((tmp_path / "out" / "export.json").read_text())["kind"] == kind
    assert not (tmp_path / "out" / "data.py").exists()


@pytest.mark.parametrize(
    ("kind", "sets", "message"),
    [
        ("lm_eval", [make_set("lake", GOLD)], "did you mean 'lm-eval'"),
        ("inspect", [], "has no evaluation set"),
        ("inspect", [make_set("a b", GOLD), make_set("a-B", GOLD)], "would be the task 'goldlabel_lake_a_b'"),
        (
            "lm-eval",
            [make_set("own", ["yes", "no"], LabelSpace("yes,no", ("yes", "no")))],
            "own: cannot be exported: no prompt is shipped for the labels no, yes, only for .*; leave the set out",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused_and_nothing_is_written(
    tmp_path: Path, kind: str, sets: list[EvaluationSet], message: str
) -> None:
    with pytest.raises(GoldlabelError, match=message):
        export_tasks(plan_of(*sets), tmp_path / "out", kind, suite="lake")
    assert not list(tmp_path.iterdir())

"""Hugging Face classifiers: scored with their own label order, fine-tuned, saved as ordinary folders, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from goldlabel.errors import InputError
from goldlabel.models import load_model
from goldlabel.models.bi_encoder import BiEncoder
from goldlabel.models.checkpoint import Checkpoint, quiet
from goldlabel.models.label_order import known_pairs
from goldlabel.models.pair_tokenizer import Inputs
from goldlabel.models.pretrained import Pretrained
from goldlabel.models.torch_model import Choices
from goldlabel.pairs.labels import NLI2, NLI3
from goldlabel.train import train
from tests.models.checkpoints import KINDS, make_classifier, make_tokenizer
from tests.train.samples import make_pairs, make_rows

ORDER = ("neutral", "entailment", "contradiction")
PREMISES = ["The owl sleeps in the old barn.", "owl", "那只苍鹭在睡觉。" * 9, "البومة نائمة.", "", "🦉"]
HYPOTHESES = ["A bird is outside. Nobody swims.", "没有鸟", "A bird", "الطائر نائم", "owl", "x" * 500]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def classifier(tmp_path: Path) -> Path:
    return make_classifier(tmp_path / "classifier", labels=ORDER)


def edit_config(folder: Path, **changes: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


def build(folder: Path, **options: Any) -> Pretrained:
    """A model as training begins with it."""
    choices = Choices(model=f"hf:{folder}", languages=frozenset({"en"}), options=options)
    return Pretrained.build(choices, Pretrained.prepare(choices, [], None), NLI3, NLI3.labels, None)


def test_scores_equal_the_librarys_in_our_order(kind: str, tmp_path: Path) -> None:
    folder = make_classifier(tmp_path, kind, ORDER)
    model = Pretrained.from_reference(str(folder))
    assert model.label_space == NLI3
    with quiet():
        network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer, expected = make_tokenizer(kind), []
    for premise, hypothesis in zip(PREMISES, HYPOTHESES, strict=True):
        pair = tokenizer(
            [[premise, hypothesis]], truncation=True, max_length=model.tokenizer.length, return_tensors="pt"
        )
        with torch.no_grad():
            shares = network(**pair).logits.softmax(dim=1)[0]
        expected.append([float(shares[ORDER.index(label)]) for label in NLI3.labels])
    scores = model.predict(PREMISES, HYPOTHESES)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert scores.std(axis=0).max() > 1e-2, "texts must make a difference"


@pytest.mark.parametrize("head", ["cross", "bi"])
def test_padding_changes_nothing(kind: str, head: str, tmp_path: Path) -> None:
    model = build(make_classifier(tmp_path, kind, ORDER), head=head)
    rows = model.encode(PREMISES, HYPOTHESES)
    tensors = rows.tensors(torch.device("cpu"))
    longest = tuple(int(lengths.max()) for lengths in rows.lengths)
    with model.scoring():
        whole = model.forward(tensors.batch(torch.arange(len(rows)), longest), sides=True)
        for row in range(len(rows)):
            sizes = tuple(int(lengths[row]) for lengths in rows.lengths)
            single = model.forward(tensors.batch(torch.tensor([row]), sizes), sides=True)
            for name in ("logits", "hidden", "premise", "hypothesis"):
                torch.testing.assert_close(getattr(single, name)[0], getattr(whole, name)[row], rtol=0, atol=1e-5)


def test_outputs_are_what_methods_ask_for(classifier: Path) -> None:
    model = Pretrained.from_reference(str(classifier))
    rows = model.encode(["The owl sleeps.", "The owl sleeps."], ["A bird", "Nobody swims."])
    batch = rows.tensors(torch.device("cpu")).batch(torch.arange(2), (int(rows.lengths[0].max()),))
    with model.scoring():
        outputs = model.forward(batch, sides=True)
        assert model.forward(batch).premise is None
        torch.testing.assert_close(model.network.encoder.classifier(outputs.hidden), outputs.logits)
    assert outputs.premise is not None
    assert outputs.hypothesis is not None
    torch.testing.assert_close(outputs.premise[0], outputs.premise[1])
    assert not torch.allclose(outputs.hypothesis[0], outputs.hypothesis[1])
    assert not torch.allclose(outputs.hidden[0], outputs.hidden[1])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"num_labels": 1, "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}, "has a regression head"),
        ({"problem_type": "regression"}, "has a regression head"),
        ({"problem_type": "multi_label_classification"}, "gives several labels at once"),
        (
            {"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, "label2id": None},
            "cannot be told by its answ",
        ),
        (
            {"id2label": {"0": "sad", "1": "glad", "2": "none"}, "label2id": None},
            "sad, glad, none are of no label space",
        ),
        ({"label2id": {"entailment": 0, "neutral": 1, "contradiction": 2}}, "gives its labels two orders"),
        ({"label_space": {}}, "is a run folder of Goldlabel; leave hf: out"),
        ({"model_type": "nosuch"}, "its configuration cannot be read"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_line(
    classifier: Path, changes: dict[str, Any], complaint: str
) -> None:
    edit_config(classifier, **changes)
    with pytest.raises(InputError, match=complaint) as refused:
        Pretrained.from_reference(str(classifier))
    assert "\n" not in str(refused.value)


def test_two_labels_without_names_are_refused_unless_the_user_names_them(tmp_path: Path) -> None:
    folder = make_classifier(tmp_path, labels=2)
    with pytest.raises(InputError, match="its 2 labels have no names"):
        Pretrained.from_reference(str(folder))
    model = Pretrained.from_reference(f"{folder}#not_entailment,entailment")
    assert model.label_space == NLI2
    other = Pretrained.from_reference(f"{folder}#entailment,not_entailment")
    np.testing.assert_allclose(
        model.predict(PREMISES, HYPOTHESES), other.predict(PREMISES, HYPOTHESES)[:, ::-1], atol=1e-6
    )


OWN_CODE = """
from transformers import BertConfig, BertForSequenceClassification

class OwnConfig(BertConfig):
    model_type = "own"

class Own(BertForSequenceClassification):
    config_class = OwnConfig
"""


def test_code_of_a_checkpoint_is_run_only_if_it_is_trusted(
    classifier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    expected = Pretrained.from_reference(str(classifier)).predict(PREMISES, HYPOTHESES)
    (classifier / "own.py").write_text(OWN_CODE)
    classes = {"AutoConfig": "own.OwnConfig", "AutoModelForSequenceClassification": "own.Own"}
    edit_config(classifier, auto_map=classes, model_type="own")
    with pytest.raises(InputError, match=r"needs Python code of its own.* then pass hf:.*/classifier\?trust"):
        Pretrained.from_reference(str(classifier))
    assert not (tmp_path / "modules").exists()
    model = Pretrained.from_reference(f"{classifier}?trust#{','.join(ORDER)}")
    assert type(model.network.encoder).__name__ == "Own"
    np.testing.assert_allclose(model.predict(PREMISES, HYPOTHESES), expected, atol=1e-6)


def test_missing_and_damaged_files_are_named(classifier: Path, tmp_path: Path) -> None:
    for path in (str(tmp_path / "nowhere"), "./nowhere", "no/where/at-all"):
        with pytest.raises(InputError, match=r"^hf:\S+: there is no such folder$"):
            Pretrained.from_reference(path)
    for name in ("hf", "hf:", "hf:?trust"):
        with pytest.raises(InputError, match="hf: names no checkpoint"):
            Checkpoint.parse(name)
    (classifier / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="its weights cannot be read"):
        Pretrained.from_reference(str(classifier))
    (classifier / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"has no weights; copy its \*\.safetensors or \*\.bin"):
        train(f"hf:{classifier}", make_pairs(make_rows(6)), tmp_path / "run", epochs=1)
    assert not (tmp_path / "run").exists()
    for file in classifier.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(InputError, match="has no tokenizer; copy"):
        Checkpoint(str(classifier)).tokenizer  # noqa: B018
    (classifier / "config.json").unlink()
    with pytest.raises(InputError, match=r"has no readable config\.json"):
        Pretrained.from_reference(str(classifier))


def test_an_encoder_without_a_head_is_not_scored(tmp_path: Path) -> None:
    folder = make_classifier(tmp_path, labels=ORDER)
    with quiet():
        transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    with pytest.raises(InputError, match=r"is not fine-tuned, its weights have no classifier\.bias.*goldlabel train"):
        Pretrained.from_reference(str(folder))


def test_a_tokenizer_of_another_model_is_refused(classifier: Path) -> None:
    tokenizer = make_tokenizer()
    tokenizer.add_tokens([f"word{number}" for number in range(500)])
    tokenizer.save_pretrained(classifier)
    with pytest.raises(InputError, match="they do not belong together"):
        Pretrained.from_reference(str(classifier))


def learnt(tmp_path: Path) -> Path:
    """A classifier that learnt the known English pairs by heart, as an ordinary folder."""
    rows = [
        {"id": str(number), "premise": p, "hypothesis": h, "label": label, "language": "en", "split": "train"}
        for number, (p, h, label) in enumerate(known_pairs()["en"])
    ]
    folder = make_classifier(tmp_path / "start", initializer_range=0.1)
    run = train(
        f"hf:{folder}", make_pairs(rows), tmp_path / "run", epochs=150, batch=15, lr=3e-3, length=64, device="cpu"
    )
    return run.run / "encoder"


def test_label_order_is_told_by_a_trained_classifier(tmp_path: Path) -> None:
    folder = learnt(tmp_path)
    premises, hypotheses, labels = zip(*known_pairs()["en"], strict=True)
    named = Pretrained.from_reference(str(folder))
    expected = [NLI3.index(label) for label in labels]
    assert named.predict(premises, hypotheses).argmax(axis=1).tolist() == expected
    with torch.no_grad(), quiet():  # another order, with no names
        network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
        network.classifier.weight.copy_(network.classifier.weight[[2, 0, 1]])
        network.classifier.bias.copy_(network.classifier.bias[[2, 0, 1]])
        network.save_pretrained(folder)
    with pytest.raises(InputError, match="as if they were neutral, contradiction, entailment"):
        Pretrained.from_reference(str(folder))
    edit_config(folder, id2label={str(number): f"LABEL_{number}" for number in range(3)}, label2id=None)
    told = Pretrained.from_reference(str(folder))
    np.testing.assert_allclose(told.predict(premises, hypotheses), named.predict(premises, hypotheses), atol=1e-6)


def test_trained_encoders_are_ordinary_folders(kind: str, tmp_path: Path) -> None:
    folder = make_classifier(tmp_path / "start", kind, 2)
    run = train(f"hf:{folder}", make_pairs(make_rows(12)), tmp_path / "run", epochs=1, batch=8, device="cpu").run
    with quiet():
        network = transformers.AutoModelForSequenceClassification.from_pretrained(run / "encoder")
    assert network.config.id2label == dict(enumerate(NLI3.labels))
    assert network.config.label2id == {label: number for number, label in enumerate(NLI3.labels)}
    scores = load_model(run).predict(PREMISES, HYPOTHESES)
    ordinary = Pretrained.from_reference(str(run / "encoder"))
    np.testing.assert_allclose(ordinary.predict(PREMISES, HYPOTHESES), scores, atol=1e-6)


def test_a_named_head_is_kept_and_others_are_fresh(tmp_path: Path) -> None:
    named, numbered = make_classifier(tmp_path / "named", labels=ORDER), make_classifier(tmp_path / "numbered")

    def head(folder: Path) -> torch.Tensor:
        return build(folder).network.encoder.classifier.weight

    with quiet():
        own = transformers.AutoModelForSequenceClassification.from_pretrained(named).classifier.weight
    torch.testing.assert_close(head(named), own[[ORDER.index(label) for label in NLI3.labels]])
    assert not torch.allclose(head(numbered), own)
    assert head(numbered).shape == own.shape


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"tokenizer": "words"}, "brings its own words and vectors; leave --tokenizer out"),
        ({"vectors": "v.txt"}, "brings its own words and vectors; leave --vectors out"),
        ({"length": 65}, "reads 64 tokens at most, not 65"),
        ({"length": 4}, "leaves no room for the sentences"),
        ({"head": "tri"}, "head 'tri' is not one of cross, bi"),
        ({"lora": -1}, "lora -1 is not a whole number from 0 on"),
        ({"dropout": 1.0}, "dropout 1.0 is not a number from 0 on and below 1"),
    ],
)
def test_choices_that_do_not_fit_are_refused_before_anything_is_written(
    classifier: Path, tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        train(f"hf:{classifier}", make_pairs(make_rows(12)), tmp_path / "run", device="cpu", **options)
    assert not (tmp_path / "run").exists()


def test_biases_and_norms_do_not_decay(classifier: Path) -> None:
    model = Pretrained.from_reference(str(classifier))
    names = {id(parameter): name for name, parameter in model.network.named_parameters()}
    decaying, others = model.parameter_groups(Pretrained.recipe)
    assert decaying["weight_decay"] == 0.01
    assert others["weight_decay"] == 0
    kept = [names[id(parameter)] for parameter in others["params"]]
    assert all(name.endswith("bias") or "LayerNorm" in name for name in kept)
    assert not any("LayerNorm" in names[id(parameter)] for parameter in decaying["params"])
    assert len(names) == len(kept) + len(decaying["params"])


def test_dev_sets_may_be_in_any_language(classifier: Path, tmp_path: Path) -> None:
    dev = make_pairs(make_rows(6, split="dev", language="zh"), name="chinese")
    run = train(
        f"hf:{classifier}", make_pairs(make_rows(12)), tmp_path / "run", dev=dev, epochs=1, batch=8, device="cpu"
    )
    assert set(run.dev) == {"chinese"}


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2", "modernbert", "xlnet"])
def test_lora_trains_little_and_leaves_plain_weights(kind: str, tmp_path: Path) -> None:
    """The saved folder scores as the model did before it was saved, and knows nothing of LoRA."""
    model = build(make_classifier(tmp_path / "start", kind), lora=2)
    trained = {name for name, parameter in model.network.named_parameters() if parameter.requires_grad}
    prefix = f"encoder.{model.network.encoder.base_model_prefix}."
    assert all(".lora_" in name or not name.startswith(prefix) for name in trained)
    assert any(not name.startswith(prefix) for name in trained), "the head is trained"
    plain = model.predict(PREMISES, HYPOTHESES)
    with torch.no_grad():  # B starts at 0, so that nothing is changed before training
        for name, parameter in model.network.named_parameters():
            if ".lora_" in name:
                parameter.normal_()
    scores = model.predict(PREMISES, HYPOTHESES)
    assert np.abs(scores - plain).max() > 0.01
    model.save(tmp_path / "run")
    with quiet():
        network = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "run" / "encoder")
    assert not any("lora" in name or "base_layer" in name for name in network.state_dict())
    np.testing.assert_allclose(load_model(tmp_path / "run").predict(PREMISES, HYPOTHESES), scores, atol=1e-5)


def test_training_goes_on_from_a_run(classifier: Path, tmp_path: Path) -> None:
    pairs, options = make_pairs(make_rows(12)), {"epochs": 1, "batch": 8, "device": "cpu"}
    first = train(f"hf:{classifier}", pairs, tmp_path / "first", lora=2, **options).run
    again = train(f"hf:{classifier}", pairs, tmp_path / "again", start=str(first), lr=0.1, **options).run
    scores = [load_model(run).predict(PREMISES, HYPOTHESES) for run in (first, again)]
    assert np.abs(scores[0] - scores[1]).max() > 1e-3


def test_a_bi_encoder_encodes_each_sentence_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_classifier(tmp_path / "start", "xlnet")
    pairs = make_pairs(make_rows(12))
    run = train(f"hf:{folder}", pairs, tmp_path / "run", epochs=1, batch=8, device="cpu", head="bi").run
    model = load_model(run)
    assert isinstance(model, Pretrained)
    assert isinstance(model.network, BiEncoder)
    premises, hypotheses = PREMISES[:2] * 6, [hypothesis for hypothesis in HYPOTHESES for _ in range(2)]
    rows = model.predict_rows(model.encode(premises, hypotheses))
    encoded: list[int] = []
    encode = BiEncoder.encode

    def spy(self: BiEncoder, inputs: Inputs) -> torch.Tensor:
        encoded.append(len(inputs.ids))
        return encode(self, inputs)

    monkeypatch.setattr(BiEncoder, "encode", spy)
    np.testing.assert_allclose(model.predict(premises, hypotheses), rows, atol=1e-6)
    assert sum(encoded) == 2 + 6


def test_dropout_is_the_checkpoints_own_unless_chosen(classifier: Path) -> None:
    for options, expected in (({}, 0.1), ({"dropout": 0.0}, 0.0), ({"dropout": 0.3}, 0.3)):
        layers = [
            layer for layer in build(classifier, **options).network.modules() if isinstance(layer, torch.nn.Dropout)
        ]
        assert {layer.p for layer in layers} == {expected}


def test_sentence_transformers_and_we_load_each_others_folders(classifier: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    run = train(f"hf:{classifier}", make_pairs(make_rows(12)), tmp_path / "run", epochs=1, batch=8, device="cpu").run
    pairs = [(p, h) for p, h in zip(PREMISES, HYPOTHESES, strict=True) if p]
    expected = load_model(run).predict(*zip(*pairs, strict=True))
    with quiet():
        ours = library.CrossEncoder(str(run / "encoder"), device="cpu")
        scores = ours.predict(pairs, apply_softmax=True, show_progress_bar=False)
        ours.save_pretrained(str(tmp_path / "theirs"))
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    theirs = load_model(f"hf:{tmp_path / 'theirs'}")
    np.testing.assert_allclose(theirs.predict(*zip(*pairs, strict=True)), expected, atol=1e-5)

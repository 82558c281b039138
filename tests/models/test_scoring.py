"""Fast scoring of pre-trained encoders gives what the plain way gives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from torch import nn  # noqa: E402

from goldlabel.errors import InputError  # noqa: E402
from goldlabel.models import scoring, torch_model  # noqa: E402
from goldlabel.models.checkpoint import quiet  # noqa: E402
from goldlabel.models.cross_encoder import CrossEncoder  # noqa: E402
from goldlabel.models.int8 import Int8Linear  # noqa: E402
from goldlabel.models.pair_tokenizer import PairTokenizer  # noqa: E402
from goldlabel.models.pretrained import Pretrained  # noqa: E402
from goldlabel.models.scoring import cut_by_lengths  # noqa: E402
from goldlabel.models.torch_model import check_rounding  # noqa: E402
from goldlabel.pairs.labels import NLI3  # noqa: E402
from tests.models.checkpoints import KINDS, make_classifier  # noqa: E402

SENTENCES = [
    "The owl sleeps in the old barn.",
    "Nobody swims.",
    "",
    "🦉",
    "那只苍鹭在睡觉。",
    "البومة نائمة",
    "owl " * 2_500,
]
PREMISES = [SENTENCES[number % 7] for number in range(60)]
HYPOTHESES = [SENTENCES[number * number % 11 % 7] + " A bird." * (number % 4) for number in range(60)]
NARROW = ("bert", "electra", "roberta", "xlm-roberta", "mpnet", "deberta-v2")
"""Whose head reads the first token alone, in a layer built like BERT's."""


def load(folder: Path, kind: str = "bert") -> Pretrained:
    """Load a random classifier without asking whether it knows entailment."""
    with quiet():
        encoder = transformers.AutoModelForSequenceClassification.from_pretrained(make_classifier(folder, kind))
        tokenizer = PairTokenizer(transformers.AutoTokenizer.from_pretrained(folder), length=64)
    return Pretrained("hf:tiny", CrossEncoder(encoder), tokenizer, NLI3, NLI3.labels, {})


def plain_scores(folder: Path) -> np.ndarray:
    """Score pair by pair, as the library's own documentation does."""
    with quiet():
        encoder = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    for premise, hypothesis in zip(PREMISES, HYPOTHESES, strict=True):
        inputs = tokenizer([(premise, hypothesis)], truncation=True, max_length=64, return_tensors="pt")
        with torch.no_grad():
            rows.append(encoder(**inputs).logits.double().softmax(dim=1).numpy()[0])
    return np.array(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_every_architecture_scores_as_the_library_does(kind: str, tmp_path: Path) -> None:
    model = load(tmp_path, kind)
    scores = model.predict(PREMISES, HYPOTHESES)
    assert np.abs(scores - plain_scores(tmp_path)).max() < 1e-5
    assert np.abs(model.predict(PREMISES[:1], HYPOTHESES[:1]) - scores[:1]).max() < 1e-5
    assert np.abs(model.predict_rows(model.encode(PREMISES, HYPOTHESES)) - scores).max() < 1e-5


@pytest.mark.parametrize("enough", [1, 60, 10**6])
def test_pairs_tokenised_in_parts_come_back_in_their_order(
    enough: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether all of a part are scored at once, or some or all wait for others of their length."""
    model = load(tmp_path)
    whole = model.predict(PREMISES, HYPOTHESES)
    monkeypatch.setattr(scoring, "PAIRS_AT_FIRST", 3)
    monkeypatch.setattr(scoring, "PAIRS_AT_ONCE", 7)
    monkeypatch.setitem(scoring.ENOUGH, "cpu", enough)
    monkeypatch.setitem(scoring.WAIT, "cpu", enough)
    padded: list[bool] = []

    def score(batch: Any) -> Any:
        padded.append(not batch.full)
        return model.forward(batch).logits

    with model.scoring():
        parts = scoring.score_in_parts(model.tokenizer.reader(PREMISES, HYPOTHESES), score, torch.device("cpu"))
    assert np.abs(model.probabilities(parts) - whole).max() < 1e-5
    assert any(padded) == (enough > 1)


def test_a_length_with_enough_tokens_does_not_wait() -> None:
    lengths = np.array([4, 7, 4, 9, 4])
    assert scoring.has_company([lengths], 12).tolist() == [True, False, True, False, True]
    assert scoring.has_company([lengths, np.array([3, 2, 3, 1, 2])], 10).tolist() == [True, False, True, True, False]


def test_parts_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "PAIRS_AT_FIRST", 2)
    monkeypatch.setattr(scoring, "PAIRS_AT_ONCE", 5)
    assert [part.tolist() for part in scoring.cut_parts(np.arange(13))] == [
        [0, 1],
        [2, 3, 4, 5],
        [6, 7, 8, 9, 10],
        [11, 12],
    ]
    assert [part.tolist() for part in scoring.cut_parts(np.arange(2))] == [[0, 1]]


def test_several_threads_may_score_at_once(tmp_path: Path) -> None:
    model = load(tmp_path)
    whole = model.predict(PREMISES, HYPOTHESES)
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda start: model.predict(PREMISES[start:], HYPOTHESES[start:]), range(16)))
    for start, part in enumerate(scores):
        assert np.abs(part - whole[start:]).max() < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_layer_computes_what_the_head_reads(kind: str, tmp_path: Path) -> None:
    """Counted where BERT's family has its widest layer; training and gradients see every token."""
    encoder = load(tmp_path, kind).network.encoder
    widest = [module for module in encoder.modules() if isinstance(module, nn.Linear) and module.in_features == 32]
    tokens: list[int] = []
    if widest:
        widest[-1].register_forward_pre_hook(lambda _, values: tokens.append(values[0].shape[-2]))
    ids = torch.ones(2, 9, dtype=torch.long)
    encoder.eval()
    with torch.inference_mode():
        encoder(input_ids=ids)
    encoder(input_ids=ids)
    encoder.train()
    with torch.inference_mode():
        encoder(input_ids=ids)
    if kind in NARROW:
        assert tokens == [1, 9, 9]
    else:
        assert 1 not in tokens


def test_a_head_that_reads_all_tokens_is_left_alone(tmp_path: Path) -> None:
    folder = make_classifier(tmp_path)
    with quiet():
        encoder = transformers.AutoModelForSequenceClassification.from_pretrained(folder)

    class Mean(nn.Module):
        def forward(self, states: Any) -> Any:
            return states.mean(dim=1)

    encoder.bert.pooler = Mean()
    ids = torch.arange(9)[None] + 5
    encoder.eval()
    with torch.inference_mode():
        before = encoder(input_ids=ids).logits
        scoring.first_token_only(encoder)
        assert torch.equal(encoder(input_ids=ids).logits, before)


def test_batches_of_common_lengths_need_no_mask() -> None:
    lengths = np.repeat([4, 5, 6, 7, 8], [1, 20, 2, 3, 30])
    cuts = cut_by_lengths([lengths], tokens=120, enough=100)
    batches = np.split(lengths, cuts)
    assert [(batch.min(), batch.max(), len(batch)) for batch in batches] == [
        (4, 4, 1),
        (5, 5, 20),
        (6, 7, 5),
        (8, 8, 15),
        (8, 8, 15),
    ]
    assert cut_by_lengths([np.array([9])], tokens=4, enough=4) == []


def test_int8_scores_are_near_and_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    model = load(tmp_path)
    with torch.no_grad():
        model.network.encoder.classifier.weight.mul_(0.02)
    exact = model.predict(PREMISES, HYPOTHESES)
    model.move_to("cpu", "int8")
    model._checked = torch_model.ROUNDING_PAIRS  # that the check refuses too much is tested below
    scores = model.predict(PREMISES, HYPOTHESES)
    assert 0 < np.abs(scores - exact).max() < 0.02
    alone = [
        model.predict([premise], [hypothesis])[0] for premise, hypothesis in zip(PREMISES, HYPOTHESES, strict=True)
    ]
    assert np.abs(np.array(alone) - scores).max() < 1e-4
    scorer = model._rounded
    assert scorer is not None
    kinds = {type(module) for module in scorer.network.modules()}
    assert Int8Linear in kinds
    assert isinstance(scorer.network.encoder.classifier, nn.Linear)
    assert isinstance(model.network.encoder.bert.pooler.dense, nn.Linear)


def test_rounded_weights_follow_training(tmp_path: Path) -> None:
    model = load(tmp_path)
    model.move_to("cpu", "int8")
    model._checked = torch_model.ROUNDING_PAIRS
    before = model.predict(PREMISES, HYPOTHESES)
    model.network.train()
    with torch.no_grad():
        model.network.encoder.classifier.bias.add_(torch.tensor([3.0, 0.0, 0.0]))
    after = model.predict(PREMISES, HYPOTHESES)
    assert (after[:, 0] > before[:, 0]).all()
    model.move_to("cpu")
    assert np.abs(model.predict(PREMISES, HYPOTHESES) - after).max() > 0


def test_int8_layer_of_known_numbers() -> None:
    linear = nn.Linear(2, 2)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[127.0, -64.0], [0.5, 0.25]]))
        linear.bias.copy_(torch.tensor([1.0, -1.0]))
    values = torch.tensor([[[127.0, 1.0], [0.0, 0.0]]])
    exact = linear(values)
    assert torch.allclose(Int8Linear(linear)(values), exact, rtol=0.01)
    assert torch.equal(Int8Linear(linear)(values)[0, 1], torch.tensor([1.0, -1.0]))


def test_what_changes_too_much_is_refused() -> None:
    exact = np.tile([0.5, 0.3, 0.2], (100, 1))
    moved, nothing = exact + np.array([0.002, -0.002, 0]), np.full_like(exact, np.nan)
    flipped = exact.copy()
    flipped[:5] = [0.3, 0.5, 0.2]
    for few in (moved, flipped[2:]):
        check_rounding("int8", few, exact[: len(few)])
    check_rounding("int8", flipped[:1], exact[:1])
    flipped[:9] = flipped[0]
    with pytest.raises(
        InputError, match=r"int8 changes the label of 9 of 100 pairs and 2% is allowed; score in precision fp32"
    ):
        check_rounding("int8", flipped, exact)
    check_rounding("fp16", moved, exact)
    with pytest.raises(InputError, match=r"bf16 changes a probability by 0\.0020 and 0\.001 is allowed"):
        check_rounding("bf16", moved, exact)
    for scores in (moved + moved - exact + moved - exact, nothing):
        with pytest.raises(InputError, match=r"fp16 changes a probability by (0\.0060|nan) and 0\.005 is allowed"):
            check_rounding("fp16", scores, exact)


def test_int8_is_tried_on_what_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(tmp_path)
    model.move_to("cpu", "int8")
    monkeypatch.setattr(torch_model, "SURE", 2.0)
    with pytest.raises(InputError, match=r"int8 changes the label of \d+ of 60 pairs"):
        model.predict(PREMISES, HYPOTHESES)


def test_precisions_are_for_their_devices(tmp_path: Path) -> None:
    model = load(tmp_path)
    with pytest.raises(InputError, match=r"fp16 is for CUDA devices; pass --precision int8 or fp32"):
        model.move_to("cpu", "fp16")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: fast scoring on a GPU is not seen")
@pytest.mark.parametrize("precision", ["fp32", "tf32", "fp16", "bf16"])
def test_a_gpu_scores_as_the_processor_does(precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(tmp_path)
    with torch.no_grad():
        model.network.encoder.classifier.weight.mul_(0.02)
    exact = model.predict(PREMISES, HYPOTHESES)
    model.move_to("cuda", precision)
    model._checked = torch_model.ROUNDING_PAIRS
    monkeypatch.setattr(scoring, "PAIRS_AT_FIRST", 8)
    monkeypatch.setattr(scoring, "PAIRS_AT_ONCE", 16)
    assert np.abs(model.predict(PREMISES, HYPOTHESES) - exact).max() < {"fp32": 1e-5, "bf16": 1e-2}.get(precision, 2e-3)
    with pytest.raises(InputError, match=r"int8 is for scoring on a processor"):
        model.move_to("cuda", "int8")

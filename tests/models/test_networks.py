"""One suite for every network: padding, batches, partial input, saving, gradients, parameters, precision."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from goldlabel.errors import GoldlabelError, InputError  # noqa: E402
from goldlabel.models import MODELS, Model, load_model, sentence_scoring, torch_model  # noqa: E402
from goldlabel.models.encoding import build_encoder  # noqa: E402
from goldlabel.models.layers import Sentences  # noqa: E402
from goldlabel.models.model import read_tensors, write_tensors  # noqa: E402
from goldlabel.models.network import (  # noqa: E402
    Network,
    NetworkModel,
    PairTensors,
    SentenceNetwork,
    build_network,
)
from goldlabel.models.precision import computes_bf16  # noqa: E402
from goldlabel.models.torch_model import Choices  # noqa: E402
from goldlabel.models.vectors import Vectors  # noqa: E402
from goldlabel.pairs.labels import NLI2, NLI3, LabelSpace  # noqa: E402

COUNTS = {
    "bilstm": 3_610_803,
    "bilstm-siamese": 2_166_003,
    "bimpm": 682_403,  # published: 1.6M
    "cbow": 541_803,
    "decomposable-attention": 381_803,
    "decomposable-attention-300": 812_703,
    "decomposable-attention-intra": 582_225,
    "diin": 4_366_862,  # published: 4.36M
    "disan": 2_345_403,
    "esim": 4_331_103,
    "esim-nyu": 16_580_403,
    "hbmp": 21_991_803,
    "infersent": 47_155_715,  # SNLI's page: 40M
    "lstm": 232_103,  # published: 220k
}
"""Parameters at the published sizes, 300-dimensional vectors and 3 labels, embeddings of words and characters apart."""
SMALL: dict[str, dict[str, Any]] = {
    "bilstm": {"hidden": 6},
    "bilstm-siamese": {"hidden": 6},
    "bimpm": {"character": 4, "spelling": 5, "hidden": 6, "perspectives": 3},
    "cbow": {"hidden": 8},
    "decomposable-attention": {"hidden": 8},
    "decomposable-attention-300": {"hidden": 8},
    "decomposable-attention-intra": {"hidden": 8},
    "diin": {"character": 4, "filters": 5, "length": 16, "growth": 3, "layers": 2},
    "disan": {"hidden": 8},
    "esim": {"hidden": 6},
    "esim-nyu": {"hidden": 6},
    "hbmp": {"hidden": 6},
    "infersent": {"hidden": 6, "layer": 8},
    "lstm": {"hidden": 8},
}
NETWORKS = sorted(name for name in MODELS if issubclass(MODELS.get(name), Network))
PREMISES = [
    "Owls",
    "The old owl didn't sleep in the barn last night.",
    "那只苍鹭站在水里。",
    "Two ferries left the harbour at noon, and a third one waited for the tide until the evening came.",
    "It rains.",
    "A heron stands in the reeds.",
]
HYPOTHESES = [
    "A bird sleeps in the barn.",
    "Owls sleep.",
    "没有鸟。",
    "Three ferries left the harbour before noon.",
    "The harbour is wet and the reeds bend in the wind, which nobody in the old barn had seen coming.",
    "Heron",
]
WORDS = ("the", "owl", "harbour", "barn", "rains", "heron", "ferries", "sleep", "A", "in", ".")
needs_bf16 = pytest.mark.skipif(not computes_bf16("cpu"), reason="this processor does not compute in bf16")
LONGER = "the tide came in and " * 30


@pytest.fixture(params=NETWORKS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def build(
    name: str, *, space: LabelSpace = NLI3, reads: str = "both", train_vectors: bool | None = None, seed: int = 0
) -> NetworkModel:
    """A small network with weights large enough that its scores differ from pair to pair."""
    kind = MODELS.get(name)
    choices = Choices(model=name, languages=frozenset(), reads=reads, options=SMALL[name])
    options = replace(kind.encoder_options(choices), drop_unknown=kind.recipe.drop_unknown)
    encoder = build_encoder([pl.Series(PREMISES), pl.Series(HYPOTHESES)], options, buckets=kind.recipe.buckets)
    torch.manual_seed(seed)
    vectors = Vectors(list(WORDS), np.random.RandomState(seed).standard_normal((len(WORDS), 8)).astype(np.float32))
    small = SMALL.get(name, {})
    made = build_network(kind, encoder, len(space), options=small, vectors=vectors, train_vectors=train_vectors)
    for parameter_name, parameter in made.named_parameters():
        if not parameter_name.startswith("words."):
            spread = (2 / parameter[0].numel()) ** 0.5 if parameter.dim() > 1 else 0.2
            nn.init.normal_(parameter, std=spread)
    return NetworkModel(made.eval(), encoder, space, space.labels, small)


@cache
def built(name: str) -> NetworkModel:
    return build(name)


def batch(model: NetworkModel, rows: list[int] | None = None) -> tuple[Sentences, Sentences]:
    """The pairs in ``rows``, padded to the longest of them."""
    pairs = model.encoder.encode(PREMISES, HYPOTHESES)
    index = torch.tensor(range(len(PREMISES)) if rows is None else rows)
    sizes = [int(side.lengths[index.numpy()].max()) for side in (pairs.premise, pairs.hypothesis)]
    return PairTensors(pairs, torch.device("cpu")).batch(index, (sizes[0], sizes[1]))


@torch.no_grad()
def scores(model: NetworkModel, sides: tuple[Sentences, Sentences]) -> Tensor:
    result: Tensor = model.network.eval()(*sides).logits
    return result


def widened(sentences: Sentences, more: int) -> Sentences:
    """The same batch with ``more`` columns of padding."""
    fields = {
        field: functional.pad(values, (0, more) if values.dim() == 2 else (0, 0, 0, more))
        for field in ("words", "mask", "characters", "match", "tags")
        if (values := getattr(sentences, field)) is not None
    }
    return replace(sentences, **fields)


def assert_same(first: Tensor, second: Tensor) -> None:
    torch.testing.assert_close(first, second, atol=1e-5, rtol=0)


def test_every_network_has_its_count_here() -> None:
    assert set(NETWORKS) == set(COUNTS)


def test_probabilities_differ_from_pair_to_pair(name: str) -> None:
    model = built(name)
    assert isinstance(model, Model)
    shares = model.predict(PREMISES, HYPOTHESES)
    assert shares.shape == (len(PREMISES), 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert (shares > 0).all()
    # Else the tests below would pass for a network that sees nothing.
    assert np.ptp(shares, axis=0).max() > 1e-3


def test_labels_that_were_not_seen_get_no_probability(name: str) -> None:
    whole = built(name)
    model = NetworkModel(whole.network, whole.encoder, NLI3, ["entailment", "neutral"], whole.options)
    shares = model.predict(PREMISES, HYPOTHESES)
    assert shares[:, NLI3.index("contradiction")].max() == 0
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)


def test_columns_of_padding_change_nothing(name: str) -> None:
    model = built(name)
    premise, hypothesis = batch(model)
    plain = scores(model, (premise, hypothesis))
    for more in ((1, 0), (0, 3), (40, 7)):
        assert_same(scores(model, (widened(premise, more[0]), widened(hypothesis, more[1]))), plain)


def test_longer_companions_change_nothing(name: str) -> None:
    model = built(name)
    alone = [scores(model, batch(model, [row]))[0] for row in range(len(PREMISES))]
    by_length = sorted(range(len(PREMISES)), key=lambda row: len(PREMISES[row]) + len(HYPOTHESES[row]))
    for size in range(2, len(by_length) + 1):
        together = scores(model, batch(model, by_length[:size]))
        for place, row in enumerate(by_length[:size]):
            assert_same(together[place], alone[row])


def test_predictions_do_not_depend_on_the_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = built(name)
    premises, hypotheses = [*PREMISES, LONGER, *PREMISES], [*HYPOTHESES, "Owls", *HYPOTHESES]
    whole = model.predict(premises, hypotheses)
    single = np.concatenate([model.predict([p], [h]) for p, h in zip(premises, hypotheses, strict=True)])
    np.testing.assert_allclose(whole, single, atol=1e-5)
    for module in (sentence_scoring, torch_model):
        monkeypatch.setattr(module, "SCORING_TOKENS", {"cpu": 64})
    np.testing.assert_allclose(model.predict(premises, hypotheses), whole, atol=1e-5)


class LargestTensor(TorchDispatchMode):
    """The numbers in the largest tensor that is computed."""

    largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **kwargs or {})
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, Tensor) and value.is_floating_point():
                self.largest = max(self.largest, value.numel())
        return result


@pytest.mark.parametrize("name", [name for name in NETWORKS if issubclass(MODELS.get(name), SentenceNetwork)])
def test_memory_for_sentence_vectors_does_not_grow_with_the_pairs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pairs are compared in parts, and a premise is still encoded once for all of its pairs."""
    model = build(name)
    several = {"cpu": 12}
    monkeypatch.setattr(sentence_scoring, "SCORING_TOKENS", {"cpu": 64})
    monkeypatch.setattr(sentence_scoring, "PAIRS_AT_ONCE", several)
    encoded: list[int] = []
    encode = type(model.network).encode

    def spy(self: Any, sentences: Sentences) -> Tensor:
        encoded.append(len(sentences.words))
        return encode(self, sentences)

    monkeypatch.setattr(type(model.network), "encode", spy)
    largest = {}
    for count in (24, 120):
        premises = [f"{PREMISES[1]} {row % (count // 3)}" for row in range(count)]
        hypotheses = [f"{HYPOTHESES[3]} {row}" for row in range(count)]
        encoded.clear()
        with LargestTensor() as seen:
            shares = model.predict(premises, hypotheses)
        largest[count] = seen.largest
        assert sum(encoded) == count // 3 + count
    assert largest[120] == largest[24]
    several["cpu"] = 120
    np.testing.assert_allclose(model.predict(premises, hypotheses), shares, atol=1e-6)


@pytest.mark.parametrize("name", ["cbow", "esim"], indirect=True)
@pytest.mark.parametrize("holds", [1, 2])
def test_batches_too_large_for_the_device_are_halved(name: str, holds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is out of memory is simulated: the CPU of a test machine never is."""
    model = build(name)
    whole = model.predict(PREMISES, HYPOTHESES)
    limit_memory(model, holds, monkeypatch)
    np.testing.assert_allclose(model.predict(PREMISES, HYPOTHESES), whole, atol=1e-6)
    limit_memory(model, 0, monkeypatch)
    with pytest.raises(GoldlabelError, match="not even one pair fits onto the device"):
        model.predict(PREMISES, HYPOTHESES)


def limit_memory(model: NetworkModel, holds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let word vectors be looked up for so many sentences at a time."""

    def check(_: nn.Module, given: tuple[Tensor, ...]) -> None:
        if len(given[0]) > holds:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(model.network.words, "_forward_pre_hooks", {0: check})


def test_both_sides_at_once_is_the_same(name: str) -> None:
    """What runs on a GPU: the sides are joined into one batch."""
    model = built(name)
    premise, hypothesis = batch(model)
    plain = scores(model, (premise, hypothesis))
    joined = tuple(replace(side, words=side.words.as_subclass(OnGPU)) for side in (premise, hypothesis))
    assert_same(scores(model, (joined[0], joined[1])), plain)
    if isinstance(model.network, SentenceNetwork):
        with torch.no_grad():
            vectors = model.network.encode(premise.join(hypothesis))
            assert_same(vectors[: len(PREMISES)], model.network.encode(premise))
            assert_same(vectors[len(PREMISES) :], model.network.encode(hypothesis))


class OnGPU(torch.Tensor):  # type: ignore[misc]
    """A tensor that says of itself that it is on a GPU."""

    is_cuda = True
    __torch_function__ = torch._C._disabled_torch_function_impl


def test_each_side_has_a_vector_that_the_other_does_not_touch(name: str) -> None:
    model = built(name)
    others = [*HYPOTHESES[1:], HYPOTHESES[0]]

    @torch.no_grad()
    def sides(premises: list[str], hypotheses: list[str]) -> tuple[Tensor, Tensor]:
        rows = model.encode(premises, hypotheses)
        tensors, index = rows.tensors(torch.device("cpu")), torch.arange(len(rows))
        outputs = model.forward(tensors.batch(index, tuple(int(side.max()) for side in rows.lengths)), sides=True)
        assert outputs.premise is not None
        assert outputs.hypothesis is not None
        assert outputs.premise.shape == outputs.hypothesis.shape
        return outputs.premise, outputs.hypothesis

    premise, hypothesis = sides(PREMISES, HYPOTHESES)
    assert torch.isfinite(premise).all()
    assert_same(sides(PREMISES, others)[0], premise)
    assert_same(sides(others, HYPOTHESES)[1], hypothesis)
    assert ((sides(others, HYPOTHESES)[0] - premise).abs().amax(dim=1) > 1e-4).all()
    assert ((sides(PREMISES, others)[1] - hypothesis).abs().amax(dim=1) > 1e-4).all()


def test_the_last_layer_reads_the_hidden_vector(name: str) -> None:
    model = built(name)
    read: list[tuple[Tensor, Tensor]] = []
    hooks = [
        layer.register_forward_hook(lambda _, values, result: read.append((values[0], result)))
        for layer in model.network.modules()
        if isinstance(layer, nn.Linear)
    ]
    with torch.no_grad():
        outputs = model.forward(batch(model))
    for hook in hooks:
        hook.remove()
    entering, leaving = read[-1]
    assert torch.equal(outputs.logits, leaving)
    assert torch.equal(outputs.hidden, entering)


def test_partial_input_ignores_the_other_side(name: str) -> None:
    others = ["Quite another text, and a longer one at that.", *PREMISES[:0:-1]]
    blind = build(name, reads="hypothesis")
    shares = blind.predict(PREMISES, HYPOTHESES)
    np.testing.assert_array_equal(shares, blind.predict(others, HYPOTHESES))
    assert np.ptp(shares, axis=0).max() > 1e-3
    blind = build(name, reads="premise")
    shares = blind.predict(PREMISES, HYPOTHESES)
    np.testing.assert_array_equal(shares, blind.predict(PREMISES, others))
    assert np.ptp(shares, axis=0).max() > 1e-3
    whole = built(name)
    shares = whole.predict(PREMISES, HYPOTHESES)
    assert np.abs(shares - whole.predict(others, HYPOTHESES)).max() > 1e-3
    assert np.abs(shares - whole.predict(PREMISES, others)).max() > 1e-3


def test_the_seed_decides_weights_and_dropout(name: str) -> None:
    first, second, other = build(name), build(name), build(name, seed=1)
    for ours, theirs in zip(first.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert not np.array_equal(first.predict(PREMISES, HYPOTHESES), other.predict(PREMISES, HYPOTHESES))
    drawn = []
    for model in (first, second):
        torch.manual_seed(3)
        model.network.train()
        drawn.append(model.network(*batch(model)).logits)
    assert torch.equal(*drawn)


def test_fresh_weights_come_from_torchs_generator(name: str) -> None:
    kind, encoder = MODELS.get(name), built(name).encoder
    made = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        made.append(build_network(kind, encoder, 3, options=SMALL.get(name, {})))
    first, second, other = (torch.cat([one.flatten() for one in network.parameters()]) for network in made)
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_saved_and_loaded_is_the_same(name: str, tmp_path: Path) -> None:
    model = built(name)
    model.save(tmp_path / "run")
    loaded = load_model(tmp_path / "run")
    assert isinstance(loaded, NetworkModel)
    assert type(loaded.network) is type(model.network)
    assert loaded.label_space.labels == NLI3.labels
    assert loaded.encoder == model.encoder
    shares = model.predict([*PREMISES, "新词 unseen"], [*HYPOTHESES, "Unseen too"])
    again = loaded.predict([*PREMISES, "新词 unseen"], [*HYPOTHESES, "Unseen too"])
    np.testing.assert_allclose(again, shares, atol=1e-6)


def test_weights_are_written_whatever_their_order_in_memory(tmp_path: Path) -> None:
    turned = np.arange(6, dtype=np.float32).reshape(2, 3).T
    write_tensors(tmp_path, {"turned": turned, "one": np.float32(7).reshape(())})
    held = read_tensors(tmp_path)
    np.testing.assert_array_equal(held["turned"], turned)
    assert held["one"].shape == ()


def test_strange_input_is_scored(name: str) -> None:
    model = built(name)
    texts = [
        "",
        " \n\t",
        "🦉" * 50,
        "🏴‍☠️",
        "那只苍鹭" * 30,
        "x" * 10_000,
        "x " * 5_000,
        "البومة نائمة.",
        "e\u0301\u0302",
    ]
    shares = model.predict(texts, texts[::-1])
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert model.predict([], []).shape == (0, 3)


def test_gradients_reach_every_trained_parameter(name: str) -> None:
    for train_vectors in (True, False):
        model = build(name, train_vectors=train_vectors)
        model.network.train()
        gold = torch.arange(len(PREMISES)) % 3
        loss = functional.cross_entropy(model.network(*batch(model)).logits, gold)
        penalty = model.network.penalty()
        (loss if penalty is None else loss + penalty).backward()
        for parameter_name, parameter in model.network.named_parameters():
            if parameter_name == "words.weight" and not train_vectors:
                assert parameter.grad is None
                continue
            assert parameter.grad is not None, parameter_name
            assert torch.isfinite(parameter.grad).all(), parameter_name
            assert parameter.grad.any(), parameter_name
        if train_vectors:
            gradient = model.network.words.weight.grad
            assert gradient is not None
            assert not gradient[0].any()  # padding


def test_parameters_of_the_published_size(name: str) -> None:
    kind = MODELS.get(name)
    alphabet = {"alphabet": 30} if "characters" in kind.fields else {}
    made = kind(nn.Embedding(10, 300, padding_idx=0), 3, **alphabet)
    own = {part: value for part, value in made.named_parameters() if not part.startswith(("words.", "characters."))}
    assert sum(parameter.numel() for parameter in own.values()) == COUNTS[name]


def test_any_number_of_labels(name: str) -> None:
    five = LabelSpace("five", tuple("abcde"))
    for space in (NLI2, NLI3, five):
        shares = build(name, space=space).predict(PREMISES, HYPOTHESES)
        assert shares.shape == (len(PREMISES), len(space))
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)


@needs_bf16
def test_half_precision_stays_near(name: str) -> None:
    model = built(name)
    sides = batch(model)
    plain = scores(model, sides)
    with torch.autocast("cpu", torch.bfloat16):
        rough = scores(model, sides).float()
    assert torch.isfinite(rough).all()
    torch.testing.assert_close(rough, plain, atol=0.15, rtol=0.1)


@needs_bf16
def test_half_precision_trains(name: str) -> None:
    model = build(name, train_vectors=True)
    model.network.train()
    with torch.autocast("cpu", torch.bfloat16):
        rough = model.network(*batch(model)).logits
    functional.cross_entropy(rough.float(), torch.arange(len(PREMISES)) % 3).backward()
    for parameter_name, parameter in model.network.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name


def test_one_token_against_one_token(name: str) -> None:
    model = built(name)
    shares = model.predict(["Owls"], ["Heron"])
    assert np.isfinite(shares).all()
    assert np.abs(shares - model.predict(["Heron"], ["harbour"])).max() > 1e-6


@pytest.mark.parametrize("field", ["characters", "match", "tags"])
def test_fields_speak_for_their_own_token(name: str, field: str) -> None:
    model = built(name)
    if field not in model.network.fields:
        with_field = getattr(batch(model)[0], field)
        assert with_field is None
        return
    sides = batch(model)
    plain = scores(model, sides)
    for side in (0, 1):
        for token, matters in ((1, True), (int(sides[side].lengths[1]), False)):
            values = getattr(sides[side], field).clone()
            values[1, token] = 1 - values[1, token] if field == "match" else 3
            changed = list(sides)
            changed[side] = replace(sides[side], **{field: values})
            result = scores(model, (changed[0], changed[1]))
            others = [row for row in range(len(PREMISES)) if row != 1]
            assert_same(result[others], plain[others])
            moved = (result[1] - plain[1]).abs().max()
            assert moved > 1e-4 if matters else moved < 1e-6


def test_unknown_options_are_named(name: str) -> None:
    with pytest.raises(InputError, match="has no option 'hiden'"):
        build_network(MODELS.get(name), built(name).encoder, 3, options={"hiden": 5})


def test_a_network_is_moved_to_known_devices_only() -> None:
    model = build("cbow")
    with pytest.raises(InputError, match=r"device 'gpu' is not known; .*cuda"):
        model.move_to("gpu")

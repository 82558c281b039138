"""How training starts and what it follows, network by network, as the released code has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import goldlabel as gl  # noqa: E402
from goldlabel.models import MODELS, diin  # noqa: E402
from goldlabel.models.encoding import EncoderOptions, build_encoder  # noqa: E402
from goldlabel.models.layers import Sentences  # noqa: E402
from goldlabel.models.network import Network, build_network  # noqa: E402
from goldlabel.models.torch_model import Choices  # noqa: E402
from goldlabel.models.vectors import Vectors  # noqa: E402
from goldlabel.models.vocabulary import END, START  # noqa: E402
from goldlabel.train import train  # noqa: E402
from tests.train.samples import make_pairs, write_vectors  # noqa: E402


def encoder_options(name: str, options: dict[str, Any]) -> EncoderOptions:
    """How a network with these options reads texts."""
    chosen: EncoderOptions = MODELS.get(name).encoder_options(
        Choices(model=name, languages=frozenset(), options=options)
    )
    return chosen


def fresh(name: str, vectors: Vectors | None = None, **options: Any) -> Network:
    """A network as training starts from it."""
    kind = MODELS.get(name)
    encoder = build_encoder([pl.Series(["the old barn"])], encoder_options(name, options), buckets=kind.recipe.buckets)
    torch.manual_seed(0)
    return build_network(kind, encoder, 3, options=options, vectors=vectors)


def lstm_biases(network: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Of each LSTM, the biases of the forget gate and those of all other gates."""
    parts = []
    for lstm in network.modules():
        if isinstance(lstm, nn.LSTM):
            for end in {name.removeprefix("bias_ih") for name, _ in lstm.named_parameters() if "bias_ih" in name}:
                gates = (getattr(lstm, f"bias_ih{end}") + getattr(lstm, f"bias_hh{end}")).detach().chunk(4)
                parts.append((gates[1], torch.cat([gates[0], gates[2], gates[3]])))
    return parts


@pytest.mark.parametrize(
    ("name", "bias"), [("esim", 1.0), ("esim-nyu", 1.0), ("bilstm", 1.0), ("bimpm", 1.0), ("lstm", 5.0)]
)
def test_cells_start_by_remembering(name: str, bias: float) -> None:
    biases = lstm_biases(fresh(name))
    assert biases
    for forget, others in biases:
        assert (forget == bias).all()
        assert not others.any()


@pytest.mark.parametrize("name", ["cbow", "bilstm", "esim-nyu"])
def test_the_head_of_ocnlis_networks_starts_from_a_gaussian(name: str) -> None:
    network = fresh(name)
    parameters = torch.cat([parameter.detach().flatten() for parameter in network.get_submodule("head").parameters()])
    assert float(parameters.std()) == pytest.approx(0.1, rel=0.02)
    assert float(parameters.abs().max()) > 0.35, "a uniform start ends at its bound"
    for lstm in (module for module in network.modules() if isinstance(module, nn.LSTM)):
        bound = (6 / (lstm.input_size + 5 * lstm.hidden_size)) ** 0.5
        for weights in (lstm.weight_ih_l0, lstm.weight_hh_l0):
            assert 0.99 * bound < float(weights.detach().abs().max()) <= bound


def test_ocnlis_networks_read_every_letter_by_itself_in_batches_of_16(tmp_path: Path) -> None:
    pairs = make_pairs(6, language="zh")
    for name, tokenizer in (("cbow", "letters"), ("bilstm", "letters"), ("lstm", "characters")):
        train(name, pairs, tmp_path / name, epochs=1, hidden=2, device="cpu")
        encoder = gl.load_model(tmp_path / name, "cpu").encoder  # type: ignore[attr-defined]
        assert encoder.options.tokenizer == tokenizer
    encoded = encoder.encode(["ab 12。"], ["门"])
    assert len(encoded.premise.words) == 3
    assert {MODELS.get(name).recipe.batch for name in ("cbow", "bilstm", "esim-nyu")} == {16}


def test_cbow_drops_words_and_what_leaves_the_third_layer_alone() -> None:
    network = fresh("cbow", hidden=50, dropout=0.5)
    network.train()
    sentences = Sentences(torch.tensor([[5, 6, 7]]), torch.ones(1, 3, dtype=torch.bool), torch.tensor([3]))
    assert not torch.equal(network.encode(sentences), network.encode(sentences))  # type: ignore[operator]
    entering: list[Tensor] = []
    leaving: list[Tensor] = []
    linears = [module for module in network.get_submodule("head").modules() if isinstance(module, nn.Linear)]
    for linear in linears:
        linear.register_forward_hook(lambda _, inputs, result: (entering.append(inputs[0]), leaving.append(result))[0])
    network.classify(torch.randn(4, 300), torch.randn(4, 300))  # type: ignore[operator]
    for layer in (1, 2):
        assert torch.equal(entering[layer], leaving[layer - 1].relu())
    assert not torch.equal(entering[3], leaving[2].relu())


def test_bimpm_starts_within_a_hundredth() -> None:
    network = fresh("bimpm")
    drawn = {
        name: float(parameter.detach().abs().max())
        for name, parameter in network.named_parameters()
        if not name.startswith("words.") and ".bias_" not in name
    }
    assert all(0 < largest <= 0.01 for largest in drawn.values()), drawn
    assert max(drawn.values()) > 0.0099
    assert not network.get_parameter("characters.weight")[0].any()
    recipe = MODELS.get("bimpm").recipe
    assert (recipe.clip, recipe.word_length, recipe.epochs) == (10.0, 10, 10)


def test_esim_starts_within_glorots_bound_without_biases() -> None:
    for name, parameter in fresh("esim").named_parameters():
        if name.startswith(("project", "head")):
            bound = (6 / sum(parameter.shape)) ** 0.5 if parameter.dim() == 2 else 0.0
            assert 0.98 * bound <= float(parameter.detach().abs().max()) <= bound, name


def test_diins_gates_have_a_mask_each(monkeypatch: pytest.MonkeyPatch) -> None:
    masks: list[Tensor] = []
    dropped = diin._dropped

    def spy(values: Tensor, keep: Tensor | None) -> Tensor:
        masks.append(dropped(values, keep) == 0)
        return dropped(values, keep)

    monkeypatch.setattr(diin, "_dropped", spy)
    sentences = Sentences(torch.ones(2, 4), torch.ones(2, 4, dtype=torch.bool), torch.tensor([4, 4]))
    diin.SelfAttention(6)(torch.randn(2, 4, 6), sentences, torch.tensor(0.5))
    assert len(masks) == 3
    assert not any(torch.equal(masks[first], masks[second]) for first, second in ((0, 1), (0, 2), (1, 2)))


def test_diin_reads_as_far_as_its_length() -> None:
    """With 96, a change in the 70th word is seen; with the published 48, it is not."""
    long = [f"word{number}" for number in range(90)]
    changed = [*long[:69], "other", *long[70:]]
    for length, seen in ((48, False), (96, True)):
        options = {"length": length, "growth": 2, "layers": 1, "filters": 2, "character": 2}
        encoder = build_encoder([pl.Series([" ".join(long), "other"])], encoder_options("diin", options))
        pairs = [encoder.encode([" ".join(text)], ["word1"]) for text in (long, changed)]
        assert len(pairs[0].premise.words) == min(length, 90)
        assert np.array_equal(pairs[0].premise.words, pairs[1].premise.words) == (not seen)


def test_a_run_of_diin_keeps_its_length(tmp_path: Path) -> None:
    small = {"growth": 2, "layers": 1, "filters": 2, "character": 2}
    for length in (16, 64):
        train("diin", make_pairs(3), tmp_path / f"{length}", length=length, epochs=1, device="cpu", **small)
        model = gl.load_model(tmp_path / f"{length}", "cpu")
        assert model.encoder.options.length == model.network.length == length  # type: ignore[attr-defined]
        config = json.loads((tmp_path / f"{length}" / "config.json").read_text(encoding="utf-8"))
        assert config["recipe"]["length"] == length


def test_infersents_boundaries_take_the_vectors_of_the_file(tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "vectors.txt", ["the", "gate", "open", "<s>", "</s>"])
    train(
        "infersent", make_pairs(3), tmp_path / "run", vectors=str(tmp_path / "vectors.txt"), epochs=1, hidden=2, layer=2
    )
    words = gl.load_model(tmp_path / "run", "cpu").network.words.weight.detach()  # type: ignore[attr-defined]
    np.testing.assert_allclose(words[[START, END]], vectors.matrix[-2:], atol=1e-5)
    without = Vectors(vectors.words[:3], vectors.matrix[:3])
    assert fresh("infersent", without, hidden=2).words.weight.detach()[[START, END]].any(dim=1).all()


def test_what_the_optimiser_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from goldlabel.train.optimiser import KINDS

    for optimiser, make in KINDS.items():

        def spy(groups: Any, make: Any = make, **settings: Any) -> Any:
            told.update(settings)
            return make(groups, **settings)

        monkeypatch.setitem(KINDS, optimiser, spy)
    expected = {
        "lstm": {"rho": 0.95, "eps": 1e-7},
        "disan": {"rho": 0.95, "eps": 1e-8},
        "decomposable-attention": {"initial_accumulator_value": 0.1},
        "decomposable-attention-300": {"initial_accumulator_value": 0.0},
    }
    for name, settings in expected.items():
        told: dict[str, Any] = {}
        train(name, make_pairs(3), tmp_path / name, epochs=1, hidden=2, device="cpu")
        assert settings.items() <= told.items()
    assert MODELS.get("diin").recipe.settings == expected["disan"]
    cheaper = MODELS.get("decomposable-attention-300").recipe
    assert (cheaper.batch, cheaper.l2, cheaper.clip) == (32, 1e-5, 5.0)

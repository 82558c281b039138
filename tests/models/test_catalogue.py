"""What can be trained and loaded, listed."""

from __future__ import annotations

import json

import pytest

from goldlabel.errors import MissingExtraError
from goldlabel.models import MODELS, catalogue
from goldlabel.models.catalogue import list_models
from tests.cli.commands import run

pytest.importorskip("torch")


def test_every_model_is_listed_with_its_recipe_and_paper() -> None:
    done = run("models", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    listed = {entry["name"].partition(":")[0]: entry for entry in document["models"]}
    assert set(listed) == set(MODELS)
    for entry in listed.values():
        assert entry["summary"]
        assert entry["paper"]
        assert (entry["recipe"] is None) == (entry["kind"] == "baseline")
    assert listed["esim"]["recipe"]["lr"] == 4e-4
    assert listed["esim"]["options"]["hidden"] == 300
    assert listed["hf"]["recipe"]["warmup"] == 0.1
    assert len(document["forms"]) == 5


def test_the_table_is_for_people() -> None:
    done = run("models")
    assert "adam 0.0004, batch 32, 30 epochs" in done.stdout
    assert "adamw 2e-05, batch 32, 3 epochs, linear, 10% warm-up" in done.stdout
    assert "openai:URL#MODEL" in done.stdout
    assert done.stdout.index("majority") < done.stdout.index("esim") < done.stdout.index("hf:NAME")


def test_what_is_not_installed_is_listed_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = catalogue.find_member

    def find(name: str) -> object:
        if name == "esim":
            raise MissingExtraError('torch is not installed; run: pip install "goldlabel[torch]"')
        return real(name)

    monkeypatch.setattr(catalogue, "find_member", find)
    entry = next(entry for entry in list_models().models if entry.name == "esim")
    assert entry.recipe_text == 'torch is not installed; run: pip install "goldlabel[torch]"'
    assert entry.to_dict()["missing"] == entry.recipe_text


def test_the_recipe_of_a_baseline_is_its_options() -> None:
    recipes = {entry.name: entry.recipe_text for entry in list_models().models}
    assert recipes["linear"] == "regularisation 1.0"
    assert recipes["majority"] == ""

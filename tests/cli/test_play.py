"""Writing against a model at once: one command, a page that is open already, a model that answers."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from goldlabel.collect.projects import project
from goldlabel.collect.rounds.rounds import open_round_of
from goldlabel.collect.schema import premises
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.models.loading import load_model
from goldlabel.play import make_game
from goldlabel.web.app import create_app
from goldlabel.web.playing import add_door


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_game_has_texts_a_model_and_a_writer_who_may_begin(tmp_path: Path, language: str) -> None:
    steps: list[int] = []
    game = make_game(tmp_path, language, None, steps.append, pairs=300)
    assert steps == [1, 1, 1]
    store = Store.open(game.folder)
    with store.read() as tx:
        texts = [row.text for row in tx.all(select(premises.c.text))]
        fought = open_round_of(tx, game.project_id)
        told = project(tx, game.project_id).protocol.instructions
    assert len(texts) > 10
    assert all(250 <= len(text) <= 600 for text in texts)
    assert not any(currency in text for text in told.values() for currency in ("USD", "CNY"))
    assert fought is not None
    (adversary,) = fought.adversaries
    model = load_model(adversary.reference)
    assert model.predict(texts[:1], [texts[0][:20]]).shape == (1, 3)
    app = create_app(store)
    path = add_door(app, store, game.project_id, game.person_id)
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        assert client.get("/play/guess").status_code == 404
        entered = client.get(path)
        assert (entered.status_code, entered.headers["location"]) == (303, f"/projects/{game.project_id}/write")
        assert 'id="target"' in client.get(entered.headers["location"]).text
    store.close()


def test_what_is_no_model_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'nothing here' is no model"):
        make_game(tmp_path, "en", "nothing here", lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_the_command_serves_a_page_whose_tries_are_answered_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    model = ["--adversary", "tests.worker.adversaries_here:sure"]
    command = [sys.executable, "-m", "goldlabel", "collect", "play", "--no-browser", "--port", "0", *model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as playing:
        watchdog = threading.Timer(300, playing.kill)
        watchdog.start()
        try:
            assert playing.stdout is not None
            address = playing.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/play/\S+", address)
            assert [one.name.startswith("goldlabel-play-") for one in tmp_path.iterdir()] == [True]
            base = address.partition("/play/")[0]
            with httpx.Client(base_url=base, timeout=60) as client:
                page = client.get(address, follow_redirects=True).text
                data = json.loads(page.partition('type="application/json" id="data">')[2].partition("</script>")[0])
                path = f"/api/assignments/{data['work']['tasks'][0]['assignment']}/tries"
                token = re.search(r'name="csrf" content="([^"]+)"', page)
                assert token is not None
                headers = {"x-csrf-token": token[1]}
                shown = client.post(path, json={"key": "a", "text": "Nobody was there."}, headers=headers).json()
                while shown["tries"][0]["state"] == "waiting":
                    shown = client.get(path).json()
            assert shown["tries"][0]["state"] in ("right", "fooled")
            playing.send_signal(signal.SIGINT)
            playing.wait()
        finally:
            watchdog.cancel()
            playing.kill()
    assert list(tmp_path.iterdir()) == []

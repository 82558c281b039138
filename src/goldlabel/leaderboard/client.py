"""The submitter's side: what a leaderboard asks, and what is sent to it.

A model stays where it is. Its predictions are made here, for the texts that the leaderboard gives out, once as they are
and once with every premise hidden behind one non-word (Hu et al. 2020, section 4), and packed with what the run folder
says of the model.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import OnPairs, open_model
from goldlabel.evaluate.prediction import predict
from goldlabel.leaderboard.checking import DATASET
from goldlabel.leaderboard.contents import CARD, HIDDEN, LONGEST_README, README
from goldlabel.leaderboard.submissions import RUNNING, WAITING
from goldlabel.models.model import CONFIG, read_config
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NO_GOLD, LabelSpace
from goldlabel.pairs.lexicon import NON_WORD

PATIENCE = 60.0
"""Seconds that an answer may take to begin."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
RESULT = "result.json"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is for the address that it was given for, and for no other that this one may name."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """A leaderboard as a submitter reaches it."""

    def __init__(self, address: str, token: str) -> None:
        if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
            raise InputError(f"--to {address!r}: is no address of a leaderboard; give https://HOST")
        self._address = address.rstrip("/")
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirect)

    def board(self) -> dict[str, Any]:
        """Return the sets and the rules."""
        told: dict[str, Any] = self._json("/api/v1/board")
        return told

    def questions(self, part: Mapping[str, Any]) -> Pairs:
        """Return the texts of a set, without labels."""
        with self._open(f"/api/v1/sets/{part['number']}/questions") as stream:
            frame = pl.read_ndjson(stream.read(), infer_schema_length=None)
        space = LabelSpace(part["label_space"], tuple(part["labels"]))
        frame = frame.with_columns(pl.lit(NO_GOLD).alias("label"))
        return Pairs.from_frame(frame, Card(name=part["name"], label_space=space))

    def submit(self, file: Path, **about: str) -> dict[str, Any]:
        """Send a file, and return what the leaderboard made of it: a submission that waits."""
        size, most = file.stat().st_size, self.board()["most_bytes"]
        if size > most:  # a server that refuses it while it is sent may not be heard
            raise InputError(f"{file}: has {size >> 20:,} MB; the leaderboard takes up to {most >> 20} MB, zip it")
        query = urllib.parse.urlencode({"file": file.name, **about})
        with file.open("rb") as body:
            headers = {"Content-Type": "application/octet-stream", "Content-Length": str(file.stat().st_size)}
            told: dict[str, Any] = self._json(f"/api/v1/submissions?{query}", body, headers)
        return told

    def wait(self, number: int) -> dict[str, Any]:
        """Wait until a submission is scored or refused, and return it."""
        pause = FIRST_PAUSE
        while True:
            told: dict[str, Any] = self._json(f"/api/v1/submissions/{number}")
            if told["state"] not in (WAITING, RUNNING):
                return told
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def entry(self, number: int) -> dict[str, Any] | None:
        """Return the row of a submission on the board; give it some time to be held against the others."""
        pause = FIRST_PAUSE
        while True:
            entry = next((entry for entry in self._json("/api/v1/entries") if entry["id"] == number), None)
            if entry is None or entry["rank"] is not None or pause > LONGEST_PAUSE:
                return entry
            time.sleep(pause)
            pause *= 2

    def withdraw(self, number: int) -> dict[str, Any]:
        """Take a submission off the board."""
        told: dict[str, Any] = self._json(f"/api/v1/submissions/{number}/withdraw", b"")
        return told

    def _json(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        with self._open(path, body, headers) as stream:
            try:
                return json.load(stream)
            except ValueError as error:
                raise InputError(f"{self._address}: answers no JSON; is it the address of a leaderboard?") from error

    @contextmanager
    def _open(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Iterator[Any]:
        sent = {"Accept": "application/json", "Authorization": f"Bearer {self._token}", **(headers or {})}
        request = urllib.request.Request(self._address + path, data=body, headers=sent)
        try:
            with self._opener.open(request, timeout=PATIENCE) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            with error:
                raise InputError(f"{self._address}: {_reason(error)}") from error
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", None) or error
            raise InputError(f"{self._address}: cannot be reached ({reason}); see that it is served there") from error


def pack_predictions(
    client: Client,
    model: str,
    folder: Path,
    *,
    suite: str | None = None,
    expect: Callable[[int], None] | None = None,
    on_pairs: OnPairs | None = None,
    **loading: Any,
) -> Path:
    """Have a model answer the questions of a leaderboard, with and without the premises; return a zip of it all.

    ``folder`` is for the files. ``expect`` is told how many pairs will be asked about.
    """
    board = client.board()
    if not board["texts"]:
        raise InputError(
            f"{model}: the leaderboard does not give out its texts; predict your own copy of them with 'goldlabel "
            "predict', and submit the files in a zip"
        )
    sets = _sets_of(board, suite)
    asked = {f"{number}.parquet": client.questions(part) for number, part in enumerate(sets, start=1)}
    if expect is not None:
        expect(2 * sum(part["pairs"] for part in sets))
    packed = folder / "predictions.zip"
    with (
        open_model(model, list(asked.values()), **loading) as (_, opened),
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for file, pairs in asked.items():
            hidden = Pairs(pairs.frame.with_columns(pl.lit(NON_WORD).alias("premise")), pairs.card)
            for place, shown in (("", pairs), (f"{HIDDEN}/", hidden)):
                predicted = predict(opened, shown, folder / file, on_pairs=on_pairs)
                if predicted.unanswered and not place:
                    raise InputError(
                        f"{model}: has no answer to {predicted.unanswered:,} pairs of {pairs.card.name}; a submission "
                        "answers every pair"
                    )
                if not predicted.unanswered:
                    named = pl.read_parquet(folder / file).with_columns(pl.lit(pairs.card.name).alias(DATASET))
                    named.write_parquet(folder / file)
                    _add(archive, f"{place}{file}", (folder / file).read_bytes())
        _add(archive, CARD, json.dumps(describe_model(model), ensure_ascii=False).encode())
        readme = Path(model) / README
        if readme.is_file() and readme.stat().st_size <= LONGEST_README:
            _add(archive, README, readme.read_bytes())
    return packed


def _sets_of(board: Mapping[str, Any], suite: str | None) -> list[dict[str, Any]]:
    """Return the sets of a suite, or of the only one."""
    by_name: dict[str, list[dict[str, Any]]] = {told["name"]: told["sets"] for told in board["suites"]}
    if suite is None and len(by_name) == 1:
        return next(iter(by_name.values()))
    if suite is None:
        raise InputError(f"the leaderboard has several suites; name one with --suite: {', '.join(by_name)}")
    if suite not in by_name:
        raise InputError(f"--suite {suite}: the leaderboard has {', '.join(by_name)}; name one of them")
    return by_name[suite]


def describe_model(model: str) -> dict[str, Any]:
    """Return what a run folder says of its model; of another, its name alone, without the folders it lies in."""
    folder = Path(model)
    if not (folder / CONFIG).is_file():
        return {"model": folder.name if folder.exists() else model.partition("#")[2] or model}
    config = read_config(folder)
    training = config.get("training") or {}
    debias = (training.get("options") or {}).get("debias")
    name = str(config.get("model", ""))
    result = json.loads((folder / RESULT).read_bytes()) if (folder / RESULT).is_file() else {}
    return {
        "model": f"{name}+{debias}" if debias else name,
        "training": [f"{on}, {told['pairs']:,} pairs" for on, told in (training.get("on") or {}).items()],
        "parameters": result.get("parameters"),
    }


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a file to a zip without the time it was made at: the same predictions are the same bytes, and sent once."""
    archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def _reason(error: urllib.error.HTTPError) -> str:
    """Return what a leaderboard said of a request that it refused."""
    try:
        told = json.load(error)
        return str(told["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"answers {error.code}; is it the address of a leaderboard?"

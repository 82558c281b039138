"""Datasets on the Hugging Face hub: a folder becomes a repository, or the next commit of one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.pairs.card import read_card
from goldlabel.registry import import_extra

DATA = "data/"
"""Where the hub's layout has its Parquet files; of these, a commit leaves none that the dataset no longer has."""


@dataclass(frozen=True)
class Pushed:
    """What a push left on the hub."""

    repository: str
    url: str
    commit: str
    private: bool


class Repository:
    """A dataset's repository on the hub, ``ORG/NAME``, or ``NAME`` for one of your own.

    The token is that of the environment (``HF_TOKEN``), else of ``hf auth login``; whatever can be refused without the
    network is refused when this is made, so that nothing is written in vain.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._hub: Any = import_extra("huggingface_hub", "hf")
        self._api = self._hub.HfApi()
        try:
            self._hub.utils.validate_repo_id(name)
        except ValueError as error:
            raise InputError(f"{name!r} is no name of a repository ({error}); give ORG/NAME") from error
        if not self._hub.get_token():
            raise InputError(
                f"{name}: there is no token for {self._api.endpoint}; run 'hf auth login', or put one that may write "
                "into the environment as HF_TOKEN"
            )

    def push(self, folder: Path, *, private: bool = True) -> Pushed:
        """Upload a dataset folder as one commit; a repository that does not exist is made, private unless told."""
        card = read_card(folder)
        files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        pairs = sum(entry.pairs for entry in card.files)
        with self._told_in_a_line(), self._bars_on_terminals_only():
            url = self._api.create_repo(self.name, repo_type="dataset", private=private, exist_ok=True)
            there = self._api.list_repo_files(url.repo_id, repo_type="dataset")
            stale = [
                path for path in there if path.startswith(DATA) and path.endswith(".parquet") and path not in files
            ]
            commit = self._api.create_commit(
                url.repo_id,
                [
                    *map(self._hub.CommitOperationDelete, stale),
                    *(self._hub.CommitOperationAdd(name, path) for name, path in files.items()),
                ],
                repo_type="dataset",
                commit_message=f"{card.name}: {many(pairs, 'pair')}",
            )
            info = self._api.dataset_info(url.repo_id)
        return Pushed(url.repo_id, str(url), commit.oid, bool(info.private))

    @contextmanager
    def _bars_on_terminals_only(self) -> Iterator[None]:
        bars = self._hub.utils
        if sys.stderr.isatty() or bars.are_progress_bars_disabled():
            yield
            return
        bars.disable_progress_bars()
        try:
            yield
        finally:
            bars.enable_progress_bars()

    @contextmanager
    def _told_in_a_line(self) -> Iterator[None]:
        try:
            yield
        except (self._hub.errors.HTTPError, OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{self.name}: {self._reason(error)}") from error

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, RuntimeError) and error.__cause__ is not None:
            return self._reason(error.__cause__)  # the upload of one file wraps what went wrong
        response = getattr(error, "response", None)
        if response is None:
            if isinstance(error, self._hub.errors.HTTPError | ConnectionError | TimeoutError):
                return f"{self._api.endpoint} cannot be reached ({error}); try again when it can"
            return f"the upload failed ({error})"
        if response.status_code == 401:
            return "the hub does not take this token; make one that may write, and run 'hf auth login'"
        if response.status_code in (403, 404):
            return "this token may not write there; it needs the role 'write', and you the right to in its organisation"
        said = getattr(error, "server_message", None) or error
        return f"the hub answered {response.status_code} ({said}); try again later"

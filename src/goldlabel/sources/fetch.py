"""Downloading a source from its card's address: resumed where it broke off, checked, then added."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.files import home, storage_errors
from goldlabel.registry import import_extra
from goldlabel.sources.library import Added, add
from goldlabel.sources.source import SOURCES, Source

HUGGING_FACE = "hf:"
TIMEOUT = 30
TRIES = 5
CHUNK = 1 << 20


class DownloadError(GoldlabelError):
    """The address did not give the file."""


@dataclass(frozen=True)
class Progress:
    """Told how large the download is, and each piece that arrives."""

    total: Callable[[int | None], None]
    advance: Callable[[int], None]


SILENT = Progress(lambda total: None, lambda size: None)


def fetch(name: str, progress: Progress = SILENT) -> Added:
    """Download a source and add it; what was downloaded before is not downloaded again."""
    source = SOURCES.get(name)
    if source.address.startswith(HUGGING_FACE):
        hub = import_extra("huggingface_hub", "hf")
        folder = hub.snapshot_download(source.address.removeprefix(HUGGING_FACE), repo_type="dataset")
        return add(name, [Path(folder)])
    return add(name, [download(source, progress)])


def download(source: Source, progress: Progress = SILENT) -> Path:
    """Bring the source's file into the library's downloads, and return where it lies."""
    path = home() / "downloads" / source.name / (PurePosixPath(urlsplit(source.address).path).name or source.name)
    if not path.exists():
        part = path.with_name(path.name + ".part")
        with storage_errors(part):
            part.parent.mkdir(parents=True, exist_ok=True)
            _download_to(part, source.address, progress)
            _check(part, source)
            part.rename(path)
    return path


def _download_to(part: Path, address: str, progress: Progress) -> None:
    """Fetch what is missing of ``part``; a broken connection is taken up again where it stopped."""
    import http.client
    import urllib.error

    failures = 0
    while True:
        have = part.stat().st_size if part.exists() else 0
        try:
            if _append(part, have, address, progress):
                return
            raise http.client.IncompleteRead(b"")
        except urllib.error.HTTPError as error:
            raise DownloadError(f"{address}: the server answered {error.code} {error.reason}") from error
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            got = (part.stat().st_size if part.exists() else 0) - have
            failures = 1 if got > 0 else failures + 1
            if failures >= TRIES:
                raise DownloadError(
                    f"{address}: cannot be reached ({error}); {have:,} bytes are kept and a new try goes on from there"
                ) from error
            time.sleep(min(0.2 * 2**failures, 5))


def _append(part: Path, have: int, address: str, progress: Progress) -> bool:
    """Ask for the bytes from ``have`` on; say whether the file is complete."""
    import urllib.error
    import urllib.request

    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left beyond what we have
            return True
        raise
    with response:
        if response.headers.get_content_type() == "text/html":
            raise DownloadError(
                f"{address}: is a web page, not a file; download the corpus there and run 'goldlabel data add'"
            )
        if have and response.status != 206:  # the server starts over, and so do we
            have = 0
        length = response.headers.get("Content-Length")
        whole = have + int(length) if length else None
        progress.total(whole)
        with part.open("ab" if have else "wb") as file:
            while data := response.read(CHUNK):
                file.write(data)
                progress.advance(len(data))
        return whole is None or part.stat().st_size >= whole


def _check(part: Path, source: Source) -> None:
    if source.checksum is None:
        return
    algorithm, _, expected = source.checksum.partition(":")
    with part.open("rb") as stream:
        actual = hashlib.file_digest(stream, algorithm).hexdigest()
    if actual != expected:
        part.unlink()
        raise InputError(
            f"{source.address}: its {algorithm} is {actual} where its card has {expected}; the file was "
            "changed or damaged and was deleted: fetch again, or get it elsewhere and use 'goldlabel data add'"
        )

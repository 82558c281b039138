"""Data that lies elsewhere: buckets (``s3://``, ``gs://``), the Hugging Face hub (``hf://``) and web servers.

What is read is kept under ``GOLDLABEL_HOME`` and fetched once: each file as a blob named by its address, its version
(the ETag, where there is one) and its size, and each folder as a tree of links to blobs, named by all of them. So a
file that changed is fetched again, one that went away is gone, and what somebody is reading never changes under their
hands.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from goldlabel.errors import GoldlabelError, InputError, StorageError
from goldlabel.files import OnBytes, as_url, atomic_file, atomic_folder, home
from goldlabel.registry import import_extra

DRIVERS = {
    "s3": ("s3fs", "remote"),
    "gs": ("gcsfs", "gs"),
    "hf": ("huggingface_hub", "hf"),
    "http": ("aiohttp", "remote"),
    "https": ("aiohttp", "remote"),
}
"""What each kind of address needs, and the extra that brings it."""
WRITABLE = ("s3", "gs")
CREDENTIALS = {
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (FSSPEC_S3_ANON=true for a public bucket)",
    "gs": "run 'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS",
    "hf": "run 'hf auth login', or set HF_TOKEN",
}
VERSIONS = ("ETag", "etag", "blob_id", "md5Hash", "LastModified", "mtime")
"""What file systems call that which changes with a file; the first that is there counts."""
AT_A_TIME = 8


def fetch(url: str, on_bytes: OnBytes | None = None) -> Path:
    """Return where the file or folder of an address lies on this machine, fetching what is not there yet."""
    system, place = _open(url)
    with _refusals(url, "read"):
        files = _list(system, place)
    if not files:
        raise InputError(f"{url}: holds no files")
    blobs = {name: _blob(path, about) for name, (path, about) in files.items()}
    root = home() / "remote"

    def bring(name: str) -> None:
        path, about = files[name]
        _download(system, path, about.get("size"), root / "blobs" / blobs[name], url, on_bytes)

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(bring, files))
    whole = PurePosixPath(place.rstrip("/")).name or "data"
    tree = root / "trees" / _digest(whole, blobs)[:24]
    if not tree.exists():
        with atomic_folder(tree) as temporary:
            for name, blob in blobs.items():
                target = temporary / whole / name
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(root / "blobs" / blob, target)
    return tree / whole


@contextmanager
def read_locally(path: str | Path, on_bytes: OnBytes | None = None) -> Iterator[Path]:
    """Give the path itself, or where it lies on this machine if it is an address; errors speak of the address."""
    url = as_url(path)
    if url is None:
        yield Path(path)
        return
    local = fetch(url, on_bytes)
    try:
        yield local
    except InputError as error:
        raise InputError(str(error).replace(str(local), url)) from error


@contextmanager
def folder_at(path: Path) -> Iterator[Path]:
    """Give a temporary folder that takes the place of ``path``, on disk or in a bucket, if the block succeeds.

    In a bucket nothing is atomic; so the card, without which a folder is no dataset, goes first and comes last.
    """
    url = as_url(path)
    if url is None:
        with atomic_folder(path) as temporary:
            yield temporary
        return
    system, place = _open(url, write=True)
    with _refusals(url, "read"):
        before = system.find(place)
    card = f"{place}/card.json"
    if before and card not in before:
        raise InputError(f"{url}: is not empty and no dataset; choose another place for the output")
    with _workshop() as folder:
        yield folder
        new = {f"{place}/{file.relative_to(folder).as_posix()}": file for file in folder.rglob("*") if file.is_file()}
        with _refusals(url, "written"):
            if card in before:
                system.rm_file(card)
            for name, file in sorted(new.items(), key=lambda item: item[0] == card):
                system.put_file(str(file), name)
            for name in set(before) - set(new):
                system.rm_file(name)


@contextmanager
def file_at(path: Path) -> Iterator[Path]:
    """Give a temporary path whose file takes the place of ``path``, on disk or in a bucket, if the block succeeds."""
    url = as_url(path)
    if url is None:
        with atomic_file(path) as temporary:
            yield temporary
        return
    system, place = _open(url, write=True)
    with _workshop() as folder:
        yield folder / path.name
        with _refusals(url, "written"):
            system.put_file(str(folder / path.name), place)


def _open(url: str, *, write: bool = False) -> tuple[Any, str]:
    scheme, _, place = url.partition("://")
    module, extra = DRIVERS[scheme]
    if write and scheme not in WRITABLE:
        hint = "; use 'goldlabel data export --to hf --push ORG/NAME'" if scheme == "hf" else ""
        raise StorageError(f"{url}: data is written to {' and '.join(f'{name}://' for name in WRITABLE)} only{hint}")
    fsspec = import_extra("fsspec", extra)
    # gcsfs would ask by another service, which wants more rights, what kind of bucket it is.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    import_extra(module, extra)
    # What lies there may have changed since it was last asked for.
    with _refusals(url, "read"):
        system = fsspec.filesystem(scheme, skip_instance_cache=True, use_listings_cache=False)
    return system, url if scheme.startswith("http") else place.rstrip("/")


def _list(system: Any, place: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the files of a place by their names within it; a file alone has the name ``""``."""
    about = system.info(place)
    if about["type"] == "file":
        return {"": (place, about)}
    inside = {
        PurePosixPath(path).relative_to(place): (path, info) for path, info in system.find(place, detail=True).items()
    }
    return {
        name.as_posix(): file
        for name, file in sorted(inside.items())
        if not any(part.startswith(".") for part in name.parts)
    }


def _blob(path: str, about: Mapping[str, Any]) -> str:
    version = next((about[name] for name in VERSIONS if about.get(name)), None)
    return _digest(path, version or os.urandom(16).hex(), about.get("size"))


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _download(system: Any, path: str, size: int | None, blob: Path, url: str, on_bytes: OnBytes | None) -> None:
    if blob.exists():
        return
    with atomic_file(blob) as temporary:
        with _refusals(url, "read"):
            system.get_file(path, str(temporary))
        arrived = temporary.stat().st_size
        if size is not None and arrived != size:
            raise InputError(f"{path}: {arrived:,} of {size:,} bytes arrived, or it changed meanwhile; run again")
    if on_bytes is not None:
        on_bytes(arrived)


def _link(blob: Path, target: Path) -> None:
    try:
        os.link(blob, target)
    except OSError:  # a disk without hard links
        shutil.copyfile(blob, target)


@contextmanager
def _workshop() -> Iterator[Path]:
    """Give a folder for what is uploaded, beside the data that is kept: the system's own may be small."""
    root = home() / "remote"
    root.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".upload-", dir=root) as temporary:
        yield Path(temporary)


@contextmanager
def _refusals(url: str, done: str) -> Iterator[None]:
    """Turn what a server refuses into one clear line; every driver has errors of its own."""
    scheme = url.partition("://")[0]
    credentials = f"; {CREDENTIALS[scheme]}" if scheme in CREDENTIALS else ""
    try:
        yield
    except GoldlabelError:
        raise
    except FileNotFoundError as error:
        private = f", or it is private{credentials}" if scheme == "hf" else ""  # the hub tells nobody which
        raise InputError(f"{url}: there is no such file, folder or bucket{private}") from error
    except Exception as error:
        if _wants_rights(error):
            raise InputError(
                f"{url}: cannot be {done} with the rights of these credentials ({_line(error)}){credentials}"
            ) from error
        if "credential" in f"{type(error).__name__} {error}".lower():
            raise InputError(f"{url}: cannot be {done}, as there are no credentials{credentials}") from error
        raise InputError(f"{url}: cannot be {done} ({type(error).__name__}: {_line(error)})") from error


def _wants_rights(error: Exception) -> bool:
    """Say whether somebody is told that they may not; gcsfs calls that an OSError, the hub gives a status."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return isinstance(error, PermissionError) or str(error).startswith("Forbidden") or status in (401, 403)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__

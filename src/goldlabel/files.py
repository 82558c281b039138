"""Files: where data lies, atomic writes, hashes, and reading through compression and archives."""

from __future__ import annotations

import atexit
import bz2
import codecs
import errno
import gzip
import hashlib
import io
import os
import re
import shutil
import stat
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, BinaryIO, cast

import platformdirs

from goldlabel.errors import FileError, InputError, StorageError

COMPRESSIONS = (".gz", ".bz2", ".zst")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2")
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".bin", ".joblib")

BOMB_RATIO = 200
BOMB_SIZE = 256 << 20
"""What expands beyond both, times its packed size and bytes, is no corpus: text packs far less well."""

MOST_FILES = 100_000
"""A folder with more files is no corpus but somebody's disk."""

LOCK = ".lock"
LOCK_PATIENCE: ContextVar[float] = ContextVar("LOCK_PATIENCE", default=0.0)
"""Seconds to wait for a folder that another process has locked; none, unless that process is known to be dying."""

OnBytes = Callable[[int], None]
"""Called with the number of bytes just read, for progress bars."""

_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, tarfile.TarError)
_REFUSALS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP),
)
_URL = re.compile(r"(s3|gs|hf|https?):/{1,2}(?=[^/])")
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_BOMS = {codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32", codecs.BOM_UTF16_LE: "UTF-16"} | {
    codecs.BOM_UTF16_BE: "UTF-16"  # UTF-32 first: its little-endian mark begins with that of UTF-16
}


def home() -> Path:
    """Return the folder that holds added data: ``GOLDLABEL_HOME``, else the user's cache folder."""
    named = os.environ.get("GOLDLABEL_HOME")
    return Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("goldlabel"))


def as_url(path: str | Path) -> str | None:
    """Return the address that a path is, such as ``s3://bucket/data``; a ``Path`` has lost one of its slashes."""
    text = path if isinstance(path, str) else path.as_posix()
    return _URL.sub(r"\1://", text, count=1) if _URL.match(text) else None


def refuse_url(path: Path) -> None:
    """Refuse an address where only a disk will do."""
    if url := as_url(path):
        raise StorageError(f"{url}: this is written to a disk only; name a place there, and copy it when it is done")


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn what a disk can refuse into one clear line about ``path``."""
    try:
        yield
    except Exception as error:
        # Polars and safetensors raise types of their own, with the system's number in words only.
        words = re.search(r"\(os error (\d+)\)", str(error))
        number = error.errno if isinstance(error, OSError) and error.errno else int(words[1]) if words else None
        if number not in _REFUSALS:
            raise
        raise StorageError(
            f"{path}: cannot be written ({os.strerror(number)}); nothing was changed: make room or choose another "
            "place, and run again"
        ) from error


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary path whose file takes the place of ``path`` only if the block succeeds.

    A symlink stays, and what it leads to is replaced. Devices, pipes and standard output are written through, with
    the whole file at the end.
    """
    refuse_url(path)
    with storage_errors(path):
        if path.is_dir():
            raise StorageError(f"{path}: is a folder; name a file to write, such as {path / 'pairs.jsonl'}")
        through = _descriptor(path) is not None or _is_special(path)
        target = Path(tempfile.gettempdir(), path.name) if through else Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            if through:
                _copy_through(temporary, path)
            else:
                _flush(temporary)
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``, or where that leads, that takes its place if the block succeeds."""
    refuse_url(path)
    with storage_errors(path):
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        replaced = temporary.with_name(temporary.name + ".old")
        try:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _flush(file)
            temporary.chmod(0o777 & ~_umask())
            if target.exists():
                target.rename(replaced)
            temporary.rename(target)
        finally:
            if replaced.exists() and not target.exists():
                replaced.rename(target)
            shutil.rmtree(replaced, ignore_errors=True)
            shutil.rmtree(temporary, ignore_errors=True)


_FOLDERS_OF_PROCESS: list[Path] = []


def folder_of_process(prefix: str) -> Path:
    """Make a folder among the temporary files, for as long as this process lasts."""
    if not _FOLDERS_OF_PROCESS:
        atexit.register(remove_folders_of_process)
    _FOLDERS_OF_PROCESS.append(Path(tempfile.mkdtemp(prefix=prefix)))
    return _FOLDERS_OF_PROCESS[-1]


def remove_folders_of_process() -> None:
    """Remove them; whoever ends the process without Python's own way out has to."""
    while _FOLDERS_OF_PROCESS:
        shutil.rmtree(_FOLDERS_OF_PROCESS.pop(), ignore_errors=True)


@contextmanager
def lock_folder(folder: Path, doing: str) -> Iterator[None]:
    """Keep other processes out of a folder; ``doing`` tells them what is done here."""
    from filelock import FileLock, Timeout

    refuse_url(folder)
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=LOCK_PATIENCE.get())
        except Timeout as error:
            raise InputError(
                f"{folder}: another process is {doing} here; wait for it, or choose another place with -o"
            ) from error
    try:
        yield
        # What has ended needs no lock any more, so nobody minds that its file goes; what has failed keeps it.
        with suppress(PermissionError):  # Windows removes no file that is open
            (folder / LOCK).unlink(missing_ok=True)
    finally:
        lock.release()


def _descriptor(path: Path) -> int | None:
    """Return the open file that a path such as ``/dev/stdout`` names: opened anew, it would be cut to nothing."""
    number = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", path.as_posix())
    return int(number[1]) if number else _STREAMS.get(path.as_posix())


def _is_special(path: Path) -> bool:
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


def _copy_through(source: Path, path: Path) -> None:
    number = _descriptor(path)
    sys.stdout.flush()  # what was printed before comes before
    with source.open("rb") as stream, path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as target:
        shutil.copyfileobj(stream, target)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_file(path: Path) -> str:
    """Return a file's hash; one of the same size and date as before is not read again."""
    about = path.stat()
    return _digest_once(path.resolve(), about.st_size, about.st_mtime_ns)


@lru_cache
def _digest_once(path: Path, _size: int, _modified: int) -> str:
    return sha256(path)


@dataclass(frozen=True)
class InputFile:
    """A file to read: on disk, or a member of an archive on disk."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path}/{self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """The file's own name, without folders and without a compression suffix."""
        name = PurePosixPath(self.member).name if self.member else self.path.name
        return name.removesuffix(_compression(name) or "")

    @property
    def size(self) -> int:
        """The number of bytes that reading it will report."""
        if self.member is None:
            return self.path.stat().st_size
        if _archive(self.path) == ".zip":
            with zipfile.ZipFile(self.path) as archive:
                return archive.getinfo(self.member).file_size
        with tarfile.open(self.path) as archive:
            return archive.getmember(self.member).size

    @contextmanager
    def open(self, on_bytes: OnBytes | None = None, *, any_encoding: bool = False) -> Iterator[BinaryIO]:
        """Open for reading, decompressed; damage found while reading becomes an ``InputError``.

        Text in two or four bytes a character is refused unless who reads takes ``any_encoding``.
        """
        try:
            with self._open_raw() as raw:
                counter = _Counted(raw, on_bytes or _ignore)
                counted: io.BufferedReader = io.BufferedReader(counter, 1 << 20)
                with _decompressed(counted, self.member or self.path.name) as unpacked:
                    stream = counted if unpacked is counted else _guarded(unpacked, counter, str(self))
                    if not any_encoding:
                        _refuse_wide(stream, str(self))
                    yield cast(BinaryIO, stream)
        except FileNotFoundError as error:
            raise InputError(f"{self.path}: there is no such file") from error
        except (PermissionError, IsADirectoryError) as error:
            raise InputError(f"{self.path}: cannot be read ({os.strerror(error.errno or 0)})") from error
        except _DAMAGE as error:
            raise damaged(str(self), error) from error
        except OSError as error:
            if error.errno is None:  # a complaint about the data (bz2, Arrow), not about the system
                raise damaged(str(self), error) from error
            raise

    @contextmanager
    def _open_raw(self) -> Iterator[IO[bytes]]:
        if self.member is None:
            with self.path.open("rb") as plain:
                yield plain
        elif _archive(self.path) == ".zip":
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as packed:
                yield packed
        else:
            with tarfile.open(self.path) as tape:
                extracted = tape.extractfile(self.member)
                if extracted is None:
                    raise FileError(f"{self}: is not a regular file", "damaged")
                with extracted:
                    yield extracted


def damaged(name: str, error: BaseException) -> InputError:
    """Return the error for a compressed file or archive that does not read to its end."""
    return FileError(f"{name}: is damaged or cut short ({error}); copy or fetch it again", "damaged")


def input_files(path: Path) -> list[InputFile]:
    """List the files behind ``path``: itself, the files of a folder, or the members of an archive."""
    if path.is_dir():
        return [member for file in files_in(path) for member in _unpacked(file)]
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if path.name.lower().endswith(PICKLES):
        raise FileError(
            f"{path}: is a pickle, which can run any code when loaded and is never read; "
            "save its data as JSONL, CSV or Parquet",
            "pickle",
        )
    return _unpacked(path)


def files_in(folder: Path) -> list[Path]:
    """List the files of a folder and of the folders in it, but for hidden ones, in order."""
    files: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_refuse_folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += (Path(place, name) for name in names if not name.startswith("."))
        if len(files) > MOST_FILES:
            raise InputError(
                f"{folder}: holds more than {MOST_FILES:,} files, as no corpus does; name the folder or file that "
                "holds the pairs"
            )
    return sorted(file for file in files if file.is_file())


def _refuse_folder(error: OSError) -> None:
    raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from error


def wide_encoding(start: bytes) -> str | None:
    """Tell text in two or four bytes a character, by its mark or by a first character whose other byte is zero."""
    encoding = next((name for mark, name in _BOMS.items() if start.startswith(mark)), None)
    if encoding is None and start[:2].count(0) == 1:
        return "UTF-16BE" if start[0] == 0 else "UTF-16LE"
    return encoding


def _refuse_wide(stream: io.BufferedReader, where: str) -> None:
    encoding = wide_encoding(stream.peek(4)[:4])
    if encoding:
        raise FileError(
            f"{where}: is {encoding}, and text is read as UTF-8; convert it, as with "
            f"'iconv -f {encoding} -t UTF-8 OLD > NEW'",
            "not_utf8",
        )


def _unpacked(path: Path) -> list[InputFile]:
    archive = _archive(path)
    if archive is None:
        return [InputFile(path)]
    try:
        if archive == ".zip":
            with zipfile.ZipFile(path) as packed:
                infos = [info for info in packed.infolist() if not info.is_dir()]
                sizes = {info.filename: (info.file_size, info.compress_size) for info in infos}
        else:
            with tarfile.open(path) as tape:
                packed_size = path.stat().st_size
                sizes = {info.name: (info.size, packed_size) for info in tape.getmembers() if info.isfile()}
    except _DAMAGE as error:
        raise damaged(str(path), error) from error
    for name, (size, packed_size) in sizes.items():
        _refuse_climbing(path, name)
        _refuse_bomb(f"{path}/{name}", size, packed_size)
    return [
        InputFile(path, name)
        for name in sorted(sizes)
        if not PurePosixPath(name).name.startswith(".") and not name.startswith("__MACOSX/")
    ]


def _refuse_climbing(path: Path, member: str) -> None:
    posix, windows = PurePosixPath(member), PureWindowsPath(member)
    if posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        raise FileError(
            f"{path}: its member {member!r} climbs out of the archive; nothing of it is read: get a clean copy",
            "climbing",
        )


def _refuse_bomb(where: str, size: int, packed_size: int) -> None:
    if size > BOMB_SIZE and size > BOMB_RATIO * packed_size:
        raise FileError(
            f"{where}: expands to more than {BOMB_RATIO} times its packed size and {BOMB_SIZE >> 20} MB, as no "
            "corpus does; nothing of it is read: unpack and check it yourself",
            "bomb",
        )


def one_input_file(path: Path) -> InputFile:
    """Return the one file behind ``path``; an archive must hold exactly one."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder, and one file was expected")
    files = input_files(path)
    if len(files) != 1:
        names = ", ".join(file.member or file.name for file in files[:5]) or "nothing"
        text = f"{path}: holds {len(files)} files ({names}), and one was expected; unpack it first"
        raise FileError(text, "several_files", n=len(files))
    return files[0]


def data_suffix(name: str) -> str:
    """Return the suffix that tells the format, past compression: ``.jsonl`` for ``a.jsonl.gz``."""
    return PurePosixPath(name.removesuffix(_archive(Path(name)) or _compression(name) or "")).suffix.lower()


class _Counted(io.RawIOBase):
    """A raw stream that reports how many bytes went through it."""

    def __init__(self, stream: IO[bytes], on_bytes: OnBytes) -> None:
        self._stream = stream
        self._on_bytes = on_bytes
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        self._on_bytes(len(data))
        return len(data)


def _guarded(stream: IO[bytes], packed: _Counted, where: str) -> io.BufferedReader:
    """Watch how much a compressed stream expands to."""
    expanded = 0

    def watch(size: int) -> None:
        nonlocal expanded
        expanded += size
        _refuse_bomb(where, expanded, packed.count)

    return io.BufferedReader(_Counted(stream, watch), 1 << 20)


@contextmanager
def _decompressed(stream: io.BufferedReader, name: str) -> Iterator[IO[bytes]]:
    compression = _compression(name)
    if compression == ".gz":
        with gzip.GzipFile(fileobj=stream) as unzipped:
            yield cast(BinaryIO, unzipped)
    elif compression == ".bz2":
        with bz2.BZ2File(stream) as unzipped_bz2:
            yield cast(BinaryIO, unzipped_bz2)
    elif compression == ".zst":
        import pyarrow as pa

        decompressed = pa.CompressedInputStream(stream, "zstd")
        yield cast(BinaryIO, io.BufferedReader(_Counted(decompressed, _ignore), 1 << 20))
    else:
        yield stream


def _compression(name: str) -> str | None:
    return next((suffix for suffix in COMPRESSIONS if name.lower().endswith(suffix)), None)


def _archive(path: Path) -> str | None:
    return next((suffix for suffix in ARCHIVES if path.name.lower().endswith(suffix)), None)


def _flush(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _ignore(_: int) -> None:
    return None

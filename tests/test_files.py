from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from goldlabel.errors import InputError, StorageError
from goldlabel.files import (
    InputFile,
    atomic_file,
    atomic_folder,
    data_suffix,
    home,
    input_files,
    one_input_file,
    sha256,
)

TEXT = "首都 – capital 🦉\n".encode()


def compressed(folder: Path, suffix: str) -> Path:
    path = folder / f"a.txt{suffix}"
    if suffix == ".gz":
        path.write_bytes(gzip.compress(TEXT))
    elif suffix == ".bz2":
        path.write_bytes(bz2.compress(TEXT))
    elif suffix == ".zst":
        path.write_bytes(pa.compress(TEXT, "zstd", asbytes=True))
    elif suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.txt", TEXT)
    elif suffix == ".tar.gz":
        (folder / "a.txt").write_bytes(TEXT)
        with tarfile.open(path, "w:gz") as tape:
            tape.add(folder / "a.txt", "inner/a.txt")
    else:
        path.write_bytes(TEXT)
    return path


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst", ".zip", ".tar.gz"])
def test_every_compression_reads_the_same(tmp_path: Path, suffix: str) -> None:
    counted: list[int] = []
    file = one_input_file(compressed(tmp_path, suffix))
    with file.open(counted.append) as stream:
        assert stream.read() == TEXT
    assert sum(counted) == file.size
    assert file.name == "a.txt"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst", ".zip", ".tar.gz"])
def test_a_file_cut_short_is_one_clear_error(tmp_path: Path, suffix: str) -> None:
    path = compressed(tmp_path, suffix)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(InputError, match="damaged or cut short"), one_input_file(path).open() as stream:
        stream.read()


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"nothing\.jsonl: there is no such file"),
        InputFile(tmp_path / "nothing.jsonl").open(),
    ):
        pass
    with pytest.raises(InputError, match="is a folder"):
        one_input_file(tmp_path)


def test_archive_with_two_files_is_not_one_file(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jsonl", "{}")
        archive.writestr("b.jsonl", "{}")
        archive.writestr("__MACOSX/a.jsonl", "{}")
    with pytest.raises(InputError, match=r"holds 2 files \(a\.jsonl, b\.jsonl\)"):
        one_input_file(path)


def test_folder_lists_members_of_its_archives(tmp_path: Path) -> None:
    compressed(tmp_path, ".zip")
    (tmp_path / ".hidden").write_text("x")
    assert [str(file) for file in input_files(tmp_path)] == [f"{tmp_path}/a.txt.zip/a.txt"]


def test_atomic_file_leaves_the_old_one_on_failure(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text("old")

    def write_and_stop() -> None:
        with atomic_file(path) as temporary:
            temporary.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_stop()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_folder_replaces_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "dataset"
    with atomic_folder(path) as temporary:
        (temporary / "a").write_text("1")

    def write_and_fail() -> None:
        with atomic_folder(path) as temporary:
            (temporary / "b").write_text("2")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        write_and_fail()
    assert [file.name for file in path.iterdir()] == ["a"]
    with atomic_folder(path) as temporary:
        (temporary / "c").write_text("3")
    assert [file.name for file in path.iterdir()] == ["c"]
    assert list(tmp_path.iterdir()) == [path]


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "a") as temporary:
            temporary.write_text("x")
    finally:
        os.umask(old)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("No space left on device (os error 28)"),
        ValueError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
)
def test_full_disk_says_so_and_changes_nothing(tmp_path: Path, error: Exception) -> None:
    path = tmp_path / "a"
    with pytest.raises(StorageError, match=r"No space left on device.*nothing was changed"), atomic_file(path):
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError("no number (os error 2)"), OSError("odd"), OSError(errno.EIO, "odd")])
def test_other_faults_keep_their_type(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error), match=r"odd|no number"), atomic_file(tmp_path / "a"):
        raise error


def test_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here: not root, or no mount(8)")
    try:
        with pytest.raises(StorageError, match="No space left"), atomic_file(disk / "a") as temporary:
            temporary.write_bytes(b"x" * 200_000)
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_names_and_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_suffix("a.JSONL.gz") == ".jsonl"
    assert data_suffix("a.tsv.zip") == ".tsv"
    assert data_suffix("a") == ""
    (tmp_path / "x").write_bytes(TEXT)
    assert sha256(tmp_path / "x") == hashlib.sha256(TEXT).hexdigest()
    monkeypatch.setenv("GOLDLABEL_HOME", "~/somewhere")
    assert home() == Path("~/somewhere").expanduser()
    monkeypatch.delenv("GOLDLABEL_HOME")
    assert home().name == "goldlabel"

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from goldlabel import files
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


def test_a_folder_in_the_way_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"is a folder; name a file"), atomic_file(tmp_path) as temporary:
        temporary.write_text("x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot be written"), atomic_file(tmp_path / "file" / "a"):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("present", [True, False])
def test_a_symlink_stays_one_and_leads_to_the_new_file(tmp_path: Path, present: bool) -> None:
    (tmp_path / "far").mkdir()
    if present:
        (tmp_path / "far" / "target").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("far/target")
    with atomic_file(link) as temporary:
        assert temporary.parent == tmp_path / "far"
        temporary.write_text("new")
    assert (link.is_symlink(), link.read_text()) == (True, "new")
    folder_link = tmp_path / "folder-link"
    folder_link.symlink_to("far/folder")
    for text in ("1", "2"):
        with atomic_folder(folder_link) as temporary:
            (temporary / text).write_text(text)
    assert folder_link.is_symlink()
    assert [file.name for file in (tmp_path / "far" / "folder").iterdir()] == ["2"]
    assert sorted(file.name for file in (tmp_path / "far").iterdir()) == ["folder", "target"]


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        with atomic_file(pipe) as temporary:
            temporary.write_bytes(TEXT)
        try:
            assert reader.communicate(timeout=30)[0] == TEXT
        finally:
            reader.kill()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_is_written_through(tmp_path: Path) -> None:
    null, full = tmp_path / "null", tmp_path / "full"
    try:  # of our own, as a fault here would take the machine's
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        null.write_bytes(TEXT)
    except PermissionError:
        pytest.skip("no device can be made here: not root, or a disk without devices")
    with atomic_file(null) as temporary:
        temporary.write_bytes(TEXT)
    with pytest.raises(StorageError, match="No space left"), atomic_file(full) as temporary:
        temporary.write_bytes(TEXT)
    assert all(stat.S_ISCHR(device.stat().st_mode) for device in (null, full))
    assert sorted(tmp_path.iterdir()) == [full, null]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_to_where_it_stands(tmp_path: Path, name: str) -> None:
    program = (
        "import sys; from pathlib import Path; from goldlabel.files import atomic_file\n"
        "print('before')\n"
        f"with atomic_file(Path({name!r})) as temporary: temporary.write_text('data\\n')\n"
        "print('after')"
    )
    file = tmp_path / "out"
    with file.open("w") as stream:
        inode = os.fstat(stream.fileno()).st_ino
        subprocess.run([sys.executable, "-c", program], stdout=stream, check=True)
    assert (file.read_text(), file.stat().st_ino) == ("before\ndata\nafter\n", inode)


def test_utf_16_is_named(tmp_path: Path) -> None:
    files = {
        "UTF-16": ["{}".encode("utf-16"), "\ufeff{}".encode("utf-16-be")],
        "UTF-32": ["{}".encode("utf-32")],
        "UTF-16LE": ["{}".encode("utf-16-le")],
        "UTF-16BE": ["{}".encode("utf-16-be")],
    }
    for name, data in ((name, data) for name, texts in files.items() for data in texts):
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(data))
        with (
            pytest.raises(
                InputError, match=rf"a\.jsonl\.gz: is {name}, and text is read as UTF-8; convert it, as with"
            ),
            InputFile(path).open(),
        ):
            pass


def test_a_folder_without_end_is_no_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.json").write_text("{}")
    assert [file.name for file in input_files(tmp_path)] == [f"{number}.txt" for number in range(5)]
    monkeypatch.setattr(files, "MOST_FILES", 4)
    with pytest.raises(InputError, match="holds more than 4 files, as no corpus does; name the folder or file"):
        input_files(tmp_path)


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vanishing").mkdir()
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("vanishing"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"vanishing: cannot be read \(Permission denied\)"):
        input_files(tmp_path)


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

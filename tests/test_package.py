"""``goldlabel``'s own names, plain functions whatever was imported before them; and what is built for others."""

from __future__ import annotations

import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from tools.release_notes import release_notes

import goldlabel as gl

ROOMS = ("audit", "train", "verify")

ORDERS = """
import importlib, inspect, sys
orders = [
    ["goldlabel"],
    ["goldlabel.{room}"],
    ["goldlabel.{room}.{inner}"],
    ["goldlabel", "goldlabel.{room}.{inner}"],
    ["goldlabel.cli.app"],
]
for room, inner in {rooms}:
    for order in orders:
        for name in [name for name in sys.modules if name.split(".")[0] == "goldlabel"]:
            del sys.modules[name]
        for name in order:
            importlib.import_module(name.format(room=room, inner=inner))
        import goldlabel
        assert inspect.isfunction(getattr(goldlabel, room)), (room, order)
        exec(f"from goldlabel.{{room}} import {{inner}}, {{room}}; assert inspect.ismodule({{inner}})")
        exec(f"import goldlabel.{{room}}.{{inner}}; assert goldlabel.{{room}} is {{room}}")
        exec(f"from goldlabel import {{room}}; assert inspect.isfunction({{room}})")
"""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_called_by_a_plain_function(room: str) -> None:
    function = getattr(gl, room)
    assert inspect.isfunction(function)
    first = next(iter(inspect.signature(function).parameters.values()))
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty
    assert f"{room}({first.name}" in pydoc.plain(pydoc.render_doc(function))
    assert pickle.loads(pickle.dumps(function)) is function


def test_the_order_of_imports_does_not_matter() -> None:
    rooms = [("audit", "auditing"), ("train", "options"), ("verify", "votes")]
    program = ORDERS.format(rooms=rooms, room="{room}", inner="{inner}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source distribution of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "hatchling", "build", "-d", str(folder), cwd=ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_a_wheel_works_in_a_clean_environment(built: tuple[Path, Path], tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    _run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(built[0]),
    )
    (site,) = (tmp_path / "env" / "lib").glob("*/site-packages")
    others = {str(Path(place).resolve()) for place in sys.path if place.endswith("site-packages")}
    (site / "dependencies.pth").write_text("\n".join(others))  # what the wheel asks for is not installed once more
    version = _run(str(tmp_path / "env" / "bin" / "goldlabel"), "--version", cwd=tmp_path)
    assert version.split()[1] == built[0].name.split("-")[1]
    place = _run(str(python), "-c", "import goldlabel; print(goldlabel.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(site)


def test_nothing_of_the_package_is_left_out(built: tuple[Path, Path]) -> None:
    here = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "goldlabel").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(built[0]) as wheel:
        assert here - set(wheel.namelist()) == set()
    assert "goldlabel/py.typed" in here


def test_a_source_distribution_without_a_repository_gives_the_same_wheel(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    with tarfile.open(built[1]) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=source)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name == built[0].name


def test_a_release_has_the_notes_of_its_section() -> None:
    text = "# Log\n\n## [Unreleased]\n\n## [0.2.0] - 2031-01-02\n\n### Added\n\n- A gate.\n\n## [0.1.0]\n\n- A wall.\n"
    assert release_notes("0.2.0", text) == "### Added\n\n- A gate.\n"
    assert release_notes("0.1.0", text) == "- A wall.\n"
    with pytest.raises(SystemExit, match=r"no notes of Unreleased; it has those of Unreleased, 0\.2\.0, 0\.1\.0"):
        release_notes("Unreleased", text)


def _run(*command: str, cwd: Path | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout

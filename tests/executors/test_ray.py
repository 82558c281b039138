"""Work on a Ray cluster outlives its nodes: each piece is done, once, and waits for nothing that cannot come."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')

import goldlabel as gl  # noqa: E402
from goldlabel.audit.corpus import read_corpus  # noqa: E402
from goldlabel.audit.hypothesis_only import cross_validate_model  # noqa: E402
from goldlabel.errors import InputError, PieceError  # noqa: E402
from goldlabel.evaluate import shared_prediction  # noqa: E402
from goldlabel.executors import DIED, Failure, Tell, collect, open_executor  # noqa: E402
from goldlabel.executors.ray import LOST, Ray  # noqa: E402
from goldlabel.files import lock_folder, sha256  # noqa: E402
from goldlabel.recast.collection import recast_all  # noqa: E402
from goldlabel.train import TrainOptions, sweep  # noqa: E402
from goldlabel.train.cluster_devices import run_on_cluster  # noqa: E402
from goldlabel.train.run import Step  # noqa: E402
from goldlabel.train.task import gather_task  # noqa: E402
from tests.bench.samples import Birds, pairs  # noqa: E402
from tests.executors.conftest import NODE  # noqa: E402
from tests.executors.samples import FOLDER, begun, killing, wait_for  # noqa: E402
from tests.executors.test_executors import check_results, check_words  # noqa: E402
from tests.recast.samples import sentiment, winogender  # noqa: E402
from tests.train.samples import SMALL, weights, with_dev  # noqa: E402


@pytest.fixture
def doomed(nodes: Any, cluster: str) -> Iterator[Any]:
    """A second node."""
    node = nodes.add_node(**NODE)
    yield node
    nodes.remove_node(node)


def test_pieces_of_a_killed_node_are_done_elsewhere(cluster: str, doomed: Any, tmp_path: Path) -> None:
    outcomes: dict[str, Any] = {}
    names = ["ash", "birch", "cedar", "elm"]
    with killing(doomed, tmp_path, lambda: len(begun(tmp_path)) == 2), open_executor("ray") as executor:
        executor.run(wait_for, {name: (tmp_path, name) for name in names}, outcomes.__setitem__)
    assert outcomes == {name: name.upper() for name in names}
    places = begun(tmp_path)
    lost = [name for name in names if doomed.node_id in places[name]]
    assert len(lost) == 1, "the killed node was at work"
    assert {name: len(places[name]) for name in names} == {name: 1 + (name in lost) for name in names}, "nothing twice"


def test_a_suite_outlives_a_node(cluster: str, doomed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {label: f"tests.executors.samples:say_{label}" for label in ("entailed", "neutral")}
    folders = {"here": tmp_path / "one", "ray": tmp_path / "many"}
    results = {}
    for executor, folder in folders.items():
        folder.mkdir()
        monkeypatch.setenv(FOLDER, str(folder))
        if executor == "here":
            (folder / "go").touch()
            results[executor] = gl.bench(Birds(), models, folder / "bench", executor=executor)
            continue
        with killing(doomed, folder, lambda folder=folder: len(begun(folder)) == 2):  # type: ignore[misc]
            results[executor] = gl.bench(Birds(), models, folder / "bench", executor=executor)
    assert results["ray"].to_dict() == results["here"].to_dict()
    assert [doomed.node_id in places for places in begun(folders["ray"]).values()].count(True) == 1
    one, many = ({path.name: path.read_text() for path in folder.glob("*.answered")} for folder in folders.values())
    assert one == many, "everything was asked, and nothing twice"
    answers = [
        {path.name: path.read_bytes() for path in (folder / "bench/answers").iterdir()} for folder in folders.values()
    ]
    assert answers[0] == answers[1]


def test_scoring_outlives_a_node(cluster: str, doomed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_prediction, "SLICE", 10)
    written = {}
    for name in ("here", "ray"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setenv(FOLDER, str(folder))
        asked = pairs("train", 60)
        with (
            open_executor(name) as executor,
            killing(doomed, folder, lambda folder=folder: len(begun(folder).get("entailment", [])) == 2)  # type: ignore[misc]
            if name == "ray"
            else nullcontext((folder / "go").touch()),
        ):
            gl.predict("tests.executors.samples:say_entailed", asked, folder / "out.parquet", executor=executor)
        written[name] = (folder / "out.parquet").read_bytes()
        assert (folder / "entailment.answered").read_text() == "10\n" * 6, "everything was asked, and nothing twice"
    assert written["ray"] == written["here"]
    places = begun(tmp_path / "ray")["entailment"]
    assert (len(places), places.count(doomed.node_id)) == (7, 1), "the killed node was at work"


def test_a_sweep_outlives_a_node(cluster: str, doomed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    options: dict[str, Any] = {**SMALL, "seeds": 2, "epochs": 30, "patience": 30}
    under_way: set[str] = set()
    outcomes: list[Any] = []
    real = Ray._outcome
    monkeypatch.setattr(Ray, "_outcome", lambda self, ref: outcomes.append(real(self, ref)) or outcomes[-1])

    def tell(name: str, step: Step) -> None:
        under_way.add(name)

    with killing(doomed, tmp_path, lambda: len(under_way) > 1):
        many = sweep("cbow", with_dev(), tmp_path / "many", executor="ray", on_step=tell, **options)
    assert [outcome is LOST for outcome in outcomes].count(True) == 1, "a run was lost with the node"
    assert len(outcomes) == 3, "and no other was begun again"
    one = sweep("cbow", with_dev(), tmp_path / "one", **options)
    assert (list(many.runs), many.failed) == (list(one.runs), {})
    for name, run in one.runs.items():
        assert weights(tmp_path / "many" / name) == weights(tmp_path / "one" / name)
        assert many.runs[name].dev == run.dev
        assert len((tmp_path / "many" / name / "metrics.jsonl").read_text().splitlines()) == run.epochs
        assert not many.runs[name].finished_before
    monkeypatch.setattr(shared_prediction, "SLICE", 10)
    for executor in ("here", "ray"):
        with open_executor(executor) as workers:
            gl.predict(tmp_path / "many" / name, with_dev(), tmp_path / f"{executor}.parquet", executor=workers)
    assert (tmp_path / "ray.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()


def test_recast_and_audit_give_the_bytes_of_one_process(cluster: str, tmp_path: Path) -> None:
    sentiment(tmp_path / "sources" / "sentiment")
    winogender(tmp_path / "sources" / "winogender")
    corpus = read_corpus(pairs("train", 60))
    with open_executor("ray") as workers:
        recast_all(tmp_path / "sources", tmp_path / "many", executor=workers)
        many = cross_validate_model(pairs("train", 60), corpus, "linear", executor=workers)
    recast_all(tmp_path / "sources", tmp_path / "one")
    one = cross_validate_model(pairs("train", 60), corpus, "linear")
    assert many.probabilities.tobytes() == one.probabilities.tobytes()
    made = [{path.name: sha256(path) for path in (tmp_path / out).iterdir()} for out in ("one", "many")]
    assert made[0] == made[1]


def test_a_cluster_does_what_processes_do(cluster: str, tmp_path: Path) -> None:
    check_results("ray", cluster)
    check_words("ray", tmp_path, cluster)


def test_more_devices_than_the_cluster_has(cluster: str, tmp_path: Path) -> None:
    task = gather_task("cbow", [with_dev()], TrainOptions(device="cpu"))
    with pytest.raises(InputError, match=r"--devices 9: the cluster has \d cores; give at most so many"):
        run_on_cluster(task, tmp_path / "run", devices=9)


def fail(tell: Tell) -> None:
    raise ZeroDivisionError("a fault of ours")


def test_a_failure_that_ends_all_is_one_line_and_a_file(cluster: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        open_executor("ray") as executor,
        pytest.raises(PieceError, match=r"^oak: .*\(on node .*\) \(see .*\)$") as failed,
    ):
        collect(executor, fail, {"oak": ()})
    log = Path(str(failed.value).rpartition("(see ")[2].removesuffix(")"))
    assert "in fail\n" in log.read_text(encoding="utf-8")


def kill_itself(tell: Tell) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_piece_that_kills_its_workers_is_given_up(cluster: str) -> None:
    outcomes: dict[str, Any] = {}
    with open_executor("ray") as executor:
        executor.run(kill_itself, {"oak": ()}, outcomes.__setitem__)
    assert outcomes == {"oak": Failure(DIED)}


def test_more_gpus_than_any_node_has(cluster: str) -> None:
    message = r"no node of the cluster has 1 GPUs; give fewer with --gpus-per-job \(.+: 0 GPUs"
    with pytest.raises(InputError, match=message), open_executor("ray", gpus_per_job=1):
        pass


def test_ctrl_c_ends_every_piece(cluster: str, tmp_path: Path) -> None:
    def press() -> None:
        while not begun(tmp_path):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    with open_executor("ray") as executor:
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            executor.run(wait_for, {name: (tmp_path, name) for name in ("fir", "yew")}, lambda name, outcome: None)
    presser.join()
    for name in begun(tmp_path):
        with lock_folder(tmp_path / name, "looking"):
            assert not (tmp_path / f"{name}.done").exists()


def test_a_path_that_only_some_nodes_see(cluster: str, tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("heron 0.1\n", encoding="utf-8")
    with (tmp_path / "vectors.txt").open("rb") as stream, open_executor("ray") as executor:
        paths = [Path(f"/dev/fd/{stream.fileno()}")]
        with pytest.raises(InputError, match=r"^node .+: does not see /dev/fd/\d+ as it is here"):
            executor.run(wait_for, {"ash": (tmp_path, "ash")}, lambda name, outcome: None, paths=paths)
    assert not begun(tmp_path)

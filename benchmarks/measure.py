"""Running one piece of work in a process of its own, and writing what was seen."""

from __future__ import annotations

import json
import multiprocessing
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def measure(work: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Return the seconds, those of processors, and the peak memory (MB) that ``work`` took in a fresh process."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue, work, arguments))
    process.start()
    outcome: dict[str, Any] | None = None
    try:
        while outcome is None:
            try:
                outcome = queue.get(timeout=1)
            except Exception:
                if not process.is_alive():
                    raise SystemExit(f"{work.__name__} died") from None
    except BaseException:
        process.kill()
        raise
    finally:
        process.join()
    return outcome


def _child(queue: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    start = time.perf_counter()
    result = work(*arguments)
    seconds = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    processor = usage.ru_utime + usage.ru_stime
    queue.put({"seconds": seconds, "cpu_seconds": processor, "peak_mb": _peak_mb(usage.ru_maxrss), "result": result})


def _peak_mb(kilobytes: int) -> float:
    """Return the most memory of this process; on Linux ``getrusage`` also counts what its parent held at the start."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), kilobytes) / 1024


def write_result(name: str, figures: dict[str, Any]) -> None:
    """Write a benchmark's figures as JSON, with the machine they were seen on."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": multiprocessing.cpu_count()}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(figures | {"machine": machine}, indent=2) + "\n")
    print(f"written to {path}")

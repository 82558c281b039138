"""Recasting every source that lies in GOLDLABEL_CORPORA, and whether time is linear and memory flat as files grow.

Recast:  each dataset in a process of its own: pairs, pairs per second, peak memory; then all as one collection.
Growth:  invented CoNLL files of named entities, each several times as long as the one before.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import measure, write_result

ENTITIES = "named-entities"
TYPES = ("PER", "LOC", "ORG")


def recast_part(name: str, paths: list[str], style: str, output: str) -> dict[str, Any]:
    """Recast one dataset into a folder; the seconds leave out the loading of the package."""
    from goldlabel.recast import Options, run_recast

    start = time.perf_counter()
    run = run_recast(name, [Path(path) for path in paths], Options(style=style), output=Path(output))  # type: ignore[arg-type]
    return {"seconds": time.perf_counter() - start, "pairs": len(run.pairs), "events": run.events}


def recast_whole(sources: str, style: str, output: str) -> dict[str, Any]:
    from goldlabel.recast import Options
    from goldlabel.recast.collection import recast_all

    start = time.perf_counter()
    made = recast_all(Path(sources), Path(output), Options(style=style))  # type: ignore[arg-type]
    return {"seconds": time.perf_counter() - start, "pairs": len(made.pairs)}


def measured(work: Any, *arguments: Any) -> dict[str, Any]:
    outcome = measure(work, *arguments)
    seen: dict[str, Any] = outcome["result"] | {"peak_mb": outcome["peak_mb"]}
    return seen | {"pairs_per_second": seen["pairs"] / seen["seconds"]}


def show(name: str, seen: dict[str, Any]) -> None:
    print(
        f"{name:32} {seen['pairs']:11,} pairs {seen['seconds']:8.2f} s {seen['pairs_per_second']:9,.0f} pairs/s  "
        f"peak {seen['peak_mb']:6,.0f} MB"
    )


def recasts(sources: Path, chosen: list[str]) -> dict[str, Any]:
    from goldlabel.recast.collection import find_parts

    figures: dict[str, Any] = {}
    for part, paths in find_parts(sources).items():
        if chosen and part.name not in chosen:
            continue
        for style in ("dnc", "plain"):
            with tempfile.TemporaryDirectory() as folder:
                seen = measured(recast_part, part.recaster, [str(path) for path in paths], style, f"{folder}/out")
            figures[f"{part.name} {style}"] = seen
            show(f"{part.name} {style}", seen)
    if not chosen:
        for style in ("dnc", "plain"):
            with tempfile.TemporaryDirectory() as folder:
                seen = measured(recast_whole, str(sources), style, f"{folder}/out")
            figures[f"all {style}"] = seen
            show(f"all {style}", seen)
    return figures


def sentences(pairs: int) -> Iterator[str]:
    """Yield CoNLL sentences of one entity each, two pairs apiece in the released style; names come back often."""
    for number in range(pairs // 2):
        kind = TYPES[(number * 7 + number // 500) % 3]
        name = f"Vale{number % 499}"
        yield f"Then O\n{name} B-{kind}\npassed O\nmill O\n{number} O\n. O\n\n"


def growth(smallest: int, largest: int) -> list[dict[str, Any]]:
    """Recast ever longer files; pairs per second and memory should stay as they are."""
    figures = []
    size = smallest
    while size <= largest:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "invented.conll"
            with path.open("w", encoding="utf-8") as stream:
                stream.writelines(sentences(size))
            seen = measured(recast_part, ENTITIES, [str(path)], "dnc", f"{folder}/out")
        figures.append(seen)
        show(f"{ENTITIES}, invented", seen)
        size *= 10
    first, last = figures[0], figures[-1]
    grown = last["pairs"] / first["pairs"]
    print(
        f"{grown:,.0f} times the pairs took {last['seconds'] / first['seconds']:,.1f} times the seconds and "
        f"{last['peak_mb'] / first['peak_mb']:.2f} times the memory"
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", help="only these datasets of the collection")
    parser.add_argument("--smallest", type=int, default=100_000, help="pairs of the smallest invented file")
    parser.add_argument("--largest", type=int, default=10_000_000, help="pairs of the largest; 0: none")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    corpora = os.environ.get("GOLDLABEL_CORPORA")
    if corpora:
        figures["recast"] = recasts(Path(corpora) / "recast_sources", options.datasets)
    else:
        print("GOLDLABEL_CORPORA is not set: no sources to recast")
    if options.largest:
        figures["growth"] = growth(options.smallest, options.largest)
    write_result("recast", figures)


if __name__ == "__main__":
    main()

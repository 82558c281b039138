"""Making pairs: how many a second in each language, and whether memory stays flat from 100,000 to a million.

Draw:   the generator alone, block by block, nothing kept.
Write:  the same into a dataset folder, as ``goldlabel data make`` does it.
Plant:  the same with an artifact, for which true pairs are left out.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from measure import measure, write_result

ARTIFACT = "negation:contradiction:0.8"


def draw(language: str, pairs: int) -> int:
    from goldlabel.sources.fragments import make_fragments

    return sum(len(block) for block in make_fragments(language, pairs))


def write(language: str, pairs: int, folder: str, artifact: str | None) -> int:
    from goldlabel.sources.fragments import write_fragments

    return int(write_fragments(folder, language, pairs, artifact=artifact).to_dict()["pairs"])


def figures(pairs: int, seen: dict[str, Any]) -> dict[str, Any]:
    return {
        "pairs": pairs,
        "seconds": round(seen["seconds"], 2),
        "pairs_per_second": round(pairs / seen["seconds"]),
        "peak_mb": round(seen["peak_mb"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    pairs = parser.parse_args().pairs
    result: dict[str, Any] = {}
    for language in ("en", "zh"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            result[language] = {
                "draw_tenth": figures(pairs // 10, measure(draw, language, pairs // 10)),
                "draw": figures(pairs, measure(draw, language, pairs)),
                "write_tenth": figures(pairs // 10, measure(write, language, pairs // 10, str(folder / "tenth"), None)),
                "write": figures(pairs, measure(write, language, pairs, str(folder / "whole"), None)),
                "plant": figures(pairs, measure(write, language, pairs, str(folder / "planted"), ARTIFACT)),
            }
        for kind, seen in result[language].items():
            print(
                f"{language} {kind:12} {seen['pairs']:>9,} pairs {seen['seconds']:>7.1f} s "
                f"{seen['pairs_per_second']:>9,} pairs/s {seen['peak_mb']:>6,} MB"
            )
        growth = result[language]["write"]["peak_mb"] / result[language]["write_tenth"]["peak_mb"]
        result[language]["memory_growth_for_ten_times_the_pairs"] = round(growth, 2)
        print(f"{language} memory for ten times the pairs: {growth:.2f} times")
    write_result("make", result)


if __name__ == "__main__":
    main()

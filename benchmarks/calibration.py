"""How often 95 % intervals hold the truth and tests at 0.05 reject it: the tests' simulations, run longer.

    python benchmarks/calibration.py [--runs 5]

Each room's ``tests/**/test_calibration.py`` has ``measure(runs)``; ``runs`` is how many times as many simulations as
the tests make. Printed is one row per figure and design.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from dataclasses import asdict
from pathlib import Path

from measure import write_result

ROOT = Path(__file__).parent.parent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    sys.path.insert(0, str(ROOT))
    rows = []
    for path in sorted((ROOT / "tests").rglob("test_calibration.py")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for rate in module.measure(runs):
            row = {**asdict(rate), "design": str(rate.design), "share": rate.share}
            print(f"{rate.figure:32} {row['design']:28} {rate.kind:10} {rate.share:.3f} of {rate.runs}", flush=True)
            rows.append(row)
    write_result("calibration", {"rates": rows})


if __name__ == "__main__":
    main()

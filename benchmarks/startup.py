"""What a command costs before it does anything: its processor time on a handful of pairs, and what importing takes.

    python benchmarks/startup.py [COMMAND…]

Each command is started a few times and the least time counts: what else the machine does can only add. What
``python -c pass`` takes is part of every figure, and stands beside them. So does what of it goes into importing other
libraries: the rest is the command's own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from measure import write_result

TIMES = 5
SLOW = 3
"""Packages named for each command."""
COMMANDS = (
    "--version",
    "--help",
    "verify --help",
    "data --help",
    "data list",
    "data show PAIRS",
    "data show DATASET",
    "data head PAIRS",
    "data sample PAIRS -n 2",
    "data filter PAIRS --where length>2",
    "data card DATASET",
    "data diff PAIRS DATASET",
    "data merge PAIRS DATASET --prefix -o OUT",
    "data dedupe PAIRS -o OUT",
    "data duplicates PAIRS",
    "data split PAIRS --ratios 80:10:10 -o OUT",
    "data export PAIRS --to csv -o OUT.csv",
    "data export PAIRS --to hf -o OUT",
    "data make fragments --pairs 10 -o OUT",
    "recast list",
    "verify PAIRS",
    "score PREDICTIONS PAIRS",
    "compare PREDICTIONS PREDICTIONS PAIRS",
    "audit PAIRS --no-near",
    "train majority --on PAIRS -o OUT",
    "train linear --on PAIRS -o OUT",
    "score RUN PAIRS",
    "models",
    "collect init OUT --protocol multi --language en",
)


def processor_seconds(*arguments: str, folder: Path) -> float:
    """Return the least processor time of a few starts of Python."""
    seconds = []
    for number in range(TIMES):
        words = [word.replace("OUT", str(folder / f"out-{number}-{len([*folder.iterdir()])}")) for word in arguments]
        process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(arguments)} failed")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return min(seconds)


def import_seconds(*arguments: str, folder: Path) -> dict[str, float]:
    """Return the seconds that the modules of each package take to import."""
    words = [word.replace("OUT", str(folder / f"last-{len([*folder.iterdir()])}")) for word in arguments]
    done = subprocess.run([sys.executable, "-X", "importtime", *words], capture_output=True, text=True)
    packages: dict[str, float] = defaultdict(float)
    for microseconds, module in re.findall(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", done.stderr, flags=re.M):
        packages[module.partition(".")[0]] += int(microseconds) / 1e6
    return packages


def prepare(folder: Path) -> dict[str, str]:
    """Write the files that commands are tried on; return them by the words that stand for them."""
    labels = ("entailment", "neutral", "contradiction")
    pairs, predictions = folder / "pairs.jsonl", folder / "predictions.csv"
    rows = [
        {
            "premise": f"Heron {number} stands.",
            "hypothesis": f"Bird {number} {number % 3}.",
            "label": labels[number % 3],
        }
        | {"votes": [labels[number % 3]] * 4 + [labels[number % 2]]}
        for number in range(30)
    ]
    pairs.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    places = {"PAIRS": pairs, "DATASET": folder / "dataset", "RUN": folder / "run", "PREDICTIONS": predictions}
    for command in (
        "data export PAIRS --to parquet --name herons -o DATASET",
        "train linear --on PAIRS -o RUN",
        "predict RUN PAIRS -o PREDICTIONS",
    ):
        words = [str(places.get(word, word)) for word in command.split()]
        subprocess.run([sys.executable, "-m", "goldlabel", *words], check=True, capture_output=True)
    return {word: str(place) for word, place in places.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ |= {"PYTHONPYCACHEPREFIX": str(folder / "cache"), "GOLDLABEL_HOME": str(folder / "home")}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
        places = prepare(folder)
        bare = processor_seconds("-c", "pass", folder=folder)
        figures = {}
        for command in sys.argv[1:] or COMMANDS:
            arguments = ("-m", "goldlabel", *(places.get(word, word) for word in command.split()))
            seconds = processor_seconds(*arguments, folder=folder)
            spent = import_seconds(*arguments, folder=folder)
            slowest = dict(sorted(spent.items(), key=lambda one: -one[1])[:SLOW])
            libraries = sum(spent[name] for name in spent if name not in {"goldlabel", *sys.stdlib_module_names})
            figures[command] = {
                "ratio": round(seconds / bare, 1),
                "seconds": round(seconds, 3),
                "libraries": round(libraries, 3),
                "slowest": slowest,
            }
            named = ", ".join(f"{package} {own:.2f}" for package, own in slowest.items())
            print(
                f"{seconds:5.2f} s, {seconds / bare:5.1f} times python -c pass, {libraries:.2f} s of it libraries: "
                f"goldlabel {command} ({named})"
            )
    write_result("startup", {"bare_seconds": round(bare, 4), "commands": figures})


if __name__ == "__main__":
    main()

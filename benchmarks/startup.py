"""What a command costs before it does anything: its processor time beside ``python -c pass``, and the slowest import.

    python benchmarks/startup.py

Each command is started a few times and the least time counts: what else the machine does can only add.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from measure import write_result

TIMES = 5
PAIR = {"premise": "A heron stands.", "hypothesis": "A bird stands.", "label": "entailment"}
COMMANDS = ("--version", "--help", "verify --help", "data --help", "data list", "data show PAIRS", "data head PAIRS")


def processor_seconds(*arguments: str) -> float:
    """Return the least processor time of a few starts of Python."""
    seconds = []
    for _ in range(TIMES):
        process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(arguments)} failed")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return min(seconds)


def slowest_import(*arguments: str) -> tuple[str, float]:
    """Return the package whose modules take longest to import, and its share of the time of all imports."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True)
    shares: Counter[str] = Counter()
    for microseconds, module in re.findall(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", done.stderr, flags=re.M):
        shares[module.partition(".")[0]] += int(microseconds)
    package, longest = shares.most_common(1)[0]
    return package, longest / shares.total()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PYTHONPYCACHEPREFIX": folder, "GOLDLABEL_HOME": str(Path(folder, "home"))}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
        pairs = Path(folder, "pairs.jsonl")
        pairs.write_text(json.dumps(PAIR) + "\n")
        bare = processor_seconds("-c", "pass")
        figures = {}
        for command in COMMANDS:
            arguments = ("-m", "goldlabel", *command.replace("PAIRS", str(pairs)).split())
            seconds = processor_seconds(*arguments)
            package, share = slowest_import(*arguments)
            figures[command] = {"ratio": round(seconds / bare, 1), "seconds": round(seconds, 3), "slowest": package}
            print(
                f"goldlabel {command:18} {seconds / bare:6.1f} times python -c pass, {seconds:.2f} s of processor; "
                f"slowest import: {package}, {share:.0%} of all imports"
            )
    write_result("startup", {"bare_seconds": round(bare, 4), "commands": figures})


if __name__ == "__main__":
    main()

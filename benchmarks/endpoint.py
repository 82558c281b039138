"""An endpoint run that is dropped, cut and killed: is every pair scored once, and the cost exact?

A local server (``tests/models/endpoint_server.py``) answers 2,000 pairs and drops a third of all calls, half of them
before the model ran and half of them in the middle of the reply. The run is a process of its own, killed (-9) midway
and started again. Then the server's ledger is held against what the run counted:

delivered   whole replies that the server wrote; what a client can know of
cut         replies that broke off: the server would bill them, no client can count them
lost        delivered while the process was killed: the one difference between the two ledgers, call by call
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from measure import write_result  # noqa: E402
from tests.models.endpoint_server import LocalEndpoint, drop_third, pairs_by_number, serve  # noqa: E402

PRICES = {"price_in": 0.15, "price_out": 0.6}


def run(reference: str, cache: str, pairs: int, concurrency: int) -> None:
    """Score the pairs and print what was counted; this is the process that is killed."""
    import numpy as np

    from goldlabel.models.endpoint import Endpoint

    model = Endpoint.from_reference(reference, cache=cache, concurrency=concurrency, answers="free", **PRICES)
    scores = model.predict(*pairs_by_number(pairs))
    model.close()
    right = scores.argmax(axis=1) == np.arange(pairs) % 3
    print(json.dumps(model.summary().to_dict() | {"right": int(right.sum())}))


def start(server: LocalEndpoint, cache: Path, pairs: int, concurrency: int) -> subprocess.Popen[str]:
    """Start the run in a process of its own."""
    settings = [server.reference, str(cache), str(pairs), str(concurrency)]
    return subprocess.Popen([sys.executable, __file__, "--run", *settings], stdout=subprocess.PIPE, text=True)


def price(tokens: tuple[int, int]) -> float:
    """Return what tokens cost."""
    return (tokens[0] * PRICES["price_in"] + tokens[1] * PRICES["price_out"]) / 1_000_000


def compare(pairs: int, concurrency: int) -> dict[str, Any]:
    """Run, kill, run again, and hold both ledgers against each other."""
    midway = threading.Event()
    with tempfile.TemporaryDirectory() as folder, serve(trouble=drop_third) as server:
        server.on_delivery = lambda delivered: midway.set() if delivered >= pairs // 2 else None
        cache = Path(folder, "replies.sqlite")
        started = time.perf_counter()
        process = start(server, cache, pairs, concurrency)
        while not midway.wait(1):
            if process.poll() is not None:
                raise SystemExit("the run ended before it was killed")
        process.send_signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            raise SystemExit("the run ended before it was killed")
        before = server.outcomes()
        process = start(server, cache, pairs, concurrency)
        output, _ = process.communicate()
        if process.returncode:
            raise SystemExit("the second run failed")
        counted = json.loads(output)
        seconds = time.perf_counter() - started
    delivered = Counter(entry.call for entry in server.ledger if entry.outcome == "delivered")
    again = delivered - Counter(delivered.keys())
    lost = [entry for entry in server.ledger if entry.outcome == "delivered" and entry.call in again]
    ours = counted["cost"] + counted["cost_before"]
    theirs = price(server.tokens("delivered"))
    # Killed once, so that what was lost was delivered twice.
    underway = price((sum(entry.tokens_in for entry in lost), sum(entry.tokens_out for entry in lost))) / 2
    return {
        "pairs": pairs,
        "answered": counted["answered"],
        "right": counted["right"],
        "seconds": seconds,
        "calls_at_the_server": len(server.ledger),
        "outcomes": dict(server.outcomes()),
        "delivered_before_the_kill": before["delivered"],
        "from_the_cache": counted["cached"],
        "different_calls_delivered": len(delivered),
        "lost_in_the_kill": again.total(),
        "most_that_can_be_lost": concurrency,
        "cost_counted": ours,
        "cost_delivered": theirs,
        "cost_lost_in_the_kill": underway,
        "cost_of_cut_replies": price(server.tokens("cut")),
        "every_pair_scored_once": counted["answered"] == counted["right"] == len(delivered) == pairs,
        "cost_exact": abs(theirs - underway - ours) < 1e-12,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--run", nargs=4, metavar=("REFERENCE", "CACHE", "PAIRS", "CONCURRENCY"))
    arguments = parser.parse_args()
    if arguments.run:
        reference, cache, pairs, concurrency = arguments.run
        run(reference, cache, int(pairs), int(concurrency))
        return
    figures = compare(arguments.pairs, arguments.concurrency)
    for name, value in figures.items():
        print(f"{name:28}{value}")
    write_result("endpoint", figures)
    if not (figures["every_pair_scored_once"] and figures["cost_exact"]):
        raise SystemExit("the ledgers do not agree")


if __name__ == "__main__":
    main()

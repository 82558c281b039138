"""Writing against models: how quickly tries are answered with many writers at once, and a campaign of three rounds.

Tries:    writers on a real server try without pause against a classic model; tries a second and the latency of their
          verdicts, with the tries of all writers answered together, and one by one.
Rounds:   the campaign of ``tests/rounds`` over three rounds, each with models trained on all before: does the error
          rate fall?
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import write_result

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.collect.campaign import join
from tests.rounds.campaign import command, set_up
from tests.rounds.players import Writer, contexts, lessons, together
from tests.web.site import serving

from goldlabel.collect.projects import add_premises
from goldlabel.train import train
from goldlabel.worker import adversaries


class Timed(Writer):
    """A writer who notes how long each verdict took, and stops after some seconds."""

    seconds = 10.0
    taken: list[float]

    def play(self) -> list[float]:
        """Try for some seconds; return how long each verdict took."""
        self.taken = []
        end = time.monotonic() + self.seconds
        for task in self.tasks("write"):
            self.job(task)
            if time.monotonic() > end:
                break
        return self.taken

    def post(self, path: str, **body: Any) -> Any:
        """Send something, and note how long a try waits for its verdict."""
        if not path.endswith("/tries"):
            return super().post(path, **body)
        began = time.perf_counter()
        told = super().post(path, **body)
        while told["tries"][-1]["state"] == "waiting":
            told = self.get(path)
        self.taken.append(time.perf_counter() - began)
        return told


def try_together(model: str, writers: int, together_at_most: int) -> dict[str, Any]:
    """Let writers try against a model, so many of their tries answered together at most."""
    adversaries.MOST = together_at_most
    with tempfile.TemporaryDirectory() as place:
        campaign = set_up(Path(place) / "campaign")
        settings: dict[str, Any] = {} if model == "linear" else {"epochs": 2}
        train(model, lessons(4), campaign.runs / model, **settings)
        people = join(campaign.store, campaign.project_id, "writer", writers, exclusive=True, condition="adversarial")
        with campaign.store.write() as tx:
            add_premises(tx, campaign.project_id, contexts(0, 20 * writers), by=None)
        command("open", campaign.folder, "--adversary", campaign.runs / model)
        with serving(campaign.store) as site:
            players = [Timed(campaign.store, site.address, campaign.project_id, one) for one in people]
            began = time.perf_counter()
            taken = np.array([one for several in together(players) for one in several])
            seconds = time.perf_counter() - began
            for player in players:
                player.client.close()
    p50, p95 = np.quantile(taken, [0.5, 0.95])
    figures = {"tries_per_second": len(taken) / seconds, "p50": float(p50), "p95": float(p95), "tries": len(taken)}
    print(f"{model}, {writers} writers, {together_at_most} together: {figures}")
    return figures


def play_rounds(count: int) -> list[dict[str, Any]]:
    """Play rounds; return what came of each."""
    with tempfile.TemporaryDirectory() as place:
        campaign = set_up(Path(place) / "campaign")
        with serving(campaign.store) as site:
            for _ in range(count):
                campaign.play(site.address, 60)
                command("close", campaign.folder)
                told = command(
                    "train", campaign.folder, "--model", "linear", "--with", campaign.lessons, "-o", campaign.runs
                )
                print(told["round"], told["dev"])
            rounds: list[dict[str, Any]] = command("report", campaign.folder, "-o", Path(place) / "report")["rounds"]
    for one in rounds:
        print(one["name"], one["errors"], one["verified_errors"], one["tries"])
    return rounds


def main() -> None:
    """Measure, and write what was seen."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="esim")
    options.add_argument("--writers", type=int, default=50)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    figures: dict[str, Any] = {}
    if chosen.writers:
        figures["tries"] = {
            name: try_together(chosen.model, chosen.writers, most)
            for name, most in (("together", 256), ("one by one", 1))
        }
    if chosen.rounds:
        figures["rounds"] = play_rounds(chosen.rounds)
    write_result("rounds", {"model": chosen.model, "writers": chosen.writers, **figures})


if __name__ == "__main__":
    main()

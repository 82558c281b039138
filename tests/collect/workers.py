"""Programs that work on a collection from processes of their own: ``python -m tests.collect.workers NAME PLACE …``."""

from __future__ import annotations

import random
import sys
import threading
import time

from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim, skip
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.collect.work.writing import submit

TEXTS = (("entailment", "Someone told it"), ("neutral", "Many like that"), ("contradiction", "All is silent"))


def vote_until_done(place: str, project_id: str, *people: str) -> None:
    """Let each person vote in a thread of their own until nothing is left; some leave tasks, skip or take back."""
    store = Store.open(place)
    failures: list[BaseException] = []

    def work(person_id: int) -> None:
        chance = random.Random(person_id)
        try:
            while _vote_once(store, int(project_id), person_id, chance):
                pass
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(int(person),)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    if failures:
        raise failures[0]


def _vote_once(store: Store, project_id: int, person_id: int, chance: random.Random) -> bool:
    with store.write() as tx:
        got = claim(tx, project_id, person_id, "verify", hold=chance.choice([1, 1, 2]))
    if not got.tasks:
        time.sleep(0.05)
        return got.status == "waiting"
    task, dice = got.tasks[0], chance.random()
    if dice < 0.05:
        time.sleep(1.2)  # longer than the lease
    with store.write() as tx:
        if 0.05 < dice < 0.1:
            skip(tx, task.assignment_id, person_id)
            return True
        state = vote(tx, task.assignment_id, person_id, key=f"k{chance.random()}", label="neutral").state
    if dice > 0.9 and state == "counted":
        with store.write() as tx:
            back = undo(tx, project_id, person_id)
        with store.write() as tx:
            vote(tx, back.assignment_id, person_id, key=f"k{chance.random()}", label="entailment")
    return True


def write_and_tell(place: str, project_id: str, person: str) -> None:
    """Write about one premise after another; say so on standard output when, and only when, it is stored."""
    store = Store.open(place)
    while True:
        with store.write() as tx:
            got = claim(tx, int(project_id), int(person), "write").tasks
        if not got:
            break
        key = f"answer to {got[0].assignment_id}"
        hypotheses = [Hypothesis(label=label, level="only", text=text) for label, text in TEXTS]
        with store.write() as tx:
            submit(tx, got[0].assignment_id, int(person), key=key, hypotheses=hypotheses)
        sys.stdout.write(key + "\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    {"vote": vote_until_done, "write": write_and_tell}[sys.argv[1]](*sys.argv[2:])

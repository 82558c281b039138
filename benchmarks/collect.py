"""Collection under load: a hundred annotators on SQLite, two hundred on PostgreSQL, servers killed, and the export.

Load:    half of the annotators write (three drafts, then a submission), half vote (one vote in twenty is taken back),
         and one step in ten loads the page again; a hundred of them on SQLite with one server process
         (``--annotators``), two hundred on PostgreSQL with two (``--crowd``), each serving half of the people.
         ``--pace`` is the mean number of seconds between two requests of one annotator: people who type and read make a
         request every two or three seconds, so 1 is busier than life. A second round without pauses shows how much the
         servers can do.
Killed:  the same while server processes are killed (-9) and started again ten times in all, in turns. Acknowledged
         answers are counted in the database: none may be lost, none may be there twice.
Restart: on PostgreSQL, the same while the database is stopped at once, as a crash would, and started again; a backup is
         taken while everybody works, and restored: it must hold every answer that was acknowledged before it began.
         And the paced round once more with one server process, beside that with two.
Queries: how many statements each request of an annotator takes, and each page of a requester.
Export:  a project with 50,000 pairs, 15 % of them verified, or projects of the sizes that ``--pairs`` names; and how
         long each page of its requester takes.
Import:  200,000 premises are added while somebody votes without pause: how long do the votes wait?
Beside:  Potato and Label Studio with as many items and annotators, where a Python is named that has them.

The defaults are the whole measurement. Where there is less time, leave out rounds and sizes; the load alone of 200
annotators on PostgreSQL, with ten kills (a round lasts as long as it says, and with kills as long as they take beside):

    python benchmarks/collect.py --databases postgresql --rounds paced killed --seconds 40 --pace 2.5 --items 10000 \\
        --pairs 0 --premises 0

What is done is said as it is done (on the standard error), and the last lines sum up each database.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from annotators import Annotator, Record, percentiles
from large_projects import fill, measure_import, measure_pages, run_export, texts
from measure import measure, write_result
from rivals import LabelStudio, Potato, try_rival
from servers import Server, free_port, postgres, serving, spent

ROUNDS = ("paced", "no_pauses", "killed", "one_process", "restarted")
"""The last two are of PostgreSQL alone."""
GENRES = ("government", "news", "literature", "television", "telephone")
"""As many as OCNLI has; pairs of one genre and condition are numbered one after another, so writers of one wait."""


def prepare(place: str, items: int, annotators: int) -> list[dict[str, Any]]:
    """Make a store with two projects of so many items, and half of the annotators in each; return their sessions."""
    from goldlabel.collect.configuration import create_project
    from goldlabel.collect.data.new_pairs import NewPair, import_pairs
    from goldlabel.collect.data.premises import Premise
    from goldlabel.collect.people.accounts import create_account, open_session
    from goldlabel.collect.people.people import add_member
    from goldlabel.collect.protocols import make_protocol
    from goldlabel.collect.store import Store
    from goldlabel.collect.work.pool import add_premises

    store = Store.create(place)
    people = []
    with store.write() as tx:
        for name, kind, role, condition in (
            ("single", "write", "writer", "single"),
            ("vetting", "verify", "verifier", ""),
        ):
            protocol = make_protocol(name, "en")
            rules = replace(protocol.qualification, training=0)
            protocol = replace(protocol, qualification=rules, writing=replace(protocol.writing, cap=None))
            made = create_project(tx, name, protocol, seed=0)
            if kind == "write":
                add_premises(
                    tx,
                    made.id,
                    (Premise(text=text, genre=genre) for text, genre in zip(texts(items), cycle(GENRES))),
                    by=None,
                )
            else:
                pool = (NewPair(premise=text, hypothesis=f"{text} Truly.") for text in texts(items))
                import_pairs(tx, made.id, pool, origin="imported", by=None)
            for number in range(annotators // 2):
                person_id = create_account(tx, f"{role}-{number}", "not a hash: nobody logs in")
                add_member(tx, made.id, person_id, role, condition=condition, by=None)
                session = open_session(tx, person_id, lifetime=timedelta(days=1))
                labels = protocol.answers if kind == "verify" else protocol.answers[:3]
                people.append({"project_id": made.id, "kind": kind, "cookie": session.token, "labels": labels})
    store.close()
    return people


def count_statements(place: str, people: list[dict[str, Any]]) -> dict[str, float]:
    """Return how many statements each request of a writer and of a verifier takes; the median of some."""
    from sqlalchemy import Engine, event

    from goldlabel.collect.store import Store
    from goldlabel.web.app import create_app

    store, statements, counts = Store.open(place), [0], defaultdict[str, list[int]](list)
    app = create_app(store)

    def note(*_: object) -> None:
        statements[0] += 1

    async def begin(_: httpx.Request) -> None:
        statements[0] = 0

    async def end(response: httpx.Response) -> None:
        path = re.sub(r"\d+", "…", response.request.url.path)
        counts[f"{response.request.method} {path}"].append(statements[0])

    async def work() -> None:
        for one in (people[0], people[-1]):
            annotator = Annotator(**one, record=Record(), pace=0.0, chance=random.Random(0))
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app),
                base_url="http://localhost",
                cookies={"goldlabel_session": annotator.cookie},
                event_hooks={"request": [begin], "response": [end]},
            ) as client:
                await annotator.open_page(client)
                tasks = await annotator.open_page(client)
                for _ in range(10):
                    step = annotator.write if annotator.kind == "write" else annotator.judge
                    tasks = await step(client, tasks[0])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        asyncio.run(work())
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        store.close()
    return {name: median(seen) for name, seen in sorted(counts.items())}


Interruption = Callable[[Record], None]
"""What is done in the middle of a round; it is told what was acknowledged until then."""


async def load(
    servers: list[Server],
    people: list[dict[str, Any]],
    seconds: float,
    pace: float,
    kills: int,
    interruptions: Sequence[Interruption] = (),
) -> Record:
    """Let everybody work for some time, each with one of the servers, and kill these now and then, in turns."""
    record = Record()
    until = time.monotonic() + seconds
    crowd = [
        Annotator(**one, record=record, pace=pace, chance=random.Random(number)) for number, one in enumerate(people)
    ]
    arrival = min(5.0, seconds / 5) / len(crowd)
    working = [
        asyncio.create_task(one.work(servers[n % len(servers)].address, until, n * arrival))
        for n, one in enumerate(crowd)
    ]
    for number in range(kills):
        await asyncio.sleep(seconds / (kills + 1))
        server = servers[number % len(servers)]
        server.kill()
        await asyncio.to_thread(server.start)
    for interrupt in interruptions:
        await asyncio.sleep(seconds / (len(interruptions) + 1))
        await asyncio.to_thread(interrupt, record)
    await asyncio.gather(*working)
    return record


def compare(place: str, record: Record) -> dict[str, int]:
    """Count in the database what was acknowledged, what is missing, and what is there twice."""
    from sqlalchemy import select

    from goldlabel.collect.money import recount
    from goldlabel.collect.projects import all_projects
    from goldlabel.collect.schema import answers, assignments
    from goldlabel.collect.store import Store

    store = Store.open(place)
    with store.read() as tx:
        stored = tx.all(select(answers.c.key, answers.c.assignment_id, answers.c.task_id, answers.c.state))
        given = tx.all(select(assignments.c.person_id, assignments.c.pair_id, assignments.c.premise_id))
        differences = [line for one in all_projects(tx) for line in recount.check(tx, one.id)]
    store.close()
    by_key = {row.key: row for row in stored}
    lost = [
        key
        for key, one in record.acknowledged.items()
        if key not in by_key or (by_key[key].assignment_id, by_key[key].state) != (one["assignment"], one["state"])
    ]
    keys = Counter(row.key for row in stored)
    tasks = Counter(row.task_id for row in stored if row.state == "counted")
    seen = Counter((row.person_id, row.pair_id, row.premise_id) for row in given)
    return {
        "acknowledged": len(record.acknowledged),
        "lost": len(lost),
        "stored_twice": sum(count - 1 for count in keys.values()),
        "tasks_counted_twice": sum(count - 1 for count in tasks.values()),
        "items_given_twice_to_one_person": sum(count - 1 for count in seen.values()),
        "differences_from_the_events": len(differences),
    }


class Backup:
    """A backup that is taken while people work."""

    def __init__(self, place: str, folder: Path) -> None:
        self.place, self.file, self.restored = place, folder / "backup.zip", folder / "restored"
        self.before: list[str] = []

    def take(self, record: Record) -> None:
        """Note what was acknowledged, then take it, as a user would."""
        self.before = list(record.acknowledged)
        command = [
            sys.executable,
            "-m",
            "goldlabel",
            "collect",
            "backup",
            ".",
            str(self.file),
            "--database",
            self.place,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def compare(self) -> dict[str, int]:
        """Restore it and count what is missing."""
        from sqlalchemy import select

        from goldlabel.collect.backup import restore
        from goldlabel.collect.money import recount
        from goldlabel.collect.projects import all_projects
        from goldlabel.collect.schema import answers
        from goldlabel.collect.store import Store

        restore(self.file, self.restored)
        store = Store.open(self.restored)
        with store.read() as tx:
            keys = {row.key for row in tx.all(select(answers.c.key))}
            differences = [line for one in all_projects(tx) for line in recount.check(tx, one.id)]
        store.close()
        return {
            "acknowledged_before": len(self.before),
            "lost": len({*self.before} - keys),
            "restored": len(keys),
            "differences_from_the_events": len(differences),
        }


def try_load(
    place: str,
    people: list[dict[str, Any]],
    options: argparse.Namespace,
    processes: int,
    folder: Path,
    restart: Callable[[], None] | None,
) -> dict[str, Any]:
    """Run all rounds on one database; ``restart`` crashes it and starts it again."""
    figures: dict[str, Any] = {}
    whole, backup = Record(), Backup(place, folder)
    every: list[tuple[str, float, int, int, list[Interruption]]] = [
        ("paced", options.pace, 0, processes, []),
        ("no_pauses", 0.0, 0, processes, []),
        ("killed", options.pace, options.kills, processes, []),
    ]
    if restart is not None:
        every += [
            ("one_process", options.pace, 0, 1, []),
            ("restarted", options.pace, 0, processes, [lambda _: restart(), backup.take, lambda _: restart()]),
        ]
    rounds = [one for one in every if one[0] in options.rounds]
    with serving(place, processes) as all_servers:
        for number, (name, pace, kills, used, interruptions) in enumerate(rounds, 1):
            servers = all_servers[:used]
            tell(f"round {number} of {len(rounds)}, {name}: {options.seconds:g} s")
            start, before = time.perf_counter(), spent(servers)[1]
            record = asyncio.run(load(servers, people, options.seconds, pace, kills, interruptions))
            elapsed, (memory, processor) = time.perf_counter() - start, spent(servers)
            whole.acknowledged |= record.acknowledged
            requests = sum(map(len, record.seconds.values()))
            figures[name] = {
                "pace": pace,
                "kills": kills,
                "requests_per_second": requests / elapsed,
                "answers_per_second": len(record.acknowledged) / elapsed,
                "retries": record.retries,
                "problems": Counter(record.problems).most_common(5),
                "milliseconds": {page: percentiles(seen) for page, seen in sorted(record.seconds.items())},
                "server_mb": memory,
                "processor_milliseconds_per_request": None if kills else 1000 * (processor - before) / requests,
                "load_average": os.getloadavg()[0],
            }
            show_round(name, figures[name])
    tell("comparing what was acknowledged with the database")
    figures["database"] = compare(place, whole)
    show_database(figures["database"])
    if backup.file.exists():
        figures["backup"] = backup.compare()
        print(
            "  backup taken meanwhile:", ", ".join(f"{n.replace('_', ' ')} {v:,}" for n, v in figures["backup"].items())
        )
    return figures


def tell(what: str) -> None:
    """Say what is done now, and when."""
    print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)


def summary(name: str, figures: dict[str, Any]) -> str:
    """Return the figures of a database that matter most, in one line."""
    slowest = {
        one: max(seen["p95"] for seen in figures[one]["milliseconds"].values())
        for one in ROUNDS
        if one in figures and figures[one]["milliseconds"]
    }
    kills = sum(figures[one]["kills"] for one in ROUNDS if one in figures)
    counts = figures["database"]
    twice = counts["stored_twice"] + counts["tasks_counted_twice"] + counts["items_given_twice_to_one_person"]
    return (
        f"{name}: p95 of the slowest request {', '.join(f'{one} {most:.0f} ms' for one, most in slowest.items())}; "
        f"{kills} kills, {counts['acknowledged']:,} acknowledged, {counts['lost']:,} lost, {twice:,} twice, "
        f"{counts['differences_from_the_events']:,} differences from the events"
    )


def show_database(figures: dict[str, int]) -> None:
    print("  in the database:", ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures.items()))


def show_round(name: str, figures: dict[str, Any]) -> None:
    told = [f"{figures.get(kind + '_per_second', 0):.1f} {kind}/s" for kind in ("requests", "answers")]
    if figures.get("kills"):
        told.append(f"{figures['kills']} kills, {figures['retries']} retries")
    if figures.get("processor_milliseconds_per_request"):
        told.append(f"{figures['processor_milliseconds_per_request']:.1f} ms of processor per request")
    told += [f"{count} × {problem}" for problem, count in figures["problems"]]
    print(f"  {name}: {', '.join(told)}")
    for page, seen in figures["milliseconds"].items():
        print(
            f"    {page:12} {seen['requests']:>6} × p50 {seen['p50']:6.1f}  p95 {seen['p95']:6.1f}  "
            f"p99 {seen['p99']:6.1f}  worst {seen['worst']:6.0f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="of each round")
    parser.add_argument("--rounds", nargs="*", choices=ROUNDS, default=ROUNDS, help="which of them")
    parser.add_argument("--processes", type=int, default=2, help="server processes on PostgreSQL")
    parser.add_argument("--annotators", type=int, default=100, help="on SQLite, with one server process")
    parser.add_argument("--crowd", type=int, default=200, help="annotators on PostgreSQL")
    parser.add_argument("--items", type=int, default=100_000, help="premises to write about, and pairs to judge")
    parser.add_argument("--pace", type=float, default=1.0, help="mean seconds between two requests of an annotator")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--pairs", type=int, nargs="*", default=[50_000], help="pairs in each export; 0: no export")
    parser.add_argument("--premises", type=int, default=200_000, help="premises imported while one votes; 0: none")
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--potato", help="a Python in which Potato (potato-annotation) is installed")
    parser.add_argument("--label-studio", help="a Python in which Label Studio is installed")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends as Ctrl-C does: tidied up
    figures: dict[str, Any] = {"options": vars(options), "load_average_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as folder, postgres() as (url, restart):
        places = {
            "sqlite": (f"{folder}/sqlite", 1, options.annotators, None),
            "postgresql": (url, options.processes, options.crowd, restart),
        }
        for name in options.databases:
            place, processes, annotators, crash = places[name]
            if place is None:
                print(f"{name}: not measured, it is not installed")
                continue
            start = time.perf_counter()
            tell(f"{name}: making {options.items:,} items and {annotators} annotators")
            people = prepare(place, options.items, annotators)
            print(
                f"{name}, {processes} process(es), {annotators} annotators, {options.items:,} items, "
                f"made in {time.perf_counter() - start:.0f} s"
            )
            statements = count_statements(place, people)
            print("  statements:", ", ".join(f"{request} {count:g}" for request, count in statements.items()))
            figures[name] = try_load(place, people, options, processes, Path(folder), crash) | {
                "statements": statements
            }
        for pairs in filter(None, options.pairs):
            place = f"{folder}/export-{pairs}"
            tell(f"making a project of {pairs:,} pairs, then exporting it and opening its pages")
            project_id = fill(place, pairs)
            seen = measure(run_export, place, project_id, f"{folder}/out-{pairs}")
            figures[f"export of {pairs}"] = {name: seen[name] for name in ("seconds", "peak_mb")}
            print(f"export of {pairs:,} pairs: {seen['seconds']:.1f} s, peak {seen['peak_mb']:.0f} MB")
            figures["pages"] = measure_pages(place, project_id)
            for kind, unit in (("milliseconds", "ms of processor"), ("statements", "statements")):
                page, most = max(((page, one[kind]) for page, one in figures["pages"].items()), key=lambda one: one[1])
                print(f"of a requester's pages {page} takes most: {most:.0f} {unit}")
        if options.premises:
            tell(f"importing {options.premises:,} premises while somebody votes")
            figures["import"] = seen = measure_import(f"{folder}/import", options.premises)
            print(
                f"import of {options.premises:,} premises: {seen['seconds']:.1f} s, {seen['votes']:,} votes meanwhile; "
                f"a vote waited {seen['median_wait']:.3f} s (median), {seen['longest_wait']:.3f} s at most; "
                f"alone {seen['median_wait_alone']:.3f} s, {seen['longest_wait_alone']:.3f} s"
            )
        for rival, python in ((Potato(), options.potato), (LabelStudio(), options.label_studio)):
            if not python:
                print(f"{rival.name}: not measured, no Python that has it was given")
                continue
            sentences = list(texts(options.items))
            found = try_rival(rival, python, Path(folder), free_port(), sentences, options)
            figures[rival.name] = found
            print(f"{rival.name}, {options.items:,} items, ready after {found.get('seconds_to_start', 0):.0f} s")
            show_round("paced", found)
            show_database(found.get("database", {}))
    write_result("collect", figures)
    for name in options.databases:
        if name in figures:
            print(summary(name, figures[name]))


if __name__ == "__main__":
    main()

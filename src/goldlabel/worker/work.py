"""The worker: takes jobs from the database one after another, and does them.

Whatever a job does wrong stays with the job: its page says that it failed, the log says why, and the next one is
taken. A database that cannot be reached is waited for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from goldlabel.collect import jobs
from goldlabel.collect.data.export import EXPORT
from goldlabel.collect.data.measurements import MEASURE
from goldlabel.collect.jobs import Job
from goldlabel.collect.messages import message
from goldlabel.collect.refusals import Refusal
from goldlabel.collect.store import Store, Transaction, hide_values
from goldlabel.errors import StorageError
from goldlabel.messages import Message

LOG = logging.getLogger("goldlabel.worker")

PAUSE = 0.5
"""Seconds between two looks for a job."""
TROUBLE_PAUSE = 5.0
HEARTBEAT = 15.0


def work(store: Store, name: str, ended: threading.Event) -> None:
    """Do jobs until told to end."""
    keep_on(lambda: work_once(store, name), ended)


def keep_on(once: Callable[[], bool], ended: threading.Event) -> None:
    """Do one thing after another until told to end; ``once`` says whether there was anything to do."""
    while not ended.is_set():
        try:
            pause = 0.0 if once() else PAUSE
        except StorageError as error:
            LOG.error("%s", error)
            pause = TROUBLE_PAUSE
        ended.wait(pause)


def work_once(store: Store, name: str) -> bool:
    """Do the next job; say whether there was one."""
    with store.write() as tx:
        job = jobs.take_job(tx, name)
    if job is None:
        return False
    problem = _do(store, job)
    with store.write() as tx:
        jobs.end_job(tx, job.id, problem)
    return True


def _do(store: Store, job: Job) -> Message | None:
    """Do a job, and return what kept it from being done."""
    try:
        with held(store, lambda tx: jobs.renew_job(tx, job.id)):
            _KINDS[job.kind](store, job)
    except StorageError:
        raise
    except Refusal as error:
        return error.message
    except Exception as error:
        hide_values(error)
        LOG.error("a job of kind %r failed", job.kind, exc_info=error)
        return message("job_failed")
    return None


@contextmanager
def held(store: Store, renew_lease: Callable[[Transaction], None]) -> Iterator[None]:
    """Renew the lease of what is being done while the block runs."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(HEARTBEAT):
            try:
                with store.write() as tx:
                    renew_lease(tx)
            except StorageError as error:
                LOG.error("%s", error)

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _measure(store: Store, job: Job) -> None:
    from goldlabel.worker.measuring import measure_project

    measure_project(store, job.project_id)


def _export(store: Store, job: Job) -> None:
    from goldlabel.worker.exporting import export_job

    export_job(store, job)


_KINDS: dict[str, Callable[[Store, Job], None]] = {MEASURE: _measure, EXPORT: _export}

"""The options that say where many pieces of work are done, the same for every command that has them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.reading import with_options

if TYPE_CHECKING:
    from goldlabel.executors import Executor

PARAMETER = "work"
"""The parameter of a command in whose place the options stand."""


@dataclass(frozen=True)
class WorkOptions:
    """Where the user wants work to be done."""

    executor: str | None
    jobs: int | None
    cluster: str | None
    gpus_per_job: float | None

    @property
    def chosen(self) -> str | None:
        """The first of the options that was given, but for ``--jobs``."""
        options = {"--executor": self.executor, "--cluster": self.cluster, "--gpus-per-job": self.gpus_per_job}
        return next((option for option, value in options.items() if value is not None), None)

    def open(self, *, on_gpus: bool = True) -> AbstractContextManager[Executor]:
        """Open the executor; pieces that need no GPU leave those of a cluster to others."""
        from goldlabel.executors import open_executor

        gpus = self.gpus_per_job
        if gpus is None and not on_gpus and (self.cluster or self.executor == "ray"):
            gpus = 0
        return open_executor(self.executor, self.jobs, cluster=self.cluster, gpus_per_job=gpus)


def work_options(
    executor: Annotated[
        str | None,
        typer.Option(
            "--executor",
            help="Where the pieces of the work are done: here, in processes, or on a cluster (ray); by default here, "
            "or with --jobs in processes.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, help="Pieces at a time, sharing a GPU or the cores; on a cluster as many as it takes."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="HOST:PORT|auto",
            help="The Ray cluster; by default GOLDLABEL_CLUSTER, else a Ray is started on this machine.",
        ),
    ] = None,
    gpus_per_job: Annotated[
        float | None,
        typer.Option(
            "--gpus-per-job",
            min=0,
            help="GPUs for a piece, or a share of one such as 0.25; by default one on a cluster that has any, and in "
            "processes as many pieces on each GPU as fall to it.",
        ),
    ] = None,
) -> WorkOptions:
    """Return what ``open_executor`` takes."""
    return WorkOptions(executor, jobs, cluster, gpus_per_job)


def does_pieces(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of ``work_options``, in the place of its parameter ``work``."""
    return with_options(work_options, PARAMETER)(command)

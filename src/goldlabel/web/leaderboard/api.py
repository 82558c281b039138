"""What programs ask of a leaderboard: its sets and entries, and for submitters their own submissions and no others'."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from goldlabel.collect.refusals import Forbidden, Missing
from goldlabel.collect.store import LARGEST
from goldlabel.leaderboard.board import Board
from goldlabel.leaderboard.standings import entries
from goldlabel.leaderboard.store import BoardStore
from goldlabel.leaderboard.submissions import (
    LONGEST_FILE,
    LONGEST_TEXT,
    MOST_BYTES,
    About,
    Submission,
    all_own,
    count_upload,
    left_of,
    own,
    withdraw,
)
from goldlabel.leaderboard.submitters import LONGEST_NAME, Submitter, bearer
from goldlabel.leaderboard.trail import steps
from goldlabel.web.leaderboard.uploads import take_upload
from goldlabel.web.security import ObjectId, SignedOut

UPLOAD = "/api/v1/submissions"
router = APIRouter(prefix="/api/v1", tags=["api"])
_SCHEME = HTTPBearer(description="A token that whoever runs the leaderboard handed out.", auto_error=False)


async def _store(request: Request) -> BoardStore:
    store: BoardStore = request.app.state.store
    return store


async def _board(request: Request) -> Board:
    board: Board = request.app.state.board
    return board


Stored = Annotated[BoardStore, Depends(_store)]
Shown = Annotated[Board, Depends(_board)]


def _submitter(store: Stored, told: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]) -> Submitter:
    """Return whose token a request has."""
    if told is None:
        raise SignedOut
    with store.read() as tx:
        submitter = bearer(tx, told.credentials)
    if submitter is None:
        raise SignedOut
    return submitter


Who = Annotated[Submitter, Depends(_submitter)]


class SetModel(BaseModel):
    """A set of the board."""

    number: int
    name: str
    pairs: int
    labels: list[str]
    label_space: str
    counts: bool


class SuiteModel(BaseModel):
    """Sets that a submission answers together."""

    name: str
    sets: list[SetModel]


class BoardModel(BaseModel):
    """What a submission must answer, and how often one may be sent."""

    title: str
    suites: list[SuiteModel]
    texts: bool
    per_day: int
    per_week: int
    most_bytes: int


class SubmissionModel(BaseModel):
    """A submission as its submitter sees it."""

    id: int
    suite: str | None
    name: str
    file: str
    state: str
    problem: str | None
    received_at: datetime
    finished_at: datetime | None
    withdrawn_at: datetime | None

    @classmethod
    def of(cls, submission: Submission) -> SubmissionModel:
        """Return what is told of a submission."""
        return cls(**{name: getattr(submission, name) for name in cls.model_fields})


class Submissions(BaseModel):
    """All submissions of a submitter, and how many more would be scored."""

    submissions: list[SubmissionModel]
    left_today: int
    left_this_week: int


@router.get("/board")
def show_board(board: Shown) -> BoardModel:
    """Tell the sets and the rules; no label is part of it."""
    numbers = count(1)
    suites = [
        SuiteModel(
            name=suite.name,
            sets=[
                SetModel(
                    number=next(numbers),
                    name=part.name,
                    pairs=part.pairs,
                    labels=list(part.space.labels),
                    label_space=part.space.name,
                    counts=part.counts,
                )
                for part in suite.sets
            ],
        )
        for suite in board.suites
    ]
    return BoardModel(
        title=board.title,
        suites=suites,
        texts=board.texts,
        per_day=board.limits.per_day,
        per_week=board.limits.per_week,
        most_bytes=MOST_BYTES,
    )


@router.get("/entries")
def list_entries(store: Stored, board: Shown) -> list[dict[str, Any]]:
    """Tell the rows of the tables, suite by suite, the best first."""
    with store.read() as tx:
        return [entry.to_dict() for entry in entries(tx, board)]


@router.get("/sets/{number}/questions", response_class=StreamingResponse)
def send_questions(number: ObjectId, board: Shown, _: Who) -> StreamingResponse:
    """Send the texts of a set as JSON lines, under ids of their own and without labels."""
    if not board.texts:
        raise Forbidden("texts_kept")
    if number > len(board.sets):
        raise Missing("no_set")
    lines: Iterator[bytes] = board.sets[number - 1].questions()
    return StreamingResponse(lines, media_type="application/jsonl")


@router.post("/submissions", status_code=201)
async def submit(
    request: Request,
    response: Response,
    store: Stored,
    board: Shown,
    submitter: Who,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    file: Annotated[str, Query(min_length=1, max_length=LONGEST_FILE)],
    description: Annotated[str, Query(max_length=LONGEST_TEXT)] = "",
    training: Annotated[str, Query(max_length=LONGEST_TEXT)] = "",
    suite: Annotated[str | None, Query(max_length=LONGEST_FILE)] = None,
) -> SubmissionModel:
    """Take a file of predictions, which is the body; the same file under the same name is taken once."""

    def count_it() -> None:
        with store.write(repeatable=True) as tx:
            count_upload(tx, submitter)

    await run_in_threadpool(count_it)
    submission, is_new = await take_upload(
        request.stream(),
        store=store,
        board=board,
        submitter=submitter,
        file=file,
        name=name,
        suite=suite,
        about=About(description=description, training=training),
    )
    if not is_new:
        response.status_code = 200
    return SubmissionModel.of(submission)


@router.get("/submissions")
def list_submissions(store: Stored, board: Shown, submitter: Who) -> Submissions:
    """Tell a submitter's own submissions, the newest first."""
    with store.read() as tx:
        told = [SubmissionModel.of(submission) for submission in all_own(tx, submitter)]
        left = left_of(tx, submitter, board.limits)
    return Submissions(submissions=told, left_today=left["day"], left_this_week=left["week"])


@router.get("/submissions/{submission_id}")
def show_submission(submission_id: ObjectId, store: Stored, submitter: Who) -> SubmissionModel:
    """Tell what came of a submission of one's own."""
    with store.read() as tx:
        return SubmissionModel.of(own(tx, submitter, submission_id))


@router.post("/submissions/{submission_id}/withdraw")
def withdraw_submission(submission_id: ObjectId, store: Stored, submitter: Who) -> SubmissionModel:
    """Take a submission of one's own off the board; it stays in the trail."""
    with store.write() as tx:
        withdraw(tx, submission_id, submitter=submitter)
        return SubmissionModel.of(own(tx, submitter, submission_id))


@router.get("/trail")
def show_trail(
    store: Stored, submitter: Who, after: Annotated[int, Query(ge=0, le=LARGEST)] = 0
) -> list[dict[str, Any]]:
    """Tell everything that a submitter did, in order, after a step."""
    with store.read() as tx:
        return [step.to_dict() for step in steps(tx, submitter_id=submitter.id, after=after)]

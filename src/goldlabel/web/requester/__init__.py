"""The requester's pages: setting a project up, watching it, paying, and taking the data out."""

from fastapi import APIRouter

from goldlabel.web.requester.curation import router as curation_router
from goldlabel.web.requester.dashboard import router as dashboard_router
from goldlabel.web.requester.decisions import router as decisions_router
from goldlabel.web.requester.exporting import router as exporting_router
from goldlabel.web.requester.importing import router as importing_router
from goldlabel.web.requester.instructions import router as instructions_router
from goldlabel.web.requester.invitations import router as invitations_router
from goldlabel.web.requester.letters import router as letters_router
from goldlabel.web.requester.managing import router as managing_router
from goldlabel.web.requester.marketplace import router as marketplace_router
from goldlabel.web.requester.money import router as money_router
from goldlabel.web.requester.pairs import router as pairs_router
from goldlabel.web.requester.payouts import router as payouts_router
from goldlabel.web.requester.people import router as people_router
from goldlabel.web.requester.premises import router as premises_router
from goldlabel.web.requester.projects import router as projects_router
from goldlabel.web.requester.questions import router as questions_router
from goldlabel.web.requester.remarks import router as remarks_router
from goldlabel.web.requester.settings import router as settings_router
from goldlabel.web.requester.training import router as training_router
from goldlabel.web.requester.trying import router as trying_router
from goldlabel.web.requester.webhooks import router as webhooks_router

__all__ = ["router"]

router = APIRouter()
for _part in (
    projects_router,
    settings_router,
    dashboard_router,
    premises_router,
    pairs_router,
    importing_router,
    curation_router,
    training_router,
    questions_router,
    instructions_router,
    people_router,
    decisions_router,
    remarks_router,
    letters_router,
    invitations_router,
    money_router,
    payouts_router,
    exporting_router,
    webhooks_router,
    marketplace_router,
    managing_router,
    trying_router,
):
    router.include_router(_part)

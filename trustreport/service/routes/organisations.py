"""Organisations: founded by an operator, and how long one keeps its data."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from trustreport.service import audit, bounds
from trustreport.service.access import accounts
from trustreport.service.mail import outbox
from trustreport.service.record import retention
from trustreport.service.routes.shapes import Email, Line, RequestBody, ResponseBody, moment
from trustreport.service.storage.models import Organisation
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Admin, Anyone, Reader, TheCore
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["organisations"])
SOON = 30 * retention.DAY


class Retention(RequestBody):
    """How long data are kept; what is removed leaves a tombstone in the audit log."""

    days: int | None = Field(default=None, ge=1, le=36_500, description="null: for ever")
    keep_signed: bool = Field(default=True, description="keep studies with a signed report")


class SecondFactor(RequestBody):
    """Whether accounts with a password must have a second factor."""

    required: bool


class NewOrganisation(RequestBody):
    name: Line
    admin_email: Email
    admin_name: Line


class OrganisationResponse(ResponseBody):
    id: str
    name: str
    retention: Retention
    second_factor: bool = Field(description="required of accounts with a password")
    created_at: datetime


class Expiry(ResponseBody):
    """A study that retention will remove unless something is added to it."""

    study: str
    name: str
    on: datetime


class Usage(ResponseBody):
    """What an organisation uses of what it may, and what retention removes next."""

    stored_bytes: int = Field(description="of files, equal ones counted once")
    most_bytes: int
    waiting_jobs: int
    most_waiting_jobs: int
    expiring: list[Expiry] = Field(description="within 30 days, the first one first")


class CreatedOrganisation(ResponseBody):
    organisation: OrganisationResponse
    invitation: str | None = Field(
        description="link for its first administrator; shown this once; null where it goes by mail"
    )


class Removed(ResponseBody):
    """What a policy removed."""

    studies: list[str]


@router.post("/organisations", status_code=201)
def create(asked: NewOrganisation, who: Anyone, core: TheCore) -> CreatedOrganisation:
    """Found an organisation and invite its first administrator; whoever founds it does not see its data."""
    if not who.operator:
        raise Fault(
            403, say("pages.fault.not_allowed.title"), say("pages.fault.not_allowed.only_operator_founds")
        )
    with core.store.write() as rows:
        founded = accounts.create_organisation(rows, asked.name, who.user)
        user = accounts.add_user(
            rows, founded.id, "operator", email=asked.admin_email, name=asked.admin_name, roles=["admin"]
        )
        link = outbox.invite(rows, core.settings, user, "operator")
        return CreatedOrganisation(organisation=_to_response(founded), invitation=link)


@router.get("/organisation")
def own(who: Reader, core: TheCore) -> OrganisationResponse:
    """The organisation of whoever asks."""
    with core.store.read() as rows:
        return _to_response(rows.get_one(Organisation, who.organisation))


@router.get("/organisation/usage")
def usage(who: Admin, core: TheCore) -> Usage:
    """Files and jobs with their limits, and the studies that retention removes within 30 days."""
    with core.store.read() as rows:
        return Usage(
            stored_bytes=bounds.stored_bytes(rows, who.organisation),
            most_bytes=round(core.settings.storage),
            waiting_jobs=bounds.waiting_jobs(rows, who.organisation),
            most_waiting_jobs=core.settings.jobs_waiting,
            expiring=[
                Expiry(study=study.id, name=study.name, on=moment(at))
                for study, at in retention.expiries(rows, who.organisation, until=now(rows) + SOON)
            ],
        )


@router.put("/organisation/retention")
def set_retention(asked: Retention, who: Admin, core: TheCore) -> OrganisationResponse:
    """Say how long data are kept."""
    with core.store.write() as rows:
        organisation = rows.get_one(Organisation, who.organisation)
        organisation.retention = asked.model_dump()
        audit.write(
            rows, who.organisation, who.user, "retention.set", organisation.id, **organisation.retention
        )
        return _to_response(organisation)


@router.put("/organisation/second-factor")
def require_second_factor(asked: SecondFactor, who: Admin, core: TheCore) -> OrganisationResponse:
    """Require a second factor: in a session, accounts without one can do nothing but set one up."""
    with core.store.write() as rows:
        organisation = rows.get_one(Organisation, who.organisation)
        organisation.second_factor = asked.required
        audit.write(
            rows, who.organisation, who.user, "second-factor.set", organisation.id, required=asked.required
        )
        return _to_response(organisation)


@router.post("/organisation/retention/run")
def run_retention(who: Admin, core: TheCore) -> Removed:
    """Remove now what the policy says; otherwise a worker does it once a day."""
    with core.store.write() as rows:
        removed = retention.purge(rows, who.organisation, who.user)
    return Removed(studies=removed)


def _to_response(row: Organisation) -> OrganisationResponse:
    return OrganisationResponse(
        id=row.id,
        name=row.name,
        retention=Retention.model_validate(row.retention),
        second_factor=row.second_factor,
        created_at=moment(row.created_at),
    )

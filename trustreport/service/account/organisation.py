"""An organisation, its users, and how long it keeps its data."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import delete

from trustreport.service import bounds, mail
from trustreport.service.access import accounts, principal
from trustreport.service.access.guard import Admin, Person, Reader, TheCore
from trustreport.service.client.records import ResponseBody
from trustreport.service.pages import filters
from trustreport.service.record import retention
from trustreport.service.record.retention import erase_person
from trustreport.service.roles import Role
from trustreport.service.storage.models import Organisation, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Email, Line, Name, Page, RequestBody, RequestedPage, moment
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["organisations"])
SOON = 30 * retention.DAY


class Retention(RequestBody):
    """How long data are kept; what is removed leaves a tombstone in the audit log."""

    days: int | None = Field(default=None, ge=1, le=36_500, description="null: for ever", examples=[3650])
    keep_signed: bool = Field(default=True, description="keep studies with a signed report")


class SecondFactor(RequestBody):
    """Whether accounts with a password must have a second factor."""

    required: bool


class Countersignature(RequestBody):
    """Whether criteria are fixed only once a second person has countersigned them."""

    required: bool


class NewOrganisation(RequestBody):
    name: Line = Field(examples=["Hospital"])
    admin_email: Email
    admin_name: Line = Field(examples=["Administrator"])


class OrganisationResponse(ResponseBody):
    """An organisation, and what it requires of its data and accounts."""

    id: str
    name: str
    retention: Retention
    second_factor: bool = Field(description="required of accounts with a password")
    countersigned: bool = Field(description="criteria are fixed once a second person has countersigned them")
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
def create(asked: NewOrganisation, who: Person, core: TheCore) -> CreatedOrganisation:
    """Found an organisation and invite its first administrator; whoever founds it does not see its data."""
    if not who.operator:
        raise Fault(403, say("pages.fault.not_allowed.only_operator_founds"))
    with core.store.write() as rows:
        founded = accounts.create_organisation(rows, asked.name, who.user)
        user = accounts.add_user(
            rows, founded.id, "operator", email=asked.admin_email, name=asked.admin_name, roles=["admin"]
        )
        link = mail.invite(rows, core.settings, user, "operator")
        return CreatedOrganisation(organisation=OrganisationResponse.of_row(founded), invitation=link)


@router.get("/organisation")
def own(who: Reader, core: TheCore) -> OrganisationResponse:
    """The organisation of whoever asks."""
    with core.store.read() as rows:
        return OrganisationResponse.of_row(rows.get_one(Organisation, who.organisation))


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
        who.audit(rows, "retention.set", organisation.id, **organisation.retention)
        return OrganisationResponse.of_row(organisation)


@router.put("/organisation/second-factor")
def require_second_factor(asked: SecondFactor, who: Admin, core: TheCore) -> OrganisationResponse:
    """Require a second factor: in a session, accounts without one can do nothing but set one up."""
    with core.store.write() as rows:
        organisation = rows.get_one(Organisation, who.organisation)
        organisation.second_factor = asked.required
        who.audit(rows, "second-factor.set", organisation.id, required=asked.required)
        return OrganisationResponse.of_row(organisation)


@router.put("/organisation/countersignature")
def require_countersignature(asked: Countersignature, who: Admin, core: TheCore) -> OrganisationResponse:
    """Ask for a second person when criteria are fixed; what was fixed before stays as it is."""
    with core.store.write() as rows:
        organisation = rows.get_one(Organisation, who.organisation)
        organisation.countersigned = asked.required
        who.audit(rows, "countersignature.set", organisation.id, required=asked.required)
        return OrganisationResponse.of_row(organisation)


@router.post("/organisation/retention/run")
def run_retention(who: Admin, core: TheCore) -> Removed:
    """Remove now what the policy says; otherwise a worker does it once a day."""
    with core.store.write() as rows:
        removed = retention.purge(rows, who.organisation, who.user)
    return Removed(studies=removed)


users_router = APIRouter(prefix="/users", tags=["users"])


class NewUser(RequestBody):
    email: Email
    name: Line = Field(examples=["Anna Reader"])
    roles: list[Role] = Field(min_length=1, max_length=5)


class UserChange(RequestBody):
    """What is left out stays."""

    name: Line | None = Field(default=None, examples=["Anna Reader"])
    roles: list[Role] | None = Field(default=None, max_length=5)
    disabled: bool | None = None


class UserResponse(ResponseBody):
    """An account of the organisation."""

    id: str
    email: str
    name: str
    roles: list[Role]
    active: bool = Field(description="can come in: with a password or by the provider, and not disabled")
    created_at: datetime
    disabled_at: datetime | None


class Invited(ResponseBody):
    user: UserResponse
    invitation: str | None = Field(
        description="link with which the user chooses a password; shown this once; null where it goes by mail"
    )


@users_router.get("")
def users(who: Admin, core: TheCore, turn: RequestedPage, wanted: filters.Users) -> Page[UserResponse]:
    """All users."""
    with core.store.read() as rows:
        return turn.rows(rows, wanted.apply(who.rows_of(User)), User.id, UserResponse.of_row)


@users_router.post("", status_code=201, name="add")  # its id in the document
def add_user(asked: NewUser, who: Admin, core: TheCore) -> Invited:
    """Add a user, who gets in by an invitation."""
    with core.store.write() as rows:
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        user = accounts.add_user(
            rows, who.organisation, who.user, email=asked.email, name=asked.name, roles=list(set(asked.roles))
        )
        rows.flush()
        link = mail.invite(rows, core.settings, user, who.user)
        return Invited(user=UserResponse.of_row(user), invitation=link)


@users_router.get("/{user}")
def get_user(user: Name, who: Admin, core: TheCore) -> UserResponse:
    """One user."""
    with core.store.read() as rows:
        return UserResponse.of_row(who.row_of(rows, User, user))


@users_router.patch("/{user}")
def change(user: Name, asked: UserChange, who: Admin, core: TheCore) -> UserResponse:
    """Rename a user, give other roles, close or reopen the account."""
    with core.store.write() as rows:
        row = who.row_of(rows, User, user)
        if row.id == who.user and (asked.disabled or asked.roles is not None):
            raise Fault(409, say("pages.fault.not_on_oneself.detail"))
        if asked.name is not None:
            row.name = asked.name
        if asked.roles is not None and principal.has_roles_there(row, core.settings):
            raise Fault(409, say("pages.fault.not_here.roles"))
        if asked.roles is not None:
            row.roles = sorted(set(asked.roles))
        if asked.disabled is not None:
            row.disabled_at = now(rows) if asked.disabled else None
        if asked.disabled or asked.roles is not None:
            rows.execute(delete(Session).where(Session.user == row.id))
        told = asked.model_dump(exclude_none=True, exclude={"name"})
        who.audit(rows, "user.change", row.id, **told)
        return UserResponse.of_row(row)


@users_router.delete("/{user}", status_code=204)
def erase(user: Name, who: Admin, core: TheCore) -> None:
    """Erase a person: name, address, password and comments; the account is closed for good."""
    with core.store.write() as rows:
        row = who.row_of(rows, User, user)
        if row.id == who.user:
            raise Fault(409, say("pages.fault.not_on_oneself.detail"))
        erase_person(rows, row, who.user)


@users_router.post("/{user}/invitation", status_code=201)
def invite(user: Name, who: Admin, core: TheCore) -> Invited:
    """A new invitation, also for who forgot a password; earlier ones work no more.

    An account whose password is replaced by it signs and invites nobody until somebody else confirms it.
    """
    with core.store.write() as rows:
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        row = who.row_of(rows, User, user)
        if principal.is_bound(row) and core.settings.oidc_only:
            raise Fault(409, say("pages.fault.not_here.account_signs"))
        who.audit(rows, "user.invite", row.id)
        link = mail.invite(rows, core.settings, row, who.user)
        return Invited(user=UserResponse.of_row(row), invitation=link)


@users_router.delete("/{user}/identity", status_code=204)
def unbind(user: Name, who: Admin, core: TheCore) -> None:
    """Unbind an account from the identity provider: its user gets in by an invitation again.

    Sessions end. The account signs and invites nobody until somebody else confirms it.
    """
    with core.store.write() as rows:
        row = who.row_of(rows, User, user)
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        if row.id == who.user:
            raise Fault(409, say("pages.fault.not_on_oneself.detail"))
        if not principal.is_bound(row):
            raise Fault(409, say("pages.fault.not_bound.detail"))
        accounts.mark_proof_removed(rows, row, who.user)
        rows.execute(delete(Session).where(Session.user == row.id))
        accounts.unbind(rows, row, who.user)


@users_router.post("/{user}/confirmation", status_code=204)
def confirm_account(user: Name, who: Person, core: TheCore) -> None:
    """Confirm that the right person has an account whose password was reset; not by who made the link."""
    if not who.may & accounts.CONFIRMS:
        raise Fault(403, say("pages.fault.not_allowed.reviewer_approver"))
    with core.store.write() as rows:
        row = who.row_of(rows, User, user)
        if not accounts.may_confirm(rows, by := rows.get_one(User, who.user), row):
            raise Fault(403, say("pages.fault.not_allowed.somebody_confirms_who_neither"))
        if not accounts.is_unconfirmed(row):
            raise Fault(409, say("pages.fault.nothing_to_confirm.detail"))
        row.confirmed_by = who.user
        who.audit(rows, "user.confirm", row.id, link_by=row.link_by, confirmer_link_by=by.link_by)

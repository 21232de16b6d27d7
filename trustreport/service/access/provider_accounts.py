"""Accounts of those who sign in at the identity provider: whose they are, and roles by groups there."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import accounts, secrets
from trustreport.service.access.provider import Identity
from trustreport.service.access.provider_settings import ProviderSettings
from trustreport.service.storage.models import Organisation, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

ACTOR = "provider"


def bound_to(rows: Rows, identity: Identity) -> User | None:
    """Whose account is bound to somebody at the provider; an address alone binds nothing."""
    query = select(User).where(User.issuer == identity.issuer, User.subject == identity.subject)
    return rows.scalar(query.with_for_update())


def come_in(rows: Rows, provider: ProviderSettings, identity: Identity, *, create: bool) -> User:
    """The account of somebody who signed in, made where there is none; its roles are those of the groups.

    Whoever has no role left has none from now on; the caller refuses them once that is kept.
    """
    user = bound_to(rows, identity)
    if user is None:
        return _new(rows, provider, identity, create=create)
    if user.disabled_at is not None:
        raise Fault(403, say("pages.fault.account_closed.title"), say("pages.fault.account_closed.detail"))
    user.provider_at = now(rows)
    if provider.mapping:
        _follow(rows, provider, identity, user)
    return user


def refuse_without_role(user: User) -> None:
    """Refuse an account that none of the groups gives a role."""
    if not user.roles:
        raise Fault(
            403,
            say("pages.fault.no_role_here.title"),
            say("pages.fault.no_role_here.detail"),
        )


def bind(rows: Rows, user: User, identity: Identity) -> None:
    """Bind an account to somebody at the provider; refuses one who has another account."""
    other = bound_to(rows, identity)
    if other is not None and other.id != user.id:
        raise Fault(
            409, say("pages.fault.bound_already.title"), say("pages.fault.bound_already.another_account_here")
        )
    if other is None and user.subject is not None:
        raise Fault(
            409, say("pages.fault.bound_already.title"), say("pages.fault.bound_already.account_bound")
        )
    _set(rows, user, identity)
    audit.write(rows, user.organisation, user.id, "user.bind", user.id, **_identity_hash(identity))


def unbind(rows: Rows, user: User, actor: str) -> None:
    """Unbind an account, which from now on is a local one."""
    user.issuer = user.subject = user.provider_at = None
    audit.write(rows, user.organisation, actor, "user.unbind", user.id)


def _new(rows: Rows, provider: ProviderSettings, identity: Identity, *, create: bool) -> User:
    wanted = provider.roles_of(identity.groups)
    if rows.scalar(select(User.id).where(User.email == identity.email)):
        raise Fault(
            403,
            say("pages.fault.not_connected.title"),
            say("pages.fault.not_connected.detail"),
        )
    if not create or not wanted:
        raise Fault(403, say("pages.fault.no_account.title"), say("pages.fault.no_account.detail"))
    if len(wanted) > 1:
        raise Fault(
            403,
            say("pages.fault.several_organisations.title"),
            say("pages.fault.several_organisations.detail"),
        )
    if "@" not in identity.email:
        raise Fault(403, say("pages.fault.no_address.title"), say("pages.fault.no_address.detail"))
    ((name, roles),) = wanted.items()
    organisation = rows.scalar(select(Organisation).where(Organisation.name == name))
    if organisation is None:
        raise Fault(403, say("pages.fault.no_organisation.title"), say("pages.fault.no_organisation.detail"))
    user = accounts.add_user(
        rows, organisation.id, ACTOR, email=identity.email, name=identity.name[:200], roles=roles
    )
    _set(rows, user, identity)
    user.link_by, user.link_at = ACTOR, now(rows)
    audit.write(rows, user.organisation, ACTOR, "user.bind", user.id, **_identity_hash(identity))
    return user


def _follow(rows: Rows, provider: ProviderSettings, identity: Identity, user: User) -> None:
    organisation = rows.get_one(Organisation, user.organisation)
    roles = provider.roles_of(identity.groups).get(organisation.name, [])
    if roles == sorted(user.roles):
        return
    user.roles = roles
    rows.execute(delete(Session).where(Session.user == user.id))
    audit.write(rows, user.organisation, ACTOR, "user.change", user.id, roles=roles)


def _set(rows: Rows, user: User, identity: Identity) -> None:
    user.issuer, user.subject, user.provider_at = identity.issuer, identity.subject, now(rows)


def _identity_hash(identity: Identity) -> dict[str, str]:
    return {"identity": secrets.fingerprint(f"{identity.issuer} {identity.subject}")}

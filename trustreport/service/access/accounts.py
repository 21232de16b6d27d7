"""Organisations, users, and the links by which they come in."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import browsers, secrets
from trustreport.service.ids import new_id
from trustreport.service.provider import Identity, ProviderSettings
from trustreport.service.roles import permissions
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Link, Organisation, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.messages import say

HOUR = 3_600_000


def any_account(rows: Rows) -> bool:
    """Whether anybody has an account."""
    return rows.scalar(select(User.id).limit(1)) is not None


def new_link(
    rows: Rows,
    purpose: str,
    settings: Settings,
    user: str | None = None,
    *,
    made_by: str = "setup",
    shown: bool = False,
) -> str:
    """A secret that works once and not for long; earlier ones for the same end work no more.

    Parameters
    ----------
    shown : to who made it, so that nothing is known of the address of the account
    """
    rows.execute(delete(Link).where(Link.purpose == purpose, Link.user == user))
    secret = secrets.new_secret()
    rows.add(
        Link(
            hash=secrets.fingerprint(secret),
            purpose=purpose,
            user=user,
            made_by=made_by,
            shown=shown,
            expires_at=now(rows) + round(settings.link_hours * HOUR),
        )
    )
    return secret


def use_link(rows: Rows, secret: str, purpose: str) -> Link:
    """Use a link up; refuses one that is unknown, expired, used, or meant for something else."""
    link = rows.scalar(select(Link).where(Link.hash == secrets.fingerprint(secret)).with_for_update())
    at = now(rows)
    if link is None or link.purpose != purpose or link.used_at is not None or link.expires_at < at:
        raise Fault(403, say("pages.fault.link_not_valid.link_unknown"))
    link.used_at = at
    return link


def create_organisation(rows: Rows, name: str, actor: str) -> Organisation:
    """A new organisation, with its own audit chain."""
    if rows.scalar(select(Organisation.id).where(Organisation.name == name)):
        raise Fault(409, say("pages.fault.name_taken.there_organisation"))
    organisation = Organisation(id=new_id(), name=name, retention={}, created_at=now(rows))
    rows.add(organisation)
    rows.flush()
    audit.write(rows, audit.SERVICE, actor, "organisation.found", organisation.id)
    # Its own log does not name a user of another organisation.
    audit.write(rows, organisation.id, "operator", "organisation.found", organisation.id)
    return organisation


def add_user(
    rows: Rows,
    organisation: str,
    actor: str,
    *,
    email: str,
    name: str,
    roles: list[Any],
    password: str = "",
    operator: bool = False,
) -> User:
    """A new user; without a password they cannot log in until they take up an invitation."""
    email = email.lower()
    if rows.scalar(select(User.id).where(User.email == email)):
        # One wording for all, and only an administrator can ask: addresses are unique in the whole service.
        raise Fault(409, say("pages.fault.address_taken.detail"))
    user = User(
        id=new_id(),
        organisation=organisation,
        email=email,
        name=name,
        password=_hashed(rows, password, organisation, email, name) if password else "",
        roles=sorted(roles),
        operator=operator,
        created_at=now(rows),
    )
    rows.add(user)
    rows.flush()
    audit.write(rows, organisation, actor or user.id, "user.add", user.id, roles=sorted(roles))
    return user


def set_password(rows: Rows, user: User, password: str, actor: str, **how: Any) -> None:
    """A new password; every session of the user ends, and every browser is new again."""
    user.password = _hashed(rows, password, user.organisation, user.email, user.name)
    rows.execute(delete(Session).where(Session.user == user.id))
    browsers.forget(rows, user)
    audit.write(rows, user.organisation, actor, "user.password", user.id, **how)


def take_up(rows: Rows, user: User, link: Link, password: str) -> None:
    """A password chosen with a link; where there was one before, others have yet to confirm the account."""
    user.reset, user.confirmed_by = user.reset or bool(user.password or user.subject), None
    user.link_by, user.link_at, user.link_shown = link.made_by, now(rows), link.shown
    set_password(rows, user, password, user.id, link_by=link.made_by)


def is_unconfirmed(user: User) -> bool:
    """Whether the password was replaced by whoever had a link, or an administrator took away second factors,
    and nobody else has confirmed who uses the account.
    """
    return user.reset and user.confirmed_by is None


def facts_of(rows: Rows, user: User) -> dict[str, Any]:
    """How the password of an account came to be: who had the link, and who vouched for the person since."""
    confirmer = rows.get(User, user.confirmed_by) if user.confirmed_by else None
    return {
        "link_by": user.link_by,
        "link_at": user.link_at,
        "link_shown": user.link_shown,
        "reset": user.reset,
        "confirmed_by": user.confirmed_by,
        "confirmer_link_by": confirmer.link_by if confirmer else None,
        "factors_reset_by": user.factors_reset_by,
        "factors_reset_at": user.factors_reset_at,
    }


def known_to_one_alone(facts: Mapping[str, Any], prepared: Collection[str]) -> str:
    """Who of those who prepared something alone says whose an account is that signs it; empty if nobody.

    An account whose link was shown to who made it may be nobody's, as may be one that confirms it and came in
    by a link of the same person. Refusing it would leave nobody who may sign where one administrator invites
    everybody and no mail goes out, and an invented address may have a mailbox, so that it is said instead.
    """
    maker = facts.get("link_by") or ""
    vouched = facts.get("issuer") or (facts.get("confirmed_by") and facts.get("confirmer_link_by") != maker)
    return maker if facts.get("link_shown") and maker in prepared and not vouched else ""


CONFIRMS = frozenset({"review", "approve", "manage"})


def may_confirm(rows: Rows, by: User, user: User) -> bool:
    """Whether one user may confirm another: not who made the link or took away second factors, nor who came
    in by a link after that.

    An account that the same administrator made may be nobody's. It confirms only where no other colleague
    could; the statement of the signer says so.
    """
    if not _had_no_part(by, user):
        return False
    resetters = {user.link_by, user.factors_reset_by} - {None}
    if by.link_by not in resetters:
        return True
    others = select(User).where(User.organisation == user.organisation, User.id != by.id)
    return not any(
        one.active
        and permissions(one.roles) & CONFIRMS
        and one.link_by not in resetters
        and _had_no_part(one, user)
        for one in rows.scalars(others)
    )


def _had_no_part(by: User, user: User) -> bool:
    """Whether an account is neither the one that was reset, nor of who did it, and was there before."""
    reset_at = max(user.link_at or 0, user.factors_reset_at or 0)
    came_before = by.link_at is None or not reset_at or by.link_at < reset_at
    return (
        by.id not in (user.id, user.link_by, user.factors_reset_by) and came_before and not is_unconfirmed(by)
    )


def mark_proof_removed(rows: Rows, user: User, by: str) -> None:
    """Note who took away second factors or the bond with the provider: others have yet to confirm that."""
    user.reset, user.confirmed_by = True, None
    user.factors_reset_by, user.factors_reset_at = by, now(rows)


def refuse_unconfirmed(user: User) -> None:
    """Refuse whoever uses an account that nobody has confirmed since its password was reset."""
    if is_unconfirmed(user):
        raise Fault(403, say("pages.fault.not_confirmed.detail"))


def set_up(rows: Rows, organisation: str, *, email: str, name: str, password: str) -> User:
    """The first organisation and its first user, who may do everything but review what they wrote."""
    audit.lock(rows, audit.SERVICE)  # of two servers that are set up at the same time one is
    if any_account(rows):
        raise Fault(409, say("pages.fault.already_set_up.detail"))
    founded = create_organisation(rows, organisation, "setup")
    roles = ["admin", "approver", "author", "reviewer"]
    return add_user(
        rows, founded.id, "setup", email=email, name=name, roles=roles, password=password, operator=True
    )


def _hashed(rows: Rows, password: str, organisation: str, *known: str) -> str:
    if fault := secrets.weakness(password, *known, rows.get_one(Organisation, organisation).name):
        raise Fault(
            422,
            say("pages.fault.password_refused.detail", fault=fault),
            [Field("password", say("pages.fault.password_refused.field", fault=fault))],
        )
    return secrets.hash_password(password)


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
        raise Fault(403, say("pages.fault.account_closed.detail"))
    user.provider_at = now(rows)
    if provider.mapping:
        _follow(rows, provider, identity, user)
    return user


def refuse_without_role(user: User) -> None:
    """Refuse an account that none of the groups gives a role."""
    if not user.roles:
        raise Fault(403, say("pages.fault.no_role_here.detail"))


def bind(rows: Rows, user: User, identity: Identity) -> None:
    """Bind an account to somebody at the provider; refuses one who has another account."""
    other = bound_to(rows, identity)
    if other is not None and other.id != user.id:
        raise Fault(409, say("pages.fault.bound_already.another_account_here"))
    if other is None and user.subject is not None:
        raise Fault(409, say("pages.fault.bound_already.account_bound"))
    _set(rows, user, identity)
    audit.write(rows, user.organisation, user.id, "user.bind", user.id, **_identity_hash(identity))


def unbind(rows: Rows, user: User, actor: str) -> None:
    """Unbind an account, which from now on is a local one."""
    user.issuer = user.subject = user.provider_at = None
    audit.write(rows, user.organisation, actor, "user.unbind", user.id)


def _new(rows: Rows, provider: ProviderSettings, identity: Identity, *, create: bool) -> User:
    wanted = provider.roles_of(identity.groups)
    if rows.scalar(select(User.id).where(User.email == identity.email)):
        raise Fault(403, say("pages.fault.not_connected.detail"))
    if not create or not wanted:
        raise Fault(403, say("pages.fault.no_account.detail"))
    if len(wanted) > 1:
        raise Fault(403, say("pages.fault.several_organisations.detail"))
    if "@" not in identity.email:
        raise Fault(403, say("pages.fault.no_address.detail"))
    ((name, roles),) = wanted.items()
    organisation = rows.scalar(select(Organisation).where(Organisation.name == name))
    if organisation is None:
        raise Fault(403, say("pages.fault.no_organisation.detail"))
    user = add_user(rows, organisation.id, ACTOR, email=identity.email, name=identity.name[:200], roles=roles)
    _set(rows, user, identity)
    user.link_by, user.link_at, user.link_shown = ACTOR, now(rows), False
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

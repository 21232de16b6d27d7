"""Mail: kept with what causes it, and sent by the workers."""

import smtplib
import ssl
from datetime import UTC, date, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from functools import cache
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import accounts, secrets
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.log import log
from trustreport.service.settings import Settings
from trustreport.service.storage.collaboration import Mail
from trustreport.service.storage.models import Organisation, User
from trustreport.service.storage.pooling import InvitedSite, StoredCollaboration
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import announce
from trustreport.vocabulary.messages import catalogue

Kind = Literal[
    "invitation",
    "reset",
    "report_ready",
    "report_failed",
    "audit_due",
    "criteria_waiting",
    "incident_near",
    "incident_overdue",
    "period_failed",
    "period_waiting",
    "pool_failed",
    "review_requested",
    "site_invited",
    "site_uploaded",
]
OF_AUDITS = ("audit_due", "period_failed", "period_waiting")  # which somebody has to know, whoever left
ACTOR = "mail"
MINUTE = 60_000
LONGEST_WAIT = 6 * 60  # minutes between two attempts
MOST_ATTEMPTS = 14  # a day and a half
RESET_EVERY = 10 * MINUTE  # whoever asks more often gets one message


def queue_mail(rows: Rows, settings: Settings, kind: Kind, user: str, **details: Any) -> bool:
    """Write a message to a user; whether there is a server that takes it.

    What is said of audits goes to the administrators where the account of the user is closed.

    Parameters
    ----------
    details : names of rows, never a secret
    """
    if not settings.sends_mail:
        return False
    row = rows.get_one(User, user)
    wanted = [row] if row.disabled_at is None else []
    if kind in OF_AUDITS and not wanted:
        open_ones = select(User).where(User.organisation == row.organisation, User.disabled_at.is_(None))
        wanted = [one for one in rows.scalars(open_ones) if "admin" in one.roles]
    for one in wanted:
        _write(rows, kind, row.organisation, one.id, "", details)
    return True


def invite(rows: Rows, settings: Settings, user: User, made_by: str) -> str | None:
    """The link with which a user chooses a password; None where it goes by mail, to them and nobody else."""
    if queue_mail(rows, settings, "invitation", user.id, made_by=made_by):
        return None
    return accounts.new_link(rows, "invitation", settings, user.id, made_by=made_by, shown=True)


def invite_site(rows: Rows, settings: Settings, site: InvitedSite) -> str | None:
    """The link with which a site comes in; None where it goes by mail, to the site and nobody else.

    An earlier link of the site works no more.
    """
    site.hash = None
    if settings.sends_mail:
        _write(rows, "site_invited", site.organisation, None, "", {"site": site.id})
        return None
    return _link_of_site(settings, site)


def _link_of_site(settings: Settings, site: InvitedSite) -> str:
    secret = secrets.new_secret()
    site.hash = secrets.fingerprint(secret)
    return f"{settings.url}/site#{secret}"


def add_reset(rows: Rows, address: str) -> None:
    """Note that somebody at an address forgot their password; whether it is anybody's, the worker sees."""
    _write(rows, "reset", None, None, address.lower(), {})


def claim(rows: Rows) -> Mail | None:
    """Take the message that is due longest; it is due again later unless its end is noted before."""
    at = now(rows)
    waits = select(Mail).where(Mail.is_due(at))
    while mail := rows.scalar(waits.order_by(Mail.next_at).limit(1).with_for_update(skip_locked=True)):
        if mail.kind == "reset" and mail.user is None and not _is_addressed(rows, mail, at):
            rows.delete(mail)
            rows.flush()
            continue
        mail.attempts += 1
        mail.next_at = at + min(2**mail.attempts, LONGEST_WAIT) * MINUTE
        return mail
    return None


def anything_waits(rows: Rows) -> bool:
    """Whether a message is due; asked first, since it takes no lock."""
    waits = select(Mail.id).where(Mail.is_due(now(rows)))
    return rows.scalar(waits.limit(1)) is not None


def end(rows: Rows, name: str, reason: str = "", *, final: bool = True) -> None:
    """Note that a message was sent, or why not; with the last attempt, or a final reason, it is given up."""
    mail = rows.scalar(select(Mail).where(Mail.id == name).with_for_update())
    if mail is None or mail.sent_at or mail.failed_at:
        return
    mail.reason = reason[:200]
    at = now(rows)
    if not reason:
        mail.sent_at = at
    elif final or mail.attempts >= MOST_ATTEMPTS:
        mail.failed_at = at
    else:
        return
    if mail.organisation and (to := mail.user or mail.details.get("site")):
        act = "mail.failed" if reason else "mail.sent"
        said = {"reason": mail.reason} if reason else {}
        audit.write(rows, mail.organisation, ACTOR, act, to, kind=mail.kind, mail=mail.id, **said)


def _write(
    rows: Rows, kind: Kind, organisation: str | None, user: str | None, address: str, details: dict[str, Any]
) -> None:
    at = now(rows)
    rows.add(
        Mail(
            id=new_id(),
            organisation=organisation,
            user=user,
            address=address,
            kind=kind,
            details=details,
            attempts=0,
            next_at=at,
            reason="",
            created_at=at,
        )
    )
    announce(rows, "outgoing")


def _is_addressed(rows: Rows, mail: Mail, at: int) -> bool:
    """Whether an address is that of an open account, to which no such message went lately."""
    # Locked: two workers with two messages for one account look one after the other.
    user = rows.scalar(select(User).where(User.email == mail.address).with_for_update())
    if user is None or user.disabled_at is not None:
        return False
    lately = select(Mail.id).where(
        Mail.kind == "reset", Mail.user == user.id, Mail.created_at > at - RESET_EVERY, Mail.id != mail.id
    )
    if rows.scalar(lately.limit(1)) is not None:
        return False
    mail.organisation, mail.user, mail.address = user.organisation, user.id, ""
    audit.write(rows, user.organisation, ACTOR, "user.reset", user.id)
    return True


TIMEOUT = 20  # seconds, of each step with the server


def send_next(core: Core) -> bool:
    """Send one message that is due; whether there was one."""
    with core.store.read() as rows:
        if not anything_waits(rows):
            return False
    with core.store.write() as rows:
        mail = claim(rows)
        if mail is None:
            return False
        reason, final, message = "", True, None
        try:
            message = compose(rows, core.settings, mail)
            reason = "" if message else "the account is closed"
        except ValueError:  # of the standard library, of an address that no header may hold
            reason = "the address cannot be written"
    if message is not None:
        try:
            _send(core.settings, message)
        except (OSError, smtplib.SMTPException) as error:
            reason, final = _reason(error)
    with core.store.write() as rows:
        end(rows, mail.id, reason, final=final)
    log().info("mail", kind=mail.kind, attempt=mail.attempts, failed=reason)
    return True


def compose(rows: Rows, settings: Settings, mail: Mail) -> EmailMessage | None:
    """The message of a row; None where whom it is for may no longer have it.

    The link of an invitation or a reset is made here, so that the database never holds it. With every
    attempt it is a new one, and the earlier ones work no more.
    """
    values: dict[str, Any] = {"url": settings.url, "hours": round(settings.link_hours), **mail.details}
    if mail.kind == "site_invited":
        site = rows.get(InvitedSite, mail.details["site"])
        if site is None or site.revoked_at is not None:
            return None
        values |= _of_invitation(rows, settings, site)
        return _message(settings, mail, site.name, site.email, values)
    user = rows.get(User, mail.user)
    if user is None or user.disabled_at is not None:
        return None
    if mail.kind in ("invitation", "reset"):
        made_by = mail.details.get("made_by", ACTOR)
        secret = accounts.new_link(rows, "invitation", settings, user.id, made_by=made_by)
        values["link"] = f"{settings.url}/invitation#{secret}"
    return _message(settings, mail, user.name, user.email, values)


def _of_invitation(rows: Rows, settings: Settings, site: InvitedSite) -> dict[str, Any]:
    """What the message to a site says; its link is a new one."""
    return {
        "organisation": rows.get_one(Organisation, site.organisation).name,
        "title": rows.get_one(StoredCollaboration, site.collaboration).title,
        "until": datetime.fromtimestamp(site.expires_at / 1000, UTC).date().isoformat(),
        "link": _link_of_site(settings, site),
    }


def _message(settings: Settings, mail: Mail, who: str, email: str, values: dict[str, Any]) -> EmailMessage:
    words = catalogue(settings.language)
    for name in ("due", "until"):
        if given := values.get(name):
            values[name] = words.numbers.day(date.fromisoformat(given))
    text = environment().get_template(f"mail_{mail.kind}.txt.j2").render(say=words, name=who, **values)
    subject, _, body = text.partition("\n")
    message = EmailMessage()
    sender = Address("trustreport", addr_spec=settings.mail_from)
    name, _, domain = email.rpartition("@")
    message["From"], message["To"] = sender, Address(who, name, domain)
    message["Subject"] = subject.strip()
    message["Date"] = format_datetime(datetime.fromtimestamp(mail.created_at / 1000, UTC))
    message["Message-ID"] = f"<{mail.id}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(body.strip() + "\n")
    return message


@cache
def environment() -> Environment:
    """The texts of messages, which are plain."""
    from trustreport.vocabulary.resources import folder

    return Environment(
        loader=FileSystemLoader(folder("templates") / "service"),
        autoescape=False,  # noqa: S701 -- plain text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _send(settings: Settings, message: EmailMessage) -> None:
    host, port = settings.smtp_host, settings.smtp_port
    context = ssl.create_default_context()
    if settings.smtp_security == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=TIMEOUT, context=context)
    else:
        server = smtplib.SMTP(host, port, timeout=TIMEOUT)
    with server:
        if settings.smtp_security == "starttls":
            server.starttls(context=context)
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
        server.send_message(message)


def _reason(error: Exception) -> tuple[str, bool]:
    """Why a message was not sent, without its address; and whether trying again is of no use."""
    codes = []
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
    elif isinstance(error, smtplib.SMTPDataError):
        codes = [error.smtp_code]
    said = f" {', '.join(map(str, codes))}" if codes else ""
    return f"{type(error).__name__}{said}", bool(codes) and min(codes) >= 500

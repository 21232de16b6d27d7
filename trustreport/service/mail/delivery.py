"""Sending what waits in the outbox."""

import smtplib
import ssl
from datetime import UTC, date, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.orm import Session as Rows

from trustreport.service.access import accounts
from trustreport.service.core import Core
from trustreport.service.mail import outbox
from trustreport.service.settings import Settings
from trustreport.service.storage.collaboration import Mail
from trustreport.service.storage.models import User
from trustreport.service.web.log import log
from trustreport.vocabulary.messages import catalogue

TIMEOUT = 20  # seconds, of each step with the server


def send_next(core: Core) -> bool:
    """Send one message that is due; whether there was one."""
    with core.store.read() as rows:
        if not outbox.anything_waits(rows):
            return False
    with core.store.write() as rows:
        mail = outbox.claim(rows)
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
        outbox.end(rows, mail.id, reason, final=final)
    log().info("mail", kind=mail.kind, attempt=mail.attempts, failed=reason)
    return True


def compose(rows: Rows, settings: Settings, mail: Mail) -> EmailMessage | None:
    """The message of a row; None where its user may no longer have it.

    The link of an invitation or a reset is made here, so that the database never holds it. With every
    attempt it is a new one, and the earlier ones work no more.
    """
    user = rows.get(User, mail.user)
    if user is None or user.disabled_at is not None:
        return None
    values: dict[str, Any] = {"url": settings.url, "hours": round(settings.link_hours), **mail.details}
    if mail.kind in ("invitation", "reset"):
        made_by = mail.details.get("made_by", outbox.ACTOR)
        secret = accounts.new_link(rows, "invitation", settings, user.id, made_by=made_by)
        values["link"] = f"{settings.url}/invitation#{secret}"
    words = catalogue(settings.language)
    if due := values.get("due"):
        values["due"] = words.numbers.day(date.fromisoformat(due))
    text = environment().get_template(f"mail_{mail.kind}.txt.j2").render(say=words, name=user.name, **values)
    subject, _, body = text.partition("\n")
    message = EmailMessage()
    sender = Address("trustreport", addr_spec=settings.mail_from)
    name, _, domain = user.email.rpartition("@")
    message["From"], message["To"] = sender, Address(user.name, name, domain)
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

"""For programs that receive webhooks: is it from the service, and what happened."""

import base64
import binascii
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"  # headers
PREFIX = "whsec_"  # of secrets, so that scanners of leaked secrets know one
VERSION = "v1"


def secret_text(key: bytes) -> str:
    """A key as its receiver keeps it."""
    return PREFIX + base64.b64encode(key).decode()


def sign(secret: str, name: str, at: int, body: bytes) -> str:
    """HMAC-SHA256 over the name of a delivery, the seconds since 1970 and the body, as the header has it.

    Raises
    ------
    ValueError : the secret is not one that a service gave
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"a secret of a webhook begins with {PREFIX} and is base64 after that") from None
    digest = hmac.new(key, f"{name}.{at}.".encode() + body, sha256).digest()
    return f"{VERSION},{base64.b64encode(digest).decode()}"


TOLERANCE_SECONDS = 300


class BadSignature(ValueError):
    """A message that the service did not send, or not lately; do nothing that it says."""


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """What happened.

    Attributes
    ----------
    id : the same each time the event is sent; an event with an id that was seen before is a repetition
    event : such as "report.made"
    subject, resource : the id of what it is about, and where the API has it
    details : ids, hashes and counts, as the audit log has them
    log_number, log_hash : the entry of the audit log; kept elsewhere, they show whether the log was changed
    """

    id: str
    event: str
    at: datetime
    organisation: str
    subject: str
    resource: str
    details: Mapping[str, Any]
    log_number: int
    log_hash: str


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE_SECONDS,
    at: float | None = None,
) -> WebhookEvent:
    """The event of a message, once its signature is found to be the service's.

    Parameters
    ----------
    body : the bytes as they came; JSON that was read and written again has another signature
    headers : those of the request, in any case
    secret : of the webhook (``whsec_...``), as the service showed it once
    tolerance : how many seconds the clock of the message may differ; older messages are repetitions by
        somebody who overheard one
    at : now, in seconds since 1970; the machine's clock where left out

    Raises
    ------
    BadSignature : the message is not the service's, was changed, or is too old

    Examples
    --------
    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> verify_webhook(b"{}", {"Webhook-Id": "x"}, secret)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    trustreport...BadSignature: the headers webhook-timestamp, webhook-signature are missing
    """
    given = {name.lower(): value for name, value in headers.items()}
    if missing := [name for name in (ID, TIMESTAMP, SIGNATURE) if name not in given]:
        raise BadSignature(f"the headers {', '.join(missing)} are missing")
    stamp = given[TIMESTAMP]
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 12):
        raise BadSignature("the timestamp is no number of seconds")
    expected = sign(secret, given[ID], int(stamp), body).encode()
    if not any(hmac.compare_digest(expected, sent.encode()) for sent in given[SIGNATURE].split(" ")):
        raise BadSignature("the signature is not that of this body by this secret")
    if abs((time.time() if at is None else at) - int(stamp)) > tolerance:
        raise BadSignature(f"the message is more than {tolerance:g} seconds old, or of the future")
    told = json.loads(body)
    return WebhookEvent(
        id=told["id"],
        event=told["event"],
        at=datetime.fromtimestamp(told["at"] / 1000, UTC),
        organisation=told["organisation"],
        subject=told["subject"],
        resource=told["resource"],
        details=told["details"],
        log_number=told["log"]["number"],
        log_hash=told["log"]["hash"],
    )

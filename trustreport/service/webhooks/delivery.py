"""Sending what waits in the outbox."""

import time
from http.client import HTTPException

from trustreport.service.client.webhook_signature import ID, SIGNATURE, TIMESTAMP, secret_text, sign
from trustreport.service.core import Core
from trustreport.service.storage.types import canonical
from trustreport.service.storage.webhooks import Delivery, Webhook
from trustreport.service.web.log import log
from trustreport.service.webhooks import destination, outbox
from trustreport.vocabulary.version import __version__


def send_next(core: Core) -> bool:
    """Send one event that is due; whether there was one."""
    with core.store.read() as rows:
        if not outbox.anything_waits(rows):
            return False
    with core.store.write() as rows:
        claimed = outbox.claim(rows)
    if claimed is None:
        return False
    webhook, delivery = claimed
    reason = _send(core, webhook, delivery)
    with core.store.write() as rows:
        outbox.end(rows, delivery.id, reason)
    log().info("webhook", webhook=webhook.id, kind=delivery.kind, attempt=delivery.attempts, failed=reason)
    return True


def secret_of(core: Core, webhook: str) -> str:
    """The secret of a webhook: derived from the service's key, so that the database never holds it."""
    return secret_text(core.signer.derived(f"webhook {webhook}"))


def _send(core: Core, webhook: Webhook, delivery: Delivery) -> str:
    """Send an event; nothing, or why it was not taken."""
    body, at = canonical(delivery.details).encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"trustreport/{__version__}",
        ID: delivery.id,
        TIMESTAMP: str(at),
        SIGNATURE: sign(secret_of(core, webhook.id), delivery.id, at, body),
    }
    try:
        status = destination.post(webhook.url, body, headers, core.settings.allowed_networks)
    except (OSError, HTTPException, destination.NotAllowed) as error:
        return destination.reason_of(error)
    if 300 <= status < 400:
        return f"answered {status}; redirects are not followed"
    return "" if 200 <= status < 300 else f"answered {status}"

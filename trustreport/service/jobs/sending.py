"""Sending what waits in the outboxes: mail, and events for webhooks."""

import threading

from trustreport.service.core import Core
from trustreport.service.jobs.wakeups import Wakeups
from trustreport.service.mail import delivery as mail
from trustreport.service.web.log import log, place_of
from trustreport.service.webhooks import delivery as webhooks

EVERY_SECONDS = 3.0  # between two looks at the outboxes where no notification arrives


def send_until(core: Core, wakeups: Wakeups, stop: threading.Event) -> None:
    """Send what is due, as it comes, until `stop` is set."""
    outboxes = [webhooks.send_next, *([mail.send_next] if core.settings.sends_mail else [])]
    while not stop.is_set():
        count = wakeups.count("outgoing")
        for send_next in outboxes:
            try:
                while not stop.is_set() and send_next(core):
                    pass
            except Exception as error:  # the database may be away for a while
                log().error("outbox", error=place_of(error))
        wakeups.wait("outgoing", count, EVERY_SECONDS)

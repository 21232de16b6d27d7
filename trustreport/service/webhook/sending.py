"""Deliveries of webhooks: which is due, where it may go, sent, and tried again."""

import ipaddress
import random
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import SplitResult, urlsplit

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.client.webhooks import ID, SIGNATURE, TIMESTAMP, secret_text, sign
from trustreport.service.core import Core
from trustreport.service.log import log
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import canonical
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import announce
from trustreport.vocabulary.version import __version__

Address = IPv4Address | IPv6Address
Networks = tuple[IPv4Network | IPv6Network, ...]
CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 10.0  # from the connection to the status of the answer
PORTS = {"https": 443, "http": 80}
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address


class NotAllowed(ValueError):
    """An address that no webhook may have; the message says why."""


def parse(url: str, networks: Networks) -> SplitResult:
    """The parts of an address for a webhook.

    Raises
    ------
    NotAllowed : it is no https address, or its number is one of a network that is not allowed
    """
    if not url.isascii() or any(c <= " " or c == "\x7f" for c in url):
        raise NotAllowed("it has letters that addresses do not have; write names as xn--...")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise NotAllowed("it is no address") from None
    if parts.scheme not in PORTS or not host:
        raise NotAllowed("it does not begin with https:// and a name")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise NotAllowed("it has a user, a password or a fragment (#)")
    is_localhost = host == "localhost" or host.endswith(".localhost")
    number = IPv4Address("127.0.0.1") if is_localhost else _number(host)
    if number is not None and not is_allowed(number, networks):
        raise NotAllowed("it is of a private network")
    if parts.scheme == "http" and (number is None or not number.is_loopback):
        raise NotAllowed("it does not begin with https://")
    return parts


def is_allowed(address: Address, networks: Networks) -> bool:
    """Whether an address is public, or in a network that the operator allows."""
    inner = _inner(address)
    if any(inner in network for network in networks if network.version == inner.version):
        return True
    is_site_local = isinstance(inner, IPv6Address) and inner.is_site_local
    return inner.is_global and not (inner.is_multicast or inner.is_reserved or is_site_local)


def post(url: str, body: bytes, headers: Mapping[str, str], networks: Networks) -> int:
    """Send a body; the status of the answer.

    Raises
    ------
    NotAllowed : the address, or one that its name has, is of a private network
    OSError, HTTPException : nobody answered in time, or not in HTTP over TLS
    """
    parts = parse(url, networks)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    sock = socket.create_connection((_resolved(host, port, networks), port), CONNECT_SECONDS)
    try:
        sock.settimeout(WHOLE_SECONDS)
        if parts.scheme == "https":
            sock = ssl.create_default_context().wrap_socket(
                sock, server_hostname=host, do_handshake_on_connect=False
            )
        with _deadline(sock):
            if isinstance(sock, ssl.SSLSocket):
                sock.do_handshake()
            connection = HTTPConnection(host, port)
            connection.sock = sock  # to the address that was looked at; no name is resolved again
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, {"Host": parts.netloc, "Connection": "close", **headers})
            return connection.getresponse().status
    finally:
        sock.close()


def reason_of(error: Exception) -> str:
    """Why nothing was sent, in words for the page; nothing of what the other side said."""
    if isinstance(error, NotAllowed):
        return f"the address is refused: {error}"
    if isinstance(error, socket.gaierror):
        return "the name of the address is not found"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused"
    return "the answer is no HTTP" if isinstance(error, HTTPException) else type(error).__name__


def _resolved(host: str, port: int, networks: Networks) -> str:
    """The first address of a name, once all of them are allowed."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        if not is_allowed(ipaddress.ip_address(address.partition("%")[0]), networks):
            raise NotAllowed("its name leads to a private network")
    return addresses[0]


def _number(host: str) -> Address | None:
    """The address that a host is, in any of the spellings that systems read (0x7f.1); None of a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


@contextmanager
def _deadline(sock: socket.socket) -> Iterator[None]:
    """Cut a connection off after the whole time, however slowly it keeps talking."""
    is_over = threading.Event()

    def cut() -> None:
        is_over.set()
        with suppress(OSError):  # not the method of TLS, which says goodbye and waits
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(WHOLE_SECONDS, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, HTTPException, ValueError) as error:
        if is_over.is_set():
            raise TimeoutError from error
        if isinstance(error, OSError | HTTPException):
            raise
        raise HTTPException(str(error)) from error
    finally:
        timer.cancel()


ACTOR = "webhooks"
FIRST_WAIT = 30_000  # milliseconds between the first two attempts; each further wait is twice as long
LONGEST_WAIT = 4 * 3_600_000
GIVEN_UP_AFTER = 24 * 3_600_000
JITTER = (0.75, 1.25)  # so that events that failed together are not tried together
_random = random.SystemRandom()


def claim(rows: Rows) -> tuple[Webhook, Delivery] | None:
    """Take a delivery that is due; it is due again later unless its end is noted before.

    Addresses take turns, so that one that is slow or has much to receive does not hold up the others.
    """
    at = now(rows)
    due = _due(at).order_by(Webhook.tried_at, Delivery.next_at, Delivery.attempts, Delivery.id)
    delivery = rows.scalar(due.limit(1).with_for_update(skip_locked=True, of=Delivery))
    if delivery is None:
        return None
    delivery.attempts += 1
    last = max(delivery.queued_at + GIVEN_UP_AFTER, at + FIRST_WAIT)
    delivery.next_at = min(at + _wait(delivery.attempts), last)
    webhook = rows.get_one(Webhook, delivery.webhook)
    webhook.tried_at = at
    return webhook, delivery


def anything_waits(rows: Rows) -> bool:
    """Whether a delivery is due; asked first, since it takes no lock."""
    return rows.scalar(_due(now(rows)).limit(1)) is not None


def end(rows: Rows, name: str, reason: str = "") -> None:
    """Note that an event was sent, or why not; after a day of attempts it is given up.

    What else waits for an address that did not take an event waits for the next attempt as well.
    """
    delivery = rows.scalar(select(Delivery).where(Delivery.id == name).with_for_update())
    if delivery is None or delivery.sent_at or delivery.failed_at:
        return
    delivery.reason = reason[:200]
    at = now(rows)
    if not reason:
        delivery.sent_at = at
        return
    waiting = (
        Delivery.webhook == delivery.webhook,
        Delivery.sent_at.is_(None),
        Delivery.failed_at.is_(None),
        Delivery.next_at < delivery.next_at,
    )
    rows.execute(update(Delivery).where(*waiting).values(next_at=delivery.next_at))
    if at >= delivery.queued_at + GIVEN_UP_AFTER:  # noted last: whoever writes the log waits for nobody
        delivery.failed_at = at
        about = {"delivery": delivery.id, "event": delivery.kind, "attempts": delivery.attempts}
        audit.write(rows, delivery.organisation, ACTOR, "webhook.failed", delivery.webhook, **about)


def requeue(rows: Rows, delivery: Delivery) -> None:
    """Put a delivery back as if it were new; its id stays, so that the receiver knows it."""
    at = now(rows)
    delivery.attempts, delivery.reason = 0, ""
    delivery.next_at = delivery.queued_at = at
    delivery.sent_at = delivery.failed_at = None
    announce(rows, "outgoing")


def _due(at: int) -> Select[Delivery]:
    return (
        select(Delivery)
        .join(Webhook, Webhook.id == Delivery.webhook)
        .where(Webhook.paused_at.is_(None), Delivery.is_due(at))
    )


def _wait(attempts: int) -> int:
    """Milliseconds until the next attempt."""
    return round(min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT) * _random.uniform(*JITTER))


def send_next(core: Core) -> bool:
    """Send one event that is due; whether there was one."""
    with core.store.read() as rows:
        if not anything_waits(rows):
            return False
    with core.store.write() as rows:
        claimed = claim(rows)
    if claimed is None:
        return False
    webhook, delivery = claimed
    reason = _send(core, webhook, delivery)
    with core.store.write() as rows:
        end(rows, delivery.id, reason)
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
        status = post(webhook.url, body, headers, core.settings.allowed_networks)
    except (OSError, HTTPException, NotAllowed) as error:
        return reason_of(error)
    if 300 <= status < 400:
        return f"answered {status}; redirects are not followed"
    return "" if 200 <= status < 300 else f"answered {status}"

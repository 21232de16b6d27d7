"""Where a webhook may lead, and a request that goes there and nowhere else.

An address that a user wrote must not lead to what only this machine can reach (server-side request forgery).
So the name is resolved here, every address that it has must be a public one or in a network that the operator
allows, and the connection goes to the very address that was looked at. Redirects are not followed, and of an
answer nothing but its status is used.
"""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import SplitResult, urlsplit

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
    number = _number(host)
    if number is not None and not is_allowed(number, networks):
        raise NotAllowed("it is of a private network")
    if parts.scheme == "http":
        loopback = number if number is not None else IPv4Address("127.0.0.1")
        local = host == "localhost" or (number is not None and number.is_loopback)
        if not local or not is_allowed(loopback, networks):
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

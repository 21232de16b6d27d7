"""Connections: TLS, and requests whose head does not end."""

import asyncio
import ssl
from typing import Any
from urllib.parse import urlsplit

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"  # of TLS 1.2; those of 1.3 are all strong
MONITORING = ("/health", "/ready", "/metrics")  # asked inside of the machine or container, without the proxy


def server_context(settings: Settings) -> ssl.SSLContext | None:
    """How the service itself encrypts (TLS 1.2 and 1.3 alone), or None where a proxy does or nobody.

    Raises
    ------
    Unsuitable : others could reach the service unencrypted, or browsers do not trust its certificate
    """
    if not settings.tls_certificate:
        refuse_unencrypted(settings)
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(CIPHERS)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
        refuse_untrusted(context, urlsplit(settings.url).hostname or "", settings.tls_authority)
    except ssl.SSLCertVerificationError as error:
        raise Unsuitable(
            f"TRUSTREPORT_TLS_CERTIFICATE={settings.tls_certificate!r} is not trusted for {settings.url}: "
            f"{error.verify_message}. Expected a certificate of an authority that this machine trusts, with "
            "those between; TRUSTREPORT_TLS_AUTHORITY names a file with the authority that your users trust."
        ) from None
    except (OSError, ssl.SSLError) as error:
        raise Unsuitable(
            f"TRUSTREPORT_TLS_CERTIFICATE={settings.tls_certificate!r} and "
            f"TRUSTREPORT_TLS_KEY={settings.tls_key!r} cannot be used: {error}. Expected PEM, the key "
            "of the certificate without a password."
        ) from None
    return context


def refuse_unencrypted(settings: Settings) -> None:
    """Refuse to listen to others without encryption, unless a proxy with TLS is said to be in front."""
    if settings.is_loopback or has_tls_proxy(settings):
        return
    raise Unsuitable(
        f"Without encryption the service does not listen on {settings.host}. Give it a certificate "
        "(--tls-certificate, --tls-key), or set TRUSTREPORT_PROXIES to the number of reverse proxies in "
        "front of it and TRUSTREPORT_PUBLIC_URL to their https:// address."
    )


def refuse_untrusted(context: ssl.SSLContext, host: str, authority: str = "") -> None:
    """Connect to ourselves in memory, as a browser would: its checks of the certificate are ours.

    Raises
    ------
    ssl.SSLCertVerificationError : a browser that trusts what this machine trusts would not go on
    """
    client = ssl.create_default_context(cafile=authority or None)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(down, up, server_hostname=host), context.wrap_bio(up, down, server_side=True)]
    while ends:
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                continue


def has_tls_proxy(settings: Settings) -> bool:
    """Whether a proxy with TLS is said to be in front of the service."""
    return bool(settings.proxies) and settings.public_url.startswith("https://")


def unencrypted(settings: Settings, scope: Scope) -> Fault | None:
    """Why a request is refused that came to the proxy, or around it, without TLS; None where it is not."""
    if settings.tls_certificate or not has_tls_proxy(settings):
        return None
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-proto"]
    kinds = {kind.strip().lower() for value in sent for kind in value.split(",")}
    is_missing = not kinds and not settings.is_loopback and scope["path"] not in MONITORING
    if kinds <= {"https"} and not is_missing:
        return None
    why = "" if kinds else " (The proxy in front must say how a request came to it: X-Forwarded-Proto.)"
    return Fault(403, say("pages.fault.not_encrypted.detail", url=settings.url, why=why))


HEAD_SECONDS = 20.0  # for the head of a request, from the first connection or its first byte


class HeadTimeout(H11Protocol):
    """HTTP/1.1 of uvicorn, with a time for heads."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on while a head is incomplete, and no longer once it is there."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

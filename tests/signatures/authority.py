"""A certificate chain and a time-stamping authority, made for a test."""

import datetime as dt
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from asn1crypto import keys, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pyhanko.sign.timestamps import DummyTimeStamper

DAY = dt.timedelta(days=1)
NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)


@dataclass(frozen=True)
class Certified:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: Any

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def certified(
    name: str,
    issuer: Certified | None = None,
    *,
    key: Any = None,
    authority: bool = False,
    stamping: bool = False,
    begins: dt.datetime = NOW - 400 * DAY,
    ends: dt.datetime = NOW + 400 * DAY,
) -> Certified:
    """A certificate, signed by its issuer or by itself."""
    key = key or rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    public = key.public_key()
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=not authority,
                content_commitment=not authority,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=authority,
                crl_sign=authority,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if issuer:
        by = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.certificate.public_key())
        builder = builder.add_extension(by, critical=False)
    if stamping:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        builder = builder.add_extension(usage, critical=True)
    return Certified(builder.sign(issuer.key if issuer else key, SHA256()), key)


@dataclass(frozen=True)
class StampAuthority:
    """A time-stamping authority with the chain to its root."""

    own: Certified
    above: tuple[Certified, ...]

    @property
    def root(self) -> Certified:
        return self.above[-1]

    def reply(self, request: bytes, at: dt.datetime = NOW) -> bytes:
        """The response to a request in DER."""
        stamper = DummyTimeStamper(
            _as_asn1(self.own),
            keys.PrivateKeyInfo.load(
                self.own.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
            ),
            [_as_asn1(one) for one in self.above],
            fixed_dt=at,
        )
        found: bytes = stamper.request_tsa_response(tsp.TimeStampReq.load(request)).dump()
        return found

    def stamp(self, digest: str, at: dt.datetime = NOW) -> bytes:
        """A time stamp response of a SHA-256."""
        imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": bytes.fromhex(digest)}
        request = tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "cert_req": True})
        return self.reply(request.dump(), at)

    @contextmanager
    def served(self) -> Iterator[str]:
        """Its address, for as long as it answers there."""
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "application/timestamp-reply")
                self.end_headers()
                self.wfile.write(authority.reply(request))

            def log_message(self, *given: Any) -> None:
                """Nothing is printed."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _as_asn1(one: Certified) -> asn1_x509.Certificate:
    return asn1_x509.Certificate.load(one.certificate.public_bytes(Encoding.DER))


def stamp_authority(**of_own: Any) -> StampAuthority:
    """An authority below an intermediate one below a root."""
    root = certified("Root of a test", authority=True)
    middle = certified("Authority between", root, authority=True)
    return StampAuthority(certified("Time stamps of a test", middle, stamping=True, **of_own), (middle, root))

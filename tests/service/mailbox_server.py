"""A mail server for tests: what it does with messages, who may log in, and its certificate."""

from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Inbox:
    """A mail server that keeps what it gets; `refusal` is what it answers in place of taking a message."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.refusal = ""

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        return "250 OK"

    def sent_to(self, address: str) -> list[EmailMessage]:
        return [m for m in self.messages if address in m["To"]]


def is_known(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    fine = isinstance(given, LoginPassword) and (given.login, given.password) == (b"trustreport", b"secret")
    return AuthResult(success=fine)


def certificate(file: Path, host: str = "127.0.0.1") -> None:
    """A certificate of this machine under a number or name, with its key, that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    own = x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
    at = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(at - timedelta(days=1))
        .not_valid_after(at + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([own]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(secret + made.public_bytes(Encoding.PEM))

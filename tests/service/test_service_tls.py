"""Connections: encryption by the service itself, what it refuses without (ASVS 5.0.0, V12), slow senders."""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from fastapi.testclient import TestClient
from pages import HTML
from running import free_port, threaded
from services import PASSWORD, new_core

from trustreport.commands.cli import main
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.server import server_config
from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.web import connections

EVERYWHERE = "0.0.0.0"  # noqa: S104 -- what it refuses without encryption
PUBLIC = "https://reports.example.org"


def certificate(folder: Path, name: str = "localhost", days: int = 9) -> dict[str, str]:
    """Settings with a certificate of an authority that nobody but these tests knows."""
    at = datetime.now(UTC)
    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tests")])

    def made(of: x509.Name, public: Any, *extensions: x509.ExtensionType) -> x509.Certificate:
        begun = x509.CertificateBuilder(issuer, of, public, x509.random_serial_number())
        begun = begun.not_valid_before(at - timedelta(30)).not_valid_after(at + timedelta(days))
        for extension in extensions:
            # The name is critical where there is no subject; Python 3.13 asks for it.
            critical = isinstance(extension, x509.BasicConstraints | x509.SubjectAlternativeName)
            begun = begun.add_extension(extension, critical=critical)
        return begun.sign(authority, hashes.SHA256())

    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    usage = x509.KeyUsage(True, *[False] * 4, True, True, False, False)
    own = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    root = made(issuer, authority.public_key(), x509.BasicConstraints(True, None), own, usage)
    named = x509.SubjectAlternativeName([x509.DNSName(name)])
    leaf = made(x509.Name([]), key.public_key(), x509.BasicConstraints(False, None), by, named)
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    files = {
        "tls_certificate": leaf.public_bytes(pem),
        "tls_key": key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain),
        "tls_authority": root.public_bytes(pem),
    }
    for file, content in files.items():
        (folder / file).write_bytes(content)
    return {file: str(folder / file) for file in files}


def agreed(context: ssl.SSLContext, authority: str, *, most: ssl.TLSVersion) -> ssl.SSLObject:
    """A connection in memory with a client that knows versions up to one."""
    client = ssl.create_default_context(cafile=authority)
    client.set_ciphers("ALL:@SECLEVEL=0")
    client.minimum_version, client.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, most
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(down, up, server_hostname="localhost")
    theirs = context.wrap_bio(up, down, server_side=True)
    for _ in range(4):
        for end in (ours, theirs):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ours


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_v12_1_1_and_v12_1_2_only_tls_1_2_and_1_3_with_strong_suites(tmp_path: Path) -> None:
    given = certificate(tmp_path)
    context = connections.server_context(Settings(tmp_path, host="localhost", **given))
    assert context is not None
    newest = agreed(context, given["tls_authority"], most=ssl.TLSVersion.TLSv1_3)
    assert newest.version() == "TLSv1.3"
    assert agreed(context, given["tls_authority"], most=ssl.TLSVersion.TLSv1_2).version() == "TLSv1.2"
    with pytest.raises(ssl.SSLError):
        agreed(context, given["tls_authority"], most=ssl.TLSVersion.TLSv1_1)
    names = [suite["name"] for suite in context.get_ciphers()]
    assert names
    assert not [n for n in names if "GCM" not in n and "CHACHA20" not in n]
    assert not [n for n in names if not n.startswith(("TLS_", "ECDHE"))]


def test_v12_2_1_the_service_itself_answers_over_tls(tmp_path: Path) -> None:
    given, port = certificate(tmp_path), free_port()
    core = new_core(tmp_path / "data", host="localhost", port=port, **given)
    assert core.settings.url == f"https://localhost:{port}"
    config = server_config(core, nullcontext, connections.server_context(core.settings))
    trusting = ssl.create_default_context(cafile=given["tls_authority"])
    with threaded(config):
        answer = httpx2.get(f"{core.settings.url}/health", verify=trusting, timeout=20)
        assert (answer.status_code, "strict-transport-security" in answer.headers) == (200, True)
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"http://localhost:{port}/health", timeout=20)
    core.close()


@pytest.mark.parametrize("given", [{}, {"proxies": 1}, {"public_url": PUBLIC}])
def test_v12_2_1_without_tls_it_listens_to_this_machine_alone(tmp_path: Path, given: Any) -> None:
    with pytest.raises(Unsuitable, match="Without encryption the service does not listen on"):
        connections.server_context(Settings(tmp_path, host=EVERYWHERE, **given))
    assert connections.server_context(Settings(tmp_path, **given)) is None
    assert (
        connections.server_context(Settings(tmp_path, host=EVERYWHERE, proxies=1, public_url=PUBLIC)) is None
    )


def test_v12_2_1_serve_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    monkeypatch.setenv("TRUSTREPORT_ADMIN_EMAIL", "a@h.test")
    monkeypatch.setenv("TRUSTREPORT_ADMIN_PASSWORD_FILE", str(tmp_path / "password"))
    done = CliRunner().invoke(main, ["serve", "--host", EVERYWHERE, "--data", str(tmp_path / "data")])
    assert (done.exit_code, "--tls-certificate" in done.output) == (2, True), done.output


@pytest.mark.parametrize(
    ("host", "sent", "path", "status"),
    [
        (EVERYWHERE, "https", "/sign-in", 200),
        (EVERYWHERE, "http", "/sign-in", 403),
        (EVERYWHERE, "https, http", "/sign-in", 403),
        (EVERYWHERE, "", "/sign-in", 403),  # it went around the proxy
        (EVERYWHERE, "", "/health", 200),  # the container asks itself
        (EVERYWHERE, "http", "/health", 403),
        ("127.0.0.1", "http", "/sign-in", 403),
        ("127.0.0.1", "", "/sign-in", 200),  # nobody else can ask it
    ],
)
def test_v12_2_1_nothing_that_came_to_the_proxy_unencrypted_is_answered(
    light: Core, host: str, sent: str, path: str, status: int
) -> None:
    settings = replace(light.settings, host=host, proxies=1, public_url=PUBLIC)
    browser = TestClient(create_app(replace(light, settings=settings)), base_url="https://testserver")
    headers = {**HTML, **({"X-Forwarded-Proto": sent} if sent else {})}
    answer = browser.get(path, headers=headers)
    assert answer.status_code == status
    assert (PUBLIC in answer.text) == (status == 403)


def test_v12_2_2_a_certificate_that_browsers_do_not_trust_is_refused(tmp_path: Path) -> None:
    given = certificate(tmp_path)
    settings = Settings(tmp_path, host="localhost", **given)
    with pytest.raises(Unsuitable, match="is not trusted for https://localhost"):
        connections.server_context(replace(settings, tls_authority=""))
    with pytest.raises(Unsuitable, match="Hostname mismatch"):
        connections.server_context(replace(settings, public_url=PUBLIC))
    (tmp_path / "old").mkdir()
    with pytest.raises(Unsuitable, match="expired"):
        connections.server_context(replace(settings, **certificate(tmp_path / "old", days=-1)))
    with pytest.raises(Unsuitable, match="cannot be used"):
        connections.server_context(replace(settings, tls_key=given["tls_authority"]))
    with pytest.raises(Unsuitable, match="found one, expected both"):
        Settings(tmp_path, tls_certificate="x")


HALF = b"GET /health HTTP/1.1\r\nHost: x\r\n"
GET = HALF + b"\r\n"


@pytest.fixture
def port(light: Core, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    port = free_port()
    config = server_config(replace(light, settings=replace(light.settings, port=port)), nullcontext)
    with threaded(config):
        yield port


@pytest.mark.parametrize("first, begun", [(b"", b""), (b"", HALF), (GET, HALF)])
def test_half_a_head_is_given_up(port: int, first: bytes, begun: bytes) -> None:
    """OWASP ASVS 5.0, V2.4: connections that do nothing are not kept for ever."""
    with socket.create_connection(("127.0.0.1", port), timeout=25) as client:
        client.sendall(first)
        received = b""
        while first and b'"ok"' not in received:
            received += client.recv(1000)
        client.sendall(begun)
        while client.recv(1000):  # ends when the server closes
            pass


def test_a_connection_that_asks_is_kept(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        for _ in range(3):
            client.sendall(GET[:10])
            time.sleep(0.2)
            client.sendall(GET[10:])
            received = b""
            while b'"ok"' not in received:
                received += client.recv(1000)
            time.sleep(0.6)  # longer than a head may take; what waits for the next one is uvicorn's own time
        assert received.startswith(b"HTTP/1.1 200 OK")


def test_a_body_may_take_longer_than_a_head(port: int) -> None:
    head = b"POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
    head += b"Content-Type: application/json\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(head)
        time.sleep(0.8)
        client.sendall(b"{}")
        assert client.recv(1000).startswith(b"HTTP/1.1 422")

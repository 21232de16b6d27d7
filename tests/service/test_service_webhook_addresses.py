"""Webhooks go to no address that only this machine reaches, and only to who is what the address says."""

import ipaddress
import random
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from receivers import LOOPBACK, Receiver, receiving
from services import new_core

from trustreport.service.core import Core
from trustreport.service.settings import Settings, Unsuitable, from_environment
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.webhook import sending
from trustreport.service.webhook.sending import NotAllowed, is_allowed, parse, post

LOCAL = Settings(Path(), webhook_networks=LOOPBACK).allowed_networks
PRIVATE = """
    127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255
    240.0.0.1 192.0.2.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
    2002:7f00:1:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 2001:db8::1 ::127.0.0.1
""".split()
NOT_HTTPS = """
    https://127.1/ https://0x7f.1/ https://2130706433/ https://017700000001/ https://[::1%25lo]/
    http://receiver.test/ https://u:p@receiver.test/ https://receiver.test/#x ftp://receiver.test/ https:///
    https://[x/ file:///etc https://receiver.test:99999/ https://ü.test/ http://localhost/ http://127.0.0.1/
""".split()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.mark.parametrize("number", PRIVATE)
def test_an_address_that_is_not_public_is_refused_in_every_spelling(number: str) -> None:
    address = ipaddress.ip_address(number)
    assert not is_allowed(address, ())
    host = f"[{number}]" if ":" in number else number
    with pytest.raises(NotAllowed, match="private network"):
        parse(f"https://{host}/", ())


@pytest.mark.parametrize("url", NOT_HTTPS)
def test_an_address_that_is_no_public_https_is_refused(url: str) -> None:
    with pytest.raises(NotAllowed):
        parse(url, ())


def test_what_is_public_or_allowed_is_taken() -> None:
    assert parse("https://receiver.test:8443/a?b=c", ()).port == 8443
    assert is_allowed(ipaddress.ip_address("93.184.216.34"), ())
    assert is_allowed(ipaddress.ip_address("2606:2800:220:1::1"), ())
    assert is_allowed(ipaddress.ip_address("64:ff9b::5db8:d822"), ())  # of a public IPv4 address
    assert is_allowed(ipaddress.ip_address("::ffff:127.0.0.1"), LOCAL)
    for url in ("http://localhost:8080/", "http://127.0.0.1/", "http://[::1]/", "https://127.0.0.1/"):
        assert parse(url, LOCAL)
    ward = Settings(Path(), webhook_networks="10.1.0.0/16").allowed_networks
    assert parse("https://10.1.2.3/", ward)
    for url in ("http://10.1.2.3/", "https://10.2.2.3/", "http://127.0.0.1/"):  # http: to loopback alone
        with pytest.raises(NotAllowed):
            parse(url, ward)
    with pytest.raises(Unsuitable, match=r"WEBHOOK_NETWORKS='10\.1'"):
        from_environment(Path(), {"TRUSTREPORT_WEBHOOK_NETWORKS": "10.1"})


@pytest.mark.parametrize("found", [["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:169.254.169.254"]])
def test_a_name_that_leads_to_a_private_address_is_not_connected_to(
    monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    asked = [(0, 0, 0, "", (address, 443)) for address in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: asked)
    monkeypatch.setattr(socket, "create_connection", lambda *given: pytest.fail("connected"))
    with pytest.raises(NotAllowed, match="private network"):
        post("https://receiver.test/", b"{}", {}, ())


def test_the_connection_goes_to_the_address_that_was_looked_at(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere the second time it is asked for (DNS rebinding) gains nothing."""
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    asked: list[str] = []

    def look_up(host: str, port: int, **more: Any) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", (answers[len(asked) - 1][0], port))]

    def connect(address: tuple[str, int], *given: Any) -> socket.socket:
        asked.append(address[0])
        raise TimeoutError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(TimeoutError):
        post("https://receiver.test/", b"{}", {}, ())
    assert asked == ["receiver.test", "93.184.216.34"]


def test_redirects_are_not_followed_and_only_the_status_is_used(light: Core, receiver: Receiver) -> None:
    with receiving() as inner:
        receiver.status, receiver.headers = 302, {"Location": inner.url}
        assert post(receiver.url, b"{}", {}, LOCAL) == 302
        assert inner.came == []
    receiver.status, receiver.headers = 500, {"Content-Length": "9" * 12}
    receiver.body = b"secret of the ward"
    assert post(receiver.url, b"{}", {}, LOCAL) == 500  # without waiting for the body
    row = Delivery(id="d", webhook="w", kind="webhook.test", details={})
    core = new_core(light.settings.data, webhook_networks=LOOPBACK)
    assert sending._send(core, Webhook(id="w", url=receiver.url), row) == "answered 500"
    receiver.status, receiver.headers = 301, {"Location": "/"}
    assert "not followed" in sending._send(core, Webhook(id="w", url=receiver.url), row)
    core.close()


def test_who_answers_byte_by_byte_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "WHOLE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                while not stop.is_set():
                    try:
                        connection.send(b"H")
                    except OSError:
                        return
                    stop.wait(0.05)

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(TimeoutError) as caught:
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, LOCAL)
        assert sending.reason_of(caught.value) == "no answer in time"
        stop.set()
        thread.join()


def test_certificates_are_verified_for_the_name_of_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, trusting = certificate(tmp_path, "localhost")
    with receiving(own) as receiver:
        url = f"https://localhost:{receiver.port}/"
        with pytest.raises(ssl.SSLCertVerificationError) as caught:
            post(url, b"{}", {}, LOCAL)
        assert sending.reason_of(caught.value).startswith("the certificate is not valid")
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
        assert post(url, b"{}", {}, LOCAL) == 204
        with pytest.raises(ssl.SSLCertVerificationError):  # the same server under another name
            post(f"https://127.0.0.1:{receiver.port}/", b"{}", {}, LOCAL)
        assert receiver.came[0][1]["Host"] == f"localhost:{receiver.port}"


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A context of a server with a certificate of its own, and one of a client that trusts it."""
    import datetime as dt

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    at = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(random.SystemRandom().randrange(1, 1 << 60))
        .not_valid_before(at - dt.timedelta(days=1))
        .not_valid_after(at + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(file)
    return own, ssl.create_default_context(cafile=str(file))

"""Connections that send half a head are closed, and those that answer are not."""

import socket
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest
from running import free_port, threaded

from trustreport.service.core import Core
from trustreport.service.server import server_config
from trustreport.service.web import connections

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

"""Servers and workers as processes of their own, for tests that kill them."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from services import API

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def threaded(config: uvicorn.Config) -> Iterator[threading.Thread]:
    """A server in a thread of ours, that answers already."""
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.02)
            assert thread.is_alive()
        yield thread
    finally:
        server.should_exit = True
        thread.join(20)


class Process:
    """A `trustreport serve` or `worker`, started anew as often as it is killed."""

    def __init__(self, log: Path, *words: str, **variables: str) -> None:
        self.log, self.words = log, words
        self.environment = {
            **os.environ,
            **variables,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.said_before = 0

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.said_before = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trustreport", *self.words],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    def wait_started(self, seconds: float = 60) -> None:
        """Return once its log says that it works: before that, a signal ends it as it ends any process."""
        end = time.monotonic() + seconds
        while b'"event": "start"' not in self.log.read_bytes()[self.said_before :]:
            assert time.monotonic() < end, self.log.read_text(errors="replace")
            time.sleep(0.05)

    def end(self, number: int = signal.SIGKILL) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


class Api:
    """Asks a server by a token; patient while it is away."""

    def __init__(self, port: int, token: str = "") -> None:
        self.base, self.token = f"http://127.0.0.1:{port}", token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"null")

    def patiently(self, method: str, path: str, body: Any = None, seconds: float = 90) -> Any:
        """Request again while nobody answers; a refusal is an answer."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.ask(method, path, body)
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def wait_ready(self) -> None:
        self.patiently("GET", "/ready")

    def jobs(self) -> list[dict[str, Any]]:
        return list(self.patiently("GET", f"{API}/jobs?limit=200")["items"])

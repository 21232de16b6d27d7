"""Pictures of every page of the service, wide and narrow, light and dark, to be looked at by a person.

    PYTHONPATH=.:tests:tests/service python benchmarks/service_pages.py FOLDER [WORD ...]

With words only pages whose address has one of them. Also names every page that is wider than its window.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browsing import chromium
from fastapi import FastAPI
from pages import served, signed_report
from services import PASSWORD, Client
from test_pages_access import addresses

from trustreport.service.core import Core
from trustreport.service.web.faults import Fault

LONG = "Detection of pulmonary nodules in thin-section computed tomography of the chest, second reader, " * 2
WINDOWS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
OPEN = ["/sign-in", "/forgotten", "/invitation", "/shared", "/setup", "/look/404"]
OWN = ["/account/second-factor", "/account/second-factor/app", "/account/second-factor/passkey"]
REFUSALS = [403, 404, 429, 503, 507, 500]


def refusing(app: FastAPI) -> None:
    """Addresses of which each is refused in its own way."""

    def look(status: int) -> None:
        raise Fault(
            status, "Why this was not done, and what to do about it, in a sentence or two.", title="Not done"
        )

    app.add_api_route("/look/{status}", look, include_in_schema=False)
    app.router.routes.insert(0, app.router.routes.pop())


def long_names(anna: Client) -> list[str]:
    """Pages with names as long as they can be, and those that have nothing to show."""
    study = anna.study(LONG[:200])
    anna.study("X" * 120)
    empty = anna.found("Organisation without anything", "empty@other.test")
    assert empty.me["user"]
    return [f"/studies/{study}", "/studies?q=X", "/reports?q=nothing", "/comparison"]


def everything(core: Core, app: FastAPI) -> tuple[list[str], str]:
    """The addresses of all pages, and that of a shared report."""
    refusing(app)
    anna = Client.set_up(app, core)
    names = signed_report(core, anna)
    refused = [f"/look/{status}" for status in REFUSALS]
    return [*addresses(names), *OWN, *long_names(anna), *refused], f"/shared#{names['link']}"


def look(page: Any, url: str, address: str, folder: Path, window: str) -> None:
    """One picture, of the whole page with all that opens."""
    page.goto(url + address, wait_until="load")
    page.evaluate("for (const d of document.querySelectorAll('details')) { d.open = true; }")
    name = re.sub(r"[0-9a-z]{26}|[^\w]+", "-", address).strip("-") or "start"
    page.screenshot(path=folder / f"{name[:60]}.{window}.png", full_page=True)
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if wide > 0:
        print(f"{address} ({window}) is {wide} pixels wider than its window")


def pictures(folder: Path, words: list[str]) -> Iterator[str]:
    """Look at every page in every window."""
    with (
        tempfile.TemporaryDirectory() as data,
        chromium() as browser,
        served(Path(data), workers=False) as (core, app, url),
    ):
        inside, shared = everything(core, app)
        wanted = [a for a in inside if not words or any(word in a for word in words)]
        for width, scheme in WINDOWS:
            window = f"{width}-{scheme}"
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = context.new_page()
            for address in OPEN:
                look(page, url, address, folder, window)
            page.goto(url + shared)
            page.wait_for_url(re.compile(r"/shared/\w{26}$"))
            look(page, url, "/shared/" + page.url.rpartition("/")[2], folder, window)
            page.goto(f"{url}/sign-in")
            page.fill("[name=email]", "anna@hospital.test")
            page.fill("[name=password]", PASSWORD)
            page.keyboard.press("Enter")
            page.wait_for_url("**/studies")
            for address in wanted:
                look(page, url, address, folder, window)
            context.close()
            yield window


if __name__ == "__main__":
    to = Path(sys.argv[1])
    to.mkdir(parents=True, exist_ok=True)
    for done in pictures(to, sys.argv[2:]):
        print(done, flush=True)

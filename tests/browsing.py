"""The distribution's Chromium for tests that look at pages, and what axe-core finds there."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import pytest

# Milliseconds: enough on a machine that is busy with other work. A test that passes never waits as long.
PATIENCE = 180_000
# The shell without windows takes a third less CPU.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
# Without any of the background connections that a browser makes.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--js-flags=--no-opt",  # no script runs for so long that compiling it for speed would pay
]

# What can differ between light and dark, and takes most of axe-core's time; other rules look at what has no
# colour, on a desktop and on a phone.
COLOUR = ["color-contrast", "link-in-text-block"]
STRUCTURE = {"rules": {rule: {"enabled": False} for rule in COLOUR}}
COLOURS = {"runOnly": {"type": "rule", "values": COLOUR}}
# Rows whose elements have the classes of another row's, in a table of its class, have its colours.
ONE_ROW_OF_A_LOOK = """
const classes = node => node.tagName + '.' + (node.getAttribute('class') || '')
const seen = new Set()
for (const row of document.querySelectorAll('tbody tr')) {
    const look = [row.closest('table'), row, ...row.querySelectorAll('*')].map(classes).join()
    if (seen.has(look)) { row.remove() }
    seen.add(look)
}
"""
LARGE = 1000  # nodes of a page whose colours are worth a look of their own


class Browser:
    """A browser whose pages wait for as long as `PATIENCE`."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def new_context(self, **look: Any) -> Any:
        context = self._opened.new_context(**look)
        context.set_default_timeout(PATIENCE)
        return context

    def new_page(self, **look: Any) -> Any:
        """A page that takes its context with it when it is closed."""
        page = self._opened.new_page(**look)
        page.set_default_timeout(PATIENCE)
        return page


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; there can be one at a time in a process."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        pytest.skip(f"no Chromium on this machine: apt-get install {PROGRAMS[0]}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=ARGUMENTS, timeout=PATIENCE)
        yield Browser(opened)
        opened.close()


def all_violations(page: Any) -> list[tuple[str, list[Any]]]:
    """The rules that a page breaks; of a large one rows go in which nothing new can be seen."""
    if page.evaluate("document.querySelectorAll('*').length") < LARGE:
        return violations(page)
    found = violations(page, STRUCTURE)
    page.evaluate(ONE_ROW_OF_A_LOOK)
    return found + violations(page, COLOURS)


def violations(page: Any, options: Mapping[str, Any] = MappingProxyType({})) -> list[tuple[str, list[Any]]]:
    """The rules that a page breaks, each with the first places."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [(v["id"], [node["target"] for node in v["nodes"]][:3]) for v in found]

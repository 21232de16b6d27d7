"""The distribution's Chromium for tests that look at pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# Milliseconds: enough on a machine that is busy with other work. A test that passes never waits as long.
PATIENCE = 180_000
# Without any of the background connections that a browser makes.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--js-flags=--no-opt",  # no script runs for so long that compiling it for speed would pay
]


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
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=ARGUMENTS, timeout=PATIENCE)
        yield Browser(opened)
        opened.close()

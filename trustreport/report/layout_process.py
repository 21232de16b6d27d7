"""Lays out the annex in a process of its own, while this one lays out the report.

That process imports WeasyPrint and nothing that computes or draws, so it is small and ready when the text is.
"""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from trustreport.pipes import end, seldom_collect

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from trustreport.report.pdf_layout import PaperText, Printed


class LayoutProcess:
    """A process that lays out one sheet: `start` lets it get ready, `lay_out` hands over; a context ends it.

    What it does not bring, because it failed or came to an end, is left to who asked.
    """

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._line, self._theirs = spawn.Pipe()
        self._process = spawn.Process(target=_lay_out, args=(self._theirs,), daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)
        self._theirs.close()
        self._line.close()

    def start(self) -> None:
        """Start it, unless it has been started."""
        if self._process.pid is None:
            with suppress(OSError):  # no room for another process
                self._process.start()
            self._theirs.close()

    def lay_out(self, sheet: PaperText) -> Callable[[], Printed | None]:
        """Let a sheet be laid out; what is given back waits for it, and gives None where it failed."""
        self.start()
        with suppress(OSError):  # gone
            self._line.send(sheet)

        def made() -> Printed | None:
            try:
                found: Printed | None = self._line.recv()
            except (EOFError, OSError):
                found = None
            return found

        return made


def _lay_out(line: Connection) -> None:
    """What the other process does."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    seldom_collect()
    from trustreport.report.pdf_layout import laid_out, weasyprint_module

    made = None
    with suppress(Exception):  # who asks for it lays it out itself, and sees why
        weasyprint_module()
        made = laid_out(line.recv())
    with suppress(OSError):  # nobody waits any more
        line.send(made)

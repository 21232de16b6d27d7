"""Lays out the PDF of a report and that of its annex in a process each, while this one goes on.

Such a process imports WeasyPrint and nothing that computes or draws: it is small, and ready when the text is.
"""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from trustreport.report.layout.pipes import end, seldom_collect

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from trustreport.report.layout.pdf_layout import PaperText, Printed


class LayoutProcesses:
    """Processes that lay out a sheet each: `start` lets some get ready, `lay_out` hands over.

    A context ends them. What they do not bring, because they failed or came to an end, is left to who asked.
    """

    def __init__(self) -> None:
        self._processes: list[BaseProcess] = []
        self._lines: list[Connection] = []
        self._ready: list[Connection] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            end(process)
        for line in self._lines:
            line.close()

    def start(self, number: int) -> None:
        """Let there be so many that are ready, or getting so."""
        spawn = multiprocessing.get_context("spawn")
        while len(self._ready) < number:
            line, theirs = spawn.Pipe()
            process = spawn.Process(target=_lay_out, args=(theirs,), daemon=True)
            with suppress(OSError):  # no room for another process
                process.start()
            theirs.close()
            self._processes.append(process)
            self._lines.append(line)
            self._ready.append(line)

    def lay_out(self, sheet: PaperText) -> Callable[[], Printed | None]:
        """Let a sheet be laid out; what is given back waits for it, and gives None where it failed."""
        self.start(1)
        line = self._ready.pop(0)
        with suppress(OSError):  # gone
            line.send(sheet)

        def made() -> Printed | None:
            try:
                found: Printed | None = line.recv()
            except (EOFError, OSError):
                found = None
            return found

        return made


def _lay_out(line: Connection) -> None:
    """What such a process does."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    seldom_collect()
    from trustreport.report.layout.pdf_layout import laid_out, weasyprint_module

    made = None
    with suppress(Exception):  # who asks for it lays it out itself, and sees why
        weasyprint_module()
        made = laid_out(line.recv())
    with suppress(OSError):  # nobody waits any more
        line.send(made)

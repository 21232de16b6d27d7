"""Processes that draw figures and lay out PDF files, while this one computes and writes pages.

What only drawing needs (matplotlib: 50 MB) stays in the one, and a second core is put to work: it draws first
what a page needs, then what is only a file of its own where it is wanted. A process that lays out imports
WeasyPrint and nothing that computes or draws: it is small, and ready when the text is.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from trustreport.report.layout.pipes import end, seldom_collect, send

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from trustreport.assessment.finding import Figure
    from trustreport.report.layout.figures import Drawn
    from trustreport.report.layout.pdf_layout import PaperText, Printed


PAGE, FILES = ("page",), ("svg", "png")
NICE = 3  # it is seldom waited for


@dataclass(frozen=True, slots=True)
class Order:
    """A figure to be drawn, by its number."""

    number: int
    figure: Figure
    language: str


class DrawingProcess:
    """A process that draws: `begin` hands it figures, `drawn` asks for them; a context ends it.

    With `files` it draws each figure as files of its own too. What it does not bring, because it failed or
    came to an end, is drawn here when it is asked for.
    """

    def __init__(self, *, files: bool = False) -> None:
        self._forms = (*PAGE, *FILES) if files else PAGE
        self._begun: dict[str, Order] = {}
        self._files: dict[tuple[int, str], Any] = {}
        self._numbers = count()
        self._arrived = threading.Condition()
        self._ended = False
        spawn = multiprocessing.get_context("spawn")
        self._line, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_draw, args=(theirs, files), daemon=True)
        try:
            self._process.start()
        except OSError:  # no room for another process
            self._ended = True
        else:
            threading.Thread(target=self._collect, daemon=True).start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)
        self._line.close()

    def begin(self, figures: Iterable[Figure], language: str) -> None:
        """Let these figures be drawn, labelled in a language."""
        new = [Order(next(self._numbers), figure, language) for figure in figures]
        self._begun.update((order.figure.id, order) for order in new)
        if new and not self._ended:
            try:
                send(self._line, new)
            except (OSError, pickle.PicklingError, AttributeError, TypeError):  # gone, or cannot be sent
                self._ended = True

    def drawn(self, figures: Iterable[Figure], language: str) -> dict[str, Drawn]:
        """These figures by id, each awaited when it is looked at; those that were not begun are begun now."""
        from trustreport.report.layout.figures import Drawn

        wanted = list(figures)
        self.begin((f for f in wanted if not self._has(f, language)), language)
        return {figure.id: Drawn(partial(self._file, self._begun[figure.id])) for figure in wanted}

    def _has(self, figure: Figure, language: str) -> bool:
        order = self._begun.get(figure.id)
        return order is not None and order.figure is figure and order.language == language

    def _file(self, order: Order, form: str) -> bytes:
        """One form of a figure, awaited, or drawn here."""
        key = order.number, form
        with self._arrived:
            self._arrived.wait_for(lambda: key in self._files or self._ended or form not in self._forms)
            content = self._files.get(key)
        if content is None:
            from trustreport.report.layout.figures import saved
            from trustreport.vocabulary.messages import catalogue

            (content,) = saved(order.figure, catalogue(order.language), (form,))
            self._files[key] = content
        return content

    def _collect(self) -> None:
        """Take what the other process sends, so that it never has to wait."""
        while not self._ended:
            try:
                key, content = self._line.recv()
            except (EOFError, OSError):
                key, content = None, None
            with self._arrived:
                if key is None:
                    self._ended = True
                else:
                    self._files[key] = content
                self._arrived.notify_all()


def _draw(line: Connection, files: bool) -> None:
    """What the other process does: of all figures it has been given, first what a page needs."""
    given: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def listen() -> None:  # and unpack elsewhere: that imports, which only one thread should do
        while True:
            try:
                given.put(line.recv_bytes())
            except (EOFError, OSError):
                return given.put(None)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    os.nice(NICE)
    seldom_collect()
    threading.Thread(target=listen, daemon=True).start()
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_mixed
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401

    with suppress(OSError):  # nobody waits any more
        waiting: deque[Order] = deque()
        while True:
            packed = b"" if waiting and given.empty() else given.get()
            if packed is None:
                return
            orders: list[Order] = pickle.loads(packed) if packed else []  # noqa: S301 -- from our own
            for order in orders:
                _send(line, order, PAGE)
                waiting.extend([order] if files else ())
            if not orders:
                _send(line, waiting.popleft(), FILES)


def _send(line: Connection, order: Order, forms: tuple[str, ...]) -> None:
    from trustreport.report.layout.figures import saved
    from trustreport.vocabulary.messages import catalogue

    files: list[bytes] | list[None]
    try:
        files = saved(order.figure, catalogue(order.language), forms)
    except Exception:  # who asks for it draws it again, and sees why
        files = [None] * len(forms)
    for form, content in zip(forms, files):
        line.send(((order.number, form), content))


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    seldom_collect()
    from trustreport.report.layout.pdf_layout import laid_out, weasyprint_module

    made = None
    with suppress(Exception):  # who asks for it lays it out itself, and sees why
        weasyprint_module()
        made = laid_out(line.recv())
    with suppress(OSError):  # nobody waits any more
        line.send(made)

"""Runs a fleet: gives its studies to workers, keeps how each ended, and writes the overview."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import FrameType
from typing import Any, Self

from trustreport.api.fleet import records
from trustreport.api.fleet.build_process import build_one, end_idle
from trustreport.api.fleet.studies import FleetStudy, studies_of
from trustreport.api.parallel import Backend, executor

TIMEOUT = 3600.0  # seconds
MOST_LOST = 3  # times that a worker may be lost with a study
AHEAD = 2  # studies given out for each that is being built
LOOKS_EVERY = 0.2  # seconds after which a run that waits looks whether it was interrupted

Progress = Callable[[str, str, int, int], None]  # name, how it ended, how many have ended, of how many
Task = dict[str, Any]


@dataclass
class FleetSummary:
    """How the studies of a fleet ended, by name; `failed` holds the key and the values of each reason."""

    out: Path
    n: int
    n_built: int = 0
    n_current: int = 0
    failed: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def n_waiting(self) -> int:
        """Studies that an interrupted run did not come to."""
        return self.n - self.n_built - self.n_current - len(self.failed)

    @property
    def complete(self) -> bool:
        """Whether every study has a report."""
        return not self.failed and not self.n_waiting


def build_fleet(
    source: str | PathLike[str],
    out: str | PathLike[str],
    *,
    backend: Backend = "loky",
    jobs: int = 1,
    formats: Iterable[str] | None = None,
    seed: int | None = None,
    timeout: float = TIMEOUT,
    again: bool = False,
    language: str = "en",
    allow_outside: bool = False,
    progress: Progress | None = None,
) -> FleetSummary:
    """Build the reports of many studies into `out`, and the overview of all of them.

    A study whose inputs are those of a finished report in `out` is not built again. One that cannot be read,
    ends its process or takes too long is recorded with the reason, and the others go on. Ctrl-C ends the run:
    what is finished stays, and the same call goes on from there.

    Parameters
    ----------
    source : a folder of study folders, or a file that lists their paths (text, or CSV: column ``study``)
    backend, jobs : see `trustreport.api.workers`; workers of a cluster must see the same folders
    formats, seed : of each report, as `trustreport build` has them
    timeout : seconds that a study may take
    again : build every study, whether or not it has changed
    language : of the overview
    progress : is given each study as it ends

    Raises
    ------
    ValueError : no such folder or list, an unknown format, or a wrong number of jobs
    BlockingIOError : another run writes into `out`
    MissingLibrary : the package of the backend is not installed
    """
    from trustreport.report.write import FORMATS

    wanted = None if formats is None else sorted(set(formats))
    unknown = sorted(set(wanted or ()) - set(FORMATS))
    if unknown:
        raise ValueError(f"unknown format {', '.join(unknown)}; known are {', '.join(FORMATS)}")
    folder = Path(out).absolute()
    studies = studies_of(Path(source), folder)
    options = {"formats": wanted, "seed": seed, "allow_outside": allow_outside}
    summary = FleetSummary(folder, len(studies))

    def ended(task: Task, answer: dict[str, Any]) -> None:
        """Count a study that has ended, and report it to the caller."""
        _note(summary, task, answer)
        if progress:
            progress(task["name"], answer["status"], summary.n - summary.n_waiting, summary.n)

    with records.one_run(folder):
        tasks = (_task(study, folder, options, timeout, again) for study in studies)
        try:
            with _Interrupts() as interrupts:
                _Run(tasks, ended, interrupts).go(jobs, backend)
        except KeyboardInterrupt:
            summary.interrupted = True
            records.clear_unfinished(folder)
        finally:
            end_idle()
        from trustreport.api.fleet.overview import write_overview

        write_overview(folder, studies, language)
    return summary


def _task(study: FleetStudy, out: Path, options: dict[str, Any], timeout: float, again: bool) -> Task:
    return {
        "name": study.name,
        "study": str(study.path.absolute()),
        "site": study.site,
        "period": study.period,
        "out": str(out),
        "options": {**options, "site": study.site, "period": study.period},
        "timeout": timeout,
        "again": again,
    }


def _note(summary: FleetSummary, task: Task, answer: dict[str, Any]) -> None:
    match answer["status"]:
        case "built":
            summary.n_built += 1
        case "current":
            summary.n_current += 1
        case _:
            summary.failed[task["name"]] = (answer["why"], answer["values"])


class _Interrupts:
    """Ctrl-C of the main thread, noted until it may be raised; a second one is raised at once.

    Raised wherever that thread happens to be, it can leave the lock of a future taken, for which the threads
    of an executor then wait for ever.
    """

    def __init__(self) -> None:
        self._noted = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is signal.default_int_handler:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted:
            signal.default_int_handler(number, frame)
        self._noted = True

    def raise_noted(self) -> None:
        """Raise what was noted, where nothing is left half done."""
        if self._noted:
            raise KeyboardInterrupt


class _Run:
    """Tasks on their way to workers. Those that a worker was lost with go again, one at a time.

    One at a time, so that the next loss is that of one study alone; after `MOST_LOST` it has failed.
    """

    def __init__(
        self,
        tasks: Iterator[Task],
        ended: Callable[[Task, dict[str, Any]], None],
        interrupts: _Interrupts,
    ) -> None:
        self._tasks, self._ended, self._interrupts = tasks, ended, interrupts
        self._suspects: deque[Task] = deque()
        self._running: dict[Future[dict[str, Any]], Task] = {}
        self._done = False

    def go(self, jobs: int, backend: Backend) -> None:
        """Until every task has ended; with new workers where all were lost."""
        while not self._done:
            with executor(jobs, backend) as (pool, width):
                self._until_broken(pool, AHEAD * width)

    def _until_broken(self, pool: Executor, most: int) -> None:
        broken = False
        while True:
            if not broken:
                broken = self._fill(pool, most)
            if not self._running:
                self._done = not broken
                return
            self._interrupts.raise_noted()
            for future in wait(self._running, LOOKS_EVERY, FIRST_COMPLETED).done:
                task = self._running.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if error is None:
                    self._ended(task, future.result())
                else:
                    broken = broken or isinstance(error, BrokenExecutor)
                    self._lost(task, error)

    def _fill(self, pool: Executor, most: int) -> bool:
        """Give out as many tasks as there is room for; true where the workers are gone."""
        while self._has_room(most):
            self._interrupts.raise_noted()
            task = self._suspects.popleft() if self._suspects else next(self._tasks, None)
            if task is None:
                return False
            try:
                self._running[pool.submit(build_one, task)] = task
            except BrokenExecutor:
                self._suspects.append(task)
                return True
        return False

    def _has_room(self, most: int) -> bool:
        alone = self._suspects or any("lost" in task for task in self._running.values())
        return len(self._running) < (1 if alone else most)

    def _lost(self, task: Task, error: BaseException) -> None:
        task["lost"] = task.get("lost", 0) + 1
        if task["lost"] < MOST_LOST:
            self._suspects.append(task)
            return
        answer = records.failed(task["study"], "lost", n=task["lost"], error=type(error).__name__)
        records.write_record(Path(task["out"]), task["name"], answer)
        self._ended(task, answer)

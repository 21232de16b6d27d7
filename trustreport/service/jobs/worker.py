"""The threads of a process that works: for jobs, for what is due, for mail and events, and to listen."""

import os
import socket
import threading

from sqlalchemy import delete

from trustreport.service import mail
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.jobs import schedules
from trustreport.service.jobs.cluster import Cluster
from trustreport.service.jobs.code import code_version
from trustreport.service.jobs.queue import Task
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.log import log, place_of
from trustreport.service.storage.models import StoredWorker as Row
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import Wakeups
from trustreport.service.webhook import sending

EVERY_SECONDS = 3.0  # between two looks at the outboxes where no notification arrives


def send_until(core: Core, wakeups: Wakeups, stop: threading.Event) -> None:
    """Send what is due, as it comes, until `stop` is set."""
    outboxes = [sending.send_next, *([mail.send_next] if core.settings.sends_mail else [])]
    while not stop.is_set():
        count = wakeups.count("outgoing")
        for send_next in outboxes:
            try:
                while not stop.is_set() and send_next(core):
                    pass
            except Exception as error:  # the database may be away for a while
                log().error("outbox", error=place_of(error))
        wakeups.wait("outgoing", count, EVERY_SECONDS)


STOP_SECONDS = 20.0


class Worker:
    """Works until `stop`: one thread for checks, which never wait for reports, and `threads` for reports."""

    def __init__(self, core: Core, threads: int = 1, cluster: Cluster | None = None) -> None:
        self.core = core
        self.name = f"{socket.gethostname()[:40]}-{os.getpid()}-{new_id()[-6:]}"
        self._stop = threading.Event()
        self._wakeups = Wakeups(core.store, self._stop, core.settings.lease / 3)
        wanted: list[tuple[Task, ...]] = [("check",)]
        wanted += [("report", "check")] * threads
        self._threads = [
            threading.Thread(target=self._tend, daemon=True),
            threading.Thread(target=send_until, args=(core, self._wakeups, self._stop), daemon=True),
        ]
        if not core.store.is_sqlite:
            self._threads.append(threading.Thread(target=self._wakeups.listen, daemon=True))
        for i, tasks in enumerate(wanted):
            thread = WorkerThread(core, f"{self.name}-{i}", self._stop, self._wakeups, cluster)
            self._threads.append(threading.Thread(target=thread.work, args=tasks, daemon=True))

    def __enter__(self) -> "Worker":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to work, once what dead workers left is gone."""
        schedules.sweep_work(self.core)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Take no more jobs; those at work are given back to the queue."""
        self._stop.set()
        self._wakeups.ring()
        for thread in self._threads:
            thread.join(STOP_SECONDS)
        with self.core.store.write() as rows:
            rows.execute(delete(Row).where(Row.id == self.name))

    def _tend(self) -> None:
        """Say that this worker lives, and see to what is due: periodic audits, retention, what died left."""
        while not self._stop.is_set():
            try:
                with self.core.store.write() as rows:
                    at = now(rows)
                    row = rows.get(Row, self.name)
                    if row is None:
                        rows.add(Row(id=self.name, code=code_version(), started_at=at, seen_at=at))
                    else:
                        row.seen_at = at
                schedules.tend(self.core)
            except Exception as error:
                log().error("worker", worker=self.name, error=place_of(error))
            self._stop.wait(max(0.2, self.core.settings.lease / 3))

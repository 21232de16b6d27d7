"""Numbers for Prometheus."""

from pathlib import Path
from shutil import disk_usage

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.models import Job, StoredWorker

SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800)


class Metrics:
    """Counts of this process, and what the database says of jobs at the moment of asking."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = self.registry
        self.requests = Counter(
            "trustreport_requests", "Requests answered", ["method", "route", "status"], registry=own
        )
        self.seconds = Histogram(
            "trustreport_request_seconds",
            "Time to answer",
            ["method", "route"],
            buckets=SECONDS,
            registry=own,
        )
        self.jobs = Counter("trustreport_jobs_ended", "Jobs ended here", ["task", "state"], registry=own)
        self.job_seconds = Histogram(
            "trustreport_job_seconds", "Time of a job", ["task"], buckets=SECONDS, registry=own
        )
        self.refused = Counter("trustreport_refused", "Requests refused", ["reason"], registry=own)
        self._queue = Gauge("trustreport_jobs", "Jobs by state", ["task", "state"], registry=own)
        self._workers = Gauge("trustreport_workers", "Workers seen lately", registry=own)
        self._waiting = Gauge(
            "trustreport_oldest_waiting_seconds", "How long the oldest waiting job has waited", registry=own
        )
        self._free = Gauge("trustreport_disk_free_bytes", "Free in the data folder", registry=own)

    def text(self, rows: Rows, alive_since: int, moment: int, folder: Path) -> bytes:
        """The text that Prometheus reads.

        Parameters
        ----------
        alive_since, moment : milliseconds
            When a worker that lives was seen last; now.
        folder : that of the data
        """
        for task in ("check", "report"):
            for state in ("queued", "running", "done", "failed", "cancelled"):
                self._queue.labels(task, state).set(0)
        query = select(Job.task, Job.state, func.count()).group_by(Job.task, Job.state)
        for task, state, n in rows.execute(query):
            self._queue.labels(task, state).set(n)
        alive = select(func.count()).select_from(StoredWorker).where(StoredWorker.seen_at >= alive_since)
        self._workers.set(rows.scalar(alive) or 0)
        oldest = rows.scalar(select(func.min(Job.created_at)).where(Job.state == "queued"))
        self._waiting.set(0 if oldest is None else (moment - oldest) / 1000)
        self._free.set(disk_usage(folder).free)
        return generate_latest(self.registry)

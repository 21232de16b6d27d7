"""Numbers for Prometheus."""

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

    def text(self, rows: Rows, alive_since: int) -> bytes:
        """The text that Prometheus reads."""
        for task in ("check", "report"):
            for state in ("queued", "running", "done", "failed", "cancelled"):
                self._queue.labels(task, state).set(0)
        query = select(Job.task, Job.state, func.count()).group_by(Job.task, Job.state)
        for task, state, n in rows.execute(query):
            self._queue.labels(task, state).set(n)
        alive = select(func.count()).select_from(StoredWorker).where(StoredWorker.seen_at >= alive_since)
        self._workers.set(rows.scalar(alive) or 0)
        return generate_latest(self.registry)

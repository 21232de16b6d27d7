"""One thread's work: take a job, have it done in a limited process, keep what comes out."""

import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit, mail
from trustreport.service.core import Core
from trustreport.service.jobs import queue
from trustreport.service.jobs.cluster import Cluster
from trustreport.service.jobs.queue import Lease, Task
from trustreport.service.jobs.store_results import store_check, store_report
from trustreport.service.limited import ChildOutcome, ResourceLimits, run
from trustreport.service.log import log, place_of
from trustreport.service.storage.blobs import Damaged, StorageAway
from trustreport.service.storage.fixing import lock_of, locks_of
from trustreport.service.storage.hidden import with_removed
from trustreport.service.storage.models import (
    Audit,
    Job,
    Organisation,
    StoredReport,
    StoredStudy,
    Version,
    VersionFile,
)
from trustreport.service.storage.store import AWAY
from trustreport.service.storage.wakeups import Wakeups
from trustreport.service.vigilance.entries import manifest_rows
from trustreport.service.web.faults import Fault


def looks_before(rows: Rows, job: Job) -> dict[str, Any]:
    """What the task of a report needs: earlier looks, and day and purpose of its own.

    A version that is reported again, in another format or by later code, is the same look as the first time:
    looks after that one are no earlier ones.
    """
    here = select(VersionFile.sha256).where(VersionFile.version == job.version)
    versions = select(VersionFile.version).where(
        VersionFile.organisation == job.organisation, VersionFile.sha256.in_(here)
    )
    reports = (
        select(StoredReport.version, StoredReport.facts)
        .where(StoredReport.organisation == job.organisation, StoredReport.version.in_(versions))
        .order_by(StoredReport.created_at, StoredReport.id)
    )
    earlier: list[dict[str, Any]] = []
    own: dict[str, Any] = {}
    for version, facts in rows.execute(reports):
        if look := facts.get("look"):
            if version == job.version:
                own = look
                break
            earlier.append(look)
    version, study = rows.get_one(Version, job.version), rows.get_one(StoredStudy, job.study)
    day = datetime.fromtimestamp(job.created_at / 1000, UTC).date().isoformat()
    purpose = f"{study.name}, version {version.number}"
    return {"earlier": earlier, "on": own.get("on", day), "purpose": own.get("purpose", purpose)}


def events_before(rows: Rows, job: Job) -> dict[str, Any]:
    """Incidents and signals of the device of a study, for the manifest of its next period."""
    known = select(Version.device).where(Version.study == job.study, Version.device.is_not(None))
    device = rows.scalar(known.order_by(Version.number.desc()).limit(1))
    return manifest_rows(rows, device) if device else {}


PeriodEvent = Literal["period.waiting", "period.failed"]
IDLE_SECONDS = 1.0  # between two looks at the queue where no notification arrives


class WorkerThread:
    """Does one job at a time, until `stop` is set."""

    def __init__(
        self,
        core: Core,
        name: str,
        stop: threading.Event | None = None,
        wakeups: Wakeups | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self.core, self.name, self.cluster = core, name, cluster
        self._stop = stop or threading.Event()
        self._wakeups = wakeups or Wakeups(core.store, self._stop, core.settings.lease / 3)

    def work(self, *tasks: Task) -> None:
        """Do jobs of these tasks as they come."""
        while not self._stop.is_set():
            count = self._wakeups.count("jobs")
            try:
                if not self.once(*tasks):
                    self._wakeups.wait("jobs", count, IDLE_SECONDS)
            except Exception as error:  # the database may be away for a while; the thread goes on
                log().error("worker", worker=self.name, error=place_of(error))
                self._stop.wait(IDLE_SECONDS * 5)

    def once(self, *tasks: Task) -> bool:
        """Do one job that waits; whether there was one."""
        with self.core.store.read() as rows:
            if not queue.anything_waits(rows, tasks, self.core.settings):
                return False
        with self.core.store.write() as rows:
            job = queue.claim(rows, self.name, tasks, self.core.settings)
        if job is None:
            return False
        about = {"job": job.id, "task": job.task, "attempt": job.attempts}
        about = {f"trustreport__{name}": value for name, value in about.items()}
        with self.core.traces.span(f"job {job.task}", kind="CONSUMER", parent=job.trace, **about) as add:
            add(trustreport__state=self._do(job))
        return True

    def _do(self, job: Job) -> str:
        """Do a job; what became of it."""
        core, lease = self.core, queue.lease_of(job)
        began = time.monotonic()
        work = core.settings.data / "work" / f"{job.id}-{job.attempts}"
        for attempt in range(job.attempts + 1):  # those before ended with their workers
            shutil.rmtree(work.with_name(f"{job.id}-{attempt}"), ignore_errors=True)
        work.mkdir(parents=True, mode=0o700)
        state = "lost"
        try:
            with core.store.read() as rows:
                files = rows.scalars(select(VersionFile).where(VersionFile.version == job.version)).all()
            try:
                outcome, asked = self._compute(job, lease, files, work)
                try:
                    state = self._settle(job, lease, outcome, asked, work)
                except IntegrityError:  # somebody stored the same row at this moment
                    state = self._settle(job, lease, outcome, asked, work)
            except AWAY:  # another worker has the job once the lease is over
                raise
            except StorageAway:  # which is no fault of the job
                with core.store.write() as rows:
                    queue.give_back(rows, lease)
                state = "given back"
                raise
            except Exception as error:  # ours: it would come again with every attempt
                log().error("job", job=job.id, error=place_of(error))
                broken = ChildOutcome("failed", reason=f"A fault of the program: {place_of(error)}.")
                state = self._settle(job, lease, broken, "go on", work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
            seconds = time.monotonic() - began
            core.metrics.jobs.labels(job.task, state).inc()
            core.metrics.job_seconds.labels(job.task).observe(seconds)
            log().info(
                "job",
                job=job.id,
                task=job.task,
                state=state,
                attempt=lease.attempt,
                seconds=round(seconds, 2),
            )
        return state

    def _compute(
        self, job: Job, lease: Lease, files: Sequence[VersionFile], work: Path
    ) -> tuple[ChildOutcome, str]:
        """Run the child; with its outcome, what the queue said last: go on, cancel, lost."""
        core = self.core
        task = {
            "task": job.task,
            "wishes": job.wishes,
            "closed": [str(core.settings.data)],
            "most_bytes": core.settings.most_unpacked,
            "most_files": core.settings.most_files,
        }
        with core.store.read() as rows:
            if job.task == "report":
                with with_removed(rows):  # a look is one all the same
                    task["looks"] = looks_before(rows, job)
            elif "until" in job.wishes:
                task["events"] = events_before(rows, job)
        heartbeat = _Heartbeat(core, lease, self._stop)
        try:
            with heartbeat.going_on():
                task |= _lay_out(core, job, files, work)
        except FileNotFoundError:
            return ChildOutcome("failed", reason="A file of this version has been removed."), "go on"
        except Damaged:
            reason = "A file of this version is not what was uploaded: it was changed where it is stored."
            return ChildOutcome("failed", reason=reason), "go on"
        except OSError as error:
            reason = f"Its files cannot be laid out: {place_of(error)}. Do their names contradict?"
            return ChildOutcome("failed", reason=reason), "go on"
        cluster = self.cluster if job.task == "report" else None
        with core.traces.steps() as begin, cluster.pipes() if cluster else nullcontext() as pipes:
            heartbeat.begin = begin

            def child(**more: Any) -> ChildOutcome:
                return run(
                    task | more,
                    work,
                    ResourceLimits.of_settings(core.settings, job.task),
                    on_progress=heartbeat.on_progress,
                    should_continue=heartbeat.should_continue,
                    **({"pipes": pipes} if pipes else {}),
                )

            outcome = child()
            if asked := outcome.answer.get("queries"):
                outcome = child(task="fetch", **_what_is_fetched(core, job, asked))
                if outcome.kind == "answer" and "problems" in outcome.answer:
                    said = outcome.answer
                    more = {"taken": said["taken"], "passing": said["passing"]}
                    outcome = child(archive="", fetched=said["problems"], **more)
        return outcome, heartbeat.said

    def _settle(self, job: Job, lease: Lease, outcome: ChildOutcome, asked: str, work: Path) -> str:
        """Keep the outcome, if this worker still holds the job; what became of the job."""
        core = self.core
        if outcome.kind == "stopped" and asked == "go on":  # this worker stops
            with core.store.write() as rows:
                queue.give_back(rows, lease)
            return "given back"
        failed = outcome.reason or outcome.answer.get("failed", "")
        if outcome.answer.get("passing") and asked == "go on" and job.wishes.get("report") is not None:
            with core.store.write() as rows:
                if queue.postpone(rows, lease, core.settings):
                    self._say_period(rows, job, "period.waiting")
                    return "postponed"
        kept = None
        if outcome.kind == "answer" and not failed:
            try:
                with _Heartbeat(core, lease, self._stop).going_on():
                    kept = _store_files(core, job, work)
            except (OSError, ValueError) as error:
                failed = f"Its output cannot be stored ({place_of(error)})."
        with core.store.write() as rows:
            held = queue.leased_job(rows, lease)
            if held is None:
                return "lost"
            if asked == "cancel" or held.cancel_asked:
                queue.end(rows, held, "cancelled", "Cancelled on request.")
            elif failed or kept is None:
                queue.end(rows, held, "failed", str(failed)[:1000] or "It ended without an answer.")
                self._write_to_askers(rows, held, "report_failed", job=held.id)
                self._after_period(rows, held)
            elif held.task == "check":
                store_check(rows, held, outcome.answer, kept)
                self._after_period(rows, held, absent=bool(outcome.answer.get("passing")))
            else:
                store_report(rows, held, outcome.answer, kept)
                self._write_to_askers(rows, held, "report_ready", report=held.report)
            return held.state

    def _after_period(self, rows: Rows, checked: Job, *, absent: bool = False) -> None:
        """After the check of a new period or a pool, ask for the report, or say that there is none."""
        wishes, settings = checked.wishes.get("report"), self.core.settings
        if checked.task != "check" or wishes is None:
            return
        version = rows.get_one(Version, checked.version)
        if version.state == "valid":
            with suppress(Fault):  # the queue is full, or there is no room: the message says so
                queue.enqueue(rows, version, checked.created_by, "report", wishes, settings)
                return
        if "until" in checked.wishes:
            self._say_period(rows, checked, "period.failed", absent=absent)
        else:
            mail.queue_mail(rows, settings, "pool_failed", checked.created_by, version=version.id)

    def _say_period(self, rows: Rows, checked: Job, event: PeriodEvent, **details: Any) -> None:
        """Tell people and programs of the period of a schedule that waits, or has failed; once of each."""
        version, chain = checked.version, checked.organisation
        said = select(Audit.number).where(
            Audit.chain == chain, Audit.subject == version, Audit.action == event
        )
        if rows.scalar(said.limit(1)) is None:
            audit.write(rows, chain, self.name, event, version, study=checked.study, **details)
            kind: mail.Kind = "period_waiting" if event == "period.waiting" else "period_failed"
            mail.queue_mail(rows, self.core.settings, kind, checked.created_by, version=version, **details)

    def _write_to_askers(self, rows: Rows, made: Job, kind: mail.Kind, **details: Any) -> None:
        if made.task == "report":
            for user in sorted(queue.askers(rows, made)):
                mail.queue_mail(rows, self.core.settings, kind, user, **details)


class _Heartbeat:
    """Renews a lease while a child works, and hears whether it should go on."""

    def __init__(self, core: Core, lease: Lease, stop: threading.Event) -> None:
        self.core, self.lease, self.stop = core, lease, stop
        self.begin: Callable[[str], None] | None = None  # called with each step
        self.said = "go on"
        self._step, self._share, self._reported = "", 0.0, ("", 0.0)
        self._last = time.monotonic()

    def on_progress(self, step: str, share: float) -> None:
        """Note how far the child is, for the next renewal."""
        self._step, self._share = step, share
        if self.begin is not None:
            self.begin(step)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Renew the lease from a thread of its own while files are moved, which may take long elsewhere."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(min(1.0, self.core.settings.lease / 3)):
                self.should_continue()

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def should_continue(self) -> bool:
        """Renew the lease when it is time to; whether the job is still this worker's, and wanted."""
        if self.stop.is_set():
            return False
        since = time.monotonic() - self._last
        every = self.core.settings.lease / 3
        if since < min(1.0, every) or (since < every and self._reported == (self._step, self._share)):
            return True
        self._last, self._reported = time.monotonic(), (self._step, self._share)
        try:
            with self.core.store.write() as rows:
                self.said = queue.renew(rows, self.lease, self.core.settings, self._step, self._share)
        except Exception as error:  # once the lease is over, `leased_job` knows who has the job
            log().error("lease", job=self.lease.job, error=place_of(error))
        return self.said == "go on"


def _what_is_fetched(core: Core, job: Job, asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the task that fetches needs: queries, addresses of those sources that may be asked, limits."""
    with core.store.read() as rows:
        organisation = rows.get_one(Organisation, job.organisation).name
    wanted = {one["connection"] for one in asked}
    may = [c for c in core.settings.connections if c.name in wanted and c.is_open_to(organisation)]
    settings = core.settings
    return {
        "queries": asked,
        "connections": {c.name: c.address for c in may},
        "query_limits": (settings.query_seconds, settings.query_rows),
        "export_limits": (settings.export_bytes, settings.export_quiet),
    }


def _lay_out(core: Core, job: Job, files: Sequence[VersionFile], work: Path) -> dict[str, Any]:
    """Copy the inputs into the work folder; what the task needs to know of them."""
    if len(files) == 1 and files[0].archive:
        core.blobs.copy(job.organisation, files[0].sha256, work / "archive")
        with core.store.read() as rows:
            lock, locks = lock_of(rows, job.study), locks_of(rows, job.study)
        if lock is not None:
            core.blobs.copy(job.organisation, lock.sha256, work / "lock")
        return {"archive": files[0].name, "locks": sorted(locks)}
    for file in files:
        target = work / "study" / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        core.blobs.copy(job.organisation, file.sha256, target)
    return {}


def _store_files(core: Core, job: Job, work: Path) -> dict[str, tuple[str, int]]:
    """Keep what the child wrote: by name, hash and size. Links and the like are refused, not followed."""
    root = work / ("out" if job.task == "report" else "study")
    kept: dict[str, tuple[str, int]] = {}
    for folder, _, names in os.walk(root):  # does not follow links to folders
        for name in sorted(names):
            path = Path(folder) / name
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as stream:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise ValueError("not a file")
                blob = core.blobs.put(job.organisation, stream)
            kept[path.relative_to(root).as_posix()] = (blob.sha256, blob.size)
    return kept

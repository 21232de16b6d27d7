"""The queue: rows of `jobs`, leased to workers.

A worker that takes a job holds it for `Settings.lease` seconds and renews that while it works. When it dies,
whoever asks next after the lease takes the job over, on any machine. What a worker hands in counts only while
it still holds the job, so that a job has one end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import Select, and_, case, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit, bounds
from trustreport.service.ids import new_id
from trustreport.service.jobs.code import code_version
from trustreport.service.settings import Settings
from trustreport.service.storage.models import WAITING, Audit, Job, StoredWorker, Version, canonical
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import announce
from trustreport.service.web import telemetry

Task = Literal["check", "report"]
LIVE = ("queued", "running", "done")
ASKED = "job.ask"
ENDED = ("done", "failed", "cancelled")
FIRST_PAUSE = 60_000
MOST_RESTARTS = 10  # of the process that made a job, before the job is taken for the cause
FREE_RESTARTS = 2  # after which a job waits, so that one that ends its process lets others work
LONGEST_PAUSE = 3_600_000
FAR_AHEAD = 2  # leases from now, beyond which the end of one is no end of ours


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of a worker to work on a job; `attempt` tells it from an earlier one of the same worker."""

    job: str
    worker: str
    attempt: int


def enqueue(
    rows: Rows, version: Version, user: str, task: Task, wishes: dict[str, Any], settings: Settings
) -> tuple[Job, bool]:
    """A job, and whether it is new: the same inputs, wishes and code are the same job.

    One that failed or was cancelled does not count; the work is then tried anew.

    Raises
    ------
    Fault : too many jobs of the organisation wait (429), or it has no room for another report (507)
    """
    code = code_version()
    # The inputs are the version's own files for `check`, what they turned out to be for `report`.
    inputs = version.id if task == "check" else version.digest
    key = sha256(
        canonical([version.organisation, version.study, task, inputs, wishes, code]).encode()
    ).hexdigest()
    same = select(Job).where(Job.key == key, Job.state.in_(LIVE))
    if found := rows.scalar(same):
        if task == "report" and user not in askers(rows, found):
            _log_request(rows, found, user)
        return found, False
    bounds.refuse_more_jobs(rows, version.organisation, settings)
    if task == "report":
        bounds.refuse_more_bytes(rows, version.organisation, settings, needed=1)
    job = Job(
        id=new_id(),
        organisation=version.organisation,
        study=version.study,
        version=version.id,
        task=task,
        key=key,
        wishes=wishes,
        code=code,
        state="queued",
        step="",
        progress=0.0,
        reason="",
        attempts=0,
        restarts=0,
        worker="",
        lease_until=0,
        cancel_asked=False,
        trace=telemetry.current(),
        created_by=user,
        created_at=now(rows),
    )
    try:
        with rows.begin_nested():
            rows.add(job)
    except IntegrityError:  # somebody asked for the same at the same time
        return rows.scalars(same).one(), False
    _log_request(rows, job, user)
    announce(rows, "jobs")
    return job, True


def askers(rows: Rows, job: Job) -> set[str]:
    """Everybody who asked for what a job makes: also later, or when it failed or was cancelled."""
    same = select(Job.id).where(Job.study == job.study, Job.key == job.key)
    requests = select(Audit.actor).where(
        Audit.chain == job.organisation, Audit.action == ASKED, Audit.subject.in_(same)
    )
    return {job.created_by, *rows.scalars(requests)}


def _log_request(rows: Rows, job: Job, user: str) -> None:
    details = {"task": job.task, "version": job.version, "key": job.key, **job.wishes}
    audit.write(rows, job.organisation, user, ASKED, job.id, **details)


def anything_waits(rows: Rows, tasks: Sequence[Task], settings: Settings) -> bool:
    """Whether there is something to claim; asked first, since it takes no lock."""
    return rows.scalar(select(Job.id).where(*_is_free(rows, tasks, settings)).limit(1)) is not None


def claim(rows: Rows, worker: str, tasks: Sequence[Task], settings: Settings) -> Job | None:
    """Take a job that waits, or whose worker gave no sign of life; None where there is none.

    An attempt counts against a job where its worker stopped while the process around it went on. Where that
    process ended too, be it with its machine, the job is taken over at once; if that happens again and again
    it waits, longer each time, and is given up after `MOST_RESTARTS`.

    Organisations take turns: next is the one with the fewest jobs at work, then the one whose last job began
    longest ago, and of its jobs the oldest.
    """
    at = now(rows)
    while job := rows.scalar(_waiting(rows, tasks, settings).with_for_update(skip_locked=True, of=Job)):
        ended = job.state == "running" and not _process_lives(rows, job, settings)
        job.restarts += ended
        if job.cancel_asked:
            end(rows, job, "cancelled", "Cancelled on request.")
        elif job.attempts - job.restarts >= settings.attempts:
            said = f"Each of {settings.attempts} attempts ended the worker that made it."
            end(rows, job, "failed", said)
        elif job.restarts >= MOST_RESTARTS:
            end(rows, job, "failed", f"The service ended {job.restarts} times while it was being made.")
        elif ended and job.restarts > FREE_RESTARTS:
            pause = min(FIRST_PAUSE << (job.restarts - FREE_RESTARTS - 1), LONGEST_PAUSE)
            job.state, job.worker, job.lease_until = "queued", "", at + pause
        else:
            job.state, job.worker, job.attempts = "running", worker, job.attempts + 1
            job.lease_until = at + round(settings.lease * 1000)
            job.started_at = at
            job.step, job.progress = "", 0.0
            return job
        rows.flush()
    return None


def lease_of(job: Job) -> Lease:
    """The lease that `claim` gave."""
    return Lease(job.id, job.worker, job.attempts)


def renew(
    rows: Rows, lease: Lease, settings: Settings, step: str, progress: float
) -> Literal["go on", "cancel", "lost"]:
    """Say that the work goes on and how far it is; tells whether it should."""
    held = update(Job).where(*_is_leased(lease))
    until = now(rows) + round(settings.lease * 1000)
    done = rows.execute(
        held.values(lease_until=until, step=step, progress=progress).returning(Job.cancel_asked)
    )
    asked = done.scalar_one_or_none()
    return "lost" if asked is None else "cancel" if asked else "go on"


def leased_job(rows: Rows, lease: Lease) -> Job | None:
    """The job, locked, if this lease still holds it."""
    return rows.scalar(select(Job).where(*_is_leased(lease)).with_for_update())


def give_back(rows: Rows, lease: Lease) -> None:
    """Put a job back as if it had not been taken: the worker stops, the job is not to blame."""
    job = leased_job(rows, lease)
    if job is not None:
        job.state, job.attempts, job.worker, job.lease_until = "queued", job.attempts - 1, "", 0
        job.step, job.progress = "", 0.0
        announce(rows, "jobs")


def postpone(rows: Rows, lease: Lease, settings: Settings) -> bool:
    """Put a job back for a while whose data are not there yet; whether it is still worth waiting.

    A pause is as long as the job has waited so far, so that pauses double: 1, 2, 4, 8 ... minutes. The last
    attempt is within `Settings.retry_seconds`. Until a pause is over, `lease_until` is its end.
    """
    job, at = leased_job(rows, lease), now(rows)
    if job is None or job.cancel_asked:
        return False
    waited = max(at - job.created_at, 0)
    pause = max(waited, FIRST_PAUSE)
    if waited + pause > settings.retry_seconds * 1000:
        return False
    job.state, job.attempts, job.worker, job.lease_until = "queued", job.attempts - 1, "", at + pause
    job.step, job.progress = WAITING, 0.0
    audit.write(rows, job.organisation, lease.worker, "job.postpone", job.id, seconds=pause // 1000)
    return True


def end(rows: Rows, job: Job, state: Literal["done", "failed", "cancelled"], reason: str = "") -> None:
    """End a job; the audit log says how."""
    job.state, job.reason, job.finished_at = state, reason, now(rows)
    if state == "done":
        job.progress = 1.0
    elif job.task == "check" and (version := rows.get(Version, job.version)):
        version.state = "unreadable"
        version.problems = [{"file": "", "found": reason, "expected": "", "mend": "Upload the files again."}]
        version.checked_at = job.finished_at
    audit.write(
        rows,
        job.organisation,
        job.worker or "queue",
        f"job.{state}",
        job.id,
        task=job.task,
        attempts=job.attempts,
        report=job.report,
    )


def cancel(rows: Rows, job: Job, user: str, settings: Settings) -> None:
    """Ask that a job stops: at its worker's next sign of life, at once if it waits or its worker is gone."""
    rows.refresh(job, with_for_update=True)
    if job.state in ENDED:
        return
    if not job.cancel_asked:
        job.cancel_asked = True
        audit.write(rows, job.organisation, user, "job.cancel", job.id)
    if job.state == "queued" or not _is_alive(rows, job, settings):
        end(rows, job, "cancelled", "Cancelled on request.")


def _process_lives(rows: Rows, job: Job, settings: Settings) -> bool:
    """Whether the process whose worker had a job is still seen: it says so every third of a lease."""
    row = rows.get(StoredWorker, job.worker.rpartition("-")[0])
    return row is not None and abs(now(rows) - row.seen_at) <= round(settings.lease * 500)


def _is_alive(rows: Rows, job: Job, settings: Settings) -> bool:
    """Whether the worker of a job renews its lease and was seen lately."""
    at, lease = now(rows), round(settings.lease * 1000)
    row = rows.get(StoredWorker, job.worker.rpartition("-")[0])
    seen = row is not None and abs(row.seen_at - at) <= lease
    return seen and at <= job.lease_until <= at + FAR_AHEAD * lease


def _waiting(rows: Rows, tasks: Sequence[Task], settings: Settings) -> Select[Job]:
    """The job that is next: free, and of the organisation whose turn it is."""
    at_work = case((and_(Job.state == "running", Job.lease_until >= now(rows)), 1), else_=0)
    turns = (
        select(
            Job.organisation,
            func.sum(at_work).label("at_work"),
            func.coalesce(func.max(Job.started_at), 0).label("began"),
        )
        .where(Job.task.in_(tasks))
        .group_by(Job.organisation)
        .subquery()
    )
    free = (
        select(Job)
        .join(turns, turns.c.organisation == Job.organisation)
        .where(*_is_free(rows, tasks, settings))
    )
    return free.order_by(turns.c.at_work, turns.c.began, Job.created_at, Job.id).limit(1)


def _is_free(rows: Rows, tasks: Sequence[Task], settings: Settings) -> tuple[Any, ...]:
    """Its pause is over, or its lease; an end further ahead than any shows a clock that was set back."""
    at = now(rows)
    far = at + round(FAR_AHEAD * settings.lease * 1000)
    lapsed = and_(Job.state == "running", or_(Job.lease_until < at, Job.lease_until > far))
    longest = at + max(settings.retry_seconds * 1000, LONGEST_PAUSE)
    waits = and_(Job.state == "queued", or_(Job.lease_until <= at, Job.lease_until > longest))
    return (or_(waits, lapsed), Job.task.in_(tasks))


def _is_leased(lease: Lease) -> tuple[Any, ...]:
    return (
        Job.id == lease.job,
        Job.state == "running",
        Job.worker == lease.worker,
        Job.attempts == lease.attempt,
    )

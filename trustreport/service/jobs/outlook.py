"""What to expect of a job that has not ended: its place in the queue, and when it will probably be done."""

from dataclasses import dataclass
from statistics import median

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.settings import Settings
from trustreport.service.storage.models import Job, StoredWorker
from trustreport.service.storage.store import now

LATEST = 9  # jobs that say how long one takes


@dataclass(frozen=True, slots=True)
class Outlook:
    """What to expect of a job.

    Parameters
    ----------
    place : of a job that waits, at the latest: 1 is next; None of any other
    ends_at : milliseconds; None where nothing like it was ever done, or where it takes longer than usual
    """

    place: int | None = None
    ends_at: int | None = None


def outlook(rows: Rows, job: Job, settings: Settings) -> Outlook:
    """What to expect of a job."""
    if job.state not in ("queued", "running"):
        return Outlook()
    at, usual = now(rows), _usual(rows, job)
    place = _place(rows, job) if job.state == "queued" else None
    if usual is None:
        return Outlook(place)
    if place is None:
        ends = (job.started_at or at) + usual
        return Outlook(None, ends if ends > at else None)
    before = place - 1 + (rows.scalar(_same_task(job, "running")) or 0)
    return Outlook(place, at + usual * (before // _threads(rows, settings, at) + 1))


def _usual(rows: Rows, job: Job) -> int | None:
    """How long such a job takes, in milliseconds: one of this study, else of this organisation."""
    took = (
        select(Job.finished_at - Job.started_at)
        .where(Job.organisation == job.organisation, Job.task == job.task, Job.state == "done")
        .where(Job.started_at.is_not(None))
        .order_by(Job.finished_at.desc())
        .limit(LATEST)
    )
    found = rows.scalars(took.where(Job.study == job.study)).all() or rows.scalars(took).all()
    seen = [milliseconds for milliseconds in found if milliseconds is not None]
    return round(median(seen)) if seen else None


def _place(rows: Rows, job: Job) -> int:
    """Organisations take turns: before the k-th job of one come at most k of each other."""
    earlier = or_(Job.created_at < job.created_at, (Job.created_at == job.created_at) & (Job.id < job.id))
    own = _same_task(job, "queued").where(Job.organisation == job.organisation, earlier)
    k = (rows.scalar(own) or 0) + 1
    others = (
        select(func.count())
        .where(Job.task == job.task, Job.state == "queued", Job.organisation != job.organisation)
        .group_by(Job.organisation)
    )
    return k + sum(min(n, k) for n in rows.scalars(others))


def _same_task(job: Job, state: str) -> Select[int]:
    return select(func.count()).select_from(Job).where(Job.task == job.task, Job.state == state)


def _threads(rows: Rows, settings: Settings, at: int) -> int:
    """How many such jobs are done at a time, as far as is known: other machines may have more threads."""
    seen = at - round(settings.lease * 1000)
    processes = rows.scalar(
        select(func.count()).select_from(StoredWorker).where(StoredWorker.seen_at >= seen)
    )
    return max(processes or 0, 1) * max(settings.workers, 1)

"""What is due: periodic audits, retention once a day, and what dead workers left."""

import contextlib
import shutil
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit, bounds, mail
from trustreport.service.core import Core
from trustreport.service.intake import UploadedFile, add_version
from trustreport.service.jobs import queue
from trustreport.service.record import log_heads, removal, retention
from trustreport.service.settings import Settings
from trustreport.service.storage.blobs import Blob
from trustreport.service.storage.collaboration import Delivery, Mail
from trustreport.service.storage.counters import remove_expired
from trustreport.service.storage.models import (
    NEXT_PERIOD,
    Audit,
    Job,
    Organisation,
    Removal,
    Schedule,
    StoredStudy,
    StoredWorker,
    Version,
    VersionFile,
)
from trustreport.service.storage.store import now
from trustreport.service.vigilance.deadlines import announce_deadlines
from trustreport.service.web.faults import Fault

DAY, HOUR = 86_400_000, 3_600_000
ACTOR = "schedule"
FORM_SECONDS = 600  # after which nobody works on a form any more


def tend(core: Core) -> None:
    """See to everything that is due; several workers may try at once."""
    with core.store.read() as rows:
        at = now(rows)
        due = rows.scalars(select(Schedule.id).where(Schedule.next_at <= at)).all()
        daily = is_daily_due(rows, at)
        files = rows.scalar(select(Removal.sha256).limit(1)) is not None
    if not core.store.is_sqlite:  # there every server counts by itself
        with core.store.write() as rows:
            remove_expired(rows)
    for name in due:
        with core.store.write() as rows:
            run_due(rows, name, core.settings)
    if daily:
        run_daily(core)
    sweep_work(core)
    if files:
        with core.store.write() as rows:
            retention.remove_files(rows, core.blobs, ACTOR)


def run_due(rows: Rows, name: str, settings: Settings) -> None:
    """Ask for the report of a schedule, if it is still due; unchanged inputs are a job done before.

    Where the next period is to come first, a new version is checked, whose check enters the period that ended
    the day before, fetches it and asks for the report (`worker_thread`).

    Where the organisation has too many jobs waiting, or no room, the audit stays due and is tried again.
    """
    query = select(Schedule).where(Schedule.id == name).with_for_update(skip_locked=True)
    schedule = rows.scalar(query)
    at = now(rows)
    if schedule is None or schedule.next_at > at:
        return
    newest = select(Version).where(Version.study == schedule.study, Version.state == "valid")
    version = rows.scalar(newest.order_by(Version.number.desc()).limit(1))
    asked: dict[str, Any] = {"job": None, "new": False}
    if version is not None:
        try:
            asked = _request_job(rows, schedule, version, at, settings)
        except Fault:
            return
    missed = (at - schedule.next_at) // (schedule.every_days * DAY)
    schedule.next_at += (missed + 1) * schedule.every_days * DAY
    audit.write(
        rows, schedule.organisation, ACTOR, "schedule.due", schedule.id, study=schedule.study, **asked
    )
    mail.queue_mail(rows, settings, "audit_due", schedule.created_by, study=schedule.study, **asked)


def _request_job(
    rows: Rows, schedule: Schedule, version: Version, at: int, settings: Settings
) -> dict[str, Any]:
    """The job of a schedule that is due, whether it is new, and the last day of a period that it fetches."""
    user, wishes = schedule.created_by, {k: v for k, v in schedule.wishes.items() if k != NEXT_PERIOD}
    if not schedule.wishes.get(NEXT_PERIOD):
        job, new = queue.enqueue(rows, version, user, "report", wishes, settings)
        return {"job": job.id, "new": new}
    bounds.refuse_more_jobs(rows, version.organisation, settings)
    bounds.refuse_more_bytes(rows, version.organisation, settings, needed=1)
    until = (datetime.fromtimestamp(at / 1000, UTC).date() - timedelta(days=1)).isoformat()
    files = rows.scalars(select(VersionFile).where(VersionFile.version == version.id)).all()
    handed = [UploadedFile(f.name, Blob(f.sha256, f.size)) for f in files]
    study = rows.get_one(StoredStudy, schedule.study)
    made = add_version(rows, study, user, handed, based_on=version.id, actor=ACTOR)
    wanted = {"until": until, "report": wishes}
    job, new = queue.enqueue(rows, made, user, "check", wanted, settings)
    return {"job": job.id, "new": new, "until": until}


def run_daily(core: Core) -> None:
    """Retention and deadlines of each organisation, what no row names any more, signed heads of the log."""
    with core.store.write() as rows:
        audit.lock(rows, audit.SERVICE)  # of workers that come at the same time one goes on
        at = now(rows)
        if not is_daily_due(rows, at):
            return
        audit.write(rows, audit.SERVICE, ACTOR, "retention.daily")
        rows.query(StoredWorker).where(StoredWorker.seen_at < at - DAY).delete()
        Mail.remove_old(rows)
        Delivery.remove_old(rows)
        organisations = rows.scalars(select(Organisation.id)).all()
    for organisation in organisations:
        with core.store.write() as rows:
            removal.delete_old(rows, organisation, ACTOR)
            retention.purge(rows, organisation, ACTOR)
            announce_deadlines(rows, organisation, core.settings, ACTOR)
    retention.sweep(core.store, core.blobs)
    log_heads.write_daily(core, ACTOR)


def is_daily_due(rows: Rows, at: int) -> bool:
    """Whether the day's work was not done within a day of this time, in milliseconds since 1970."""
    query = select(Audit.at).where(Audit.chain == audit.SERVICE, Audit.action == "retention.daily")
    last = rows.scalar(query.order_by(Audit.number.desc()).limit(1))
    return last is None or not at - DAY <= last <= at + HOUR  # further ahead: a clock was set back


def sweep_work(core: Core) -> None:
    """Remove the folders of jobs that no worker works in any more, and of forms long given up."""
    for folder in (core.settings.data / "forms").glob("*"):
        with contextlib.suppress(OSError):  # it ends at this moment
            if time.time() - folder.stat().st_mtime > FORM_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
    # Listed first: the folder of a job that is taken after this is not among them.
    folders = list((core.settings.data / "work").glob("*"))
    if not folders:
        return
    with core.store.read() as rows:
        running = select(Job).where(Job.state == "running")
        busy = {f"{job.id}-{job.attempts}" for job in rows.scalars(running)}
    for folder in folders:
        if folder.name not in busy:
            shutil.rmtree(folder, ignore_errors=True)

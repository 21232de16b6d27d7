"""What one organisation may use of what all share: jobs that wait, bytes that are stored."""

import os
from collections.abc import Iterable
from typing import BinaryIO

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.settings import Settings
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.models import Job, ReportFile, VersionFile
from trustreport.service.storage.pooling import SiteUpload
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

FULL_SECONDS = 60  # when to ask again where too many jobs wait


def waiting_jobs(rows: Rows, organisation: str) -> int:
    """How many jobs of an organisation wait."""
    waiting = select(func.count()).where(Job.organisation == organisation, Job.state == "queued")
    return rows.scalar(waiting) or 0


def stored_bytes(rows: Rows, organisation: str) -> int:
    """How many bytes its files have, equal ones counted once."""
    files = [
        select(model.sha256, model.size).where(model.organisation == organisation)
        for model in (VersionFile, ReportFile, SiteUpload, FixedCriteria)
    ]
    return int(rows.scalar(select(func.sum(union(*files).subquery().c.size))) or 0)


def refuse_more_jobs(rows: Rows, organisation: str, settings: Settings) -> None:
    """Refuse (429) where as many jobs of an organisation wait as may."""
    if waiting_jobs(rows, organisation) >= settings.jobs_waiting:
        raise Fault(
            429,
            say("pages.fault.too_many_jobs.detail", jobs_waiting=settings.jobs_waiting),
            headers={"Retry-After": str(FULL_SECONDS)},
        )


def refuse_more_bytes(rows: Rows, organisation: str, settings: Settings, *, needed: int) -> None:
    """Refuse (507) where an organisation's files, equal ones counted once, leave less room than is needed."""
    stored = stored_bytes(rows, organisation)
    if stored + needed > settings.storage:
        raise Fault(507, say("pages.fault.no_room_left.detail", storage=settings.storage, stored=stored))


def refuse_upload(core: Core, who: Principal, streams: Iterable[BinaryIO]) -> None:
    """Refuse files that are too many bytes for their organisation, or whose check could not be queued.

    Asked before the first of them is stored.
    """
    needed = 0
    for stream in streams:
        needed += stream.seek(0, os.SEEK_END)
        stream.seek(0)
    with core.store.read() as rows:
        refuse_more_jobs(rows, who.organisation, core.settings)
        refuse_more_bytes(rows, who.organisation, core.settings, needed=needed)

"""The next period of an audit: what follows from the last version, and the files that are new."""

import re
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import BinaryIO

from fastapi import APIRouter, Request, Response
from sqlalchemy import select

from trustreport.service.access.guard import TheCore
from trustreport.service.pages.page_context import Author, Sent, see, shown_again, text
from trustreport.service.pages.render import page
from trustreport.service.storage.models import StoredStudy, Version, VersionFile
from trustreport.service.version import page as uploads
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")

router = APIRouter(prefix="/versions")


@router.get("/{version}/period")
def _show(
    request: Request,
    who: Author,
    core: TheCore,
    version: Name,
) -> Response:
    """The form: files, first and last day."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        if not row.has_next:
            raise Fault(409, say("pages.fault.no_period.detail"))
        return page(
            request,
            "period",
            version=row,
            study=rows.get_one(StoredStudy, row.study),
            days=row.facts.get("next") or {"since": "", "until": "", "fetched": True},
            most=core.settings.most_body,
        )


@router.post("/{version}/period")
@shown_again(_show)
def add_period(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """A version with the files beside all others, whose check enters the period."""
    since, until, files = text(form, "since"), text(form, "until"), uploads.sent_files(form, "files")
    if not DAY.fullmatch(until) or (since and not DAY.fullmatch(since)):
        raise Fault(422, say("pages.fault.no_day.detail"))
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        if not row.has_next:
            raise Fault(409, say("pages.fault.no_period.detail"))
        known = rows.scalars(select(VersionFile.name).where(VersionFile.version == row.id)).all()
    if not files and not (row.facts.get("next") or {"fetched": True})["fetched"]:
        raise Fault(422, say("pages.fault.no_file_came.choose_files"))
    new = _under_free_names(uploads.named_streams(form), known, until)
    wishes = {"until": until, "files": [*new]} | ({"since": since} if since else {})
    made = uploads.replace_files(core, who, version, new, wishes=wishes)
    return see(f"/versions/{made}")


def _under_free_names(new: dict[str, BinaryIO], known: Collection[str], until: str) -> dict[str, BinaryIO]:
    """Files under names that no other has: an export is often called as the one before."""
    made: dict[str, BinaryIO] = {}
    for name, stream in new.items():
        path, free, number = PurePosixPath(name), name, 1
        while free in known or free in made or (free != name and free in new):
            last = f"-{number}" if number > 1 else ""
            free, number = str(path.with_name(f"{path.stem}-{until}{last}{path.suffix}")), number + 1
        made[free] = stream
    return made

"""What is removed: data whose time is over, and persons who are erased."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import browsers
from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.collaboration import Comment, Mail, ReviewRequest, StoredShare
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.hidden import with_removed
from trustreport.service.storage.models import (
    Attestation,
    Draft,
    Factor,
    Job,
    Link,
    Organisation,
    PendingStep,
    RecoveryCode,
    Removal,
    ReportFile,
    Schedule,
    Session,
    StoredDevice,
    StoredReport,
    StoredStudy,
    Token,
    User,
    Version,
    VersionFile,
)
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.service.storage.store import Store, now
from trustreport.service.storage.vigilance import VigilanceChange, VigilanceEntry, fingerprint

ERASED = "Erased person"
PEOPLE = ("owner", "decided_by")  # fields of incidents and signals that hold the name of a person
FILES = (VersionFile, ReportFile, Attestation, SiteUpload, FixedCriteria)  # rows that name a blob


def erase_person(rows: Rows, user: User, actor: str) -> None:
    """Close an account for good and remove name, address, password, second factors and comments of its user.

    Signed statements keep the name: they are records that others rely on.
    """
    at = now(rows)
    for comment in rows.scalars(
        select(Comment).where(Comment.created_by == user.id, Comment.withdrawn_at.is_(None))
    ).all():
        erase_comment(rows, comment, actor)
    for request in rows.scalars(
        select(ReviewRequest).where(ReviewRequest.reviewer == user.id, ReviewRequest.ended_at.is_(None))
    ).all():
        request.ended_at = at
        audit.write(rows, user.organisation, actor, "review.withdraw", request.id, report=request.report)
    for token in rows.scalars(select(Token).where(Token.user == user.id)).all():
        token.name = ERASED
        if token.revoked_at is None:
            token.revoked_at = at
            audit.write(rows, user.organisation, actor, "token.revoke", token.id)
    rows.execute(delete(Mail).where(or_(Mail.user == user.id, Mail.address == user.email)))
    rows.execute(delete(Draft).where(Draft.created_by == user.id))
    for model in (Session, Link, Factor, RecoveryCode, PendingStep):
        rows.execute(delete(model).where(model.user == user.id))
    _erase_from_registers(rows, user, actor)
    browsers.forget(rows, user)
    user.name, user.email, user.password = ERASED, f"{user.id}@erased.invalid", ""
    user.issuer, user.subject = None, None
    user.roles, user.operator = [], False
    user.disabled_at = user.disabled_at or at
    audit.write(rows, user.organisation, actor, "user.erase", user.id, roles=[])


def _erase_from_registers(rows: Rows, user: User, actor: str) -> None:
    """Replace the name and address of a person who owns or decided incidents and signals, in history too."""
    own = (user.name, user.email)

    def erased(key: str, value: Any) -> Any:
        return ERASED if key in PEOPLE and value in own else value

    for change in rows.scalars(
        select(VigilanceChange).where(VigilanceChange.organisation == user.organisation)
    ).all():
        change.changes = {
            key: [erased(key, one) for one in pair] for key, pair in change.changes.items()
        }
    for entry in rows.scalars(
        select(VigilanceEntry).where(VigilanceEntry.organisation == user.organisation)
    ).all():
        facts = {key: erased(key, value) for key, value in entry.facts.items()}
        if facts != entry.facts:
            entry.facts = facts
            said = {"device": entry.device, "number": entry.number, "act": "erase"}
            said["sha256"] = fingerprint(entry)
            audit.write(rows, user.organisation, actor, "vigilance.change", entry.id, **said)


def erase_comment(rows: Rows, comment: Comment, actor: str) -> None:
    """Remove the text of a comment; that there was one stays, with the hash of its text."""
    comment.text, comment.withdrawn_at = "", now(rows)
    audit.write(rows, comment.organisation, actor, "comment.withdraw", comment.id)


DAY = 86_400_000
GRACE_SECONDS = 600.0  # a file is kept before its row is written
MOST_AT_ONCE, MOST_SECONDS = 1000, 5.0  # files removed in one transaction, and its length


def purge(rows: Rows, organisation: str, actor: str) -> list[str]:
    """Remove the studies that nothing was added to for longer than the policy keeps; their names."""
    policy = rows.get_one(Organisation, organisation).retention
    removed = []
    for study, _ in expiries(rows, organisation, until=now(rows)):
        if not is_busy(rows, study.id):
            remove(rows, study, actor, policy=policy)
            removed.append(study.id)
    return removed


def expiries(rows: Rows, organisation: str, *, until: int) -> list[tuple[StoredStudy, int]]:
    """The studies whose time is over by a moment under the policy of an organisation, the first one first.

    Each with the moment in milliseconds from which it may be removed.
    """
    policy = rows.get_one(Organisation, organisation).retention
    if not policy.get("days"):
        return []
    uploaded = (
        select(StoredCollaboration.study, func.max(SiteUpload.created_at).label("at"))
        .join(InvitedSite, InvitedSite.collaboration == StoredCollaboration.id)
        .join(SiteUpload, SiteUpload.site == InvitedSite.id)
        .group_by(StoredCollaboration.study)
    )
    added = [
        select(model.study, func.max(model.created_at).label("at")).group_by(model.study).subquery()
        for model in (Version, StoredReport, StoredCollaboration, FixedCriteria)
    ]
    added.append(uploaded.subquery())
    query = select(StoredStudy, *(latest.c.at for latest in added))
    for latest in added:
        query = query.outerjoin(latest, latest.c.study == StoredStudy.id)
    found = []
    for study, *times in rows.execute(query.where(StoredStudy.organisation == organisation)):
        at = max(study.created_at, *(time or 0 for time in times)) + policy["days"] * DAY
        kept = policy.get("keep_signed", True) and _is_signed(rows, study.id)
        if at <= until and not kept and not _has_open_entries(rows, study.id):
            found.append((study, at))
    return sorted(found, key=lambda one: one[1])


def tombstone_of(rows: Rows, study: StoredStudy) -> dict[str, Any]:
    """What the log keeps of a study: names and hashes of its versions and reports."""
    versions = rows.scalars(select(Version).where(Version.study == study.id)).all()
    reports = rows.scalars(select(StoredReport).where(StoredReport.study == study.id)).all()
    return {
        "versions": [{"id": v.id, "number": v.number, "digest": v.digest} for v in versions],
        "reports": [{"id": r.id, "results_sha256": r.results_sha256} for r in reports],
    }


def delete_reports(rows: Rows, organisation: str, reports: Sequence[StoredReport]) -> None:
    """Delete reports with their statements, comments, links and files."""
    names = [r.id for r in reports]
    _note_files(rows, organisation, [], names)
    for of_report in (Attestation, ReviewRequest, StoredShare, Comment, ReportFile):
        rows.execute(delete(of_report).where(of_report.report.in_(names)))
    rows.execute(delete(StoredReport).where(StoredReport.id.in_(names)))


def remove(rows: Rows, study: StoredStudy, actor: str, *, action: str = "study.remove", **why: Any) -> None:
    """Delete a study with all that was made of it; the tombstone keeps names and hashes."""
    with with_removed(rows):
        tombstone = tombstone_of(rows, study)
        reports = rows.scalars(select(StoredReport).where(StoredReport.study == study.id)).all()
    in_versions = [v["id"] for v in tombstone["versions"]]
    _note_files(rows, study.organisation, in_versions, [])
    delete_reports(rows, study.organisation, reports)
    with with_removed(rows):
        _remove_collaborations(rows, study)
    rows.execute(delete(Comment).where(Comment.version.in_(in_versions)))
    for model in (Job, Schedule):
        rows.execute(delete(model).where(model.study == study.id))
    with with_removed(rows):
        locks = rows.scalars(select(FixedCriteria.sha256).where(FixedCriteria.study == study.id)).all()
    for sha256 in locks:
        rows.merge(Removal(organisation=study.organisation, sha256=sha256))
    rows.execute(delete(FixedCriteria).where(FixedCriteria.study == study.id))
    for of_version in (Draft, VersionFile):
        rows.execute(delete(of_version).where(of_version.version.in_(in_versions)))
    rows.execute(delete(Version).where(Version.study == study.id))
    rows.execute(delete(StoredStudy).where(StoredStudy.id == study.id))
    _remove_devices(rows, study.organisation, actor)
    audit.write(rows, study.organisation, actor, action, study.id, **tombstone, **why)


def _remove_devices(rows: Rows, organisation: str, actor: str) -> None:
    """Remove the devices that no study names any more, with their incidents and signals."""
    used = select(Version.device).where(Version.device.is_not(None))
    gone = select(StoredDevice.id).where(
        StoredDevice.organisation == organisation,
        func.coalesce(StoredDevice.same_as, StoredDevice.id).not_in(used),
    )
    with with_removed(rows):  # the device of a study that can be restored stays
        devices = rows.scalars(gone).all()
    for device in devices:
        entries = rows.scalars(select(VigilanceEntry.id).where(VigilanceEntry.device == device)).all()
        rows.execute(delete(VigilanceChange).where(VigilanceChange.entry.in_(entries)))
        rows.execute(delete(VigilanceEntry).where(VigilanceEntry.device == device))
        rows.execute(delete(StoredDevice).where(StoredDevice.id == device))
        if entries:
            audit.write(rows, organisation, actor, "vigilance.remove", device, entries=[*entries])


def _remove_collaborations(rows: Rows, study: StoredStudy) -> None:
    """Remove what sites were asked for this study, their addresses and what they uploaded."""
    of_study = select(StoredCollaboration.id).where(StoredCollaboration.study == study.id)
    sites = select(InvitedSite.id).where(InvitedSite.collaboration.in_(of_study))
    for sha256 in rows.scalars(select(SiteUpload.sha256).where(SiteUpload.site.in_(sites))).all():
        rows.merge(Removal(organisation=study.organisation, sha256=sha256))
    rows.execute(delete(SiteUpload).where(SiteUpload.site.in_(sites)))
    rows.execute(delete(InvitedSite).where(InvitedSite.collaboration.in_(of_study)))
    rows.execute(delete(StoredCollaboration).where(StoredCollaboration.study == study.id))


def _note_files(rows: Rows, organisation: str, versions: list[str], reports: list[str]) -> None:
    """Note every file of these versions and reports, to be removed once their rows are gone."""
    files = {
        *rows.scalars(select(VersionFile.sha256).where(VersionFile.version.in_(versions))),
        *rows.scalars(select(ReportFile.sha256).where(ReportFile.report.in_(reports))),
        *rows.scalars(select(Attestation.sha256).where(Attestation.report.in_(reports))),
    }
    for sha256 in files:
        rows.merge(Removal(organisation=organisation, sha256=sha256))


def remove_files(rows: Rows, blobs: Blobs, actor: str) -> int:
    """Remove the files of removed studies that no other row names; how many.

    One that was stored in the last minutes stays for the next time: a row that names it may be on its way.
    """
    gone: Counter[str] = Counter()
    until = time.monotonic() + MOST_SECONDS  # others wait for this transaction
    free = select(Removal).limit(MOST_AT_ONCE).with_for_update(skip_locked=True)  # by no other worker
    for noted in rows.scalars(free).all():
        if time.monotonic() > until:
            break
        named = _is_named(rows, noted.organisation, noted.sha256)
        if not named and not blobs.remove(noted.organisation, noted.sha256, older=GRACE_SECONDS):
            continue
        gone[noted.organisation] += not named
        rows.delete(noted)
    for organisation, n in gone.items():
        if n:
            audit.write(rows, organisation, actor, "files.remove", organisation, files=n)
    return gone.total()


def _is_named(rows: Rows, organisation: str, sha256: str) -> bool:
    for model in FILES:
        query = select(model.sha256).where(model.organisation == organisation, model.sha256 == sha256)
        if rows.scalar(query.limit(1)) is not None:
            return True
    return False


def sweep(store: Store, blobs: Blobs, *, older: float = GRACE_SECONDS) -> int:
    """Remove the blobs that no row names any more; how many."""
    with store.read() as rows:
        wanted = {
            (organisation, sha256)
            for model in FILES
            for organisation, sha256 in rows.execute(select(model.organisation, model.sha256))
        }
    return len(blobs.sweep(wanted, older=older))


def is_busy(rows: Rows, study: str) -> bool:
    """Whether a job of the study waits or runs."""
    query = select(Job.id).where(Job.study == study, Job.state.in_(("queued", "running"))).limit(1)
    return rows.scalar(query) is not None


def _has_open_entries(rows: Rows, study: str) -> bool:
    """Whether an incident or signal of a device of the study is open."""
    devices = select(Version.device).where(Version.study == study)
    query = select(VigilanceEntry.id).where(
        VigilanceEntry.device.in_(devices), VigilanceEntry.closed.is_(False)
    )
    return rows.scalar(query.limit(1)) is not None


def _is_signed(rows: Rows, study: str) -> bool:
    query = (
        select(Attestation.id)
        .join(StoredReport, StoredReport.id == Attestation.report)
        .where(StoredReport.study == study)
    )
    return rows.scalar(query.limit(1)) is not None

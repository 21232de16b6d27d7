"""The audit log compared with what it must state, and with its signed heads."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.audit import START, Verified
from trustreport.service.core import Core
from trustreport.service.record import log_heads
from trustreport.service.record.log_heads import signed_heads
from trustreport.service.storage.collaboration import Comment, ReviewRequest, StoredShare, Webhook
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.hidden import with_removed
from trustreport.service.storage.models import (
    Attestation,
    Audit,
    Organisation,
    Schedule,
    StoredReport,
    StoredStudy,
    Token,
    User,
    Version,
)
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.service.storage.vigilance import VigilanceEntry, fingerprint

FOUNDED = "organisation.found"
ADDED: tuple[tuple[Any, str, str], ...] = (
    (User, "user", "user.add"),
    (Token, "token", "token.make"),
    (StoredStudy, "study", "study.add"),
    (Version, "version", "version.add"),
    (StoredReport, "report", "report.made"),
    (VigilanceEntry, "incident or signal", "vigilance.add"),
    (Schedule, "schedule", "schedule.add"),
    (Webhook, "webhook", "webhook.add"),
    (Comment, "comment", "comment.add"),
    (ReviewRequest, "review request", "review.request"),
    (StoredShare, "share", "share.add"),
    (StoredCollaboration, "collaboration", "collaboration.add"),
    (InvitedSite, "site", "site.invite"),
    (SiteUpload, "upload of a site", "site.upload"),
    (FixedCriteria, "fixed criteria", "criteria.fix"),
)
OF_STUDIES = (("schedule", "schedule.add"), *((word, action) for _, word, action in ADDED[-7:]))
COUNTERSIGNED = "criteria.countersign"
SIGNED = ("report.review", "report.approval", "report.rejection")
CHECKED = ("version.add", "version.valid", "version.invalid")
READ = (
    FOUNDED,
    *(action for _, _, action in ADDED),
    *SIGNED,
    *CHECKED,
    COUNTERSIGNED,
    "user.change",
    "user.erase",
    "study.remove",
    "study.delete",
    "report.delete",
    "schedule.stop",
    "webhook.remove",
    "vigilance.change",
    "vigilance.remove",
)

Entries = dict[str, dict[str, dict[str, Any]]]  # by action, then by subject: the details of the last one


def faults(rows: Rows, organisation: str) -> Iterator[str]:
    """What the log of an organisation does not tell, or tells otherwise than the other tables."""
    entries, attested, roles, digests = _read(rows, organisation)
    if organisation not in entries[FOUNDED]:
        yield f"the log does not begin with the organisation ({FOUNDED})"
    removed = _removed(entries)
    for model, word, action in ADDED:
        there = set(rows.scalars(select(model.id).where(model.organisation == organisation)))
        logged = set(entries[action])
        yield from (f"{word} {name} is not in the log ({action})" for name in sorted(there - logged))
        yield from (
            f"{word} {name} is gone without an entry" for name in sorted(logged - there - removed[word])
        )
    made = entries["report.made"]
    for report in rows.scalars(select(StoredReport).where(StoredReport.organisation == organisation)):
        if report.id in made and made[report.id].get("results_sha256") != report.results_sha256:
            yield f"report {report.id} has results that are not the ones in the log"
    digest_of = select(Version.id, Version.digest).where(Version.organisation == organisation)
    for name, digest in rows.execute(digest_of):
        if digests.get(name, digest) != digest:
            yield f"version {name} has files that are not the ones in the log"
    for user in rows.scalars(select(User).where(User.organisation == organisation)):
        if user.id in roles and sorted(roles[user.id]) != sorted(user.roles):
            yield f"user {user.id} has roles that are not the ones in the log"
    for comment in rows.scalars(select(Comment).where(Comment.organisation == organisation)):
        is_written = comment.withdrawn_at is None and sha256(comment.text.encode()).hexdigest()
        logged = entries["comment.add"].get(comment.id, {}).get("sha256", comment.sha256)
        if comment.sha256 != logged or is_written not in (False, logged):
            yield f"comment {comment.id} is not the one in the log"
    for upload in rows.scalars(select(SiteUpload).where(SiteUpload.organisation == organisation)):
        if entries["site.upload"].get(upload.id, {}).get("sha256", upload.sha256) != upload.sha256:
            yield f"upload of a site {upload.id} is not the one in the log"
    for fixed in rows.scalars(select(FixedCriteria).where(FixedCriteria.organisation == organisation)):
        said = entries["criteria.fix"].get(fixed.id, {}) | entries[COUNTERSIGNED].get(fixed.id, {})
        second = fixed.id in entries[COUNTERSIGNED]
        if said.get("sha256", fixed.sha256) != fixed.sha256 or second != bool(fixed.countersigned_at):
            yield f"fixed criteria {fixed.id} are not the ones in the log"
    for webhook in rows.scalars(select(Webhook).where(Webhook.organisation == organisation)):
        added = entries["webhook.add"].get(webhook.id, {})
        digest = sha256(webhook.url.encode()).hexdigest()
        if added.get("url_sha256", digest) != digest:
            yield f"webhook {webhook.id} has an address that is not the one in the log"
    for entry in rows.scalars(select(VigilanceEntry).where(VigilanceEntry.organisation == organisation)):
        added, changed = (entries[f"vigilance.{act}"].get(entry.id, {}) for act in ("add", "change"))
        digest = fingerprint(entry)
        if changed.get("sha256", added.get("sha256", digest)) != digest:
            yield f"incident or signal {entry.id} is not the one in the log"
    yield from _attestations(rows, organisation, attested, removed["report"])


def _attestations(
    rows: Rows, organisation: str, attested: dict[str, tuple[str, str, str]], removed: set[str]
) -> Iterator[str]:
    there = {
        a.id: a for a in rows.scalars(select(Attestation).where(Attestation.organisation == organisation))
    }
    for name, row in there.items():
        said = attested.get(name)
        if said is None:
            yield f"attestation {name} is not in the log (report.{row.act})"
        elif said != (f"report.{row.act}", row.report, row.sha256):
            yield f"attestation {name} is not the one in the log ({said[0]})"
    for name, (_, report, _) in attested.items():
        if name not in there and report not in removed:
            yield f"attestation {name} is gone without an entry"


def _read(
    rows: Rows, organisation: str
) -> tuple[Entries, dict[str, tuple[str, str, str]], dict[str, list[str]], dict[str, str]]:
    """Entries by action and subject; attestations; the last roles of users; the last digests of versions."""
    entries: Entries = defaultdict(dict)
    attested: dict[str, tuple[str, str, str]] = {}
    roles: dict[str, list[str]] = {}
    digests: dict[str, str] = {}
    query = select(Audit.action, Audit.subject, Audit.details)
    query = query.where(Audit.chain == organisation, Audit.action.in_(READ)).order_by(Audit.number)
    for action, subject, details in rows.execute(query.execution_options(yield_per=1000)):
        entries[action][subject] = details
        if action in SIGNED:
            attested[details["attestation"]] = (action, subject, details["sha256"])
        if "roles" in details:
            roles[subject] = details["roles"]
        if action in CHECKED:
            digests[subject] = details["digest"]
    return entries, attested, roles, digests


def _removed(entries: Entries) -> dict[str, set[str]]:
    """By kind, what the log tells was removed."""
    deleted = [s for s in entries["study.remove"].items() if "until" not in s[1]]  # else it can be restored
    deleted += entries["study.delete"].items()
    studies = {name for name, _ in deleted}
    removed = {"study": studies, "version": set(), "report": set(), "user": set(), "token": set()}
    for _, details in deleted:
        removed["version"] |= {v["id"] for v in details["versions"]}
        removed["report"] |= {r["id"] for r in details["reports"]}
    removed["report"] |= set(entries["report.delete"])
    for word, action in OF_STUDIES:
        removed[word] = {
            name
            for name, said in entries[action].items()
            if said.get("study") in studies or said.get("report") in entries["report.delete"]
        }
    removed["schedule"] |= set(entries["schedule.stop"])
    removed["webhook"] = set(entries["webhook.remove"])
    removed["incident or signal"] = {
        name for said in entries["vigilance.remove"].values() for name in said["entries"]
    }
    return removed


def verify_all(core: Core, rows: Rows, heads: Path | None = None) -> list[Verified]:
    """What became of every chain.

    Parameters
    ----------
    heads : a file of heads that was kept elsewhere

    Raises
    ------
    ValueError : `heads` is no such file
    """
    known, wrong = _signed_heads(core, rows)
    if heads is not None:
        wrong += _merge(known, log_heads.read(heads))
    organisations = set(rows.scalars(select(Organisation.id)))
    found = {chain.chain: _covered(rows, chain, organisations) for chain in audit.verify(rows, known)}
    for organisation in organisations - set(found):
        found[organisation] = _covered(rows, Verified(organisation, 0, START, ()), organisations)
    service = found.get(audit.SERVICE)
    if service is None and organisations:
        wrong.append("the log of the service is missing")
        service = Verified(audit.SERVICE, 0, START, ())
    if service is not None:
        founded = set(
            rows.scalars(select(Audit.subject).where(Audit.chain == audit.SERVICE, Audit.action == FOUNDED))
        )
        wrong += [
            f"organisation {name} is not in the log ({FOUNDED})" for name in sorted(organisations - founded)
        ]
        found[audit.SERVICE] = replace(service, faults=(*service.faults, *wrong))
    return [found[chain] for chain in sorted(found)]


def verify_organisation(core: Core, rows: Rows, organisation: str) -> Verified:
    """What became of the chain of one organisation."""
    known, _ = _signed_heads(core, rows)
    chain = audit.verify_one(rows, organisation, known.get(organisation, {}))
    return _covered(rows, chain, {organisation})


def _covered(rows: Rows, chain: Verified, organisations: set[str]) -> Verified:
    if chain.chain == audit.SERVICE:
        return chain
    if chain.chain not in organisations:
        return replace(chain, faults=(*chain.faults, "there is no such organisation"))
    missing = () if chain.entries else ("the log of this organisation is missing",)
    with with_removed(rows):
        return replace(chain, faults=(*missing, *chain.faults, *faults(rows, chain.chain)))


def _signed_heads(core: Core, rows: Rows) -> tuple[dict[str, dict[int, str]], list[str]]:
    """Hashes that entries had by signed statements and by the heads of each day; what contradicts itself."""
    known = signed_heads(rows, core.blobs)
    wrong: list[str] = []
    for heads, fault in log_heads.kept(core, rows):
        wrong += [fault] if fault else _merge(known, heads)
    return known, wrong


def _merge(known: dict[str, dict[int, str]], heads: log_heads.Heads) -> list[str]:
    wrong = []
    for chain, entries in heads.items():
        for number, digest in entries.items():
            if known.setdefault(chain, {}).setdefault(number, digest) != digest:
                wrong.append(f"entry {number} of {chain} has two hashes in what was signed")
    return wrong

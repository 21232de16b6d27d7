"""The audit log: who did what, each entry bound to the one before by its hash.

One chain for every organisation and one, `SERVICE`, for what concerns the service itself. An entry is written
in the transaction of what it tells, so neither exists without the other. Details hold names of rows, hashes
and counts; never cells of a table or names of patients.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as on_postgres
from sqlalchemy.dialects.sqlite import insert as on_sqlite
from sqlalchemy.orm import Session

from trustreport.service import events
from trustreport.service.storage.models import Audit, AuditHead, canonical
from trustreport.service.storage.store import now

SERVICE = "service"
START = "0" * 64


def write(session: Session, chain: str, actor: str, action: str, subject: str = "", **details: Any) -> Audit:
    """Add an entry, and its deliveries; others who add to this chain wait until the transaction ends."""
    head = lock(session, chain)
    entry = Audit(
        chain=chain,
        number=head.number + 1,
        at=now(session),
        actor=actor,
        action=action,
        subject=subject,
        details=details,
        previous=head.hash,
    )
    entry.hash = digest(entry)
    head.number, head.hash = entry.number, entry.hash
    session.add(entry)
    session.flush()
    events.queue_deliveries(session, entry)
    return entry


def digest(entry: Audit) -> str:
    """The SHA-256 of an entry's canonical JSON, the hash of the one before included."""
    said = {
        "chain": entry.chain,
        "number": entry.number,
        "at": entry.at,
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
        "previous": entry.previous,
    }
    return sha256(canonical(said).encode()).hexdigest()


def head_of(session: Session, chain: str) -> tuple[int, str]:
    """Number and hash of a chain's last entry; (0, `START`) of an empty one."""
    head = session.get(AuditHead, chain)
    return (head.number, head.hash) if head else (0, START)


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of one chain: how many entries, the last one's hash, and what is wrong."""

    chain: str
    entries: int
    head: str
    faults: tuple[str, ...]


def verify(session: Session, witnessed: Mapping[str, Mapping[int, str]] | None = None) -> Iterator[Verified]:
    """Recompute every chain.

    Parameters
    ----------
    witnessed : per chain the hashes that entries had when somebody noted them elsewhere (attestations do);
        an end that was cut off, and all hashes with it made anew, shows by them alone
    """
    witnessed = witnessed or {}
    chains = set(session.scalars(select(AuditHead.chain))) | set(
        session.scalars(select(Audit.chain).distinct())
    )
    for chain in sorted(chains | set(witnessed)):
        yield verify_one(session, chain, witnessed.get(chain, {}))


def verify_one(session: Session, chain: str, witnessed: Mapping[int, str]) -> Verified:
    """Recompute one chain."""
    faults: list[str] = []
    number, previous = 0, START
    seen: set[int] = set()
    entries = select(Audit).where(Audit.chain == chain).order_by(Audit.number)
    for entry in session.scalars(entries.execution_options(yield_per=1000)):
        if entry.number != number + 1:
            faults.append(f"entry {number + 1} is missing" if entry.number > number else "numbers go back")
        if entry.previous != previous:
            faults.append(f"entry {entry.number} does not follow from the one before")
        if entry.hash != digest(entry):
            faults.append(f"entry {entry.number} was changed")
        if witnessed.get(entry.number, entry.hash) != entry.hash:
            faults.append(f"entry {entry.number} is not the one that was witnessed")
        seen.add(entry.number)
        number, previous = entry.number, entry.hash
    if head_of(session, chain) != (number, previous):
        faults.append(f"the log ends with entry {number}, which is not the last that was written")
    faults += [f"entry {n}, which was witnessed, is missing" for n in sorted(set(witnessed) - seen) if n]
    return Verified(chain, len(seen), previous, tuple(faults))


def lock(session: Session, chain: str) -> AuditHead:
    """The head of a chain, made where there is none; who comes second waits and sees what the first wrote."""
    query = select(AuditHead).where(AuditHead.chain == chain).with_for_update()
    query = query.execution_options(populate_existing=True)
    head = session.scalar(query)
    if head is None:
        insert = on_sqlite if session.get_bind().dialect.name == "sqlite" else on_postgres
        session.execute(insert(AuditHead).values(chain=chain, number=0, hash=START).on_conflict_do_nothing())
        head = session.scalars(query).one()
    return head

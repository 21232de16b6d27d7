"""The log compared with all that can contradict it: itself, the other tables, statements, heads kept."""

from dataclasses import replace
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.audit import START, Verified
from trustreport.service.core import Core
from trustreport.service.record import log_coverage, log_heads
from trustreport.service.record.signed_log_heads import signed_heads
from trustreport.service.storage.models import Audit, Organisation


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
            rows.scalars(
                select(Audit.subject).where(
                    Audit.chain == audit.SERVICE, Audit.action == log_coverage.FOUNDED
                )
            )
        )
        wrong += [
            f"organisation {name} is not in the log ({log_coverage.FOUNDED})"
            for name in sorted(organisations - founded)
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
    return replace(chain, faults=(*missing, *chain.faults, *log_coverage.faults(rows, chain.chain)))


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

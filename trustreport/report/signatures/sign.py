"""Sign the files of a folder: by a statement that names each with its hash, an envelope, or signed copies.

Each function returns the files to write; `write_new` writes them, so that nothing is written where one fails.
"""

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.report.document import canonical
from trustreport.report.signatures.bundle import (
    COPY,
    ENVELOPE,
    FORMAT,
    LOCKED,
    SIGNATURE,
    STAMP,
    digest,
    files,
    lock_envelope,
    pairs,
    signature_files,
)

if TYPE_CHECKING:
    from trustreport.report.signatures.signing import Signer
    from trustreport.study.lock.file import Lock

RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class FileStatement:
    """What is said of the files, by whom and when; `act` is one word, which also names the file."""

    act: str
    meaning: str
    name: str
    email: str
    at: datetime


def signed_statement(folder: Path, signer: "Signer", statement: FileStatement) -> dict[Path, bytes]:
    """A signed statement on all files of a folder but signatures and statements, and its signature."""
    text = canonical(
        {
            "format": FORMAT,
            **_about(statement),
            "report": {"files": _named(folder)},
            "key": signer.name,
            "public_key": base64.b64encode(signer.public).decode(),
        }
    )
    target = folder / f"{statement.act}.json"
    return {target: text, target.with_name(target.name + SIGNATURE): base64.b64decode(signer.sign(text))}


def signed_envelope(folder: Path, signer: "Signer", statement: FileStatement) -> dict[Path, bytes]:
    """A statement of in-toto on the same files, in an envelope of DSSE.

    Where a report has verdicts it is an evaluation result with them; else it has only what is said.
    """
    from trustreport.report.signatures.predicates import EVALUATED
    from trustreport.report.signatures.signing import PREDICATE, enveloped
    from trustreport.report.signatures.signing import files_statement as of_files

    about = {**_about(statement), "public_key": base64.b64encode(signer.public).decode()}
    results = folder / RESULTS
    document = json.loads(results.read_bytes()) if results.is_file() else {}
    kind, predicate = PREDICATE, about
    if document.get("verdicts"):
        kind, predicate = EVALUATED, _evaluated(about, document)
    payload = of_files(_named(folder), predicate, kind)
    return {folder / f"{statement.act}{ENVELOPE}": enveloped(payload, signer)}


def signed_lock(folder: Path, lock: "Lock", signer: "Signer", statement: FileStatement) -> dict[Path, bytes]:
    """A statement of in-toto on the newest version of a lock: who fixed which criteria.

    Its subject is the hash that a time stamp of the lock is of.
    """
    from trustreport.report.signatures import predicates
    from trustreport.report.signatures.signing import enveloped
    from trustreport.report.signatures.signing import files_statement as of_files

    version, entry = len(lock.entries), lock.last
    predicate = predicates.PreRegisteredCriteria(
        producer=predicates.StatementSigner(name=statement.name, email=statement.email),
        created_at=statement.at.isoformat(timespec="seconds"),
        version=version,
        manifest_sha256=entry.sha256,
        criteria=predicates.locked_criteria(entry.criteria),
        public_key=base64.b64encode(signer.public).decode(),
    )
    payload = of_files({LOCKED: entry.sha256}, predicate.model_dump(by_alias=True), predicates.PREREGISTERED)
    return {folder / lock_envelope(version): enveloped(payload, signer)}


def signed_copies(
    folder: Path, key: bytes, certificates: bytes, statement: FileStatement, stamp_address: str = ""
) -> dict[Path, bytes]:
    """A signed copy of each PDF of a folder.

    Raises
    ------
    ValueError : the folder has no PDF, or one cannot be signed with this key and certificate
    """
    from trustreport.report.signatures.pades import signed_pdf

    origins = [folder / name for name in files(folder) if name.endswith(".pdf") and not name.endswith(COPY)]
    if not origins:
        raise ValueError(f"{folder} has no PDF to sign")
    reason = f"{statement.act}: {statement.meaning}"
    return {
        one.with_name(one.stem + COPY): signed_pdf(
            one.read_bytes(),
            key,
            certificates,
            reason=reason,
            name=statement.name,
            stamp_address=stamp_address,
        )
        for one in origins
    }


def stamped(signed: Mapping[Path, bytes], stamp_address: str) -> dict[Path, bytes]:
    """A time stamp of each signature and envelope.

    Raises
    ------
    ValueError : the authority gives none
    """
    from trustreport.report.signatures.stamps import requested_stamp

    return {
        path.with_name(path.name + STAMP): requested_stamp(stamp_address, content)
        for path, content in signed.items()
        if path.name.endswith((SIGNATURE, ENVELOPE))
    }


def write_new(signed: Mapping[Path, bytes]) -> None:
    """Write files that are not there yet, each whole or not at all.

    Raises
    ------
    FileExistsError : one is there; none is written
    """
    present = [path.name for path in signed if path.exists()]
    if present:
        raise FileExistsError(f"{', '.join(present)}: there already; a signature is not overwritten")
    for target, content in signed.items():
        new = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            new.write_bytes(content)
            os.replace(new, target)
        finally:
            new.unlink(missing_ok=True)


def _about(statement: FileStatement) -> dict[str, Any]:
    return {
        "act": statement.act,
        "meaning": statement.meaning,
        "at": round(statement.at.timestamp() * 1000),
        "signer": {"name": statement.name, "email": statement.email},
    }


def _named(folder: Path) -> dict[str, str]:
    """The files of a folder that are no signatures or statements, with their hashes."""
    signed = pairs(folder)
    own = {*signed, *signed.values(), *signature_files(folder)}
    return {name: digest(folder / name) for name in files(folder) if name not in own}


def _evaluated(about: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """What a report states of its criteria, with the criteria that it judged by and what judged."""
    from trustreport.report.signatures import predicates

    locked = (document.get("criteria") or {}).get("locked_sha256")
    found = predicates.EvalResult(
        **about,
        study=document.get("study"),
        answer=(document.get("answer") or {}).get("sentence"),
        claims=predicates.claims_of(document["verdicts"]),
        pre_registration=predicates.PreRegistration(value=locked) if locked else None,
        harness=predicates.Harness(
            name="trustreport", version=document.get("provenance", {}).get("trustreport")
        ),
    )
    return found.model_dump(by_alias=True)

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
    SIGNATURE,
    STAMP,
    digest,
    files,
    pairs,
    signature_files,
)

if TYPE_CHECKING:
    from trustreport.report.signatures.signing import Signer

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

    Its predicate has what is said, and of a report the verdicts on its criteria.
    """
    from trustreport.report.signatures.signing import enveloped
    from trustreport.report.signatures.signing import files_statement as of_files

    public = base64.b64encode(signer.public).decode()
    predicate = {**_about(statement), "public_key": public, **_reported(folder)}
    payload = of_files(_named(folder), predicate)
    return {folder / f"{statement.act}{ENVELOPE}": enveloped(payload, signer)}


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


def _reported(folder: Path) -> dict[str, Any]:
    """What a report states: its study, the verdicts, and the version that made it; empty without results."""
    file = folder / RESULTS
    if not file.is_file():
        return {}
    found = json.loads(file.read_bytes())
    return {
        "study": found.get("study"),
        "answer": (found.get("answer") or {}).get("sentence"),
        "verdicts": [
            {name: one.get(name) for name in ("endpoint", "verdict", "value", "low", "high", "level")}
            for one in found.get("verdicts", ())
        ],
        "trustreport": found.get("provenance", {}).get("trustreport"),
    }

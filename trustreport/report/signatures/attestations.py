"""Signed statements that lie beside a report: who said what of which files, and whether that holds.

A statement is a JSON file, ``approval.json``, with its Ed25519 signature in a file of its own,
``approval.json.sig`` (64 bytes), as the service gives both. It names every file of the report with its hash.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trustreport.report.signatures.files import FileStatus, digest, files

SIGNATURE = ".sig"
FORMAT = "trustreport attestation 1"
OPTIONAL = ("run.json",)  # when the report was made; it may be left out, not changed
MOST_BYTES = 10_000_000  # of a statement
PACKAGES = "cannot be checked here: pip install 'trustreport[sign]'"


def pairs(folder: Path) -> dict[str, str]:
    """Signatures of a folder, each with the file that it is of."""
    return {name: name.removesuffix(SIGNATURE) for name in files(folder) if name.endswith(SIGNATURE)}


def attested(folder: Path, signers: Mapping[bytes, str] | None = None) -> Iterator[FileStatus]:
    """Whether each signature is one of its statement, by whom, and whether the report is what was signed.

    Parameters
    ----------
    signers : public keys (32 bytes) that are trusted, each with whose it is; None where nobody said. Where
        they are given, a statement by another key is wrong
    """
    for signature, statement in pairs(folder).items():
        yield _one(folder, signature, statement, signers)


def _one(folder: Path, signature: str, statement: str, signers: Mapping[bytes, str] | None) -> FileStatus:
    try:
        from trustreport.report.signatures.signing import is_signed, name_of
    except ImportError:
        return FileStatus(signature, "wrong", PACKAGES)
    path = folder / statement
    if path.is_symlink() or not path.is_file():
        return FileStatus(signature, "wrong", f"signs {statement}, which is missing")
    if path.stat().st_size > MOST_BYTES or (folder / signature).stat().st_size > MOST_BYTES:
        return FileStatus(statement, "wrong", "is too large for a statement")
    text = path.read_bytes()
    said = _read(text)
    if said is None:
        return FileStatus(statement, "wrong", "is no statement on a report")
    known = {name_of(key): (key, name) for key, name in (signers or {}).items()}
    key, name = known.get(said["key"], (own_key(said), ""))
    if key is None or name_of(key) != said["key"]:
        more = "" if signers is None else ", and the signers that were given do not hold it"
        return FileStatus(statement, "wrong", f"cannot be checked: it does not say its public key{more}")
    if not is_signed(key, text, (folder / signature).read_bytes()):
        return FileStatus(statement, "wrong", f"is not what was signed: {signature} is no signature of it")
    if other := differing_file(folder, said["report"]["files"]):
        return FileStatus(statement, "wrong", f"is signed, and of other files than these: {other}")
    told = f"says: {_attestation_line(said)}; the signature is valid"
    if name:
        return FileStatus(statement, "signed", f"{told}, by {name}")
    if signers is None:
        return FileStatus(statement, "signed", f"{told}, signer unknown (name them by --signers)")
    return FileStatus(statement, "wrong", f"{told}, and by none of the given signers")


def _read(text: bytes) -> dict[str, Any] | None:
    """A statement; None where a file is none."""
    try:
        said = json.loads(text)
        if said["format"] != FORMAT or not isinstance(said["key"], str):
            return None
        named = said["report"]["files"]
        whole = bool(named) and all(isinstance(value, str) for value in named.values())
        _attestation_line(said)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, OSError):
        return None
    return said if whole else None


def own_key(said: Mapping[str, Any]) -> bytes | None:
    """The public key that a statement quotes, which says nothing of whose it is."""
    try:
        return base64.b64decode(said["public_key"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None


def differing_file(folder: Path, named: Mapping[str, str]) -> str:
    """The first file that is not as it was signed; empty where all are."""
    for name, written in sorted(named.items()):
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            return f"{name} is outside"
        if path.is_file():
            if digest(path) != written:
                return f"{name} is another one"
        elif name not in OPTIONAL:
            return f"{name} is missing"
    return ""


def _attestation_line(said: Mapping[str, Any]) -> str:
    """Who said what when, on one line."""
    at = datetime.fromtimestamp(said["at"] / 1000, UTC)
    signer = said["signer"]
    who = f"{signer['name']} <{signer['email']}>"
    return plain_line(f"{said['act']} by {who}, {at:%Y-%m-%d %H:%M} UTC: {said['meaning']}")


def plain_line(text: str) -> str:
    """A text on one line, without signs that a terminal would follow."""
    return "".join(sign if sign.isprintable() else " " for sign in text)

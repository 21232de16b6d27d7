"""The files of a report as one bundle: their hashes, and what signatures beside them say and are worth.

A statement is a JSON file, ``approval.json``, with its Ed25519 signature in a file of its own,
``approval.json.sig`` (64 bytes), as the service gives both. It names every file of the report with its hash.
``approval.dsse.json`` carries a statement of in-toto on the files, ``report.signed.pdf`` is ``report.pdf``
with a signature appended, and ``FILE.tsr`` is a time stamp of ``FILE``.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from trustreport.study.lock.moments import stamp

if TYPE_CHECKING:
    from trustreport.report.signatures.pades import PdfSignature
    from trustreport.report.signatures.signing import SignedEnvelope
    from trustreport.report.signatures.stamps import Roots
    from trustreport.study.lock.file import Lock


HASHES = "manifest.sha256"
# What the list of hashes leaves out: itself, and when the report was made.
UNLISTED = (HASHES, "run.json")
RESULTS = "results.json"
QUOTED = 8  # digits of the hash of the numbers at the foot of a page
BLOCK = 1 << 20
Status = Literal["ok", "wrong", "beside", "signed"]
SIGNATURE = ".sig"
FORMAT = "trustreport attestation 1"
OPTIONAL = ("run.json",)  # when the report was made; it may be left out, not changed
MOST_BYTES = 10_000_000  # of a statement
PACKAGES = "cannot be checked here: pip install 'trustreport[sign]'"
ENVELOPE, COPY, STAMP = ".dsse.json", ".signed.pdf", ".tsr"
LOCKED = "criteria.lock.json: canonical"  # subject of a statement on a lock: what was locked, not the file
NO_ROOTS = "its certificate is not checked (name trusted roots by --roots)"
LARGEST_COPY = 500_000_000  # bytes


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What was found of one file: as written, not as written, no part of the report, or a statement on it."""

    file: str
    status: Status
    said: str


def hashes(folder: Path) -> bytes:
    """The list of all files of a folder with their sha256, as ``sha256sum -c`` reads it, sorted by name."""
    lines = [f"{digest(folder / name)}  {name}\n" for name in files(folder) if name not in UNLISTED]
    return "".join(lines).encode()


def verify(
    folder: Path, signers: Mapping[bytes, str] | None = None, roots: "Roots | None" = None
) -> list[FileStatus]:
    """Everything that the bundle can say of itself; nothing is wrong where no line is.

    Parameters
    ----------
    signers : public keys (32 bytes) that statements have to be signed by, each with whose it is; where they
        are given, a report without any statement is wrong
    roots : certificates that those of signed copies and time stamps have to lead to
    """
    found = [*as_listed(folder), *quoted(folder), *attested(folder, signers)]
    if signers is not None and not any(name.endswith((SIGNATURE, ENVELOPE)) for name in files(folder)):
        found.append(
            FileStatus(f"*{SIGNATURE}", "wrong", "is missing: there is no statement with the report")
        )
    return [*found, *other_signatures(folder, signers, roots)]


def as_listed(folder: Path) -> Iterator[FileStatus]:
    """Each file held against its hash, and what stands beside them."""
    listing = folder / HASHES
    if not listing.is_file():
        yield FileStatus(HASHES, "wrong", "is missing: nothing says what the files were")
        return
    data = listing.read_bytes()
    listed = _listed_hashes(data)
    if listed is None:
        yield FileStatus(HASHES, "wrong", "is not a valid list of hashes")
        return
    for name, written in listed.items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            yield FileStatus(name, "wrong", "is missing")
        elif digest(path) != written:
            yield FileStatus(name, "wrong", "is not what was written: its sha256 is another one")
        else:
            yield FileStatus(name, "ok", "as written")
    signed = pairs(folder)
    apart = {*UNLISTED, *signed, *signed.values(), *signature_files(folder)}  # looked at as signatures
    for name in files(folder):
        if name not in listed and name not in apart:
            yield FileStatus(name, "beside", "is not a file of the report")


def quoted(folder: Path) -> Iterator[FileStatus]:
    """Whether the pages quote the hash of the numbers that lie beside them."""
    results, page = folder / RESULTS, folder / "report.html"
    if not (results.is_file() and page.is_file()):
        return
    if digest(results)[:QUOTED].encode() not in page.read_bytes():
        yield FileStatus(page.name, "wrong", f"quotes the hash of another {RESULTS}")


def _listed_hashes(data: bytes) -> dict[str, str] | None:
    """Names and hashes of a list; None unless it is, to the byte, what `hashes` writes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    found: dict[str, str] = {}
    for line in text.splitlines():
        written, gap, name = line[:64], line[64:66], line[66:]
        plain = PurePosixPath(name)
        inside = bool(name) and not plain.is_absolute() and ".." not in plain.parts
        if gap != "  " or not inside or name in found or not set(written) <= set("0123456789abcdef"):
            return None
        found[name] = written
    again = "".join(f"{found[name]}  {name}\n" for name in sorted(found))
    return found if found and text == again else None


def files(folder: Path) -> list[str]:
    """Every file below a folder, by its name with forward slashes."""
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    made = sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            made.update(block)
    return made.hexdigest()


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
        yield _attested(folder, signature, statement, signers)


def _attested(
    folder: Path, signature: str, statement: str, signers: Mapping[bytes, str] | None
) -> FileStatus:
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
    said = _statement_in(text)
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


def _statement_in(text: bytes) -> dict[str, Any] | None:
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
        return base64.b64decode(said.get("public_key") or said["publicKey"], validate=True)
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


def signature_files(folder: Path) -> set[str]:
    """The files of a folder that are signatures of other files."""
    return {name for name in files(folder) if name.endswith((ENVELOPE, COPY, STAMP))}


def other_signatures(
    folder: Path, signers: Mapping[bytes, str] | None = None, roots: "Roots | None" = None
) -> Iterator[FileStatus]:
    """What each of them is worth.

    Parameters
    ----------
    signers : public keys (32 bytes) that are trusted, each with whose it is; None where nobody gave any
    roots : certificates that are trusted; None where nobody gave any
    """
    for name in sorted(signature_files(folder)):
        path = folder / name
        if path.is_symlink() or path.stat().st_size > (LARGEST_COPY if name.endswith(COPY) else MOST_BYTES):
            yield FileStatus(name, "wrong", "is a link, or too large for a signature")
            continue
        try:
            if name.endswith(ENVELOPE):
                yield _envelope(folder, name, signers)
            elif name.endswith(COPY):
                yield from _copy(folder, name, roots)
            else:
                yield _stamp(folder, name, roots)
        except ImportError:
            yield FileStatus(name, "wrong", PACKAGES)
        except ValueError as error:
            yield FileStatus(name, "wrong", f"cannot be verified: {error}")


# ---------------------------------------------------------------- envelopes


def lock_envelope(version: int | str) -> str:
    """The name of the file with the signed statement on a version of a study's lock, or its pattern."""
    return f"criteria.lock.{version}{ENVELOPE}"


def lock_statement(
    name: str, data: bytes, lock: "Lock", signers: Mapping[bytes, str] | None
) -> FileStatus:
    """Whether an envelope is a signed statement on a version of a lock, with its criteria."""
    from trustreport.report.signatures.predicates import (
        PREREGISTERED,
        PreRegisteredCriteria,
        locked_criteria,
    )

    found, kind, predicate = _statement_of(data)
    if kind != PREREGISTERED:
        return FileStatus(name, "wrong", f"is no statement on a lock, but of type {plain_line(kind)}")
    said = PreRegisteredCriteria.model_validate(predicate)
    same = [
        entry
        for entry in lock.entries[said.version - 1 : said.version]
        if entry.sha256 == said.manifest_sha256 and locked_criteria(entry.criteria) == said.criteria
    ]
    if not same or found.subjects != {LOCKED: said.manifest_sha256}:
        return FileStatus(name, "wrong", f"is of other criteria than version {said.version} of the lock")
    who = plain_line(f"{said.producer.name} <{said.producer.email}>, {said.created_at}")
    return _signed_by(name, found, predicate, signers, f"states: criteria fixed by {who}")


def _statement_of(data: bytes) -> tuple["SignedEnvelope", str, Mapping[str, Any]]:
    """An envelope, the type of its predicate and the predicate, which has the form of its type."""
    from trustreport.report.signatures.predicates import validated
    from trustreport.report.signatures.signing import opened

    found = opened(data)
    kind, predicate = found.statement.get("predicateType"), found.statement.get("predicate")
    validated(kind, predicate)
    return found, str(kind), predicate if isinstance(predicate, Mapping) else {}


def _envelope(folder: Path, name: str, signers: Mapping[bytes, str] | None) -> FileStatus:
    """Whether an envelope is signed by a known key, or one that it quotes, and is of these files."""
    from trustreport.report.signatures.predicates import EVALUATED
    from trustreport.report.signatures.signing import PREDICATE

    found, kind, predicate = _statement_of((folder / name).read_bytes())
    if kind not in (PREDICATE, EVALUATED):
        return FileStatus(name, "wrong", f"is no statement on a report, but of type {plain_line(kind)}")
    text = f"states: {predicate.get('act', '')}, {predicate.get('meaning', '')}"
    checked = _signed_by(name, found, predicate, signers, plain_line(text))
    other = differing_file(folder, found.subjects)
    if checked.status == "signed" and other:
        return FileStatus(name, "wrong", f"is signed, and of other files than these: {other}")
    return checked


def _signed_by(
    name: str,
    found: "SignedEnvelope",
    predicate: Mapping[str, Any],
    signers: Mapping[bytes, str] | None,
    text: str,
) -> FileStatus:
    """By whom an envelope is signed: a known key, or else one that its statement quotes."""
    from trustreport.report.signatures.signing import is_signed

    quoted = own_key(predicate)
    keys = dict(signers or {})
    if quoted is not None:
        keys.setdefault(quoted, "")
    valid = [key for key in keys for _, one in found.signatures if is_signed(key, found.signed_bytes, one)]
    if not valid:
        more = " or is by another key" if quoted is None or signers is not None else ""
        return FileStatus(name, "wrong", f"is not what was signed{more}")
    text += "; the signature is valid"
    known = dict.fromkeys(keys[key] for key in valid if keys[key])
    if known:
        return FileStatus(name, "signed", f"{text}, by {', '.join(known)}")
    if signers is None:
        return FileStatus(name, "signed", f"{text}, signer unknown (name them by --signers)")
    return FileStatus(name, "wrong", f"{text}, and by none of the given signers")


# ---------------------------------------------------------------- copies


def _copy(folder: Path, name: str, roots: "Roots | None") -> Iterator[FileStatus]:
    """Each signature of a signed copy, and whether the copy begins with the file that it is of."""
    from trustreport.report.signatures.pades import signatures_of

    content, origin = (folder / name).read_bytes(), folder / f"{name.removesuffix(COPY)}.pdf"
    found = list(signatures_of(content, roots))
    if not found:
        yield FileStatus(name, "wrong", "has no signature")
        return
    if origin.is_file() and not content.startswith(origin.read_bytes()):
        yield FileStatus(name, "wrong", f"is signed, and no copy of {origin.name}")
        return
    for one in found:
        yield _of_copy(name, one)


def _of_copy(name: str, one: "PdfSignature") -> FileStatus:
    text = plain_line(f"is signed by {one.signer}: {one.reason}")
    if not one.intact:
        return FileStatus(name, "wrong", f"{text}; it was changed since")
    if not one.whole:
        return FileStatus(name, "wrong", f"{text}; something was added since")
    text += "; not changed since"
    if one.stamped is not None:
        text += f"; time stamp of {one.stamped:%Y-%m-%d %H:%M} UTC"
    if one.trusted is None:
        return FileStatus(name, "signed", f"{text}; {NO_ROOTS}")
    if not one.trusted or one.stamp_trusted is False:
        what = "the certificate of its time stamp" if one.trusted else "its certificate"
        return FileStatus(name, "wrong", f"{text}; {what} does not lead to a trusted root")
    return FileStatus(name, "signed", f"{text}; its certificate leads to a trusted root")


# ---------------------------------------------------------------- time stamps


def _stamp(folder: Path, name: str, roots: "Roots | None") -> FileStatus:
    """Whether a time stamp is of the file that it names, and of a trusted authority."""
    target = name.removesuffix(STAMP)
    path = folder / target
    if path.is_symlink() or not path.is_file():
        return FileStatus(name, "wrong", f"is a time stamp of {target}, which is missing")
    return stamp_status(name, (folder / name).read_bytes(), digest(path), target, roots)


def stamp_status(name: str, token: bytes, imprint: str, target: str, roots: "Roots | None") -> FileStatus:
    """What a time stamp says of something with a SHA-256, and whether its authority is trusted."""
    if roots is None:
        found = stamp(token)
        if (found.algorithm, found.imprint) != ("sha256", imprint):
            return FileStatus(name, "wrong", f"is a time stamp of something other than {target}")
        when = f"{found.time:%Y-%m-%d %H:%M} UTC"
        return FileStatus(name, "signed", f"is a time stamp of {target} of {when}; {NO_ROOTS}")
    from trustreport.report.signatures.stamps import verified_stamp

    found = verified_stamp(token, imprint, roots)
    when = f"{found.time:%Y-%m-%d %H:%M} UTC"
    text = f"is a time stamp of {target} of {when}; its certificate leads to a trusted root"
    return FileStatus(name, "signed", text)

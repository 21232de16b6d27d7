"""Signatures beside a report that others verify too: envelopes of DSSE, signed copies of PDF, time stamps.

``approval.dsse.json`` carries a statement of in-toto on the files, ``report.signed.pdf`` is ``report.pdf``
with a signature appended, and ``FILE.tsr`` is a time stamp of ``FILE``.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trustreport.report.signatures.attestations import MOST_BYTES, PACKAGES, differing_file, own_key, plain_line
from trustreport.report.signatures.files import FileStatus, digest, files
from trustreport.study.lock.timestamp import stamp

if TYPE_CHECKING:
    from trustreport.report.signatures.pades import PdfSignature
    from trustreport.report.signatures.roots import Roots

ENVELOPE, COPY, STAMP = ".dsse.json", ".signed.pdf", ".tsr"
NO_ROOTS = "its certificate is not checked (name trusted roots by --roots)"
LARGEST_COPY = 500_000_000  # bytes


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


def _envelope(folder: Path, name: str, signers: Mapping[bytes, str] | None) -> FileStatus:
    """Whether an envelope is signed by a known key, or one that it quotes, and is of these files."""
    from trustreport.report.signatures.dsse import opened
    from trustreport.report.signatures.signing import is_signed

    found = opened((folder / name).read_bytes())
    predicate = found.statement.get("predicate")
    predicate = predicate if isinstance(predicate, Mapping) else {}
    quoted = own_key(predicate)
    keys = dict(signers or {})
    if quoted is not None:
        keys.setdefault(quoted, "")
    valid = [key for key in keys for _, one in found.signatures if is_signed(key, found.signed_bytes, one)]
    if not valid:
        more = " or is by another key" if quoted is None or signers is not None else ""
        return FileStatus(name, "wrong", f"is not what was signed{more}")
    if other := differing_file(folder, found.subjects):
        return FileStatus(name, "wrong", f"is signed, and of other files than these: {other}")
    text = plain_line(
        f"states: {predicate.get('act', '')}, {predicate.get('meaning', '')}; the signature is valid"
    )
    known = [keys[key] for key in valid if keys[key]]
    if known:
        return FileStatus(name, "signed", f"{text}, by {known[0]}")
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

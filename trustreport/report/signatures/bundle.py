"""The files of a report as one bundle: their hashes, and whether they are still what was written."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from trustreport.report.signatures.attestations import SIGNATURE, attested, pairs
from trustreport.report.signatures.files import FileStatus, digest, files
from trustreport.report.signatures.other_signatures import ENVELOPE, other_signatures, signature_files

if TYPE_CHECKING:
    from trustreport.report.signatures.roots import Roots

HASHES = "manifest.sha256"
# What the list of hashes leaves out: itself, and when the report was made.
UNLISTED = (HASHES, "run.json")
RESULTS = "results.json"
QUOTED = 8  # digits of the hash of the numbers at the foot of a page


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
    listed = _read(data)
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


def _read(data: bytes) -> dict[str, str] | None:
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

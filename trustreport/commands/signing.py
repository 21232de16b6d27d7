"""Keys, signers and time stamps as the command line takes them; what cannot be read is a usage error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustreport.report.signatures import sign
from trustreport.report.signatures.bundle import (
    HASHES,
    MOST_BYTES,
    FileStatus,
    as_listed,
    lock_envelope,
    lock_statement,
    plain_line,
    stamp_status,
)
from trustreport.study.lock.file import FILE, Lock, read

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from trustreport.report.signatures.signing import Signer
    from trustreport.report.signatures.stamps import Roots


PACKAGES = "pip install 'trustreport[sign]'"


def signers_of(file: Path) -> dict[bytes, str]:
    """The public keys of a file of signers."""
    try:
        from trustreport.report.signatures.signing import read_signers
    except ImportError as error:
        raise lacking(error) from error
    try:
        return read_signers(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file}: {error}", param_hint="--signers") from error


def signer_of(file: Path) -> "Signer":
    """The private key of a file."""
    try:
        from trustreport.report.signatures.signing import Signer
    except ImportError as error:
        raise lacking(error) from error
    try:
        return Signer.read(file)
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file}: {error}", param_hint="--key") from error


def roots_of(file: Path) -> list["Certificate"]:
    """The certificates of a file of trust anchors."""
    try:
        from trustreport.report.signatures.stamps import read_certificates

        return read_certificates(file.read_bytes())
    except ImportError as error:
        raise lacking(error) from error
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file}: {error}", param_hint="--roots") from error


def name_and_address(text: str | None) -> tuple[str, str]:
    """Name and mail address of whoever signs, from ``Name <address>``."""
    name, address = parseaddr(text or "")
    if not name or "@" not in address:
        found = f"found {text!r}" if text else "it is missing"
        raise click.BadParameter(
            f"{found}; whoever signs is named as 'Name <address>'", param_hint="--signer"
        )
    return name, address


def lacking(error: ImportError) -> click.ClickException:
    """The one message where the packages for signatures are not installed."""
    return click.ClickException(f"signatures need additional packages ({error}): {PACKAGES}")


@dataclass(frozen=True, slots=True)
class SignRequest:
    """What is to be signed, how, and by whom; of a certificate and an authority "" or None where none is."""

    out: Path
    key: Path
    signatory: str | None
    act: str
    meaning: str
    forms: Sequence[str]
    certificates: Path | None
    stamp_address: str


def run(request: SignRequest) -> list[Path]:
    """Write the signatures, all or none, and return their paths."""
    name, address = name_and_address(request.signatory)
    if ("pdf" in request.forms) != (request.certificates is not None):
        raise click.UsageError("--form pdf goes with --certificate, the X.509 certificate of the key")
    if not request.act.replace("-", "").isalnum():
        raise click.BadParameter(f"{request.act!r}; write one word, such as approval", param_hint="--act")
    if not (request.out / HASHES).is_file():
        raise click.ClickException(f"{request.out} is no report: it has no {HASHES}")
    changed = [line.file for line in as_listed(request.out) if line.status == "wrong"]
    if changed:
        raise click.ClickException(
            f"not signed: {', '.join(changed)} changed or missing since the report was made"
        )
    statement = sign.FileStatement(request.act, request.meaning, name, address, datetime.now(UTC))
    try:
        made = _signed(request, statement)
        sign.write_new(made)
    except ImportError as error:
        raise lacking(error) from error
    except (OSError, ValueError) as error:
        raise click.ClickException(f"nothing was signed: {error}") from error
    return list(made)


def _signed(request: SignRequest, statement: sign.FileStatement) -> dict[Path, bytes]:
    """The files to write."""
    made: dict[Path, bytes] = {}
    if {"statement", "in-toto"} & set(request.forms):
        signer = signer_of(request.key)
        if "statement" in request.forms:
            made |= sign.signed_statement(request.out, signer, statement)
        if "in-toto" in request.forms:
            made |= sign.signed_envelope(request.out, signer, statement)
        if request.stamp_address:
            made |= sign.stamped(made, request.stamp_address)
    if request.certificates is not None:
        made |= sign.signed_copies(
            request.out,
            request.key.read_bytes(),
            request.certificates.read_bytes(),
            statement,
            request.stamp_address,
        )
    return made


def sign_lock(folder: Path, lock: Lock, key: Path, signatory: str | None) -> Path:
    """Write a signed statement on the newest version of a lock beside it, and return its path."""
    name, address = name_and_address(signatory)
    signer = signer_of(key)
    said = sign.FileStatement("lock", "", name, address, datetime.now(UTC))
    made = sign.signed_lock(folder, lock, signer, said)
    try:
        sign.write_new(made)
    except OSError as error:
        raise click.ClickException(f"the lock was not signed: {error}") from error
    return next(iter(made))


def lock_statements(study: Path, signers: Mapping[bytes, str] | None = None) -> list[FileStatus]:
    """What each signed statement on a study's lock is worth; nothing where there is none."""
    folder = study if study.is_dir() else study.parent
    present = sorted(folder.glob(lock_envelope("*")))
    if not present:
        return []
    try:
        lock = read((folder / FILE).read_bytes())
    except (OSError, ValueError) as error:
        return [FileStatus(FILE, "wrong", f"cannot be read, and {present[0].name} is of it: {error}")]
    found = []
    for file in present:
        try:
            if file.stat().st_size > MOST_BYTES:
                raise ValueError("it is too large")
            found.append(lock_statement(file.name, file.read_bytes(), lock, signers))
        except ImportError:
            found.append(FileStatus(file.name, "wrong", f"cannot be checked here: {PACKAGES}"))
        except ValueError as error:
            found.append(FileStatus(file.name, "wrong", f"cannot be verified: {plain_line(str(error))}"))
    return found


def lock_stamps(study: Path, roots: "Roots | None" = None) -> list[FileStatus]:
    """What each time stamp of a study's lock is worth; nothing where it has no lock or no stamp.

    Parameters
    ----------
    study : its folder or its manifest
    """
    file = (study if study.is_dir() else study.parent) / FILE
    if not file.is_file():
        return []
    try:
        lock = read(file.read_bytes())
    except ValueError as error:
        return [FileStatus(FILE, "wrong", f"cannot be read: {error}")]
    found = []
    for number, entry in enumerate(lock.entries, 1):
        if not entry.token:
            continue
        name, target = f"{FILE}, version {number},", f"sha256 {entry.sha256[:12]}"
        try:
            found.append(stamp_status(name, entry.token, entry.sha256, target, roots))
        except ImportError:
            found.append(FileStatus(name, "wrong", f"cannot be checked here: {PACKAGES}"))
        except ValueError as error:
            found.append(FileStatus(name, "wrong", f"has a time stamp that cannot be verified: {error}"))
    return found

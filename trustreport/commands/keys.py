"""Keys and signers as the command line takes them; what cannot be read is a usage error."""

from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from trustreport.report.signatures.signing import Signer

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

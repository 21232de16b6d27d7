"""`trustreport sign`: statements, envelopes and signed copies of a report, and time stamps of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from trustreport.commands.keys import lacking, name_and_address, signer_of
from trustreport.report.signatures import sign
from trustreport.report.signatures.bundle import HASHES, as_listed


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

"""Heads of the log, signed and written every day: a log that is cut off or made anew contradicts them.

A file ``heads-2026-11-22.json`` names the last entry of every chain at its moment; ``.sig`` beside it is the
Ed25519 signature by the service's key (64 bytes). Copies elsewhere are what counts: whoever owns the database
owns this folder as well, unless `Settings.heads` puts it out of their reach.
"""

import base64
import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.core import Core
from trustreport.service.engine import is_signed
from trustreport.service.ids import new_id
from trustreport.service.log import log
from trustreport.service.settings import Settings
from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.models import Attestation, Audit, AuditHead, canonical
from trustreport.service.storage.store import now


def signed_heads(rows: Rows, blobs: Blobs) -> dict[str, dict[int, str]]:
    """Per chain, the hashes that entries had. Statements other than the signed ones are left out."""
    found: dict[str, dict[int, str]] = {}
    for row in rows.scalars(select(Attestation)):
        try:
            text = blobs.read(row.organisation, row.sha256)
        except FileNotFoundError:
            continue
        if sha256(text).hexdigest() == row.sha256:
            said = json.loads(text)["audit"]
            found.setdefault(said["chain"], {})[said["number"]] = said["hash"]
    return found


FORMAT = "trustreport log heads 1"
NAME = "heads-{:%Y-%m-%d}.json"
SIGNATURE = ".sig"
ACTION = "log.heads"

Heads = Mapping[str, Mapping[int, str]]


def folder_of(settings: Settings) -> Path:
    """Where the heads of each day are written."""
    return Path(settings.heads) if settings.heads else settings.data / "heads"


def machine_of(settings: Settings) -> str:
    """What the log calls this data folder; with files in a bucket each machine has its own, and own heads."""
    file = settings.data / "machine"
    if not file.exists():
        new = file.with_name(f".machine.{new_id()}")
        new.write_text(new_id(), encoding="utf-8")
        with contextlib.suppress(FileExistsError):  # another process was first: its name is the one
            os.link(new, file)
        new.unlink()
    return file.read_text(encoding="utf-8")


def statement(core: Core, rows: Rows) -> bytes:
    """The last entry of every chain, as canonical JSON."""
    heads = {h.chain: {"number": h.number, "hash": h.hash} for h in rows.scalars(select(AuditHead))}
    return canonical(
        {
            "format": FORMAT,
            "at": now(rows),
            "heads": heads,
            "key": core.signer.name,
            "public_key": base64.b64encode(core.signer.public).decode(),
        }
    ).encode()


def write_signed(core: Core, text: bytes, file: Path) -> None:
    """Write heads and their signature, whole or not at all."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    signature = base64.b64decode(core.signer.sign(text))
    for target, content in ((file.with_name(file.name + SIGNATURE), signature), (file, text)):
        new = target.with_name(f".{target.name}.{os.getpid()}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.replace(new, target)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else in here at the same time, in whichever thread or process of this machine."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def write_daily(core: Core, actor: str) -> None:
    """Write today's heads; the log says with which hash, and the process's own log says them too.

    Of workers that do so at the same time one does: a text has its own signature beside it.
    """
    folder = folder_of(core.settings)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(folder):
        with core.store.read() as rows:
            text = statement(core, rows)
        said = json.loads(text)
        file = folder / NAME.format(datetime.fromtimestamp(said["at"] / 1000, UTC))
        if file.exists():
            return
        write_signed(core, text, file)
    own = {"machine": machine_of(core.settings)} if core.settings.files else {}
    with core.store.write() as rows:
        audit.write(rows, audit.SERVICE, actor, ACTION, file.name, sha256=sha256(text).hexdigest(), **own)
    log().info("log heads", heads={chain: head["hash"] for chain, head in said["heads"].items()})


def read(file: Path) -> Heads:
    """The heads that a file names.

    Raises
    ------
    ValueError : it is none of ours
    """
    try:
        said = json.loads(file.read_bytes())
        if said["format"] != FORMAT:
            raise ValueError
        return {str(c): {int(h["number"]): str(h["hash"])} for c, h in said["heads"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise ValueError(f"{file} is no file of log heads") from None


def kept(core: Core, rows: Rows) -> Iterator[tuple[Heads, str]]:
    """The heads of each day that is kept here, or what is wrong with its file.

    Those that the log says another machine has kept are verified there.
    """
    folder = folder_of(core.settings)
    own = machine_of(core.settings) if core.settings.files else ""
    last = {
        e.subject
        for e in rows.scalars(select(Audit).where(Audit.action == ACTION))
        if e.details.get("machine", own) == own
    }
    names = {p.name for p in folder.glob("heads-*.json")}
    names |= {p.name.removesuffix(SIGNATURE) for p in folder.glob(f"heads-*.json{SIGNATURE}")}
    for name in sorted(names | last):
        file, signature = folder / name, folder / f"{name}{SIGNATURE}"
        if not file.is_file():
            yield {}, f"{name}, the heads of a day, is a signature without its file, or is missing"
            continue
        text = file.read_bytes()
        fine = signature.is_file() and is_signed(core.signer.public, text, signature.read_bytes())
        if not fine:
            yield {}, f"{name} is not what was signed"
            continue
        yield read(file), ""

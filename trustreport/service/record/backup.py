"""Everything in one archive, and back: into the same kind of database or the other one.

A tar (gzip) of ``backup.json``, the rows of every table as JSON lines, the blobs and the signing key. It is
read from one transaction, so it holds one moment, while the service goes on. Whoever has it has all data and
can sign: encrypt it (`recipients`), or keep it like the data folder.
"""

import gzip
import io
import json
import os
import re
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, MetaData, Table, func, insert, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.audit import Verified
from trustreport.service.core import Core, open_core
from trustreport.service.engine import signing
from trustreport.service.record import log_heads
from trustreport.service.record.retention import FILES
from trustreport.service.record.verification import verify_all
from trustreport.service.settings import Settings
from trustreport.service.storage.blobs import SHA, Blobs
from trustreport.service.storage.collaboration import StoredShare, Webhook
from trustreport.service.storage.locations import open_blobs
from trustreport.service.storage.migrate import convert, current, migrate, refuse_newer
from trustreport.service.storage.models import Token
from trustreport.service.storage.pooling import InvitedSite
from trustreport.service.storage.store import Store, now

BEGIN = b"age-encryption.org/v1\n"
SECRET = "AGE-SECRET-KEY-1"  # noqa: S105  # how one begins


class NoKey(ValueError):
    """A recipient or identity that cannot be used; the message says which."""


def recipients_of(texts: Sequence[str]) -> list[Any]:
    """Public keys of age, ``age1...``.

    Raises
    ------
    NoKey : a text is none
    """
    from pyrage import RecipientError, x25519

    found = []
    for text in texts:
        try:
            found.append(x25519.Recipient.from_str(text.strip()))
        except RecipientError:
            raise NoKey(f"{text!r} is no public key of age (age1...)") from None
    return found


def identities_of(file: Path) -> list[Any]:
    """The secret keys of a file as `age-keygen` writes it.

    Raises
    ------
    NoKey : it holds none, or one that cannot be read
    """
    from pyrage import IdentityError, x25519

    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    try:
        found = [x25519.Identity.from_str(line) for line in lines if line.startswith(SECRET)]
    except IdentityError:
        found = []
    if not found:
        raise NoKey(f"{file} holds no secret key of age ({SECRET}...)")
    return found


@contextmanager
def encrypted(out: IO[bytes], recipients: Sequence[Any]) -> Iterator[IO[bytes]]:
    """A stream that is encrypted as it is written; nothing is kept in plain."""
    from pyrage import encrypt_io

    ours, theirs = os.pipe()
    failed: list[BaseException] = []

    def encrypt() -> None:
        with os.fdopen(ours, "rb") as plain:  # closing it ends the writer, too
            try:
                encrypt_io(plain, out, recipients)
            except BaseException as error:
                failed.append(error)

    thread = threading.Thread(target=encrypt)
    thread.start()
    try:
        with os.fdopen(theirs, "wb") as stream:
            yield stream
    except BrokenPipeError:
        thread.join()
        if not failed:
            raise
    finally:
        thread.join()
    if failed:
        raise failed[0]


def is_encrypted(stream: IO[bytes]) -> bool:
    """Whether a stream, at its beginning, is one of age."""
    begin = stream.read(len(BEGIN))
    stream.seek(0)
    return begin == BEGIN


def decrypt(stream: IO[bytes], out: IO[bytes], identities: Sequence[Any]) -> None:
    """Decrypt a stream, and go back to the beginning of what came out.

    Raises
    ------
    NoKey : it was encrypted for other keys, or is damaged
    """
    from pyrage import DecryptError, decrypt_io

    try:
        decrypt_io(stream, out, identities)
    except (DecryptError, OSError) as error:
        raise NoKey(f"it cannot be decrypted with this key ({error})") from None
    out.seek(0)


FORMAT = "trustreport backup 1"
LEFT_OUT = (
    "alembic_version",
    "sessions",
    "links",
    "known_browsers",
    "pending_steps",
    "workers",
    "mails",
    "deliveries",
    "counters",
)  # not taken along
AT_A_TIME = 500
HEADS = re.compile(r"heads-[0-9-]{10}\.json(\.sig)?")


class BackupError(Exception):
    """The backup cannot be made or restored; the message says why."""


def backup(settings: Settings, target: Path, recipients: Sequence[str] = ()) -> dict[str, Any]:
    """Write a backup; what it holds.

    Parameters
    ----------
    recipients : public keys of age; with any, the backup is encrypted for them and for nobody else

    Raises
    ------
    BackupError : the file exists, a blob that a row names is gone, or a recipient is none
    """
    try:
        keys = recipients_of(recipients) if recipients else []
    except NoKey as error:
        raise BackupError(str(error)) from None
    handle = _new(target)
    core = open_core(settings)
    try:
        with open(handle, "wb") as out:
            with (
                encrypted(out, keys) if keys else nullcontext(out) as stream,
                gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=1) as packed,
                tarfile.open(fileobj=packed, mode="w") as archive,
            ):
                held = _write(core, archive)
            out.flush()
            os.fsync(out.fileno())
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        core.close()
    return held


def _write(core: Core, archive: tarfile.TarFile) -> dict[str, Any]:
    with core.store.read() as rows:
        connection = rows.connection()
        held: dict[str, Any] = {"format": FORMAT, "revision": current(connection), "tables": {}, "blobs": 0}
        for table in _tables(connection):
            with tempfile.TemporaryFile() as spool:
                n = 0
                for line in _lines(connection, table):
                    spool.write(line)
                    n += 1
                _add(archive, f"tables/{table.name}.jsonl", spool)
            held["tables"][table.name] = n
        for organisation, name in _named(rows):
            try:
                with core.blobs.open(organisation, name) as stream:
                    _add(archive, f"blobs/{organisation}/{name}", stream)
            except FileNotFoundError:
                raise BackupError(
                    f"the file {name} of organisation {organisation} is gone from {core.blobs.place}"
                ) from None
            held["blobs"] += 1
    for file in sorted(log_heads.folder_of(core.settings).glob("heads-*.json*")):
        archive.add(file, f"heads/{file.name}", filter=_plain)
    archive.add(core.settings.data / "keys" / signing.FILE, f"keys/{signing.FILE}", filter=_plain)
    _add(archive, "backup.json", io.BytesIO(json.dumps(held).encode()))
    return held


def restore(
    settings: Settings, source: Path, *, identity: Path | None = None, keep_tokens: bool = False
) -> list[Verified]:
    """Restore a backup into an empty data folder and an empty database; what became of the audit chains.

    Parameters
    ----------
    identity : file of the secret key of age that an encrypted backup is for
    keep_tokens : leave API tokens, links to reports and webhooks as they were; otherwise all tokens and links
        are revoked, since one that was revoked after the backup would be valid again, and webhooks paused

    Raises
    ------
    BackupError : something is there already, or the backup is damaged
    """
    if settings.data.exists() and any(settings.data.iterdir()):
        raise BackupError(f"{settings.data} is not empty; name another folder")
    store = Store(settings.address) if settings.database else None
    if store is not None:
        with store.engine.connect() as connection:
            found = current(connection)
        store.close()
        if found is not None:
            raise BackupError("the database holds data already; name an empty one")
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with (
            _opened(settings, source, identity) as stream,
            tarfile.open(fileobj=stream, mode="r:gz") as archive,
            _empty_blobs(settings) as blobs,
        ):
            _read(settings, archive, blobs)
    except NoKey as error:
        raise BackupError(f"{source}: {error}") from None
    except (tarfile.TarError, OSError, KeyError, ValueError, EOFError) as error:
        raise BackupError(f"{source} cannot be restored: {type(error).__name__}") from error
    core = open_core(settings)
    try:
        if not keep_tokens:
            with core.store.write() as rows:
                _revoke_tokens(rows)
                _pause_webhooks(rows)
        with core.store.read() as rows:
            return verify_all(core, rows)
    finally:
        core.close()


@contextmanager
def _empty_blobs(settings: Settings) -> Iterator[Blobs]:
    """Where the files go; what came there is removed again where the restore fails."""
    blobs = open_blobs(settings)
    try:
        if not blobs.is_new():
            raise BackupError(f"{blobs.place} holds files already; name another prefix")
        try:
            yield blobs
        except BaseException:
            blobs.sweep(frozenset(), older=-1)
            raise
    finally:
        blobs.close()


@contextmanager
def _opened(settings: Settings, source: Path, identity: Path | None) -> Iterator[IO[bytes]]:
    """The archive, decrypted where it is encrypted, into a nameless file of the new data folder."""
    with source.open("rb") as stream:
        if not is_encrypted(stream):
            yield stream
            return
        if identity is None:
            raise BackupError(f"{source} is encrypted; name the file of its secret key by --identity")
        with tempfile.TemporaryFile(dir=settings.data) as plain:
            decrypt(stream, plain, identities_of(identity))
            yield plain


def _revoke_tokens(rows: Rows) -> None:
    for token in rows.scalars(select(Token).where(Token.revoked_at.is_(None))).all():
        token.revoked_at = now(rows)
        audit.write(rows, token.organisation, "restore", "token.revoke", token.id)
    for share in rows.scalars(select(StoredShare).where(StoredShare.revoked_at.is_(None))).all():
        share.revoked_at = now(rows)
        audit.write(rows, share.organisation, "restore", "share.revoke", share.id)
    for site in rows.scalars(select(InvitedSite).where(InvitedSite.hash.is_not(None))).all():
        site.hash = None  # its link is gone, not its place: a new one can be made
        audit.write(rows, site.organisation, "restore", "site.close", site.id)


def _pause_webhooks(rows: Rows) -> None:
    """A copy of a service does not speak to those who listen to the first one."""
    for webhook in rows.scalars(select(Webhook).where(Webhook.paused_at.is_(None))).all():
        webhook.paused_at = now(rows)
        audit.write(rows, webhook.organisation, "restore", "webhook.change", webhook.id, paused=True)


def _read(settings: Settings, archive: tarfile.TarFile, blobs: Blobs) -> None:
    members = {member.name: member for member in archive.getmembers() if member.isfile()}
    held = json.loads(_bytes(archive, members["backup.json"]))
    if held.get("format") != FORMAT:
        raise BackupError(f"this is no {FORMAT!r}")
    refuse_newer(held["revision"])
    for name, member in members.items():
        kind, _, rest = name.partition("/")
        if kind == "heads":
            _write_heads(settings, rest, _bytes(archive, member))
    _read_blobs(blobs, archive, members, held["blobs"])
    keys = settings.data / "keys"
    keys.mkdir(mode=0o700)
    with os.fdopen(os.open(keys / signing.FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(_bytes(archive, members[f"keys/{signing.FILE}"]))
    store = Store(settings.address)
    try:
        migrate(store.engine)
        with store.write() as rows:
            for table in _tables(rows.connection()):
                if table.name not in held["tables"]:  # the backup is from before there was one
                    continue
                _load(rows, table, _bytes(archive, members[f"tables/{table.name}.jsonl"]))
                n = rows.scalar(select(func.count()).select_from(table))
                if n != held["tables"][table.name]:
                    raise BackupError(f"{n} of {held['tables'][table.name]} rows of {table.name} are there")
            convert(rows.connection(), held["revision"])
    finally:
        store.close()


def _read_blobs(
    blobs: Blobs, archive: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo], n: int
) -> None:
    kept = 0
    for name, member in members.items():
        kind, organisation, wanted = (*name.split("/", 2), "", "")[:3]
        if kind != "blobs":
            continue
        stream = archive.extractfile(member)
        if not SHA.fullmatch(wanted) or not organisation.isalnum() or stream is None:
            raise BackupError(f"{name} is no name of a blob")
        if blobs.put(organisation, stream).sha256 != wanted:
            raise BackupError(f"{name} is damaged")
        kept += 1
    if kept != n:
        raise BackupError(f"{kept} of {n} blobs are there")


def _write_heads(settings: Settings, name: str, content: bytes) -> None:
    if not HEADS.fullmatch(name):
        raise BackupError(f"heads/{name} is no name of log heads")
    folder = log_heads.folder_of(settings)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def _tables(connection: Connection) -> list[Table]:
    """The tables as they are, whatever the revision; those that others refer to come first."""
    metadata = MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name not in LEFT_OUT]


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    found = connection.execution_options(yield_per=AT_A_TIME).execute(select(table))
    for row in found.mappings():
        yield json.dumps(dict(row), sort_keys=True).encode() + b"\n"


def _load(rows: Rows, table: Table, lines: bytes) -> None:
    waiting: list[dict[str, Any]] = []
    for line in lines.splitlines():
        waiting.append(json.loads(line))
        if len(waiting) == AT_A_TIME:
            rows.execute(insert(table), waiting)
            waiting = []
    if waiting:
        rows.execute(insert(table), waiting)


def _named(rows: Rows) -> list[tuple[str, str]]:
    named: set[tuple[str, str]] = set()
    for model in FILES:
        named |= {(o, s) for o, s in rows.execute(select(model.organisation, model.sha256))}
    return sorted(named)


def _add(archive: tarfile.TarFile, name: str, stream: Any) -> None:
    info = tarfile.TarInfo(name)
    info.size = stream.seek(0, os.SEEK_END)
    info.mode = 0o600
    stream.seek(0)
    archive.addfile(info, stream)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode = 0o600
    return info


def _bytes(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    if stream is None:
        raise BackupError(f"{member.name} is no file")
    return stream.read()


def _new(target: Path) -> int:
    """A file that was not there, readable by its owner alone."""
    try:
        return os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BackupError(f"{target} exists; name another file") from None

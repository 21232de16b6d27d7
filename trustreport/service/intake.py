"""Files that are handed in: their names, and a new version of a study made of them."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access.principal import Principal
from trustreport.service.ids import new_id
from trustreport.service.storage.blobs import Blob
from trustreport.service.storage.fixing import lock_of, locks_of
from trustreport.service.storage.models import StoredStudy, Version, VersionFile, canonical
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.messages import say

LONGEST_NAME = 200
# Invisible signs by which a name reads otherwise than it is.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LOCK = "criteria.lock.json"
MANIFESTS = ("study.yaml", "study.yml", "study.json")


class BadName(ValueError):
    """A name that no file of a study may have; the message says why."""


def safe_name(name: str) -> str:
    """The name of a file inside a study folder, as it may be written to disk.

    Raises
    ------
    BadName : it leads out of the folder, or no file may be called so
    """
    name = unicodedata.normalize("NFC", name)
    if not 0 < len(name.encode(errors="replace")) <= LONGEST_NAME:
        raise BadName(f"a name has 1 to {LONGEST_NAME} bytes")
    if any(ord(c) < 32 or ord(c) == 127 or "\ud800" <= c <= "\udfff" for c in name):
        raise BadName("a name has no control characters")
    if any(c in TURNING for c in name):
        raise BadName("a name has no signs that change the direction of writing")
    if "\\" in name or ":" in name:
        raise BadName("a name has forward slashes and no drive")
    parts = name.split("/")
    if any(part in ("", ".", "..") or part != part.strip() for part in parts):
        raise BadName("a name leads into the study folder and nowhere else")
    if any(part.startswith(".") for part in parts):
        raise BadName("a name does not begin with a dot")
    return name


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file as it came: its name, where its content is kept, and whether it is an archive to unpack."""

    name: str
    blob: Blob
    archive: bool = False


def checked_names(names: Iterable[str]) -> list[str]:
    """Names of files handed in one by one; refuses bad and repeated ones, all at once."""
    fine: list[str] = []
    wrong: list[Field] = []
    for name in names:
        try:
            safe = safe_name(name)
        except BadName as error:
            wrong.append(Field(name[:100].encode(errors="replace").decode(), str(error)))
            continue
        if safe in fine:
            wrong.append(Field(safe, say("pages.fault.field.name_appears_twice")))
        fine.append(safe)
    folders = {parent.as_posix() for name in fine for parent in PurePosixPath(name).parents}
    wrong += [Field(name, say("pages.fault.field.name_also")) for name in fine if name in folders]
    if wrong:
        raise Fault(422, say("pages.fault.names_of_files_refused.detail"), wrong)
    return fine


def new_version(
    rows: Rows, who: Principal, study: str, files: Sequence[UploadedFile], *, based_on: str | None = None
) -> Version:
    """A version of a study that holds these files, still to be checked.

    Parameters
    ----------
    based_on : the version that it corrects; whoever made that one has prepared this one too
    """
    return add_version(rows, who.row_of(rows, StoredStudy, study), who.user, files, based_on=based_on)


def add_version(
    rows: Rows,
    row: StoredStudy,
    user: str,
    files: Sequence[UploadedFile],
    *,
    based_on: str | None = None,
    actor: str = "",
) -> Version:
    """The same for a user that nobody has to ask for; `actor` is what the log names in their place."""
    rows.refresh(row, with_for_update=True)  # numbers are given one after the other
    files = _with_lock(rows, row.id, files)
    last = rows.scalar(select(func.max(Version.number)).where(Version.study == row.id)) or 0
    version = Version(
        id=new_id(),
        organisation=row.organisation,
        study=row.id,
        number=last + 1,
        state="checking",
        digest=digest((f.name, f.blob.sha256) for f in files),
        facts={},
        problems=[],
        based_on=based_on,
        created_by=user,
        created_at=now(rows),
    )
    rows.add(version)
    rows.flush()
    rows.add_all(
        VersionFile(
            version=version.id,
            name=f.name,
            organisation=row.organisation,
            sha256=f.blob.sha256,
            size=f.blob.size,
            archive=f.archive,
        )
        for f in files
    )
    audit.write(
        rows,
        row.organisation,
        actor or user,
        "version.add",
        version.id,
        study=row.id,
        number=version.number,
        digest=version.digest,
        files=len(files),
    )
    return version


def _with_lock(rows: Rows, study: str, files: Sequence[UploadedFile]) -> Sequence[UploadedFile]:
    """Files with the lock that the study has; that of an archive is added when it is unpacked."""
    lock, names = lock_of(rows, study), {file.name for file in files}
    if lock is None or names.isdisjoint(MANIFESTS):
        return files
    known = locks_of(rows, study)
    if any(file.name == LOCK and file.blob.sha256 not in known for file in files):
        raise Fault(409, say("pages.fault.other_lock.detail", lock=LOCK))
    others = [file for file in files if file.name != LOCK]
    return [*others, UploadedFile(LOCK, Blob(lock.sha256, lock.size))]


def digest(files: Iterable[tuple[str, str]]) -> str:
    """One hash of the names and hashes of all files, whatever their order."""
    return sha256(canonical(sorted(files)).encode()).hexdigest()

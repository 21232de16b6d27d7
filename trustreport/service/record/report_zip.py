"""A report as one zip, with what was signed of it and what verifying it needs.

It is written while it is sent. Equal content gives equal bytes: names are sorted, dates fixed, nothing is
compressed (most of it is already, and compressors differ between versions).
"""

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service.core import Core
from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.models import Attestation, ReportFile, StoredReport
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

FOLDER = "report/"
BLOCK = 1 << 18
READ_ME = """\
report/      the report, its annex, results.json, the hashes of all files, and what was signed:
             a statement (JSON) and its signature (64 bytes, Ed25519) for each review, approval or rejection
signers.pem  the public key of the service that signed. It comes with the report, so it proves nothing by
             itself: compare it with the one that the service's operator gives you

    pip install 'trustreport[sign]'
    trustreport verify report --signers signers.pem
"""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A file of the zip: its name, and its content or the hash under which it is kept."""

    name: str
    content: bytes | str


def entries(core: Core, rows: Rows, report: StoredReport) -> list[ZipEntry]:
    """What the zip of a report holds, sorted by name.

    Raises
    ------
    Fault : a file has been removed
    """
    blobs, organisation = core.blobs, report.organisation
    files = rows.scalars(select(ReportFile).where(ReportFile.report == report.id)).all()
    found = [ZipEntry(FOLDER + f.name, f.sha256) for f in files]
    query = select(Attestation).where(Attestation.report == report.id).order_by(Attestation.id)
    given: dict[str, int] = {}
    for row in rows.scalars(query):
        given[row.act] = n = given.get(row.act, 0) + 1
        name = f"{FOLDER}{row.act}{f'-{n}' if n > 1 else ''}.json"
        found.append(ZipEntry(name, row.sha256))
        found.append(ZipEntry(f"{name}.sig", base64.b64decode(row.signature)))
    if given:
        found.append(ZipEntry("signers.pem", f"trustreport service\n{core.signer.public_pem}".encode()))
    found.append(ZipEntry("README.txt", READ_ME.encode()))
    hashes = {entry.content for entry in found if isinstance(entry.content, str)}
    if any(blobs.size(organisation, sha256) is None for sha256 in hashes):
        raise Fault(404, say("pages.fault.not_found.title"), say("pages.fault.not_found.file"))
    return sorted(found, key=lambda entry: entry.name)


def zip_of(blobs: Blobs, organisation: str, found: list[ZipEntry]) -> Iterator[bytes]:
    """The bytes of the zip, block by block."""
    out = _Passing()
    with ZipFile(out, "w", ZIP_STORED) as archive:
        for entry in found:
            info = ZipInfo(entry.name, (1980, 1, 1, 0, 0, 0))
            info.external_attr, info.create_system = 0o644 << 16, 3
            content = entry.content
            opened = blobs.open(organisation, content) if isinstance(content, str) else io.BytesIO(content)
            with opened as stream, archive.open(info, "w") as target:
                while block := stream.read(BLOCK):
                    target.write(block)
                    yield out.taken()
    yield out.taken()


class _Passing(io.RawIOBase):
    """Takes what is written, to be passed on; it cannot go back, so the zip says sizes behind its files."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._blocks.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)

"""What signed statements say of the audit log: its head at the moment of each signature."""

import json
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.models import Attestation


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

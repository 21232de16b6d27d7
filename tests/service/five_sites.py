"""Five drawn hospitals under one lock: what the coordinator uploads, and the file of each site."""

import io
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from services import API, Client, zipped

from trustreport.api import lock_criteria
from trustreport.api.sites import site_bytes, summarise_site
from trustreport.report.signatures.signing import Signer
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.pooling import InvitedSite, SiteUpload

SITES = ("North", "South", "East", "West", "St. Mary's")
MANIFEST = """report: {{kind: certification, title: "Five hospitals", date: 2026-11-01}}
device: {{trade_name: Example, software_version: "1.0", manufacturer: Example}}
operating_point: {{threshold: 0.5, score_range: [0, 1], threshold_origin: fixed by the manufacturer}}
reference_standard: {{definition: biopsy, type: histology, applied_to: all}}
datasets:
  - {{dataset: external, role: external, file: data.csv, columns: {{truth: label}}}}
endpoints:
  - {{endpoint: sensitivity, role: primary, measure: advice_accuracy.sensitivity, dataset: external,
     hypothesis: performance goal, bound_or_margin: {bound}, alpha: 0.025}}
"""


FACTS = {
    "cases": {"external": 160},
    "withheld": [
        {"dataset": "external", "what": "cells", "name": "positives", "candidate": "", "reason": "few_cases"},
        {"dataset": "external", "what": "scores", "name": "", "candidate": "A", "reason": "few_values"},
        {"dataset": "external", "what": "cells", "name": "", "candidate": "", "reason": "clusters"},
    ],
    "fewest": 5,
    "software": "0.1.0",
}


@dataclass(frozen=True)
class FiveSites:
    """The lock and manifest of all, the signers, the files by site; and one file under another lock."""

    lock: bytes
    manifest: bytes
    signers: dict[str, Signer]
    files: dict[str, bytes]
    unsigned: bytes
    other_lock: bytes
    later: bytes  # another file of the first site, of other cases
    older: bytes  # of the second site, made by an older trustreport


def five_sites(folder: Path) -> FiveSites:
    """Draw the cases of each site, and summarise them as the sites would."""
    first = _study(folder / "coordinator", 0.55)
    lock_criteria(first)
    lock = (first / "criteria.lock.json").read_bytes()
    signers = {site: Signer(Ed25519PrivateKey.generate()) for site in SITES}
    summaries = {}
    for i, site in enumerate(SITES):
        own = _study(folder / f"site{i}", 0.55, rows=_rows(i))
        (own / "criteria.lock.json").write_bytes(lock)
        summaries[site] = summarise_site(own, site)
    more = _study(folder / "later", 0.55, rows=_rows(10))
    (more / "criteria.lock.json").write_bytes(lock)
    other = _study(folder / "other", 0.65, rows=_rows(0))
    lock_criteria(other)
    north = signers["North"]
    return FiveSites(
        lock,
        (first / "study.yaml").read_bytes(),
        signers,
        {site: site_bytes(summaries[site], signers[site]) for site in SITES},
        site_bytes(summaries["North"]),
        site_bytes(summarise_site(other, "North"), north),
        site_bytes(summarise_site(more, "North"), north),
        site_bytes(
            summaries["South"].model_copy(update={"software": {"trustreport": "0.0.1"}}), signers["South"]
        ),
    )


def collaboration_to_see(core: Core, client: Client, folder: Path) -> dict[str, str]:
    """A collaboration with sites in every state, whose files nobody computed; names of rows, and a link."""
    first = _study(folder / "locked", 0.55)
    lock_criteria(first)
    files = {name: (first / name).read_bytes() for name in ("study.yaml", "criteria.lock.json")}
    study = client.study("Five hospitals")
    upload = [("files", ("study.zip", zipped(files)))]
    assert client.post(f"{API}/studies/{study}/versions", files=upload).status_code == 202
    assert WorkerThread(core, "worker").once("check")
    made = client.post(f"{API}/studies/{study}/collaborations", json={"title": "Breast, five hospitals"})
    names = {"locked": study, "collaboration": made.json()["id"]}
    path = f"{API}/collaborations/{names['collaboration']}/sites"
    sites = [client.post(path, json={"name": name, "email": "data@hospital.test"}).json() for name in SITES]
    names["site_link"] = sites[0]["link"].rpartition("#")[2]
    with core.store.write() as rows:
        for site, state in zip(sites, ("superseded", "accepted", "accepted", "uploaded"), strict=False):
            row = rows.get_one(InvitedSite, site["site"]["id"])
            signer = Signer(Ed25519PrivateKey.generate())
            key = b64encode(signer.public).decode()
            row.key = "" if state == "uploaded" else key
            for later, own in enumerate(
                dict.fromkeys((state, "accepted" if state == "superseded" else state))
            ):
                blob = core.blobs.put(row.organisation, io.BytesIO(f"{site} {own}".encode()))
                said = {"site": row.id, "sha256": blob.sha256, "size": blob.size, "key": key, "state": own}
                told = {
                    "id": new_id(),
                    "organisation": row.organisation,
                    "created_at": row.created_at + later,
                }
                rows.add(SiteUpload(**told, **said, facts=FACTS))
        last = rows.get_one(InvitedSite, sites[2]["site"]["id"])
        last.refused_at = last.created_at + 2
        last.refused = {"reason": "lock", "found": "1" * 12, "lock": "2" * 12}
        rows.get_one(InvitedSite, sites[4]["site"]["id"]).revoked_at = 1
    return names


def _study(folder: Path, bound: float, rows: str = "") -> Path:
    folder.mkdir()
    (folder / "study.yaml").write_text(MANIFEST.format(bound=bound))
    if rows:
        (folder / "data.csv").write_text(rows)
    return folder


def _rows(seed: int) -> str:
    rng = np.random.default_rng(seed)
    truth = rng.random(160) < 0.4
    score = 1 / (1 + np.exp(-(rng.normal(size=160) + 2 * (truth - 0.5))))
    lines = [f"{t:d},{s:.6f}" for t, s in zip(truth, score, strict=True)]
    return "\n".join(["label,score", *lines]) + "\n"

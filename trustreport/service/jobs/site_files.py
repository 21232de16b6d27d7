"""Files of sites in the limited process: one is verified as it comes, a version of several is pooled."""

from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.vocabulary.errors import Problem, StudyError

if TYPE_CHECKING:  # load numpy
    from trustreport.service.engine import Plan, Study

SUFFIX = ".site.json"
SIGNERS = "signers.pem"
LONGEST = 300  # characters of what a file said, or of why it cannot be read


def study_of(folder: Path) -> "tuple[Study, Plan]":
    """The study of a folder: read by its manifest, or pooled from the files of sites beside `signers.pem`.

    Raises
    ------
    StudyError : it cannot be read, files do not fit together, or nobody of `signers.pem` signed one
    """
    from trustreport.api import read_study
    from trustreport.service.engine import (
        Signers,
        found_in,
        pool_sites,
        read_signers,
        read_sites,
    )

    files = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not files or found_in(folder):
        return read_study(folder)
    try:
        signers = read_signers((folder / SIGNERS).read_text("utf-8"))
    except (OSError, ValueError) as error:
        mend = "Put the public keys of the sites into it, the name of each in the line before."
        raise StudyError([Problem(SIGNERS, "no keys of the sites", "public keys in PEM", mend)]) from error
    return pool_sites(read_sites(files, Signers(signers)))


def read_lock(task: dict[str, Any], work: Path, on_progress: Callable[[str, float], None]) -> dict[str, Any]:
    """The hash of the first entry of the lock in ``work/study``, by which locks are compared.

    The answer has `changed`, fields of the manifest there that are no longer what was locked, and no `lock`
    where one of the two cannot be read.
    """
    from trustreport.service.engine import Study, lock, read_plan

    try:
        _, plan = read_plan(work / "study")
        status = lock.lock_status(Study(lock=(work / "study" / lock.FILE).read_bytes()), plan)
    except (StudyError, ValueError, OSError, RecursionError):
        return {}
    assert status.lock is not None
    changed = [change.field for change in status.changes]
    return {"lock": status.lock.first.sha256, "changed": ", ".join(changed)[:LONGEST]}


def verify_site(
    task: dict[str, Any], work: Path, on_progress: Callable[[str, float], None]
) -> dict[str, Any]:
    """Whether ``work/upload`` is the file of a site under the shared lock: `facts`, or why it is not.

    Parameters
    ----------
    task : `site`, its name as invited; `key`, its public key in base64; `lock`, what `read_lock` gave
    """
    from trustreport.service.engine import Signers, read_site_file

    shared = task["lock"]
    data, key = (work / "upload").read_bytes(), b64decode(task["key"])
    try:
        found = read_site_file("upload", data, Signers({key: task["site"]}, unverified=True))
        own = found.lock.first.sha256
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return _refused("form", said=str(error) or type(error).__name__)
    if not found.signer:
        return _refused("key" if b'"payload"' in data else "unsigned")
    if found.summary.site != task["site"]:
        return _refused("site", found=found.summary.site, site=task["site"])
    if own != shared:
        return _refused("lock", found=own[:12], lock=shared[:12])
    return {"facts": _facts(found.summary)}


def _refused(reason: str, **values: str) -> dict[str, Any]:
    return {"refused": {"reason": reason, **{name: text[:LONGEST] for name, text in values.items()}}}


def _facts(summary: Any) -> dict[str, Any]:
    """What pages show of a file: cases of each data set, and everything that is withheld."""
    return {
        "cases": {one.dataset: sum(pattern.n for pattern in one.patterns) for one in summary.datasets},
        "withheld": [one.model_dump(mode="json") for one in summary.withheld],
        "fewest": summary.rules.fewest,
        "software": summary.software.get("trustreport", ""),
    }

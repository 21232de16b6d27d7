"""Evidence of several sites: make the file of one, read those of many, and pool them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.api import assess, read_study
from trustreport.study.plan import Plan
from trustreport.study.pooled import site_file
from trustreport.study.pooled.pool import ReceivedFile, pooled_study
from trustreport.study.pooled.site_file import DisclosureRules, SiteFile
from trustreport.study.study import Study
from trustreport.vocabulary.errors import Problem, StudyError

if TYPE_CHECKING:
    from trustreport.report.signatures.signing import Signer

KIND = "urn:trustreport:site-summary:1"
MOST_BYTES = 64 * 2**20  # of a file that is read


@dataclass(frozen=True, slots=True)
class Signers:
    """Whose files are taken: public keys (32 bytes) with names; with `unverified` files of anybody."""

    keys: Mapping[bytes, str]
    unverified: bool = False


def summarise_site(
    source: str | PathLike[str],
    site: str,
    rules: DisclosureRules | None = None,
    *,
    allow_outside: bool = False,
) -> SiteFile:
    """The summary of one site, made of its own study under the shared lock.

    Nothing of it tells how many cases are in a count that `rules` withhold: that is tried by an attack, and
    what fails it is not returned.

    Parameters
    ----------
    source : the folder of the site's study, or its manifest
    site : its name, as the pooled report will have it
    rules : what the site lets go; no count of 1 to 4 cases where none are given

    Raises
    ------
    StudyError : the study cannot be read, has no lock or differs from it, or is of several sites
    DisclosureError : what would leave tells a count that is withheld
    """
    from trustreport.assessment.site_summary.summary import site_summary

    study, plan = read_study(source, allow_outside=allow_outside)
    manifest = study.sources[0].file if study.sources else "study.yaml"
    report = plan.report.model_copy(update={"release": "internal"})
    return site_summary(
        assess(study, plan.model_copy(update={"report": report})),
        site,
        rules or DisclosureRules(),
        manifest=manifest,
    )


def site_bytes(summary: SiteFile, signer: "Signer | None" = None) -> bytes:
    """The file of a site: an envelope of DSSE with its summary, or the summary alone where nobody signs."""
    data = site_file.written(summary)
    if signer is None:
        return data
    from trustreport.report.signatures.signing import enveloped, files_statement

    subjects = {f"{summary.site}.site.json": sha256(data).hexdigest()}
    return enveloped(files_statement(subjects, json.loads(data), KIND), signer)


def read_site_file(name: str, data: bytes, signers: Signers) -> ReceivedFile:
    """The file of a site, its signature verified.

    Raises
    ------
    ValueError : it is no file of a site, was changed, or nobody of `signers` signed it
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has {len(data)} bytes; the file of a site has {MOST_BYTES} at most")
    try:
        said = json.loads(data)
    except ValueError as error:
        raise ValueError("it is no JSON") from error
    if not isinstance(said, dict):
        raise ValueError("it is no file that trustreport site writes")
    signer = ""
    if "payload" in said:
        said, signer = _signed(data, signers)
    elif not signers.unverified:
        raise ValueError("nobody signed it")
    return ReceivedFile(name, site_file.read(said), signer)


def _signed(data: bytes, signers: Signers) -> tuple[dict[str, Any], str]:
    """The summary of an envelope, and who of the signers signed it."""
    from trustreport.report.signatures.signing import is_signed, opened

    envelope = opened(data)
    if envelope.statement.get("predicateType") != KIND:
        raise ValueError("it is an envelope of something else than the summary of a site")
    known = [
        name
        for key, name in signers.keys.items()
        for _, signature in envelope.signatures
        if is_signed(key, envelope.signed_bytes, signature)
    ]
    if not known and not signers.unverified:
        raise ValueError("no signature in it is of one of the signers, or it was changed after it was signed")
    said = envelope.statement["predicate"]
    digest = sha256(site_file.written(site_file.read(said))).hexdigest()
    if digest not in envelope.subjects.values():
        raise ValueError("what it says is not what its own hash is of")
    return said, ", ".join(known)


def read_sites(paths: Sequence[str | PathLike[str]], signers: Signers) -> list[ReceivedFile]:
    """The files of all sites.

    Raises
    ------
    StudyError : with every file that cannot be taken
    """
    found, problems = [], []
    for path in map(Path, paths):
        try:
            found.append(read_site_file(path.name, path.read_bytes(), signers))
        except OSError as error:
            problems.append(Problem(path.name, f"cannot be read: {error.strerror or error}"))
        except ValueError as error:
            problems.append(
                Problem(path.name, str(error), "a file that trustreport site wrote and a known key signed")
            )
    if problems:
        raise StudyError(problems)
    return found


def pool_sites(
    files: Sequence[ReceivedFile], *, report: Mapping[str, Any] | None = None
) -> tuple[Study, Plan]:
    """The study that the files of several sites make, which `assess` and `write_report` take as any other.

    Raises
    ------
    StudyError : files do not fit together
    """
    return pooled_study(files, report=report)

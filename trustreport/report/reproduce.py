"""A report held against the same study computed again."""

from collections.abc import Iterator, Mapping
from typing import Any

from trustreport.measures.seeds import DEFAULT
from trustreport.report.signatures.bundle import RESULTS
from trustreport.report.compare import compare, lines, same
from trustreport.report.document import canonical
from trustreport.report.signatures.files import FileStatus
from trustreport.study.plan import Plan

MOST_NAMED = 3  # differences that are listed
OF_LOOKS = "P68"


def as_built(plan: Plan, written: Mapping[str, Any]) -> Plan:
    """The plan with what of a report may have been given to its build alone: kind, release, language, seed.

    A seed that the manifest leaves out stays out where the report drew with the default one: to declare it
    would be a change since the lock.
    """
    study, seed = written["study"], written["provenance"]["seed"]
    if plan.similarity.seed is None and seed == DEFAULT:
        seed = None
    of_report = {name: study[name] for name in ("kind", "release", "language") if name in study}
    return plan.model_copy(
        update={
            "report": plan.report.model_copy(update=of_report),
            "similarity": plan.similarity.model_copy(update={"seed": seed}),
        }
    )


def reproduced(written: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[FileStatus]:
    """Whether the inputs are those of the report, and the numbers too.

    Parameters
    ----------
    written : the document of the report, as results.json holds it
    again : the document made from the study as it is now
    """
    yield from _inputs(written["provenance"]["inputs"], again["provenance"]["inputs"])
    yield from _versions(written["provenance"], again["provenance"])
    yield from _of_verdicts(written, again)
    if canonical(written) == canonical(again):
        yield FileStatus(RESULTS, "ok", "computed again, the same bytes")
        return
    found = compare(*(_without_looks(document) for document in (written, again)))
    if found.alike:
        yield FileStatus(RESULTS, "ok", "computed again, the same numbers")
        return
    differences = list(lines(found))
    more = f"; and {len(differences) - MOST_NAMED - 1} more" if len(differences) > MOST_NAMED + 1 else ""
    listed = "; ".join(differences[:MOST_NAMED])
    yield FileStatus(RESULTS, "wrong", f"computed again, is not the same: {listed}{more}")


def _without_looks(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document but for the check of the register, which later uses of the data are entered in."""
    checks = [check for check in document["checks"] if check["check"] != OF_LOOKS]
    return {**document, "checks": checks}


def _inputs(old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> Iterator[FileStatus]:
    before, after = ({i["file"]: i["sha256"] for i in inputs} for inputs in (old, new))
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield FileStatus(name, "wrong", "was read for the report and is not part of the study now")
        elif name not in before:
            yield FileStatus(name, "wrong", "is part of the study now and was not read for the report")
        elif before[name] != after[name]:
            yield FileStatus(name, "wrong", "of the study is not the file that the report was made from")
        else:
            yield FileStatus(name, "ok", "is the file that the report was made from")


def _of_verdicts(written: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[FileStatus]:
    """Whether what verdicts can be derived from again is that of the study; older files do not hold it."""
    if "intervals" in written:
        if not same(written["criteria"]["declared"], again["criteria"]["declared"]):
            yield FileStatus(RESULTS, "wrong", "holds other criteria than the manifest of the study")
        if not same(written["intervals"], again["intervals"]):
            yield FileStatus(RESULTS, "wrong", "holds other intervals of verdicts, computed again")


def _versions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FileStatus]:
    before, after = ({"trustreport": o["trustreport"], **o["versions"]} for o in (old, new))
    for name in before:
        if before[name] != after.get(name, ""):
            yield FileStatus(
                name, "beside", f"is {after.get(name, 'absent')} here; the report had {before[name]}"
            )

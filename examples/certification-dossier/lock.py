"""Make the lock of this example: the manifest as it was locked, then as it was amended in advance.

    python examples/certification-dossier/lock.py

The first version is that of version 1.0 of the analysis plan: the goal for "sensitivity" was 0.85, and what
nobody knew yet (hashes of the files, cases left out) was not declared. The second is the manifest as it is.
"""

from pathlib import Path

from trustreport.study import lock
from trustreport.study.ingest import read_plan
from trustreport.study.plan import Plan

HERE = Path(__file__).resolve().parent
REASON = "Goal of the screening programmes as published in January"


def at_first(plan: Plan) -> Plan:
    """The manifest as it was locked first."""
    said = plan.model_dump(mode="json", exclude_unset=True)
    for facts in said["datasets"]:
        del facts["sha256"], facts["exclusions"]
    (sensitivity,) = (e for e in said["endpoints"] if e["endpoint"] == "sensitivity")
    sensitivity["bound_or_margin"] = 0.85
    return Plan.model_validate(said)


def made() -> bytes:
    """The lock file."""
    _, plan = read_plan(HERE)
    first = lock.renewed(at_first(plan))
    return lock.written(lock.renewed(plan, first, amend=True, reason=REASON))


if __name__ == "__main__":
    (HERE / lock.FILE).write_bytes(made())

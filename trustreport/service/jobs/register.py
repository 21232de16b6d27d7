"""The register of looks of a report that is made: the uploaded one, earlier looks of the service, its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trustreport.service.engine import Plan, Study, lock


def with_looks(study: Study, plan: Plan, before: Mapping[str, Any]) -> tuple[Study, dict[str, Any]]:
    """The study with its register, and the look of this report for `facts`; without a lock as it was."""
    own = lock.look_of(study, plan, on=before["on"], purpose=before["purpose"])
    if not own.data or not study.lock:
        return study, {}
    register = study.looks
    for look in (*map(_look, before["earlier"]), own):
        if look.data:
            register = lock.entered(register, look)
    return replace(study, looks=register), {"look": lock.as_data(own)}


def _look(said: Mapping[str, Any]) -> lock.Look:
    return lock.Look(**{**said, "results": tuple(said["results"])})

"""Pitfalls of choosing between candidates: other cases, other failures, a ranking without separation."""

from collections.abc import Iterator
from itertools import combinations

from trustreport.checks.check import Check, Evidence, Remark
from trustreport.messages import say
from trustreport.results import Result

DIMENSION = "candidates"
MEASURES = ("accuracy", "sensitivity", "specificity", "auc")


def _entries(evidence: Evidence, name: str) -> list[Result]:
    """The leading entries of a quantity on the cases as they are."""
    id = f"{DIMENSION}.{name}"
    return [r for r in evidence.results if r.id == id and r.primary and "parameters" not in r.scope]


def unequal_cases(evidence: Evidence) -> Iterator[Remark]:
    """P51: candidates that were not run on the same cases, or that failed on unequal shares of them."""
    by_set: dict[str, list[Result]] = {}
    for r in _entries(evidence, "failure_rate"):
        if "candidate" in r.scope:
            by_set.setdefault(r.scope["dataset"], []).append(r)
    apart = {
        frozenset(r.scope["candidates"])
        for r in _entries(evidence, "failure_rate_difference")
        if r.estimate.low > 0 or r.estimate.high < 0
    }
    for dataset, runs in by_set.items():
        for one, other in combinations(runs, 2):
            pair = [other.scope["candidate"], one.scope["candidate"]]
            scope = {"dataset": dataset, "candidates": pair}
            # Cases that neither was given are left out of both alike.
            counts = [r.estimate.details for r in (other, one)]
            lost = counts[0]["known"] - one.estimate.n
            other_cases = any(d["not_run"] != lost for d in counts)
            if not other_cases and frozenset(pair) not in apart:
                yield Remark(scope)
                continue
            failed = [
                say("candidates.failed_of", name=name, n=int(d["failed"])) for name, d in zip(pair, counts)
            ]
            # Each candidate's own figures stand where only the failures are unlike: they count as errors.
            concerned = () if other_cases else tuple(f"{DIMENSION}.{name}_difference" for name in MEASURES)
            key = "checks.P51.other_cases" if other_cases else "checks.P51.other_failures"
            yield Remark(scope, say(key, n=one.estimate.n, failed=failed), concerned)


def no_separation(evidence: Evidence) -> Iterator[Remark]:
    """P52: two candidates whose difference may as well be none."""
    by_pair: dict[tuple[str, str, str], list[tuple[str, bool]]] = {}
    for name in MEASURES:
        for r in _entries(evidence, f"{name}_difference"):
            e = r.estimate
            compared, baseline = r.scope["candidates"]
            told = e.low > 0 or e.high < 0
            by_pair.setdefault((r.scope["dataset"], compared, baseline), []).append((name, told))
    for (dataset, compared, baseline), found in by_pair.items():
        alike = [say(f"verdicts.measure.{name}") for name, told in found if not told]
        message = say("checks.P52.fired", compared=compared, baseline=baseline, measures=alike)
        yield Remark({"dataset": dataset, "candidates": [compared, baseline]}, message if alike else None)


CHECKS = (
    Check("P51", DIMENSION, "B", unequal_cases),
    Check("P52", DIMENSION, "W", no_separation),
)

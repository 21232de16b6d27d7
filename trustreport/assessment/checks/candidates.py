"""Pitfalls of choosing between candidates: other cases, other failures, a ranking without separation."""

from collections.abc import Iterator
from itertools import combinations

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result

DIMENSION = "candidates"
MEASURES = ("accuracy", "sensitivity", "specificity", "auc")


def _entries(evidence: Evidence, name: str) -> list[Result]:
    """The leading entries of a quantity on the cases as they are."""
    return [r for r in evidence.leading(f"{DIMENSION}.{name}") if not r.parameters]


def unequal_cases(evidence: Evidence) -> Iterator[Remark]:
    """P51: candidates that were not run on the same cases, or that failed on unequal shares of them."""
    by_set: dict[str, list[Result]] = {}
    for r in _entries(evidence, "failure_rate"):
        if r.place.dataset is not None and r.place.candidate is not None:
            by_set.setdefault(r.place.dataset, []).append(r)
    apart = {
        frozenset(r.place.candidates or ())
        for r in _entries(evidence, "failure_rate_difference")
        if r.estimate.low > 0 or r.estimate.high < 0
    }
    for dataset, runs in by_set.items():
        for one, other in combinations(runs, 2):
            pair = (str(other.place.candidate), str(one.place.candidate))
            place = Place(dataset=dataset, candidates=pair)
            # Cases that neither was given are left out of both alike.
            counts = [r.estimate.details for r in (other, one)]
            lost = counts[0]["known"] - one.estimate.n
            other_cases = any(d["not_run"] != lost for d in counts)
            if not other_cases and frozenset(pair) not in apart:
                yield Remark(place)
                continue
            message = say(f"checks.P51.other_{'cases' if other_cases else 'failures'}", n=one.estimate.n)
            failed = [
                say("candidates.failed_of", name=name, n=int(d["failed"]))
                for name, d in zip(pair, counts)
                if d["failed"]
            ]
            if failed:
                message = say("checks.P51.with_failures", said=message, failed=failed)
            # Where only the failures differ, each candidate's own figures hold: failures are errors there.
            concerned = () if other_cases else tuple(f"{name}{DIFFERENCE}" for name in MEASURES)
            yield Remark(place, message, concerned)


def no_separation(evidence: Evidence) -> Iterator[Remark]:
    """P52: two candidates whose difference may as well be none."""
    by_pair: dict[Place, list[Message | None]] = {}
    for name in MEASURES:
        for r in _entries(evidence, f"{name}_difference"):
            place = Place(dataset=r.place.dataset, set=r.place.set, candidates=r.place.candidates)
            within = r.estimate.low <= 0 <= r.estimate.high  # false without an interval
            by_pair.setdefault(place, []).append(_not_shown(name, r) if within else None)
    for place, found in by_pair.items():
        compared, baseline = place.candidates or ("", "")
        alike = [item for item in found if item]
        message = say("checks.P52.fired", compared=compared, baseline=baseline, measures=alike)
        yield Remark(place, message if alike else None)


def _not_shown(name: str, r: Result) -> Message:
    """A measure with its difference and the interval that includes none."""
    e, key = r.estimate, "checks.P52.number" if name == "auc" else "checks.P52.points"
    return say(key, measure=quantity_name(name), value=e.value, low=e.low, high=e.high, level=e.level)


CHECKS = (
    Check("P51", DIMENSION, "B", unequal_cases),
    Check("P52", DIMENSION, "W", no_separation),
)

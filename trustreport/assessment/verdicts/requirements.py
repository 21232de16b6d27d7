"""What is required of each candidate: criteria that ask the same of several are one requirement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from trustreport.assessment.verdicts.verdict import Verdict, Word
from trustreport.study.plan import Endpoint, Plan
from trustreport.vocabulary.results import Result

Standing = Literal["met", "failed", "undecided", "nothing required"]
# What a criterion asks, beside the candidate that it asks it of.
ASKED = (
    *("measure", "of", "hypothesis", "bound_or_margin", "arm_or_contrast", "dataset", "set", "task", "site"),
    *("subgroup", "period", "threshold", "metric", "bins", "tau", "against", "class_", "protocol", "reader"),
    *(
        "version",
        "advice_type",
        "prevalence",
        "population",
        "kind",
        "weights",
        "raters",
        "parameters",
        "mean_over_classes",
        "apparent",
    ),
)


@dataclass(frozen=True)
class Requirement:
    """What is asked of one or several candidates; the verdicts by candidate, `criterion` the first that asks.

    `baseline` is the candidate that they are compared with; empty where a candidate is judged by itself.
    """

    criterion: Endpoint
    baseline: str = ""
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def word(self, candidate: str) -> Word | None:
        """The verdict on a candidate; None where this is not asked of it."""
        verdict = self.verdicts.get(candidate)
        return verdict.word if verdict else None

    @property
    def counts(self) -> bool:
        """Whether a candidate has to meet it: not a comparison with another, and not exploratory."""
        return not self.baseline and self.criterion.role != "exploratory"


def candidate_names(plan: Plan, results: Iterable[Result]) -> list[str]:
    """The candidates, as declared, then those that only the data name."""
    declared = [c.candidate for c in plan.candidates]
    found = [r.place.candidate for r in results if r.dimension == "candidates" and r.place.candidate]
    return list(dict.fromkeys([*declared, *found]))


def requirements(found: Iterable[Verdict], names: Sequence[str]) -> list[Requirement]:
    """The requirements in the manifest's order.

    A criterion that names no candidate is asked of each.
    """
    by_key: dict[tuple[object, ...], Requirement] = {}
    for verdict in found:
        candidate, baseline = sides(verdict, names)
        key = (*_criterion_key(verdict.criterion, names), baseline, verdict.criterion.role == "exploratory")
        if verdict.criterion.measure is None:
            key = (verdict.criterion.endpoint,)
        row = by_key.setdefault(key, Requirement(verdict.criterion, baseline))
        for name in names if candidate is None else (candidate,):
            row.verdicts.setdefault(name, verdict)
    return list(by_key.values())


def sides(verdict: Verdict, names: Sequence[str]) -> tuple[str | None, str]:
    """The candidate that a verdict is on, None where none is named, and the one that it is compared with."""
    said, of = verdict.criterion.candidate, verdict.criterion.arm_or_contrast
    for one in (said, of):
        if isinstance(one, tuple) and set(one) <= set(names):
            return one[0], one[1]
        if isinstance(one, str) and one in names:
            return one, ""
    at = verdict.result.place if verdict.result else None
    if at is not None and at.candidates is not None:
        return at.candidates[0], at.candidates[1]
    if at is not None and at.candidate is not None:
        return at.candidate, ""
    return None, ""


def _criterion_key(criterion: Endpoint, names: Sequence[str]) -> tuple[object, ...]:
    """What a criterion asks, without the names of candidates."""
    of = criterion.arm_or_contrast
    told = set(of) if isinstance(of, tuple) else {of}
    return tuple(
        None if name == "arm_or_contrast" and told & set(names) else getattr(criterion, name)
        for name in ASKED
    )


def status(rows: Iterable[Requirement], candidate: str) -> Standing:
    """Whether a candidate meets all that is required of it, fails in something, or is undecided."""
    words = [word for row in rows if row.counts and (word := row.word(candidate)) is not None]
    if not words:
        return "nothing required"
    if "fail" in words:
        return "failed"
    return "met" if all(word == "pass" for word in words) else "undecided"


def standings(rows: Sequence[Requirement], names: Iterable[str]) -> Mapping[str, Standing]:
    """The same of every candidate."""
    return {name: status(rows, name) for name in names}

"""When a group is too small for a percentage."""

from dataclasses import dataclass, replace

from trustreport.assessment.dimensions.subgroups.groups import CaseGroup
from trustreport.assessment.performance.keys import public_cell
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.estimate import Estimate, undefined
from trustreport.study.plan import Plan
from trustreport.vocabulary.quantities import endpoint_row

# Cases of a class below which an interval is wide enough to be warned of.
FEW = 30

BOTH = ("positives", "negatives")


def classes_of(endpoint: str) -> tuple[str, ...]:
    """The classes of which an endpoint needs enough cases: both, but where one alone is its denominator."""
    if endpoint == "prevalence":
        return ()
    needs = endpoint_row(endpoint).needs
    return needs if len(needs) == 1 and needs[0] in BOTH else BOTH


@dataclass(frozen=True, slots=True)
class Least:
    """The least numbers of a group that are asked for; `cell` of any cell in a public report, else 0."""

    positives: int
    negatives: int
    cell: int = 0

    @classmethod
    def of(cls, plan: Plan, group: CaseGroup) -> "Least":
        """What the group declares, else the limits of the manifest, else the customary ones."""
        declared = group.declared
        found = {
            "positives": declared.min_positives,
            "negatives": declared.min_negatives,
        }
        least = {
            name: int(plan.limit(f"P37_{name}")) if value is None else value for name, value in found.items()
        }
        return cls(**least, cell=public_cell(plan))

    def short(self, endpoint: str, positives: int, negatives: int) -> bool:
        """Whether a group has too few of a class for an endpoint."""
        have = {"positives": positives, "negatives": negatives}
        return any(have[c] < getattr(self, c) for c in classes_of(endpoint))


def too_few(endpoint: str, counts: ConfusionCounts) -> str:
    """What is said of a group in place of a percentage."""
    if endpoint == "sensitivity":
        return f"{counts.tp} of {counts.positives} positives detected; too few for a percentage"
    if endpoint == "specificity":
        return f"{counts.tn} of {counts.negatives} negatives cleared; too few for a percentage"
    return f"{counts.positives} positives and {counts.negatives} negatives; too few for a percentage"


def without_value(e: Estimate, note: str) -> Estimate:
    """The same entry without its number, and why."""
    return undefined(e.n, note, level=e.level, method=e.method)


def with_few(e: Estimate, endpoint: str, positives: int, negatives: int) -> Estimate:
    """The estimate with the remark that a class is small, where it is."""
    have = {"positives": positives, "negatives": negatives}
    few = [f"{have[c]} {c}" for c in classes_of(endpoint) if have[c] < FEW]
    if not few or e.value != e.value:
        return e
    return replace(e, note="; ".join(filter(None, (e.note, f"few cases: {' and '.join(few)}"))))


TOO_FEW_TO_COMPARE = "too few cases in the group, or in those that it is compared with"

"""The declared groups of a set of cases with their numbers, and which of them are too small for one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trustreport.assessment.narrative.texts import lead_estimate
from trustreport.assessment.performance.case_groups import CaseGroup, Division
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.keys import public_cell
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import Note, note
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, spelled
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result, leading

NAME, BENEFIT = "subgroups", "decision_benefit"
VALUE, DIFFERENCE = f"{NAME}.group_performance", f"{NAME}.subgroup_difference"
CHANGE = f"{BENEFIT}.arm_difference"
MAIN = ("sensitivity", "specificity", "auc")

# Cases of a class below which an interval is wide enough to be warned of.
FEW = 30
BOTH = ("positives", "negatives")


@dataclass(frozen=True, eq=False)
class Measured:
    """One group with its results, those of the comparison among them; closed: a public report shows none."""

    group: CaseGroup
    results: tuple[Result, ...]
    positives: int
    negatives: int
    closed: bool = False

    @property
    def name(self) -> str:
        """What the group is called."""
        return self.group.name

    @property
    def spelled(self) -> str:
        """The name as a reader sees it."""
        return spelled(self.group.name)

    @property
    def counts(self) -> tuple[int | None, int | None]:
        """Its cases, and those with the condition; None where a public report shows none."""
        return (None, None) if self.closed else (self.positives + self.negatives, self.positives)

    def value(self, endpoint: str) -> Estimate | None:
        """A measure of the group; of readers, their change."""
        found = lead_estimate(self.results, CHANGE, endpoint=endpoint)
        return found or lead_estimate(self.results, VALUE, endpoint=endpoint)

    def comparison(self, endpoint: str) -> Result | None:
        """The difference between the group and those that it is compared with."""
        return leading(self.results, DIFFERENCE, endpoint=endpoint)


Groups = Mapping[str, tuple[Measured, ...]]


@dataclass(frozen=True, eq=False)
class GroupedCases:
    """A data set and candidate (`case`), or a task and contrast of readers, with its groups by attribute.

    `overall` has the main measures of all cases, `unknown` how many have no value of an attribute. `further`
    are results over all groups: every group of an attribute against the others, how far apart they are in
    both rates, and the worst of all groups by measure.
    """

    name: Message | str
    place: Place
    level: float
    divisions: tuple[Division, ...]
    groups: Groups
    overall: Mapping[str, Estimate]
    unknown: Mapping[str, Result]
    n: int
    positives: int
    further: tuple[Result, ...] = ()
    case: ScoredCases | None = None

    @property
    def every(self) -> list[Measured]:
        """The groups of all attributes."""
        return [one for found in self.groups.values() for one in found]

    @property
    def of_readers(self) -> bool:
        """Whether these are cases that readers read with and without the aid."""
        return self.case is None

    @property
    def results(self) -> list[Result]:
        """Every entry, in the order reported."""
        return [*(r for one in self.every for r in one.results), *self.further, *self.unknown.values()]

    @property
    def comparisons(self) -> list[tuple[Measured, Result]]:
        """Every comparison of these groups."""
        return [(one, r) for one in self.every for r in one.results if r.id == DIFFERENCE]

    def about(self, id: str) -> list[Result]:
        """What is known over all groups of one question."""
        return [r for r in self.further if r.id == id]


@dataclass(frozen=True, slots=True)
class Least:
    """The least numbers of a group that are asked for; `cell` of any cell in a public report, else 0."""

    positives: int
    negatives: int
    cell: int = 0

    @classmethod
    def of_group(cls, plan: Plan, group: CaseGroup) -> "Least":
        """What the group declares, else the limits of the manifest, else the customary ones."""
        declared = (group.declared.min_positives, group.declared.min_negatives)
        positives, negatives = (
            int(plan.limit(f"P37_{name}")) if own is None else own for name, own in zip(BOTH, declared)
        )
        return cls(positives, negatives, public_cell(plan))

    def short(self, endpoint: str, positives: int, negatives: int) -> bool:
        """Whether a group has too few of a class for an endpoint."""
        have = {"positives": positives, "negatives": negatives}
        return any(have[c] < getattr(self, c) for c in classes_of(endpoint))


def classes_of(endpoint: str) -> tuple[str, ...]:
    """The classes of which an endpoint needs enough cases: both, but where one alone is its denominator."""
    if endpoint == "prevalence":
        return ()
    needs = endpoint_row(endpoint).needs
    return needs if len(needs) == 1 and needs[0] in BOTH else BOTH


def without_value(e: Estimate, note: Note) -> Estimate:
    """The same entry without its number, and why."""
    return undefined(e.n, note, level=e.level, method=e.method)


def with_few(e: Estimate, endpoint: str, positives: int, negatives: int) -> Estimate:
    """The estimate with the remark that a class is small, where it is."""
    have = {"positives": positives, "negatives": negatives}
    few = [c for c in classes_of(endpoint) if have[c] < FEW]
    if not few or e.value != e.value:
        return e
    if len(few) > 1:
        return with_note(
            e, note=note("few_positives_and_negatives", positives=positives, negatives=negatives)
        )
    if "positives" in few:
        return with_note(e, note=note("few_positives", n=positives))
    return with_note(e, note=note("few_negatives", n=negatives))


def with_note(e: Estimate, *, note: Note) -> Estimate:
    """The estimate with one more remark."""
    return replace(e, note=e.note + note)

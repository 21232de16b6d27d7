"""What a declared criterion asks for: where the bound lies, at which level, in which family."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import Literal

from trustreport.study.plan import Endpoint, Plan
from trustreport.vocabulary.quantities import is_named, known, quantity_of
from trustreport.vocabulary.quantity import Quantity

# Alpha above which a criterion decides nothing and is refused; above .05 one-sided it is remarked on (P36).
MOST_ALPHA = 0.1
CUSTOMARY_ALPHA = 0.05

# The population that a criterion names where it means the cases as they were sampled.
SAMPLE = "sample"
OF_READINGS = "readings"  # a criterion's `dataset`: the cases that were read, or labelled by raters, alone

NO_HYPOTHESIS = "no_hypothesis"
NO_MARGIN = "no_margin"
NEGATIVE = "negative_margin"
RATIO_MARGIN = "ratio_margin"
NOT_ONE_NUMBER = "not_one_number"
SIDES = "sides_of_margin"
NO_BETTER_SIDE = "no_better_side"
NO_COMPARISON = "no_comparison"
ONE_BOUND = "one_bound"
WORSE_SIDE = "worse_side"
BEYOND_RANGE = "beyond_range"
# What no data can answer: such a criterion is refused when the study is read.
REFUSED = (WORSE_SIDE, BEYOND_RANGE)

Rule = Literal["holm", "hochberg", "bonferroni", "fixed sequence", "graph", "co-primary", "none"]
# The rules that give a criterion a part of alpha.
DIVIDING = ("holm", "hochberg", "bonferroni", "graph")
# A family whose name says its rule needs no other declaration of it.
SPELLINGS: tuple[tuple[str, Rule], ...] = (
    ("holm", "holm"),
    ("hochberg", "hochberg"),
    ("bonferroni", "bonferroni"),
    ("sequence", "fixed sequence"),
    ("sequential", "fixed sequence"),
    ("hierarchical", "fixed sequence"),
    ("gatekeeping", "fixed sequence"),
    ("co-primary", "co-primary"),
    ("coprimary", "co-primary"),
)
NO_FAMILY = ("none", "no", "single", "-")


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the whole interval must lie: above `low`, below `high`; None where that side is open."""

    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, ...]:
        """The sides that are not open."""
        return tuple(end for end in (self.low, self.high) if end is not None)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A declared criterion, resolved once: of which quantity it is, and how strictly it is judged.

    `row` is None where the criterion does not say of which endpoint. `bound` is where the whole interval must
    lie, or the word for why that is not known. `prevalence` is that at which the quantity is meant; None for
    that of the cases. `alpha` is declared, or that at which the interval has the level of the report.
    """

    declared: Endpoint
    row: Quantity | None
    bound: Bound | str
    sides: int
    alpha: float
    prevalence: float | None
    confirmatory: bool

    @property
    def name(self) -> str:
        """Its name in the manifest."""
        return self.declared.endpoint

    @property
    def means_the_sample(self) -> bool:
        """Whether its quantity changes with the prevalence and no other prevalence is named."""
        said = self.declared
        chosen = said.prevalence is not None or said.population == SAMPLE
        return self.row is not None and self.row.by_prevalence and not chosen

    def level_at(self, alpha: float) -> float:
        """The level of the interval that is compared with the bound: 1 - 2 alpha, 1 - alpha if two-sided."""
        return level_of(self.declared, alpha)


def resolved(declared: Endpoint, plan: Plan) -> Criterion:
    """What a declared criterion asks for."""
    return Criterion(
        declared,
        row_of(declared),
        bound_of(declared),
        sides(declared),
        alpha_of(declared, plan.report.confidence_level),
        prevalence(declared, plan.declared_prevalence),
        confirmatory(declared),
    )


def confirmatory_criteria(plan: Plan) -> list[Criterion]:
    """The criteria that ask for a verdict, in the manifest's order."""
    return [resolved(declared, plan) for declared in plan.endpoints if confirmatory(declared)]


@dataclass(frozen=True, slots=True)
class FamilyOf:
    """Criteria judged together, in the manifest's order; `rule` is None where the manifest names none.

    `weights` and `transitions` are those of a graph. `after` names the families that have to be met before
    this one is tested: all of them, or one where `any_opens`.
    """

    name: str
    rule: Rule | None
    members: tuple[Criterion, ...]
    alpha: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    transitions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    any_opens: bool = False

    @property
    def shared_alpha(self) -> float:
        """The alpha that its members share: declared for it, else the smallest of theirs."""
        return self.alpha or min(member.alpha for member in self.members)


def prevalence(criterion: Endpoint, declared: float | None) -> float | None:
    """The prevalence at which a criterion means its quantity; None for that of the cases.

    `declared` is that of the manifest.
    """
    row = row_of(criterion)
    if row is None or not row.by_prevalence or criterion.population == SAMPLE:
        return None
    return declared if criterion.prevalence is None else criterion.prevalence


def row_of(criterion: Endpoint) -> Quantity | None:
    """What is known of the quantity of a criterion; None where it does not say of which endpoint."""
    name, of = criterion.quantity, criterion.of or criterion.metric or ""
    if not is_named(name) or (not known(name) and not of):
        return None
    return quantity_of(name, of, contrast=not isinstance(criterion.arm_or_contrast, str))


def sides(criterion: Endpoint) -> int:
    """One for a hypothesis with one bound and for each test of equivalence; two where declared."""
    if criterion.hypothesis in (None, "estimation"):
        return 2
    return criterion.sides or 1


def alpha_of(criterion: Endpoint, level: float) -> float:
    """The declared alpha; else that at which the interval has the level of the report."""
    return criterion.alpha or round((1 - level) / (3 - sides(criterion)), 12)


def level_of(criterion: Endpoint, alpha: float) -> float:
    """The level of the interval that is compared with the bound: 1 - 2 alpha, 1 - alpha if two-sided."""
    return round(1 - alpha * (3 - sides(criterion)), 12)


def bound_of(criterion: Endpoint, row: Quantity | None = None) -> Bound | str:
    """Where the interval of a criterion must lie, or the word for why that is not known.

    A margin is a loss: it lies on the worse side of no effect. Margins of equivalence lie on either side; one
    number means both (m and -m, of a ratio m and 1 / m). A quantity with a best value, such as a
    calibration slope, needs two bounds.

    Parameters
    ----------
    row : what is known of the quantity, where the entry that answers says more than the criterion
    """
    row = row or row_of(criterion)
    said, nothing = criterion.bound_or_margin, row.no_effect if row else None
    match criterion.hypothesis:
        case None:
            return NO_HYPOTHESIS
        case "equivalence":
            return _within(_between(said, nothing), row, margin=nothing is not None)
        case "performance goal" if isinstance(said, tuple):
            return _within(Bound(*sorted(said)), row, margin=False)
        case "non-inferiority":
            return _within(_beyond_margin(said, row), row, margin=True)
        case "superiority":
            said = nothing if said is None or (nothing == 1 and said == 0) else said
    if said is None:
        return NO_MARGIN
    if isinstance(said, tuple):
        return NOT_ONE_NUMBER
    if row is None or row.better not in ("up", "down"):
        return ONE_BOUND if row is not None and row.target is not None else NO_BETTER_SIDE
    up = row.better == "up"
    worse = nothing is not None and (said < nothing if up else said > nothing)
    if criterion.hypothesis == "superiority" and worse:
        return WORSE_SIDE
    return _within(Bound(low=said) if up else Bound(high=said), row, margin=False)


def _within(bound: Bound | str, row: Quantity | None, *, margin: bool) -> Bound | str:
    """The bound, where it is possible; a margin that reaches the end of what is possible excludes nothing."""
    if isinstance(bound, str) or row is None:
        return bound
    for end in (bound.low, bound.high):
        if end is not None and (not row.low <= end <= row.high or (margin and end in (row.low, row.high))):
            return BEYOND_RANGE
    return bound


def _beyond_margin(said: object, row: Quantity | None) -> Bound | str:
    if said is None:
        return NO_MARGIN
    if not isinstance(said, int | float):
        return NOT_ONE_NUMBER
    if row is None or row.no_effect is None:
        return NO_COMPARISON
    if row.better not in ("up", "down"):
        return NO_BETTER_SIDE
    up = row.better == "up"
    if row.no_effect == 1:
        if said <= 1:
            return RATIO_MARGIN
        return Bound(low=1 / said) if up else Bound(high=said)
    if said < 0:
        return NEGATIVE
    nothing = row.no_effect
    return Bound(low=nothing - said) if up else Bound(high=nothing + said)


def _between(said: object, nothing: float | None) -> Bound | str:
    if said is None:
        return NO_MARGIN
    if nothing is None:
        return Bound(*sorted(said)) if isinstance(said, tuple) else NO_COMPARISON
    low, high = said if isinstance(said, tuple) else (said, said)
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    if not isinstance(said, tuple) and low > 0:
        low, high = (1 / low, high) if nothing == 1 else (nothing - low, nothing + high)
    return Bound(low, high) if low < nothing < high and (low > 0 or nothing != 1) else SIDES


def confirmatory(criterion: Endpoint) -> bool:
    """Whether a verdict is asked for: every hypothesis but estimation."""
    if criterion.hypothesis is None:
        return criterion.bound_or_margin is not None
    return criterion.hypothesis != "estimation"


def families(plan: Plan) -> list[FamilyOf]:
    """The families of the criteria that ask for a verdict, in the manifest's order; each alone without one.

    The rule is that of `families`, or one that the name of the family says ("fixed sequence", "Holm, main").
    """
    declared = {f.family: f for f in plan.families}
    members: dict[str, list[Criterion]] = {}
    for criterion in confirmatory_criteria(plan):
        name = (criterion.declared.multiplicity_family or "").strip()
        alone = not name or (name.casefold() in NO_FAMILY and name not in declared)
        members.setdefault(f"\0{criterion.name}" if alone else name, []).append(criterion)
    found = []
    for name, own in members.items():
        family = declared.get(name)
        if family is None:
            shown = "" if name.startswith("\0") else name
            found.append(FamilyOf(shown, _spelled(name), tuple(own)))
            continue
        graph = family.weights or {}, family.transitions or {}
        gate = family.after or (), family.opens_when == "any"
        found.append(FamilyOf(name, family.rule, tuple(own), family.alpha, *graph, *gate))
    return found


def as_they_open(families: Sequence[FamilyOf]) -> list[FamilyOf]:
    """The families, each behind all that it waits for.

    Raises
    ------
    ValueError : families wait for each other
    """
    left, found = list(families), []
    while left:
        waiting = {family.name for family in left}
        ready = [family for family in left if waiting.isdisjoint(family.after)]
        if not ready:
            raise ValueError(f"families that wait for each other: {', '.join(_circle(left))}")
        found += ready
        left = [family for family in left if not waiting.isdisjoint(family.after)]
    return found


def _circle(waiting: Sequence[FamilyOf]) -> list[str]:
    """The names of families that wait for each other, without those that only wait for them."""
    circle = list(waiting)
    while True:
        awaited = {name for family in circle for name in family.after}
        inner = [family for family in circle if family.name in awaited]
        if inner == circle:
            return [family.name for family in circle]
        circle = inner


def _spelled(name: str) -> Rule | None:
    return next((rule for word, rule in SPELLINGS if word in name.casefold()), None)


def unequal_alphas(family: FamilyOf) -> bool:
    """Whether a fixed sequence has members of different alphas, one-sided, and declares none for all."""
    if family.rule != "fixed sequence" or family.alpha is not None:
        return False
    one_sided = [member.alpha / member.sides for member in family.members]
    return not all(isclose(alpha, one_sided[0], rel_tol=1e-9) for alpha in one_sided)


def same_level(one: float, other: float) -> bool:
    """Whether two levels are one, rounding apart."""
    return isclose(one, other, abs_tol=1e-9)


def named(criteria: Iterable[Endpoint]) -> list[str]:
    return [criterion.endpoint for criterion in criteria]

"""What a declared criterion asks for: which way is better, where the bound lies, at which level."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isclose
from typing import Literal

from trustreport.plan import Endpoint, Plan

# Which way a quantity is better, by the last part of its result id: up, down, or towards one number. This is
# the only such table; a quantity that is absent (prevalence, similarity) has no better side.
UP = (
    "percent_agreement fleiss_kappa cohen_kappa light_kappa conger_kappa krippendorff_alpha gwet_ac1 "
    "weighted_concordance rater_accuracy label_accuracy actual_accuracy actual_accuracy_low_bound "
    "actual_accuracy_high_bound tp tn accuracy sensitivity specificity ppv npv f1 f1_negative mcc "
    "threat_score balanced_accuracy youden_j fowlkes_mallows lr_positive diagnostic_odds_ratio auc "
    "auc_group average_precision h_accuracy utility_yield net_benefit standardized_net_benefit "
    "weighted_utility arr rrr reader_estimate benefit mean_benefit arm_mean arm_difference rair rsr rbt "
    "rbod beneficial_switch_rate accuracy_change override_of_wrong_advice advice_accuracy advice_value "
    "advisory_value gici voi spr wpr pooled_performance prediction_interval period_change period_value "
    "standardised_change"
).split()
DOWN = (
    "fp fn lr_negative error_rate rr odds_ratio mean_seconds harmful_switch_rate "
    "override_of_right_advice brier ece ici e50 e90 emax eci gici_over gici_under heterogeneity "
    "false_alarm_rate missed_rate recall_rate failure_rate event_rate seconds"
).split()
TOWARDS = {
    "calibration_slope": 1.0,
    "oe_ratio": 1.0,
    "calibration_intercept": 0.0,
    "subgroup_difference": 0.0,
}

# Quantities that compare, with the value at which there is no effect; others end in "_difference".
NO_EFFECT = {
    "arr": 0.0,
    "rrr": 0.0,
    "benefit": 0.0,
    "mean_benefit": 0.0,
    "arm_difference": 0.0,
    "accuracy_change": 0.0,
    "period_change": 0.0,
    "standardised_change": 0.0,
    "mean_seconds": 0.0,
    "mean_confidence": 0.0,
    "rr": 1.0,
    "odds_ratio": 1.0,
}
# Quantities that are of an endpoint, and better the way that it is.
OF_ENDPOINT = (
    "reader_estimate benefit mean_benefit arm_mean arm_difference period_value period_change "
    "standardised_change"
).split()

NO_MEASURE = "no_measure"
NO_HYPOTHESIS = "no_hypothesis"
NO_MARGIN = "no_margin"
NEGATIVE = "negative_margin"
RATIO_MARGIN = "ratio_margin"
NOT_ONE_NUMBER = "not_one_number"
SIDES = "sides_of_margin"
NO_BETTER_SIDE = "no_better_side"
NO_COMPARISON = "no_comparison"

Rule = Literal["holm", "bonferroni", "fixed sequence", "co-primary", "none"]
# A family whose name says its rule needs no other declaration of it.
SPELLINGS: tuple[tuple[str, Rule], ...] = (
    ("holm", "holm"),
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


@dataclass(frozen=True, slots=True)
class FamilyOf:
    """Criteria judged together, in the manifest's order; `rule` is None where the manifest names none."""

    name: str
    rule: Rule | None
    members: tuple[Endpoint, ...]
    alpha: float | None = None


def quantity(criterion: Endpoint) -> str:
    """The last part of the result id that a criterion names."""
    return (criterion.measure or "").rpartition(".")[2]


def better(criterion: Endpoint) -> Literal["up", "down"] | float | None:
    """Which way the quantity of a criterion is better; a number where that is the best value."""
    name = quantity(criterion)
    if name in OF_ENDPOINT and criterion.of in DOWN:
        return "down"
    base = name.removesuffix("_difference")
    if name in TOWARDS or base in TOWARDS:
        return TOWARDS.get(name, 0.0)
    return "up" if base in UP or name in UP else "down" if base in DOWN or name in DOWN else None


def no_effect(criterion: Endpoint) -> float | None:
    """The value at which the compared are alike; None where the quantity compares nothing."""
    name = quantity(criterion)
    if name == "mean_seconds" and isinstance(criterion.arm_or_contrast, str):
        return None
    return NO_EFFECT.get(name, 0.0 if name.endswith("_difference") else None)


def sides(criterion: Endpoint) -> int:
    """One for a hypothesis with one bound and for each test of equivalence; two where declared."""
    if criterion.hypothesis in (None, "estimation"):
        return 2
    return criterion.sides or 1


def alpha_of(criterion: Endpoint, level: float) -> float:
    """The declared alpha; else that at which the interval has the level of the report."""
    return criterion.alpha or round((1 - level) / (3 - sides(criterion)), 12)


def level_of(criterion: Endpoint, alpha: float) -> float:
    """The level of the interval that is held against the bound: 1 - 2 alpha, 1 - alpha if two-sided."""
    return round(1 - alpha * (3 - sides(criterion)), 12)


def bound_of(criterion: Endpoint) -> Bound | str:
    """Where the interval of a criterion must lie, or the word for why that is not known.

    A margin is a loss: it lies on the worse side of no effect. Margins of equivalence lie on either side; one
    number stands for both (m and -m, of a ratio m and 1 / m).
    """
    said, way, nothing = criterion.bound_or_margin, better(criterion), no_effect(criterion)
    match criterion.hypothesis:
        case None:
            return NO_HYPOTHESIS
        case "superiority":
            said = nothing if said is None or (nothing == 1 and said == 0) else said
        case "equivalence":
            return _between(said, nothing)
        case "performance goal" if isinstance(said, tuple):
            return Bound(*sorted(said))
        case "non-inferiority":
            return _beyond_margin(said, way, nothing)
    if said is None:
        return NO_MARGIN
    if isinstance(said, tuple):
        return NOT_ONE_NUMBER
    if way not in ("up", "down"):
        return NO_BETTER_SIDE
    return Bound(low=said) if way == "up" else Bound(high=said)


def _beyond_margin(said: object, way: object, nothing: float | None) -> Bound | str:
    if said is None:
        return NO_MARGIN
    if not isinstance(said, int | float):
        return NOT_ONE_NUMBER
    if nothing is None:
        return NO_COMPARISON
    if way not in ("up", "down"):
        return NO_BETTER_SIDE
    if nothing == 1:
        if said <= 1:
            return RATIO_MARGIN
        return Bound(high=said) if way == "down" else Bound(low=1 / said)
    if said < 0:
        return NEGATIVE
    return Bound(low=-said) if way == "up" else Bound(high=said)


def _between(said: object, nothing: float | None) -> Bound | str:
    if said is None:
        return NO_MARGIN
    if nothing is None:
        return Bound(*sorted(said)) if isinstance(said, tuple) else NO_COMPARISON
    low, high = said if isinstance(said, tuple) else (said, said)
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    if not isinstance(said, tuple) and low > 0:
        low = 1 / low if nothing == 1 else -low
    return Bound(low, high) if low < nothing < high and (low > 0 or nothing == 0) else SIDES


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
    members: dict[str, list[Endpoint]] = {}
    for criterion in filter(confirmatory, plan.endpoints):
        name = (criterion.multiplicity_family or "").strip()
        alone = not name or (name.casefold() in NO_FAMILY and name not in declared)
        members.setdefault(f"\0{criterion.endpoint}" if alone else name, []).append(criterion)
    found = []
    for name, own in members.items():
        family = declared.get(name)
        rule = family.rule if family else _spelled(name)
        shown = "" if name.startswith("\0") else name
        found.append(FamilyOf(shown, rule, tuple(own), family.alpha if family else None))
    return found


def _spelled(name: str) -> Rule | None:
    return next((rule for word, rule in SPELLINGS if word in name.casefold()), None)


def family_alpha(family: FamilyOf, level: float) -> float:
    """The alpha that a family shares: declared for it, else the smallest of its members."""
    return family.alpha or min(alpha_of(member, level) for member in family.members)


def same_level(one: float, other: float) -> bool:
    """Whether two levels are one, rounding apart."""
    return isclose(one, other, abs_tol=1e-9)


def named(criteria: Iterable[Endpoint]) -> list[str]:
    """The names of criteria."""
    return [criterion.endpoint for criterion in criteria]

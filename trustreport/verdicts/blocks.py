"""Which blocks of the register withhold the verdict on a result."""

from collections.abc import Iterable
from math import isnan

from trustreport.finding import CheckOutcome
from trustreport.results import Result

# Keys of a scope that say of which data a number is; one that names a part holds for that part alone.
DATA = ("set", "task", "dataset", "period")
PART = ("subgroup", "site", "reader", "candidate", "arm")
SCORES = ("advice_accuracy", "advice_value", "candidates", "potential_robustness", "subgroups", "vigilance")
READINGS = ("pragmatic_utility", "decision_benefit", "reliance", "subgroups")
# What depends on the operating point: everything that counts decisions of the device.
DECISIONS = (
    "tp fp fn tn accuracy sensitivity specificity ppv npv f1 f1_negative mcc threat_score balanced_accuracy "
    "youden_j fowlkes_mallows lr_positive lr_negative diagnostic_odds_ratio cohen_kappa utility_yield "
    "alarm_rate false_alarm_rate missed_rate recall_rate"
).split()
EVERYTHING = ("*",)
# Dimensions whose numbers a block concerns; one that is not named here concerns those of its own dimension.
# The candidates count what was left out as errors, so P03 is not about them.
CONCERNS: dict[str, tuple[str, ...]] = {
    "P01": ("advice_accuracy", "candidates", "reported"),
    "P03": ("advice_accuracy", "advice_value", "potential_robustness", "subgroups", "vigilance"),
    "P04": SCORES,
    "P09": EVERYTHING,
    "P10": EVERYTHING,
    "P12": EVERYTHING,
    "P13": EVERYTHING,
    "P20": READINGS,
    "P33": SCORES,
    "P37": EVERYTHING,
    "P39": EVERYTHING,
    "P48": EVERYTHING,
    "P49": EVERYTHING,
    "P59": EVERYTHING,
    "P61": EVERYTHING,
}
# The lock is looked at criterion by criterion (`trustreport.lock.exploratory`).
OF_CRITERIA = ("P34", "P35")


def blocking(result: Result, checks: Iterable[CheckOutcome]) -> list[CheckOutcome]:
    """The blocks that fired and concern a result, each check once, in the order of the register."""
    found: dict[str, CheckOutcome] = {}
    for outcome in checks:
        blocks = outcome.severity == "B" and outcome.status == "fired" and outcome.check not in OF_CRITERIA
        if blocks and _concerns(outcome, result):
            found.setdefault(outcome.check, outcome)
    return list(found.values())


def _concerns(outcome: CheckOutcome, result: Result) -> bool:
    dimension, _, quantity = result.id.partition(".")
    if outcome.measures and result.id not in outcome.measures:
        return False
    if outcome.check == "P07" and not isnan(result.estimate.value):
        return False
    if outcome.check == "P33" and quantity.removesuffix("_difference") not in DECISIONS:
        return False
    own = (outcome.dimension,)
    of = CONCERNS.get(outcome.check, own)
    if of is not EVERYTHING and dimension not in of and dimension not in own:
        return False
    return _same_place(outcome, result)


def _same_place(outcome: CheckOutcome, result: Result) -> bool:
    for key in DATA:
        if key in outcome.scope and key in result.scope and outcome.scope[key] != result.scope[key]:
            return False
    named = [key for key in DATA if key in outcome.scope]
    # A result of all data rests on that of which the block speaks, if they are of one kind.
    silent = named and not any(key in result.scope for key in named)
    if silent and not result.id.startswith(f"{outcome.dimension}."):
        return False
    pair = list(result.scope.get("candidates", ()))
    for key in PART:
        said = outcome.scope.get(key)
        among = key == "candidate" and said in pair
        if said is not None and result.scope.get(key) != said and not among:
            return False
    both = list(outcome.scope.get("candidates", ()))
    return not both or sorted(both) == sorted(pair) or result.scope.get("candidate") in both

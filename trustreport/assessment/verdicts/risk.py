"""Acceptance limits from risk: likelihood ratios that move a declared risk far enough."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan, log10, nan

from trustreport.assessment.verdicts.entries import entry
from trustreport.assessment.verdicts.verdict import RiskLimit
from trustreport.measures.confusion.counts import (
    least_pair,
    ratio_needed,
    sensitivity_needed,
    specificity_needed,
)
from trustreport.study.criteria import Bound
from trustreport.study.plan import Endpoint, Plan, RiskLimits
from trustreport.study.study import Study
from trustreport.vocabulary.digits import Rounded, as_declared, clear_of, rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

POSITIVE, NEGATIVE = "lr_positive", "lr_negative"
WITHOUT = {"of": None, "metric": None, "bins": None, "tau": None, "against": None}
# Words of a limit that an interval was compared with.
COMPARED = {"pass": "met", "fail": "not_met", "inconclusive": "undecided"}


@dataclass(frozen=True, slots=True)
class NeededRatio:
    """A likelihood ratio that a declared risk asks for; `bound` is where its interval must lie."""

    name: str
    after: float
    needed: float
    bound: Bound


def needed_ratios(risk: RiskLimits) -> list[NeededRatio]:
    """The likelihood ratios needed for the declared risks after a result."""
    found = []
    if risk.after_positive is not None:
        needed = ratio_needed(risk.pre_test, risk.after_positive)
        found.append(NeededRatio(POSITIVE, risk.after_positive, needed, Bound(low=needed)))
    if risk.after_negative is not None:
        needed = ratio_needed(risk.pre_test, risk.after_negative)
        found.append(NeededRatio(NEGATIVE, risk.after_negative, needed, Bound(high=needed)))
    return found


def needed_rates(risk: RiskLimits) -> dict[str, float]:
    """The sensitivity or specificity needed where the other is given; both from both ratios alone."""
    ratios = {one.name: one.needed for one in needed_ratios(risk)}
    both = ratios.get(POSITIVE, nan), ratios.get(NEGATIVE, nan)
    found = {}
    if risk.specificity is not None:
        found["sensitivity"] = sensitivity_needed(risk.specificity, *both)
    if risk.sensitivity is not None:
        found["specificity"] = specificity_needed(risk.sensitivity, *both)
    if not found and not any(map(isnan, both)):
        found = dict(zip(("sensitivity", "specificity"), least_pair(*both)))
    return found


def ratio_entry(
    criterion: Endpoint, name: str, study: Study, plan: Plan, results: Sequence[Result]
) -> Result | Message:
    """The likelihood ratio at the place that a criterion names: of its dimension, else of any."""
    dimension = (criterion.measure or "").rpartition(".")[0]
    found: Result | Message = say("verdicts.reason.no_result", measure=name)
    for measure in dict.fromkeys((f"{dimension}.{name}" if dimension else name, name)):
        found = entry(criterion.model_copy(update={**WITHOUT, "measure": measure}), study, plan, results)
        if isinstance(found, Result):
            break
    return found


def limit(
    criterion: Endpoint, one: NeededRatio, found: Result | None, word: str, reason: Message
) -> RiskLimit:
    """A needed ratio beside the one that was measured, and what is said of it."""
    risk = criterion.risk
    assert risk is not None
    places = 1 - floor(log10(one.needed))
    values = {"before": _percent(risk.pre_test), "after": _percent(one.after)}
    if found is None or word not in COMPARED:
        outcome = say("verdicts.risk.not_assessable", reason=reason)
    else:
        e = found.estimate
        places = clear_of(max(places, found.places), (e.low, e.high), one.needed)
        e = rounded(e, places)
        shown = {"value": e.value, "low": e.low, "high": e.high, "level": e.level}
        outcome = say(f"verdicts.risk.{COMPARED[word]}", **shown)
    text = say(
        f"verdicts.risk.{one.name}", needed=Rounded(one.needed, max(places, 1)), outcome=outcome, **values
    )
    return RiskLimit(one.name, one.after, one.needed, word, found, text)


def rates_in_words(risk: RiskLimits) -> Iterator[Message]:
    """What the limits ask of sensitivity and specificity."""
    needed = needed_rates(risk)
    if len(needed) == 2 and risk.sensitivity is None and risk.specificity is None:
        yield say("verdicts.risk.both", **{name: _at_least(value) for name, value in needed.items()})
        return
    for name, value in needed.items():
        other = risk.specificity if name == "sensitivity" else risk.sensitivity
        assert other is not None
        key = f"verdicts.risk.{name}" + ("" if value <= 1 else "_beyond")
        yield say(key, given=_percent(other), needed=_at_least(value))


def _percent(share: float) -> Message:
    return say("verdicts.amount.proportion", value=as_declared(share, 2))


def _at_least(share: float) -> Message:
    """A least share with one decimal of its percentage, rounded up: what is printed is enough."""
    return say("verdicts.amount.proportion", value=Rounded(max(ceil(round(share * 1000, 6)), 0) / 1000, 3))

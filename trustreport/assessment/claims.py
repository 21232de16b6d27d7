"""Declared figures held against the results: what the data give where somebody printed a number."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import Literal

from trustreport.assessment.narrative.texts import quantity_name
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import clopper_pearson, wald
from trustreport.measures.reported.printed import CELLS, Declared, declared, metric_named, says_not_defined
from trustreport.study.plan import Claim, Plan
from trustreport.vocabulary.digits import Rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ACCURACY = "advice_accuracy"
# Keys of the place of an entry that a claim can mean; one of a reader or a group is of something else.
ORDINARY = {"set", "dataset", "arm", "arms", "task", "candidate"}
TOTALS = {"positives": "positives", "negatives": "negatives", "total": "n", "cases": "n"}
# Intervals of claims are taken as of this level, which is what publications print.
LEVEL = 0.95

_OVER_CLASSES = re.compile(r"(macro|weighted)[ _-]+(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One declared figure, or interval, beside what the results give; `recomputed` says it in words."""

    place: Place
    measure: Message | str
    printed: Message
    kind: Literal["value", "interval", "total"]
    agrees: bool
    recomputed: Message
    item: Message = field(repr=False)


def as_printed(figure: str) -> Message:
    """A declared figure with its digits as printed, and with the decimal sign of the report's language."""
    return say("claims.printed", value=figure)


def as_observed(figure: str, r: Result) -> Message:
    """A declared share as per cent, as the number beside it is written; anything else as it was printed."""
    said = declared(figure)
    if said is None or r.unit != "proportion":
        return as_printed(figure)
    said = said.as_share(share=True)
    value, places = (said.value / 100, said.places + 2) if said.percent else (said.value, said.places)
    return say("verdicts.amount.proportion", value=Rounded(value, max(places, 2)))


def claim_checks(plan: Plan, results: Sequence[Result]) -> list[ClaimCheck]:
    """Every declared figure that the results can speak of; the others are left out."""
    claims = [claim for claim in plan.performance_claims or () if not elsewhere(claim, plan)]
    return [one for claim in claims for one in _checks_of_claim(claim, plan, results)]


def elsewhere(claim: Claim, plan: Plan) -> bool:
    """Whether a claim is about other cases than these: then nobody can recompute it here.

    So are claims of a candidate, and in a procurement review those that name their population, unless they
    name a set of this study.
    """
    if claim.dataset is not None or claim.set is not None:
        return False
    return claim.candidate is not None or (plan.report.kind == "procurement" and claim.population is not None)


def latest(claim: Claim, periods: Sequence[str], results: Sequence[Result]) -> tuple[str, Result] | None:
    """The same quantity in the last of the periods that has it with an interval, and the name of that period.

    None for a claim about that period itself, and where no period gives the quantity.
    """
    for period in reversed(periods):
        entries = _entries(claim.model_copy(update={"dataset": period, "set": None}), results)
        lead = next((r for r in entries if r.primary), entries[0] if entries else None)
        if lead is not None and not isnan(lead.estimate.low):
            return None if claim.dataset == period else (period, lead)
    return None


def inside(claim: Claim, result: Result) -> bool | None:
    """Whether a declared figure lies in the interval of a result; None where it is no number."""
    value = claimed(claim, share=result.unit in ("proportion", "difference"))
    return None if value is None else result.estimate.low <= value <= result.estimate.high


def claimed(claim: Claim, *, share: bool) -> float | None:
    """The number that is claimed, a percentage as a share; None where it is no number."""
    said = declared(claim.value)
    if said is None:
        return None
    said = said.as_share(share=share)
    return said.value / 100 if said.percent else said.value


def observed(claim: Claim, e: Estimate) -> Literal["below", "above", "within"] | None:
    """Whether the interval of a share is below a claimed one, above it or includes it."""
    value = claimed(claim, share=True)
    if value is None or isnan(e.low):
        return None
    return "below" if e.high < value else "above" if e.low > value else "within"


def tables(results: Iterable[Result]) -> dict[Place, ConfusionCounts]:
    """The table of counts of each set, or data set and candidate, as its four cells stand in the results."""
    cells: dict[Place, dict[str, int]] = {}
    for r in results:
        name = r.id.removeprefix(f"{ACCURACY}.")
        known = name in CELLS and not isnan(r.estimate.value)
        if known and r.scope.keys() <= {"set", "dataset", "candidate"}:
            cells.setdefault(r.place, {})[name] = int(r.estimate.value)
    return {place: ConfusionCounts(**found) for place, found in cells.items() if len(found) == 4}


def _checks_of_claim(claim: Claim, plan: Plan, results: Sequence[Result]) -> Iterator[ClaimCheck]:
    over = _OVER_CLASSES.fullmatch(claim.measure.strip())
    total = TOTALS.get(claim.measure.strip().casefold())
    if total or over:
        found = [counts for place, counts in tables(results).items() if _there(claim, place)]
        if len(found) == 1 and total:
            yield from _total(claim, getattr(found[0], total))
        elif len(found) == 1 and over:
            yield from _over_classes(claim, found[0], over[1].casefold(), metric_named(over[2]))
        return
    entries = _entries(claim, results)
    if entries:
        yield _value(claim, entries)
        if claim.ci is not None and plan.report.confidence_level == LEVEL:
            yield from _interval(claim, entries)


def _there(claim: Claim, place: Place) -> bool:
    """Whether a place is where the claim says, as far as it says."""
    if claim.arm is not None and claim.arm not in (place.arm, *(place.arms or ())):
        return False
    return claim.set in (None, place.set) and claim.dataset in (None, place.dataset)


def _entries(claim: Claim, results: Sequence[Result]) -> list[Result]:
    """The entries for the quantity and place that are claimed; none where the claim could mean several."""
    name = claim.measure.strip()
    word = metric_named(name) or re.sub(r"[\s-]+", "_", name).casefold()
    found: dict[tuple[str, Place], list[Result]] = {}
    for r in results:
        named = r.id == name if "." in name else r.id.rpartition(".")[2] == word
        ordinary = r.place.scope.keys() <= ORDINARY and not (r.endpoint or r.parameters)
        if named and ordinary and _there(claim, r.place):
            found.setdefault((r.id, r.place), []).append(r)
    return next(iter(found.values())) if len(found) == 1 else []


def _place(claim: Claim) -> Place:
    return Place(set=claim.set, dataset=claim.dataset)


def _named(claim: Claim) -> Message | str:
    name = claim.measure.rpartition(".")[2]
    return quantity_name(metric_named(name) or name.casefold())


def _value(claim: Claim, entries: Sequence[Result]) -> ClaimCheck:
    lead = next((r for r in entries if r.primary), entries[0])
    share = lead.unit in ("proportion", "difference")
    computed = [r.estimate.value for r in entries]
    return _compared(claim, _named(claim), declared(claim.value), computed, lead.estimate, share=share)


def _compared(
    claim: Claim,
    measure: Message | str,
    said: Declared | None,
    computed: Sequence[float],
    lead: Estimate,
    *,
    share: bool,
) -> ClaimCheck:
    """A printed number, or a printed "not defined", beside the computed one."""
    undefined = isnan(lead.value)
    if said is None:
        agrees = undefined or not says_not_defined(claim.value)
        shown = _written(lead, Declared(0.0, 2, False))
    else:
        said = said.as_share(share=share)
        agrees = any(said.is_of(value) for value in computed)
        shown = _written(lead, said)
    words = {"measure": measure, "printed": as_printed(claim.value), "value": shown}
    item = say("claims.item_undefined" if undefined else "claims.item", **words)
    return ClaimCheck(_place(claim), measure, as_printed(claim.value), "value", agrees, shown, item)


def _written(e: Estimate, like: Declared) -> Message:
    """A computed number with one decimal more than the printed one."""
    if isnan(e.value):
        return say("claims.not_defined", reason=e.note or "0/0")
    return _number(e.value, like)


def _number(value: float, like: Declared) -> Message:
    # One digit more than was printed, whatever the number itself would have.
    shown = float(value)
    return say("claims.percent" if like.percent else "claims.number", value=shown, places=like.places + 1)


def _interval(claim: Claim, entries: Sequence[Result]) -> Iterator[ClaimCheck]:
    """A printed interval is right where any method that is computed here gives it."""
    assert claim.ci is not None
    ends = [declared(text) for text in claim.ci]
    limits = [(r.estimate.low, r.estimate.high) for r in entries]
    limits += [
        (e.low, e.high)
        for r in entries
        if r.dimension == ACCURACY and r.quantity.clustered == "cluster_wilson" and isfinite(r.estimate.value)
        for e in _of_a_share(r.estimate)
    ]
    limits = [pair for pair in limits if not any(map(isnan, pair))]
    if ends[0] is None or ends[1] is None or not limits:
        return
    share = entries[0].unit in ("proportion", "difference")
    low, high = (end.as_share(share=share) for end in ends if end is not None)
    cut = [(max(a, 0.0), min(b, 1.0)) for a, b in limits] if share else []
    agrees = any(low.is_of(a) and high.is_of(b) for a, b in (*limits, *cut))
    lead = next((r.estimate for r in entries if r.primary), entries[0].estimate)
    a, b = limits[0] if isnan(lead.low) or isnan(lead.high) else (lead.low, lead.high)
    ends_said = {"low": as_printed(claim.ci[0]), "high": as_printed(claim.ci[1])}
    shown = say("word.to", low=_number(a, low), high=_number(b, high))
    measure, printed = _named(claim), say("word.to", **ends_said)
    item = say("claims.item_interval", measure=measure, value=shown, **ends_said)
    yield ClaimCheck(_place(claim), measure, printed, "interval", agrees, shown, item)


def _of_a_share(e: Estimate) -> list[Estimate]:
    """The other usual intervals of a share of counted cases."""
    x = round(e.value * e.n)
    return [wald(x, e.n), clopper_pearson(x, e.n)] if e.n and abs(x / e.n - e.value) < 1e-9 else []


def _total(claim: Claim, computed: int) -> Iterator[ClaimCheck]:
    """A number of cases, against what the cells add up to."""
    said = declared(claim.value)
    if said is None:
        return
    apart = abs(int(said.value) - computed)
    word = "total" if claim.measure.casefold() in ("total", "cases") else claim.measure.casefold()
    measure = say(f"claims.total.{word}")
    shown = say("claims.count", value=computed)
    printed = as_printed(claim.value)
    item = say("claims.item_total", measure=measure, printed=printed, value=shown, apart=apart)
    yield ClaimCheck(_place(claim), measure, printed, "total", apart == 0, shown, item)


def _over_classes(
    claim: Claim, counts: ConfusionCounts, kind: str, metric: str | None
) -> Iterator[ClaimCheck]:
    """The mean of a measure over both classes, each in turn looked for; or weighted by their sizes."""
    if metric not in MEASURES:
        return
    both = counts, counts.swapped()
    try:
        values = [MEASURES[metric].formula(c.tp, c.fp, c.fn, c.tn) for c in both]
        weights = [c.positives for c in both] if kind == "weighted" else [1, 1]
        value = sum(v * w for v, w in zip(values, weights)) / sum(weights)
    except ZeroDivisionError:
        value = nan
    measure = say(f"claims.{kind}", measure=quantity_name(metric))
    lead = Estimate(value, nan, nan, counts.n)
    yield _compared(claim, measure, declared(claim.value), [value], lead, share=True)

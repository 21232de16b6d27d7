"""Every number of reliance, from counts per pattern or from readings with advice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.mrmc.clustered import Clustering, clustered_difference
from trustreport.measures.paired.difference import tango
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import wilson
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import clustered_share
from trustreport.measures.reliance.patterns import PATTERNS, RATES, pattern_counts, patterns, rate
from trustreport.measures.reliance.tertiles import tertiles
from trustreport.plan import Plan, RelianceCounts
from trustreport.results import Result, answers
from trustreport.study import Binary, Floats, Readings

ID = "reliance"
# Arrays of two arms hold the compared arm first, then its baseline.
AIDED, UNAIDED = 0, 1
CLUSTERED: Clustering = "cluster_twoway_t"
Of = Literal["both", "aided", "unaided", "advice"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A rate of the measures as an entry of results.json: its id, of which arm, after which advice."""

    rate: str
    id: str
    of: Of = "both"
    advice: Literal["", "right", "wrong"] = ""

    def scope(self, scope: Mapping[str, Any], arms: tuple[str, str]) -> dict[str, Any]:
        """The scope of its entries; a published set of counts is of both arms without saying so."""
        here = dict(scope)
        if self.of in ("aided", "unaided"):
            here["arm"] = arms[AIDED] if self.of == "aided" else arms[UNAIDED]
        elif self.of == "both" and "set" not in scope:
            here["arms"] = list(arms)
        if self.advice:
            here["parameters"] = {"advice": self.advice}
        return here


ASKED = (
    Asked("rair", "rair"),
    Asked("rsr", "rsr"),
    Asked("rbod", "rbod"),
    Asked("rbt", "rbt"),
    Asked("harmful_switch_rate", "harmful_switch_rate"),
    Asked("beneficial_switch_rate", "beneficial_switch_rate"),
    Asked("switch_rate", "switch_rate"),
    Asked("override_rate", "override_rate", "aided"),
    Asked("agreement_unaided", "agreement_with_advice", "unaided"),
    Asked("agreement_aided", "agreement_with_advice", "aided"),
    Asked("override_of_right_advice", "override_rate", "aided", "right"),
    Asked("override_of_wrong_advice", "override_rate", "aided", "wrong"),
    Asked("accuracy_of_advice", "advice_accuracy", "advice"),
    Asked("accuracy_unaided_right_advice", "accuracy", "unaided", "right"),
    Asked("accuracy_aided_right_advice", "accuracy", "aided", "right"),
    Asked("accuracy_unaided_wrong_advice", "accuracy", "unaided", "wrong"),
    Asked("accuracy_aided_wrong_advice", "accuracy", "aided", "wrong"),
)
# Counts alone are all that is known of a published set; of readings, decision benefit tells the accuracy.
ASKED_OF_COUNTS = (
    *ASKED,
    Asked("accuracy_unaided", "accuracy", "unaided"),
    Asked("accuracy_aided", "accuracy", "aided"),
)
EACH_READER = ASKED[:10]
EACH_BAND = tuple(
    a for a in ASKED if a.rate in ("rair", "rsr", "rbod", "rbt", "switch_rate", "override_rate")
)
BANDS = {2: ("low", "high"), 3: ("low", "middle", "high")}


@dataclass(frozen=True, slots=True)
class Reliance:
    """What one published set or one task shows of reliance, with every result about it."""

    scope: Mapping[str, Any]
    arms: tuple[str, str]
    results: tuple[Result, ...]
    readers: tuple[str, ...] = ()
    sequential: bool = False

    @property
    def apart(self) -> bool:
        """Whether both decisions were made in readings of their own: then none was changed to the other.

        Of published counts it is not known; they are told as the publications tell them.
        """
        return "set" not in self.scope and not self.sequential

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return str(self.scope.get("set") or self.scope.get("task") or "")

    def find(self, rate: str, **more: Any) -> Result:
        """The leading entry of a rate; `more` names a reader or parameters."""
        asked = next(a for a in ASKED_OF_COUNTS if a.rate == rate)
        scope = {**asked.scope(self.scope, self.arms), **more}
        return self.one(asked.id, scope)

    def one(self, quantity: str, scope: Mapping[str, Any]) -> Result:
        """The leading entry of exactly this scope, whatever the analysis."""
        for r in self.results:
            here = {key: value for key, value in r.scope.items() if key != "analysis"}
            if r.primary and r.id == f"{ID}.{quantity}" and here == scope:
                return r
        raise LookupError(f"no leading entry of {quantity} in {scope}")

    def count(self, pattern: str) -> int:
        """Readings of a pattern."""
        return int(self._counts()[pattern].estimate.value)

    def _counts(self) -> dict[str, Result]:
        found = (r for r in self.results if r.id == f"{ID}.switch_count")
        return {r.scope["parameters"]["pattern"]: r for r in found}

    @property
    def n(self) -> int:
        """Readings with a pattern."""
        return self._counts()[PATTERNS[0]].estimate.n

    @property
    def bands(self) -> dict[str, tuple[float, float]]:
        """Bands of the readers' own confidence, with the range of each."""
        found = (r for r in self.results if "confidence" in r.scope.get("parameters", {}))
        return {r.scope["parameters"]["confidence"]: (r.details["from"], r.details["to"]) for r in found}


# ---------------------------------------------------------------- published counts


def from_counts(counts: RelianceCounts, arms: tuple[str, str], level: float) -> Reliance:
    """A published table of the eight patterns; who read what is not known."""
    scope = {"set": counts.set}
    given = {p: int(getattr(counts, f"n{p}")) for p in PATTERNS}
    results = _switch_counts(scope, given, level)
    for asked in ASKED_OF_COUNTS:
        here = asked.scope(scope, arms)
        results += answers(f"{ID}.{asked.id}", here, [rate(given, asked.rate, level)], leads="wilson")
    for advice in ("", "right", "wrong"):
        here = {**scope, "arms": list(arms), "endpoint": "accuracy"}
        here |= {"parameters": {"advice": advice}} if advice else {}
        change = [tango(_paired(given, advice), level)]
        results += answers(f"{ID}.accuracy_change", here, change, leads="tango", unit="difference")
    return Reliance(scope, arms, tuple(results))


def _switch_counts(scope: Mapping[str, Any], counts: Mapping[str, int], level: float) -> list[Result]:
    n = sum(counts.values())
    results = []
    for pattern, count in counts.items():
        here = {**scope, "parameters": {"pattern": pattern}}
        estimate = Estimate(count, count, count, n, level, "count")
        results += answers(f"{ID}.switch_count", here, [estimate], leads="count", unit="count")
    return results


def _paired(counts: Mapping[str, int], advice: str) -> PairedTable:
    """Decisions before and after by being right, after right advice, wrong advice or any."""
    told = {"": "01", "right": "1", "wrong": "0"}[advice]

    def among(before: str, after: str) -> int:
        return sum(counts[before + a + after] for a in told)

    return PairedTable(among("1", "1"), among("0", "1"), among("1", "0"), among("0", "0"))


# ---------------------------------------------------------------- readings with advice


def advice_of(readings: Readings, plan: Plan) -> Binary | None:
    """What the model advised at each reading: as stored, or its score against the declared threshold."""
    if readings.advice is not None:
        return readings.advice
    score, threshold = readings.advice_score, plan.operating_point.threshold
    if score is None or threshold is None:
        return None
    below = plan.operating_point.score_direction == "lower_is_positive"
    positive = score <= threshold if below else score >= threshold
    return np.where(np.isnan(score), -1, positive).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Grids:
    """Readings laid out as (n_readers, n_cases); NaN where unknown.

    `patterns` needs both decisions, advice and truth; `outcomes` holds each rate of the measures, those of
    disagreement from the decisions themselves, so that they need no truth.
    """

    patterns: Floats
    outcomes: Mapping[str, Floats]
    correct: Floats
    advice_right: Floats
    truth: Binary
    confidence: Floats

    def lacking(self, rate: str) -> str:
        """Why a rate is undefined where no reading belongs to its base."""
        return notes.NO_READING if np.isnan(self.patterns).all() else RATES[rate].lacking


def grids(readings: Readings, arms: tuple[str, str], advice: Binary) -> Grids:
    """Lay out one contrast of a task; the advice is that of the aided reading."""
    decision, told = (
        _both(readings, np.where(column >= 0, column, np.nan), arms)
        for column in (_decisions(readings), advice)
    )
    advised = told[AIDED]
    truth = np.where(readings.cases.truth >= 0, readings.cases.truth, np.nan)
    correct, advice_right = _same(decision, truth), _same(advised, truth)
    codes = patterns(correct[UNAIDED], advice_right, correct[AIDED])
    outcomes = {name: which.of(codes) for name, which in RATES.items()}
    agrees = {name: _same(decision[arm], advised) for name, arm in (("aided", AIDED), ("unaided", UNAIDED))}
    outcomes |= {f"agreement_{name}": grid for name, grid in agrees.items()}
    outcomes["override_rate"] = 1 - agrees["aided"]
    outcomes["override_of_right_advice"] = np.where(advice_right == 1, 1 - agrees["aided"], np.nan)
    outcomes["override_of_wrong_advice"] = np.where(advice_right == 0, 1 - agrees["aided"], np.nan)
    outcomes["switch_rate"] = np.where(agrees["unaided"] == 0, agrees["aided"], np.nan)
    outcomes["accuracy_of_advice"] = advice_right
    confidence = np.full(codes.shape, np.nan)
    if readings.confidence is not None:
        confidence = np.where(np.isnan(codes), np.nan, _both(readings, readings.confidence, arms)[UNAIDED])
    return Grids(codes, outcomes, correct, advice_right, readings.cases.truth, confidence)


def _decisions(readings: Readings) -> Binary:
    assert readings.decision is not None
    return readings.decision


def _both(readings: Readings, values: NDArray[Any], arms: tuple[str, str]) -> Floats:
    """Both arms laid out; one that the task lacks is empty."""
    there = [arm for arm in arms if arm in readings.arms]
    out = np.full((2, len(readings.readers), len(readings.cases)), np.nan)
    out[[arms.index(arm) for arm in there]] = readings.grid(values, there)
    return out


def _same(a: Floats, b: Floats) -> Floats:
    """1.0 where both are known and equal, 0.0 where unequal, NaN where one is unknown."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a == b).astype(np.float64))


def from_readings(
    readings: Readings, arms: tuple[str, str], advice: Binary, level: float, *, scope: Mapping[str, Any]
) -> Reliance:
    """Pooled over readers with readers and cases sampled, then by confidence and for each reader."""
    found = grids(readings, arms, advice)
    by_arms = {**scope, "arms": list(arms)}
    results = _switch_counts(by_arms, pattern_counts(found.patterns), level)
    for asked in ASKED:
        outcome = found.outcomes[asked.rate]
        results += _pooled(asked, asked.scope(scope, arms), outcome, found.lacking(asked.rate), level)
    results += _changes(by_arms, found, level)
    results += _by_confidence(scope, arms, found, level)
    names = {
        int(j): readings.readers.labels[int(j)]
        for j in np.flatnonzero(~np.isnan(found.outcomes["override_rate"]).all(axis=1))
    }
    for j, name in names.items():
        for asked in EACH_READER:
            here = {**asked.scope(scope, arms), "reader": name}
            own = _wilson(found.outcomes[asked.rate][j], found.lacking(asked.rate), level)
            results += answers(f"{ID}.{asked.id}", here, [own], leads="wilson")
    return Reliance(scope, arms, tuple(results), tuple(names.values()), readings.sequential)


def _pooled(
    asked: Asked,
    scope: Mapping[str, Any],
    outcome: Floats,
    lacking: str,
    level: float,
    details: Mapping[str, float] | None = None,
) -> list[Result]:
    """Clustered, and as commonly published taken as independent; the clustered one leads where it can."""
    clustered = clustered_share(outcome, level=level, lacking=lacking)
    independent = _wilson(outcome, lacking, level)
    alone = clustered.n > 0 and isnan(clustered.low)
    if alone:
        independent = replace(independent, note=notes.ONLY_THESE)
    id, known = f"{ID}.{asked.id}", dict(details or {})
    return [
        Result(id, {**scope, "analysis": "clustered"}, clustered, primary=not alone, details=known),
        Result(id, scope, independent, primary=alone, details=known),
    ]


def _wilson(outcome: Floats, lacking: str, level: float) -> Estimate:
    based = ~np.isnan(outcome)
    if not based.any():
        return undefined(0, lacking, level=level, method="wilson")
    return wilson(int(outcome[based].sum()), int(based.sum()), level)


def _changes(scope: Mapping[str, Any], found: Grids, level: float) -> list[Result]:
    """Aided minus unaided share of right decisions after right and after wrong advice, also by class."""
    results = []
    everything = np.ones(len(found.truth), bool)
    classes = {"accuracy": everything, "sensitivity": found.truth == 1, "specificity": found.truth == 0}
    for advice, told in (("right", 1), ("wrong", 0)):
        for endpoint, cases in classes.items():
            here = {**scope, "endpoint": endpoint, "parameters": {"advice": advice}}
            codes = np.where((found.advice_right == told) & cases, found.patterns, np.nan)
            correct = np.where(np.isnan(codes), np.nan, found.correct)
            clustered = clustered_difference(
                correct, CLUSTERED, compared=AIDED, baseline=UNAIDED, level=level
            )
            paired = tango(_paired(pattern_counts(codes), advice), level)
            alone = clustered.n > 0 and isnan(clustered.low)
            if alone:
                paired = replace(paired, note=notes.ONLY_THESE)
            id = f"{ID}.accuracy_change"
            results += [
                Result(id, {**here, "analysis": "clustered"}, clustered, "difference", primary=not alone),
                Result(id, {**here, "analysis": "paired"}, paired, "difference", primary=alone),
            ]
    return results


def _by_confidence(
    scope: Mapping[str, Any], arms: tuple[str, str], found: Grids, level: float
) -> Iterator[Result]:
    """The rates within bands of the reader's confidence before the advice."""
    codes, ranges = tertiles(found.confidence)
    if len(ranges) < 2:
        return
    for band, (name, (lowest, highest)) in enumerate(zip(BANDS[len(ranges)], ranges)):
        for asked in EACH_BAND:
            here = {**asked.scope(scope, arms), "parameters": {"confidence": name}}
            outcome = np.where(codes == band, found.outcomes[asked.rate], np.nan)
            lacking = found.lacking(asked.rate)
            limits = {"from": lowest, "to": highest}
            yield from _pooled(asked, here, outcome, lacking, level, limits)

"""Pitfalls of external validation: small sets, similarity and robustness over-read, calibration forgotten."""

from collections.abc import Iterator
from math import isfinite, isnan

from trustreport.assessment.checks.check import TOO_FEW, Check, Evidence, Remark, data_of
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import ROWS, quantity
from trustreport.vocabulary.results import Result, leading

DIMENSION = "potential_robustness"
TWO_SITES = 2  # with so few the share of spread beyond chance says nothing
EDGES = (0.2, 0.4, 0.6, 0.8)


def _entries(evidence: Evidence, name: str, dimension: str = DIMENSION) -> Iterator[Result]:
    """The leading entries of a quantity, apart from those of cut-down sets and of sites within a set."""
    for r in evidence.leading(f"{dimension}.{name}"):
        if r.place.site is None and "subsample" not in r.parameters:
            yield r


def _same(result: Result) -> Place:
    """The data set and candidate of a result."""
    return Place(dataset=result.place.dataset, candidate=result.place.candidate)


def _roles(evidence: Evidence) -> dict[str, str]:
    return {d.name: d.role for d in evidence.study.datasets}


def below_minimum_size(evidence: Evidence) -> Iterator[Remark]:
    """P39: a set outside the training data with fewer cases than a measure needs.

    It concerns those measures alone: a set too small for the slope may be large enough for the area.
    """
    roles = _roles(evidence)
    by_set: dict[Place, list[Result]] = {}
    for row in ROWS:
        for r in _entries(evidence, row.id) if row.sizes else ():
            if roles.get(r.place.dataset or "") != "training" and "reached" in r.estimate.details:
                by_set.setdefault(_same(r), []).append(r)
    for place, needs in by_set.items():
        short = [r for r in needs if r.estimate.details["reached"] < 1]
        concerned = tuple(id for r in short for id in r.quantity.sizes)
        judged = bool(evidence.plan.endpoints)
        yield Remark(place, _too_small(short, judged=judged) if short else None, concerned)


def _sized(result: Result) -> str:
    return result.id.rpartition("mss_")[2]


def _too_small(short: list[Result], *, judged: bool) -> Message:
    details = short[0].estimate.details
    names = [
        say("checks.P39.need", measure=say(f"checks.P39.measure.{_sized(r)}"), n=r.estimate.value)
        for r in short
    ]
    return say(
        f"checks.P39.fired{'_judged' if judged else ''}",
        positive=say("checks.P39.positives", n=details["positives"]),
        negative=say("checks.P39.negatives", n=details["negatives"]),
        needs=names,
    )


def too_similar(evidence: Evidence) -> Iterator[Remark]:
    """P40: an external set that resembles the training data, or seems to by an index blind to what differs.

    An internal test set comes from where the training data come from, and a local one from where the model is
    to be used: that they resemble is as it should be.
    """
    roles = _roles(evidence)
    for r in _entries(evidence, "degree_of_correspondence"):
        similarity = r.estimate.value
        if roles.get(r.place.dataset or "") != "external" or isnan(similarity):
            continue
        message = None
        if similarity > evidence.limit("P40_similarity"):
            classifier = _effect(evidence, r, "domain_classifier")
            energy = leading(evidence.results, f"{DIMENSION}.energy_distance", dataset=r.place.dataset)
            p = energy.estimate.p if energy else float("nan")
            if classifier > evidence.limit("P40_classifier"):
                message = say("checks.P40.contradicted", similarity=similarity, p=p, classifier=classifier)
            else:
                message = say("checks.P40.fired", similarity=similarity)
        yield Remark(data_of(r), message)


def _effect(evidence: Evidence, of: Result, method: str) -> float:
    wanted = f"{DIMENSION}.similarity_effect"
    found = (r for r in evidence.results if r.id == wanted and r.method == method)
    return next((r.estimate.value for r in found if r.within(dataset=of.place.dataset)), float("nan"))


def driven_by_size(evidence: Evidence) -> Iterator[Remark]:
    """P41: similarity that is low only because the sets are large."""
    limit = evidence.limit("P41_similarity")
    for fixed in evidence.results:
        if fixed.id != f"{DIMENSION}.degree_of_correspondence" or "subsample" not in fixed.parameters:
            continue
        whole = [r for r in _entries(evidence, "degree_of_correspondence") if _same(r) == _same(fixed)]
        if not whole or isnan(whole[0].estimate.value) or isnan(fixed.estimate.value):
            continue
        similarity = whole[0].estimate.value
        sizes = {"n": whole[0].estimate.n, "size": fixed.parameters["subsample"]}
        effect, value = _effect(evidence, fixed, "influence"), fixed.estimate.value
        message = say("checks.P41.fired", similarity=similarity, fixed=value, effect=effect, **sizes)
        yield Remark(data_of(fixed), message if similarity < limit <= fixed.estimate.value else None)


def coarse_p(evidence: Evidence) -> Iterator[Remark]:
    """P42: a permutation p-value that is too coarse, at its floor, or too near the edge of a band."""
    for r in _entries(evidence, "degree_of_correspondence"):
        if not isnan(r.estimate.p):
            yield Remark(data_of(r), _coarse(r, evidence.limit("P42_p")))


def _coarse(r: Result, limit: float) -> Message | None:
    p, permutations = r.estimate.p, int(r.parameters["permutations"])
    floor = 1 / (permutations + 1)
    if floor > limit / 10:
        return say("checks.P42.coarse", permutations=permutations, floor=floor)
    if p <= floor * (1 + 1e-9) and floor >= 0.001:
        return say("checks.P42.fired", permutations=permutations, floor=floor)
    se = r.estimate.details.get("monte_carlo_se", 0.0)
    near = [edge for edge in EDGES if abs(p - edge) <= 2 * se]
    return say("checks.P42.edge", p=p, edge=near[0], se=se) if near else None


def robustness_over_read(evidence: Evidence) -> Iterator[Remark]:
    """P43: a high robustness score of a small set, or one that hangs on the number of splits."""
    limit = evidence.limit("P43_score")
    for strong in _entries(evidence, "spr"):
        if strong.endpoint not in ("", "auc") or strong.place.dataset is None:
            continue
        of_area = (r for r in _entries(evidence, "wpr") if r.endpoint == strong.endpoint)
        weak = next((r for r in of_area if _same(r) == _same(strong)), None)
        scores = [r.estimate.value for r in (strong, weak) if r is not None]
        if all(isnan(score) for score in scores):
            continue
        size = next((r for r in _entries(evidence, "mss_auc") if _same(r) == _same(strong)), None)
        small = size is not None and size.estimate.details.get("reached", 1.0) < 1
        said = []
        if strong.estimate.value >= limit and small:
            e = strong.estimate
            values = {"p": e.details["p_performance"], "difference": e.details["difference"]}
            said.append(say("checks.P43.strong", score=e.value, n=e.n, **values))
        if weak is not None and weak.estimate.value >= limit:
            splits = weak.estimate.details["splits"]
            if small or splits < evidence.limit("P43_splits"):
                said.append(say("checks.P43.weak", score=weak.estimate.value, n=weak.estimate.n, k=splits))
        message = say("checks.P43.both", first=said[0], second=said[1]) if len(said) == 2 else None
        yield Remark(data_of(strong), message or (said[0] if said else None))


def few_sets(evidence: Evidence) -> Iterator[Remark]:
    """P44: similarity and performance correlated over few sets."""
    for r in _entries(evidence, "similarity_performance_correlation"):
        if r.endpoint != evidence.plan.external_performance.discrimination:
            continue
        k = r.estimate.n
        sets = int(r.estimate.details.get("sets", k))
        if isnan(r.estimate.value):
            key, values = ("none", {"reason": r.estimate.note}) if k == sets else ("without", {"k": k})
            yield Remark(data_of(r), say(f"checks.P44.{key}", n=sets, **values))
        else:
            few = k < evidence.limit("P44_sets")
            yield Remark(data_of(r), say("checks.P44.fired", n=k) if few else None)


def ranks_but_not_calibrated(evidence: Evidence) -> Iterator[Remark]:
    """P45: a good area under the curve, with scores that cannot be used as probabilities."""
    limit = evidence.limit("P45_auc")
    for area in _entries(evidence, "auc", "advice_accuracy"):
        at = area.place
        if at.dataset is None or at.subgroup is not None or area.parameters or isnan(area.estimate.value):
            continue
        found = list(_unusable(evidence, area))
        fires = area.estimate.value >= limit and found
        message = say("checks.P45.fired", auc=area.estimate.value, what=found)
        yield Remark(data_of(area).narrowed(candidate=at.candidate), message if fires else None)


def _unusable(evidence: Evidence, area: Result) -> Iterator[Message]:
    """What makes the scores of a set unusable as probabilities."""
    for name in ("calibration_slope", "oe_ratio"):
        for r in _entries(evidence, name, "advice_value"):
            e = r.estimate
            if _same(r) == _same(area) and isfinite(e.low) and not e.low <= 1 <= e.high:
                yield say(f"checks.P45.{name}", value=e.value, low=e.low, high=e.high)
    threshold = evidence.plan.risk_threshold
    for r in _entries(evidence, "net_benefit", "advice_accuracy"):
        d = area.estimate.details
        if _same(r) != _same(area) or r.place.threshold != threshold or not threshold:
            continue
        if r.parameters:  # the net benefit of acting on everybody, not that of the scores
            continue
        prevalence = d["positives"] / (d["positives"] + d["negatives"])
        everybody = prevalence - (1 - prevalence) * threshold / (1 - threshold)
        if threshold < 1 and r.estimate.value <= max(everybody, 0.0):
            key = "treat_all" if everybody > 0 else "treat_none"
            values = {"value": r.estimate.value, "other": max(everybody, 0.0)}
            yield say(f"checks.P45.{key}", threshold=threshold, **values)


def binning(evidence: Evidence) -> Iterator[Remark]:
    """P46: a calibration value that changes with the number of bins."""
    by_set: dict[Place, dict[str, list[Result]]] = {}
    for name in ("ece", "gici"):
        for r in _entries(evidence, name, "advice_value"):
            if r.parameters.get("binning") == "equal_width" and not isnan(r.estimate.value):
                by_set.setdefault(_same(r), {}).setdefault(name, []).append(r)
    for of_set in by_set.values():
        first = next(iter(of_set.values()))[0]
        spread = {name: sorted(r.estimate.value for r in found) for name, found in of_set.items()}
        widest = max(spread, key=lambda name: spread[name][-1] - spread[name][0])
        low, high = spread[widest][0], spread[widest][-1]
        bins = sorted(r.parameters["bins"] for r in of_set[widest])
        values = {"low": low, "high": high, "fewest": bins[0], "most": bins[-1]}
        message = say("checks.P46.fired", measure=say(f"checks.P46.{widest}"), **values)
        of_scores = data_of(first).narrowed(candidate=first.place.candidate)
        yield Remark(of_scores, message if high - low > evidence.limit("P46_range") else None)


def heterogeneous_sites(evidence: Evidence) -> Iterator[Remark]:
    """P47: the average over sites passes a bound that a new site may not, or the sites differ much."""
    for pooled in _entries(evidence, "pooled_performance"):
        new, spread = (
            _same_sites(evidence, pooled, name) for name in ("prediction_interval", "heterogeneity")
        )
        metric, average = pooled.endpoint, pooled.estimate
        if new is None or spread is None or isnan(average.low) or average.n < TWO_SITES + 1:
            continue
        declared = _declared_bound(evidence, metric)
        bound = evidence.limit("P47_auc") if declared is None and metric == "auc" else declared
        values = {"measure": quantity_name(metric), "value": average.value, "low": new.low, "high": new.high}
        message = None
        known = not isnan(new.low)
        missed = bound is not None and _misses(new, bound, metric) and not _misses(average, bound, metric)
        if known and missed:
            source = say(f"checks.P47.{'default' if declared is None else 'declared'}")
            message = say("checks.P47.fired", bound=bound, source=source, **values)
        elif spread.value >= evidence.limit("P47_i2"):
            key = "fired_spread" if known else "fired_spread_alone"
            message = say(f"checks.P47.{key}", i2=spread.value, sites=average.n, **values)
        yield Remark(data_of(pooled), message, (metric,) if message else ())


def _same_sites(evidence: Evidence, pooled: Result, name: str) -> Estimate | None:
    """Another estimate over the same sites."""
    for r in _entries(evidence, name):
        if r.endpoint == pooled.endpoint and _over(r) == _over(pooled):
            return r.estimate
    return None


def _over(result: Result) -> Place:
    return result.place.narrowed(population=None)


def _misses(e: Estimate, bound: float, metric: str) -> bool:
    """Whether an interval reaches beyond a bound on the worse side."""
    return e.high > bound if quantity(metric).better == "down" else e.low < bound


def _declared_bound(evidence: Evidence, metric: str) -> float | None:
    """What a measure has to reach by the endpoint that names it."""
    for endpoint in evidence.plan.endpoints:
        bound, named = endpoint.bound_or_margin, (endpoint.measure or "").rpartition(".")[2]
        if not isinstance(bound, int | float) or quantity(metric).target is not None:
            continue
        if metric in (named, endpoint.of):
            return float(bound)
    return None


CHECKS = (
    Check("P39", DIMENSION, "B", below_minimum_size, withholds=TOO_FEW),
    Check("P40", DIMENSION, "W", too_similar, of_rows=True),
    Check("P41", DIMENSION, "W", driven_by_size, of_rows=True),
    Check("P42", DIMENSION, "N", coarse_p, of_rows=True),
    Check("P43", DIMENSION, "W", robustness_over_read, of_rows=True),
    Check("P44", DIMENSION, "W", few_sets),
    Check("P45", "advice_value", "W", ranks_but_not_calibrated),
    Check("P46", "advice_value", "N", binning),
    Check("P47", DIMENSION, "W", heterogeneous_sites),
)

"""Robustness scores of each set, and what holds over sets: correlation with similarity, heterogeneity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.measured import Judged
from trustreport.dimensions.potential_robustness.pairs import ID
from trustreport.dimensions.potential_robustness.sizes import Performance
from trustreport.estimate import Estimate, undefined
from trustreport.measures.robustness import (
    heterogeneity,
    p_acceptability,
    p_performance,
    similarity_performance_correlation,
    spr,
    wpr,
)
from trustreport.measures.roc.auc import area_and_variance
from trustreport.plan import Plan
from trustreport.results import Result, Unit, answers
from trustreport.study import Floats

NO_TRAINING_SCORES = "the training set has no scores: nothing to compare performance with"
NO_SPLITS = "no internal splits are declared"
OTHER_SPLITS = "internal splits are declared of a measure other than auc"
METRICS = ("auc", "net_benefit", "brier")
METRIC_IDS = {"auc": "auc", "net_benefit": "standardized_net_benefit", "brier": "brier"}


@dataclass(frozen=True, eq=False)
class Scored:
    """A set with scores: how it performs, and how alike it is to the training set (NaN where unknown)."""

    case: Judged
    reached: Performance
    similarity: float

    @property
    def external(self) -> bool:
        """Whether it comes from elsewhere."""
        return self.case.dataset.role == "external"


def training_scores(cases: Sequence[Judged], candidate: str | None) -> tuple[NDArray[np.bool_], Floats]:
    """Truth and scores of all training sets by one candidate."""
    own = [c for c in cases if c.dataset.role == "training" and c.scope.get("candidate") == candidate]
    if not own:
        return np.zeros(0, np.bool_), np.zeros(0)
    return np.concatenate([c.truth for c in own]), np.concatenate([c.score for c in own])


def score_results(one: Scored, training: tuple[NDArray[np.bool_], Floats], plan: Plan) -> list[Result]:
    """Strong and weak potential robustness, and the tests of performance that they are made of."""
    assert one.case.score is not None
    level, n = plan.report.confidence_level, len(one.case.truth)
    scope: dict[str, Any] = {**one.case.scope, "parameters": {"metric": "auc"}}
    area, variance, *_ = area_and_variance(one.case.truth, one.case.score)
    truth, score = training
    internal, spread, *_ = area_and_variance(truth, score) if truth.size else (nan, nan)
    tested = p_performance(area, variance, n, internal, spread, len(truth), level=level)
    if not truth.size:
        tested = undefined(n, NO_TRAINING_SCORES, level=level, method="delong")
    strong = spr(tested.p, one.similarity, n=n, level=level)
    if isnan(tested.p):
        strong = replace(strong, note=tested.note)
    splits = plan.internal_splits
    why = NO_SPLITS if splits is None or not splits.values else ""
    why = OTHER_SPLITS if splits and not why and splits.metric.lower() != "auc" else why
    if why or splits is None:
        accepted = undefined(n, why, level=level, method="delong")
    else:
        accepted = p_acceptability(area, variance, min(splits.values), n=n, level=level)
        accepted = replace(
            accepted,
            details={**accepted.details, "least": min(splits.values), "splits": float(len(splits.values))},
        )
    weak = wpr(accepted.p, one.similarity, n=n, level=level)
    weak = replace(weak, note=accepted.note if isnan(accepted.p) else weak.note)
    weak = replace(weak, details={**accepted.details, **weak.details})
    strong = replace(strong, details={**tested.details, **strong.details})
    found: tuple[tuple[str, Estimate, Unit], ...] = (
        ("p_performance", tested, "p"),
        ("p_acceptability", accepted, "p"),
        ("spr", strong, "score"),
        ("wpr", weak, "score"),
    )
    return [Result(f"{ID}.{name}", scope, estimate, unit, True) for name, estimate, unit in found]


def over_sets(scored: Sequence[Scored], scope: Mapping[str, Any], plan: Plan) -> list[Result]:
    """Over the external sets of one candidate: correlation with similarity, spread between sites."""
    level = plan.report.confidence_level
    sets = [one for one in scored if one.external]
    results = []
    for metric in METRICS:
        value = np.array([getattr(one.reached, metric).value for one in sets])
        similarity = np.array([one.similarity for one in sets])
        value = np.where(np.isfinite(value), value, nan)
        found = similarity_performance_correlation(similarity, value, level=level)
        here = {**scope, "parameters": {"metric": METRIC_IDS[metric]}}
        name = f"{ID}.similarity_performance_correlation"
        results += answers(name, here, [found], leads=found.method, unit="score")
    return results + _between_sites(sets, scope, plan)


def _between_sites(sets: Sequence[Scored], scope: Mapping[str, Any], plan: Plan) -> list[Result]:
    level = plan.report.confidence_level
    areas = [sites_of(one) for one in sets]
    known = [pair for of_set in areas for pair in of_set if isfinite(pair[1]) and pair[1] > 0]
    left_out = sum(len(of_set) for of_set in areas) - len(known)
    value, variance = (np.array(column) for column in (zip(*known) if known else ((), ())))
    found = heterogeneity(value, variance, scale="logit", level=level)
    here = {**scope, "parameters": {"metric": "auc", "scale": "logit"}}
    also = {"sites": float(len(known)), "sites_without_interval": float(left_out)}
    named: tuple[tuple[str, Estimate, Unit], ...] = (
        ("heterogeneity", found.i2, "proportion"),
        ("between_site_variance", found.tau2, "score"),
        ("pooled_performance", found.mean, "proportion"),
        ("prediction_interval", found.prediction_interval, "proportion"),
    )
    return [
        Result(f"{ID}.{name}", here, replace(e, details={**e.details, **also}), unit, True)
        for name, e, unit in named
    ]


def sites_of(one: Scored) -> list[tuple[float, float]]:
    """Area under the curve and its variance at each site of a set; of the set where it names none."""
    truth, score, site = one.case.truth, one.case.score, site_of_cases(one.case)
    assert score is not None
    parts = [np.ones(len(truth), bool)]
    if site is not None and len(np.unique(site)) > 1:
        parts = [site == code for code in np.unique(site)]
    return [area_and_variance(truth[of_site], score[of_site])[:2] for of_site in parts]


def site_of_cases(case: Judged) -> NDArray[np.int32] | None:
    """The site of each case that was judged; None where not every case has one."""
    sites = case.dataset.cases.site
    if sites is None:
        return None
    candidate = case.scope.get("candidate") or next(iter(case.dataset.scores))
    scores = case.dataset.scores[candidate]
    known = case.dataset.cases.truth >= 0
    if scores.score is not None:
        known = known & ~np.isnan(scores.score)
    if scores.decision is not None:
        known = known & (scores.decision >= 0)
    codes = sites.codes[known]
    return codes if len(codes) == len(case.truth) and (codes >= 0).all() else None


def found_in(results: Sequence[Result], name: str, **scope: Any) -> Estimate | None:
    """The leading estimate of a quantity in a scope, whatever was chosen."""
    for r in results:
        wanted = r.id == f"{ID}.{name}" and r.primary and r.within(**scope)
        if wanted and "subsample" not in (r.scope.get("parameters") or {}):
            return r.estimate
    return None

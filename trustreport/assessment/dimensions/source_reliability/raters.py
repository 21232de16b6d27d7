"""Every number about the raters of one task."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.source_reliability.rater_panel import Panel
from trustreport.measures.agreement.bootstrap import Scale, bootstrap
from trustreport.measures.agreement.coefficients import Form, gwet_ac1, gwet_ac2, icc, krippendorff_alpha
from trustreport.measures.agreement.interval import SCORE, coefficient_interval, why_none, without
from trustreport.measures.agreement.kappa import (
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    light_kappa,
    percent_agreement,
)
from trustreport.measures.agreement.labels import linear, ordinal, quadratic
from trustreport.measures.agreement.weighted_concordance import (
    Interval,
    expected_agreement,
    weighted_concordance,
)
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.label_accuracy import MAJORITY, majority_accuracy, nomogram_accuracy
from trustreport.measures.means import case_share
from trustreport.study.study import Floats
from trustreport.vocabulary.results import Result, results_for

ID = "source_reliability"
COEFFICIENTS: dict[str, Callable[..., Estimate]] = {
    "percent_agreement": percent_agreement,
    "krippendorff_alpha": krippendorff_alpha,
    "fleiss_kappa": fleiss_kappa,
    "conger_kappa": conger_kappa,
    "light_kappa": light_kappa,
    "gwet_ac1": gwet_ac1,
}
# Coefficients whose agreement by chance stays small however rare a label.
BY_USE = ("gwet_ac1", "gwet_ac2")
# Raters drawn at random who label every case: their labels as they are, or apart from who gives more.
ICC_FORMS: tuple[Form, ...] = ("A,1", "C,1")
RESAMPLES = 2000
RESAMPLES_OF_MANY = 400
# Fewer raters than this are no sample to draw from.
LEAST_RATERS_TO_DRAW = 5

DECLARED, INDEPENDENT = "declared", "independent_raters"
STATED = "stated in the manifest, without a sampling error"
NOT_INDEPENDENT = (
    "the raters agree more often than raters of these accuracies who err independently: "
    "how often their majority is right is not known"
)
AS_KNOWN = "computed from the accuracy of the raters, taken as known: no interval"
NOT_ALL_STATED = "no accuracy is stated for some of the raters"
NO_TRUTH = "no truth to judge the raters by"


def results_of(panel: Panel, level: float, rng: np.random.Generator) -> list[Result]:
    """Agreement of all raters and of pairs, weighted concordance, accuracy of raters and of labels."""
    return [
        *_agreement(panel, level, rng),
        *_pairs(panel, level),
        *(_of_ranks(panel, level) if panel.ranks else ()),
        *_accuracy(panel, level, rng),
    ]


def _entry(
    panel: Panel,
    name: str,
    estimates: Iterable[Estimate],
    raters: tuple[str, ...] | None = None,
    **more: Any,
) -> list[Result]:
    """Entries of one question; the first estimate is primary."""
    found = list(estimates)
    return results_for(f"{ID}.{name}", panel.place.at(raters=raters), found, leads=found[0].method, **more)


def _agreement(panel: Panel, level: float, rng: np.random.Generator) -> Iterator[Result]:
    """Every coefficient: the primary interval, Gwet's, and with cases, or raters too, drawn anew."""
    codes, q = panel.codes, panel.n_categories
    drawn = _drawn(panel, level, rng, "nominal")
    for name, coefficient in COEFFICIENTS.items():
        others = [of[name] for of in drawn if name in of]
        plain = coefficient(codes, q, cluster=panel.cluster, level=level)
        found = _intervals(panel, name, plain, others)
        # Of labels that are ranks alpha counts how far apart two are; the nominal one is beside it.
        leads = {} if panel.ranks and name == "krippendorff_alpha" else {"leads": found[0].method}
        yield from results_for(f"{ID}.{name}", panel.place, found, **leads)
    if panel.ordered and q > 2:
        ranks = {"weights": "ordinal"}
        drawn = _drawn(panel, level, rng, "ordinal")
        for name, one in (
            (
                "krippendorff_alpha",
                krippendorff_alpha(codes, q, metric="ordinal", cluster=panel.cluster, level=level),
            ),
            ("gwet_ac2", gwet_ac2(codes, q, ordinal(q), cluster=panel.cluster, level=level)),
        ):
            others = [of[name] for of in drawn]
            found = _intervals(panel, name, one, others, ranks=name == "krippendorff_alpha")
            yield from _entry(panel, name, found, parameters=ranks)


def leading_agreement(
    name: str,
    plain: Estimate,
    codes: NDArray[np.int64],
    n_categories: int,
    *,
    ranks: bool = False,
    cluster: Clusters | None = None,
) -> Estimate:
    """The primary estimate of a coefficient, from the one with Gwet's variance."""
    if name == "percent_agreement":
        return percent_agreement(codes, n_categories, interval="score", cluster=cluster, level=plain.level)
    by_chance = name not in BY_USE
    of: dict[str, Any] = {"by_chance_of_labels": by_chance, "ranks": ranks, "cluster": cluster}
    return coefficient_interval(plain, codes, n_categories, **of)


def _intervals(
    panel: Panel, name: str, plain: Estimate, others: Iterable[Estimate], *, ranks: bool = False
) -> list[Estimate]:
    """A coefficient with its primary interval first; none by any method where the rarer label is too rare."""
    codes, q, of = panel.codes, panel.n_categories, dict[str, Any](ranks=ranks, cluster=panel.cluster)
    primary, rest = leading_agreement(name, plain, codes, q, **of), [plain, *others]
    if name == "percent_agreement":
        return [primary, *rest]
    why = why_none(codes, q, by_chance_of_labels=name not in BY_USE, **of)
    return [primary, *((without(e, why) for e in rest) if why and not isnan(primary.value) else rest)]


def _drawn(
    panel: Panel, level: float, rng: np.random.Generator, scale: Scale
) -> Iterable[dict[str, Estimate]]:
    """With cases drawn anew, and with raters drawn too where there are enough of them."""
    return [
        bootstrap(
            panel.codes,
            panel.n_categories,
            rng=rng,
            resamples=RESAMPLES_OF_MANY if panel.many else RESAMPLES,
            raters=raters,
            scale=scale,
            cluster=panel.cluster,
            level=level,
        )
        for raters in (False, True)
        if not raters or len(panel.raters) >= LEAST_RATERS_TO_DRAW
    ]


def _pairs(panel: Panel, level: float, weights: Floats | None = None, **more: Any) -> Iterator[Result]:
    codes, q, raters = panel.codes, panel.n_categories, panel.raters
    for g, h in combinations(range(len(raters)), 2):
        pair = codes[:, [g, h]]
        kappa = cohen_kappa(pair[:, 0], pair[:, 1], q, weights=weights, cluster=panel.cluster, level=level)
        found = coefficient_interval(kappa, pair, q, cluster=panel.cluster)
        yield from _entry(panel, "cohen_kappa", [found], (raters[g], raters[h]), **more)
    if len(raters) > 2:
        for g, rater in enumerate(raters):
            kappa = light_kappa(codes, q, of=g, weights=weights, cluster=panel.cluster, level=level)
            found = coefficient_interval(kappa, codes, q, cluster=panel.cluster)
            yield from _entry(panel, "mean_cohen_kappa", [found], (rater,), **more)


def _of_ranks(panel: Panel, level: float) -> Iterator[Result]:
    """What counts how far apart two labels are, beside alpha: weighted kappas, intraclass correlations."""
    codes, q = panel.codes, panel.n_categories
    for name, weights in (("linear", linear(q)), ("quadratic", quadratic(q))):
        chosen = {"weights": name}
        yield from _pairs(panel, level, weights, parameters=chosen)
        for id, coefficient in (("light_kappa", light_kappa), ("conger_kappa", conger_kappa)):
            plain = coefficient(codes, q, weights=weights, cluster=panel.cluster, level=level)
            yield from _entry(panel, id, _intervals(panel, id, plain, ()), parameters=chosen)
    labels = np.where(codes >= 0, np.array([float(c) for c in panel.classes])[codes], np.nan)
    for form in ICC_FORMS:
        yield from _entry(
            panel,
            "icc",
            [icc(labels, form=form, cluster=panel.cluster, level=level)],
            parameters={"form": form},
        )


def _accuracy(panel: Panel, level: float, rng: np.random.Generator) -> Iterator[Result]:
    """What follows from the accuracy of the raters, as stated or measured."""
    accuracy = panel.accuracy
    if panel.truth is not None:
        measured = list(_measured(panel, level))
        accuracy = np.array([e.value for e in measured])
        for rater, e in zip(panel.raters, measured):
            yield from _entry(panel, "rater_accuracy", [e], (rater,))
    elif accuracy is not None:
        yield from _stated(panel, accuracy, level)
    rated = panel.codes >= 0
    counting = rated.any(axis=0)
    if accuracy is not None and np.isnan(accuracy[counting]).any():
        n = int(rated.any(axis=1).sum())
        reason = NO_TRUTH if panel.truth is not None else NOT_ALL_STATED
        lacking = undefined(n, reason, level=level)
        rho = [replace(lacking, method=SCORE)]
        labels = [replace(lacking, method=MAJORITY)]
    else:
        rho = list(_concordance(panel, accuracy, level, rng))
        labels = [nomogram_accuracy(rho[0], n_categories=panel.n_categories)]
        if accuracy is not None:
            independent = _independent(panel, accuracy[counting], level)
            labels.append(_of_majority(panel, np.nan_to_num(accuracy), independent, level))
            yield from independent
            if isnan(labels[0].value):
                labels.reverse()
    yield from _entry(panel, "weighted_concordance", rho)
    yield from _entry(panel, "label_accuracy", labels)


def _measured(panel: Panel, level: float) -> Iterator[Estimate]:
    """Each rater's share of right labels among the cases with a truth."""
    assert panel.truth is not None
    for labels in panel.codes.T:
        judged = (labels >= 0) & (panel.truth != -1)
        right = labels[judged] == panel.truth[judged]
        yield case_share(right, cluster=together(panel.cluster, judged), level=level)


def _stated(panel: Panel, accuracy: Floats, level: float) -> Iterator[Result]:
    n = np.count_nonzero(panel.codes >= 0, axis=0)
    if panel.same:
        stated = Estimate(float(accuracy[0]), nan, nan, int(n.sum()), level, DECLARED, STATED)
        yield from _entry(panel, "rater_accuracy", [stated])
        return
    for rater, a, labels in zip(panel.raters, accuracy, n):
        if isnan(a):
            stated = undefined(int(labels), NOT_ALL_STATED, level=level, method=DECLARED)
        else:
            stated = Estimate(float(a), nan, nan, int(labels), level, DECLARED, STATED)
        yield from _entry(panel, "rater_accuracy", [stated], (rater,))


def _concordance(
    panel: Panel, accuracy: Floats | None, level: float, rng: np.random.Generator
) -> Iterator[Estimate]:
    """The score interval, which is primary, then cases drawn anew, and raters too where there are enough."""
    ways: tuple[Interval, ...] = ("score", "cases", "raters")
    for interval in ways[: 3 if len(panel.raters) >= LEAST_RATERS_TO_DRAW else 2]:
        yield weighted_concordance(
            panel.codes,
            panel.n_categories,
            confidence=panel.confidence,
            accuracy=None if accuracy is None else np.nan_to_num(accuracy),
            rng=rng,
            resamples=RESAMPLES_OF_MANY if interval == "raters" and panel.many else RESAMPLES,
            interval=interval,
            cluster=panel.cluster,
            level=level,
        )


def _of_majority(panel: Panel, accuracy: Floats, independent: Sequence[Result], level: float) -> Estimate:
    """How often the majority is right; nothing where raters agree too often to err independently."""
    agreement = COEFFICIENTS["percent_agreement"](
        panel.codes, panel.n_categories, cluster=panel.cluster, level=level
    )
    if any(agreement.low > r.estimate.value for r in independent):
        return undefined(agreement.n, NOT_INDEPENDENT, level=level, method=MAJORITY)
    return majority_accuracy(accuracy, panel.codes >= 0, n_categories=panel.n_categories, level=level)


def _independent(panel: Panel, accuracy: Floats, level: float) -> list[Result]:
    """How often raters of these accuracies would agree if their errors had nothing to do with each other."""
    if len(accuracy) < 2:
        return []
    expected = expected_agreement(accuracy, panel.n_categories)
    n = int(np.count_nonzero((panel.codes >= 0).sum(axis=1) >= 2))
    estimate = Estimate(expected, nan, nan, n, level, INDEPENDENT, AS_KNOWN)
    return _entry(panel, "expected_agreement", [estimate])

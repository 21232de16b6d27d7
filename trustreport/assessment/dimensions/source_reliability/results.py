"""The raters of one task: how far they agree, their accuracy, and how many of their labels are right."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from trustreport.measures.note import note
from trustreport.study.clusters import clustering
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Ratings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, results_for

NAME = "source_reliability"
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
# Of so many labels fewer resamples do.
MANY_LABELS, RESAMPLES, RESAMPLES_OF_MANY = 100_000, 2000, 400
# Fewer raters than this are no sample to draw from.
LEAST_RATERS_TO_DRAW = 5

MEASURED = "measured"  # the manifest's word for: judge the raters by the truth of the cases
DECLARED, INDEPENDENT = "declared", "independent_raters"
STATED = note("stated_in_manifest_without_sampling_error")
NOT_INDEPENDENT = note("raters_agree_more_often_than_raters")
AS_KNOWN = note("computed_from_accuracy_raters_taken_as")
NOT_ALL_STATED = note("no_accuracy_stated_for_some_raters")
NO_TRUTH = note("no_truth_to_judge_raters_by")


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Raters and cases in the order of their names, so that the order of rows decides nothing.

    `codes` and `confidence` are (n_cases, n_raters), -1 and NaN where there is none. `classes` are in their
    order, by number where all are numbers (`ordered`); `ranks`: they are declared to be ordinal. `accuracy`
    (n_raters,) is what is stated, NaN where it is not, or None where nothing is; `same`: one number was
    stated for all. `truth` (n_cases,) holds codes where the manifest says that raters are to be judged by
    it. `cases` are the names of the rows, `cluster` (n_cases,) says which of them belong together; None
    where each is alone. `level` is that of the intervals.
    """

    task: str
    place: Place
    raters: tuple[str, ...]
    classes: tuple[str, ...]
    ordered: bool
    ranks: bool
    codes: NDArray[np.int64]
    confidence: Floats | None
    accuracy: Floats | None
    same: bool
    truth: NDArray[np.int64] | None
    cases: Sequence[str]
    cluster: Clusters | None
    level: float

    @property
    def n_categories(self) -> int:
        """Categories that raters could choose: at least two, even if all used one."""
        return max(2, len(self.classes))

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Where a rater labelled a case, (n_cases, n_raters)."""
        return self.codes >= 0

    @property
    def rated_cases(self) -> set[str]:
        """The names of the cases that anybody labelled."""
        return {self.cases[int(i)] for i in np.flatnonzero(self.labelled.any(axis=1))}

    @property
    def common(self) -> dict[str, Any]:
        """What every coefficient is given beside the labels."""
        return {"cluster": self.cluster, "level": self.level}

    def resamples(self, *, of_raters: bool = True) -> int:
        """How many resamples an interval is made of."""
        many = of_raters and np.count_nonzero(self.labelled) > MANY_LABELS
        return RESAMPLES_OF_MANY if many else RESAMPLES

    def entries(
        self, name: str, *found: Estimate, raters: tuple[str, ...] | None = None, **more: Any
    ) -> list[Result]:
        """Entries of one question; the first estimate is primary."""
        return results_for(
            f"{NAME}.{name}", self.place.narrowed(raters=raters), found, leads=found[0].method, **more
        )


def panel_of(ratings: Ratings, plan: Plan, place: Place) -> Panel:
    """Lay out the annotations of one task."""
    names = tuple(sorted(ratings.raters))
    cases = sorted(ratings.cases.labels)
    row = _ranks(ratings.cases.labels, cases)
    classes, ordered = _in_order(ratings.classes)
    shape = (len(row), len(names))
    cells = row[ratings.case], _ranks(ratings.raters, names)[ratings.rater]
    codes = np.full(shape, -1)
    codes[cells] = np.where(ratings.label >= 0, _ranks(ratings.classes, classes)[ratings.label], -1)
    confidence = truth = accuracy = cluster = None
    if ratings.confidence is not None and not np.isnan(ratings.confidence).all():
        confidence = np.full(shape, np.nan)
        confidence[cells] = ratings.confidence
    stated: Any = plan.reference_standard.rater_accuracy
    # Labels by other names than the classes of the truth cannot be compared with it: no accuracy is given.
    if stated == MEASURED and set(classes) & set(ratings.cases.classes):
        # A class that no rater used is -2, a case without a truth -1.
        code = {name: i for i, name in enumerate(classes)}
        of_truth = np.array([code.get(name, -2) for name in ratings.cases.classes] + [-1], np.int64)
        truth = np.full(len(row), -1)
        truth[row] = of_truth[ratings.cases.truth]
    elif isinstance(stated, Mapping):
        accuracy = np.array([float(stated.get(name, np.nan)) for name in names])
    elif stated not in (None, MEASURED):
        accuracy = np.full(len(names), float(stated))
    of_case = clustering(ratings.cases).of_case
    if of_case is not None:
        cluster = np.empty(len(row), np.int64)
        cluster[row] = of_case
    return Panel(
        task=ratings.task,
        place=place,
        raters=names,
        classes=classes,
        ordered=ordered,
        ranks=ordered and len(classes) > 2 and plan.reference_standard.label_scale == "ordinal",
        codes=codes,
        confidence=confidence,
        accuracy=accuracy,
        same=accuracy is not None and not isinstance(stated, Mapping),
        truth=truth,
        cases=cases,
        cluster=cluster,
        level=plan.report.confidence_level,
    )


def _ranks(names: Any, in_order: Any) -> NDArray[np.int64]:
    """The place in the order of each name."""
    place = {name: i for i, name in enumerate(in_order)}
    return np.array([place[name] for name in names], np.int64)


def _in_order(classes: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Classes by number if all are numbers, and whether they are."""
    try:
        return tuple(sorted(classes, key=float)), True
    except ValueError:
        return tuple(sorted(classes)), False


def results_of(panel: Panel, rng: np.random.Generator) -> list[Result]:
    """Agreement of all raters and of pairs, weighted concordance, accuracy of raters and of labels."""
    of_ranks = _of_ranks(panel) if panel.ranks else ()
    return [*_agreement(panel, rng), *_pairs(panel), *of_ranks, *_accuracy(panel, rng)]


def _agreement(panel: Panel, rng: np.random.Generator) -> Iterator[Result]:
    """Every coefficient: the primary interval, Gwet's, and with cases, or raters too, drawn anew."""
    codes, q = panel.codes, panel.n_categories
    drawn = _drawn(panel, rng, "nominal")
    for name, coefficient in COEFFICIENTS.items():
        found = _intervals(panel, name, coefficient(codes, q, **panel.common), drawn)
        # Of labels that are ranks alpha counts how far apart two are; the nominal one is beside it.
        leads = "" if panel.ranks and name == "krippendorff_alpha" else found[0].method
        yield from results_for(f"{NAME}.{name}", panel.place, found, leads=leads)
    if panel.ordered and q > 2:
        drawn = _drawn(panel, rng, "ordinal")
        alpha = krippendorff_alpha(codes, q, metric="ordinal", **panel.common)
        ac2 = gwet_ac2(codes, q, ordinal(q), **panel.common)
        for name, one in (("krippendorff_alpha", alpha), ("gwet_ac2", ac2)):
            found = _intervals(panel, name, one, drawn, ranks=name == "krippendorff_alpha")
            yield from panel.entries(name, *found, parameters={"weights": "ordinal"})


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
    panel: Panel,
    name: str,
    plain: Estimate,
    drawn: Iterable[Mapping[str, Estimate]] = (),
    *,
    ranks: bool = False,
) -> list[Estimate]:
    """A coefficient with its primary interval first; none by any method where the rarer label is too rare."""
    codes, q, of = panel.codes, panel.n_categories, dict[str, Any](ranks=ranks, cluster=panel.cluster)
    primary = leading_agreement(name, plain, codes, q, **of)
    rest = [plain, *(found[name] for found in drawn if name in found)]
    if name == "percent_agreement":
        return [primary, *rest]
    why = why_none(codes, q, by_chance_of_labels=name not in BY_USE, **of)
    return [primary, *((without(e, why) for e in rest) if why and not isnan(primary.value) else rest)]


def _drawn(panel: Panel, rng: np.random.Generator, scale: Scale) -> list[dict[str, Estimate]]:
    """With cases drawn anew, and with raters drawn too where there are enough of them."""
    ways = (False, True) if len(panel.raters) >= LEAST_RATERS_TO_DRAW else (False,)
    of: dict[str, Any] = {"rng": rng, "resamples": panel.resamples(), "scale": scale, **panel.common}
    return [bootstrap(panel.codes, panel.n_categories, raters=raters, **of) for raters in ways]


def _pairs(panel: Panel, weights: Floats | None = None, **more: Any) -> Iterator[Result]:
    """Kappa of each two raters, and the mean kappa of each rater with the others."""
    codes, q, raters = panel.codes, panel.n_categories, panel.raters
    for g, h in combinations(range(len(raters)), 2):
        pair = codes[:, [g, h]]
        kappa = cohen_kappa(pair[:, 0], pair[:, 1], q, weights=weights, **panel.common)
        found = coefficient_interval(kappa, pair, q, cluster=panel.cluster)
        yield from panel.entries("cohen_kappa", found, raters=(raters[g], raters[h]), **more)
    if len(raters) > 2:
        for g, rater in enumerate(raters):
            kappa = light_kappa(codes, q, of=g, weights=weights, **panel.common)
            found = coefficient_interval(kappa, codes, q, cluster=panel.cluster)
            yield from panel.entries("mean_cohen_kappa", found, raters=(rater,), **more)


def _of_ranks(panel: Panel) -> Iterator[Result]:
    """What counts how far apart two labels are, beside alpha: weighted kappas, intraclass correlations."""
    codes, q = panel.codes, panel.n_categories
    for name, weights in (("linear", linear(q)), ("quadratic", quadratic(q))):
        chosen = {"weights": name}
        yield from _pairs(panel, weights, parameters=chosen)
        for id, coefficient in (("light_kappa", light_kappa), ("conger_kappa", conger_kappa)):
            plain = coefficient(codes, q, weights=weights, **panel.common)
            yield from panel.entries(id, *_intervals(panel, id, plain), parameters=chosen)
    labels = np.where(panel.labelled, np.array([float(c) for c in panel.classes])[codes], np.nan)
    for form in ICC_FORMS:
        yield from panel.entries("icc", icc(labels, form=form, **panel.common), parameters={"form": form})


def _accuracy(panel: Panel, rng: np.random.Generator) -> Iterator[Result]:
    """What follows from the accuracy of the raters, as stated or measured."""
    accuracy, rated = panel.accuracy, panel.labelled
    if panel.truth is not None:
        measured = list(_measured(panel))
        accuracy = np.array([e.value for e in measured])
        for rater, e in zip(panel.raters, measured):
            yield from panel.entries("rater_accuracy", e, raters=(rater,))
    elif accuracy is not None:
        yield from _stated(panel, accuracy)
    counting = rated.any(axis=0)
    if accuracy is not None and np.isnan(accuracy[counting]).any():
        reason = NO_TRUTH if panel.truth is not None else NOT_ALL_STATED
        lacking = undefined(int(rated.any(axis=1).sum()), reason, level=panel.level)
        rho, labels = [replace(lacking, method=SCORE)], [replace(lacking, method=MAJORITY)]
    else:
        rho = list(_concordance(panel, accuracy, rng))
        labels = [nomogram_accuracy(rho[0], n_categories=panel.n_categories)]
        if accuracy is not None:
            independent = _independent(panel, accuracy[counting])
            labels.append(_of_majority(panel, np.nan_to_num(accuracy), independent))
            yield from independent
            if isnan(labels[0].value):
                labels.reverse()
    yield from panel.entries("weighted_concordance", *rho)
    yield from panel.entries("label_accuracy", *labels)


def _measured(panel: Panel) -> Iterator[Estimate]:
    """Each rater's share of right labels among the cases with a truth."""
    assert panel.truth is not None
    for labels in panel.codes.T:
        judged = (labels >= 0) & (panel.truth != -1)
        right = labels[judged] == panel.truth[judged]
        yield case_share(right, cluster=together(panel.cluster, judged), level=panel.level)


def _stated(panel: Panel, accuracy: Floats) -> Iterator[Result]:
    """The accuracy that the manifest states: one number for all raters, or one for each."""
    n = np.count_nonzero(panel.labelled, axis=0)
    each = [((rater,), a, labels) for rater, a, labels in zip(panel.raters, accuracy, n)]
    for raters, a, labels in [(None, accuracy[0], n.sum())] if panel.same else each:
        stated = Estimate(float(a), nan, nan, int(labels), panel.level, DECLARED, STATED)
        if isnan(a):
            stated = undefined(int(labels), NOT_ALL_STATED, level=panel.level, method=DECLARED)
        yield from panel.entries("rater_accuracy", stated, raters=raters)


def _concordance(panel: Panel, accuracy: Floats | None, rng: np.random.Generator) -> Iterator[Estimate]:
    """The score interval, which is primary, then cases drawn anew, and raters too where there are enough."""
    of = {"confidence": panel.confidence, "rng": rng, **panel.common}
    of["accuracy"] = None if accuracy is None else np.nan_to_num(accuracy)
    ways: tuple[Interval, ...] = ("score", "cases", "raters")
    for interval in ways[: 3 if len(panel.raters) >= LEAST_RATERS_TO_DRAW else 2]:
        resamples = panel.resamples(of_raters=interval == "raters")
        yield weighted_concordance(
            panel.codes, panel.n_categories, interval=interval, resamples=resamples, **of
        )


def _of_majority(panel: Panel, accuracy: Floats, independent: Sequence[Result]) -> Estimate:
    """How often the majority is right; nothing where raters agree too often to err independently."""
    agreement = percent_agreement(panel.codes, panel.n_categories, **panel.common)
    if any(agreement.low > r.estimate.value for r in independent):
        return undefined(agreement.n, NOT_INDEPENDENT, level=panel.level, method=MAJORITY)
    return majority_accuracy(accuracy, panel.labelled, n_categories=panel.n_categories, level=panel.level)


def _independent(panel: Panel, accuracy: Floats) -> list[Result]:
    """How often raters of these accuracies would agree if their errors had nothing to do with each other."""
    if len(accuracy) < 2:
        return []
    expected = expected_agreement(accuracy, panel.n_categories)
    n = int(np.count_nonzero(panel.labelled.sum(axis=1) >= 2))
    found = Estimate(expected, nan, nan, n, panel.level, INDEPENDENT, AS_KNOWN)
    return panel.entries("expected_agreement", found)

"""Regimes of scored cases: shares, areas, whole sets, periods, groups, candidates, sites."""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from regimes.regime import LEVEL, Found, Regime, Truths, binomial, coded, less, plan, primary
from trustreport.assessment.dimensions import subgroups, vigilance
from trustreport.assessment.dimensions.advice_accuracy.utility import yield_results
from trustreport.assessment.dimensions.advice_value.results import results_of as advice_values
from trustreport.assessment.dimensions.potential_robustness.results import between_sites, sites_of
from trustreport.assessment.dimensions.subgroups.results import equalised_odds
from trustreport.assessment.performance.case_groups import divisions
from trustreport.assessment.performance.cases import ScoredCases, scored_cases
from trustreport.assessment.performance.decision_table import difference
from trustreport.assessment.performance.measures import lead
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Dataset, Floats, Labels, Scores, Study
from trustreport.vocabulary.place import Place

AT = 0.4  # the threshold of candidates and periods; that of a set is its prevalence
MATRIX = [[1.0, 0.0], [0.4, 1.0]]
UTILITY = {"matrices": [{"name": "u", "matrix": MATRIX}]}
BY_SCORES = ("auc", "average_precision", "brier", "oe_ratio", "calibration_slope", "calibration_intercept")
BY_DECISIONS = ("sensitivity", "specificity", "accuracy", "ppv", "npv", "f1", "mcc", "youden_j")
AT_THRESHOLD = ("net_benefit", "standardized_net_benefit")


def dataset(
    truth: NDArray[Any],
    score: Floats,
    patient: NDArray[Any] | None = None,
    name: str = "set",
    role: str = "external",
) -> Dataset:
    """A data set of one candidate."""
    of = None if patient is None else coded(patient)
    cases = Cases(Labels(n=len(truth)), truth.astype(np.int8), patient=of)
    return Dataset(name, role, cases, {"": Scores(score)})


def scored(
    truth: NDArray[Any], score: Floats, patient: NDArray[Any] | None = None, at: float = AT
) -> ScoredCases:
    """The analysed cases of a set, decided at a threshold."""
    declared = plan(operating_point={"threshold": at})
    (found,) = scored_cases(Study(datasets=(dataset(truth, score, patient),)), declared)
    return found


def measured(case: ScoredCases, names: Iterable[str]) -> Found:
    """The primary estimates that a report has of scored cases."""
    for name in names:
        yield name, lead(case, name, LEVEL)


def bins_and_value(case: ScoredCases, declared: Plan) -> Found:
    """Calibration in bins and by a curve, value of the advice."""
    chosen = {"ece": {"bins": 10, "binning": "equal_width"}, "ici": {}}
    chosen |= {"gici": chosen["ece"], "advisory_value": {"bins": 10, "local_calibration": "absolute_gap"}}
    for r in advice_values(case, declared, of_site=True):
        name = r.id.rpartition(".")[2]
        if name in chosen and dict(r.parameters) == chosen[name] and r.place.class_ is None and r.primary:
            yield name, r.estimate


LARGEST = 0.99
GRID = tuple(k / 200 for k in range(100, 200))


@cache
def share_of(n: int) -> tuple[Estimate, ...]:
    """The primary estimate of a share, 0 to n of n cases right."""
    truth = np.ones(n, np.int8)
    return tuple(
        lead(scored(truth, np.where(np.arange(n) < x, 0.9, 0.1)), "sensitivity", LEVEL) for x in range(n + 1)
    )


def shares() -> Iterator[Regime]:
    """One share, every outcome: sizes 20 to 1,000, shares of .5 to .995 by .005."""
    for n, p in product((20, 50, 100, 300, 1000), GRID):

        def outcomes(n: int = n, p: float = p) -> Iterator[tuple[float, Found]]:
            for chance, e in zip(binomial(n, p), share_of(n)):
                yield float(chance), [("sensitivity", e)]

        yield Regime(
            "share",
            f"{n} cases, share {p:g}",
            partial(dict, sensitivity=p),
            outcomes=outcomes,
            shares=frozenset(["sensitivity"]),
            neighbours=(f"{n} cases", p),
            beside=p > LARGEST,
        )


def five_points(score: Floats) -> Floats:
    """Scores on a scale of five, as readers give them."""
    return np.digitize(score, (-0.5, 0.25, 1.0, 1.75)).astype(np.float64)


def area_of_five_points(shift: float) -> float:
    """The area under the curve of `five_points`, negatives around 0 and positives around `shift`."""
    cuts = np.array([-np.inf, -0.5, 0.25, 1.0, 1.75, np.inf])
    of_negative, of_positive = np.diff(ndtr(cuts)), np.diff(ndtr(cuts - shift))
    below = np.concatenate([[0.0], np.cumsum(of_negative)[:-1]])
    return float(of_positive @ (below + of_negative / 2))


def areas() -> Iterator[Regime]:
    """The area under the curve of one set, few of the rarer class, scores continuous and of five points."""
    for n1, n0, area, scale in product(
        (5, 10, 30), (20, 70), (0.7, 0.85, 0.94, 0.98), ("continuous", "five points")
    ):
        shift = sqrt(2) * float(ndtri(area))
        true = area if scale == "continuous" else area_of_five_points(shift)
        truth = np.arange(n1 + n0) < n1

        def study(
            rng: np.random.Generator, truth: NDArray[Any] = truth, shift: float = shift, scale: str = scale
        ) -> Found:
            score = rng.normal(shift * truth, 1)
            return measured(scored(truth, score if scale == "continuous" else five_points(score)), ["auc"])

        design = f"{n1} positives, {n0} negatives, area {area:g}, {scale}"
        yield Regime("area under the curve", design, partial(dict, auc=true), study, due=n1 >= 10, cost=0.001)


def risks(
    n: int, prevalence: float, rng: np.random.Generator, patients: int = 0, by_patient: bool = True
) -> tuple[NDArray[Any], Floats, NDArray[Any] | None]:
    """Truth, risk score and patient of n cases; the scores are somewhat too extreme and too low.

    With patients, half of the spread of scores is between them, and the truth of a patient's cases hangs
    together.
    """
    patient = np.repeat(np.arange(patients), n // patients) if patients else None
    between = (
        rng.normal(0, sqrt(0.5), patients)[patient] if patient is not None else rng.normal(0, sqrt(0.5), n)
    )
    middle = log(prevalence / (1 - prevalence)) - 0.55
    away = 1.2 * (between + rng.normal(0, sqrt(0.5), n))
    shared = 0.0
    if patient is not None and by_patient:
        shared = rng.normal(0, 0.8, patients)[patient]
    truth = rng.random(n) < expit(middle + 0.3 + 0.85 * away + shared)
    return truth, expit(middle + away), patient


@cache
def of_many(prevalence: float, clusters: bool) -> dict[str, float]:
    """What two million cases show, each a patient of its own."""
    rng = np.random.default_rng([int(1000 * prevalence), clusters])
    n = 2_000_000
    truth, score, _ = risks(n, prevalence, rng, patients=n if clusters else 0)
    case = scored(truth, score, at=prevalence)
    found = {name: lead(case, name, LEVEL).value for name in (*BY_SCORES, *BY_DECISIONS, *AT_THRESHOLD)}
    declared = plan(utility=UTILITY, operating_point={"threshold": prevalence})
    found["utility_yield"] = next(r.estimate.value for r in yield_results(case, declared) if r.primary)
    from trustreport.measures.calibration.advice import advisory_value
    from trustreport.measures.calibration.binned import ece, gici
    from trustreport.measures.calibration.smooth import smooth_error

    found["ece"], found["gici"] = ece(truth, score).value, gici(truth, score).overall.value
    found["advisory_value"] = advisory_value(truth, score, threshold=prevalence).value
    found["ici"] = smooth_error(truth[:200_000], score[:200_000]).ici.value
    return found


def everything(case: ScoredCases) -> Found:
    """Every primary estimate of a set."""
    declared = plan(utility=UTILITY, operating_point={"threshold": case.threshold})
    yield from measured(case, (*BY_SCORES, *BY_DECISIONS, *AT_THRESHOLD))
    yield "utility_yield", next(r.estimate for r in yield_results(case, declared) if r.primary)
    yield from bins_and_value(case, declared)


def sets() -> Iterator[Regime]:
    """Risk scores of independent cases, and of patients with several."""
    for n, prevalence in product((100, 200, 500), (0.1, 0.35)):

        def study(rng: np.random.Generator, n: int = n, prevalence: float = prevalence) -> Found:
            return everything(scored(*risks(n, prevalence, rng), at=prevalence))

        true = partial(of_many, prevalence, False)
        due = n * prevalence >= 20  # ten positives in nearly every study
        yield Regime("data set", f"{n} cases, prevalence {prevalence:g}", true, study, due=due, cost=0.25)
    for patients, of, prevalence in product((20, 50), (3, 10), (0.02, 0.1, 0.35)):

        def clustered(
            rng: np.random.Generator, patients: int = patients, of: int = of, prevalence: float = prevalence
        ) -> Found:
            return everything(scored(*risks(patients * of, prevalence, rng, patients), at=prevalence))

        design = f"{patients} patients of {of} cases, prevalence {prevalence:g}"
        due = patients * (1 - (1 - prevalence) ** of) >= 20
        true = partial(of_many, prevalence, True)
        yield Regime("data set in clusters", design, true, clustered, due=due, cost=0.15)


CHANGED = ("sensitivity", "auc", "oe_ratio", "brier")


def period_changes(before: Dataset, now: Dataset) -> Found:
    """The changes since a baseline that a report gives."""
    facts = [
        {"dataset": before.name, "role": "local", "end_date": "2025-12-31"},
        {"dataset": now.name, "role": "period", "start_date": "2026-01-01", "end_date": "2026-01-31"},
    ]
    declared = plan(
        operating_point={"threshold": AT},
        datasets=facts,
        vigilance={"baseline_dataset": before.name, "indicators": [{"measure": name} for name in CHANGED]},
    )
    results = vigilance.DIMENSION.answer(Study(datasets=(before, now)), declared).results
    for r in results:
        if r.primary and r.id == "vigilance.period_change" and r.parameters.get("against") == "baseline":
            yield f"{r.endpoint}, change", r.estimate


def periods() -> Iterator[Regime]:
    """Two sets of one model: independent cases, and patients of whom half are in both."""
    true = {f"{name}, change": float(name == "oe_ratio") for name in CHANGED}
    for n, prevalence in product((100, 300), (0.1, 0.35)):

        def study(rng: np.random.Generator, n: int = n, prevalence: float = prevalence) -> Found:
            one, other = risks(n, prevalence, rng), risks(n, prevalence, rng)
            return period_changes(dataset(*one[:2], name="before", role="local"),
                                  dataset(*other[:2], name="now", role="period"))  # fmt: skip

        design = f"{n} cases in each, prevalence {prevalence:g}"
        yield Regime(
            "change between periods", design, partial(dict, true), study, due=n * prevalence >= 20, cost=0.1
        )
    for patients, of in product((20, 50), (3, 10)):

        def both(rng: np.random.Generator, patients: int = patients, of: int = of) -> Found:
            # Half of each patient's cases fall into each period.
            truth, score, patient = risks(patients * 2 * of, 0.35, rng, patients)
            assert patient is not None
            later = np.arange(len(truth)) % 2 == 1
            return period_changes(
                dataset(truth[~later], score[~later], patient[~later], "before", "local"),
                dataset(truth[later], score[later], patient[later], "now", "period"),
            )

        design = f"{patients} patients of {of} cases, each in both periods, prevalence 0.35"
        yield Regime("change between periods", design, partial(dict, true), both, cost=0.1)


def groups() -> Iterator[Regime]:
    """Four groups that are alike: the worst of them, and differences of each from the rest."""
    for n, p in product((40, 100), (0.7, 0.85, 0.95)):

        def study(rng: np.random.Generator, n: int = n, p: float = p) -> Found:
            truth = np.arange(4 * n) % 2
            right = rng.random(4 * n) < p
            cases = Cases(
                Labels(n=4 * n), truth.astype(np.int8), groups={"unit": coded(np.arange(4 * n) // n)}
            )
            score = np.where(right == (truth == 1), 0.9, 0.1)
            made = Study(datasets=(Dataset("set", "external", cases, {"": Scores(score)}),))
            declared = plan(
                operating_point={"threshold": AT}, subgroups=[{"name": "unit", "prespecified": True}]
            )
            results = subgroups.DIMENSION.answer(made, declared).results
            named = {
                "subgroups.worst_group": "worst of four, ",
                "subgroups.subgroup_difference": "difference, ",
            }
            for r in results:
                first = r.place.subgroup in (None, "unit: 0") or r.id.endswith("worst_group")
                if r.primary and r.id in named and first and r.endpoint in ("accuracy", "sensitivity"):
                    yield f"{named[r.id]}{r.endpoint}", r.estimate

        true = {f"worst of four, {name}": p for name in ("accuracy", "sensitivity")}
        true |= {f"difference, {name}": 0.0 for name in ("accuracy", "sensitivity")}
        design = f"four groups of {n} cases, share {p:g}"
        yield Regime("groups", design, partial(dict, true), study, due=n / 2 * (1 - p) >= 10, cost=0.05)


def equalised() -> Iterator[Regime]:
    """The largest difference of four groups in the rate of true or of false positives, alike and not."""
    for n, shares_right, of in product((40, 100), ((0.8, 0.8, 0.8, 0.8), (0.9, 0.8, 0.8, 0.7)), (1, 4)):

        def study(
            rng: np.random.Generator, n: int = n, right: tuple[float, ...] = shares_right, of: int = of
        ) -> Found:
            truth, unit, patient = np.arange(4 * n) % 2, np.arange(4 * n) // n, np.arange(4 * n) // of
            shared = rng.standard_normal(4 * n)[patient] if of > 1 else rng.standard_normal(4 * n)
            latent = sqrt(0.4) * shared + sqrt(0.6) * rng.standard_normal(4 * n)
            decided = (ndtr(latent) < np.array(right)[unit]) == (truth == 1)
            groups = {"unit": coded(unit)}
            cases = Cases(
                Labels(n=4 * n),
                truth.astype(np.int8),
                patient=coded(patient) if of > 1 else None,
                groups=groups,
            )
            scores = {"": Scores(np.where(decided, 0.9, 0.1))}
            made = Study(datasets=(Dataset("set", "external", cases, scores),))
            declared = plan(operating_point={"threshold": AT}, subgroups=[{"name": "unit"}])
            (case,), (division,) = scored_cases(made, declared), divisions(declared, cases)
            result = equalised_odds(case, division, declared)
            if result is not None:
                yield "largest difference", result.estimate

        true = {"largest difference": max(shares_right) - min(shares_right)}
        cases = f"{n} cases" if of == 1 else f"{n // of} patients of {of} cases"
        design = f"four groups of {cases}, shares {', '.join(f'{p:g}' for p in shares_right)}"
        yield Regime("equalised odds", design, partial(dict, true), study, due=n >= 100, cost=0.005)


def candidates() -> Iterator[Regime]:
    """Two candidates on the same cases: the one is the other with more noise."""
    for n, prevalence in product((100, 300), (0.1, 0.35)):

        def study(rng: np.random.Generator, n: int = n, prevalence: float = prevalence) -> Found:
            truth = rng.random(n) < prevalence
            seen = rng.normal(1.5 * truth, 1)
            scores = {
                "A": Scores(expit(seen - 1)),
                "B": Scores(expit((seen + rng.normal(0, 0.75, n)) * 0.8 - 1)),
            }
            cases = Cases(Labels(n=n), truth.astype(np.int8))
            made = Study(datasets=(Dataset("set", "local", cases, scores),))
            one, other = scored_cases(made, plan(operating_point={"threshold": AT}))
            for name in ("accuracy", "sensitivity", "auc"):
                yield f"{name}, difference", difference(other, one, name, LEVEL)

        def true(prevalence: float = prevalence) -> Truths:
            cut = log(AT / (1 - AT)) + 1
            one, other = (cut, 1.0), (cut / 0.8, sqrt(1 + 0.75**2))
            rates = [(float(ndtr((1.5 - c) / s)), float(ndtr(c / s))) for c, s in (one, other)]
            area = [float(ndtr(1.5 / (s * sqrt(2)))) for _, s in (one, other)]
            right = [prevalence * a + (1 - prevalence) * b for a, b in rates]
            return {
                "accuracy, difference": right[1] - right[0],
                "sensitivity, difference": rates[1][0] - rates[0][0],
                "auc, difference": area[1] - area[0],
            }

        design = f"{n} cases, prevalence {prevalence:g}"
        yield Regime("candidates", design, true, study, due=n * prevalence >= 20, cost=0.02)


# Cases, prevalence, cases of a patient.
NEAR = ((1000, 0.03, 1), (400, 0.1, 1), (400, 0.1, 8), (240, 0.2, 6), (200, 0.15, 4))


def near_one() -> Iterator[Regime]:
    """Two candidates with areas near .95 on the same cases: nearly one, alike, the second with more noise."""
    for (n, prevalence, of), (first, second) in product(NEAR, ((0.1, 0.1), (0.5, 0.5), (0.0, 0.75))):

        def study(
            rng: np.random.Generator,
            n: int = n,
            prevalence: float = prevalence,
            of: int = of,
            first: float = first,
            second: float = second,
        ) -> Found:
            patient = np.arange(n) // of

            def noise(shared: float) -> Floats:
                own = rng.standard_normal(n)
                if of == 1:
                    return own
                return sqrt(shared) * rng.standard_normal(n)[patient] + sqrt(1 - shared) * own

            truth = noise(0.3) > float(ndtri(1 - prevalence))
            seen = 2.5 * truth + noise(0.4)
            scores = {"A": Scores(expit(seen + first * noise(0.4) - 1.25))}
            scores["B"] = Scores(expit(seen + second * noise(0.4) - 1.25))
            patients = None if of == 1 else coded(patient)
            cases = Cases(Labels(n=n), truth.astype(np.int8), patient=patients)
            made = Study(datasets=(Dataset("set", "local", cases, scores),))
            one, other = scored_cases(made, plan(operating_point={"threshold": 0.5}))
            for name in ("accuracy", "sensitivity", "specificity", "auc"):
                yield f"{name}, difference", difference(other, one, name, LEVEL)

        def true(prevalence: float = prevalence, first: float = first, second: float = second) -> Truths:
            spread = [sqrt(1 + noise**2) for noise in (first, second)]
            right = [float(ndtr(1.25 / s)) for s in spread]  # of either class
            area = [float(ndtr(2.5 / (s * sqrt(2)))) for s in spread]
            shares = dict.fromkeys(("accuracy", "sensitivity", "specificity"), right[1] - right[0])
            return {f"{name}, difference": d for name, d in {**shares, "auc": area[1] - area[0]}.items()}

        patients = "" if of == 1 else f" in patients of {of}"
        alike = "apart" if first != second else "nearly one" if first < 0.5 else "alike"
        design = f"{n} cases{patients}, prevalence {prevalence:g}, {alike}"
        due = n * prevalence >= 20 and of == 1
        yield Regime("candidates near 1", design, true, study, due=due, cost=0.02)


OVER_SITES = {"sensitivity": "typical site, sensitivity", "auc": "typical site, area"}
UNEVEN = ((30, 60, 200, 1500), (24, 24, 30, 2000), (30, 60, 200, 1500, 100, 80))
EVEN = tuple((n,) * k for k, n in product((4, 6, 12), (60, 200)))


def _area_at(shift: float) -> float:
    """The area of positives so much above negatives, both logistic."""
    x = np.linspace(-40, 40, 40_001)
    return float((expit(x) * expit(-x) * expit(x + shift)).sum() * (x[1] - x[0]))


def sites() -> Iterator[Regime]:
    """Sites whose sensitivity and area differ: the typical site, and one more, drawn like the others."""
    designs = [*product(EVEN, (0.0, 0.5)), *product(UNEVEN, (0.5, 1.0)), ((60,) * 8, 0.5), ((150,) * 6, 0.7)]
    for sizes, spread in designs:

        def study(rng: np.random.Generator, sizes: tuple[int, ...] = sizes, spread: float = spread) -> Found:
            k, site = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
            truth = np.concatenate([np.arange(n) % 3 == 0 for n in sizes])
            away = spread * rng.normal(0, 1, k)[site]
            score = np.where(truth, 1.4 + away, 0.0) + rng.logistic(0, 1, len(site))
            made = tuple(
                dataset(truth[site == i], expit(score[site == i]), name=f"site {i}") for i in range(k)
            )
            declared = plan(operating_point={"threshold": 0.5})
            cases = scored_cases(Study(datasets=made), declared)
            of_sites = [one for case in cases for one in sites_of(case, declared)]
            shift = 1.4 + spread * rng.normal()
            new = {"sensitivity": float(expit(shift)), "auc": _area_at(shift)}
            for name, wanted in OVER_SITES.items():
                found = between_sites(
                    name, of_sites, of_sites, k, Place(datasets=tuple(d.name for d in made)), declared
                )
                yield from primary(found, {"potential_robustness.pooled_performance": wanted})
                for _, e in primary(found, {"potential_robustness.prediction_interval": "new"}):
                    yield f"prediction_interval, {name}", less(e, new[name])

        def true() -> Truths:
            typical = {"typical site, sensitivity": float(expit(1.4)), "typical site, area": _area_at(1.4)}
            return {**typical, "prediction_interval, sensitivity": 0.0, "prediction_interval, auc": 0.0}

        if len(set(sizes)) == 1:
            design = f"{len(sizes)} sites of {sizes[0]} cases, spread {spread:g}"
        else:
            design = f"sites of {', '.join(map(str, sizes))} cases, spread {spread:g}"
        yield Regime("over sites", design, true, study, cost=0.2)

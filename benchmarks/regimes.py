"""The studies on which the intervals of a report are tried, each drawn from a model whose truth is known.

A regime draws studies of one design, has them estimated by what a report calls, and knows the true value of
each quantity. Where outcomes are few (shares, small tables) they are enumerated in place of drawn.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom

from trustreport.dimensions import (
    pragmatic_utility,
    subgroups,
    vigilance,
)
from trustreport.dimensions.advice_accuracy.utility import yield_results
from trustreport.dimensions.advice_value.entries import results_of as advice_values
from trustreport.dimensions.decision_benefit.ai_alone import advice_of, ai_results
from trustreport.dimensions.potential_robustness.scores import between_sites
from trustreport.dimensions.potential_robustness.sites import sites_of
from trustreport.dimensions.source_reliability.raters import COEFFICIENTS, leading_agreement
from trustreport.estimate import Estimate
from trustreport.performance.cases import ScoredCases, scored_cases
from trustreport.performance.differences import difference
from trustreport.performance.measures import lead
from trustreport.performance.reader_errors import reader_errors
from trustreport.performance.readers import AIDED, endpoints, every_endpoint
from trustreport.place import Place
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.simulate import (
    STRUCTURES,
    expected_auc,
    expected_sensitivity,
    expected_specificity,
    roe_metz,
)
from trustreport.study import (
    ArmCounts,
    Cases,
    Coded,
    CountsSet,
    Dataset,
    Floats,
    Labels,
    Readers,
    Readings,
    Scores,
    Study,
)

Found = Iterable[tuple[str, Estimate]]
"""Primary estimates of one study by quantity."""
Truths = Mapping[str, float]
LEVEL = 0.95
ARMS = ("unaided", "aided")


@dataclass(frozen=True)
class Regime:
    """Studies of one design.

    Parameters
    ----------
    topic, design : what is estimated, and how the studies are made
    true : the values to be covered, by quantity
    study : one drawn study, estimated
    outcomes : every outcome with its probability, in place of drawn studies
    shares : quantities whose outcomes are few; they are judged together with their neighbours
    neighbours : what regimes have in common whose shares are averaged, and where this one is among them
    beside : whether it is there for its neighbours alone
    due : whether there are ten cases of the rarer class (in ten clusters), so that an interval is due
    """

    topic: str
    design: str
    true: Callable[[], Truths]
    study: Callable[[np.random.Generator], Found] | None = None
    outcomes: Callable[[], Iterable[tuple[float, Found]]] | None = None
    shares: frozenset[str] = frozenset()
    neighbours: tuple[str, float] | None = None
    beside: bool = False
    due: bool = True
    cost: float = field(default=0.02, compare=False)  # seconds a study, roughly


def plan(**groups: Any) -> Plan:
    """A manifest with what every manifest has."""
    return Plan.model_validate({"report": {"kind": "certification"}, "device": {}, **groups})


def primary(
    results: Iterable[Result], wanted: Mapping[str, str], **scope: Any
) -> Iterator[tuple[str, Estimate]]:
    """The primary estimates under these ids, by the names wanted."""
    for r in results:
        if r.primary and r.id in wanted and r.within(**scope):
            yield wanted[r.id], r.estimate


# ---------------------------------------------------------------- scored cases

AT = 0.4  # the threshold of candidates and periods; that of a set is its prevalence
MATRIX = [[1.0, 0.0], [0.4, 1.0]]
UTILITY = {"matrices": [{"name": "u", "matrix": MATRIX}]}
BY_SCORES = ("auc", "average_precision", "brier", "oe_ratio", "calibration_slope", "calibration_intercept")
BY_DECISIONS = ("sensitivity", "specificity", "accuracy", "ppv", "npv", "f1", "mcc", "youden_j")
AT_THRESHOLD = ("net_benefit", "standardized_net_benefit")
IN_BINS = ("ece", "gici", "advisory_value", "ici")


def coded(of: NDArray[Any]) -> Coded:
    """A column of names from whole numbers."""
    names, codes = np.unique(of, return_inverse=True)
    return Coded(codes.astype(np.int32), Labels(tuple(map(str, names))))


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


def binomial(n: int, p: float) -> Floats:
    """The probability of 0 to n events."""
    found: Floats = binom.pmf(np.arange(n + 1), n, p)
    return found


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
    from trustreport.measures.calibration.ece import ece
    from trustreport.measures.calibration.gici import gici
    from trustreport.measures.calibration.smooth import smooth_error

    found["ece"], found["gici"] = ece(truth, score).value, gici(truth, score).overall.value
    found["advisory_value"] = advisory_value(truth, score).value
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


# ---------------------------------------------------------------- readers

# Variances, how far both arms tell the classes apart, and where a reading is positive.
LEVELS = (("HL", (1.5, 1.5), 0.75), ("LH", (1.5, 2.2), 0.75), ("HL", (2.8, 3.6), 1.6))
GAPS = ("complete", "10% missing", "30% missing", "missing by reader", "split plot")


def read(
    truth: NDArray[np.bool_], rating: Floats, cut: float, missing: NDArray[np.bool_], rng: np.random.Generator
) -> Readings:
    """The readings of a study: ratings (2, n_readers, n_cases), positive from `cut` on."""
    arm, reader, case = (index.astype(np.int32) for index in np.nonzero(~missing))
    n_readers, n_cases = rating.shape[1:]
    score = rating[arm, reader, case]
    return Readings(
        "",
        ARMS,
        Readers(Labels(n=n_readers)),
        Cases(Labels(n=n_cases), truth.astype(np.int8)),
        arm,
        reader,
        case,
        (score >= cut).astype(np.int8),
        score,
    )


def gaps(kind: str, shape: tuple[int, int, int], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which readings are missing, (2, n_readers, n_cases)."""
    _, readers, cases = shape
    if kind == "complete":
        return np.zeros(shape, bool)
    if kind == "missing by reader":
        share = rng.uniform(0, 0.4, readers)[:, None]
        return rng.random(shape) < share
    if kind == "split plot":
        group = np.arange(readers) % 2
        block = np.arange(cases) % 2
        return np.broadcast_to(group[:, None] != block, shape).copy()
    return rng.random(shape) < float(kind.split("%")[0]) / 100


def reader_truths(structure: str, mu: tuple[float, float], cut: float, n1: int, n0: int) -> dict[str, float]:
    """Expected values of the readers in both arms."""
    var = STRUCTURES[structure]
    found: dict[str, float] = {}
    of = {
        "sensitivity": [float(expected_sensitivity(m, cut, var)) for m in mu],
        "specificity": [float(expected_specificity(cut, var))] * 2,
        "auc": [float(expected_auc(m, var)) for m in mu],
    }
    of["accuracy"] = [(n1 * a + n0 * b) / (n1 + n0) for a, b in zip(of["sensitivity"], of["specificity"])]
    of["youden_j"] = [a + b - 1 for a, b in zip(of["sensitivity"], of["specificity"])]
    for name, (unaided, aided) in of.items():
        found[f"{name}, change"], found[f"{name}, aided"] = aided - unaided, aided
    wrong = [1 - value for value in of["accuracy"]]
    found |= {"relative risk of errors": wrong[1] / wrong[0]}
    found["odds ratio of errors"] = wrong[1] / (1 - wrong[1]) / (wrong[0] / (1 - wrong[0]))
    return found


def of_readers(readings: Readings) -> Found:
    """Changes, means of the aided arm, and ratios of errors."""
    compared = (ARMS[1], ARMS[0])
    for one in every_endpoint(readings, compared, LEVEL):
        yield f"{one.name}, change", one.whole.lead_difference(LEVEL)
        yield f"{one.name}, aided", one.whole.lead_mean(AIDED, LEVEL)
    errors = reader_errors(readings, compared, LEVEL)
    yield "relative risk of errors", errors.rr
    yield "odds ratio of errors", errors.odds_ratio


def readers() -> Iterator[Regime]:
    """Readers and cases of the Roe-Metz model, complete and with readings missing."""
    for (n1, n0), n_readers, kind in product(((20, 40), (30, 70)), (3, 4, 5, 10), GAPS):
        for structure, mu, cut in LEVELS:
            if kind == "split plot" and n_readers < 4:
                continue

            def study(
                rng: np.random.Generator,
                mu: tuple[float, float] = mu,
                cut: float = cut,
                n_readers: int = n_readers,
                n1: int = n1,
                n0: int = n0,
                kind: str = kind,
                structure: str = structure,
            ) -> Found:
                truth, rating = roe_metz(
                    mu, STRUCTURES[structure], n_readers=n_readers, n_positives=n1, n_negatives=n0, rng=rng
                )
                return of_readers(read(truth, rating, cut, gaps(kind, rating.shape, rng), rng))

            level = "no effect" if mu[0] == mu[1] else "skilled" if mu[0] > 2 else "effect"
            design = f"{n_readers} readers, {n1}+{n0} cases, {structure}, {kind}, {level}"
            true = partial(reader_truths, structure, mu, cut, n1, n0)
            yield Regime("readers", design, true, study, cost=0.06)


def one_reader() -> Iterator[Regime]:
    """One reader: the share of right decisions, and its change on the same cases."""
    for n, p, gain in product((20, 40, 100), (0.7, 0.8, 0.9, 0.95, 0.98), (0.0, 0.02)):

        def study(rng: np.random.Generator, n: int = n, p: float = p, gain: float = gain) -> Found:
            latent = rng.random(n)
            both = np.where(rng.random(n) < 0.5, latent, rng.random(n))
            correct = np.stack([latent < p, both < p + gain])
            truth = np.arange(n) % 2 == 0
            rating = np.where(correct == truth, 1.0, 0.0)[:, None, :]
            readings = read(truth, rating, 0.5, np.zeros(rating.shape, bool), rng)
            (accuracy,) = (e for e in endpoints(readings, (ARMS[1], ARMS[0]), LEVEL) if e.name == "accuracy")
            yield "accuracy, aided", accuracy.whole.lead_mean(AIDED, LEVEL)
            yield "accuracy, change", accuracy.whole.lead_difference(LEVEL)

        true = {"accuracy, aided": p + gain, "accuracy, change": gain}
        yield Regime(
            "one reader",
            f"{n} cases, share {p:g}, gain {gain:g}",
            partial(dict, true),
            study,
            shares=frozenset(true),
            neighbours=(f"{n} cases, gain {gain:g}", p),
            cost=0.02,
        )

    for (n1, n0), mu, kind in product(((20, 40), (30, 70)), ((1.5, 1.5), (1.5, 2.2)), (GAPS[0], GAPS[2])):

        def areas_of_one(
            rng: np.random.Generator,
            n1: int = n1,
            n0: int = n0,
            mu: tuple[float, float] = mu,
            kind: str = kind,
        ) -> Found:
            truth = np.arange(n1 + n0) < n1
            case = rng.normal(0, sqrt(0.5), n1 + n0)
            rating = np.array(mu)[:, None, None] * truth + case + rng.normal(0, sqrt(0.5), (2, 1, n1 + n0))
            readings = read(truth, rating, 0.5, gaps(kind, rating.shape, rng), rng)
            (area,) = (e for e in endpoints(readings, (ARMS[1], ARMS[0]), LEVEL) if e.name == "auc")
            yield "auc, aided", area.whole.lead_mean(AIDED, LEVEL)
            yield "auc, change", area.whole.lead_difference(LEVEL)

        unaided, aided = (float(ndtr(m / sqrt(2))) for m in mu)
        yield Regime(
            "one reader",
            f"{n1}+{n0} cases, {kind}, areas {unaided:.2f} and {aided:.2f}",
            partial(dict, {"auc, aided": aided, "auc, change": aided - unaided}),
            areas_of_one,
        )


# ---------------------------------------------------------------- published counts

OF_COUNTS = {
    "pragmatic_utility.arr": "risk reduction",
    "pragmatic_utility.rr": "relative risk",
    "pragmatic_utility.odds_ratio": "odds ratio",
}


@cache
def two_arms(n: int, unaided: int, aided: int) -> tuple[tuple[str, Estimate], ...]:
    """The primary estimates of a table of two groups."""
    arms = {"unaided": ArmCounts(unaided, n - unaided), "aided": ArmCounts(aided, n - aided)}
    study = Study(arms=ARMS, counts=(CountsSet("table", arms),))
    return tuple(primary(pragmatic_utility.DIMENSION.answer(study, plan()).results, OF_COUNTS))


def counts() -> Iterator[Regime]:
    """Two groups, every outcome; with few errors most tables have an empty cell."""
    for n, (p, q) in product((20, 40), ((0.05, 0.05), (0.1, 0.05), (0.3, 0.1), (0.3, 0.3), (0.5, 0.2))):

        def outcomes(n: int = n, p: float = p, q: float = q) -> Iterator[tuple[float, Found]]:
            for (i, one), (j, other) in product(enumerate(binomial(n, p)), enumerate(binomial(n, q))):
                if one * other > 1e-7:
                    yield float(one * other), two_arms(n, i, j)

        true = {"risk reduction": p - q, "relative risk": q / p, "odds ratio": q / (1 - q) / (p / (1 - p))}
        yield Regime(
            "two groups",
            f"{n} decisions in each, errors {p:g} and {q:g}",
            partial(dict, true),
            outcomes=outcomes,
            shares=frozenset(true),
            neighbours=(f"{n} in each", p + q),
            due=n * min(p, q) >= 10,
            cost=5.0,
        )


# ---------------------------------------------------------------- raters, periods, groups, candidates

AGREEMENT = ("percent_agreement", "krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac1")


def labelled(n: int, raters: int, share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Labels (n_cases, n_raters): the raters see a common finding, each with a spread of its own."""
    seen = rng.normal(0, 1, n)[:, None] + rng.normal(0, 0.6, (n, raters))
    return (seen > sqrt(1.36) * float(ndtri(1 - share))).astype(np.int64)


def agreement_of(share: float) -> dict[str, float]:
    """The coefficients of endless cases, by quadrature over what is common to the raters."""
    node, weight = np.polynomial.hermite_e.hermegauss(200)
    label = ndtr((node - sqrt(1.36) * float(ndtri(1 - share))) / 0.6)
    same = float(weight @ (label**2 + (1 - label) ** 2) / weight.sum())
    by_chance = share**2 + (1 - share) ** 2
    kappa, chance = (same - by_chance) / (1 - by_chance), 2 * share * (1 - share)
    found = dict.fromkeys(AGREEMENT, kappa)
    return found | {"percent_agreement": same, "gwet_ac1": (same - chance) / (1 - chance)}


def raters() -> Iterator[Regime]:
    """Agreement of two to five raters on labels common and rare."""
    for n, k, share in product((20, 50, 100), (2, 3, 5), (0.02, 0.1, 0.5)):

        def study(rng: np.random.Generator, n: int = n, k: int = k, share: float = share) -> Found:
            codes = labelled(n, k, share, rng)
            for name in AGREEMENT:
                yield name, leading_agreement(name, COEFFICIENTS[name](codes, 2, level=LEVEL), codes, 2)

        design = f"{k} raters, {n} cases, label of {share:.0%}"
        true = partial(agreement_of, share)
        yield Regime("agreement", design, true, study, due=n * share >= 20, cost=0.2)


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


PER_CLASS, CUT = 50, 0.75


def device_and_readers() -> Iterator[Regime]:
    """A device that stays as it is against readers and cases of the Roe-Metz model."""
    for structure, n_readers, kind, mu in product(("HL", "LH"), (3, 5, 10), GAPS[:2], (1.5, 2.2)):

        def study(
            rng: np.random.Generator,
            structure: str = structure,
            n_readers: int = n_readers,
            kind: str = kind,
            mu: float = mu,
        ) -> Found:
            truth = np.arange(2 * PER_CLASS) >= PER_CLASS
            var = STRUCTURES[structure]

            def term(variance: float, *shape: int) -> Floats:
                return np.asarray(sqrt(variance) * rng.standard_normal(shape))

            case = term(var.case, 2 * PER_CLASS)
            alone = mu * truth + case + term(var.arm_case + var.reader_case + var.error, 2 * PER_CLASS)
            readers = 1.5 * truth + case + term(var.arm_case, 2 * PER_CLASS)
            # Readers' terms are drawn anew for each class.
            by_class = term(var.reader + var.arm_reader, 2, n_readers)[truth.astype(int)].T
            rating = readers + by_class + term(var.reader_case + var.error, n_readers, 2 * PER_CLASS)
            rating = np.stack([rating, rating])
            missing = gaps(kind, rating.shape, rng)
            missing[1] = missing[0]
            readings = read(truth, rating, CUT, missing, rng)
            advice = (alone >= CUT).astype(np.int8)[readings.case]
            readings = replace(readings, advice=np.where(readings.arm == 1, advice, -1).astype(np.int8))
            pair = (ARMS[1], ARMS[0])
            given = advice_of(readings, pair)
            assert given is not None
            results = ai_results(readings, pair, given, LEVEL, Place(task=""), several_contrasts=False)
            for r in results:
                if r.primary and r.place.arm == "unaided":
                    yield f"{r.endpoint}, device less readers", r.estimate

        (own,), (theirs,) = ([float(expected_sensitivity(m, CUT, STRUCTURES[structure]))] for m in (mu, 1.5))
        gain = {"sensitivity": own - theirs, "specificity": 0.0, "accuracy": (own - theirs) / 2}
        true = {f"{name}, device less readers": value for name, value in gain.items()}
        design = f"{n_readers} readers, {PER_CLASS}+{PER_CLASS} cases, {structure}, {kind}, device {mu:g}"
        yield Regime("device against readers", design, partial(dict, true), study, cost=0.02)


def gains() -> Iterator[Regime]:
    """The readers' gain on the cases of one group less that on the others."""
    for n_readers, (n, m), kind in product((4, 6, 12), ((40, 40), (30, 120)), ("complete", "10% missing")):

        def study(
            rng: np.random.Generator, n_readers: int = n_readers, n: int = n, m: int = m, kind: str = kind
        ) -> Found:
            group = np.arange(n + m) < n
            of_reader, of_arm = rng.normal(0, 0.3, n_readers), rng.normal(0, 0.15, (2, n_readers))
            mean = np.where(group, 0.5, 0.9) + np.array([0.0, 0.3])[:, None, None]
            spread = of_reader[:, None] + of_arm[:, :, None]
            latent = mean + spread + rng.normal(0, 0.7, n + m) + rng.normal(0, 0.7, (2, n_readers, n + m))
            truth = np.arange(n + m) % 2 == 1
            rating = np.where((latent > 0) == truth, 1.0, 0.0)
            readings = read(truth, rating, 0.5, gaps(kind, rating.shape, rng), rng)
            columns = {"unit": coded(np.where(group, "first", "other"))}
            readings = replace(readings, score=None, cases=replace(readings.cases, groups=columns))
            made = Study(arms=ARMS, readings=(readings,))
            results = subgroups.DIMENSION.answer(
                made, plan(subgroups=[{"name": "unit", "prespecified": True}])
            ).results
            for r in results:
                here = r.place.subgroup == "unit: first" and r.endpoint == "accuracy"
                if r.primary and here and r.id == "subgroups.subgroup_difference":
                    yield "gain in accuracy, difference", r.estimate

        def true() -> Truths:
            total = sqrt(0.3**2 + 0.15**2 + 2 * 0.7**2)
            share = {(a, g): float(ndtr((g + 0.3 * a) / total)) for a in (0, 1) for g in (0.5, 0.9)}
            gain = {g: share[1, g] - share[0, g] for g in (0.5, 0.9)}
            return {"gain in accuracy, difference": gain[0.5] - gain[0.9]}

        yield Regime("gain of a group", f"{n_readers} readers, {n}+{m} cases, {kind}", true, study, cost=0.05)


OVER_SITES = {"sensitivity": "typical site, sensitivity", "auc": "typical site, area"}


def sites() -> Iterator[Regime]:
    """Sites whose sensitivity and area differ: the typical site."""
    for k, n, spread in product((4, 6, 12), (60, 200), (0.0, 0.5)):

        def study(rng: np.random.Generator, k: int = k, n: int = n, spread: float = spread) -> Found:
            truth = np.tile(np.arange(n) % 3 == 0, k)
            away = spread * np.repeat(rng.normal(0, 1, k), n)
            score = np.where(truth, 1.4 + away, 0.0) + rng.logistic(0, 1, k * n)
            made = tuple(
                dataset(truth[of], expit(score[of]), name=f"site {i}")
                for i, of in enumerate(np.split(np.arange(k * n), k))
            )
            declared = plan(operating_point={"threshold": 0.5})
            cases = scored_cases(Study(datasets=made), declared)
            of_sites = [site for case in cases for site in sites_of(case, declared)]
            for name, wanted in OVER_SITES.items():
                found = between_sites(
                    name, of_sites, k, Place(datasets=tuple(d.name for d in made)), declared
                )
                yield from primary(found, {"potential_robustness.pooled_performance": wanted})

        def true() -> Truths:
            # The area at the median site: positives 1.4 above negatives, both logistic.
            x = np.linspace(-40, 40, 400_001)
            density = expit(x) * expit(-x)
            area = float((density * expit(x + 1.4)).sum() * (x[1] - x[0]))
            return {"typical site, sensitivity": float(expit(1.4)), "typical site, area": area}

        yield Regime("over sites", f"{k} sites of {n} cases, spread {spread:g}", true, study, cost=0.1)


TOPICS: Mapping[str, Callable[[], Iterator[Regime]]] = {
    "shares": shares,
    "areas": areas,
    "sets": sets,
    "readers": readers,
    "one reader": one_reader,
    "counts": counts,
    "raters": raters,
    "periods": periods,
    "groups": groups,
    "candidates": candidates,
    "device": device_and_readers,
    "gains": gains,
    "sites": sites,
}

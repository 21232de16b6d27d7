"""Regimes of readers and raters: readings, published counts, agreement, the device against readers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from regimes.regime import ARMS, LEVEL, Found, Regime, Truths, binomial, coded, plan, primary
from trustreport.assessment.dimensions import (
    pragmatic_utility,
    subgroups,
)
from trustreport.assessment.dimensions.decision_benefit.ai_alone import advice_of, ai_results
from trustreport.assessment.dimensions.source_reliability.results import COEFFICIENTS, leading_agreement
from trustreport.assessment.performance.reader_analysis import AIDED
from trustreport.assessment.performance.reader_errors import reader_errors
from trustreport.assessment.performance.readers import endpoints, every_endpoint
from trustreport.measures.agreement.interval import coefficient_interval
from trustreport.measures.agreement.kappa import cohen_kappa, light_kappa
from trustreport.measures.agreement.weighted_concordance import weighted_concordance
from trustreport.measures.estimate import Estimate
from trustreport.planning.simulate import STRUCTURES, roe_metz
from trustreport.study.study import (
    ArmCounts,
    Cases,
    CountsSet,
    Floats,
    Labels,
    Readers,
    Readings,
    Study,
)
from trustreport.vocabulary.place import Place

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
        "sensitivity": [float(ndtr((m - cut) / sqrt(var.total))) for m in mu],
        "specificity": [float(ndtr(cut / sqrt(var.total)))] * 2,
        "auc": [float(ndtr(m / sqrt(2 * var.total))) for m in mu],
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


# Variances of a reading: patient, patient in an arm, reader (of a class), reader in an arm (of a class),
# case, rest.
PATIENT, PATIENT_ARM, READER, READER_ARM, CASE, REST = 0.25, 0.15, 0.05, 0.02, 0.25, 0.28
MEANS, BETWEEN = (1.5, 1.9), 0.75


def readers_of_patients() -> Iterator[Regime]:
    """Six readers of patients with one to six cases each, two fifths of the cases positive."""
    for patients, of in ((60, 2), (40, 4), (40, 6)):

        def study(rng: np.random.Generator, patients: int = patients, of: int = of) -> Found:
            n, n_readers = patients * of, 6
            patient, truth = np.repeat(np.arange(patients), of), rng.permutation(np.arange(n) % 5 < 2)

            def term(variance: float, *shape: int) -> Floats:
                return np.asarray(sqrt(variance) * rng.standard_normal(shape))

            by_patient = term(PATIENT, patients)[patient] + term(PATIENT_ARM, 2, 1, patients)[..., patient]
            by_reader = term(READER, 1, n_readers, 2) + term(READER_ARM, 2, n_readers, 2)
            rating = np.array(MEANS)[:, None, None] * truth + by_patient + by_reader[..., truth.astype(int)]
            rating = rating + term(CASE, n) + term(REST, 2, n_readers, n)
            made = read(truth, rating, BETWEEN, np.zeros(rating.shape, bool), rng)
            yield from of_readers(replace(made, cases=replace(made.cases, patient=coded(patient))))

        def true(patients: int = patients, of: int = of) -> Truths:
            n, alike = patients * of, (of - 1) / (patients * of - 1)  # pairs of two cases of one patient
            within = sqrt(2 * (1 - PATIENT - PATIENT_ARM))
            found: dict[str, list[float]] = {
                "sensitivity": [float(ndtr(m - BETWEEN)) for m in MEANS],
                "specificity": [float(ndtr(BETWEEN))] * 2,
                "auc": [float((1 - alike) * ndtr(m / sqrt(2)) + alike * ndtr(m / within)) for m in MEANS],
            }
            positive = int(np.count_nonzero(np.arange(n) % 5 < 2)) / n
            pairs = list(zip(found["sensitivity"], found["specificity"]))
            found["accuracy"] = [positive * a + (1 - positive) * b for a, b in pairs]
            found["youden_j"] = [a + b - 1 for a, b in pairs]
            wrong = [1 - value for value in found["accuracy"]]
            values = {f"{name}, change": b - a for name, (a, b) in found.items()}
            values |= {f"{name}, aided": b for name, (_, b) in found.items()}
            odds = [w / (1 - w) for w in wrong]
            ratios = {
                "relative risk of errors": wrong[1] / wrong[0],
                "odds ratio of errors": odds[1] / odds[0],
            }
            return values | ratios

        design = f"6 readers, {patients} patients of {of} cases"
        yield Regime("readers of patients", design, true, study, cost=0.1)


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


# ---------------------------------------------------------------- raters

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
        shares = frozenset(["percent_agreement"])
        yield Regime("agreement", design, true, study, shares=shares, due=n * share >= 20, cost=0.2)


ACCURACY, SURE = 0.9, (0.6, 0.8, 1.0)  # of the raters of `pairs_of_raters`, and their confidences


def pairs_of_raters() -> Iterator[Regime]:
    """Kappas of pairs of three raters, and agreement weighted by what the raters know."""
    for n, share in product((50, 100), (0.1, 0.5)):

        def study(rng: np.random.Generator, n: int = n, share: float = share) -> Found:
            codes = labelled(n, 3, share, rng)
            pair = codes[:, :2]
            one, mean, light = (
                cohen_kappa(pair[:, 0], pair[:, 1], 2, level=LEVEL),
                light_kappa(codes, 2, of=0, level=LEVEL),
                light_kappa(codes, 2, level=LEVEL),
            )
            yield "cohen_kappa", coefficient_interval(one, pair, 2)
            yield "mean_cohen_kappa", coefficient_interval(mean, codes, 2)
            yield "light_kappa", leading_agreement("light_kappa", light, codes, 2)
            sure = rng.choice(SURE, codes.shape)
            rho = weighted_concordance(codes, 2, confidence=sure, accuracy=ACCURACY, rng=rng, level=LEVEL)
            yield "weighted_concordance", rho

        def true(share: float = share) -> Truths:
            found = agreement_of(share)
            known = float(np.mean([c / (c + (1 - c) / 2) for c in SURE])) ** 2
            on_truth = ACCURACY**2 / (ACCURACY**2 + (1 - ACCURACY) ** 2)
            kappas = dict.fromkeys(("cohen_kappa", "mean_cohen_kappa", "light_kappa"), found["fleiss_kappa"])
            return {**kappas, "weighted_concordance": found["percent_agreement"] * known * on_truth}

        design = f"3 raters, {n} cases, label of {share:.0%}"
        yield Regime("agreement of pairs", design, true, study, due=n * share >= 20, cost=0.01)


# ---------------------------------------------------------------- the device, gains of groups

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

        (own,), (theirs,) = ([float(ndtr((m - CUT) / sqrt(STRUCTURES[structure].total)))] for m in (mu, 1.5))
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

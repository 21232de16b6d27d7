"""Our side: each function takes the arrays, gets ready, and returns the call that is timed."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy import special

from compared.inputs import CATEGORIES, Inputs
from trustreport.measures.agreement.coefficients import gwet_ac1, gwet_ac2, krippendorff_alpha
from trustreport.measures.agreement.kappa import cohen_kappa, conger_kappa, fleiss_kappa
from trustreport.measures.agreement.labels import quadratic
from trustreport.measures.calibration.binned import calibration_curve
from trustreport.measures.calibration.overall import brier
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.net_benefit import decision_curve
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.paired.ratios import mcnemar_exact
from trustreport.measures.proportion import clopper_pearson, wilson
from trustreport.measures.reported.matrices import fits
from trustreport.measures.reported.printed import cases, printed
from trustreport.measures.roc.auc import auc_logit_larger, delong
from trustreport.measures.roc.curve import logit_influence, roc_curve
from trustreport.measures.sample_size import Information, mss_auc, mss_calibration_slope, mss_oe
from trustreport.measures.similarity.correspondence import correspondence, mmd
from trustreport.measures.similarity.features import standardise

Outputs = Mapping[str, object]
Call = Callable[[], Outputs]
PERMUTATIONS = 199
THRESHOLDS = np.arange(1, 100) / 100
SCALAR = ("sensitivity", "specificity", "ppv", "npv", "f1", "accuracy", "mcc", "lr_positive", "lr_negative")


def area(x: Inputs) -> Call:
    def call() -> Outputs:
        return {"auc": auc_logit_larger(x["truth"], x["score"]).value}

    return call


def area_delong(x: Inputs) -> Call:
    def call() -> Outputs:
        e = delong(x["truth"], x["score"])
        return {"auc": e.value, "variance": e.se**2}

    return call


def precision(x: Inputs) -> Call:
    return lambda: {"average_precision": logit_influence(x["truth"], x["score"]).value}


def curve(x: Inputs) -> Call:
    def call() -> Outputs:
        found = roc_curve(x["truth"], x["score"])
        return {"fpr": found.fpr, "tpr": found.tpr, "threshold": found.threshold}

    return call


def brier_score(x: Inputs) -> Call:
    return lambda: {"brier": brier(x["truth"], x["score"], interval="logit_t").value}


def calibration(x: Inputs) -> Call:
    def call() -> Outputs:
        found = calibration_curve(x["truth"], x["score"])
        return {"observed": [p.observed.value for p in found], "mean": [p.mean_score for p in found]}

    return call


def matthews(x: Inputs) -> Call:
    return lambda: {
        "mcc": estimated(MEASURES["mcc"], ConfusionCounts.of_decisions(x["truth"], x["decision"])).value
    }


def four_cells(x: Inputs) -> Call:
    def call() -> Outputs:
        cells = ConfusionCounts.of_decisions(x["truth"], x["decision"])
        every = {name: estimated(measure, cells) for name, measure in MEASURES.items()}
        return {name: every[name].value for name in SCALAR}

    return call


def net_benefit(x: Inputs) -> Call:
    def call() -> Outputs:
        found = decision_curve(x["truth"], x["score"], THRESHOLDS)
        return {"net_benefit": found.value, "treat_all": found.treat_all}

    return call


def kappa(x: Inputs) -> Call:
    return lambda: {"kappa": cohen_kappa(x["first"], x["second"], CATEGORIES).value}


def kappa_quadratic(x: Inputs) -> Call:
    credit = quadratic(CATEGORIES)
    return lambda: {"kappa": cohen_kappa(x["first"], x["second"], CATEGORIES, weights=credit).value}


def fleiss(x: Inputs) -> Call:
    return lambda: {"kappa": fleiss_kappa(x["codes"], CATEGORIES).value}


def fleiss_variance(x: Inputs) -> Call:
    def call() -> Outputs:
        e = fleiss_kappa(x["codes"], CATEGORIES)
        return {"value": e.value, "se": e.se}

    return call


def conger(x: Inputs) -> Call:
    def call() -> Outputs:
        e = conger_kappa(x["codes"], CATEGORIES)
        return {"value": e.value, "se": e.se}

    return call


def ac1(x: Inputs) -> Call:
    def call() -> Outputs:
        e = gwet_ac1(x["codes"], CATEGORIES)
        return {"value": e.value, "se": e.se, "low": e.low, "high": e.high}

    return call


def ac2(x: Inputs) -> Call:
    credit = quadratic(CATEGORIES)

    def call() -> Outputs:
        e = gwet_ac2(x["codes"], CATEGORIES, credit)
        return {"value": e.value, "se": e.se, "low": e.low, "high": e.high}

    return call


def alpha(x: Inputs) -> Call:
    return lambda: {"alpha": krippendorff_alpha(x["codes"], CATEGORIES).value}


def alpha_ordinal(x: Inputs) -> Call:
    return lambda: {"alpha": krippendorff_alpha(x["codes"], CATEGORIES, metric="ordinal").value}


def wilson_limits(x: Inputs) -> Call:
    events, n = int(x["events"][0]), int(x["cases"][0])

    def call() -> Outputs:
        e = wilson(events, n)
        return {"low": e.low, "high": e.high}

    return call


def exact_limits(x: Inputs) -> Call:
    events, n = int(x["events"][0]), int(x["cases"][0])

    def call() -> Outputs:
        e = clopper_pearson(events, n)
        return {"low": e.low, "high": e.high}

    return call


def mcnemar(x: Inputs) -> Call:
    events, n = int(x["events"][0]), int(x["cases"][0])
    table = PairedTable(n, (events + n) // 4, events - events // 8, n // 3)
    return lambda: {"p": mcnemar_exact(table).p}


def energy(x: Inputs) -> Call:
    def call() -> Outputs:
        features = standardise(x["training"], x["external"], by="none")
        e = correspondence(features, np.random.default_rng(1), permutations=PERMUTATIONS).energy_distance
        return {"statistic": e.value, "p": e.p}

    return call


def kernel(x: Inputs) -> Call:
    def call() -> Outputs:
        features = standardise(x["training"], x["external"], by="none")
        return {"p": mmd(features, np.random.default_rng(1), permutations=PERMUTATIONS).p}

    return call


def information_normal(mean: float, sd: float) -> Information:
    """Of scores whose logit is normal: by the trapezoidal rule, exact to rounding for smooth integrands."""
    step = min(0.05, 0.2 / sd)  # far under the distance pi / sd of the integrand's nearest pole
    z = np.arange(-9.5, 9.5 + step, step)
    density = np.exp(-(z**2) / 2) * step / np.sqrt(2 * np.pi)
    predictor = mean + sd * z
    weight = density * special.expit(predictor) * special.expit(-predictor)
    return Information(
        float(weight.sum()), float((predictor**2 * weight).sum()), float((predictor * weight).sum())
    )


def sizes(x: Inputs) -> Call:
    phi = float(x["prevalence"][0])

    def call() -> Outputs:
        return {
            "oe": mss_oe(phi, width=1.0).value,
            "slope": mss_calibration_slope(information_normal(-1.5, 1.2)).value,
            "auc": mss_auc(0.8, phi).value,
        }

    return call


def consistency(x: Inputs) -> Call:
    positives, negatives = (int(k) for k in x["classes"])

    def fit(shift: int) -> bool:
        said = [f"{k / 10_000:.4f}" for k in (int(x["figures"][0]) + shift, *x["figures"][1:].tolist())]
        names = ("accuracy", "sensitivity", "specificity")
        figures = [printed(name, text) for name, text in zip(names, said, strict=True)]
        return fits(figures, cases(positives, negatives))

    return lambda: {"true_figures": fit(0), "one_figure_off": fit(300)}

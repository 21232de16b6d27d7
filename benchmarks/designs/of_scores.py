"""Scored data sets: cases whose risk is normal on the logit scale, and scores that are a line of it."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid
from scipy.special import expit
from scipy.stats import norm

from designs.drawn import Drawn, ask_values, chosen, operating_point, study

FEWEST = 12  # cases of a class
PLACES = 4001

Numbers = NDArray[np.float64]
Cases = tuple[NDArray[np.bool_], Numbers]


@dataclass(frozen=True, slots=True)
class Risk:
    """logit(risk) is normal (`mean`, `spread`); logit(score) = `shift` + `slope` logit(risk)."""

    mean: float
    spread: float
    shift: float
    slope: float

    def draw(
        self, rng: Generator, n: int, patient: NDArray[np.int64] | None = None, alike: float = 0.0
    ) -> Cases:
        """Truth and score of cases in general; those of a patient are `alike` in score and in truth."""
        noise, chance = rng.standard_normal(n), rng.standard_normal(n)
        if patient is not None:
            shared = rng.standard_normal((2, int(patient.max()) + 1))[:, patient]
            noise = sqrt(alike) * shared[0] + sqrt(1 - alike) * noise
            chance = sqrt(alike) * shared[1] + sqrt(1 - alike) * chance
        logit = self.mean + self.spread * noise
        return norm.cdf(chance) < expit(logit), expit(self.shift + self.slope * logit)

    def true(self, threshold: float) -> dict[str, float]:
        """Of all cases that could be drawn, by quadrature."""
        x = self.mean + self.spread * np.linspace(-8.0, 8.0, PLACES)
        cut = (log(threshold / (1 - threshold)) - self.shift) / self.slope
        above = np.linspace(cut, max(cut, x[-1]), PLACES)
        prevalence = self._mass(x, positive=True)
        sensitivity = self._mass(above, positive=True) / prevalence
        specificity = 1 - self._mass(above, positive=False) / (1 - prevalence)
        risk, score, density = (
            expit(x),
            expit(self.shift + self.slope * x),
            norm.pdf(x, self.mean, self.spread),
        )
        below = cumulative_trapezoid(density * (1 - risk), x, initial=0.0) / (1 - prevalence)
        squares = risk * (1 - score) ** 2 + (1 - risk) * score**2
        return {
            **of_cells(sensitivity, specificity, prevalence),
            "auc": float(np.trapezoid(density * risk * below, x) / prevalence),
            "brier": float(np.trapezoid(density * squares, x)),
            "oe_ratio": prevalence / float(np.trapezoid(density * score, x)),
            "calibration_slope": 1 / self.slope,
            "prevalence": prevalence,
        }

    def _mass(self, x: Numbers, *, positive: bool) -> float:
        risk = expit(x)
        return float(np.trapezoid(norm.pdf(x, self.mean, self.spread) * (risk if positive else 1 - risk), x))


def of_cells(sensitivity: float, specificity: float, prevalence: float) -> dict[str, float]:
    """What the four shares of cases give."""
    tp, fn = prevalence * sensitivity, prevalence * (1 - sensitivity)
    tn, fp = (1 - prevalence) * specificity, (1 - prevalence) * (1 - specificity)
    margins = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    chance = (tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "ppv": tp / (tp + fp),
        "npv": tn / (tn + fn),
        "accuracy": tp + tn,
        "balanced_accuracy": (sensitivity + specificity) / 2,
        "youden_j": sensitivity + specificity - 1,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / margins,
        "cohen_kappa": (tp + tn - chance) / (1 - chance),
        "lr_positive": sensitivity / (1 - specificity),
        "lr_negative": (1 - sensitivity) / specificity,
    }


def risk_and_threshold(rng: Generator) -> tuple[Risk, float]:
    """Scores that are more or less calibrated, and a threshold among them."""
    mean, spread = float(rng.uniform(-1.6, 0.3)), float(rng.uniform(1.2, 2.6))
    risk = Risk(mean, spread, float(rng.uniform(-0.4, 0.4)), float(rng.uniform(0.7, 1.3)))
    threshold = float(expit(risk.shift + risk.slope * (mean + spread * rng.uniform(-0.2, 0.7))))
    return risk, round(threshold, 3)


def drawn_cases(rng: Generator, risk: Risk, n: int, **more: Any) -> Cases:
    """Cases in general, but enough of either class."""
    while True:
        truth, score = risk.draw(rng, n, **more)
        if min(truth.sum(), n - truth.sum()) >= FEWEST:
            return truth, score


def table(truth: NDArray[np.bool_], score: Numbers, dataset: str = "test", **columns: Any) -> pd.DataFrame:
    """A table of scores."""
    names = [f"{dataset} {i}" for i in range(len(truth))]
    return pd.DataFrame(
        {"case": names, "dataset": dataset, "truth": truth.astype(int), "score": score, **columns}
    )


def scored(cases: pd.DataFrame, threshold: float, **parts: Any) -> Drawn:
    """A study of one external set."""
    made = {
        "datasets": [{"dataset": "test", "role": "external", "sampling": "consecutive"}],
        "tables": {"scores": cases},
        "operating_point": operating_point(threshold),
    }
    return study(**{**made, **parts})


def ask(drawn: Drawn, rng: Generator, true: dict[str, float], names: list[str], most: int = 3) -> None:
    """Goals of some measures of a set; of one that is best at 1 an end of a range."""
    for name in chosen(rng, names, most):
        risks = name in ("brier", "oe_ratio", "calibration_slope")
        measure, value, bound = (
            f"{'advice_value' if risks else 'advice_accuracy'}.{name}",
            true[name],
            true[name],
        )
        if name in ("oe_ratio", "calibration_slope"):
            bound = [value, 5 * value] if rng.random() < 0.5 else [value / 5, value]
        drawn.ask(measure, "performance goal", bound, dataset="test")


OF_CELLS = [
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "accuracy",
    "balanced_accuracy",
    "youden_j",
    "f1",
    "mcc",
]
OF_SCORES = [*OF_CELLS, "lr_positive", "lr_negative", "auc", "brier", "oe_ratio", "calibration_slope"]


def independent(rng: Generator) -> Drawn:
    """Every case of a patient of its own."""
    risk, threshold = risk_and_threshold(rng)
    truth, score = drawn_cases(rng, risk, int(rng.integers(80, 401)))
    drawn = scored(table(truth, score), threshold)
    ask(drawn, rng, risk.true(threshold), OF_SCORES, 4)
    return drawn


def clusters(rng: Generator) -> Drawn:
    """Patients of one to eight cases that are alike."""
    risk, threshold = risk_and_threshold(rng)
    persons = int(rng.integers(40, 91))
    patient = np.repeat(np.arange(persons), rng.integers(1, int(rng.integers(3, 10)), persons))
    alike = float(rng.uniform(0.1, 0.7))
    truth, score = drawn_cases(rng, risk, len(patient), patient=patient, alike=alike)
    drawn = scored(table(truth, score, patient=[f"P{p}" for p in patient]), threshold)
    ask(drawn, rng, risk.true(threshold), [*OF_CELLS[:6], "auc", "brier", "oe_ratio", "calibration_slope"], 4)
    return drawn


def enriched(rng: Generator) -> Drawn:
    """Positives and negatives drawn apart; judged at the prevalence of the intended use."""
    threshold = round(float(rng.uniform(0.2, 0.8)), 3)
    cut = log(threshold / (1 - threshold))
    sensitivity, specificity = rng.uniform(0.7, 0.95), rng.uniform(0.7, 0.97)
    spread = rng.uniform(0.7, 1.5)
    positives, negatives = int(rng.integers(30, 151)), int(rng.integers(30, 201))
    truth = np.arange(positives + negatives) < positives
    centre = np.where(truth, norm.ppf(sensitivity), -norm.ppf(specificity))
    score = expit(cut + spread * (centre + rng.standard_normal(len(truth))))
    prevalence = round(float(np.exp(rng.uniform(log(0.01), log(0.3)))), 4)
    sets = [{"dataset": "test", "role": "external", "sampling": "enriched"}]
    use = {"intended_patient_population": {"prevalence_expected": prevalence}}
    drawn = scored(table(truth, score), threshold, datasets=sets, intended_use=use)
    true = of_cells(float(sensitivity), float(specificity), prevalence)
    ask(drawn, rng, true, ["sensitivity", "specificity"], 1)
    ask(drawn, rng, true, ["ppv", "npv", "accuracy"], 2)
    return drawn


def verified(rng: Generator) -> Drawn:
    """All alarms have a truth, and of the other cases a part that was drawn."""
    risk, threshold = risk_and_threshold(rng)
    truth, score = drawn_cases(rng, risk, int(rng.integers(200, 501)))
    share = round(float(rng.uniform(0.25, 0.8)), 2)
    known = (score >= threshold) | (rng.random(len(truth)) < share)
    cases = table(truth, score)
    cases["truth"] = pd.array(np.where(known, truth, -1), dtype="Int64")
    cases.loc[~known, "truth"] = pd.NA
    standard = {
        "applied_to": "subset",
        "verification": {"by": "design", "share": {"positive": 1, "negative": share}},
    }
    drawn = scored(cases, threshold, reference_standard=standard)
    true = risk.true(threshold)
    goals = {f"corrected_{name}": true[name] for name in ("sensitivity", "specificity")}
    ask_values(drawn, rng, goals, "advice_accuracy.", dataset="test")
    return drawn


def weighted(rng: Generator) -> Drawn:
    """Cases below a score are drawn with a known chance, and weighted for it."""
    risk, threshold = risk_and_threshold(rng)
    truth, score = risk.draw(rng, int(rng.integers(250, 701)))
    chance = np.where(score >= threshold * rng.uniform(0.4, 1.3), 1.0, round(rng.uniform(0.25, 0.7), 2))
    kept = rng.random(len(truth)) < chance
    cases = table(truth[kept], score[kept], w=1 / chance[kept])
    drawn = scored(cases, threshold)
    drawn.manifest["tables"] = {"scores": {"file": cases, "columns": {"weight": "w"}}}
    ask(
        drawn,
        rng,
        risk.true(threshold),
        ["sensitivity", "specificity", "ppv", "npv", "accuracy", "auc", "brier"],
        3,
    )
    return drawn


def decisions(rng: Generator) -> Drawn:
    """The device says yes or no, and gives no score; some patients have several cases."""
    risk, threshold = risk_and_threshold(rng)
    several, n = rng.random() < 0.5, int(rng.integers(80, 301))
    patient = np.sort(rng.integers(0, n // 3, n)) if several else None
    alike = float(rng.uniform(0.1, 0.6)) if several else 0.0
    truth, score = drawn_cases(rng, risk, n, patient=patient, alike=alike)
    cases = table(truth, score).drop(columns="score").assign(decision=(score >= threshold).astype(int))
    if patient is not None:
        cases["patient"] = [f"P{p}" for p in patient]
    drawn = scored(cases, threshold)
    del drawn.manifest["operating_point"]
    ask(drawn, rng, risk.true(threshold), OF_CELLS[:6] if several else OF_CELLS, 3)
    return drawn

"""Studies of readers: random readers and cases, both arms alike or apart by a known difference."""

from dataclasses import astuple, dataclass
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import norm

from designs.drawn import Drawn, ask_difference, chosen, study
from trustreport.planning.simulate import STRUCTURES, Variances

ARMS = ("unaided", "aided")
FEWEST = 10  # cases of a class
OF = ("accuracy", "sensitivity", "specificity", "auc")
READINGS = Variances(0.10, 0.03, 0.25, 0.05, 0.12, 0.45)  # readers further apart than those of Roe and Metz

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Model:
    """Ratings by arm: means of positives (those of negatives are 0) and thresholds, with a common spread.

    `patient` and `arm_patient` are the variances of terms that the cases of a patient share.
    """

    means: tuple[float, float]
    thresholds: tuple[float, float]
    variances: Variances
    patient: float = 0.0
    arm_patient: float = 0.0

    @property
    def spread(self) -> float:
        """Of a rating of a class, over readers, patients and cases."""
        return sqrt(self.variances.total + self.patient + self.arm_patient)

    def values(self, prevalence: float) -> dict[str, tuple[float, float]]:
        """What readers in general reach on cases in general, in both arms."""
        reached: dict[str, tuple[float, float]] = {}
        for name in OF:
            pair = [self._value(name, arm, prevalence) for arm in range(2)]
            reached[name] = (pair[0], pair[1])
        return reached

    def _value(self, name: str, arm: int, prevalence: float) -> float:
        if name == "auc":
            return float(norm.cdf(self.means[arm] / self.spread / sqrt(2)))
        sensitivity = float(norm.cdf((self.means[arm] - self.thresholds[arm]) / self.spread))
        specificity = float(norm.cdf(self.thresholds[arm] / self.spread))
        accuracy = prevalence * sensitivity + (1 - prevalence) * specificity
        return {"sensitivity": sensitivity, "specificity": specificity, "accuracy": accuracy}[name]

    def ratings(
        self, truth: NDArray[np.bool_], patient: NDArray[np.int64], readers: int, rng: Generator
    ) -> Numbers:
        """Shape (2, readers, cases); the terms of Roe and Metz (1997), and those of patients."""
        n, own = len(truth), self.variances
        rating = np.where(truth, np.array(self.means)[:, None, None], 0.0)

        def term(variance: float, *shape: int) -> Numbers:
            return sqrt(variance) * rng.standard_normal(shape)

        for positive in (False, True):
            of_class = term(own.reader, 1, readers, 1) + term(own.arm_reader, 2, readers, 1)
            rating = rating + of_class * (truth == positive)
        rating = rating + term(own.case, 1, 1, n) + term(own.arm_case, 2, 1, n)
        rating = rating + term(own.reader_case, 1, readers, n) + term(own.error, 2, readers, n)
        several = int(patient.max()) + 1
        shared = term(self.patient, 1, 1, several) + term(self.arm_patient, 2, 1, several)
        return rating + shared[..., patient]


def _model(rng: Generator, *, null: bool, patient: float = 0.0, arm_patient: float = 0.0) -> Model:
    """Arms alike, or apart in mean and threshold."""
    of = [*STRUCTURES.values(), READINGS][int(rng.integers(len(STRUCTURES) + 1))]
    of = Variances(*(v * float(rng.uniform(0.6, 1.4)) for v in astuple(of)))
    spread = sqrt(of.total + patient + arm_patient)
    mean, aside = spread * rng.uniform(1.0, 2.2), spread * rng.uniform(-0.25, 0.25)
    means = (mean, mean if null else mean + spread * rng.uniform(-0.4, 0.3))
    thresholds = (mean / 2 + aside, mean / 2 + aside + (0.0 if null else spread * rng.uniform(-0.2, 0.2)))
    return Model(means, thresholds, of, patient, arm_patient)


def _truth(rng: Generator, n: int, prevalence: float) -> NDArray[np.bool_]:
    """Cases in general, but enough of either class."""
    while True:
        truth = rng.random(n) < prevalence
        if min(truth.sum(), n - truth.sum()) >= FEWEST:
            return truth


def _table(truth: NDArray[np.bool_], rating: Numbers, thresholds: tuple[float, float]) -> pd.DataFrame:
    _, readers, n = rating.shape
    arm, reader, case = (x.ravel() for x in np.indices(rating.shape))
    decision = rating >= np.array(thresholds)[:, None, None]
    return pd.DataFrame(
        {
            "reader": np.array([f"R{r}" for r in range(readers)])[reader],
            "case": np.array([f"C{c}" for c in range(n)])[case],
            "arm": np.array(ARMS)[arm],
            "truth": truth.astype(int)[case],
            "decision": decision.ravel().astype(int),
            "score": rating.ravel(),
        }
    )


def _ask(drawn: Drawn, rng: Generator, model: Model, prevalence: float, *, null: bool) -> None:
    """Criteria on changes, on the risk of an error, and on the mean of an arm."""
    values = model.values(prevalence)
    contrast: dict[str, Any] = {"arm_or_contrast": ["aided", "unaided"]}
    asked = [*OF, "arr", *(["rr", "odds_ratio"] if null else []), "arm"]
    for name in chosen(rng, asked, 3):
        if name in OF:
            change = 0.0 if null else values[name][1] - values[name][0]
            ask_difference(drawn, rng, "decision_benefit.mean_benefit", change, of=name, **contrast)
        elif name == "arr":
            change = 0.0 if null else values["accuracy"][1] - values["accuracy"][0]
            ask_difference(drawn, rng, "pragmatic_utility.arr", change, **contrast)
        elif name == "arm":
            of = str(rng.choice(OF))
            drawn.ask(
                "decision_benefit.arm_mean", "performance goal", values[of][1], of=of, arm_or_contrast="aided"
            )
        else:
            drawn.ask(f"pragmatic_utility.{name}", "superiority", **contrast)


def complete(rng: Generator) -> Drawn:
    """Every reader reads every case in both arms."""
    null, prevalence = rng.random() < 0.5, float(rng.uniform(0.25, 0.6))
    model, n, readers = _model(rng, null=null), int(rng.integers(50, 131)), int(rng.integers(4, 11))
    truth = _truth(rng, n, prevalence)
    table = _table(truth, model.ratings(truth, np.arange(n), readers, rng), model.thresholds)
    drawn = study(tables={"readings": table})
    _ask(drawn, rng, model, prevalence, null=null)
    return drawn


def missing(rng: Generator) -> Drawn:
    """Readings, or pairs of them, are missing at random."""
    drawn = complete(rng)
    table = drawn.manifest["tables"]["readings"]
    lost = rng.random(len(table)) < rng.uniform(0.03, 0.2)
    pair = table.groupby(["reader", "case"]).ngroup().to_numpy()
    lost |= (rng.random(pair.max() + 1) < rng.uniform(0.0, 0.15))[pair]
    drawn.manifest["tables"]["readings"] = table[~lost].reset_index(drop=True)
    return drawn


def patients(rng: Generator) -> Drawn:
    """Patients have one to six cases; what is hard in one is hard in the others, in one arm or in both."""
    null, prevalence = rng.random() < 0.5, float(rng.uniform(0.3, 0.6))
    shared, by_arm = float(rng.uniform(0.05, 0.5)), float(rng.uniform(0.0, 0.3))
    model = _model(rng, null=null, patient=shared, arm_patient=by_arm)
    readers, persons = int(rng.integers(4, 10)), int(rng.integers(30, 61))
    patient = np.repeat(np.arange(persons), rng.integers(1, int(rng.integers(3, 7)), persons))
    n = len(patient)
    truth = _truth(rng, n, prevalence)
    if rng.random() < 0.5:  # all cases of a patient are of one class
        truth = _truth(rng, persons, prevalence)[patient]
    table = _table(truth, model.ratings(truth, patient, readers, rng), model.thresholds)
    table["patient"] = [f"P{patient[int(case[1:])]}" for case in table["case"]]
    drawn = study(tables={"readings": table})
    _ask(drawn, rng, model, prevalence, null=null)
    return drawn


def crossover(rng: Generator) -> Drawn:
    """No effect, but a second session that is better or worse, and more readers that begin with one arm."""
    prevalence, n, readers = (
        float(rng.uniform(0.3, 0.6)),
        int(rng.integers(50, 121)),
        int(rng.integers(5, 13)),
    )
    model, truth = _model(rng, null=True), _truth(rng, n, prevalence)
    rating = model.ratings(truth, np.arange(n), readers, rng)
    by_case = rng.random() < 0.4  # each reader reads part of the cases first with the aid
    aided_last = rng.random((readers, n if by_case else 1)) < rng.uniform(0.5, 0.85)
    aided_last = np.broadcast_to(aided_last, (readers, n))
    second = np.stack([~aided_last, aided_last])
    better = model.spread * rng.uniform(-0.2, 0.5)
    rating = rating + second * np.where(truth, better, -better)
    table = _table(truth, rating, model.thresholds)
    table["session"] = 1 + second.ravel().astype(int)
    drawn = study(tables={"readings": table}, reading={"design": "crossover", "washout_days": 30})
    for name in chosen(rng, [*OF, "arr"], 2):
        where: dict[str, Any] = {"arm_or_contrast": ["aided", "unaided"]}
        if name == "arr":
            drawn.ask("pragmatic_utility.arr", "superiority", **where)
        else:
            drawn.ask("decision_benefit.mean_benefit", "superiority", of=name, **where)
    return drawn


def advice(rng: Generator) -> Drawn:
    """Readers decide, see the advice and decide again; they follow it as they are inclined.

    Whether a reader gives in depends on the reader and the case, and not on the first decision.
    """
    readers, n = int(rng.integers(5, 12)), int(rng.integers(60, 141))
    right_first, right_advice = rng.uniform(0.65, 0.8), rng.uniform(0.65, 0.85)
    follow, prevalence = rng.uniform(0.3, 0.7), rng.uniform(0.3, 0.6)
    truth = _truth(rng, n, prevalence)

    def latent(mean: float) -> NDArray[np.bool_]:
        of_reader, of_case = rng.uniform(0.02, 0.15), rng.uniform(0.05, 0.4)
        noise = sqrt(of_reader) * rng.standard_normal((readers, 1)) + sqrt(of_case) * rng.standard_normal(n)
        noise = noise + sqrt(1 - of_reader - of_case) * rng.standard_normal((readers, n))
        switched: NDArray[np.bool_] = noise < norm.ppf(mean)
        return switched

    first = latent(right_first)
    advised = rng.random(n) < right_advice
    last = np.where(first == advised, first, np.where(latent(follow), advised, first))
    reader, case = (x.ravel() for x in np.indices((readers, n)))

    def decided(right: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.where(np.broadcast_to(right, (readers, n)), truth, ~truth).ravel().astype(int)

    table = pd.DataFrame(
        {
            "reader": [f"R{r}" for r in reader],
            "case": [f"C{c}" for c in case],
            "truth": truth.astype(int)[case],
            "initial_decision": decided(first),
            "advice": decided(advised),
            "decision": decided(last),
        }
    )
    drawn = study(tables={"readings": table}, reading={"design": "sequential"})
    change = follow * ((1 - right_first) * right_advice - right_first * (1 - right_advice))
    for name in chosen(rng, ["change", "rair", "rsr", "beneficial_switch_rate", "harmful_switch_rate"], 3):
        if name == "change":
            ask_difference(
                drawn, rng, "pragmatic_utility.arr", float(change), arm_or_contrast=["aided", "unaided"]
            )
        else:
            drawn.ask(f"reliance.{name}", "performance goal", float(1 - follow if name == "rsr" else follow))
    return drawn

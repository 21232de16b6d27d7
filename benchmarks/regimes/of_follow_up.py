"""Regimes of time to event at a horizon: events, censoring, competing events, miscalibration, clusters."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from regimes.regime import LEVEL, Found, Regime, Truths, coded, plan, primary
from trustreport.assessment.dimensions.advice_accuracy.time_to_event import horizon_results
from trustreport.assessment.performance.time_to_event import MEASURES, followed_cases
from trustreport.study.study import Cases, Dataset, Floats, Labels, Scores, Study

THRESHOLD = 0.3
PLAN = plan(
    report={"kind": "certification", "confidence_level": LEVEL},
    operating_point={"threshold": THRESHOLD},
    time_to_event={"horizon": "1", "competing": [2]},
)
WANTED = {f"advice_accuracy.{name}_at_horizon": name for name in MEASURES}
GRID = 200_000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True)
class FollowUp:
    """Exponential times to the event with hazard `rate` exp(`effect` x + frailty), x standard normal.

    Parameters
    ----------
    n : cases; `per` of them in each cluster, alike in x (correlation .5) and in a normal frailty of SD .7
    censoring : hazard of censoring; everybody is censored between 1 and 3, the horizon is 1
    competing : hazard of a competing event
    shift, stretch : logit of the score = shift + stretch logit of the risk
    """

    n: int
    rate: float
    censoring: float
    competing: float = 0.0
    effect: float = 1.0
    shift: float = 0.0
    stretch: float = 1.0
    per: int = 1

    @property
    def frailty(self) -> float:
        """Standard deviation of what the cases of a cluster share beside x."""
        return 0.7 if self.per > 1 else 0.0

    def risk(self, x: Floats) -> Floats:
        """The chance of the event by the horizon, over the frailty."""
        found = np.zeros_like(x)
        for node, weight in zip(NODES, WEIGHTS / WEIGHTS.sum(), strict=True):
            hazard = self.rate * np.exp(self.effect * x + self.frailty * node)
            every = hazard + self.competing
            found += weight * hazard / every * -np.expm1(-every)
        return np.minimum(found, 1 - 1e-12)

    def score(self, risk: Floats) -> Floats:
        """What the device says of a case of this risk."""
        return expit(self.shift + self.stretch * logit(risk))

    def drawn(self, rng: np.random.Generator) -> Study:
        """A study of one data set."""
        clusters = self.n // self.per
        of = np.repeat(np.arange(clusters), self.per)
        alike = 0.5 if self.per > 1 else 0.0
        x = np.sqrt(alike) * rng.standard_normal(clusters)[of] + np.sqrt(1 - alike) * rng.standard_normal(
            self.n
        )
        hazard = self.rate * np.exp(self.effect * x + self.frailty * rng.standard_normal(clusters)[of])
        time, code = rng.exponential(1 / hazard), np.ones(self.n)
        if self.competing:
            other = rng.exponential(1 / self.competing, self.n)
            time, code = np.minimum(time, other), np.where(other < time, 2.0, 1.0)
        ends = rng.uniform(1.0, 3.0, clusters)
        if self.censoring:
            ends = np.minimum(ends, rng.exponential(1 / self.censoring, clusters))
        code = np.where(ends[of] < time, 0.0, code)
        numbers = {"follow_up": np.minimum(time, ends[of]), "event": code}
        unknown: NDArray[np.int8] = np.full(self.n, -1, np.int8)
        patient = coded(of) if self.per > 1 else None
        cases = Cases(Labels(n=self.n), unknown, (), patient=patient, numbers=numbers)
        return Study(datasets=(Dataset("set", "external", cases, {"": Scores(self.score(self.risk(x)))}),))


@cache
def true_values(of: FollowUp) -> Truths:
    """By the quantiles of x."""
    p = of.risk(ndtri((np.arange(GRID) + 0.5) / GRID))
    score = of.score(p)
    order = np.argsort(score, kind="stable")
    event, free, called = p[order], 1 - p[order], score >= THRESHOLD
    risk = float(p.mean())
    brier = float((p * (1 - score) ** 2 + (1 - p) * score**2).mean())
    return {
        "risk": risk,
        "auc": float(event @ (np.cumsum(free) - free / 2) / (event.sum() * free.sum())),
        "brier": brier,
        "scaled_brier": 1 - brier / (risk * (1 - risk)),
        "oe": risk / float(score.mean()),
        "calibration_slope": 1 / of.stretch,
        "sensitivity": float(p @ called / p.sum()),
        "specificity": float((1 - p) @ ~called / (1 - p).sum()),
        "ppv": float(p @ called / called.sum()),
        "npv": float((1 - p) @ ~called / (~called).sum()),
        **({"calibration_intercept": -of.shift} if of.stretch == 1 else {}),
    }


def estimated(of: FollowUp, rng: np.random.Generator) -> Found:
    """The primary estimates of a drawn study."""
    (one,) = followed_cases(of.drawn(rng), PLAN)
    return primary(horizon_results(one, PLAN), WANTED)


def time_to_event() -> Iterator[Regime]:
    """Few and many events, none to heavy censoring, then competing events, wrong risks, clusters."""
    designs = {
        f"{n} cases, hazard {rate}, censoring {censoring}": FollowUp(n, rate, censoring)
        for n in (200, 500)
        for rate in (0.1, 0.3)
        for censoring in (0.0, 0.5, 1.5)
    }
    designs |= {
        "200 cases, competing events": FollowUp(200, 0.3, 0.5, competing=0.3),
        "500 cases, competing events": FollowUp(500, 0.1, 0.5, competing=0.3),
        "200 cases, risks too high and too extreme": FollowUp(200, 0.3, 0.5, shift=0.3, stretch=1.5),
        "200 cases, risks too low and too alike": FollowUp(
            200, 0.2, 0.5, effect=2.0, shift=-0.3, stretch=0.7
        ),
        "100 clusters of 3": FollowUp(300, 0.3, 0.5, per=3),
        "50 clusters of 10": FollowUp(500, 0.3, 0.5, per=10),
        "100 clusters of 3, competing events": FollowUp(300, 0.3, 0.5, competing=0.3, per=3),
    }
    for design, of in designs.items():
        topic = "time to event in clusters" if of.per > 1 else "time to event"
        yield Regime(topic, design, partial(true_values, of), partial(estimated, of), cost=0.015)

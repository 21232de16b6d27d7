"""Regimes of how readers use a device: protocols on paired readings, and what is beside the endpoint.

Readers and device share what is hard about a case, so that their errors are not independent. Given that, they
decide apart, and the true values follow by integration over it.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.special import ndtr

from regimes.of_readers import GAPS, gaps, read
from regimes.regime import ARMS, Found, Regime, Truths, plan
from trustreport.assessment.dimensions.decision_benefit.protocols import compare
from trustreport.assessment.dimensions.decision_benefit.secondary_endpoints import secondary_results
from trustreport.study.study import Floats
from trustreport.vocabulary.place import Place

# Variances of a rating: what all see in a case, the reader, the reader in an arm, and the rest.
CASE, READER, ARM_READER = 0.4, 0.1, 0.05
REST = 1 - CASE - READER - ARM_READER
ALONE, AIDED, DEVICE = 1.4, 1.9, 1.7  # mean rating of a positive case; of a negative it is 0
CUT, RULED_OUT = 0.75, 0.0  # where a rating is positive; below which the device rules out
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(81)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
PAIR = (ARMS[1], ARMS[0])
# Readers, cases of either class, missing readings.
DESIGNS = (
    *((3, 30, GAPS[0]), (5, 30, GAPS[0]), (5, 80, GAPS[1])),
    *((10, 30, GAPS[1]), (10, 80, GAPS[0])),
)


def protocol_values(positive: bool) -> dict[str, float]:
    """The chance that a case of a class is called positive, by protocol."""
    rest = sqrt(1 - CASE)

    def above(mean: float, cut: float) -> Floats:
        return np.asarray(ndtr((positive * mean + sqrt(CASE) * NODES - cut) / rest))

    reader, aided, device = (above(mean, CUT) for mean in (ALONE, AIDED, DEVICE))
    both, either = reader * device, 1 - (1 - reader) * (1 - device)
    found = {
        "reader_alone": reader,
        "device_alone": device,
        "second_reader": either,
        "consensus": both,
        "arbitration": both + (either - both) * reader,  # by another reader
        "assistance": aided,
        "triage": reader * above(DEVICE, RULED_OUT),
    }
    return {name: float(WEIGHTS @ called) for name, called in found.items()}


def protocols() -> Iterator[Regime]:
    """Every protocol of few and many readers and cases, complete and with readings missing."""
    for n_readers, n, kind in DESIGNS:

        def study(
            rng: np.random.Generator, n_readers: int = n_readers, n: int = n, kind: str = kind
        ) -> Found:
            truth = np.arange(2 * n) >= n
            case = sqrt(CASE) * rng.normal(size=2 * n)
            own = sqrt(READER) * rng.normal(size=(n_readers, 2))
            rating = np.empty((2, n_readers, 2 * n))
            for arm, mean in enumerate((ALONE, AIDED)):
                skill = (own + sqrt(ARM_READER) * rng.normal(size=own.shape))[:, truth.astype(int)]
                rating[arm] = mean * truth + case + skill + sqrt(REST) * rng.normal(size=skill.shape)
            device = DEVICE * truth + case + sqrt(1 - CASE) * rng.normal(size=2 * n)
            missing = gaps(kind, rating.shape, rng)
            readings = read(truth, rating, CUT, missing, rng)
            shown = np.where(readings.arm == 1, device[readings.case], np.nan)
            advice = np.where(np.isnan(shown), -1, shown >= CUT).astype(np.int8)
            readings = replace(readings, score=None, advice=advice, advice_score=shown)
            declared = plan(operating_point={"threshold": CUT}, reading={"rule_out_below": RULED_OUT})
            found = compare(readings, PAIR, declared, Place(task=""))
            assert found is not None
            for r in found.results:
                if r.primary and r.endpoint != "seconds":
                    yield f"{r.name}, {r.place.protocol}, {r.endpoint}", r.estimate

        def true() -> Truths:
            values = {"sensitivity": protocol_values(True)}
            values["specificity"] = {name: 1 - called for name, called in protocol_values(False).items()}
            found = {}
            for endpoint, of in values.items():
                for name, value in of.items():
                    found[f"protocol_performance, {name}, {endpoint}"] = value
                    if name != "reader_alone":
                        found[f"protocol_difference, {name}, {endpoint}"] = value - of["reader_alone"]
            return found

        yield Regime("protocols", f"{n_readers} readers, {n}+{n} cases, {kind}", true, study, cost=0.03)


# ---------------------------------------------------------------- beside the endpoint

SECONDS, SPREADS = (60.0, 50.0), {"reader": 12.0, "case": 10.0, "rest": 20.0}
LATER = -4.0  # seconds that a reading of the second half takes more
SURE = (0.6, 0.7)


def beside() -> Iterator[Regime]:
    """Time, confidence, predictive values and the order of reading, readers and cases drawn again."""
    for n_readers, n in ((5, 30), (10, 40)):

        def study(rng: np.random.Generator, n_readers: int = n_readers, n: int = n) -> Found:
            truth = np.arange(2 * n) >= n
            shape = (2, n_readers, 2 * n)
            case = sqrt(CASE) * rng.normal(size=2 * n)
            skill = sqrt(READER + ARM_READER) * rng.normal(size=(n_readers, 1))
            mean = np.array([ALONE, AIDED])[:, None, None] * truth
            rating = mean + case + skill + sqrt(REST) * rng.normal(size=shape)
            order = np.argsort(rng.random(shape), axis=2).argsort(axis=2)
            seconds = np.array(SECONDS)[:, None, None] + LATER * (order >= n)
            seconds = seconds + SPREADS["reader"] * rng.normal(size=(n_readers, 1))
            seconds += SPREADS["case"] * rng.normal(size=2 * n) + SPREADS["rest"] * rng.normal(size=shape)
            sure = np.array(SURE)[:, None, None] + 0.1 * rng.normal(size=(n_readers, 1))
            sure = sure + 0.1 * rng.normal(size=2 * n) + 0.1 * rng.normal(size=shape)
            readings = read(truth, rating, CUT, np.zeros(shape, bool), rng)
            at = readings.arm, readings.reader, readings.case
            recorded = {"seconds": seconds[at], "confidence": sure[at], "order": 1.0 + order[at]}
            readings = replace(readings, score=None, **recorded)
            for r in secondary_results(readings, PAIR, plan(), Place(task="")):
                which = r.parameters.get("comparison")
                if r.primary and (r.name != "order_effect" or (which == "halves" and r.place.arm == ARMS[1])):
                    yield ", ".join(filter(None, (r.name, r.endpoint, r.place.arm or "change"))), r.estimate

        yield Regime("beside the endpoint", f"{n_readers} readers, {n}+{n} cases", _beside, study, cost=0.1)


def _beside() -> Truths:
    called = {arm: _called(mean) for arm, mean in zip(ARMS, (ALONE, AIDED))}
    found: dict[str, float] = {}
    for arm, seconds, sure in zip(ARMS, SECONDS, SURE):
        right, wrong = (float(WEIGHTS @ called[arm][of]) for of in (True, False))
        found[f"mean_seconds, seconds, {arm}"] = seconds + LATER / 2
        found[f"mean_confidence, confidence, {arm}"] = sure
        found[f"arm_mean, ppv, {arm}"] = right / (right + wrong)
        found[f"arm_mean, npv, {arm}"] = (1 - wrong) / (2 - wrong - right)
    changes = "mean_seconds, seconds", "mean_confidence, confidence"
    found |= {f"{name}, change": found[f"{name}, aided"] - found[f"{name}, unaided"] for name in changes}
    for name in ("ppv", "npv"):
        pair = (found[f"arm_mean, {name}, {arm}"] for arm in PAIR)
        found[f"arm_difference, {name}, change"] = next(pair) - next(pair)
    for name in ("percent_agreement", "fleiss_kappa"):
        pair = (_agreement(called[arm])[name] for arm in PAIR)
        found[f"reader_agreement, {name}, change"] = next(pair) - next(pair)
    return found | {"order_effect, seconds, aided": LATER, "order_effect, accuracy, aided": 0.0}


def _agreement(called: dict[bool, Floats]) -> dict[str, float]:
    """How often two readers agree on a case, and how much beyond chance."""
    same = sum(float(WEIGHTS @ (p**2 + (1 - p) ** 2)) for p in called.values()) / 2
    share = sum(float(WEIGHTS @ p) for p in called.values()) / 2
    by_chance = share**2 + (1 - share) ** 2
    return {"percent_agreement": same, "fleiss_kappa": (same - by_chance) / (1 - by_chance)}


def _called(mean: float) -> dict[bool, Floats]:
    """The chance of a positive decision given the case, by its truth."""
    sd = sqrt(1 - CASE)
    return {t: np.asarray(ndtr((t * mean + sqrt(CASE) * NODES - CUT) / sd)) for t in (True, False)}

"""Regimes of measured values in two groups of cases, of repeats, and of candidates that are ranked.

Errors are normal, wider and with a bias in one of the groups; in clusters every patient has a part of the
error. Candidates share how hard a case is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from math import erf, exp, hypot, pi, sqrt

import numpy as np

from regimes.regime import Found, Regime, coded, plan
from trustreport.assessment.dimensions.measurement.parts import completed
from trustreport.assessment.dimensions.measurement.ranking import ranked
from trustreport.assessment.dimensions.measurement.results import measured
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Floats, Labels, Readers, Study, Values

BIAS, SPREAD, BY_PATIENT = 1.0, (2.0, 3.0), 1.0  # of the first group, of the errors of both, of patients
ACCEPTABLE, AGREED = 3.0, 0.6
MANY, WITHIN = 400_000, 1.5
BY_GROUP = ("bias_difference", "mean_absolute_error_difference", "acceptable_share_difference")
LEAD = (0.3, 0.1, 0.0)  # of the candidates, in units of what they do not share
BY_READER, UNAIDED = 1.0, (1.6, 2.2)  # SD of readers, errors without the aid by group, times those with it


def _plan(**facts: object) -> Plan:
    return plan(
        measurements=[{"measurement": "value", **facts}], subgroups=[{"name": "group", "prespecified": True}]
    )


def _cases(n: int, patient: np.ndarray | None = None, group: np.ndarray | None = None) -> Cases:
    return Cases(
        Labels(n=n),
        np.full(n, -1, np.int8),
        patient=None if patient is None else coded(patient),
        groups={} if group is None else {"group": coded(group)},
    )


def _found(values: Values, given: Plan, wanted: Sequence[str]) -> Found:
    own = list(measured(Study(arms=("unaided", "aided"), values=(values,)), given))
    for one in completed([replace(one, results=(*one.results, *ranked(one))) for one in own]):
        for r in one.results:
            place = r.place
            if r.name not in wanted or place.reader is not None:
                continue
            if "against" in r.parameters and place.subgroup == "group: 0":
                yield f"{r.name}, of groups" + (" in the change" if place.arms else ""), r.estimate
            elif place.subgroup is None and place.candidates in (None, ("0", "1")) and not place.arms:
                yield r.name + (f", {place.candidate}" if place.candidate else ""), r.estimate


def _mean_size(bias: float, sd: float) -> float:
    """Mean of |x| of a normal variable."""
    z = bias / sd
    return sd * sqrt(2 / pi) * exp(-z * z / 2) + bias * erf(z / sqrt(2))


def _within(bias: float, sd: float) -> float:
    """Probability that a normal variable is within the acceptable error."""
    return (erf((ACCEPTABLE - bias) / sd / sqrt(2)) + erf((ACCEPTABLE + bias) / sd / sqrt(2))) / 2


def _of_groups(by_patient: float) -> Mapping[str, float]:
    first, second = (hypot(sd, by_patient) for sd in SPREAD)
    return {
        "bias_difference, of groups": BIAS,
        "mean_absolute_error_difference, of groups": _mean_size(BIAS, first) - _mean_size(0.0, second),
        "acceptable_share_difference, of groups": _within(BIAS, first) - _within(0.0, second),
    }


@cache
def _ranks() -> Mapping[str, float]:
    lead = np.array(LEAD)[:, None]
    drawn = lead + np.random.default_rng(4).standard_normal((len(LEAD), MANY))
    ranks = (-drawn).argsort(axis=0).argsort(axis=0) + 1.0
    found = {f"mean_rank, {i}": float(own.mean()) for i, own in enumerate(ranks)}
    return found | {f"rank_of_mean, {i}": i + 1.0 for i in range(len(LEAD))}


@cache
def _pairs() -> Mapping[str, float]:
    shares = [_within(bias, 2.0) for bias in (0.0, BIAS)]
    return {"acceptable_share_difference": shares[0] - shares[1]}


@cache
def _changes() -> Mapping[str, float]:
    """The change of the size of the error in the first group less that in the second."""
    change = [
        _mean_size(0.0, hypot(BY_READER, 2.0)) - _mean_size(0.0, hypot(BY_READER, 2.0 * times))
        for times in UNAIDED
    ]
    return {"mean_absolute_error_difference, of groups in the change": change[0] - change[1]}


def parts() -> Iterator[Regime]:
    """Groups, pairs of devices, repeats, ranks and readers in two groups."""
    for sizes, patients in (((20, 60), 0), ((60, 60), 0), ((30, 90), 40), ((60, 140), 60)):

        def groups(
            rng: np.random.Generator, sizes: tuple[int, int] = sizes, patients: int = patients
        ) -> Found:
            n = sum(sizes)
            group = np.repeat([0, 1], sizes)
            patient = rng.permutation(np.arange(n) % (patients or n))
            d = np.where(group == 0, BIAS, 0.0) + rng.normal(0, 1, n) * np.array(SPREAD)[group]
            d += bool(patients) * rng.normal(0, BY_PATIENT, n)[patient]
            x = rng.normal(50, 8, n)
            cases = _cases(n, patient if patients else None, group)
            values = Values("value", cases, ("",), (x + d)[None, None], reference=x)
            yield from _found(values, _plan(acceptable=ACCEPTABLE), BY_GROUP)

        design = f"{sizes[0]} and {sizes[1]} cases" + (f" of {patients} patients" if patients else "")
        true = partial(_of_groups, BY_PATIENT if patients else 0.0)
        topic = "measured values of groups" + (" in clusters" if patients else "")
        yield Regime(topic, design, true, groups, cost=0.01)
    for n, patients in ((60, 0), (200, 0), (120, 40)):

        def devices(rng: np.random.Generator, n: int = n, patients: int = patients) -> Found:
            patient = np.arange(n) % (patients or n)
            shared = rng.normal(0, 2 * sqrt(AGREED), n)[patient if patients else slice(None)]
            d = np.array([0.0, BIAS])[:, None] + shared + rng.normal(0, 2 * sqrt(1 - AGREED), (2, n))
            x = rng.normal(50, 8, n)
            values = Values(
                "value", _cases(n, patient if patients else None), ("0", "1"), (x + d)[:, None], reference=x
            )
            yield from _found(values, _plan(acceptable=ACCEPTABLE), ["acceptable_share_difference"])

        design = f"{n} cases" + (f" of {patients} patients" if patients else "")
        yield Regime("acceptable values of two devices", design, _pairs, devices, cost=0.01)
    for n, repeats, patients in ((20, 3, 0), (60, 3, 0), (30, 5, 0), (60, 3, 20)):

        def again(
            rng: np.random.Generator, n: int = n, repeats: int = repeats, patients: int = patients
        ) -> Found:
            patient = np.arange(n) % (patients or n)
            value: Floats = rng.normal(50, 8, n) + rng.normal(0, WITHIN, (repeats, n))
            cases = _cases(n, patient if patients else None)
            values = Values("value", cases, ("",), value[:1, None], repeats=value[1:, None, None])
            yield from _found(values, _plan(), ["within_case_sd"])

        design = f"{n} cases measured {repeats} times" + (f", {patients} patients" if patients else "")
        yield Regime(
            "several repeats of a case", design, partial(dict, within_case_sd=WITHIN), again, cost=0.01
        )
    for n, patients in ((30, 0), (100, 0), (90, 30)):

        def candidates(rng: np.random.Generator, n: int = n, patients: int = patients) -> Found:
            patient = np.arange(n) % (patients or n)
            own = rng.standard_normal((len(LEAD), n))
            if patients:  # half of what the candidates do not share is the patient's
                own = sqrt(0.5) * (own + rng.standard_normal((len(LEAD), n))[:, patient])
            value = np.array(LEAD)[:, None] + own + rng.standard_normal(n)
            names = tuple(map(str, range(len(LEAD))))
            values = Values("value", _cases(n, patient if patients else None), names, value[:, None])
            yield from _found(values, _plan(better="up"), ["mean_rank", "rank_of_mean"])

        design = f"3 candidates, {n} cases" + (f" of {patients} patients" if patients else "")
        yield Regime("ranks of candidates", design, _ranks, candidates, cost=0.05)
    for readers, sizes in ((5, (30, 50)), (8, (40, 40))):

        def read(rng: np.random.Generator, readers: int = readers, sizes: tuple[int, int] = sizes) -> Found:
            n, group = sum(sizes), np.repeat([0, 1], sizes)
            times = np.stack([np.array(UNAIDED)[group], np.ones(n)])[:, None]
            error = BY_READER * rng.standard_normal((readers, 1)) + 2.0 * times * rng.standard_normal(
                (2, readers, n)
            )
            x = rng.normal(50, 8, n)
            values = Values(
                "value", _cases(n, group=group), ("unaided", "aided"), x + error, "arm", x,
                readers=Readers(Labels(n=readers)),
            )  # fmt: skip
            yield from _found(values, _plan(), ["mean_absolute_error_difference"])

        design = f"{readers} readers, {sizes[0]} and {sizes[1]} cases"
        yield Regime("values of readers in groups", design, _changes, read, cost=0.1)

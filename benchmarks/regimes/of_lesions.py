"""Regimes of localisation: lesions and false marks of candidates, and of readers in two arms.

Each case has an effect on the ratings of all its marks. False marks are Poisson, a lesion is seen with a
chance, and what is rated above a threshold is marked. True values follow by integration.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from regimes.regime import ARMS, LEVEL, Found, Regime, Truths, coded, plan
from trustreport.assessment.dimensions.localisation.results import (
    OF_READERS,
    candidate_results,
    difference_results,
)
from trustreport.assessment.performance.lesions import marked_cases
from trustreport.measures.lesions.froc import MeanOfReaders, mean_of_readers
from trustreport.study.study import Cases, Dataset, Floats, Labels, Localisation, Readers, Study

RATES = (0.125, 0.5, 1.0)
SHARED = 0.4  # of the variance of a lesion's rating: what all readers see in it
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID = np.linspace(-8, 14, 8001)


@dataclass(frozen=True)
class Marks:
    """How marks come about.

    Parameters
    ----------
    mean : of the rating of a lesion, of a false mark 0; the variance within a case is 1
    seen : chance that a lesion is seen at all
    false : false marks a case, before the threshold
    threshold : rating from which on there is a mark
    case : SD of the effect of a case, or patient, on all its ratings
    more : lesions of a case beyond the first
    """

    mean: float
    seen: float = 0.9
    false: float = 1.5
    threshold: float = -0.5
    case: float = 0.5
    more: float = 0.7

    @property
    def sd(self) -> float:
        return sqrt(1 + self.case**2)

    def true(self) -> dict[str, float]:
        """What is true of a single candidate or reader."""
        t, effect = GRID[:, None], self.case * NODES
        false = np.exp(-self.false * ndtr(effect - np.maximum(t, self.threshold)))
        below = 1 - self.seen * ndtr(self.mean + effect - np.maximum(t, self.threshold))
        highest = false * below * np.exp(self.more * (below - 1))
        none, lesion, case = (part @ WEIGHTS for part in (false, below, highest))
        areas = {
            "wafroc_auc": _above(none, lesion),
            "afroc_auc": _above(none, lesion),
            "inferred_roc_auc": _above(none, case),
        }
        made = self.false * float(ndtr(-self.threshold / self.sd))
        at = [self._sensitivity(rate) for rate in RATES]
        return {
            **areas,
            **{f"sensitivity at {rate:g}": value for rate, value in zip(RATES, at)},
            "froc_mean_sensitivity": sum(at) / len(at),
            "lesion_sensitivity": self._sensitivity(np.inf),
            "false_marks_per_case": made,
        }

    def _sensitivity(self, rate: float) -> float:
        cut = self.threshold
        if rate < self.false:
            cut = max(cut, -self.sd * float(ndtri(rate / self.false)))
        return self.seen * float(ndtr((self.mean - cut) / self.sd))


def _above(none: Floats, other: Floats) -> float:
    """Chance that one rating is above another, by their distribution functions on the grid, ties half."""
    steps = np.diff(none)
    return float(none[0] * (1 - other[0] / 2) + (steps * (1 - (other[1:] + other[:-1]) / 2)).sum())


# ---------------------------------------------------------------- candidates


@dataclass(frozen=True)
class Design:
    """Cases of patients, and which share of cases has a lesion."""

    patients: int
    of_each: int
    share: float

    def cases(self, rng: np.random.Generator, more: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The patient of each case, and the case of each lesion."""
        n = self.patients * self.of_each
        patient = np.repeat(np.arange(self.patients), self.of_each)
        has = np.arange(n) < round(n * self.share) if self.of_each == 1 else rng.random(n) < self.share
        return patient, np.repeat(np.arange(n), np.where(has, 1 + rng.poisson(more, n), 0))


def marks_of(
    how: Marks,
    n: int,
    lesion_case: NDArray[np.int64],
    effect: Floats,
    rng: np.random.Generator,
    of_lesion: Floats | None = None,
) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Case, rating and lesion of the marks of one maker.

    `of_lesion` (n_lesions,) is what makers share of a lesion's rating, the part SHARED of its variance.
    """
    own = rng.normal(size=len(lesion_case))
    rating = (
        how.mean
        + effect[lesion_case]
        + (own if of_lesion is None else sqrt(SHARED) * of_lesion + sqrt(1 - SHARED) * own)
    )
    hit = np.flatnonzero((rng.random(len(lesion_case)) < how.seen) & (rating > how.threshold))
    false_case = np.repeat(np.arange(n), rng.poisson(how.false, n))
    false = effect[false_case] + rng.normal(size=len(false_case))
    kept = false > how.threshold
    case = np.concatenate([lesion_case[hit], false_case[kept]])
    lesion = np.concatenate([hit, np.full(int(kept.sum()), -1)])
    return case, np.concatenate([rating[hit], false[kept]]), lesion


def localisation(
    made: list[tuple[int, int, tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]],
    patient: NDArray[np.int64],
    lesion_case: NDArray[np.int64],
    names: tuple[str, ...],
    *,
    readers: bool,
) -> Localisation:
    """The marks of all makers: (arm, maker, marks)."""
    n = len(patient)
    truth = np.zeros(n, np.int8)
    truth[lesion_case] = 1
    sizes = [len(marks[0]) for *_, marks in made]
    arm = np.repeat([a for a, _, _ in made], sizes).astype(np.int32)
    maker = np.repeat([j for _, j, _ in made], sizes).astype(np.int32)
    case, rating, lesion = (np.concatenate([marks[k] for *_, marks in made]) for k in range(3))
    labels = Labels(names)
    return Localisation(
        Cases(Labels(n=n), truth, patient=coded(patient)),
        lesion_case.astype(np.int32),
        None,
        labels,
        arm,
        maker,
        case.astype(np.int32),
        rating,
        lesion.astype(np.int32),
        arms=ARMS if readers else ("",),
        dataset="" if readers else "set",
        readers=Readers(labels) if readers else None,
    )


def lesions() -> Iterator[Regime]:
    """Two candidates on a data set: the first by itself, and its difference from the second."""
    designs = [Design(n, 1, share) for n, share in ((40, 0.5), (100, 0.3), (150, 0.5), (400, 0.1))]
    designs += [Design(30, 3, 0.4), Design(60, 2, 0.3)]
    for design, mean in product(designs, (1.0, 2.0, 3.5)):
        one, other = Marks(mean), Marks(mean - 0.5)

        def study(
            rng: np.random.Generator, design: Design = design, one: Marks = one, other: Marks = other
        ) -> Found:
            patient, lesion_case = design.cases(rng, one.more)
            effect = (one.case * rng.normal(size=design.patients))[patient]
            n = len(patient)
            made = [(0, j, marks_of(how, n, lesion_case, effect, rng)) for j, how in enumerate((one, other))]
            first = localisation(made[:1], patient, lesion_case, ("A",), readers=False)
            both = localisation(made, patient, lesion_case, ("A", "B"), readers=False)
            yield from of_candidates(first, both)

        def true(one: Marks = one, other: Marks = other) -> Truths:
            first, second = one.true(), other.true()
            differences = {f"{k}, difference": second[k] - first[k] for k in first if k.endswith("auc")}
            return {**first, **differences}

        with_lesion = design.patients * (1 - (1 - design.share) ** design.of_each)
        without = design.patients * (1 - design.share**design.of_each)
        name = f"{design.patients} patients of {design.of_each} cases, {design.share:.0%} with lesions"
        design_name = f"{name}, mean rating {mean:g}"
        due = min(with_lesion, without) >= 10
        yield Regime("localisation", design_name, true, study, due=due, cost=0.03)


def of_candidates(first: Localisation, both: Localisation) -> Found:
    """The primary numbers that a report gives of a candidate by itself, and of the differences of two."""
    declared = plan(localisation={"false_marks_per_case": list(RATES)})
    dataset = Dataset("set", "external", first.cases)
    one, two = (
        next(marked_cases(Study(datasets=(dataset,), localisations=(held,)), declared))
        for held in (first, both)
    )
    for r in candidate_results(one, declared):
        if r.primary:
            rate = r.parameters.get("false_marks_per_case")
            yield (f"sensitivity at {rate:g}" if r.name == "froc_sensitivity" else r.name), r.estimate
    for r in difference_results(two, declared):
        yield r.name.replace("_difference", ", difference"), r.estimate


# ---------------------------------------------------------------- readers


def lesion_readers() -> Iterator[Regime]:
    """Readers who mark the same cases without and with the aid; their skill varies by reader and by arm."""
    skills = ((1.2, 1.2), (1.2, 1.8), (2.2, 2.6))
    for (n_readers, n), means in product(((4, 80), (6, 60), (8, 120)), skills):
        spread = 0.25  # SD of a reader's skill, and half its variance again by arm

        def study(
            rng: np.random.Generator,
            n_readers: int = n_readers,
            n: int = n,
            means: tuple[float, float] = means,
            spread: float = spread,
        ) -> Found:
            base = Marks(0.0)
            patient, lesion_case = Design(n, 1, 0.5).cases(rng, base.more)
            effect = base.case * rng.normal(size=n)
            of_lesion = rng.normal(size=len(lesion_case))
            of_reader = spread * rng.normal(size=n_readers)
            made = []
            for a, j in product(range(2), range(n_readers)):
                mean = means[a] + of_reader[j] + spread / sqrt(2) * rng.normal()
                how = replace(base, mean=mean)
                made.append((a, j, marks_of(how, n, lesion_case, effect, rng, of_lesion)))
            names = tuple(f"R{j}" for j in range(n_readers))
            held = localisation(made, patient, lesion_case, names, readers=True)
            declared = plan()
            (one,) = marked_cases(Study(arms=ARMS, localisations=(held,)), declared)
            every = [[one.marked(a, j) for j in range(n_readers)] for a in range(2)]
            for name in OF_READERS:
                change = mean_of_readers(every[::-1], name)  # the compared arm first
                mean = mean_of_readers(every[1:], name)
                assert isinstance(change, MeanOfReaders)
                assert isinstance(mean, MeanOfReaders)
                yield f"{name}, change", next(iter(change.difference(LEVEL).values()))
                yield f"{name}, mean", next(iter(mean.mean(LEVEL).values()))

        def true(means: tuple[float, float] = means, spread: float = spread) -> Truths:
            arms = [_over_readers(mean, spread * sqrt(1.5)) for mean in means]
            change = {f"{k}, change": arms[1][k] - arms[0][k] for k in OF_READERS}
            return {**change, **{f"{k}, mean": arms[1][k] for k in OF_READERS}}

        design = f"{n_readers} readers, {n} cases, mean ratings {means[0]:g} and {means[1]:g}"
        yield Regime("localisation by readers", design, partial(true), study, cost=0.08)


def _over_readers(mean: float, sd: float) -> dict[str, float]:
    """The mean over readers whose skill is normal."""
    found = [Marks(mean + sd * node).true() for node in NODES]
    return {k: float(sum(w * one[k] for w, one in zip(WEIGHTS, found))) for k in OF_READERS}

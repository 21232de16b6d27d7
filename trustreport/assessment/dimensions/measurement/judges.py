"""Models that judged what people rated: agreement with people, leniency, and means corrected by people."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.measurement.results import MeasuredValues
from trustreport.assessment.performance.keys import case_key
from trustreport.measures.agreement.interval import coefficient_interval
from trustreport.measures.agreement.kappa import light_kappa
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import case_mean, case_share
from trustreport.measures.measured.model_judge import corrected_mean, corrected_share, judge_bias
from trustreport.study.clusters import clustering
from trustreport.study.study import Floats, Study, Values
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

CORRECTED = "judge_corrected_"


@dataclass(frozen=True, eq=False)
class _ModelJudge:
    """One judge beside the people who rated the same measurement, over the cases of the judge.

    `judge` (n_conditions, n_cases) and `people` (n_conditions, n_people, n_cases) have the conditions of the
    people, NaN where nobody rated.
    """

    one: MeasuredValues
    values: Values
    name: str
    judge: Floats
    people: Floats

    @property
    def at_random(self) -> bool:
        """Whether the cases of the people are declared to be drawn at random from those of the judge."""
        return self.one.facts.read_by_people == "at_random"

    def how(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """Which of these cases belong together, and the level of the report."""
        cluster: Clusters | None = clustering(self.values.cases).of_case
        return {"cluster": None if cluster is None else cluster[rows], "level": self.one.level}

    def entry(
        self, quantity: str, place: Place, e: Estimate, rows: NDArray[np.intp], *, primary: bool = True
    ) -> Result:
        """A result of these cases, with the unit or the bound of the measurement."""
        at = place.narrowed(reader=self.name)
        found = self.one.entry(quantity, at, e)
        key = case_key(self.values.name, self.values.cases.labels, rows)
        more = {"bound": self.one.bound} if quantity.removesuffix("_difference").endswith("share") else {}
        return replace(found, primary=primary, cases=key, parameters=more)


def results_of_judges(one: MeasuredValues, study: Study) -> Iterator[Result]:
    """What each judge of a measurement by people shows."""
    for judge in _judges(one, study):
        for c in range(len(one.values.conditions)):
            yield from _of_condition(judge, c)
        for compared, baseline in one.pairs():
            yield from _of_pair(judge, compared, baseline)


def _judges(one: MeasuredValues, study: Study) -> Iterator[_ModelJudge]:
    own = one.values
    for held in study.values:
        of_same = (held.measurement, held.dataset, held.task) == (own.measurement, own.dataset, own.task)
        if not held.judges or not of_same:
            continue
        place = {label: k for k, label in enumerate(own.cases.labels)}
        at = np.array([place.get(label, -1) for label in held.cases.labels])
        people = np.where(at >= 0, own.value[..., at], np.nan)
        none = np.full((len(held.judges), len(held.cases)), np.nan)
        rated = dict(zip(held.conditions, held.value))
        grid = np.stack([rated.get(name, none) for name in own.conditions])
        for j, name in enumerate(held.judges):
            yield _ModelJudge(one, held, name, grid[:, j], people)


def _of_condition(of: _ModelJudge, c: int) -> Iterator[Result]:
    one, place = of.one, of.one.place_of(c)
    judge = of.judge[c]
    rows = np.flatnonzero(~np.isnan(judge))
    if not len(rows):
        return
    people = of.people[c][:, rows]
    both = np.flatnonzero(~np.isnan(people).all(axis=0))
    read, judge = rows[both], judge[rows]
    how, on_both = of.how(rows), of.how(read)
    yield of.entry("judge_bias", place, judge_bias(people, judge, **how), read)
    labels = np.vstack([judge[both], people[:, both]])
    if one.facts.kind == "ordinal":
        yield of.entry("judge_weighted_kappa", place, _kappa(labels, ranks=True, **on_both), read)
    good, good_people = one.acceptable(judge), one.acceptable(people)
    if good is not None:
        made = _kappa(one.acceptable(labels), ranks=False, **on_both)  # type: ignore[arg-type]
        yield of.entry("judge_acceptable_kappa", place, made, read)
    alone = case_mean(judge, tested=True, **how)
    yield of.entry("judge_mean", place, alone, rows, primary=False)
    if good is not None:
        yield of.entry("judge_acceptable_share", place, case_share(good > 0, **how), rows, primary=False)
    if len(both) == len(rows):
        return  # people rated all: their own mean is the answer
    found = corrected_mean(people, judge, **how)
    yield of.entry(f"{CORRECTED}{one.mean}", place, found, rows, primary=of.at_random)
    if good is not None and good_people is not None:
        found = corrected_share(good_people, good, **how)
        yield of.entry(f"{CORRECTED}acceptable_share", place, found, rows, primary=of.at_random)


def _of_pair(of: _ModelJudge, compared: int, baseline: int) -> Iterator[Result]:
    """Two conditions on the cases that the judge rated under both."""
    one, place = of.one, of.one.pair(compared, baseline)
    apart = of.judge[compared] - of.judge[baseline]
    rows = np.flatnonzero(~np.isnan(apart))
    people = (of.people[compared] - of.people[baseline])[:, rows]
    if not len(rows) or not np.isnan(people).all(axis=0).any():
        return
    e = corrected_mean(people, apart[rows], **of.how(rows))
    yield of.entry(f"{CORRECTED}{one.mean}_difference", place, e, rows, primary=of.at_random)
    good, good_people = one.acceptable(of.judge), one.acceptable(of.people)
    if good is not None and good_people is not None:
        apart = (good[compared] - good[baseline])[rows]
        people = (good_people[compared] - good_people[baseline])[:, rows]
        e = corrected_share(people, apart, compared=True, **of.how(rows))
        yield of.entry(f"{CORRECTED}acceptable_share_difference", place, e, rows, primary=of.at_random)


def _kappa(labels: Floats, *, ranks: bool, cluster: Clusters | None, level: float) -> Estimate:
    """The mean of the kappas of the judge, who is the first, with each person, (1 + n_people, n_cases)."""
    known = ~np.isnan(labels)
    names, found = np.unique(labels[known], return_inverse=True)
    codes = np.full(labels.shape, -1)
    codes[known] = found
    n = max(len(names), 1)
    weights = None
    if ranks and len(names) > 1:
        weights = 1 - ((names[:, None] - names) / np.ptp(names)) ** 2
    e = light_kappa(codes.T, n, weights=weights, of=0, cluster=cluster, level=level)
    return coefficient_interval(e, codes.T, n, ranks=ranks, cluster=cluster)

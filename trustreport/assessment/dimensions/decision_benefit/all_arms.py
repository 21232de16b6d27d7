"""Three or more arms: one test of all of them, then every pair with p adjusted for their number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import isinf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.decision_benefit.results import ID, by_analysis
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts, endpoint_name
from trustreport.assessment.performance.reader_analysis import FIRST_COVARIANCE
from trustreport.assessment.performance.readers import (
    correct_decisions,
    every_endpoint,
    patients_of,
    reading_key,
)
from trustreport.measures.association import holm
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.measure import OfClasses
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.crossed_clusters import clustered_areas, clustered_means, clustered_youden
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions
from trustreport.measures.mrmc.youden import fit_youden
from trustreport.measures.note import note
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

Fit = Callable[[Floats, Clusters | None], ObuchowskiRockette]
TEXT = f"{ID}.all_arms"
GLOBAL, PAIRWISE = f"{ID}.global_test", f"{ID}.pairwise_difference"
# Under so many readers the larger p of random and fixed readers is primary, elsewhere the wider interval.
FEW_READERS = 5
HOLM, OF_PAIRS = "holm_smallest", "ustatistic_centred"
NO_PAIRS = note("pair_arms_has_no_interval_so")

text = Texts(TEXT)


@dataclass(frozen=True, slots=True)
class AllArms:
    """The arms of one task, in the manifest's order, with the entries about all of them."""

    arms: tuple[str, ...]
    results: list[Result]


def all_arms(
    readings: Readings, plan: Plan, level: float, place: Place, results: Sequence[Result]
) -> AllArms | None:
    """Global test and pairwise differences of each endpoint; None with fewer than three arms.

    `results` are those of decision benefit so far: a pair that they compare is not computed anew, and their
    first endpoint is the first here.
    """
    arms = tuple(a for i, a in enumerate(readings.arms) if (readings.arm == i).any())
    if len(arms) < 3:
        return None
    pairs = list(_pairwise(readings, arms, plan, level, place, results))
    found: list[Result] = []
    fits, order = _fits(readings, arms), [r.endpoint for r in results if r.place.task == place.task]
    for name in dict.fromkeys([name for name in order if name in fits] + list(fits)):
        fit = fits[name]
        tests = (
            _global(fit, level) if fit else _of_pairs([r for r in pairs if r.within(endpoint=name)], level)
        )
        first = _first(tests, len(readings.readers))
        of = {"endpoint": name, "cases": reading_key(readings)}
        found += by_analysis(GLOBAL, place.narrowed(arms=arms), tests, first, **of)
    return AllArms(arms, found + pairs)


def _fits(readings: Readings, arms: tuple[str, ...]) -> dict[str, ObuchowskiRockette | None]:
    """A fit of all arms for each endpoint, None where a reading is missing."""
    truth = readings.cases.truth
    known = truth >= 0
    both = bool((truth == 1).any() and (truth == 0).any())
    found: dict[str, ObuchowskiRockette | None] = {}

    def add(name: str, part: Floats, of: NDArray[np.bool_], fit: Fit) -> None:
        """The fit of one endpoint; None where a reading is missing."""
        if part.size:
            found[name] = None if np.isnan(part).any() else fit(part, patients_of(readings, of))

    def shares(part: Floats, cluster: Clusters | None) -> ObuchowskiRockette:
        """Obuchowski-Rockette of proportions, with the clusters if there are any."""
        return fit_proportions(part) if cluster is None else clustered_means(part, cluster).fit(part.shape[2])

    def areas(part: Floats, cluster: Clusters | None) -> ObuchowskiRockette:
        """Obuchowski-Rockette of areas, with the clusters if there are any."""
        positive = truth[known] == 1
        if cluster is None:
            return fit_auc(part, positive, "jackknife")
        return clustered_areas(part, positive, cluster).fit(part.shape[2])

    def sums(interval: OfClasses, part: Floats, cluster: Clusters | None) -> ObuchowskiRockette:
        """Obuchowski-Rockette of a sum over both classes, with the clusters if there are any."""
        positive, less = truth[known] == 1, -interval.constant
        part = part * np.where(positive, *interval.weights)
        if cluster is None:
            return fit_youden(part, positive, less)
        return clustered_youden(part, positive, cluster, less).fit(part.shape[2])

    of_readers = [measure for measure in MEASURES.values() if measure.of_readers]
    if readings.decision is not None:
        correct = correct_decisions(readings, arms)
        for measure in of_readers:
            if measure.is_share_of_right:
                of = measure.cases(truth)
                add(measure.id, correct[:, :, of], of, shares)
    if readings.score is not None and both:
        rating = readings.grid(readings.score, arms)[:, :, known]
        add("auc", rating, known, areas)
    if readings.decision is not None and both:
        for measure in of_readers:
            if isinstance(measure.interval, OfClasses):
                add(measure.id, correct[:, :, known], known, partial(sums, measure.interval))
    for name, values in readings.endpoints.items():
        own = readings.grid(values, arms)
        of = np.asarray(~np.isnan(own).all(axis=(0, 1)))
        add(name, own[:, :, of], of, shares)
    return found


def _global(fit: ObuchowskiRockette, level: float) -> dict[str, Estimate]:
    """The tests that all arms share one mean, by analysis."""
    found = {}
    for mode in MODES:
        test = fit.omnibus(mode)
        details = {"statistic": test.statistic, "df1": test.df1, "df2": test.df2}
        known = {name: x for name, x in details.items() if not (isnan(x) or isinf(x))}
        note = test.note + notes.TEST_ONLY
        found[f"{mode}_{FIRST_COVARIANCE}"] = Estimate(
            nan, nan, nan, fit.n, level, mode, note, p=test.p, details=known
        )
    return found


def _of_pairs(pairs: Sequence[Result], level: float) -> dict[str, Estimate]:
    """Where readings are missing: no two arms differ if the smallest adjusted p of the pairs is large.

    Holm's adjustment holds the chance of any false finding among the pairs, hence that of this test.
    """
    adjusted = [r.details["p_holm"] for r in pairs if "p_holm" in r.details]
    n = min((r.estimate.n for r in pairs), default=0)
    if len(adjusted) < len(pairs) or not pairs:
        return {OF_PAIRS: undefined(n, NO_PAIRS, level=level, method=HOLM)}
    details = {"comparisons": float(len(pairs))}
    return {
        OF_PAIRS: Estimate(nan, nan, nan, n, level, HOLM, notes.TEST_ONLY, p=min(adjusted), details=details)
    }


def _first(tests: Mapping[str, Estimate], n_readers: int) -> str:
    names = [f"{mode}_{FIRST_COVARIANCE}" for mode in ("or_rrrc", "or_frrc")]
    if OF_PAIRS in tests:
        return OF_PAIRS
    if n_readers >= FEW_READERS:
        return names[0]
    known = [name for name in names if not isnan(tests[name].p)]
    return max(known, key=lambda name: tests[name].p) if known else names[0]


def _pairwise(
    readings: Readings,
    arms: tuple[str, ...],
    plan: Plan,
    level: float,
    place: Place,
    results: Sequence[Result],
) -> Iterator[Result]:
    """Every pair of arms by their readings alone, p adjusted among the pairs of an endpoint."""
    by_endpoint: dict[str, list[Result]] = {}
    for earlier, later in combinations(arms, 2):
        pair = (earlier, later) if (earlier, later) in plan.contrasts else (later, earlier)
        for r in _differences(readings, pair, plan, level, place, results):
            by_endpoint.setdefault(r.endpoint, []).append(r)
    for pairs in by_endpoint.values():
        adjusted = holm([r.estimate.p for r in pairs])
        for r, p in zip(pairs, adjusted):
            details = {"comparisons": len(pairs)} | ({} if isnan(p) else {"p_holm": float(p)})
            yield replace(r, id=PAIRWISE, primary=True, details=details)


def _differences(
    readings: Readings,
    pair: tuple[str, str],
    plan: Plan,
    level: float,
    place: Place,
    results: Sequence[Result],
) -> Iterator[Result]:
    """The primary difference of each endpoint of a pair."""
    if pair in plan.contrasts:
        for r in results:
            of_pair = r.id == f"{ID}.arm_difference" and r.place == place.narrowed(arms=pair)
            if of_pair and r.primary and r.method != "bootstrap":
                yield r
        return
    for endpoint in every_endpoint(readings, pair, level):
        differences = endpoint.whole.differences(level)
        first = endpoint.whole.first(differences)
        of: dict[str, Any] = {"endpoint": endpoint.name, "analysis": first, "cases": reading_key(readings)}
        yield Result(PAIRWISE, place.narrowed(arms=pair), differences[first], **of)


def all_arms_part(found: AllArms, task: str, number: int) -> Iterator[Part]:
    """The global test of the first endpoint in a sentence; tests and pairs in a table each."""
    tests = [r for r in found.results if r.id == GLOBAL and r.primary]
    if tests:
        yield text.part(_items(found, tests, number), text.title(task, alone=not task))


def _items(found: AllArms, tests: Sequence[Result], number: int) -> Iterator[Item]:
    yield _sentence(tests[0], len(found.arms))
    yield text.table(
        f"decision_benefit_arms_{number}",
        text("table", arms=list(found.arms)),
        "endpoint .statistic:number .df p .method",
        map(_test, tests),
    )
    pairs = [r for r in found.results if r.id == PAIRWISE]
    yield text.table(
        f"decision_benefit_pairs_{number}",
        text("pairs", n=int(pairs[0].details["comparisons"]) if pairs else 0),
        ".contrast endpoint .change:points p .holm:p",
        map(_pair, pairs),
    )


def _sentence(test: Result, n: int) -> Message:
    endpoint, e = endpoint_name(test.endpoint), test.estimate
    if isnan(e.p):
        return say(f"{TEXT}.no_test", n=n, endpoint=endpoint, reason=e.note)
    return text("test", n=n, endpoint=endpoint, p=e.p)


def _test(r: Result) -> tuple[Any, ...]:
    d = r.estimate.details
    df = None
    if "df1" in d:
        df = text("df2", first=d["df1"], second=d["df2"]) if "df2" in d else text("df1", first=d["df1"])
    return endpoint_name(r.endpoint), d.get("statistic"), df, r.estimate.p, _method(r)


def _method(r: Result) -> Message:
    text = say(f"method.{r.method}.text")
    return say("table.note", method=text, note=r.estimate.note) if isnan(r.estimate.p) else text


def _pair(r: Result) -> tuple[Any, ...]:
    aided, unaided = r.place.arms or ("", "")
    contrast = say("report.tested.contrast", aided=aided, unaided=unaided)
    return contrast, endpoint_name(r.endpoint), r.estimate, r.estimate.p, r.details.get("p_holm")

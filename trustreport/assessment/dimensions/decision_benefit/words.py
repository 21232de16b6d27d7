"""Decision benefit: sentences, tables and figures of one task."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite, isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.decision_benefit.results import CHANGES, ID, TaskBenefit, strata
from trustreport.assessment.dimensions.decision_benefit.secondary_endpoints import ABSENT
from trustreport.assessment.dimensions.decision_benefit.variance_sources import (
    FEW_READERS,
    source_sentences,
    source_tables,
)
from trustreport.assessment.finding import Column, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Texts, endpoint_name, if_known, numbers, side_of, title_of
from trustreport.assessment.performance.reader_analysis import (
    AIDED,
    FIRST_COVARIANCE,
    UNAIDED,
    ReaderEndpoint,
)
from trustreport.assessment.performance.readers import printed_alike, share_positive
from trustreport.figures.benefit import BenefitDiagram, ReaderBenefit, ReaderSlope, SlopePlot
from trustreport.figures.curves import Points, thinned
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.mean_curves import ArmCurves, ReaderCurve, ReaderRoc
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.measures.roc.curve import mean_curve, roc_curve
from trustreport.study.study import Floats
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result, estimate_of

# Points of all curves of an arm together, and the fewest that a curve keeps.
ALL_POINTS, LEAST_POINTS = 1200, 20
# A forest of more readers than this does not fit a page.
MOST_ROWS = 40
# How the limits of a method were found, which says nothing of what is random.
HOW = re.compile(r"(_period)?(_score|_mover)?$")
# Besides the endpoint: of each arm, and of the change.
SECONDARY = (
    ("mean_seconds", "mean_seconds", "seconds"),
    ("mean_confidence", "mean_confidence", "confidence"),
    ("reader_agreement", "reader_agreement", "percent_agreement"),
    ("reader_agreement", "reader_agreement", "fleiss_kappa"),
    ("arm_mean", "arm_difference", "ppv"),
    ("arm_mean", "arm_difference", "npv"),
)

text = Texts(ID)


def part(one: TaskBenefit, *, alone: bool) -> Iterator[Part]:
    """One task in full: the first endpoint with its figures, the others in the table."""
    if one.endpoints:
        title = None if alone else say("word.name", name=title_of(one.readings, one.arms))
        mean = one.mean_benefit(one.main.name)
        assert mean is not None
        items = (*_sentences(one, mean.estimate), *_tables(one), *_figures(one, mean.estimate))
        yield text.part(items, title, Place(task=one.readings.task))


def _sentences(one: TaskBenefit, mean: Estimate) -> Iterator[Message]:
    main, n = one.main, len(one.readings.readers)
    if isnan(mean.value):
        yield text("undefined", reason=mean.note)
        return
    values: dict[str, Any] = {"endpoint": endpoint_name(main.name), "readers": n}
    words = f"{ID}.of_area" if endpoint_row(main.name).written == "area" else f"{ID}.of_share"
    if isnan(mean.low):
        yield say(f"{words}.no_interval", value=mean.value, reason=mean.note, endpoint=values["endpoint"])
    else:
        there = one.at_prevalence(main.name)
        lead = mean if there is None else there.estimate
        way = side_of(lead, 0, "gain", "loss")
        size = replace(lead, value=-lead.value, low=-lead.high, high=-lead.low) if way == "loss" else lead
        if there is None:
            yield say(f"{words}.{way}", **values, **numbers(size))
        else:
            values["prevalence"] = there.parameters["prevalence"]
            yield text(f"of_share.{way}_there", **values, **numbers(size))
            share = share_positive(one.readings)
            if not printed_alike(share, values["prevalence"]):
                yield text("of_share.in_sample", share=share, **numbers(mean))
    yield from _by_class(one)
    yield from source_sentences(one)
    yield from _gains([b for b in main.benefits if not isnan(b.value)])
    found = {name: one.change("decision_count", parameters={"change": name}) for name in CHANGES}
    counts = {name: r.estimate.value for name, r in found.items() if r}
    if counts:
        changed = counts["wrong_to_right"] + counts["right_to_wrong"]
        yield text("changes", n=sum(counts.values()), changed=changed, **counts)
    yield from _secondary_sentences(one)
    yield from _cautions(one)
    if n < FEW_READERS:
        yield say("few_readers", n=n)


def _gains(changes: Sequence[Estimate]) -> Iterator[Message]:
    """How many readers gained and lost, and of how many the reader's own interval shows it."""
    if not changes:
        return
    n, gained, lost = len(changes), sum(b.value > 0 for b in changes), sum(b.value < 0 for b in changes)
    key = {(n, 0): "all_gained", (0, n): "all_lost"}.get((gained, lost), "some")
    said = text(f"readers.{key}", n=n, gained=gained, lost=lost)
    above, below = sum(b.low > 0 for b in changes), sum(b.high < 0 for b in changes)
    key = {(True, True): "both", (True, False): "above", (False, True): "below"}.get(
        (above > 0, below > 0), "neither"
    )
    if key == "neither" and any(isnan(b.low) for b in changes):
        yield said
    else:
        own = text(f"readers.own_{key}", n=n, above=above, below=below)
        yield text("readers.together", first=said, second=own)


def _by_class(one: TaskBenefit) -> Iterator[Message]:
    """The change in sensitivity and in specificity: what claims of fewer misses or false alarms rest on."""
    said = []
    for name in ("sensitivity", "specificity"):
        found = one.mean_benefit(name)
        if name != one.main.name and found is not None and not isnan(found.estimate.low):
            said.append(text(f"by_class.{name}_{side_of(found.estimate, 0, 'gain', 'loss')}", found))
    if len(said) > 1:
        yield text("readers.together", first=said[0], second=said[1])
    else:
        yield from said


def _cautions(one: TaskBenefit) -> Iterator[Message]:
    """Caveats of the primary intervals: endpoints with the same caveat in one sentence."""
    said: dict[tuple[Note, bool], list[str]] = {}
    for r in one.results:
        of_all = r.id == f"{ID}.mean_benefit" and r.within(arms=list(one.arms), subgroup=None)
        if of_all and r.primary and r.estimate.note:
            said.setdefault((r.estimate.note, isnan(r.estimate.low)), []).append(r.endpoint)
    for (note, lacking), endpoints in said.items():
        key = "without_interval" if lacking else "with_care"
        yield text(key, endpoints=[endpoint_name(e) for e in endpoints], note=note)


def _secondary_sentences(one: TaskBenefit) -> Iterator[Message]:
    """Reading time with its change, and how far the readers agree with each other."""
    time, agreement = (
        [one.find(quantity, endpoint=endpoint, arm=arm) for arm in one.arms]
        for quantity, endpoint in (("mean_seconds", "seconds"), ("reader_agreement", "percent_agreement"))
    )
    change = one.change("mean_seconds")
    if change and not isnan(change.estimate.low):
        aided, unaided = (r.estimate.value for r in time if r)
        yield text("time", change, aided=aided, unaided=unaided)
    if all(r and not isnan(r.estimate.value) for r in agreement):
        aided, unaided = (r.estimate.value for r in agreement if r)
        yield text("agreement", aided=aided, unaided=unaided)


def _tables(one: TaskBenefit) -> Iterator[EstimateTable | PlainTable]:
    yield text.estimates(
        f"decision_benefit_{one.number}",
        text("table", n=len(one.readings.readers)),
        _means(one),
        _mean_label,
        lambda r: r.endpoint == one.main.name and r.name == "mean_benefit" and r.place.subgroup is None,
    )
    yield _readers_table(one)
    yield from source_tables(one)
    yield from _component_tables(one)
    yield from _secondary_tables(one)


def _means(one: TaskBenefit) -> Iterator[Result]:
    """Each endpoint in both arms and its change; of the first endpoint also within groups of readers."""
    shown = next(iter(strata(one.readings)), None)
    for endpoint in one.endpoints:
        for a in (UNAIDED, AIDED):
            of_arm = one.find("arm_mean", endpoint=endpoint.name, arm=one.arms[a])
            yield from [of_arm] if of_arm else ()
        over_readers = one.mean_benefit(endpoint.name)
        yield from [over_readers] if over_readers else ()
        for r in one.results if endpoint is one.main else ():
            of_group = r.primary and str(r.place.subgroup).startswith(f"{shown}: ")
            if r.id == f"{ID}.mean_benefit" and of_group and r.endpoint == endpoint.name:
                yield r


def _mean_label(r: Result) -> Message:
    if r.place.subgroup is not None:
        return text("label.stratum", stratum=r.place.subgroup)
    key = "label.benefit" if r.name == "mean_benefit" else "label.arm"
    return text(key, endpoint=endpoint_name(r.endpoint), arm=r.place.arm)


def _readers_table(one: TaskBenefit) -> PlainTable:
    main, groups = one.main, strata(one.readings)
    share, change = ("number.3", "number") if main.name == "auc" else ("percent", "points")
    row = endpoint_row(main.name)

    def cells(j: int) -> Iterator[Any]:
        """A reader: groups, both arms, the change, and its number of cases."""
        yield one.readings.readers.labels[j]
        for g in groups.values():
            yield g.labels[int(g.codes[j])] if g.codes[j] >= 0 else None
        for a in (UNAIDED, AIDED):
            yield if_known(estimate_of(main.by_reader[a][j], row))
        yield estimate_of(main.benefits[j], row.change())
        yield main.benefits[j].n

    return text.table(
        f"decision_benefit_readers_{one.number}",
        text("table_readers", endpoint=endpoint_name(main.name)),
        (
            "reader",
            *(Column(say("word.name", name=name)) for name in groups),
            *(text.column("arm", share, arm=one.arms[a]) for a in (UNAIDED, AIDED)),
            f".change:{change} cases",
        ),
        map(cells, range(len(one.readings.readers))),
    )


def _component_tables(one: TaskBenefit) -> Iterator[PlainTable]:
    """Variance components of each endpoint in squared percentage points, negative ones as they are."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for r in one.results:
        if r.id == f"{ID}.variance_component" and r.within(arms=list(one.arms)):
            chosen = r.parameters
            if chosen.get("covariance", FIRST_COVARIANCE) == FIRST_COVARIANCE:
                by_endpoint = found.setdefault(r.method, {})
                by_endpoint.setdefault(r.endpoint, {})[chosen["component"]] = r.estimate.value
    for method, by_endpoint in found.items():
        names = list(dict.fromkeys(name for values in by_endpoint.values() for name in values))
        yield text.table(
            f"{ID}_{method}_{one.number}",
            text(f"table_{method}"),
            ("endpoint", *(Column(text(f"component.{name}"), "number.2") for name in names)),
            [
                (endpoint_name(e.name), *(1e4 * by_endpoint[e.name].get(name, nan) for name in names))
                for e in one.endpoints
                if e.name in by_endpoint
            ],
        )


def _secondary_tables(one: TaskBenefit) -> Iterator[EstimateTable]:
    """Time, confidence, agreement and predictive values; then what changed in the course of reading."""
    of = f"decision_benefit_{{}}_{one.number}"
    rows = []
    for of_arm, of_change, endpoint in SECONDARY:
        rows += [one.find(of_arm, endpoint=endpoint, arm=one.arms[a]) for a in (UNAIDED, AIDED)]
        rows.append(one.change(of_change, endpoint=endpoint))
    effects = [r for r in one.results if r.id == f"{ID}.order_effect"]
    for key, every, label in (("beside", rows, _secondary_label), ("order", effects, _order_label)):
        shown = [r for r in every if r and _has_values(r)]
        if shown:
            yield text.estimates(of.format(key), text(f"table_{key}"), shown, label, lambda r: False)


def _has_values(result: Result) -> bool:
    """Whether there is anything to report; what an arm lacks is said once among the limitations."""
    return result.estimate.note not in ABSENT


def _secondary_label(result: Result) -> Message:
    name = text(f"beside.{result.endpoint}")
    if result.place.arm is None:
        return text("beside.change", name=name)
    return text("beside.arm", name=name, arm=result.place.arm)


def _order_label(result: Result) -> Message:
    chosen = dict(result.parameters)
    key = f"order.{chosen.pop('comparison')}.{result.endpoint}"
    return text(key, arm=result.place.arm, **chosen)


def _figures(one: TaskBenefit, mean: Estimate) -> Iterator[Figure]:
    main, labels, number = one.main, one.readings.readers.labels, one.number
    endpoint, n = endpoint_name(main.name), len(labels)
    stratum = next(iter(strata(one.readings).values()), None)
    groups = [stratum.labels[int(c)] if c >= 0 else "" for c in stratum.codes] if stratum else [""] * n
    unit: Literal["number", "percent"] = "number" if main.name == "auc" else "percent"
    starts = [e.value for e in main.by_reader[UNAIDED]]
    benefits = tuple(map(ReaderBenefit, labels, starts, main.benefits, groups))
    random = text(f"random.{HOW.sub('', mean.method)}")
    yield text.figure(
        f"benefit_{number}",
        BenefitDiagram(benefits, mean, random, endpoint=endpoint, unit=unit),
        "benefit",
        endpoint=endpoint,
        n=n,
        gained=sum(b.value > 0 for b in main.benefits),
        value=mean.value,
        low=mean.low,
        high=mean.high,
    )
    ways = tuple(map(ReaderSlope, labels, main.by_reader[UNAIDED], main.by_reader[AIDED]))
    aided, unaided = (one.find("arm_mean", endpoint=main.name, arm=arm) for arm in one.arms)
    mean_way = (
        ReaderSlope(say("figure.mean_label"), unaided.estimate, aided.estimate) if aided and unaided else None
    )
    slopes = SlopePlot(ways, mean_way, endpoint=endpoint, unit=unit)
    yield text.figure(f"slope_{number}", slopes, "slope", endpoint=endpoint, n=n)
    if n < MOST_ROWS:
        rows = [*map(EffectRow, labels, main.benefits), EffectRow(text("mean_row"), mean, leads=True)]
        forest = EffectPlot(
            tuple(rows),
            text("quantity", endpoint=endpoint),
            scale="difference" if unit == "number" else "points",
            left=text("worse"),
            right=text("better"),
            benefit="right",
        )
        yield text.figure(f"forest_{number}", forest, "forest", endpoint=endpoint, level=mean.level, n=n)
    curves = _reader_roc(one)
    if curves:
        before, after = (arm.auc.value for arm in curves.arms)
        yield text.figure(f"reader_roc_{number}", curves, "roc", n=n, unaided=before, aided=after)


def _reader_roc(one: TaskBenefit) -> ReaderRoc | None:
    """The curves of both arms; None where there are no scores to draw one from."""
    found = {endpoint.name: endpoint for endpoint in one.endpoints}
    if "auc" not in found:
        return None
    truth = one.readings.cases.truth
    positive, rating = truth[truth >= 0] == 1, found["auc"].outcome
    drawn = []
    for a in (UNAIDED, AIDED):
        lines = [_curve(scores, positive) for scores in rating[a]]
        known = [line for line in lines if line is not None]
        area = one.find("arm_mean", endpoint="auc", arm=one.arms[a])
        if not known or area is None:
            return None
        most = max(ALL_POINTS // len(known), LEAST_POINTS)
        points: list[Points] = [() if line is None else thinned(*line, most) for line in lines]
        decisions = _decisions(found, a, len(lines))
        readers = tuple(map(ReaderCurve, one.readings.readers.labels, points, decisions))
        drawn.append(ArmCurves(one.arms[a], a == AIDED, readers, thinned(*mean_curve(known)), area.estimate))
    return ReaderRoc(tuple(drawn))


def _curve(scores: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats] | None:
    """A reader's curve, where the reader rated cases of both classes."""
    rated = ~np.isnan(scores)
    if not (rated & positive).any() or not (rated & ~positive).any():
        return None
    curve = roc_curve(positive[rated], scores[rated]).corners()
    return curve.fpr, curve.tpr


def _decisions(
    found: dict[str, ReaderEndpoint], arm: int, n_readers: int
) -> list[tuple[float, float] | None]:
    """Where each reader's decisions lie: (1 - specificity, sensitivity)."""
    if not {"sensitivity", "specificity"} <= set(found):
        return [None] * n_readers
    pairs = zip(found["specificity"].by_reader[arm], found["sensitivity"].by_reader[arm])
    places = [(1 - specificity.value, sensitivity.value) for specificity, sensitivity in pairs]
    return [place if isfinite(sum(place)) else None for place in places]

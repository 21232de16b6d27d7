"""Decision benefit: sentences, tables and figures of one task."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Literal

from trustreport.assessment.dimensions.decision_benefit.changes import CHANGES, strata
from trustreport.assessment.dimensions.decision_benefit.curves import reader_roc
from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.dimensions.decision_benefit.secondary_endpoints import ABSENT
from trustreport.assessment.dimensions.decision_benefit.variance_sources import (
    FEW_READERS,
    source_sentences,
    source_tables,
)
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import endpoint_name, numbers, side_of, title_of
from trustreport.assessment.performance.reader_analysis import (
    AIDED,
    FIRST_COVARIANCE,
    UNAIDED,
    ReaderEndpoint,
)
from trustreport.figures.benefit import BenefitDiagram, ReaderBenefit, ReaderSlope, SlopePlot
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.study.study import Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result, estimate_of, leading

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


def part(
    results: Sequence[Result],
    endpoints: Sequence[ReaderEndpoint],
    readings: Readings,
    arms: tuple[str, str],
    number: int,
    *,
    alone: bool,
) -> Iterator[Part]:
    """One task in full: the first endpoint with its figures, the others in the table."""
    if not endpoints:
        return
    main = endpoints[0]
    contrast = list(arms)
    of_readers = leading(results, f"{ID}.mean_benefit", endpoint=main.name, arms=contrast, subgroup=None)
    assert of_readers is not None
    mean = of_readers.estimate
    yield Part(
        title=None if alone else say("word.name", name=title_of(readings, arms)),
        finding=tuple(_sentences(results, main, readings, arms, mean)),
        tables=tuple(_tables(results, endpoints, main, readings, arms, number)),
        figures=(
            *_figures(results, main, readings, arms, mean, number),
            *_roc(results, endpoints, readings, arms, number),
        ),
        place=Place(task=readings.task),
    )


def _sentences(
    results: Sequence[Result], main: ReaderEndpoint, readings: Readings, arms: tuple[str, str], mean: Estimate
) -> Iterator[Message]:
    n = len(readings.readers)
    if isnan(mean.value):
        yield say(f"{ID}.undefined", reason=mean.note)
        return
    values = {"endpoint": endpoint_name(main.name), "readers": n}
    words = f"{ID}.of_area" if endpoint_row(main.name).written == "area" else f"{ID}.of_share"
    if isnan(mean.low):
        yield say(f"{words}.no_interval", value=mean.value, reason=mean.note, endpoint=values["endpoint"])
    else:
        way = side_of(mean, 0, "gain", "loss")
        size = replace(mean, value=-mean.value, low=-mean.high, high=-mean.low) if way == "loss" else mean
        yield say(f"{words}.{way}", **values, **numbers(size))
    yield from _by_class(results, main, arms)
    yield from source_sentences(results, main, arms)
    yield from _gains([b for b in main.benefits if not isnan(b.value)])
    counts = {
        name: found.estimate.value
        for name in CHANGES
        if (found := leading(results, f"{ID}.decision_count", arms=list(arms), parameters={"change": name}))
    }
    if counts:
        yield say(
            f"{ID}.changes",
            n=sum(counts.values()),
            changed=counts["wrong_to_right"] + counts["right_to_wrong"],
            **counts,
        )
    yield from _secondary_sentences(results, arms)
    yield from _cautions(results, arms)
    if n < FEW_READERS:
        yield say("few_readers", n=n)


def _gains(changes: Sequence[Estimate]) -> Iterator[Message]:
    """How many readers gained and lost, and of how many the reader's own interval shows it."""
    if not changes:
        return
    n, gained, lost = len(changes), sum(b.value > 0 for b in changes), sum(b.value < 0 for b in changes)
    key = {(n, 0): "all_gained", (0, n): "all_lost"}.get((gained, lost), "some")
    said = say(f"{ID}.readers.{key}", n=n, gained=gained, lost=lost)
    above, below = sum(b.low > 0 for b in changes), sum(b.high < 0 for b in changes)
    key = {(True, True): "both", (True, False): "above", (False, True): "below"}.get(
        (above > 0, below > 0), "neither"
    )
    if key == "neither" and any(isnan(b.low) for b in changes):
        yield said
    else:
        own = say(f"{ID}.readers.own_{key}", n=n, above=above, below=below)
        yield say(f"{ID}.readers.together", first=said, second=own)


def _by_class(results: Sequence[Result], main: ReaderEndpoint, arms: tuple[str, str]) -> Iterator[Message]:
    """The change in sensitivity and in specificity: what claims of fewer misses or false alarms rest on."""
    said = []
    for name in ("sensitivity", "specificity"):
        found = leading(results, f"{ID}.mean_benefit", endpoint=name, arms=list(arms), subgroup=None)
        if name == main.name or found is None or isnan(found.estimate.low):
            continue
        way = side_of(found.estimate, 0, "gain", "loss")
        said.append(say(f"{ID}.by_class.{name}_{way}", **numbers(found.estimate)))
    if len(said) > 1:
        yield say(f"{ID}.readers.together", first=said[0], second=said[1])
    else:
        yield from said


def _cautions(results: Sequence[Result], arms: tuple[str, str]) -> Iterator[Message]:
    """Caveats of the primary intervals: endpoints with the same caveat in one sentence."""
    said: dict[tuple[Note, bool], list[str]] = {}
    for r in results:
        of_all = r.id == f"{ID}.mean_benefit" and r.within(arms=list(arms), subgroup=None)
        if of_all and r.primary and r.estimate.note:
            said.setdefault((r.estimate.note, isnan(r.estimate.low)), []).append(r.endpoint)
    for (note, lacking), endpoints in said.items():
        key = "without_interval" if lacking else "with_care"
        yield say(f"{ID}.{key}", endpoints=[endpoint_name(e) for e in endpoints], note=note)


def _secondary_sentences(results: Sequence[Result], arms: tuple[str, str]) -> Iterator[Message]:
    """Reading time with its change, and how far the readers agree with each other."""
    time, agreement = (
        [leading(results, f"{ID}.{quantity}", endpoint=endpoint, arm=arm) for arm in arms]
        for quantity, endpoint in (("mean_seconds", "seconds"), ("reader_agreement", "percent_agreement"))
    )
    change = leading(results, f"{ID}.mean_seconds", arms=list(arms))
    if change and not isnan(change.estimate.low):
        aided, unaided = (r.estimate.value for r in time if r)
        yield say(f"{ID}.time", aided=aided, unaided=unaided, **numbers(change.estimate))
    if all(r and not isnan(r.estimate.value) for r in agreement):
        aided, unaided = (r.estimate.value for r in agreement if r)
        yield say(f"{ID}.agreement", aided=aided, unaided=unaided)


def _tables(
    results: Sequence[Result],
    endpoints: Sequence[ReaderEndpoint],
    main: ReaderEndpoint,
    readings: Readings,
    arms: tuple[str, str],
    number: int,
) -> Iterator[EstimateTable | PlainTable]:
    rows = []
    for endpoint in endpoints:
        for arm in (arms[UNAIDED], arms[AIDED]):
            of_arm = leading(results, f"{ID}.arm_mean", endpoint=endpoint.name, arm=arm)
            if of_arm:
                rows.append(
                    EstimateRow(
                        say(f"{ID}.label.arm", endpoint=endpoint_name(endpoint.name), arm=arm), of_arm
                    )
                )
        over_readers = leading(
            results, f"{ID}.mean_benefit", endpoint=endpoint.name, arms=list(arms), subgroup=None
        )
        if over_readers:
            label = say(f"{ID}.label.benefit", endpoint=endpoint_name(endpoint.name))
            rows.append(EstimateRow(label, over_readers, leads=endpoint is main))
        if endpoint is main:
            shown = next(iter(strata(readings)), None)
            rows += [
                EstimateRow(say(f"{ID}.label.stratum", stratum=r.place.subgroup), r)
                for r in results
                if r.id == f"{ID}.mean_benefit"
                and r.primary
                and str(r.place.subgroup).startswith(f"{shown}: ")
                and r.endpoint == main.name
            ]
    yield EstimateTable(
        f"decision_benefit_{number}", say(f"{ID}.table", n=len(readings.readers)), tuple(rows)
    )
    share, change = ("number.3", "number") if main.name == "auc" else ("percent", "points")
    row = endpoint_row(main.name)
    yield table(
        f"decision_benefit_readers_{number}",
        say(f"{ID}.table_readers", endpoint=endpoint_name(main.name)),
        range(len(readings.readers)),
        [
            (f"{ID}.column.reader", lambda j: readings.readers.labels[j]),
            *(
                (
                    say("word.name", name=name),
                    lambda j, g=g: g.labels[int(g.codes[j])] if g.codes[j] >= 0 else None,
                )
                for name, g in strata(readings).items()
            ),
            *(
                (
                    say(f"{ID}.column.arm", arm=arms[a]),
                    lambda j, a=a: estimate_of(main.by_reader[a][j], row).value,
                    share,
                )
                for a in (UNAIDED, AIDED)
            ),
            (f"{ID}.column.change", lambda j: estimate_of(main.benefits[j], row.change()), change),
            (f"{ID}.column.n", lambda j: main.benefits[j].n, "count"),
        ],
    )
    yield from source_tables(results, endpoints, arms, number)
    yield from _component_table(results, endpoints, arms, number)
    yield from _secondary_tables(results, arms, number)


def _component_table(
    results: Sequence[Result], endpoints: Sequence[ReaderEndpoint], arms: tuple[str, str], number: int
) -> Iterator[PlainTable]:
    """Variance components of each endpoint in squared percentage points, negative ones as they are."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for r in results:
        if r.id == f"{ID}.variance_component" and r.within(arms=list(arms)):
            chosen = r.parameters
            if chosen.get("covariance", FIRST_COVARIANCE) == FIRST_COVARIANCE:
                by_endpoint = found.setdefault(r.method, {})
                by_endpoint.setdefault(r.endpoint, {})[chosen["component"]] = r.estimate.value
    for method, by_endpoint in found.items():
        names = list(dict.fromkeys(name for values in by_endpoint.values() for name in values))
        yield table(
            f"{ID}_{method}_{number}",
            say(f"{ID}.table_{method}"),
            [(one.name, by_endpoint[one.name]) for one in endpoints if one.name in by_endpoint],
            [
                (f"{ID}.column.endpoint", lambda row: endpoint_name(row[0])),
                *(
                    (
                        f"{ID}.component.{name}",
                        lambda row, name=name: _squared_points(row[1].get(name, nan)),
                        "number.2",
                    )
                    for name in names
                ),
            ],
        )


def _squared_points(value: float) -> float | None:
    return None if isnan(value) else 1e4 * value


def _secondary_tables(
    results: Sequence[Result], arms: tuple[str, str], number: int
) -> Iterator[EstimateTable]:
    """Time, confidence, agreement and predictive values; then what changed in the course of reading."""
    rows = []
    for of_arm, of_change, endpoint in SECONDARY:
        name = say(f"{ID}.beside.{endpoint}")
        for arm in (arms[UNAIDED], arms[AIDED]):
            label = say(f"{ID}.beside.arm", name=name, arm=arm)
            rows.append((label, leading(results, f"{ID}.{of_arm}", endpoint=endpoint, arm=arm)))
        change = leading(results, f"{ID}.{of_change}", endpoint=endpoint, arms=list(arms))
        rows.append((say(f"{ID}.beside.change", name=name), change))
    shown = tuple(EstimateRow(label, found) for label, found in rows if found and _has_values(found))
    if shown:
        yield EstimateTable(f"decision_benefit_beside_{number}", say(f"{ID}.table_beside"), shown)
    found = (r for r in results if r.id == f"{ID}.order_effect" and _has_values(r))
    effects = tuple(EstimateRow(_order_label(r), r) for r in found)
    if effects:
        yield EstimateTable(f"decision_benefit_order_{number}", say(f"{ID}.table_order"), effects)


def _has_values(result: Result) -> bool:
    """Whether there is anything to report; what an arm lacks is said once among the limitations."""
    return result.estimate.note not in ABSENT


def _order_label(result: Result) -> Message:
    chosen = dict(result.parameters)
    key = f"{ID}.order.{chosen.pop('comparison')}.{result.endpoint}"
    return say(key, arm=result.place.arm, **chosen)


def _figures(
    results: Sequence[Result],
    main: ReaderEndpoint,
    readings: Readings,
    arms: tuple[str, str],
    mean: Estimate,
    number: int,
) -> Iterator[Figure]:
    labels = tuple(readings.readers.labels)
    stratum = next(iter(strata(readings).values()), None)
    groups = (
        [stratum.labels[int(c)] if c >= 0 else "" for c in stratum.codes] if stratum else [""] * len(labels)
    )
    unit: Literal["number", "percent"] = "number" if main.name == "auc" else "percent"
    drawn = [
        ReaderBenefit(label, main.by_reader[UNAIDED][j].value, main.benefits[j], groups[j])
        for j, label in enumerate(labels)
    ]
    yield Figure(
        f"benefit_{number}",
        BenefitDiagram(
            tuple(drawn),
            mean,
            say(f"{ID}.random.{HOW.sub('', mean.method)}"),
            endpoint=endpoint_name(main.name),
            unit=unit,
        ),
        say(f"{ID}.figure.benefit", endpoint=endpoint_name(main.name)),
        say(
            f"{ID}.figure.benefit_alt",
            n=len(labels),
            gained=sum(b.value > 0 for b in main.benefits),
            value=mean.value,
            low=mean.low,
            high=mean.high,
        ),
    )
    ways = [
        ReaderSlope(label, main.by_reader[UNAIDED][j], main.by_reader[AIDED][j])
        for j, label in enumerate(labels)
    ]
    aided, unaided = (leading(results, f"{ID}.arm_mean", endpoint=main.name, arm=arm) for arm in arms)
    mean_way = (
        ReaderSlope(say("figure.mean_label"), unaided.estimate, aided.estimate) if aided and unaided else None
    )
    yield Figure(
        f"slope_{number}",
        SlopePlot(tuple(ways), mean_way, endpoint=endpoint_name(main.name), unit=unit),
        say(f"{ID}.figure.slope", endpoint=endpoint_name(main.name)),
        say(f"{ID}.figure.slope_alt", n=len(labels)),
    )
    if len(labels) < MOST_ROWS:
        rows = [EffectRow(label, main.benefits[j]) for j, label in enumerate(labels)]
        rows.append(EffectRow(say(f"{ID}.mean_row"), mean, leads=True))
        yield Figure(
            f"forest_{number}",
            EffectPlot(
                tuple(rows),
                say(f"{ID}.quantity", endpoint=endpoint_name(main.name)),
                scale="difference" if unit == "number" else "points",
                left=say(f"{ID}.worse"),
                right=say(f"{ID}.better"),
                benefit="right",
            ),
            say(f"{ID}.figure.forest", endpoint=endpoint_name(main.name), level=mean.level),
            say(f"{ID}.figure.forest_alt", n=len(labels)),
        )


def _roc(
    results: Sequence[Result],
    endpoints: Sequence[ReaderEndpoint],
    readings: Readings,
    arms: tuple[str, str],
    number: int,
) -> Iterator[Figure]:
    """The readers' ROC curves, where they gave scores."""
    drawing = reader_roc(results, endpoints, readings, arms)
    if drawing:
        unaided, aided = (arm.auc.value for arm in drawing.arms)
        values = {"n": len(readings.readers), "unaided": unaided, "aided": aided}
        alt = say(f"{ID}.figure.roc_alt", **values)
        yield Figure(f"reader_roc_{number}", drawing, say(f"{ID}.figure.roc"), alt)

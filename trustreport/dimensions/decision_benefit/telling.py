"""How decision benefit is told: sentences, tables and figures of one task."""

from collections.abc import Iterator, Sequence
from math import isnan, nan
from typing import Literal

from trustreport.dimensions.decision_benefit.beside import ABSENT
from trustreport.dimensions.decision_benefit.changes import CHANGES, strata
from trustreport.dimensions.decision_benefit.curves import reader_roc
from trustreport.dimensions.decision_benefit.endpoints import (
    AIDED,
    FIRST_COVARIANCE,
    ID,
    UNAIDED,
    Endpoint,
    name_of,
)
from trustreport.estimate import Estimate
from trustreport.figures.benefit import BenefitDiagram, ReaderBenefit
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.slope import ReaderSlope, SlopePlot
from trustreport.finding import Column, EstimateTable, Figure, Part, PlainTable, Row
from trustreport.messages import Message, say
from trustreport.results import Result, leading
from trustreport.study import Readings

# Fewer readers than this describe themselves, not readers in general.
FEW_READERS = 5
# A forest of more readers than this does not fit a page.
MOST_ROWS = 40
# Intervals whose widths differ by more than this factor are told both.
WIDTHS_DIFFER = 1.1
# What stands beside the endpoint: of each arm, and of the change.
BESIDE = (
    ("mean_seconds", "mean_seconds", "seconds"),
    ("mean_confidence", "mean_confidence", "confidence"),
    ("reader_agreement", "reader_agreement", "percent_agreement"),
    ("reader_agreement", "reader_agreement", "fleiss_kappa"),
    ("arm_mean", "arm_difference", "ppv"),
    ("arm_mean", "arm_difference", "npv"),
)


def part(
    results: Sequence[Result],
    endpoints: Sequence[Endpoint],
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
        scope={"task": readings.task} if readings.task else {},
    )


def title_of(readings: Readings, arms: tuple[str, str]) -> Message | str:
    """What a task or, where it has no name, its contrast is called."""
    return readings.task or say("report.tested.contrast", aided=arms[0], unaided=arms[1])


def _sentences(
    results: Sequence[Result], main: Endpoint, readings: Readings, arms: tuple[str, str], mean: Estimate
) -> Iterator[Message]:
    n = len(readings.readers)
    if isnan(mean.value):
        yield say(f"{ID}.undefined", reason=mean.note)
        return
    if isnan(mean.low):
        yield say(f"{ID}.no_interval", endpoint=name_of(main.name), value=mean.value, reason=mean.note)
    else:
        way = "gain" if mean.low > 0 else "loss" if mean.high < 0 else "either"
        values = {"value": mean.value, "low": mean.low, "high": mean.high, "level": mean.level}
        yield say(f"{ID}.{way}", endpoint=name_of(main.name), **values)
    yield from _by_class(results, main, arms)
    changes = [b for b in main.benefits if not isnan(b.value)]
    yield say(
        f"{ID}.readers",
        n=len(changes),
        gained=sum(b.value > 0 for b in changes),
        lost=sum(b.value < 0 for b in changes),
        same=sum(b.value == 0 for b in changes),
        clear_gain=sum(b.low > 0 for b in changes),
        clear_loss=sum(b.high < 0 for b in changes),
    )
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
    yield from _beside_sentences(results, arms)
    yield from _cautions(results, arms)
    if n < FEW_READERS:
        yield say("few_readers", n=n)


def _by_class(results: Sequence[Result], main: Endpoint, arms: tuple[str, str]) -> Iterator[Message]:
    """The change in sensitivity and in specificity: what claims of fewer misses or false alarms rest on."""
    for name in ("sensitivity", "specificity"):
        found = leading(results, f"{ID}.mean_benefit", endpoint=name, arms=list(arms), subgroup=None)
        if name == main.name or found is None or isnan(found.estimate.low):
            continue
        e = found.estimate
        way = "gain" if e.low > 0 else "loss" if e.high < 0 else "either"
        yield say(f"{ID}.by_class.{name}_{way}", value=e.value, low=e.low, high=e.high, level=e.level)


def _cautions(results: Sequence[Result], arms: tuple[str, str]) -> Iterator[Message]:
    """What is to be known of the intervals that lead: endpoints with the same to be said in one sentence."""
    said: dict[tuple[str, bool], list[str]] = {}
    first: dict[str, Estimate] = {}
    centred: dict[str, Estimate] = {}
    for r in results:
        of_all = r.id == f"{ID}.mean_benefit" and r.within(arms=list(arms), subgroup=None)
        if of_all and r.primary:
            first[r.scope["endpoint"]] = r.estimate
        if of_all and r.primary and r.estimate.note:
            said.setdefault((r.estimate.note, isnan(r.estimate.low)), []).append(r.scope["endpoint"])
        if of_all and r.scope["analysis"] == "ustatistic_centred":
            centred[r.scope["endpoint"]] = r.estimate
    for (note, lacking), endpoints in said.items():
        key = "without_interval" if lacking else "with_care"
        yield say(f"{ID}.{key}", endpoints=[name_of(e) for e in endpoints], note=note)
    apart = {name: e for name, e in centred.items() if not (isnan(e.low) or _alike(e, first[name]))}
    if apart:
        items = [
            say(f"{ID}.centred_of", endpoint=name_of(name), low=e.low, high=e.high)
            for name, e in apart.items()
        ]
        yield say(f"{ID}.centred", items=items, level=next(iter(apart.values())).level)


def _alike(one: Estimate, other: Estimate) -> bool:
    """Whether two intervals are of about one width; none is like no other."""
    ratio = (one.high - one.low) / (other.high - other.low)
    return 1 / WIDTHS_DIFFER < ratio < WIDTHS_DIFFER


def _beside_sentences(results: Sequence[Result], arms: tuple[str, str]) -> Iterator[Message]:
    """Reading time with its change, and how far the readers agree with each other."""
    time, agreement = (
        [leading(results, f"{ID}.{quantity}", endpoint=endpoint, arm=arm) for arm in arms]
        for quantity, endpoint in (("mean_seconds", "seconds"), ("reader_agreement", "percent_agreement"))
    )
    change = leading(results, f"{ID}.mean_seconds", arms=list(arms))
    if change and not isnan(change.estimate.low):
        aided, unaided = (r.estimate.value for r in time if r)
        e = change.estimate
        values = {"value": e.value, "low": e.low, "high": e.high, "level": e.level}
        yield say(f"{ID}.time", aided=aided, unaided=unaided, **values)
    if all(r and not isnan(r.estimate.value) for r in agreement):
        aided, unaided = (r.estimate.value for r in agreement if r)
        yield say(f"{ID}.agreement", aided=aided, unaided=unaided)


def _tables(
    results: Sequence[Result],
    endpoints: Sequence[Endpoint],
    main: Endpoint,
    readings: Readings,
    arms: tuple[str, str],
    number: int,
) -> Iterator[EstimateTable | PlainTable]:
    rows = []
    for endpoint in endpoints:
        for arm in (arms[UNAIDED], arms[AIDED]):
            of_arm = leading(results, f"{ID}.arm_mean", endpoint=endpoint.name, arm=arm)
            if of_arm:
                rows.append(Row(say(f"{ID}.label.arm", endpoint=name_of(endpoint.name), arm=arm), of_arm))
        over_readers = leading(
            results, f"{ID}.mean_benefit", endpoint=endpoint.name, arms=list(arms), subgroup=None
        )
        if over_readers:
            label = say(f"{ID}.label.benefit", endpoint=name_of(endpoint.name))
            rows.append(Row(label, over_readers, leads=endpoint is main))
        if endpoint is main:
            shown = next(iter(strata(readings)), None)
            rows += [
                Row(say(f"{ID}.label.stratum", stratum=r.scope["subgroup"]), r)
                for r in results
                if r.id == f"{ID}.mean_benefit"
                and r.primary
                and str(r.scope.get("subgroup")).startswith(f"{shown}: ")
                and r.scope["endpoint"] == main.name
            ]
    yield EstimateTable(
        f"decision_benefit_{number}", say(f"{ID}.table", n=len(readings.readers)), tuple(rows)
    )
    share, change = ("number.3", "number") if main.name == "auc" else ("percent", "points")
    columns = (
        Column(say(f"{ID}.column.reader")),
        *(Column(say("word.name", name=name)) for name in strata(readings)),
        Column(say(f"{ID}.column.arm", arm=arms[UNAIDED]), share),
        Column(say(f"{ID}.column.arm", arm=arms[AIDED]), share),
        Column(say(f"{ID}.column.change"), change),
        Column(say(f"{ID}.column.n"), "count"),
    )
    groups = strata(readings).values()
    yield PlainTable(
        f"decision_benefit_readers_{number}",
        say(f"{ID}.table_readers", endpoint=name_of(main.name)),
        columns,
        tuple(
            (
                reader,
                *(g.labels[int(g.codes[j])] if g.codes[j] >= 0 else None for g in groups),
                main.by_reader[UNAIDED][j].value,
                main.by_reader[AIDED][j].value,
                main.benefits[j],
                main.benefits[j].n,
            )
            for j, reader in enumerate(readings.readers.labels)
        ),
    )
    yield from _component_table(results, endpoints, arms, number)
    yield from _beside_tables(results, arms, number)


def _component_table(
    results: Sequence[Result], endpoints: Sequence[Endpoint], arms: tuple[str, str], number: int
) -> Iterator[PlainTable]:
    """Variance components of each endpoint in squared percentage points, negative ones as they are."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for r in results:
        if r.id == f"{ID}.variance_component" and r.within(arms=list(arms)):
            chosen = r.scope["parameters"]
            if chosen.get("covariance", FIRST_COVARIANCE) == FIRST_COVARIANCE:
                by_endpoint = found.setdefault(r.method, {})
                by_endpoint.setdefault(r.scope["endpoint"], {})[chosen["component"]] = r.estimate.value
    for method, by_endpoint in found.items():
        names = list(dict.fromkeys(name for values in by_endpoint.values() for name in values))
        columns = (
            Column(say(f"{ID}.column.endpoint")),
            *(Column(say(f"{ID}.component.{name}"), "number.2") for name in names),
        )
        rows = tuple(
            (name_of(one.name), *(_squared_points(by_endpoint[one.name].get(name, nan)) for name in names))
            for one in endpoints
            if one.name in by_endpoint
        )
        yield PlainTable(f"{ID}_{method}_{number}", say(f"{ID}.table_{method}"), columns, rows)


def _squared_points(value: float) -> float | None:
    return None if isnan(value) else 1e4 * value


def _beside_tables(results: Sequence[Result], arms: tuple[str, str], number: int) -> Iterator[EstimateTable]:
    """Time, confidence, agreement and predictive values; then what changed in the course of reading."""
    rows = []
    for of_arm, of_change, endpoint in BESIDE:
        name = say(f"{ID}.beside.{endpoint}")
        for arm in (arms[UNAIDED], arms[AIDED]):
            label = say(f"{ID}.beside.arm", name=name, arm=arm)
            rows.append((label, leading(results, f"{ID}.{of_arm}", endpoint=endpoint, arm=arm)))
        change = leading(results, f"{ID}.{of_change}", endpoint=endpoint, arms=list(arms))
        rows.append((say(f"{ID}.beside.change", name=name), change))
    shown = tuple(Row(label, found) for label, found in rows if found and _recorded(found))
    if shown:
        yield EstimateTable(f"decision_benefit_beside_{number}", say(f"{ID}.table_beside"), shown)
    found = (r for r in results if r.id == f"{ID}.order_effect" and _recorded(r))
    effects = tuple(Row(_order_label(r), r) for r in found)
    if effects:
        yield EstimateTable(f"decision_benefit_order_{number}", say(f"{ID}.table_order"), effects)


def _recorded(result: Result) -> bool:
    """Whether there is anything to tell; what an arm lacks stands once under what this does not show."""
    return result.estimate.note not in ABSENT


def _order_label(result: Result) -> Message:
    scope = result.scope
    chosen = dict(scope["parameters"])
    return say(f"{ID}.order.{chosen.pop('comparison')}.{scope['endpoint']}", arm=scope["arm"], **chosen)


def _figures(
    results: Sequence[Result],
    main: Endpoint,
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
            say(f"{ID}.random.{mean.method}"),
            endpoint=name_of(main.name),
            unit=unit,
        ),
        say(f"{ID}.figure.benefit", endpoint=name_of(main.name)),
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
        SlopePlot(tuple(ways), mean_way, endpoint=name_of(main.name), unit=unit),
        say(f"{ID}.figure.slope", endpoint=name_of(main.name)),
        say(f"{ID}.figure.slope_alt", n=len(labels)),
    )
    if len(labels) < MOST_ROWS:
        rows = [EffectRow(label, main.benefits[j]) for j, label in enumerate(labels)]
        rows.append(EffectRow(say(f"{ID}.mean_row"), mean, leads=True))
        yield Figure(
            f"forest_{number}",
            EffectPlot(
                tuple(rows),
                say(f"{ID}.quantity", endpoint=name_of(main.name)),
                scale="difference" if unit == "number" else "points",
                left=say(f"{ID}.worse"),
                right=say(f"{ID}.better"),
                benefit="right",
            ),
            say(f"{ID}.figure.forest", endpoint=name_of(main.name), level=mean.level),
            say(f"{ID}.figure.forest_alt", n=len(labels)),
        )


def _roc(
    results: Sequence[Result],
    endpoints: Sequence[Endpoint],
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

"""How late each chart would be: cases and periods from the declared harm to its alert."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trustreport.assessment.dimensions.vigilance.charts import METHODS, Charted, designed_for
from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline
from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring.charts import CusumChart
from trustreport.measures.monitoring.detection_delay import STATISTICS, cusum_delay, sprt_delay
from trustreport.measures.monitoring.notes import USUAL_LOOK
from trustreport.measures.note import NO_NOTE
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.delay"


@dataclass(frozen=True, eq=False)
class Delay:
    """The delay of one chart: its two entries, by statistic."""

    chart: Charted
    results: Mapping[str, Result]

    @property
    def known(self) -> bool:
        """Whether there is a chart that alerts."""
        return all("periods" in r.details for r in self.results.values())

    def cases(self, statistic: str) -> float:
        """Cases until the alert."""
        return self.results[statistic].estimate.value

    def periods(self, statistic: str) -> float:
        """The same in periods of the usual number of cases."""
        return float(self.results[statistic].details["periods"])


def delays(charts: Sequence[Charted], timeline: Timeline) -> list[Delay]:
    """The delay of every chart, undefined for the reason that there is no chart where there is none."""
    return [_delay(chart, timeline) for chart in charts]


def _delay(chart: Charted, timeline: Timeline) -> Delay:
    parameters = {**chart.result.parameters, "chart": chart.kind}
    made = {}
    for name, e in _estimates(chart).items():
        details = {}
        if "looks" in e.details and chart.looks is not None:
            per_period = float(chart.looks.sizes.sum()) / len(set(chart.looks.period))
            details = {"periods": e.value / per_period, "cases_per_period": per_period}
        made[name] = Result(
            f"{ID}.detection_delay",
            timeline.place,
            e,
            endpoint=chart.endpoint,
            parameters={**parameters, "statistic": name},
            primary=True,
            details=details,
        )
    return Delay(chart, made)


def _estimates(chart: Charted) -> dict[str, Estimate]:
    e, looks, run = chart.result.estimate, chart.looks, chart.run
    if looks is None or run is None:
        none = undefined(e.n, e.note, level=e.level, method=METHODS[chart.kind])
        return dict.fromkeys(STATISTICS, none)
    if isinstance(run, CusumChart):
        sizes = set(looks.sizes.tolist())
        usual = max(1, round(float(looks.sizes.mean())))
        note = USUAL_LOOK if len(sizes) > 1 else NO_NOTE
        return cusum_delay(run.design, cases=usual, n=e.n, level=e.level, note=note)
    return sprt_delay(run, n=e.n, level=e.level)


def delay_sentence(delay: Delay) -> Message | None:
    """How late an alert would be, in a sentence."""
    if not delay.known:
        return None
    return say(
        f"{TEXT}.sentence",
        level=delay.chart.indicator.to_detect,
        **{name: delay.cases(name) for name in STATISTICS},
        **{f"{name}_periods": delay.periods(name) for name in STATISTICS},
    )


def delay_table(found: Sequence[Delay], suffix: str) -> Iterator[PlainTable]:
    """Every chart with its delay, in cases and in periods."""
    rows = [d for d in found if d.known]
    if not rows:
        return
    column = f"{ID}.column"
    yield table(
        f"vigilance_delays{suffix}",
        say(f"{TEXT}.table"),
        rows,
        [
            (f"{column}.indicator", lambda d: heading(d.chart.endpoint)),
            (f"{column}.chart", lambda d: say(f"{ID}.chart.{d.chart.kind}")),
            (f"{column}.rates", lambda d: designed_for(d.chart.indicator)),
            *((f"{TEXT}.column.{name}", lambda d, s=name: d.cases(s), "count") for name in STATISTICS),
            *(
                (f"{TEXT}.column.{name}_periods", lambda d, s=name: d.periods(s), "number.1")
                for name in STATISTICS
            ),
        ],
    )

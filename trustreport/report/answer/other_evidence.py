"""What the answer says of measured values, of ratings, and of labels that are wrong at times."""

from collections.abc import Iterator
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report.answer.sentences import Statement, stated, tested_results
from trustreport.report.tables import in_words
from trustreport.vocabulary.messages import Catalogue

SCORED = ("candidates", "advice_accuracy")
MEASURED = (
    *(
        "mean_absolute_error_difference",
        "mean_value_difference",
        "mean_score_difference",
        "mean_loss_difference",
    ),
    *("preference_share", "bias", "mean_value", "mean_score", "mean_loss"),
)


def labels_with_error(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Where labels are wrong at times: what the corrected values are, or that none of this is accuracy."""
    fired = [o for o in assessment.checks if o.check == "P73" and o.status == "fired"]
    scored = any(r.dimension in SCORED for r in assessment.results)
    if not fired or not scored:
        return
    corrected = [
        r
        for name in ("sensitivity", "specificity", "auc")
        for r in tested_results(assessment, f"advice_accuracy.label_corrected_{name}")
        if not isnan(r.estimate.low)
    ]
    for place in dict.fromkeys(r.place for r in corrected):
        own = [r for r in corrected if r.place == place]
        measures = [
            say(
                "answer.open.measure_of",
                measure=quantity_name(r.name.removeprefix("label_corrected_")),
                estimate=in_words(r, say),
            )
            for r in own
        ]
        yield stated(say, "answer.open.labels_corrected", *own, data=place.data_name, measures=measures)
    if not corrected:
        yield stated(say, "answer.open.labels_unknown")


def measurements(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Of each measurement the change by the aid or between devices, else the bias or the mean."""
    units = {m.measurement: m.unit for m in assessment.plan.measurements}
    whole = [
        r
        for r in assessment.results
        if r.dimension in ("measurement", "reader_measurement")
        and r.place.reader is None
        and r.place.site is None
    ]
    found = [r for r in whole if r.name in MEASURED and not isnan(r.estimate.value)]
    names = list(dict.fromkeys(r.endpoint for r in found))
    for r in sorted(found, key=lambda r: (names.index(r.endpoint), MEASURED.index(r.name))):
        pair = r.place.arms or r.place.candidates
        unit = f"\N{NO-BREAK SPACE}{units.get(r.endpoint)}" if units.get(r.endpoint) else ""
        who = "readers" if r.dimension == "reader_measurement" else "device"
        name = (
            r.place.arm or r.place.candidate or r.place.dataset or r.place.task or say(f"measurement.{who}")
        )
        said = {
            "name": name,
            "measurement": r.endpoint or say("measurement.value"),
            "change": in_words(r, say),
        }
        if r.name == "preference_share":
            compared, baseline = pair or ("", "")
            yield stated(say, "answer.open.preferred", r, compared=compared, baseline=baseline, **said)
        elif pair:
            measure = quantity_name(r.name.removesuffix("_difference"))
            yield stated(
                say,
                f"answer.open.measured_{'change' if r.name.startswith('mean_absolute') else 'mean_change'}",
                r,
                measure=measure,
                compared=pair[0],
                baseline=pair[1],
                **said,
            )
        elif r.name == "bias":
            e, n = r.estimate, r.estimate.n
            way = "above" if e.low > 0 else "below" if e.high < 0 else "either"
            yield stated(say, f"answer.open.measured_{way}", r, n=n, **said)
            own = {o.name: o for o in whole if o.place == r.place and o.endpoint == r.endpoint}
            ends = [own.get(name) for name in ("agreement_limit_low", "agreement_limit_high")]
            if ends[0] is not None and ends[1] is not None and not isnan(ends[0].estimate.value):
                values = {"below": ends[0].estimate.value, "above": ends[1].estimate.value, "unit": unit}
                yield stated(say, "answer.open.measured_limits", ends[0], ends[1], **values)
        else:
            yield stated(say, "answer.open.measured_mean", r, n=r.estimate.n, **said)

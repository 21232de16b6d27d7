"""What the answer says of measured values, of ratings, and of labels that are wrong at times."""

from collections.abc import Iterator
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.measurement.words import averaged, names_compared
from trustreport.assessment.narrative.texts import quantity_name, side_of
from trustreport.assessment.performance.labels import label_error, why_labels_err
from trustreport.assessment.verdicts.judge import amount
from trustreport.report.answer.sentences import (
    MEASURING,
    Statement,
    known,
    outside_development,
    stated,
    tested_results,
)
from trustreport.report.tables import in_words
from trustreport.study.plan import Plan
from trustreport.vocabulary.digits import Rounded
from trustreport.vocabulary.kinds import AGAINST_A_VALUE, MEANS
from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.quantity import CORRECTED, DIFFERENCE
from trustreport.vocabulary.results import Result

BY_SCALE = ("krippendorff_alpha",)  # primary on the scale of the labels that is declared
MEAN = MEANS[0]
COMPARED = (AGAINST_A_VALUE[0], *MEANS)  # whose differences between arms or candidates are stated
STATED = (*(f"{name}{DIFFERENCE}" for name in COMPARED), "preference_share", "bias", *MEANS)
MOST_MEASURED = 9  # means and differences on the first page
PARTS = ("reader", "site", "subgroup", "reference")  # of a place that is not the whole
WORST_OF = (AGAINST_A_VALUE[0], *MEANS[1:])  # of which the worst site is named
LOW_AGREEMENT = "checks.P14.fired"
LIMITS = ("lower_limit_of_agreement", "upper_limit_of_agreement")


def labels_err(assessment: Assessment) -> bool:
    """Whether the labels are known, or declared, to be wrong at times."""
    return why_labels_err(assessment.plan) is not None


def against_labels(assessment: Assessment) -> bool:
    """Whether numbers that need right labels are against labels that are wrong at times."""
    return labels_err(assessment) and any(r.quantity.needs_right_labels for r in assessment.results)


def not_accuracy(assessment: Assessment, say: Catalogue) -> Statement:
    """That uncorrected numbers are agreement with labels, of declared or of unknown error."""
    declared, composite = label_error(assessment.plan) is not None, _kind(assessment) == "composite"
    key = "uncorrected" if declared else "composite" if composite else "unknown"
    return stated(say, f"answer.open.labels_{key}")


def _kind(assessment: Assessment) -> str | None:
    return assessment.plan.reference_standard.kind


def is_corrected(result: Result) -> bool:
    """Whether a number is corrected for the declared error of the labels."""
    return result.name.startswith(CORRECTED)


def labels_with_error(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Where labels are wrong at times: what the corrected values are, or that none of this is accuracy."""
    if not against_labels(assessment):
        return
    corrected = [
        r
        for name in ("sensitivity", "specificity", "auc")
        for r in tested_results(assessment, f"advice_accuracy.{CORRECTED}{name}")
        if not isnan(r.estimate.low)
    ]
    for place in dict.fromkeys(r.place for r in corrected):
        own = [r for r in corrected if r.place == place]
        measures = [
            say(
                "answer.open.measure_of",
                measure=quantity_name(r.name.removeprefix(CORRECTED)),
                estimate=in_words(r, say),
            )
            for r in own
        ]
        key = "latent" if _kind(assessment) == "latent_class" else "corrected"
        yield stated(say, f"answer.open.labels_{key}", *own, data=place.data_name, measures=measures)
    if not corrected:
        yield not_accuracy(assessment, say)


def of_raters_alone(assessment: Assessment) -> bool:
    """Whether only the reference standard was assessed, and no device."""
    found = {r.dimension for r in assessment.results}
    return found == {"source_reliability"}


def raters(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Agreement of those who set the reference, and what accuracy can be reached against them."""

    def first(id: str) -> Result | None:
        """The first result of an id that is of no part of the data."""
        return next(iter(whole(assessment, id)), None)

    agreement = first("source_reliability.krippendorff_alpha")
    rho = first("source_reliability.weighted_concordance")
    reached = whole(assessment, "source_reliability.actual_accuracy")
    if agreement is not None:
        e = agreement.estimate
        if isnan(e.low) and e.note:
            yield stated(say, "answer.open.raters_value", agreement, value=amount(agreement, e.value))
            yield stated(say, "answer.open.no_interval", reason=e.note)
        else:
            yield from _agreement(agreement, assessment, say)
        if rho is not None and of_raters_alone(assessment):
            yield stated(say, "answer.open.rho", rho, estimate=in_words(rho, say))
    if reached:
        first_one = next((r for r in reached if r.estimate.n), reached[0])
        e, text = first_one.estimate, in_words(first_one, say)
        key = "answer.open.actual_accuracy"
        if isnan(e.low):
            key = "answer.open.actual_accuracy_alone" if e.n else "answer.open.actual_accuracy_stated"
        values = {
            "measured": amount(first_one, Rounded(e.details["measured"], first_one.places)),
            "value": amount(first_one, e.value),
        }
        alike = [r for r in reached if in_words(r, say) == text]
        yield stated(say, key, *alike, **values)


def _agreement(alpha: Result, assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """How well raters agree; where the check on it found too little, beside the lowest value accepted.

    Of a device that was assessed the limits of the page say the latter.
    """
    estimate = in_words(alpha, say)
    for outcome in assessment.fired():
        found = outcome.message.values
        if outcome.message.key == LOW_AGREEMENT and found["value"] == alpha.estimate.value:
            if not of_raters_alone(assessment):
                return
            side = "low" if alpha.estimate.high < found["limit"] else "open"
            values = {"limit": found["limit"], "whose": found["whose"]}
            yield stated(say, f"answer.open.raters_{side}", alpha, estimate=estimate, **values)
            return
    yield stated(say, "answer.open.raters", alpha, estimate=estimate)


def whole(assessment: Assessment, id: str) -> list[Result]:
    """The primary entries of an id that are of no part of the data."""
    of_parts = dict.fromkeys(("subgroup", "site", "reader"))
    return [r for r in known(assessment, id, **of_parts) if r.name in BY_SCALE or "parameters" not in r.scope]


def measurements(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Of each measurement the change by the aid or between devices, else the bias or the mean."""
    whole = [
        r
        for r in assessment.results
        if r.dimension in MEASURING and not any(getattr(r.place, part) for part in PARTS)
    ]
    found = [r for r in whole if r.name in STATED and not isnan(r.estimate.value)]
    # Two means of 0 do not differ for sure: their own sentences say what is known.
    empty = {r.endpoint for r in found if r.name in MEANS and _is_bare_zero(r)}
    found = [r for r in found if r.name in MEANS or r.endpoint not in empty or not _is_bare_zero(r)]
    names = list(dict.fromkeys(r.endpoint for r in found))
    found.sort(key=lambda r: (names.index(r.endpoint), STATED.index(r.name)))
    for r in found[:MOST_MEASURED]:
        yield _none(r, whole, say) or _measured(r, assessment.plan, say)
        if r.name == "bias":
            at = (r.place, r.endpoint)
            yield from _limits([o for o in whole if o.name in LIMITS and (o.place, o.endpoint) == at], say)
    if len(found) > MOST_MEASURED:
        yield stated(say, "answer.open.measured_more", n=len(found) - MOST_MEASURED)


def _is_bare_zero(r: Result) -> bool:
    return r.name.removesuffix(DIFFERENCE) in MEANS and not r.estimate.value and isnan(r.estimate.low)


def _none(r: Result, whole: list[Result], say: Catalogue) -> Statement | None:
    """That all values are 0, with what the proportion of acceptable ones can be; None of another mean."""
    at = (r.place, r.endpoint, "acceptable_share")
    share = next((o for o in whole if (o.place, o.endpoint, o.name) == at), None)
    if not _is_bare_zero(r) or share is None or isnan(share.estimate.low):
        return None
    values = {
        "name": _name(r, say),
        "measurement": r.endpoint,
        "n": r.estimate.n,
        "share": in_words(share, say),
    }
    return stated(say, "answer.open.measured_none", share, **values)


def _name(r: Result, say: Catalogue) -> str:
    """Whose values they are."""
    who = say(f"measurement.{'device' if r.dimension == 'measurement' else 'readers'}")
    return r.place.arm or r.place.candidate or r.place.dataset or r.place.task or who


def _measured(r: Result, plan: Plan, say: Catalogue) -> Statement:
    """The sentence of one result."""
    at, facts = r.place, plan.measurement_of(r.endpoint)
    compared, baseline = map(say.called, names_compared(at))
    name: Message | str = r.endpoint or say("measurement.value")
    if facts is not None and r.name.removesuffix(DIFFERENCE) in MEANS:
        name = averaged(name, facts.kind)
    values = {
        "name": _name(r, say),
        "measurement": name,
        "measure": quantity_name(r.name.removesuffix(DIFFERENCE)),
        "change": in_words(r, say),
        "compared": compared,
        "baseline": baseline,
        "n": r.estimate.n,
    }
    key = "mean"
    if r.name == "preference_share":
        key = f"preference_{side_of(r.estimate, 0.5, 'more', 'less')}"
    elif r.name == "bias":
        key = side_of(r.estimate, 0.0)
    elif compared:
        way = "" if isnan(r.estimate.low) else f"_{side_of(r.estimate, 0.0, 'higher', 'lower')}"
        key = f"change{way}" if r.name.startswith("mean_absolute") else f"mean_change{way}"
    return stated(say, f"answer.open.measured_{key}", r, **values)


def _limits(limits: list[Result], say: Catalogue) -> Iterator[Statement]:
    """Between which differences most cases are expected to be, where both limits can be relied on."""
    if limits and not any(isnan(r.estimate.value) or r.estimate.short for r in limits):
        below, above = (r.estimate.value for r in limits)
        unit = limits[0].details.get("unit")
        values = {"below": below, "above": above, "unit": f"\N{NO-BREAK SPACE}{unit}" if unit else ""}
        yield stated(say, "answer.open.measured_limits", *limits, **values)


def worst_sites(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Of each measurement the site with the largest error or the worst mean, and what the others reach.

    Of readers in two arms the compared one speaks, of periods of routine use the latest.
    """
    of_use, arms = outside_development(assessment), [pair[0] for pair in assessment.plan.contrasts]
    earlier = [d.dataset for d in assessment.plan.datasets if d.role == "period"][:-1]
    found = [
        r
        for r in filter(of_use, assessment.results)
        if r.dimension in MEASURING and r.place.site and r.place.reader is None and r.name in WORST_OF
        if r.place.arm in (None, *arms[:1]) and r.place.dataset not in earlier
        if not (isnan(r.estimate.value) or r.estimate.short)
    ]
    for measured in dict.fromkeys((r.dimension, r.endpoint, r.name) for r in found):
        of = [r for r in found if (r.dimension, r.endpoint, r.name) == measured]
        worst = (max if of[0].quantity.better == "down" else min)(of, key=lambda r: r.estimate.value)
        rest = [r for r in of if r is not worst and r.place.narrowed(site=worst.place.site) == worst.place]
        if rest:
            yield _worst_site(worst, rest, say)


def _worst_site(worst: Result, rest: list[Result], say: Catalogue) -> Statement:
    place, name = worst.place, worst.endpoint or say("measurement.value")
    whose = place.arm or place.candidate or ""
    least = (max if worst.quantity.better == "down" else min)(r.estimate.value for r in rest)
    how = "other" if len(rest) == 1 else f"others_{worst.quantity.better}"
    elsewhere = say(f"answer.worst.{how}", least=amount(worst, least), place=rest[0].place.site)
    values = {
        "measurement": say("word.pair", first=name, second=whose) if whose else name,
        "measure": quantity_name(worst.name),
        "estimate": in_words(worst, say),
        "site": place.site,
        "n": len(rest) + 1,
        "elsewhere": elsewhere,
    }
    return stated(say, "answer.worst.site", worst, *rest, **values)


def since_baseline(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
    """The changes of measured values since the baseline that are shown, latest period first; and others."""
    names = [f"{name}{DIFFERENCE}" for name in (*COMPARED, "acceptable_share")]
    of = [r for r in assessment.results if r.dimension in MEASURING and r.place.reference and r.name in names]
    order = [d.dataset for d in assessment.plan.datasets]
    changes = sorted(
        (r for r in of if not isnan(r.estimate.value)), key=lambda r: -order.index(str(r.place.dataset))
    )
    said: tuple[list[Statement], list[Statement]] = ([], [])
    for r in changes:
        shown = r.details["p_holm"] <= 1 - r.estimate.level
        if not shown and r.place.dataset != changes[0].place.dataset:
            continue
        values = {
            "measurement": r.endpoint or say("measurement.value"),
            "measure": quantity_name(r.name.removesuffix(DIFFERENCE)),
            "change": in_words(r, say),
            "period": r.place.data_name,
            "baseline": r.place.reference,
            "p": r.details["p_holm"],
        }
        key = "changed" if shown else "unchanged"
        said[not shown].append(stated(say, f"answer.vigilance.measured_{key}", r, **values))
    return said

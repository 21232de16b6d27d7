"""The answer where no criteria were declared: the primary result of each kind of data that is there."""

from collections.abc import Callable
from math import isnan

from trustreport.assessment import Assessment
from trustreport.messages import Catalogue
from trustreport.narrative.names import quantity_name
from trustreport.report.answer.sentences import Statement, first_letter
from trustreport.report.answer.worst import of_data_sets, worst_data
from trustreport.report.tables import in_words
from trustreport.results import Result
from trustreport.study import DEVELOPMENT_ROLES
from trustreport.verdicts.judge import amount

MOST_PAIRS = 3
BY_SCALE = ("krippendorff_alpha",)  # primary on the scale of the labels that is declared


def answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
    """Sentences, and what supports them: utility first where one is declared, published figures last."""
    found: list[Statement] = []
    for one in SPEAKERS:
        said = one(assessment, say)
        found += said
    if not found:
        return [Statement(say("answer.open.nothing"))], [Statement(say("answer.open.no_criteria"))]
    return found[:1], [*found[1:], Statement(say("answer.open.no_criteria"))]


def _utility(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Of candidates whose decisions have a declared utility: which yields most, and by how much."""
    found = [
        r
        for r in assessment.results
        if r.id == "advice_accuracy.utility_difference" and r.primary and not isnan(r.estimate.value)
    ]
    said: list[Statement] = []
    for r in found[:MOST_PAIRS]:
        e, (one, other) = r.estimate, r.place.candidates or ("", "")
        utility = str(r.parameters.get("utility", ""))
        apart = e.low > 0 or e.high < 0
        more, less = (one, other) if e.value > 0 else (other, one)
        low, high = sorted((abs(e.low), abs(e.high)))
        key = "more" if apart else "alike"
        text = say(
            f"answer.open.utility_{key}",
            utility=utility,
            more=more,
            less=less,
            value=abs(e.value) if apart else e.value,
            low=low if apart else e.low,
            high=high if apart else e.high,
            level=e.level,
            one=one,
            other=other,
        )
        said.append(Statement(text, (r,)))
    return said


def _readers(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The change of the primary endpoint of the readers, and how many readers did better and worse."""
    task = _first(assessment, "decision_benefit.mean_benefit")
    if task is None:
        return []
    e = task.estimate
    own = [
        r
        for r in assessment.results
        if r.id == "decision_benefit.benefit"
        and r.primary
        and r.endpoint == task.endpoint
        and r.place.task == task.place.task
        and not isnan(r.estimate.value)
    ]
    measure = say(quantity_name(task.endpoint))
    said = [
        Statement(
            say(
                f"answer.open.readers_{_side(task)}",
                measure=measure,
                title=first_letter(measure),
                change=in_words(task, say),
                n=len(own),
                level=e.level,
            ),
            (task,),
        )
    ]
    if own:
        better = sum(r.estimate.value > 0 for r in own)
        worse = sum(r.estimate.value < 0 for r in own)
        said.append(
            Statement(say("answer.open.gained", better=better, worse=worse, n=len(own), measure=measure))
        )
    return said


def _errors(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Errors with and without the aid, from counts alone."""
    if _first(assessment, "decision_benefit.mean_benefit") is not None:
        return []
    arr = _first(assessment, "pragmatic_utility.arr")
    if arr is None:
        return []
    rates = {
        r.place.arm: r
        for r in assessment.results
        if r.id == "pragmatic_utility.error_rate" and r.primary and r.place.set == arr.place.set
    }
    aided, unaided = (rates.get(arm) for arm in arr.place.arms or ("", ""))
    if aided is None or unaided is None:
        return []
    values = {
        "aided": amount(aided, aided.estimate.value),
        "unaided": amount(unaided, unaided.estimate.value),
        "change": in_words(arr, say),
    }
    return [Statement(say(f"answer.open.errors_{_side(arr)}", **values), (arr, aided, unaided))]


def _data_sets(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Area, sensitivity and specificity on test data, and the worst of several sets."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    if len(assessment.plan.candidates) > 1 or all(role in DEVELOPMENT_ROLES for role in roles.values()):
        return _by_candidate(assessment, say)
    kinds = [of_data_sets(assessment, f"advice_accuracy.{m}") for m in ("auc", "sensitivity", "specificity")]
    sets = list(dict.fromkeys(r.place.dataset for own in kinds for r in own))
    said = []
    for name in sets[:MOST_PAIRS]:
        own = [r for kind in kinds for r in kind if r.place.dataset == name]
        parts = [_measured(r, say) for r in own]
        said.append(Statement(say("answer.open.on_data", data=name, measures=parts), tuple(own)))
    worst = worst_data(assessment, say)
    return said + ([worst] if worst else [])


def _by_candidate(assessment: Assessment, say: Catalogue) -> list[Statement]:
    said = []
    for one in assessment.plan.candidates:
        own = [
            r
            for m in ("sensitivity", "specificity")
            for r in of_data_sets(assessment, f"candidates.{m}", one.candidate)
            or of_data_sets(assessment, f"advice_accuracy.{m}", one.candidate)
        ]
        if own:
            parts = [_measured(r, say) for r in own]
            said.append(
                Statement(say("answer.open.of_candidate", data=one.candidate, measures=parts), tuple(own))
            )
    return said


def _measured(r: Result, say: Catalogue) -> str:
    return say("answer.open.measured", measure=say(quantity_name(r.name)), estimate=in_words(r, say))


def _classes(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Of several classes: how often the one called is right, and the class with the lowest sensitivity."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    shares = [r for r in assessment.results if r.id == "advice_accuracy.class_accuracy" and r.primary]
    said = []
    for share in [r for r in shares if roles.get(str(r.place.dataset)) not in DEVELOPMENT_ROLES][:MOST_PAIRS]:
        own = [
            r
            for r in assessment.results
            if r.id == "advice_accuracy.class_sensitivity" and r.place == share.place and r.estimate.n
        ]
        if not own:
            continue
        least = min(own, key=lambda r: r.estimate.value)
        text = say(
            "answer.open.classes",
            data=share.place.data_name,
            value=in_words(share, say),
            n=share.estimate.n,
            of_class=least.parameters["of_class"],
            least=in_words(least, say),
        )
        said.append(Statement(text, (share, least)))
    return said


def _lesions(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """How well candidates find lesions: the weighted area and the lesions found, of each on its test data."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    areas = [r for r in assessment.results if r.id == "localisation.wafroc_auc" and r.primary]
    said = []
    for area in [r for r in areas if roles.get(str(r.place.dataset)) not in DEVELOPMENT_ROLES][:MOST_PAIRS]:
        names = ("lesion_sensitivity", "false_marks_per_case")
        own = {
            r.name: r for r in assessment.results if r.place == area.place and r.dimension == area.dimension
        }
        found, false = (own[name] for name in names)
        shown = [area] if not isnan(area.estimate.value) else []
        if isnan(found.estimate.value):
            continue
        text = say(
            "answer.open.lesions" if shown else "answer.open.lesions_found",
            data=area.place.data_name,
            area=in_words(area, say) if shown else "",
            found=in_words(found, say),
            false=false.estimate.value,
        )
        said.append(Statement(text, (*shown, found, false)))
    return said


def _reader_lesions(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The change of the weighted area of the readers."""
    found = [
        r
        for r in assessment.results
        if r.id == "reader_localisation.arm_difference" and r.primary and r.endpoint == "wafroc_auc"
    ]
    said = []
    for r in [r for r in found if not isnan(r.estimate.low)][:MOST_PAIRS]:
        e, (compared, baseline) = r.estimate, r.place.arms or ("", "")
        text = say(
            f"answer.open.reader_lesions_{_side(r)}",
            change=in_words(r, say),
            compared=compared,
            baseline=baseline,
            level=e.level,
        )
        said.append(Statement(text, (r,)))
    return said


def _published(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Declared figures that contradict each other, and those that the counts do not bear out."""
    own = [r for r in assessment.results if r.id == "reported.conflict"]
    checked = {r.place.set for r in assessment.results if r.id == "reported.consistent_matrices"}
    if not checked:
        return []
    key = "conflicts" if own else "no_conflicts"
    names = [str(r.place.set).removesuffix(", reported") for r in own[:MOST_PAIRS]]
    return [
        Statement(
            say(f"answer.open.{key}", n=len(own), all=len(checked | {r.place.set for r in own}), names=names),
            tuple(own),
        )
    ]


def _raters(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Agreement of those who set the reference, and what accuracy can be reached against them."""
    agreement = _first(assessment, "source_reliability.krippendorff_alpha")
    reached = _first(assessment, "source_reliability.actual_accuracy")
    said = []
    if agreement is not None:
        said.append(Statement(say("answer.open.raters", estimate=in_words(agreement, say)), (agreement,)))
    if reached is not None:
        said.append(
            Statement(
                say("answer.open.actual_accuracy", value=amount(reached, reached.estimate.value)), (reached,)
            )
        )
    return said


def _first(assessment: Assessment, id: str) -> Result | None:
    """The first primary entry of an id that is of no part of the data."""
    for r in assessment.results:
        special = set(r.scope) & {
            "subgroup",
            "site",
            "reader",
            *(() if r.name in BY_SCALE else ("parameters",)),
        }
        if r.id == id and r.primary and not special and not isnan(r.estimate.value):
            return r
    return None


def _side(change: Result) -> str:
    """Whether a change is shown to be for the better or the worse, or not shown."""
    e = change.estimate
    if not (e.low > 0 or e.high < 0):
        return "unclear"
    return "better" if e.low > 0 else "worse"


SPEAKERS: tuple[Callable[[Assessment, Catalogue], list[Statement]], ...] = (
    _utility,
    _readers,
    _reader_lesions,
    _errors,
    _data_sets,
    _classes,
    _lesions,
    _published,
    _raters,
)

"""The answer where no criteria were declared: the primary result of each kind of data that is there."""

from collections.abc import Callable, Sequence
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts.blocks import concerns
from trustreport.assessment.verdicts.judge import amount
from trustreport.report.answer.sentences import Statement, first_letter, in_brackets
from trustreport.report.answer.worst import of_data_sets, worst_data
from trustreport.report.tables import in_words
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.digits import Rounded
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

MOST_PAIRS = 3
MOST_UTILITIES = 4
PAIR = 2
SCORED = ("candidates", "advice_accuracy")
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
    for r in found[:MOST_UTILITIES]:
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
    return [*_depends(found, say), *said]


def _depends(found: Sequence[Result], say: Catalogue) -> list[Statement]:
    """Of two candidates whose utilities do not agree: under which of them which one yields more."""
    if len({r.place.candidates for r in found}) != 1:
        return []
    one, other = found[0].place.candidates or ("", "")
    sides: dict[tuple[str, str] | None, list[str]] = {}
    for r in found:
        e = r.estimate
        side = (one, other) if e.low > 0 else (other, one) if e.high < 0 else None
        sides.setdefault(side, []).append(str(r.parameters.get("utility", "")))
    if len(sides) == 1:
        return []
    clauses = [
        say("answer.open.utility_clause", more=side[0], less=side[1], utilities=names)
        if side
        else say("answer.open.utility_clause_alike", utilities=names)
        for side, names in sorted(sides.items(), key=lambda item: item[0] is None)
    ]
    text = say("answer.open.utility_depends", clauses="; ".join(clauses))
    return [Statement(text, tuple(found))]


def _readers(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The change of the primary endpoint of the readers, and how many readers did better and worse.

    Where several pairs of arms are compared, each is named.
    """
    task = _first(assessment, "decision_benefit.mean_benefit")
    if task is None:
        return []
    pairs = _every(assessment, "decision_benefit.mean_benefit")
    pairs = [r for r in pairs if r.endpoint == task.endpoint and r.place.task == task.place.task]
    if len({r.place.arms for r in pairs}) > 1:
        return [_change(r, say, named=True) for r in pairs[:MOST_PAIRS]]
    own = [
        r
        for r in assessment.results
        if r.id == "decision_benefit.benefit"
        and r.primary
        and r.endpoint == task.endpoint
        and r.place.task == task.place.task
        and not isnan(r.estimate.value)
    ]
    found = [_change(task, say)]
    if own:
        better = sum(r.estimate.value > 0 for r in own)
        worse = sum(r.estimate.value < 0 for r in own)
        measure = say(quantity_name(task.endpoint))
        found.append(
            Statement(say("answer.open.gained", better=better, worse=worse, n=len(own), measure=measure))
        )
    return found


def _change(r: Result, say: Catalogue, *, named: bool = False) -> Statement:
    """The change of an endpoint of the readers, with the names of the arms where there are several pairs."""
    aided, unaided = r.place.arms or ("", "")
    values = {"measure": say(quantity_name(r.endpoint)), "change": in_words(r, say)}
    if named:
        return Statement(say(f"answer.open.arms_{_side(r)}", aided=aided, unaided=unaided, **values), (r,))
    return Statement(say(f"answer.open.readers_{_side(r)}", **values), (r,))


def _errors(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Errors with and without the aid, unless the change in accuracy has said it; of sets the worst first."""
    readers = _first(assessment, "decision_benefit.mean_benefit")
    if readers is not None and readers.endpoint == "accuracy":
        return []
    found = sorted(_every(assessment, "pragmatic_utility.arr"), key=lambda r: r.estimate.value)
    rates = {
        (r.place.set, r.place.arm): r
        for r in assessment.results
        if r.id == "pragmatic_utility.error_rate" and r.primary
    }
    said = []
    for arr in found:
        aided, unaided = (rates.get((arr.place.set, arm)) for arm in arr.place.arms or ("", ""))
        if aided is None or unaided is None:
            continue
        values = {
            "aided": amount(aided, aided.estimate.value),
            "unaided": amount(unaided, unaided.estimate.value),
            "change": in_words(arr, say),
        }
        text = say(f"answer.open.errors_{_side(arr)}", **values)
        if len(found) > 1:
            text = say("answer.open.of_set", name=arr.place.set or arr.place.task, text=text)
        said.append(Statement(text, (arr, aided, unaided)))
    if len(said) > MOST_PAIRS:
        sides = [_side(r) for r in found]
        counts = {side: sides.count(side) for side in ("better", "worse", "unclear")}
        said = [
            Statement(say("answer.open.errors_of_sets", n=len(found), **counts), tuple(found)),
            *said[:MOST_PAIRS],
        ]
    return said


def _data_sets(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Area, sensitivity and specificity on test data; of several sets the worst comes first."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    names = candidates(assessment)
    if len(names) > 1 or all(role in DEVELOPMENT_ROLES for role in roles.values()):
        return _by_candidate(assessment, names, say)
    kinds = [of_data_sets(assessment, f"advice_accuracy.{m}") for m in ("auc", "sensitivity", "specificity")]
    sets = list(dict.fromkeys(r.place.dataset for own in kinds for r in own))
    said = []
    for name in sets[:MOST_PAIRS]:
        own = [r for kind in kinds for r in kind if r.place.dataset == name]
        parts = [_measured(r, say) for r in own]
        said.append(Statement(say("answer.open.on_data", data=name, measures=parts), tuple(own)))
    worst = worst_data(assessment, say)
    return ([worst] if worst else []) + said


def candidates(assessment: Assessment) -> list[str]:
    """The candidates as declared, then those that only the data name."""
    scored = [r.place.candidate for r in assessment.results if r.dimension in SCORED and r.place.candidate]
    return list(dict.fromkeys([*(c.candidate for c in assessment.plan.candidates), *scored]))


def _by_candidate(assessment: Assessment, names: Sequence[str], say: Catalogue) -> list[Statement]:
    """Each candidate, and how they differ in area where few are compared."""
    areas = [
        r
        for name in names
        for r in of_data_sets(assessment, "candidates.auc", name)
        or of_data_sets(assessment, "advice_accuracy.auc", name)
    ]
    said = []
    # On one data set the areas of all are one sentence.
    together = len(names) > 1 and len({r.place.dataset for r in areas}) == 1 and len(areas) == len(names)
    if together:
        items = [
            say("answer.open.measured", measure=r.place.candidate, estimate=in_words(r, say)) for r in areas
        ]
        values = {"measure": first_letter(say(quantity_name("auc"))), "data": areas[0].place.dataset}
        said.append(Statement(say("answer.open.areas", items=items, **values), tuple(areas)))
    for name in names:
        own = [] if together else [r for r in areas if r.place.candidate == name]
        own += [
            r
            for m in ("sensitivity", "specificity")
            for r in of_data_sets(assessment, f"candidates.{m}", name)
            or of_data_sets(assessment, f"advice_accuracy.{m}", name)
        ]
        if own:
            parts = [_measured(r, say) for r in own]
            said.append(Statement(say("answer.open.of_candidate", data=name, measures=parts), tuple(own)))
    return said + _differences(assessment, say)


def _differences(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The differences in area of candidates on the same cases, where there are at most three pairs."""
    for id in ("candidates.auc_difference", "advice_accuracy.auc_difference"):
        found = [
            r
            for r in assessment.results
            if r.id == id
            and r.primary
            and r.within(subgroup=None, site=None, parameters=None)
            and len(r.place.candidates or ()) == PAIR
            and not isnan(r.estimate.low)
        ]
        if 0 < len(found) <= MOST_PAIRS:
            return [_difference(r, say) for r in found]
    return []


def _difference(r: Result, say: Catalogue) -> Statement:
    one, other = r.place.candidates or ("", "")
    differ = r.estimate.low > 0 or r.estimate.high < 0
    measure = say(quantity_name("auc"))
    key = f"answer.candidates.{'apart' if differ else 'alike'}"
    return Statement(say(key, one=one, other=other, measure=measure, estimate=in_brackets(r, say)), (r,))


def _sets(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Sensitivity and specificity of published tables: of one, or between which two of several."""
    blocks = [c for c in assessment.checks if c.status == "fired" and c.severity == "B"]
    kinds = {
        m: [
            r
            for r in assessment.results
            if r.id == f"advice_accuracy.{m}" and r.primary and r.place.set and not isnan(r.estimate.value)
            if not any(concerns(block, r) for block in blocks)
        ]
        for m in ("sensitivity", "specificity")
    }
    alike = decided_alike(kinds["sensitivity"], kinds["specificity"])
    kinds = {m: [r for r in own if r.place not in alike] for m, own in kinds.items()}
    places = list(dict.fromkeys(r.place for own in kinds.values() for r in own))
    said = []
    if len(places) == 1 or any(place.candidate for place in places):
        for place in places[:MOST_PAIRS]:
            own = [r for kind in kinds.values() for r in kind if r.place == place]
            parts = [_measured(r, say) for r in own]
            text = say("answer.open.on_data", data=place.data_name, measures=parts)
            said.append(Statement(text, tuple(own)))
        return said
    for measure, own in kinds.items():
        if len(own) > 1:
            low, high = (pick(own, key=lambda r: r.estimate.value) for pick in (min, max))
            values = {
                "measure": say(quantity_name(measure)),
                "n": len(own),
                "low": in_words(low, say),
                "high": in_words(high, say),
                "first": low.place.data_name,
                "last": high.place.data_name,
            }
            said.append(Statement(say("answer.open.over_sets", **values), (low, high)))
    return said


def _published_tables(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Tables of a publication: the readers' mean change, and between which sites performance ranges."""
    said = []
    for r in assessment.results:
        if r.id == "decision_benefit.published_mean_benefit":
            values = {"measure": say(quantity_name(r.endpoint)), "change": in_words(r, say)}
            said.append(Statement(say("answer.open.published_readers", set=r.place.set, **values), (r,)))
    sites: dict[str | None, list[Result]] = {}
    for r in assessment.results:
        if r.id == "potential_robustness.published_performance" and not isnan(r.estimate.value):
            own = sites.setdefault(r.place.set, [])
            if not own or own[0].endpoint == r.endpoint:  # the first measure that was printed
                own.append(r)
    for name, own in sites.items():
        low, high = (pick(own, key=lambda r: r.estimate.value) for pick in (min, max))
        text = say(
            "answer.open.published_sites",
            set=name,
            measure=say(quantity_name(low.endpoint)),
            n=len(own),
            low=in_words(low, say),
            high=in_words(high, say),
            first=low.place.site,
            last=high.place.site,
        )
        said.append(Statement(text, (low, high)))
    return said


def decided_alike(sensitivities: list[Result], specificities: list[Result]) -> set[Place]:
    """Sets whose decisions are all positive or all negative: no table of a test that decides."""
    of = {r.place: r.estimate.value for r in specificities}
    return {r.place for r in sensitivities if (r.estimate.value, of.get(r.place)) in ((0, 1), (1, 0))}


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


def _at_horizon(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Of an event by a horizon: the observed risk, how well the scores rank, and observed over expected."""
    roles, declared = {d.name: d.role for d in assessment.study.datasets}, assessment.plan.time_to_event
    if declared is None:
        return []
    of: dict[Place, dict[str, Result]] = {}
    for r in assessment.results:
        if r.name.endswith("_at_horizon") and r.primary and not isnan(r.estimate.value):
            of.setdefault(r.place, {})[r.name] = r
    said = []
    tested = [place for place in of if roles.get(str(place.dataset)) not in DEVELOPMENT_ROLES]
    for place in tested[:MOST_PAIRS]:
        risk = of[place].get("risk_at_horizon")
        own = [of[place][name] for name in ("auc_at_horizon", "oe_at_horizon") if name in of[place]]
        if risk is not None and own:
            text = say(
                "answer.open.horizon",
                data=place.data_name,
                event=declared.event or say("answer.open.horizon_event"),
                horizon=declared.written,
                risk=in_words(risk, say),
                n=risk.estimate.n,
                measures=[_measured(r, say) for r in own],
            )
            said.append(Statement(text, (*own, risk)))
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
    text = say(f"answer.open.{key}", n=len(own), all=len(checked | {r.place.set for r in own}), names=names)
    said = [Statement(text, tuple(own))]
    for r in own[:1]:
        printed = r.details["figures"]  # pairs; a mapping where the numbers of cases alone do not add up
        if isinstance(printed, list):
            figures = [say("reported.figure", metric=quantity_name(m), text=t.strip()) for m, t in printed]
            said.append(Statement(say("answer.open.conflict_of", name=names[0], figures=figures), (r,)))
    return said


def _raters(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Agreement of those who set the reference, and what accuracy can be reached against them."""
    agreement = _first(assessment, "source_reliability.krippendorff_alpha")
    reached = _first(assessment, "source_reliability.actual_accuracy")
    said = []
    if agreement is not None:
        e = agreement.estimate
        if isnan(e.low) and e.note:
            value = amount(agreement, e.value)
            said.append(Statement(say("answer.open.raters_value", value=value), (agreement,)))
            said.append(Statement(say("answer.open.no_interval", reason=e.note)))
        else:
            said.append(Statement(say("answer.open.raters", estimate=in_words(agreement, say)), (agreement,)))
    rho = _first(assessment, "source_reliability.weighted_concordance")
    if said and rho is not None:
        said.append(Statement(say("answer.open.rho", estimate=in_words(rho, say)), (rho,)))
    if said and all(r.dimension == "source_reliability" for r in assessment.results):
        said.append(Statement(say("answer.open.only_raters"), ()))
    if reached is not None:
        e = reached.estimate
        key = "actual_accuracy_alone" if isnan(e.low) else "actual_accuracy"
        measured = amount(reached, Rounded(e.details["measured"], reached.places))
        text = say(f"answer.open.{key}", measured=measured, value=amount(reached, e.value))
        said.append(Statement(text, (reached,)))
    return said


def _first(assessment: Assessment, id: str) -> Result | None:
    """The first primary entry of an id that is of no part of the data."""
    return next(iter(_every(assessment, id)), None)


def _every(assessment: Assessment, id: str) -> list[Result]:
    """The primary entries of an id that are of no part of the data."""
    part = {"subgroup", "site", "reader"}
    return [
        r
        for r in assessment.results
        if r.id == id
        and r.primary
        and not set(r.scope) & (part | (set() if r.name in BY_SCALE else {"parameters"}))
        and not isnan(r.estimate.value)
    ]


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
    _at_horizon,
    _lesions,
    _published,
    _sets,
    _published_tables,
    _raters,
)

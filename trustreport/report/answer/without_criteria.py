"""The answer where no criteria were declared: the primary result of each kind of data that is there."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite, isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.performance.readers import share_positive
from trustreport.assessment.verdicts.entries import concerns
from trustreport.assessment.verdicts.judge import amount, as_share
from trustreport.report.answer.by_criteria import difference_of_pair
from trustreport.report.answer.losses import losses
from trustreport.report.answer.other_evidence import labels_with_error, measurements, raters, whole
from trustreport.report.answer.sentences import (
    MOST_PAIRS,
    SCORED,
    Said,
    Statement,
    at_declared,
    excludes_zero,
    first_letter,
    known,
    of_data_sets,
    outside_development,
    stated,
    tested_results,
    worst_data,
)
from trustreport.report.tables import in_words
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

MOST_UTILITIES = 4
PAIR = 2
CONFLICT = "reported.conflict"
WIDER = 1.5  # times the interval of the mean, from which an interval for a new study says that studies differ
WHOLE = 1e-6  # from a whole number, at most
# The decisions of a test, by id.
DECIDED = ("advice_accuracy.sensitivity", "advice_accuracy.specificity")


def answer(assessment: Assessment, say: Catalogue) -> Said:
    """Sentences, and what supports them: utility first where one is declared, published figures last."""
    found = [statement for speaker in SPEAKERS for statement in speaker(assessment, say)]
    lost, unadjusted = losses((), assessment, say)
    if lost:
        told = {r for one in lost for r in one.results}
        others = [one for one in found if not one.results or not told >= set(one.results)]
        return lost, [*others, *unadjusted]
    return found[:1] or [stated(say, "answer.open.nothing")], found[1:]


def _utility(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Of candidates whose decisions have a declared utility: which yields most, and by how much.

    Where that depends on the utility, the table beside the answer has the differences. One has the sign that
    it has in tables: the first candidate of a pair minus the second.
    """
    found = known(assessment, "advice_accuracy.utility_difference")
    shown = found[:MOST_UTILITIES]
    if depends_on_utility(assessment):
        yield _depends(found, say)
        if meant := assessment.plan.utility.rationale:
            yield stated(say, "answer.open.utility_is", meant=meant.removesuffix("."))
        return
    for r in shown:
        one, other = r.place.candidates or ("", "")
        more, less = (one, other) if r.estimate.value > 0 else (other, one)
        values = {"change": in_words(r, say), "level": r.estimate.level, "utility": _utility_of(r)}
        values |= {"one": one, "other": other, "more": more, "less": less}
        key = "more" if excludes_zero(r) else "alike"
        yield stated(say, f"answer.open.utility_{key}", r, **values)


def depends_on_utility(assessment: Assessment) -> bool:
    """Whether which of two candidates is better depends on which of the declared utilities holds."""
    found = known(assessment, "advice_accuracy.utility_difference")
    return len({r.place.candidates for r in found}) == 1 and len({_sign(r) for r in found}) > 1


def _sign(r: Result) -> int:
    """1 or -1 where the whole interval of a difference is above or below zero, else 0."""
    return int(r.estimate.low > 0) - int(r.estimate.high < 0)


def _utility_of(r: Result) -> str:
    return str(r.parameters.get("utility", ""))


def _depends(found: Sequence[Result], say: Catalogue) -> Statement:
    """Of two candidates whose utilities do not agree: under which of them which one yields more."""
    one, other = found[0].place.candidates or ("", "")
    clauses = []
    for sign, more in ((1, one), (-1, other), (0, "")):
        if names := [_utility_of(r) for r in found if _sign(r) == sign]:
            key = f"answer.open.utility_clause{'' if sign else '_alike'}"
            clauses.append(say(key, more=more, utilities=names))
    text = say.between.join(clauses)
    return stated(say, "answer.open.utility_depends", *found, one=other, other=one, clauses=text)


def _readers(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """The change of the primary endpoint of the readers, and how many readers did better and worse.

    Where several pairs of arms are compared, each is named.
    """
    every = whole(assessment, "decision_benefit.mean_benefit")
    if not every:
        return
    task = every[0]
    measure = say(quantity_name(task.endpoint))
    pairs = [r for r in every if (r.endpoint, r.place.task) == (task.endpoint, task.place.task)]
    if len({r.place.arms for r in pairs}) > 1:
        for r in pairs[:MOST_PAIRS]:
            aided, unaided = map(say.called, r.place.arms or ("", ""))
            values = {"measure": measure, "change": in_words(r, say), "aided": aided, "unaided": unaided}
            yield stated(say, f"answer.open.arms_{_side(r)}", r, **values)
        return
    there = at_declared(assessment, task)
    if there is task:
        values = {"measure": measure, "change": in_words(task, say)}
        yield stated(say, f"answer.open.readers_{_side(task)}", task, **values)
    else:
        yield from _at_intended_use(assessment, there, task, say)
    own = known(assessment, "decision_benefit.benefit")
    gains = [r.estimate.value for r in own if (r.endpoint, r.place.task) == (task.endpoint, task.place.task)]
    if gains:
        counts = {"better": sum(x > 0 for x in gains), "worse": sum(x < 0 for x in gains), "n": len(gains)}
        yield stated(say, "answer.open.gained", measure=measure, **counts)


def _at_intended_use(
    assessment: Assessment, there: Result, sample: Result, say: Catalogue
) -> Iterator[Statement]:
    """The change at the declared prevalence with its number needed, then that of the sample."""
    prevalence = as_share(there.parameters["prevalence"])
    change = say("answer.open.at_use", change=in_words(there, say), prevalence=prevalence)
    values = {"measure": say(quantity_name(there.endpoint)), "change": change}
    text = say(f"answer.open.readers_{_side(there)}", **values)
    rested = [there]
    for r in known(assessment, "pragmatic_utility.nnd", parameters=there.parameters):
        e = r.estimate
        if r.place == there.place and e.low > 0 and isfinite(e.high):
            number = say("answer.open.nnd", value=e.value, low=e.low, high=e.high)
            text, rested = f"{text} {number}", [there, r]
    yield Statement(text, tuple(rested))
    for readings in assessment.study.readings:
        if readings.task == sample.place.task or len(assessment.study.readings) == 1:
            share, change = share_positive(readings), in_words(sample, say)
            yield stated(say, "answer.open.readers_sample", sample, share=share, change=change)
            return


def _errors(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Errors with and without the aid, unless the change in accuracy has said it; of sets the worst first."""
    readers = whole(assessment, "decision_benefit.mean_benefit")
    if readers and readers[0].endpoint == "accuracy":
        return []
    found = sorted(whole(assessment, "pragmatic_utility.arr"), key=lambda r: r.estimate.value)
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
        text = say(
            f"answer.open.errors_{_side(arr)}",
            aided=amount(aided, aided.estimate.value),
            unaided=amount(unaided, unaided.estimate.value),
            change=in_words(arr, say),
        )
        if len(found) > 1:
            text = say("answer.open.of_set", name=arr.place.set or arr.place.task, text=text)
        said.append(Statement(text, (arr, aided, unaided)))
    if len(said) <= MOST_PAIRS:
        return said
    sides = [_side(r) for r in found]
    counts = {side: sides.count(side) for side in ("better", "worse", "unclear")}
    return [
        stated(say, "answer.open.errors_of_sets", *found, n=len(found), **counts),
        *said[:MOST_PAIRS],
    ]


def _data_sets(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Area, sensitivity and specificity on test data; of several sets the worst comes first."""
    names = candidates(assessment)
    if len(names) > 1 or all(d.role in DEVELOPMENT_ROLES for d in assessment.study.datasets):
        return _by_candidate(assessment, names, say)
    measures = ("auc", "sensitivity", "specificity")
    every = [r for m in measures for r in of_data_sets(assessment, f"advice_accuracy.{m}")]
    sets = list(dict.fromkeys(str(r.place.dataset) for r in every))[:MOST_PAIRS]
    own = {name: [r for r in every if r.place.dataset == name] for name in sets}
    if len(sets) == 1:
        return [_counted(sets[0], every, say)]
    return worst_data(assessment, say) + [_on_data(name, found, say) for name, found in own.items()]


def candidates(assessment: Assessment) -> list[str]:
    """The candidates as declared, then those that only the data name."""
    scored = [r.place.candidate for r in assessment.results if r.dimension in SCORED and r.place.candidate]
    return list(dict.fromkeys([*(c.candidate for c in assessment.plan.candidates), *scored]))


def _by_candidate(assessment: Assessment, names: Sequence[str], say: Catalogue) -> list[Statement]:
    """Each candidate, and how they differ in area where few are compared."""

    def measured(name: str, measure: str) -> list[Result]:
        """Results of a candidate, from the comparison of candidates where it has them."""
        ids = (f"{dimension}.{measure}" for dimension in SCORED)
        return next(filter(None, (of_data_sets(assessment, id, name) for id in ids)), [])

    areas = [r for name in names for r in measured(name, "auc")]
    measures = ("auc", "sensitivity", "specificity")
    every = [[r for measure in measures for r in measured(name, measure)] for name in names]
    alike = [r for own in every for r in own]
    if len(names) > 1 and len({r.place.dataset for r in alike}) == 1:
        texts = {tuple(_measures(own, say)) for own in every}
        if len(texts) == 1:
            values = {"names": names, "data": alike[0].place.dataset, "measures": texts.pop()}
            same = stated(say, "answer.open.same", *alike, **values)
            return [same, *_weighed(assessment, say), *_differences(assessment, say)]
    said = []
    # On one data set the areas of all are one sentence.
    together = len(names) > 1 and len({r.place.dataset for r in areas}) == 1 and len(areas) == len(names)
    if together:
        values = {"measure": first_letter(say(quantity_name("auc"))), "data": areas[0].place.dataset}
        items = [_estimate(r, str(r.place.candidate), say) for r in areas]
        said.append(stated(say, "answer.open.areas", *areas, items=items, **values))
    for name in names:
        own = [] if together else [r for r in areas if r.place.candidate == name]
        own += [r for measure in ("sensitivity", "specificity") for r in measured(name, measure)]
        if own:
            said.append(
                stated(say, "answer.open.of_candidate", *own, data=name, measures=_measures(own, say))
            )
    return _differences(assessment, say) + said


def _differences(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The differences in area of candidates on the same cases, where there are at most three pairs."""
    whole = {"subgroup": None, "site": None, "parameters": None}
    for dimension in SCORED:
        found = [
            r
            for r in assessment.results
            if r.id == f"{dimension}.auc_difference"
            and r.primary
            and r.within(**whole)
            and len(r.place.candidates or ()) == PAIR
            and not isnan(r.estimate.low)
        ]
        if 0 < len(found) <= MOST_PAIRS:
            return [difference_of_pair(r, say(quantity_name("auc")), say) for r in found]
    return []


def _weighed(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """A significant difference in H-accuracy, of several choices of its parameters the first."""
    for r in known(assessment, "advice_accuracy.h_accuracy_difference"):
        if excludes_zero(r):
            name = say(quantity_name("h_accuracy"))
            yield difference_of_pair(r, name, say)
            yield stated(say, "answer.open.h_accuracy", name=name)
            return


def _pooled(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Sensitivity and specificity over all studies of a pool, and where those of a new study are expected."""
    for measure in ("sensitivity", "specificity"):
        for r in known(assessment, f"reported.pooled_{measure}"):
            new = next(
                (
                    one
                    for one in known(assessment, "reported.prediction_interval")
                    if (one.endpoint, one.place.set) == (measure, r.place.set) and not isnan(one.estimate.low)
                ),
                None,
            )
            name, n = say(quantity_name(measure)), len(r.place.sets) or r.estimate.n
            values = {"measure": name, "estimate": in_words(r, say), "n": n}
            if new is None:
                yield stated(say, "answer.open.pooled_alone", r, **values)
                continue
            e = new.estimate
            differ = e.high - e.low > WIDER * (r.estimate.high - r.estimate.low)
            key = f"answer.open.pooled{'_differ' if differ else ''}"
            yield stated(say, key, r, new, **values, low=e.low, high=e.high, level=e.level)


def _sets(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Sensitivity and specificity of published tables: of one, or between which two of several.

    A table whose own publication contradicts it says nothing.
    """
    blocks = [c for c in assessment.checks if c.status == "fired" and c.severity == "B"]
    refuted = {_printed_in(r) for r in assessment.results if r.id == CONFLICT}
    every = [
        [
            r
            for r in known(assessment, id)
            if r.place.set and r.place.set not in refuted and not any(concerns(b, r) for b in blocks)
        ]
        for id in DECIDED
    ]
    alike = decided_alike(*every)
    kinds = [[r for r in own if r.place not in alike] for own in every]
    places = list(dict.fromkeys(r.place for own in kinds for r in own))
    if len(places) == 1 or any(place.candidate for place in places):
        for place in places[:MOST_PAIRS]:
            of_set = [r for own in kinds for r in own if r.place == place]
            yield (_counted if len(places) == 1 else _on_data)(place.data_name, of_set, say)
        return
    every_set = {r.place for r in assessment.results if r.id in DECIDED and r.primary and r.place.set}
    for own in kinds:
        if len(own) > 1:
            low, high = _least_and_most(own)
            values = _range(low, high, say) | {"first": low.place.data_name, "last": high.place.data_name}
            measure = say(quantity_name(low.name))
            key = "answer.open.over_sets" + ("_in_part" if len(own) < len(every_set) else "")
            yield stated(say, key, low, high, n=len(own), all=len(every_set), measure=measure, **values)


def _least_and_most(found: Iterable[Result]) -> tuple[Result, Result]:
    ordered = list(found)
    low, high = (pick(ordered, key=lambda r: r.estimate.value) for pick in (min, max))
    return low, high


def _range(low: Result, high: Result, say: Catalogue) -> dict[str, str]:
    return {"low": in_words(low, say), "high": in_words(high, say)}


def _published_tables(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Tables of a publication: the readers' mean change, and between which sites performance ranges."""
    for r in assessment.results:
        if r.id == "decision_benefit.published_mean_benefit":
            values = {"measure": say(quantity_name(r.endpoint)), "change": in_words(r, say)}
            yield stated(say, "answer.open.published_readers", r, set=r.place.set, **values)
    sites: dict[str | None, list[Result]] = {}
    for r in assessment.results:
        if r.id == "potential_robustness.published_performance" and not isnan(r.estimate.value):
            own = sites.setdefault(r.place.set, [])
            if not own or own[0].endpoint == r.endpoint:  # the first measure that was printed
                own.append(r)
    for name, own in sites.items():
        low, high = _least_and_most(own)
        values = _range(low, high, say) | {"first": str(low.place.site), "last": str(high.place.site)}
        measure = say(quantity_name(low.endpoint))
        key = "answer.open.published_sites"
        yield stated(say, key, low, high, set=name, measure=measure, n=len(own), **values)


def decided_alike(sensitivities: Sequence[Result], specificities: Sequence[Result]) -> set[Place]:
    """Sets whose decisions are all positive or all negative: no table of a test that decides."""
    of = {r.place: r.estimate.value for r in specificities}
    return {r.place for r in sensitivities if (r.estimate.value, of.get(r.place)) in ((0, 1), (1, 0))}


def _on_data(name: str, own: Sequence[Result], say: Catalogue) -> Statement:
    return stated(say, "answer.open.on_data", *own, data=name, measures=_measures(own, say))


def _counted(name: str, own: Sequence[Result], say: Catalogue) -> Statement:
    """The measures of the only data set, and how many cases were missed and how many alarms were false."""
    counts = []
    for id in DECIDED:
        r = next((r for r in own if r.id == id), None)
        wrong = r.estimate.n * (1 - r.estimate.value) if r is not None else 0.5
        if r is None or abs(wrong - round(wrong)) > WHOLE:
            return _on_data(name, own, say)
        counts += [round(wrong), r.estimate.n]
    values = dict(zip(("missed", "positive", "alarms", "negative"), counts, strict=True))
    return stated(say, "answer.open.on_data_counted", *own, data=name, measures=_measures(own, say), **values)


def _measures(found: Iterable[Result], say: Catalogue) -> list[str]:
    return [_estimate(r, say(quantity_name(r.name)), say) for r in found]


def _estimate(r: Result, name: str, say: Catalogue) -> str:
    return say("answer.open.measured", measure=name, estimate=in_words(r, say))


def _classes(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Of several classes: how often the one called is right, and the class with the lowest sensitivity."""
    for share in tested_results(assessment, "advice_accuracy.class_accuracy"):
        own = [
            r
            for r in assessment.results
            if r.id == "advice_accuracy.class_sensitivity" and r.place == share.place and r.estimate.n
        ]
        if own:
            least = min(own, key=lambda r: r.estimate.value)
            yield stated(
                say,
                "answer.open.classes",
                share,
                least,
                data=share.place.data_name,
                value=in_words(share, say),
                n=share.estimate.n,
                of_class=least.parameters["of_class"],
                least=in_words(least, say),
            )


def _at_horizon(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Of an event by a horizon: the observed risk, how well the scores rank, and observed over expected."""
    declared = assessment.plan.time_to_event
    if declared is None:
        return
    at: dict[Place, dict[str, Result]] = {}
    for r in filter(outside_development(assessment), assessment.results):
        if r.name.endswith("_at_horizon") and r.primary and not isnan(r.estimate.value):
            at.setdefault(r.place, {})[r.name] = r
    for place, found in list(at.items())[:MOST_PAIRS]:
        risk = found.get("risk_at_horizon")
        own = [found[name] for name in ("auc_at_horizon", "oe_at_horizon") if name in found]
        if risk is not None and own:
            yield stated(
                say,
                "answer.open.horizon",
                *own,
                risk,
                data=place.data_name,
                event=declared.event or say("answer.open.horizon_event"),
                horizon=declared.written,
                risk=in_words(risk, say),
                n=risk.estimate.n,
                measures=_measures(own, say),
            )


def _lesions(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """How well candidates find lesions: the weighted area and the lesions found, of each on its test data."""
    for area in tested_results(assessment, "localisation.wafroc_auc"):
        own: Mapping[str, Result] = {
            r.name: r for r in assessment.results if r.place == area.place and r.dimension == area.dimension
        }
        found, false = own["lesion_sensitivity"], own["false_marks_per_case"]
        shown = () if isnan(area.estimate.value) else (area,)
        if not isnan(found.estimate.value):
            yield stated(
                say,
                "answer.open.lesions" if shown else "answer.open.lesions_found",
                *shown,
                found,
                false,
                data=area.place.data_name,
                area=in_words(area, say) if shown else "",
                found=in_words(found, say),
                false=false.estimate.value,
            )


def _reader_lesions(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """The change of the weighted area of the readers."""
    found = [
        r
        for r in assessment.results
        if r.id == "reader_localisation.arm_difference" and r.primary and r.endpoint == "wafroc_auc"
    ]
    for r in [r for r in found if not isnan(r.estimate.low)][:MOST_PAIRS]:
        compared, baseline = map(say.called, r.place.arms or ("", ""))
        values = {"compared": compared, "baseline": baseline, "level": r.estimate.level}
        key = f"answer.open.reader_lesions_{_side(r)}"
        yield stated(say, key, r, change=in_words(r, say), **values)


def _published(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Declared figures that contradict each other, and those that the counts do not bear out."""
    own = [r for r in assessment.results if r.id == CONFLICT]
    checked = {r.place.set for r in assessment.results if r.id == "reported.consistent_matrices"}
    if not checked:
        return
    names = [_printed_in(r) for r in own[:MOST_PAIRS]]
    values = {"n": len(own), "all": len(checked | {r.place.set for r in own}), "names": names}
    yield stated(say, f"answer.open.{'conflicts' if own else 'no_conflicts'}", *own, **values)
    # Pairs; a mapping where the numbers of cases alone do not add up.
    printed = own[0].details["figures"] if own else None
    if isinstance(printed, list):
        figures = [say("reported.figure", metric=quantity_name(m), text=t.strip()) for m, t in printed]
        yield stated(say, "answer.open.conflict_of", own[0], name=names[0], figures=figures)


def _printed_in(conflict: Result) -> str:
    """The set whose published figures contradict each other."""
    return str(conflict.place.set).removesuffix(", reported")


def _side(change: Result) -> str:
    """Whether a change is shown to be for the better or the worse, or not shown."""
    if not excludes_zero(change):
        return "unclear"
    return "better" if change.estimate.low > 0 else "worse"


SPEAKERS: tuple[Callable[[Assessment, Catalogue], Iterable[Statement]], ...] = (
    labels_with_error,
    _utility,
    _readers,
    _reader_lesions,
    _errors,
    _data_sets,
    _classes,
    _at_horizon,
    _lesions,
    measurements,
    _pooled,
    _published,
    _sets,
    _published_tables,
    raters,
)

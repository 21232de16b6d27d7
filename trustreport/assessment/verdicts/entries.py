"""Which entry answers a criterion, and which blocks of the register withhold the verdict on it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trustreport.assessment.checks import CHECKS
from trustreport.assessment.checks.check import EVERYTHING
from trustreport.assessment.finding import CheckOutcome
from trustreport.measures.protocols import READER as ALONE
from trustreport.study.criteria import OF_READINGS, SAMPLE
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import VALUES
from trustreport.vocabulary.results import Result

# What makes an entry one of several kinds of a quantity; a criterion that is silent means the plain one.
SPECIAL = (
    *("set", "subgroup", "reader", "raters", "site", "period", "class", "parameters"),
    *("version", "advice_type", "complexity", "arms"),
)
# How a criterion calls a key of a scope, where it has another word for it.
CALLED = {"class": "class_", "arms": "arm_or_contrast"}
PLACES = (
    *("set", "task", "candidate", "subgroup", "site", "threshold"),
    *("protocol", "reader", "version", "advice_type"),
)
CHOSEN = ("metric", "bins", "tau", "against", "prevalence", "kind")
POPULATIONS = ("typical site", "new site")
MEAN_OF_CLASSES = {"class_sensitivity": "macro_sensitivity", "class_ppv": "macro_ppv"}
BY_JUDGE = "judge_corrected_"  # primary where the cases that people rated were drawn at random
# What is meant by a criterion that does not choose.
PLAIN = {"binning": "equal_width"}
NAMES = 4  # entries named where several could be meant


def entry(criterion: Endpoint, study: Study, plan: Plan, results: Iterable[Result]) -> Result | Message:
    """The primary entry that a criterion is about, or why there is none or more than one.

    A measure with a group, period or site may be named as that of the data set or as that of the dimension
    that reports it (``advice_accuracy.sensitivity``, or ``subgroups.group_performance`` of sensitivity).
    """
    if not criterion.measure:
        return say("verdicts.reason.no_measure")
    results = list(results)
    primary = [r for r in results if r.primary]
    named = [r for r in primary if _is_named(_measure(criterion), r.id)]
    found = [r for r in named if _has_scope_of(criterion, r)]
    if found and criterion.weights is not False:
        found = _weighted(found, criterion, primary) or found
    found = _label_corrected(found, criterion, primary) or found
    found = found or [r for r in _of_part(criterion, primary) if _has_scope_of(criterion, r)]
    if found and not criterion.apparent:
        held = {d.name for d in study.datasets if d.role in DEVELOPMENT_ROLES}
        found = [r for r in found if not held & {r.place.dataset, *r.place.datasets}]
        if not found:
            return say("verdicts.reason.apparent")
    if found:
        return _result_meant(found, criterion, plan)
    for said in (criterion.candidate, criterion.arm_or_contrast):
        if isinstance(said, tuple) and any(said[::-1] in (r.place.candidates, r.place.arms) for r in named):
            values = {"measure": criterion.measure, "compared": said[1], "baseline": said[0]}
            return say("verdicts.reason.other_order", **values)
    if not named and any(_is_named(criterion.measure, r.id) for r in results if r.name.startswith(BY_JUDGE)):
        return say("verdicts.reason.not_at_random", measure=criterion.measure)
    return say(f"verdicts.reason.{'no_place' if named else 'no_result'}", measure=criterion.measure)


def _measure(criterion: Endpoint) -> str:
    """The result id that a criterion names; the mean over classes where it asks for that."""
    measure = criterion.measure or ""
    if criterion.mean_over_classes:
        dimension, dot, name = measure.rpartition(".")
        return f"{dimension}{dot}{MEAN_OF_CLASSES.get(name, name)}"
    return measure


def _weighted(found: Sequence[Result], criterion: Endpoint, primary: Sequence[Result]) -> list[Result]:
    """The entries with the declared sampling weights, which are those of the population sampled from."""
    names = {f"{r.dimension}.weighted_{r.name}" for r in found}
    return [r for r in primary if r.id in names and _has_scope_of(criterion, r)]


def _label_corrected(found: Sequence[Result], criterion: Endpoint, primary: Sequence[Result]) -> list[Result]:
    """The entries corrected for the declared error of the labels, where there are any."""
    names = {f"{r.dimension}.label_corrected_{r.name}" for r in found}
    return [r for r in primary if r.id in names and _has_scope_of(criterion, r)]


def _is_named(measure: str, id: str) -> bool:
    """Whether a criterion names a result, in full or without the dimension."""
    return id == measure or ("." not in measure and id.rpartition(".")[2] == measure)


def _of_part(criterion: Endpoint, primary: Sequence[Result]) -> Iterator[Result]:
    """The values of the measure in a group, in a period or at a site, where the criterion names one."""
    wanted = (criterion.measure or "").rpartition(".")[2]
    named = {"subgroup": criterion.subgroup, "period": criterion.period, "site": criterion.site}
    for r in primary:
        part = any(said is not None and getattr(r.place, key) == said for key, said in named.items())
        if part and r.name in VALUES and r.endpoint == wanted:
            yield r


def _has_scope_of(criterion: Endpoint, r: Result) -> bool:
    at = r.place
    if criterion.of is not None and r.endpoint != criterion.of:
        return False
    for key in CHOSEN:
        said = getattr(criterion, key)
        if said is not None and r.parameters.get(key, r.endpoint if key == "metric" else None) != said:
            return False
    for key, said in (criterion.parameters or {}).items():
        if r.parameters.get(key) != _as_in_scope(said):
            return False
    if criterion.raters is not None and at.raters != criterion.raters:
        return False
    if criterion.class_ is not None and criterion.class_ not in (at.class_, r.parameters.get("of_class")):
        return False
    if criterion.population in POPULATIONS and at.population != criterion.population:
        return False
    if criterion.dataset is not None and criterion.dataset not in _data_of(at):
        return False
    if criterion.period is not None and criterion.period not in (at.dataset, at.period):
        return False
    for key in PLACES:
        said, own = getattr(criterion, key), getattr(at, key)
        if isinstance(said, tuple):
            if at.candidates != said:
                return False
        elif (
            said is not None and own != said and (key != "candidate" or said not in (at.candidates or ())[:1])
        ):
            return False
    return _of_arm(criterion.arm_or_contrast, r, protocol=criterion.protocol is not None)


def _as_in_scope(said: Any) -> Any:
    """What a criterion says of a parameter as the scope of an entry has it."""
    if isinstance(said, Mapping):
        return {key: _as_in_scope(value) for key, value in said.items()}
    return list(said) if isinstance(said, tuple) else said


def _data_of(at: Place) -> set[str]:
    """What a criterion may call the data of an entry: its set, or that they are what was read."""
    named = {name for name in (at.dataset, at.period) if name is not None}
    return named or (set() if at.set or at.sets or at.datasets else {OF_READINGS})


def _of_arm(said: str | tuple[str, str] | None, r: Result, *, protocol: bool) -> bool:
    """An arm, a contrast of arms or candidates, or a candidate, data set or protocol by its name.

    A protocol is compared with the reader alone. Where it is named apart, the arms say nothing more.
    """
    at = r.place
    if said is None or (protocol and at.protocol is not None):
        return True
    if isinstance(said, tuple):
        return said in (at.arms, at.candidates) or (at.protocol == said[0] and said[1] == ALONE)
    named = {at.arm, at.task, at.dataset, at.candidate, at.set, at.protocol}
    return said in named | {*(at.arms or ())[:1], *(at.candidates or ())[:1]}


def _result_meant(found: Sequence[Result], criterion: Endpoint, plan: Plan) -> Result | Message:
    """The one entry that is meant, plain before special, or which ones could be.

    What changes with the prevalence is meant at the declared one, unless the criterion means another.
    """
    if criterion.prevalence is None and criterion.population != SAMPLE:
        found = [r for r in found if _is_declared(r, plan)] or found
    silent = [key for key in SPECIAL if getattr(criterion, CALLED.get(key, key), None) is None]
    known = {*(criterion.parameters or ()), *(key for key in CHOSEN if getattr(criterion, key) is not None)}
    for extra in (
        lambda r: sum(key in r.scope for key in silent),
        lambda r: len(r.parameters.keys() - known),
    ):
        fewest = min(map(extra, found))
        found = [r for r in found if extra(r) == fewest]
    preferred = (
        lambda r: r.place.arm == criterion.arm_or_contrast,
        lambda r: r.place.threshold == plan.operating_point.threshold,
        lambda r: all(r.parameters.get(key, plain) == plain for key, plain in PLAIN.items()),
    )
    for wanted in preferred:
        if len(found) > 1:
            found = [r for r in found if wanted(r)] or found
    if len(found) == 1:
        return found[0]
    differ = [key for key in found[0].scope if len({str(r.scope.get(key)) for r in found}) > 1]
    names = [", ".join(_name(r.scope.get(key)) for key in differ) for r in found]
    more = [say("word.more", n=len(names) - NAMES)] if len(names) > NAMES else []
    return say("verdicts.reason.several", n=len(names), names=[*names[:NAMES], *more])


def _is_declared(r: Result, plan: Plan) -> bool:
    """Whether an entry is of the prevalence that the manifest declares."""
    share = r.parameters.get("prevalence")
    return share is not None and r.quantity.by_prevalence and share == plan.declared_prevalence


def _name(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return " / ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


# A check that is not known withholds everything.
WITHHELD_BY = {check.id: check.withholds for check in CHECKS}
# Parts of data that a block can name: it then concerns numbers of that part, and those that name none.
PARTS = ("site", "reader", "version", "class_")


def blocking(result: Result, checks: Iterable[CheckOutcome]) -> list[CheckOutcome]:
    """The blocks that fired and concern a result, each check once, in the order of the register."""
    found: dict[str, CheckOutcome] = {}
    for outcome in checks:
        blocks = outcome.severity == "B" and outcome.status == "fired"
        if blocks and concerns(outcome, result):
            found.setdefault(outcome.check, outcome)
    return list(found.values())


def concerns(outcome: CheckOutcome, result: Result) -> bool:
    """Whether an outcome is about a result: it rests on its data, and is what the check is about.

    A result of unknown data rests on all of them.
    """
    if not result.place.rests_on(outcome.place) or not _holds_part(result.place, outcome.place):
        return False
    return WITHHELD_BY.get(outcome.check, EVERYTHING).concerns(result, outcome)


def of_precision(outcome: CheckOutcome) -> bool:
    """Whether a block is about precision alone, so that it withholds inconclusive verdicts only."""
    return WITHHELD_BY.get(outcome.check, EVERYTHING).only_inconclusive


def _holds_part(at: Place, said: Place) -> bool:
    """Whether a number holds the part of the data that a block names; one that names no part holds all."""
    for name in PARTS:
        named, own = getattr(said, name), getattr(at, name)
        if named is not None and own is not None and named != own:
            return False
    return _meet(_arms(at), _arms(said)) and _meet(_candidates(at), _candidates(said))


def _arms(at: Place) -> set[str]:
    return {*(at.arms or ()), *([at.arm] if at.arm is not None else [])}


def _candidates(at: Place) -> set[str]:
    return {*(at.candidates or ()), *([at.candidate] if at.candidate is not None else [])}


def _meet(one: set[str], other: set[str]) -> bool:
    """Whether two lists of names share one; an empty list means all."""
    return not one or not other or bool(one & other)


def of_the_sample(outcome: CheckOutcome) -> bool:
    """Whether a block is about the prevalence of the sample, which a criterion may mean."""
    return WITHHELD_BY.get(outcome.check, EVERYTHING).numbers == "sample"

"""What the checks found: the same words said once, ranked by what they do to the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.verdicts.entries import concerns
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

REMARKS = 5  # of one check in a section
NAMES = 8  # of the places of one remark
LABELS = "P73"  # what the truth is worth comes before what is measured against it
# Before others of the same consequence: people do worse with the aid, or follow it where it is wrong; then
# what is measured here does not hold where the device is to be used.
HARM = ("P29", "P27")
ELSEWHERE = ("P31", "P45", "P47", "P50", "P02", "P32", "P52")
# What a remark does to the answer, the heaviest first.
WITHHOLDS, ABOUT_A_CRITERION, ABOUT_THE_PAGE, OTHER = range(4)


OfCheck = TypeVar("OfCheck", CheckOutcome, "Limitation")


@dataclass(frozen=True, slots=True)
class Limitation:
    """What one check said, of one or several scopes; `names` is empty where the study has one set only."""

    check: str
    severity: str
    names: tuple[str, ...]
    where: str
    text: str
    cases: float = 0  # that it counts; 0 where it counts none


def limits(fired: Iterable[CheckOutcome], say: Catalogue) -> list[Limitation]:
    """What the checks said, the same words about several scopes said once."""
    found: dict[tuple[str, str, str], tuple[dict[str, None], float]] = {}
    fired = list(fired)
    one_set = len({o.scope.get("dataset") for o in fired if o.scope.get("candidate")}) == 1
    for outcome in fired:
        key = (outcome.check, outcome.severity, say(outcome.message).removesuffix("."))
        places = found.get(key, ({}, 0.0))[0]
        where, candidate = scope_name(outcome.scope), str(outcome.scope.get("candidate") or "")
        if candidate:
            where = candidate if one_set else say("word.interval", value=candidate, interval=where)
        elif one_set and where == outcome.scope.get("dataset"):
            where = ""  # the only data set needs no name beside the candidates
        if where:
            places[where] = None
        found[key] = places, _cases(outcome)
    return [
        Limitation(check, severity, tuple(places), _where(list(places), say), text, cases)
        for (check, severity, text), (places, cases) in found.items()
    ]


def listed(fired: Iterable[CheckOutcome], say: Catalogue, most: int = REMARKS) -> list[Limitation]:
    """What the checks said, for a section: a check that speaks of many places speaks of the first, `most`."""
    shown = []
    for check, same in _by_check(limits(fired, say)).items():
        shown += same[:most]
        if len(same) > most:
            names = [name for limit in same[most:] for name in limit.names]
            text = say("report.section.further", n=len(same) - most, names=_first(names, say))
            shown.append(Limitation(check, same[0].severity, tuple(names), "", text.removesuffix(".")))
    return shown


def _by_check(found: Iterable[OfCheck]) -> dict[str, list[OfCheck]]:
    by_check: dict[str, list[OfCheck]] = {}
    for one in found:
        by_check.setdefault(one.check, []).append(one)
    return by_check


def _where(names: Sequence[str], say: Catalogue) -> str:
    return say("report.section.where", names=_first(names, say)) if names else ""


def _first(names: Sequence[str], say: Catalogue) -> list[str]:
    """The first names, and how many more there are as the last."""
    if len(names) <= NAMES + 1:
        return list(names)
    return [*names[:NAMES], say("word.more", n=len(names) - NAMES)]


def scope_name(scope: Any) -> str:
    """The set, task, data set or group that a scope names."""
    keys = ("set", "task", "dataset", "site", "subgroup", "period")
    return str(next((scope[key] for key in keys if scope.get(key)), ""))


def ranked(assessment: Assessment, shown: Iterable[Result], say: Catalogue) -> list[list[Limitation]]:
    """What was found, a list for each check, the check first that does most to the answer.

    A check that withholds a verdict comes before one about a number that a criterion rests on, that before
    one about another number of the first page (`shown`), that before the rest.
    """
    shown = tuple(shown)
    withheld = {check for v in assessment.verdicts for check in v.checks}
    judged = [v.result for v in assessment.verdicts if v.result is not None]
    by_check, said = _by_check(assessment.fired()), _by_check(limits(assessment.fired(), say))

    def weight(check: str) -> tuple[Any, ...]:
        """By what findings of a check are sorted, the heaviest first."""
        own = by_check[check]
        consequence = _consequence(own, check in withheld, judged, shown)
        if check == LABELS:
            consequence = min(consequence, ABOUT_A_CRITERION)
        places = len({scope_name(o.scope) for o in own})
        cases = max(_cases(o) for o in own)
        severity = min("BWN".index(o.severity) for o in own)
        return consequence, severity, check not in HARM, check not in ELSEWHERE, -places, -cases

    return [
        sorted(said[check], key=lambda one: ("BWN".index(one.severity), -one.cases))
        for check in sorted(by_check, key=weight)
    ]


def _consequence(
    own: Sequence[CheckOutcome], withholds: bool, judged: Sequence[Result], shown: Sequence[Result]
) -> int:
    if withholds:
        return WITHHOLDS
    told = [o for o in own if o.severity != "N"]
    if any(_names(o, r) for o in told for r in judged):
        return ABOUT_A_CRITERION
    if any(_names(o, r) for o in told for r in shown):
        return ABOUT_THE_PAGE
    return ABOUT_THE_PAGE if any(o.severity == "B" for o in own) else OTHER


def _names(outcome: CheckOutcome, result: Result) -> bool:
    """Whether an outcome is about this number and says so: by its quantity, or by a place that both name."""
    return concerns(outcome, result) and bool(outcome.quantities or outcome.place.data & result.place.data)


def _cases(outcome: CheckOutcome) -> float:
    n = outcome.message.values.get("n")
    return float(n) if isinstance(n, int | float) else 0.0

"""What the checks found: the same words said once, ranked by what they do to the answer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from trustreport.assessment.assess import Assessment
from trustreport.assessment.claims import observed
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts.entries import concerns
from trustreport.report.answer.other_evidence import LOW_AGREEMENT
from trustreport.report.answer.review import Review, claims_of, to_explain
from trustreport.report.answer.sentences import MEASURING
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

LEAST = 2  # limits of a first page, where the data have that many
REMARKS = 5  # of one check in a section
NAMES = 8  # of the places of one remark
LABELS = "P73"  # what the truth is worth comes before what is measured against it
# Before others of the same consequence: people do worse with the aid, or follow it where it is wrong; then
# what is measured here does not hold where the device is to be used.
HARM = ("P29", "P27")
DESIGN = ("P17", "P18")  # of readings: what a change between arms shows at all
ELSEWHERE = ("P31", "P45", "P47", "P50", "P02", "P32", "P52")
# What a remark does to the answer, the heaviest first.
WITHHOLDS, TURNS, MOVES, EVIDENCE, OTHER = range(5)
# How a number is to be read: none of these turns a verdict or the headline.
UNCORRECTED = "against_labels.check"  # turns nothing that is corrected for the error of the labels
READING = ("P05", "P08", "P28", "P36", "P42", "P44", "P46", "P52", "P55", "P58", "P59", "P60")
CLAIMED = ("P06", "P25", "P35")  # what is claimed is not borne out
OF_ACCURACY = ("P05", "P08")  # which qualify an accuracy, and nothing where none is stated
INCOMPLETE = "P53"  # follow-up of a period
MISSED_CASES = "P03"  # which says what accuracy is with the cases and without them


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
    kind: str = ""  # of what is no remark of a check


def limits(fired: Iterable[CheckOutcome], say: Catalogue) -> list[Limitation]:
    """What the checks said, the same words about several scopes said once."""
    found: dict[tuple[str, str, str], tuple[dict[str, None], float]] = {}
    fired = list(fired)
    one_set = len({o.scope.get("dataset") for o in fired if o.scope.get("candidate")}) == 1
    for outcome in fired:
        key = (outcome.check, outcome.severity, say(outcome.message).removesuffix("."))
        places = found.get(key, ({}, 0.0))[0]
        where = scope_name(outcome.scope)
        candidate = str(outcome.scope.get("candidate") or " / ".join(outcome.scope.get("candidates") or ()))
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
            text = say("report.section.further_unnamed", n=len(same) - most)
            if names:
                text = say("report.section.further", n=len(names), names=_first(names, say))
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

    First what withholds a verdict, then what could turn one or the headline (`shown` are the results of the
    first page), then what moves a number of the page by more than its interval. Next are claims that are not
    borne out, a single data set, and data that a shown period still lacks; then everything else.
    """
    shown = tuple(shown)
    evidence = [[one] for one in _evidence(assessment, say)]
    withheld = {check for v in assessment.verdicts for check in v.checks}
    judged = [v.result for v in assessment.verdicts if v.result is not None]
    names = {name for r in (*judged, *shown) for name in (r.place.candidate, *(r.place.candidates or ()))}
    # What is said of a candidate of the page comes before the same of another.
    fired = sorted(assessment.fired(), key=lambda o: bool(names) and o.place.candidate not in (None, *names))
    by_check, said = _by_check(fired), _by_check(limits(fired, say))
    on_page = [o for o in fired if any(_names(o, r) for r in (*judged, *shown))]
    told = {say(o.message).removesuffix(".") for o in on_page if o.check not in CLAIMED}

    def weight(check: str) -> tuple[Any, ...]:
        """By what findings of a check are sorted, the heaviest first."""
        own = by_check[check]
        consequence = WITHHOLDS if check in withheld else _consequence(check, own, judged, shown)
        places = len({scope_name(o.scope) for o in own})
        cases = max(_cases(o) for o in own)
        severity = min("BWN".index(o.severity) for o in own)
        named = any(o in on_page for o in own)
        if consequence == TURNS and check in DESIGN:
            severity = "BWN".index("W")
        return (
            consequence,
            severity,
            [*HARM, *DESIGN, check].index(check),
            check not in ELSEWHERE,
            not named,
            -places,
            -cases,
        )

    making = {d.name for d in assessment.study.datasets if d.role in DEVELOPMENT_ROLES}

    def weight_of_one(one: Limitation) -> tuple[Any, ...]:
        """By what the remarks of one check are sorted.

        What tests the device is before what it was made with, numbers of the first page before others.
        """
        of_making = bool(one.names) and making.issuperset(one.names)
        return of_making, "BWN".index(one.severity), one.text not in told, -one.cases

    found = [
        (weight(check)[0], sorted(said[check], key=weight_of_one))
        for check in sorted(by_check, key=weight)
    ]
    before = [own for consequence, own in found if consequence <= EVIDENCE]
    return [*before, *evidence, *(own for consequence, own in found if consequence > EVIDENCE)]


def of_page(
    assessment: Assessment,
    shown: Iterable[Result],
    found: Iterable[list[Limitation]],
    say: Catalogue,
    most: int,
) -> list[list[Limitation]]:
    """The first `most` of what was found that bear on the first page; of few also what its data cannot show.

    Of measured values and ratings at least one place is for the latter.
    """
    judged = [v.result for v in assessment.verdicts if v.result is not None]
    on_page = [*judged, *shown]
    accuracy = any(r.quantity.base == "accuracy" for r in on_page)
    own = [one for one in found if accuracy or one[0].check not in OF_ACCURACY]
    first = {r.dimension: None for r in on_page}
    order = sorted(first, key=lambda dimension: dimension not in MEASURING)
    beyond = {
        message: None
        for dimension in order
        for finding in assessment.findings
        if finding.dimension == dimension and finding.results
        for message in finding.not_shown
    }
    unshown = [
        [Limitation("", "N", (), "", say(message).removesuffix("."), kind=message.key.rpartition(".")[2])]
        for message in beyond
    ]
    if unshown and order[0] in MEASURING:
        return [*own[: most - 1], *unshown][:most]
    return [*own[:most], *unshown[: max(LEAST - len(own), 0)]]


def _evidence(assessment: Assessment, say: Catalogue) -> Iterator[Limitation]:
    """Where a candidate that may be chosen is weak, claims not borne out here, and a single data set."""
    review = Review(assessment, say)
    for name in review.names if review.offers_choice else ():
        if review.standings[name] != "fail":
            for weak in to_explain(review, name):
                if not weak.claimed:
                    own = {"measure": weak.measure, "observed": weak.observed, "others": weak.source}
                    yield Limitation("", "W", (name,), name, say("answer.limits.group", **own))
    claims = [(name, *pair) for name in review.names or [""] for pair in claims_of(review, name)]
    missed = [
        say("word.interval", value=quantity_name(r.name), interval=name)
        if name
        else say(quantity_name(r.name))
        for name, claim, r in claims
        if observed(claim, r.estimate) == "below"
    ]
    if missed:
        values = {"n": len(missed), "all": len(claims), "names": missed}
        yield Limitation("", "W", (), "", say("answer.limits.claims", **values))
    tested = [d.name for d in assessment.study.datasets if d.role not in (*DEVELOPMENT_ROLES, "period")]
    if len(tested) == 1 and not any(r.place.site for r in assessment.results):
        yield Limitation("", "W", (), "", say("answer.limits.one_set", name=tested[0]), kind="one_set")


def _consequence(
    check: str, own: Sequence[CheckOutcome], judged: Sequence[Result], shown: Sequence[Result]
) -> int:
    """What a check that withholds nothing does to the answer."""
    told = [o for o in own if o.severity != "N" and o.message.key != UNCORRECTED]
    if check == LABELS or any(o.message.key == LOW_AGREEMENT for o in told):
        return TURNS
    if check in READING:
        return OTHER
    if check in DESIGN:
        return TURNS if any(r.place.arms for r in (*judged, *shown)) else OTHER
    on_page = [o for o in told if any(_names(o, r) for r in (*judged, *shown))]
    if check == MISSED_CASES:
        return MOVES if any(_moves(o, shown) for o in on_page) else OTHER
    if check in CLAIMED or (check == INCOMPLETE and on_page):
        return EVIDENCE
    if any(_names(o, r) for o in told for r in judged):
        return TURNS
    if any(o.severity == "B" for o in on_page) or any(o.severity == "B" and not o.place.data for o in told):
        return TURNS
    return TURNS if check in HARM and told else OTHER


def _moves(outcome: CheckOutcome, shown: Sequence[Result]) -> bool:
    """Whether the two values that a remark states are further apart than half the interval of the number."""
    with_cases, without = (outcome.message.values.get(name) for name in ("y", "x"))
    if not isinstance(with_cases, int | float) or not isinstance(without, int | float):
        return True
    widths = [r.estimate.high - r.estimate.low for r in shown if _names(outcome, r)]
    widths = [width for width in widths if width == width]  # not a number is no width
    return bool(widths) and abs(without - with_cases) > min(widths) / 2


def _names(outcome: CheckOutcome, result: Result) -> bool:
    """Whether an outcome is about this number and says so: by its quantity, or by a place that both name.

    What is said of a single data set is not about a number of several, such as a chart over all periods.
    """
    if len(outcome.place.data) == 1 < len(result.place.data):
        return False
    return concerns(outcome, result) and bool(outcome.quantities or outcome.place.data & result.place.data)


def _cases(outcome: CheckOutcome) -> float:
    n = outcome.message.values.get("n")
    return float(n) if isinstance(n, int | float) else 0.0

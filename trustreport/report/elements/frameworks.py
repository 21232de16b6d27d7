"""Where this report speaks to the items of frameworks that a study names: a help for finding, no verdict."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.report import declared
from trustreport.report.elements.data import ENOUGH, INDEPENDENT
from trustreport.report.elements.element import GROUPS_OF, Context, Element
from trustreport.report.numbering import ReportPlace
from trustreport.study.plan import EMPTY_IS_SAID, Plan
from trustreport.vocabulary import packs
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.packs import Item, Pack

# Elements that a question of trust answers: its name, and the quantities of which one has to have a value;
# any answer of it where none is named.
ANSWERED_BY: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "E12": {
        "potential_robustness": ("degree_of_correspondence", "mmd", "energy_distance", "similarity_effect")
    },
    "E13": {"advice_accuracy": ("tp", "fp", "fn", "tn")},
    "E14": {
        "advice_accuracy": ("sensitivity", "specificity", "sensitivity_at_horizon", "specificity_at_horizon"),
        "candidates": ("sensitivity", "specificity"),
    },
    "E15": {
        "advice_accuracy": ("ppv", "npv", "ppv_at_horizon", "npv_at_horizon"),
        "candidates": ("ppv", "npv"),
    },
    "E16": {"advice_accuracy": ("auc", "auc_group", "auc_at_horizon"), "candidates": ("auc",)},
    "E17": {
        "advice_value": ("calibration_slope", "calibration_intercept", "oe_ratio", "brier", "ici", "gici"),
        "advice_accuracy": ("calibration_slope_at_horizon", "oe_at_horizon", "brier_at_horizon"),
    },
    "E18": {"advice_accuracy": ("net_benefit", "weighted_utility", "utility_yield")},
    "E19": {"subgroups": ()},
    "E20": {"potential_robustness": ("heterogeneity", "prediction_interval")},
    "E21": {"potential_robustness": ("spr", "wpr")},
    "E25": {"decision_benefit": ("arm_difference", "mean_benefit")},
    "E26": {"pragmatic_utility": ("error_rate", "arr", "odds_ratio")},
    "E27": {"decision_benefit": ("benefit",)},
    "E28": {"reliance": ("rair", "rsr", "switch_count")},
    "E29": {"decision_benefit": ("mean_seconds", "mean_confidence", "reader_agreement")},
    "E30": {"decision_benefit": ("order_effect",)},
    "E33": {"candidates": ()},
    "E35": {"candidates": ("alarm_rate", "recall_rate", "missed_rate")},
    "E37": {"vigilance": ("period_change", "period_value")},
    "E40": {"vigilance": ("funnel_z",)},
    "E08": {"source_reliability": ("percent_agreement", "weighted_concordance")},
}
# The element that prints a group of the manifest.
PRINTED_BY: Mapping[str, str] = {group: element for element, groups in GROUPS_OF.items() for group in groups}
DECLARATIONS = ("E01", "E02", "E04", "E08", "E24")  # elements that hold declarations and compute nothing
NOT_BUILT = ("E22",)  # elements that no part of this version makes
SUMMARY = "E32"
# Elements of which sentences alone say whether they hold anything.
HOLDS: Mapping[str, Callable[[Assessment], bool]] = {
    "E10": lambda one: _ran(one, ENOUGH),
    "E11": lambda one: _ran(one, INDEPENDENT),
    "E44": lambda one: bool(one.plan.amendments or one.plan.device.predetermined_changes),
    "E49": lambda one: bool(one.results),
}
OPEN = "open"
STATES = ("C", "D", "O", OPEN)


def _ran(assessment: Assessment, checks: Sequence[str]) -> bool:
    """Whether one of these checks found what it needs."""
    return any(o.check in checks and o.status != "cannot run" for o in assessment.checks)


@dataclass(frozen=True, slots=True)
class FrameworkAnswer:
    """An item as this report stands to it: what it is here, whether in part only, and where."""

    item: Item
    state: str
    part: bool
    places: tuple[ReportPlace, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FrameworkRow:
    """An answer, ready to be laid out."""

    id: str
    description: str
    state: str
    open: bool
    places: tuple[tuple[str, str], ...]
    reason: str
    number: str


@dataclass(frozen=True, slots=True)
class Framework:
    """A pack, ready to be laid out; on paper `elsewhere` tells in few lines what others supply."""

    title: str
    finding: tuple[str, ...]
    caption: str
    rows: tuple[FrameworkRow, ...]
    elsewhere: tuple[str, ...] = ()


def frameworks(context: Context) -> Element:
    """Each framework that the manifest names: its edition, how many items are where, then every item."""
    say, names = context.say, context.assessment.plan.report.rule_packs
    if not names:
        return Element((say("element.E46.none"),))
    named = list(packs.find(names))
    if not named:
        return Element((say("element.E46.named_none"),))
    found = [packs.load(one.id, say.language) for one in named if one.id]
    finding = [say("element.E46.finding", n=len(found))] if found else []
    finding += [say("element.E46.unknown", name=one.name) for one in named if not one.id]
    finder = Finder(context)
    # On paper the report is another file than this annex, so that its pages cannot be counted here.
    apart = not context.on_screen
    told = tuple(_framework(pack, finder, context, apart=apart) for pack in found)
    return Element(tuple(finding), template="report/frameworks.html.j2", extra={"frameworks": told})


class Finder:
    """Finds where elements stand in one report."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._values = {
            r.id for r in context.assessment.results if not (isnan(r.estimate.value) and isnan(r.estimate.p))
        }
        self._tagged = {
            part.element: finding.dimension
            for finding in context.assessment.findings
            for part in finding.parts
            if part.element
        }

    def answer(self, item: Item) -> FrameworkAnswer:
        """How this report stands to an item."""
        say, standing = self._context.say, self._context.standing
        if item.status == "O":
            supplied = standing.get("E50")
            reason = "" if self._context.assessment.plan.documents else say("element.E46.no_document")
            return FrameworkAnswer(item, "O", False, (supplied,) if supplied else (), reason)
        of_sets = all(path.startswith("datasets.") for path in item.fields)
        sets = self._context.assessment.plan.datasets
        if item.roles and of_sets and not any(one.role in item.roles for one in sets):
            roles = [declared.text(role, say) for role in item.roles]
            return FrameworkAnswer(item, OPEN, False, (), say("element.E46.no_set", roles=roles))
        return self._computed(item) if item.status == "C" else self._declared(item)

    def _computed(self, item: Item) -> FrameworkAnswer:
        say = self._context.say
        found = [self.place(element, computed=True) for element in item.elements]
        places = tuple(dict.fromkeys(place for place in found if place))
        if places:
            return FrameworkAnswer(item, "C", None in found, places)
        built = any(element not in NOT_BUILT for element in item.elements)
        reason = say("element.E46.no_data") if built else say("element.E46.not_built")
        return FrameworkAnswer(item, OPEN, False, (), reason)

    def _declared(self, item: Item) -> FrameworkAnswer:
        say, plan = self._context.say, self._context.assessment.plan
        shares = {path: declared_share(plan, path, item.roles) for path in item.fields}
        lacking = [declared.label(path, say) for path, share in shares.items() if share < 1]
        reason = say("element.E46.not_declared", names=lacking) if lacking else ""
        if not any(shares.values()):
            return FrameworkAnswer(item, OPEN, False, (), reason)
        groups = dict.fromkeys(path.partition(".")[0] for path, share in shares.items() if share)
        # A group that no element prints stands with the further declarations.
        words = [PRINTED_BY.get(group, "rest") for group in groups]
        found = [self._context.standing.get(word) for word in words]
        found += [self.place(e, computed=False) for e in item.elements if e not in PRINTED_BY.values()]
        return FrameworkAnswer(item, "D", bool(lacking), tuple(dict.fromkeys(p for p in found if p)), reason)

    def place(self, element: str, *, computed: bool) -> ReportPlace | None:
        """Where an element stands with something in it, computed if that is asked; None where it does not."""
        context, standing = self._context, self._context.standing
        if element == SUMMARY:
            return ReportPlace("", "answer", context.say("answer.name"))
        own = standing.get(element)
        if computed and element in DECLARATIONS:
            own = None
        if own and (HOLDS[element](context.assessment) if element in HOLDS else own.holds):
            return own
        for dimension, quantities in ANSWERED_BY.get(element, {}).items():
            has = not quantities or any(f"{dimension}.{quantity}" in self._values for quantity in quantities)
            if has and dimension in standing:
                return standing[dimension]
        return standing.get(self._tagged.get(element, ""))


def declared_share(plan: Plan, path: str, roles: Sequence[str] = ()) -> float:
    """The share of the groups at a path of the manifest that declare its field; 0 where there is no group.

    Of sets of cases only those with one of `roles` count, where roles are given.
    """
    group, _, name = path.partition(".")
    found = getattr(plan, group)
    if not name:
        return float(bool(found))
    ones = found if isinstance(found, tuple) else (found,) if found is not None else ()
    given = [
        getattr(one, name) for one in ones if not (roles and group == "datasets" and one.role not in roles)
    ]
    said = sum(value is not None and (value != () or name in EMPTY_IS_SAID) for value in given)
    return said / len(given) if given else 0.0


def _framework(pack: Pack, finder: Finder, context: Context, *, apart: bool) -> Framework:
    say = context.say
    answers = [finder.answer(item) for item in pack.items]
    supplied = [] if context.on_screen else [answer for answer in answers if answer.state == "O"]
    return Framework(
        pack.framework,
        tuple(_pack_sentences(pack, answers, say)),
        say("element.E46.caption", framework=pack.framework),
        tuple(_row(answer, say, apart=apart) for answer in answers if answer not in supplied),
        tuple(_elsewhere(supplied, say)),
    )


def _elsewhere(supplied: Sequence[FrameworkAnswer], say: Catalogue) -> Iterator[str]:
    """In few lines what others supply, for paper: a row each would fill pages that say nothing more."""
    for verified, key in ((True, "element.E46.elsewhere"), (False, "element.E46.elsewhere_not_verified")):
        of = [answer for answer in supplied if answer.item.verified == verified]
        if of:
            yield say(key, names=say.between.join(f"{one.item.id} {one.item.description}" for one in of))
    yield from dict.fromkeys(answer.reason for answer in supplied if answer.reason)


def _pack_sentences(pack: Pack, answers: Sequence[FrameworkAnswer], say: Catalogue) -> Iterator[str]:
    legal, date = pack.legal_status, pack.legal_status_on
    yield say("element.E46.about", edition=pack.edition, legal=legal, date=date, source=pack.source)
    n = Counter(answer.state for answer in answers)
    counts = [say(f"element.E46.count.{state}", n=n[state]) for state in STATES if n[state]]
    yield say("element.E46.counts", n=len(answers), counts=counts)
    parts = sum(answer.part for answer in answers)
    if parts:
        yield say("element.E46.in_part", n=parts)
    named = sorted({item.verified_by for item in pack.items if item.verified})
    who = [say("element.E46.project") if name == packs.PROJECT else name for name in named]
    dates = [item.verified_on for item in pack.items if item.verified_on]
    if not dates:
        yield say("element.E46.not_verified", text=pack.compared_with)
    elif pack.verified == len(pack.items):
        yield say("element.E46.verified", who=who, date=max(dates), text=pack.compared_with)
    else:
        k, total = pack.verified, len(pack.items)
        date = max(dates)
        yield say("element.E46.some_verified", k=k, n=total, who=who, date=date, text=pack.compared_with)


def _row(answer: FrameworkAnswer, say: Catalogue, *, apart: bool) -> FrameworkRow:
    item = answer.item
    return FrameworkRow(
        item.id,
        item.description,
        say(f"element.E46.is.{answer.state}{'_part' if answer.part else ''}"),
        answer.state == OPEN,
        tuple((place.anchor, _name(place, say, apart=apart)) for place in answer.places),
        answer.reason,
        say("element.E46.number_verified" if item.verified else "element.E46.number_not_verified"),
    )


def _name(place: ReportPlace, say: Catalogue, *, apart: bool) -> str:
    """Number and title of the chapter as the contents have them; with the report where that is apart."""
    if not place.anchor:
        return place.title
    if not place.chapter:
        return say("element.E46.front", title=place.title) if apart else place.title
    key = "place_in_report" if apart and not place.in_annex else "place"
    return say(f"element.E46.{key}", chapter=place.chapter, title=place.heading)


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {"E46": frameworks}

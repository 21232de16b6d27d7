"""The page in plain words: what it says, and how it becomes HTML and PDF."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import ceil, floor, isnan
from typing import Literal

from markupsafe import Markup

from trustreport.assessment.assess import Assessment
from trustreport.report import html
from trustreport.report.answer.other_evidence import against_labels
from trustreport.report.declared import month, notice, shorten
from trustreport.report.elements.about import device_name
from trustreport.report.layout.pdf_layout import (
    UNDATED,
    Attached,
    PaperText,
    Printed,
    faces,
    legible,
    printed,
)
from trustreport.report.plain import icons
from trustreport.report.plain.hundred import (
    BENEFIT,
    FEWER_ERRORS,
    HUNDRED,
    NUMERIC_ERROR,
    CountRange,
    Hundred,
    State,
    hundreds,
    spread,
    whole,
)
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.results import Result

MOST_ARRAYS = 3  # that a page has room for
MOST_TEXT = 220  # characters of what the manifest declares
DENSITIES = ("", "dense", "denser")  # tried until everything is on one page
DIFFERENCE, HARM = "subgroups.subgroup_difference", "reliance.harmful_switch_rate"
AID_ENDPOINTS = {"sensitivity": "missed", "specificity": "false_alarms"}


@dataclass(frozen=True, slots=True)
class StateRow:
    """A state of an array: its shape, what it means, how many, and between which numbers."""

    state: State
    label: str
    count: str
    between: str


@dataclass(frozen=True, slots=True)
class ArrayBlock:
    """An array with its heading, its text alternative, its rows, and sentences beneath it."""

    title: str
    picture: str
    alt: str
    counted: str
    rows: tuple[StateRow, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlainSection:
    """A heading with paragraphs and a list."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    points: tuple[str, ...] = ()


class PlainPage:
    """What the page says of an assessment."""

    def __init__(self, assessment: Assessment, results_hash: str, say: Catalogue) -> None:
        self._of, self._hash, self._say = assessment, results_hash, say
        self._found = hundreds(assessment)

    @property
    def title(self) -> str:
        """The device, and what the page is."""
        return self._say("plain.title", device=self._cut(device_name(self._of.plan, self._say)))

    @property
    def notes(self) -> list[str]:
        """For whom it is, and what the report says of itself."""
        said, say = notice(self._of.plan, self._say), self._say
        return [say("plain.for_whom"), *([say("plain.notice", text=self._cut(said))] if said else [])]

    @property
    def purpose(self) -> PlainSection:
        """What the device is for, in the words of its maker."""
        use, say = self._of.plan.intended_use, self._say
        population = use.intended_patient_population
        declared = {
            "purpose": use.intended_purpose,
            "condition": use.medical_condition,
            "people": population.description if population else None,
            "users": use.intended_users,
        }
        said = [say(f"plain.purpose.{name}", text=self._cut(text)) for name, text in declared.items() if text]
        return PlainSection(say("plain.purpose.title"), tuple(said or [say("plain.purpose.none")]))

    @property
    def frequencies(self) -> PlainSection:
        """How many of 100 people have the condition, and what the ranges are."""
        say, found = self._say, self._found
        if not found:
            return PlainSection(say("plain.people.title"), (say("plain.people.none"),))
        paragraphs = []
        affected = sorted({one.affected for one in found[:MOST_ARRAYS] if one.counts})
        if found[0].source == "declared":
            paragraphs.append(say("plain.people.declared", n=affected[0]))
        elif found[0].source == "test" and len(affected) == 1:
            paragraphs.append(say("plain.people.test", n=affected[0]))
        elif found[0].source == "test" and affected:
            paragraphs.append(say("plain.people.tests", low=affected[0], high=affected[-1]))
        others = {self._role(other) for other in found[0].others}
        if len(found) == 1 and self._role(found[0]) in others - {"period"}:
            paragraphs.append(say("plain.people.worst", data=self._data(found[0])))
        paragraphs.append(say("plain.people.range", level=self._of.plan.report.confidence_level))
        if len(found) > MOST_ARRAYS:
            paragraphs.append(say("plain.people.more", n=len(found) - MOST_ARRAYS))
        title = "plain.people.title_decisions" if found[0].source == "none" else "plain.people.title"
        return PlainSection(say(title), tuple(paragraphs))

    @property
    def arrays(self) -> list[ArrayBlock]:
        """One for each candidate, published set or arm."""
        return [self._block(one) for one in self._found[:MOST_ARRAYS]]

    def _block(self, one: Hundred) -> ArrayBlock:
        say = self._say
        states = [(state, count.n) for state, count in one.counts.items()]
        who: Literal["device", "doctors"] = "device" if one.aided is None else "doctors"
        rows = tuple(
            StateRow(state, say(f"plain.state.{state}"), self._number(count), self._between(count))
            for state, count in one.counts.items()
        )
        shapes = [say(f"plain.shape.{state}", n=n) for state, n in states]
        sentences: list[str] = []
        if "wrong" not in one.counts:
            unknown = say("plain.missed.unknown"), say("plain.false_alarms.unknown")
            sentences = [
                unknown[0] if one.missed is None else self._missed(who, one.missed),
                unknown[1] if one.false_alarms is None else self._false_alarms(one.false_alarms),
            ]
        if one.aided is None:
            n_with, n_without = one.tested
            sentences.append(say("plain.tested", affected=n_with, healthy=n_without))
        return ArrayBlock(
            title=self._heading(one),
            picture=icons.array(states),
            alt=say("plain.alt", items=shapes),
            counted=say("plain.table.decisions" if one.source == "none" else "plain.table.what"),
            rows=rows,
            sentences=tuple(sentences),
        )

    def _heading(self, one: Hundred) -> str:
        """The candidate and the data; of an arm whether doctors used the device in it."""
        say = self._say
        names = [self._cut(one.name)] if one.name else []
        names += [self._data(one)] if one.data else []
        if one.aided is not None:
            names = [say("plain.with_device") if one.aided else say("plain.without_device"), *names]
        return ", ".join(names)

    def _number(self, count: CountRange) -> str:
        return self._say("plain.below_one") if count.below_one else self._say("plain.count", n=count.n)

    def _between(self, count: CountRange) -> str:
        if not count.limited:
            return self._say("plain.no_range")
        return self._say("plain.between", low=count.low, high=count.high)

    def _missed(self, who: Literal["device", "doctors"], count: CountRange) -> str:
        say, number = self._say, self._number(count)
        if not count.limited:
            return say(f"plain.missed.{who}_alone", number=number)
        return say(f"plain.missed.{who}", number=number, low=count.low, high=count.high)

    def _false_alarms(self, count: CountRange) -> str:
        number = self._number(count)
        if not count.limited:
            return self._say("plain.false_alarms.alone", number=number)
        return self._say("plain.false_alarms.range", number=number, low=count.low, high=count.high)

    # ------------------------------------------------------------ what changes, and where

    @property
    def aid(self) -> PlainSection | None:
        """What changes when doctors use it; None where nobody tested that."""
        said = [*self._changes()]
        if not said:
            return None
        return PlainSection(self._say("plain.aid.title"), tuple(said))

    def _changes(self) -> Iterator[str]:
        say, yielded = self._say, False
        for endpoint, name in AID_ENDPOINTS.items():
            for r in whole(self._of, BENEFIT, endpoint=endpoint)[:1]:
                yielded = True
                yield self._change(name, r)
        if not yielded:
            found = whole(self._of, BENEFIT, endpoint="accuracy") or whole(self._of, FEWER_ERRORS)
            for r in found[:MOST_ARRAYS]:
                text = self._change("errors", r)
                yield say("plain.of_set", name=r.place.data_name, text=text) if len(found) > 1 else text
        for r in whole(self._of, HARM)[:1]:
            low, high = _outward(r.estimate.low, r.estimate.high)
            if not isnan(r.estimate.low):
                yield say("plain.aid.harm", low=low, high=high)

    def _change(self, name: str, r: Result) -> str:
        """A change as a range of 100: fewer, more, or not shown; of an error that is good if positive."""
        say, e = self._say, r.estimate
        if isnan(e.low) or isnan(e.high):
            return say(f"plain.aid.{name}_no_range")
        if e.low > 0:
            low, high = _outward(e.low, e.high)
            return say(f"plain.aid.{name}_fewer", low=low, high=high)
        if e.high < 0:
            low, high = _outward(-e.high, -e.low)
            return say(f"plain.aid.{name}_more", low=low, high=high)
        fewer, more = ceil(HUNDRED * e.high - NUMERIC_ERROR), ceil(-HUNDRED * e.low - NUMERIC_ERROR)
        return say(f"plain.aid.{name}_unclear", fewer=fewer, more=more)

    @property
    def weak(self) -> PlainSection:
        """Where it finds fewer: other data, and groups of people."""
        say = self._say
        groups = [*self._groups()]
        said = [*self._elsewhere(), *groups, *([say("plain.weak.chance")] if groups else [])]
        return PlainSection(say("plain.weak.title"), tuple(said or [say("plain.weak.none")]))

    def _elsewhere(self) -> Iterator[str]:
        """How many it misses in other data sets, beside those that are drawn; of an audit, at its start."""
        say = self._say
        for one in self._found[:MOST_ARRAYS]:
            audited = self._role(one) == "period"
            first = self._of.plan.vigilance.baseline_dataset if self._of.plan.vigilance else None
            at_start = [other for other in one.others if other.data == first] or one.others[:1]
            others = at_start if audited else one.others
            missed = [other.missed for other in others if other.missed is not None]
            found = spread(missed)
            if one.missed is None or not one.missed.limited or found is None:
                continue
            data = self._heading(one) if len(self._found) > 1 else self._data(one)
            values = {"low": one.missed.low, "high": one.missed.high, "data": data}
            values |= {"other_low": found[0], "other_high": found[1]}
            if audited:
                yield say("plain.weak.before", before=self._data(others[0]), **values)
            else:
                yield say("plain.weak.elsewhere", n=len(missed), **values)

    def _role(self, one: Hundred) -> str | None:
        return next((d.role for d in self._of.study.datasets if d.name == one.data), None)

    def _data(self, one: Hundred) -> str:
        """The data as the report calls them, a month by its name."""
        return month(one.data, self._say) if self._role(one) == "period" else self._cut(one.data)

    def _groups(self) -> Iterator[str]:
        """The group in which each misses most beyond the others, shown or not."""
        say = self._say
        for one in self._found[:MOST_ARRAYS]:
            scope = {"endpoint": "sensitivity", "candidate": one.name or None, "dataset": one.data or None}
            found = [
                r
                for r in self._of.results
                if r.id == DIFFERENCE
                and r.primary
                and r.within(**scope, site=None, arms=None)
                and not isnan(r.estimate.high)
                and r.place.subgroup
            ]
            if not found:
                continue
            worst = min(found, key=lambda r: r.estimate.value)
            values: dict[str, object] = {"group": worst.place.subgroup, "name": one.name or one.data}
            if worst.estimate.high < 0:
                low, high = _outward(-worst.estimate.high, -worst.estimate.low)
                key = "plain.weak.group_of" if len(self._found) > 1 else "plain.weak.group"
                yield say(key, low=low, high=high, **values)
            elif worst.estimate.value < 0:
                most = ceil(-HUNDRED * worst.estimate.low - NUMERIC_ERROR)
                key = "plain.weak.no_group_of" if len(self._found) > 1 else "plain.weak.no_group"
                yield say(key, high=most, **values)

    def _cut(self, text: str) -> str:
        """What was declared, no longer than the page has room for."""
        return shorten(text, MOST_TEXT, self._say)

    # ------------------------------------------------------------ limits, and whom to ask

    @property
    def limits(self) -> PlainSection:
        """What no number of the page answers."""
        plan, say = self._of.plan, self._say
        fired = [c for c in self._of.checks if c.status == "fired" and c.severity == "B"]
        points = [say("plain.limits.simulated")] if plan.study.simulated else []
        if self._found and against_labels(self._of):
            points.append(say("plain.limits.labels"))
        if fired:
            points.append(say("plain.limits.problems", n=len({c.check for c in fired})))
        points.append(say("plain.limits.one_person"))
        if self._found and not [*self._changes()]:
            points.append(say("plain.limits.doctors"))
        points.append(say("plain.limits.outcome"))
        if plan.intended_use.out_of_scope_uses:
            points.append(say("plain.limits.scope", text=self._cut(plan.intended_use.out_of_scope_uses)))
        return PlainSection(say("plain.limits.title"), points=tuple(points))

    @property
    def contact(self) -> PlainSection:
        """Whom to ask, and which report the page is of."""
        plan, say = self._of.plan, self._say
        maker = plan.device.manufacturer
        of_maker = say("plain.ask.maker", name=self._cut(maker)) if maker else say("plain.ask.no_maker")
        said = [say("plain.ask.person"), of_maker]
        title = plan.report.title or say("report.default_title", device=device_name(plan, say))
        said.append(say("plain.ask.report", title=self._cut(title), hash=self._hash[: html.HASH_DIGITS]))
        return PlainSection(say("plain.ask.title"), tuple(said))

    @property
    def sections(self) -> list[PlainSection]:
        """What comes after the arrays."""
        aid = [self.aid] if self.aid else []
        weak = [self.weak] if self._found else []
        return [*aid, *weak, self.limits, self.contact]


def text(
    page: PlainPage, sheets: Markup, language: str, say: Catalogue, policy: str = "", density: str = ""
) -> str:
    """The page as HTML."""
    return html.packaged(
        "report/plain.html.j2",
        page=page,
        style=sheets,
        language=language,
        say=say,
        policy=policy,
        density=density,
    )


def rendered(assessment: Assessment, results_hash: str) -> str:
    """The page as one HTML file that loads nothing from anywhere."""
    report = assessment.plan.report
    say = catalogue(report.language)
    sheets = html.style(html.faces() + icons.style(), report.page, "plain.css")
    allowed = b64encode(sha256(sheets.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{allowed}'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return text(PlainPage(assessment, results_hash, say), sheets, report.language, say, policy)


def on_paper(assessment: Assessment, results_hash: str, attachments: Sequence[Attached] = ()) -> Printed:
    """The page as PDF, in a smaller type where it would need a second sheet.

    Raises
    ------
    MissingLibrary : Pango is not installed
    """
    report = assessment.plan.report
    say = catalogue(report.language)
    page = PlainPage(assessment, results_hash, say)
    sheets = html.style(faces() + icons.style(), report.page, "plain.css")
    made = None
    for density in DENSITIES:
        whole_text = text(page, sheets, report.language, say, density=density)
        sheet = PaperText(whole_text, results_hash, tuple(attachments), UNDATED)
        made = printed(partial(legible, whole_text), sheet)
        if made.pages.get("end") == 1:
            break
    assert made is not None
    return made


def _outward(low: float, high: float) -> tuple[int, int]:
    """Shares as counts of 100, the range rounded outwards."""
    return floor(HUNDRED * low + NUMERIC_ERROR), ceil(HUNDRED * high - NUMERIC_ERROR)

"""The verdict forest: a row for each criterion with estimate, interval, bound and verdict."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, log

from markupsafe import Markup

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.candidates.versions import succession
from trustreport.assessment.verdicts import FamilyOutcome, Verdict, named_family
from trustreport.assessment.verdicts.judge import at_prevalence
from trustreport.report.answer.acceptance import (
    MARKS,
    bound_text,
    criterion_rows,
    verdict_estimate,
    verdict_word,
)
from trustreport.report.answer.sentences import candidate_of, estimate_of, title, title_within
from trustreport.study.criteria import Bound, same_level
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

WIDTH, HEIGHT, MARGIN = 120.0, 12.0, 6.0  # points
MARK = 2.8
SPARE = 0.12  # of the span, beyond what is drawn
# As in report.css.
COLOURS = {"pass": "#0e7c7b", "fail": "#b4472b", "inconclusive": "#8a6100", "none": "#5b6875"}
SHADE, TICK = "#e4eff0", "#1b2733"


@dataclass(frozen=True, slots=True)
class Scale:
    """The ends of a scale, in the quantity's own unit or its logarithm."""

    low: float
    high: float
    logarithmic: bool

    def x(self, value: float) -> float:
        """Where a value is drawn; beyond an end, at the end."""
        at = value if not self.logarithmic else log(value) if value > 0 else self.low
        share = (at - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return MARGIN + min(max(share, 0.0), 1.0) * (WIDTH - 2 * MARGIN)


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A criterion as the forest prints it.

    `mark` is the class of its verdict, `picture` its SVG; `own_level` where its interval has another level
    than the report's.
    """

    title: str
    name: str
    about: str
    estimate: str
    required: str
    mark: str
    word: str
    anchor: str
    picture: Markup
    own_level: bool


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Rows under one heading."""

    heading: str
    rows: tuple[ForestRow, ...]


def forest(assessment: Assessment, say: Catalogue) -> tuple[ForestGroup, ...]:
    """Every criterion that asks for a verdict: by candidate, else by what it is about, in declared order."""
    asides = {row.name: row.aside for row in criterion_rows(assessment, say)}
    scales = _scales(assessment)
    grouped: dict[str, list[ForestRow]] = {}
    for i, verdict in enumerate(assessment.verdicts, 1):
        found = estimate_of(verdict, assessment)
        bound, mark = verdict.declared_bound, MARKS.get(verdict.word, "none")
        estimate, required = verdict_estimate(verdict, say, found), bound_text(verdict, say)
        word = verdict_word(verdict.word, say)
        alt = say("answer.forest.alt", estimate=estimate, required=required, word=word)
        about = [*_about(verdict, found, assessment, say), asides.get(verdict.criterion.endpoint, "")]
        row = ForestRow(
            title(verdict, assessment, say),
            verdict.criterion.endpoint,
            ", ".join(filter(None, about)),
            estimate,
            required,
            mark,
            word,
            f"criterion-{i}",
            picture(found, bound, mark, scales.get(_key(verdict, found)), alt),
            _own_level(found, assessment),
        )
        grouped.setdefault(_heading(verdict, found, assessment, say), []).append(row)
    return tuple(ForestGroup(heading, tuple(rows)) for heading, rows in grouped.items())


def _heading(verdict: Verdict, found: Result | None, assessment: Assessment, say: Catalogue) -> str:
    if candidate := candidate_of(verdict):
        return candidate
    if found is None:
        return say("answer.forest.other")
    at = found.place
    if at.candidates:
        versions = set(at.candidates) <= set(succession(assessment.plan))
        return say(f"answer.forest.{'versions' if versions else 'between'}")
    if at.arms or at.arm:
        return say("answer.forest.readers")
    role = next((d.role for d in assessment.study.datasets if d.name == at.dataset), "")
    return say(f"answer.forest.{role if role in ('external', 'local', 'period') else 'device'}")


def _about(verdict: Verdict, found: Result | None, assessment: Assessment, say: Catalogue) -> Iterator[str]:
    """Role, level where it is not the report's, prevalence, and why it was not tested."""
    if verdict.criterion.role:
        yield say(f"answer.role.{verdict.criterion.role}")
    if found is not None and _own_level(found, assessment):
        yield say("answer.forest.level", level=found.estimate.level)
    share = found.parameters.get("prevalence") if found is not None else None
    if share is not None and share != assessment.plan.declared_prevalence:
        yield say(at_prevalence(share))
    if verdict.word == "not tested" and verdict.family is not None:
        yield _tested_if(verdict, verdict.family, assessment, say)


def _tested_if(verdict: Verdict, family: FamilyOutcome, assessment: Assessment, say: Catalogue) -> str:
    """When a criterion would have been tested."""
    if not family.open:
        key = "behind_any" if family.any_opens else "behind_families"
        after = [named_family(name) for name in family.after]
        return say(f"answer.forest.{key}", n=len(after), families=after)
    before = verdict.reason.values.get("criterion")
    stopped = next((v for v in assessment.verdicts if v.criterion.endpoint == before), None)
    if stopped is None:
        return say("answer.forest.without_alpha")
    return say("answer.forest.behind", criterion=title_within(stopped, assessment, say))


def _own_level(found: Result | None, assessment: Assessment) -> bool:
    level = found.estimate.level if found is not None else None
    return level is not None and not same_level(level, assessment.plan.report.confidence_level)


def _key(verdict: Verdict, found: Result | None) -> str:
    """Criteria on one quantity with one bound are drawn on one scale."""
    return f"{found.quantity.id if found else ''} {verdict.criterion.bound_or_margin}"


def _scales(assessment: Assessment) -> dict[str, Scale]:
    values: dict[str, list[float]] = {}
    logarithmic: dict[str, bool] = {}
    for verdict in assessment.verdicts:
        found = estimate_of(verdict, assessment)
        if found is None:
            continue
        bound, e, key = verdict.declared_bound, found.estimate, _key(verdict, found)
        drawn = [x for x in (e.value, e.low, e.high, *(bound.ends if bound else ())) if isfinite(x)]
        values.setdefault(key, []).extend(drawn)
        ratio = found.quantity.scale == "log" and all(x > 0 for x in drawn)
        logarithmic[key] = logarithmic.get(key, True) and ratio
    return {key: scale_of(drawn, logarithmic[key]) for key, drawn in values.items() if drawn}


def scale_of(drawn: Sequence[float], logarithmic: bool = False) -> Scale:
    """A scale on which all of these have room."""
    ends = [log(x) for x in drawn] if logarithmic else list(drawn)
    spare = SPARE * (max(ends) - min(ends)) or 0.05
    return Scale(min(ends) - spare, max(ends) + spare, logarithmic)


# ---------------------------------------------------------------- the picture of a row


def picture(found: Result | None, bound: Bound | None, mark: str, scale: Scale | None, alt: str) -> Markup:
    """Interval and estimate as SVG, where the bound is met shaded, the bound a tick.

    Colours are those of paper; on the screen the classes of the marks give them.
    """
    inner = Markup("")
    if scale is not None and found is not None:
        inner = Markup("").join([*_shaded(bound, scale), *_marks(found, mark, scale)])
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" class="forest-row" width="{w}pt" height="{h}pt" '
        'viewBox="0 0 {w} {h}" aria-label="{alt}">{inner}</svg>'
    ).format(w=f"{WIDTH:g}", h=f"{HEIGHT:g}", alt=alt, inner=inner)


def _shaded(bound: Bound | None, scale: Scale) -> Iterable[Markup]:
    if bound is None:
        return
    left = scale.x(bound.low) if bound.low is not None else MARGIN
    right = scale.x(bound.high) if bound.high is not None else WIDTH - MARGIN
    yield Markup('<rect class="met" x="{x}" y="1" width="{w}" height="{h}" fill="{fill}"/>').format(
        x=f"{left:.1f}", w=f"{max(right - left, 0):.1f}", h=f"{HEIGHT - 2:g}", fill=SHADE
    )
    for end in (bound.low, bound.high):
        if end is not None:
            yield Markup(
                '<path class="bound" d="M{x} 0V{h}" stroke="{colour}" stroke-width="1.2" fill="none"/>'
            ).format(x=f"{scale.x(end):.1f}", h=f"{HEIGHT:g}", colour=TICK)


def _marks(found: Result, mark: str, scale: Scale) -> Iterable[Markup]:
    e, middle, colour = found.estimate, HEIGHT / 2, COLOURS[mark]
    if not (isnan(e.low) or isnan(e.high)):
        yield Markup(
            '<path class="{mark}" d="M{a} {y}H{b}" stroke="{colour}" stroke-width="1.4" fill="none"/>'
        ).format(
            mark=mark, a=f"{scale.x(e.low):.1f}", b=f"{scale.x(e.high):.1f}", y=f"{middle:g}", colour=colour
        )
    if isnan(e.value):
        return
    x, side, tall = scale.x(e.value), 2 * MARK, MARK + 0.8
    shapes = {
        "pass": f"M{x - MARK:.1f} {middle:g}a{MARK} {MARK} 0 1 0 {side} 0a{MARK} {MARK} 0 1 0 {-side} 0Z",
        "fail": f"M{x - MARK:.1f} {middle - MARK:g}h{side}v{side}h{-side}Z",
    }
    diamond = f"M{x:.1f} {middle - tall:g}l{tall} {tall}l{-tall} {tall}l{-tall} {-tall}Z"
    yield Markup('<path class="{mark}" d="{d}" fill="{colour}"/>').format(
        mark=mark, d=shapes.get(mark, diamond), colour=colour
    )

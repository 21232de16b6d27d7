"""The verdict forest: a row for each criterion with estimate, interval, bound and verdict."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, starmap
from math import isnan

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
from trustreport.report.answer.row_picture import axes, has_strip, picture, unit_of
from trustreport.report.answer.sentences import MEASURING, candidate_of, estimate_of, title, title_within
from trustreport.study.criteria import same_level
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

WHOLE = 1e-6  # from a whole number, at most


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A criterion as the forest prints it.

    `counts` says of how many cases a share is; `mark` is the class of its verdict, `picture` its SVG;
    `own_level` where its interval has another level than the report's.
    """

    title: str
    name: str
    about: str
    estimate: str
    counts: str
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
    grouped: dict[str, list[tuple[int, Verdict, Result | None]]] = {}
    for i, verdict in enumerate(assessment.verdicts, 1):
        found = estimate_of(verdict, assessment)
        grouped.setdefault(_heading(verdict, found, assessment, say), []).append((i, verdict, found))
    printed = list(chain.from_iterable(grouped.values()))
    shared = axes(((found, verdict.declared_bound) for _, verdict, found in printed), say)
    strips = iter(has_strip([unit_of(found) for *_, found in printed]))

    def row(i: int, verdict: Verdict, found: Result | None) -> ForestRow:
        """A criterion by its number in the manifest."""
        bound, mark = verdict.declared_bound, MARKS.get(verdict.word, "none")
        estimate, required = verdict_estimate(verdict, say, found), bound_text(verdict, say)
        word = verdict_word(verdict.word, say)
        alt = say("answer.forest.alt", estimate=estimate, required=required, word=word)
        about = [*_about(verdict, found, assessment, say), asides.get(verdict.criterion.endpoint, "")]
        return ForestRow(
            title(verdict, assessment, say),
            verdict.criterion.endpoint,
            ", ".join(filter(None, about)),
            estimate,
            _counts(found, say),
            required,
            mark,
            word,
            f"criterion-{i}",
            picture((found, bound), mark, shared.get(unit_of(found)), alt, strip=next(strips)),
            own_level(found, assessment),
        )

    return tuple(ForestGroup(name, tuple(starmap(row, own))) for name, own in grouped.items())


def _counts(found: Result | None, say: Catalogue) -> str:
    """Of how many cases or readings a share is, where it is one of these as they are counted."""
    if found is None or found.written != "proportion" or not found.estimate.n:
        return ""
    k = found.estimate.value * found.estimate.n
    if isnan(k) or "prevalence" in found.parameters or abs(k - round(k)) > WHOLE:
        return ""
    return say("answer.forest.counts", k=round(k), n=found.estimate.n)


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
    """Role, level where it is not the report's, scale, prevalence, and why it was not tested."""
    if verdict.criterion.role:
        yield say(f"answer.role.{verdict.criterion.role}")
    if found is not None and own_level(found, assessment):
        yield say("answer.forest.level", level=found.estimate.level)
    if found is not None and found.dimension in MEASURING:
        for m in assessment.plan.measurements:
            if m.measurement == found.endpoint and m.scale and m.better:
                low, high = map(say.numbers.plain, m.scale)
                yield say(f"answer.forest.scale_{m.better}", low=low, high=high)
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


def own_level(found: Result | None, assessment: Assessment) -> bool:
    """Whether an interval has another level than the report's."""
    level = found.estimate.level if found is not None else None
    return level is not None and not same_level(level, assessment.plan.report.confidence_level)

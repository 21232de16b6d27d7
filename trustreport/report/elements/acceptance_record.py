"""A record for the acceptance of a candidate at the hospital: what is tested, when use stops, who decides."""

from collections.abc import Iterator, Sequence

from trustreport.assessment.narrative.texts import heading
from trustreport.report.answer.acceptance import declared_amount
from trustreport.report.answer.review import Review
from trustreport.report.declared import day
from trustreport.report.tables import Table, heads, line_of
from trustreport.study.plan import Approval, Endpoint
from trustreport.vocabulary.messages import Catalogue

APPROVAL = "approval"

Rows = Iterator[tuple[str, list[str]]]


def acceptance_record(names: Sequence[str], review: Review) -> Table:
    """What is declared and found of each step, for the candidates that no requirement rules out.

    The decision itself is left to be entered: no statistic can make it.
    """
    say = review.say
    none = say("word.not_declared")
    steps = _steps(names, review)
    lines = [line_of(step, say("word.listed", items=said) if said else none) for step, said in steps]
    columns = heads(say, "procurement.record", "step content")
    return Table(say("procurement.record.caption"), columns, tuple(lines))


def _steps(names: Sequence[str], review: Review) -> Rows:
    say, plan = review.say, review.plan
    own = [row for row in review.required if row.counts and any(row.word(name) for name in names)]
    yield say("procurement.record.test"), [f"{review.about(row)} {review.bound(row)}" for row in own]
    sized = {
        review.about(row): max(
            (v.result.estimate.n for v in row.verdicts.values() if v.result is not None), default=0
        )
        for row in own
    }
    counted = [say("procurement.record.decided", measure=m, n=n) for m, n in sized.items() if n]
    yield say("procurement.record.size"), counted
    yield from _watched(review)
    deciding = [a for a in plan.approvals or () if a.meaning == APPROVAL and a.name]
    yield say("procurement.record.who"), [_named(a, say) for a in deciding]
    when = plan.site_context.decision_date if plan.site_context else None
    yield say("procurement.record.by"), [day(when, say)] if when else []
    yield say("procurement.record.decision"), [say("procurement.record.to_enter")]


def _named(approval: Approval, say: Catalogue) -> str:
    name = approval.name or ""
    return say("word.interval", value=name, interval=approval.role) if approval.role else name


def _watched(review: Review) -> Rows:
    """The indicators to watch in use, in their own unit, and what is done at an alert."""
    say, plan = review.say, review.plan
    indicators = (plan.vigilance and plan.vigilance.indicators) or ()
    if not indicators:
        yield say("procurement.record.watched_none"), []
    for i in indicators:
        asked = Endpoint(endpoint=i.measure, measure=i.measure)
        limits = (("in_control", i.in_control), ("to_detect", i.to_detect))
        said = [i.chart] if i.chart else []
        said += [
            say(f"procurement.record.{word}", value=declared_amount(value, asked, say))
            for word, value in limits
            if value is not None
        ]
        said += [say("procurement.record.stop", action=i.action)] if i.action else []
        yield say("procurement.record.watched", measure=say(heading(i.measure.rpartition(".")[2]))), said

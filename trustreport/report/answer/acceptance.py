"""The acceptance table: every criterion with estimate, bound and verdict; the lock; what was amended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import Verdict, counted, named_family, worst
from trustreport.assessment.verdicts.entries import entry
from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.assessment.verdicts.risk import rates_in_words
from trustreport.report.declared import day, label
from trustreport.report.declared import text as declared_text
from trustreport.report.tables import Table, heads, in_words, line_of
from trustreport.study import lock
from trustreport.study.criteria import Bound, named, row_of
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

HASH_DIGITS = 16
TOGETHER = 2  # criteria, of which a family says how they share alpha
MOST_NAMED = 3  # amendments elsewhere in the manifest that a row names
# The class that gives a verdict its shape and colour; a verdict that is not given is a dash.
MARKS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive"}


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """One criterion as the table prints it; `mark` is the class of its verdict, `word` says it."""

    name: str
    role: str
    about: str
    estimate: str
    level: str
    bound: str
    mark: str
    word: str
    sentence: str
    amended: tuple[str, ...] = ()  # what of it is not as it was locked, and the verdict under what was
    aside: str = ""  # the same beside the verdict
    risk: tuple[str, ...] = ()  # what its declared risks ask of the test, and whether it is met


def criterion_rows(assessment: Assessment, say: Catalogue) -> list[CriterionRow]:
    """A row for every declared criterion, those that are only estimated too, then those taken away."""
    by_name = {v.criterion.endpoint: v for v in assessment.verdicts}
    declared = {e.endpoint for e in assessment.plan.endpoints}
    rows = [
        _verdict_row(by_name[e.endpoint], say) if e.endpoint in by_name else _estimated(e, assessment, say)
        for e in assessment.plan.endpoints
    ]
    rows += [_verdict_row(v, say) for v in assessment.verdicts if v.criterion.endpoint not in declared]
    bearing = _bearing(assessment)
    return [_with_changes(row, by_name.get(row.name), bearing.get(row.name, []), say) for row in rows]


def _with_changes(
    row: CriterionRow, verdict: Verdict | None, bearing: Sequence[lock.Change], say: Catalogue
) -> CriterionRow:
    """A row with what was changed since the lock: of the criterion, and amendments of what it rests on.

    What was changed elsewhere without an amendment in time is named in the sentence of the verdict.
    """
    own = [c for c in bearing if c.criterion == row.name]
    beside = [c for c in bearing if c.how == "before" and c not in own]
    measured = verdict.row if verdict is not None else None
    said = [_amended(c, measured, say) for c in (*own, *beside[:MOST_NAMED])]
    if len(beside) > MOST_NAMED:
        said.append(say("verdicts.lock.amended_more", n=len(beside) - MOST_NAMED))
    key = "changed" if any(c.how == "undeclared" for c in bearing) else "amended"
    aside = say(f"verdicts.lock.{key}_mark") if bearing else ""
    if verdict is not None and verdict.locked is not None:
        values = {"bound": locked_bound(verdict, say), "word": verdict_word(verdict.locked.word, say)}
        said.append(say("verdicts.lock.against", **values))
        aside = say("verdicts.lock.against_mark", mark=aside, **values)
    return replace(row, amended=tuple(said), aside=aside)


def _bearing(assessment: Assessment) -> dict[str, list[lock.Change]]:
    """Every change since the lock by the criteria that it bears on, those that were taken away too."""
    found: dict[str, list[lock.Change]] = {}
    status = lock.lock_status(assessment.study, assessment.plan)
    for change in status.changes if status.lock else ():
        own = [change.criterion] if change.criterion else []
        for name in dict.fromkeys((*own, *named(lock.concerned(change, assessment.plan)))):
            found.setdefault(name, []).append(change)
    return found


def _amended(change: lock.Change, row: Quantity | None, say: Catalogue) -> str:
    """What was locked, what is declared now, and whether it was changed with the data still closed."""
    field, name = "" if change.whole else str(change.path[-1]), change.field
    if change.criterion:
        name = say("verdicts.lock.whole") if change.whole else label(f"endpoints.{field}", say)
    old, new = _old_and_new(change, say)
    if change.criterion and field == "bound_or_margin":
        name = say("verdicts.lock.bound")
        if isinstance(change.old, float | int) and isinstance(change.new, float | int):
            old, new = (_amount(end, row, say) for end in (change.old, change.new))
    reason = change.amendment.reason if change.amendment else None
    said = say(f"verdicts.lock.amended_{change.why}", name=name, old=old, new=new)
    return say("verdicts.lock.amended_reason", said=said, reason=reason.rstrip(".")) if reason else said


def _verdict_row(verdict: Verdict, say: Catalogue) -> CriterionRow:
    declared = verdict.criterion.risk
    risk = (
        (*(one.text for one in verdict.risk), *rates_in_words(declared)) if declared and verdict.risk else ()
    )
    return CriterionRow(
        verdict.criterion.endpoint,
        declared_text(verdict.criterion.role or "", say),
        _about(verdict.criterion, say),
        verdict_estimate(verdict, say),
        say.numbers.level(verdict.level) if verdict.level else "",
        bound_text(verdict, say),
        MARKS.get(verdict.word, "none"),
        verdict_word(verdict.word, say),
        sentence(verdict, say),
        risk=tuple(map(say, risk)) if declared is not None else (),
    )


def _estimated(criterion: Endpoint, assessment: Assessment, say: Catalogue) -> CriterionRow:
    """A criterion that asks for an estimate alone; one of the made-up kind without results has none."""
    found = entry(criterion, assessment.study, assessment.plan, assessment.results)
    result, sentence = (None, say(found)) if isinstance(found, Message) else (found, "")
    return CriterionRow(
        criterion.endpoint,
        declared_text(criterion.role or "", say),
        _about(criterion, say),
        in_words(result, say) if result else say("table.empty"),
        say.numbers.level(result.estimate.level) if result else "",
        say("verdicts.bound.none"),
        "none",
        say("verdict.estimation"),
        sentence,
    )


def _about(criterion: Endpoint, say: Catalogue) -> str:
    """Role and hypothesis, and what is measured."""
    name = measured(criterion, say) if criterion.measure else ""
    words = (*(declared_text(given or "", say) for given in (criterion.role, criterion.hypothesis)), name)
    return ", ".join(filter(None, words))


# ---------------------------------------------------------------- a criterion and its verdict in words


def measured(criterion: Endpoint, say: Catalogue) -> str:
    """The quantity of a criterion within a sentence."""
    return say(quantity_name(criterion.quantity, criterion.of))


def verdict_word(word: str, say: Catalogue) -> str:
    """The word of a verdict in the language of the report."""
    return say(f"verdict.{word.replace(' ', '_')}")


def would_be(word: str, say: Catalogue) -> str:
    """The word of a verdict that another bound, method or data set would give."""
    return say(f"answer.would.{word.replace(' ', '_')}")


def sentence(verdict: Verdict, say: Catalogue) -> str:
    """The reason of a verdict, with a capital where the name of a measure begins it."""
    text = say(verdict.reason)
    return text[:1].upper() + text[1:]


def verdict_estimate(verdict: Verdict, say: Catalogue, found: Result | None = None) -> str:
    """The estimate of a verdict, or of another entry, with the decimals that tell it from the bound."""
    found = found or verdict.result
    if found is None:
        return say("table.empty")
    bound = verdict.declared_bound
    return in_words(found, say, bounds=bound.ends if bound else ())


def bound_text(verdict: Verdict, say: Catalogue) -> str:
    """Where the interval had to lie, as the unit of the result is written."""
    bound = verdict.declared_bound or Bound()
    unit = verdict.result.details.get("unit") if verdict.result is not None else None
    low, high = (None if x is None else _amount(x, verdict.row, say) for x in (bound.low, bound.high))
    if unit and (last := high if high is not None else low) is not None:
        measured_as = say("unit.written.measured", text=last, unit=unit)
        low, high = (low, measured_as) if high is not None else (measured_as, high)
    if low is not None and high is not None:
        return say("verdicts.bound.between", low=low, high=high)
    if low is not None:
        return say("verdicts.bound.above", value=low)
    return say("verdicts.bound.none") if high is None else say("verdicts.bound.below", value=high)


def locked_bound(verdict: Verdict, say: Catalogue) -> str:
    """The locked bound, as the unit of the result is written; the criterion, where its bound is the same."""
    bound, row = verdict.locked.bound if verdict.locked else None, verdict.row
    if bound is None or bound == verdict.criterion.bound_or_margin:
        return say("verdicts.lock.criterion")
    if isinstance(bound, tuple):
        low, high = (_amount(end, row, say) for end in bound)
        return say("word.to", low=low, high=high)
    return _amount(bound, row, say)


def declared_amount(value: float, criterion: Endpoint, say: Catalogue) -> str:
    """A declared number in the unit of what is measured; as it was typed where no unit is known."""
    return _amount(value, row_of(criterion), say)


def _amount(value: float, row: Quantity | None, say: Catalogue) -> str:
    return say.numbers.plain(value) if row is None else say(bound_amount(row, value))


# ---------------------------------------------------------------- all verdicts in a line


def line(assessment: Assessment, say: Catalogue) -> str:
    """How many verdicts of each kind, and which to look at first; empty without any."""
    found = assessment.verdicts
    if not found:
        return ""
    counts = [
        say("word.share_of_words", n=n, word=verdict_word(word, say)) for word, n in counted(found).items()
    ]
    first = worst(found)
    said = say("verdicts.line", n=len(found), counts=counts)
    if first is not None and len(found) > 1:
        said = say("verdicts.line_worst", n=len(found), counts=counts, worst=first.criterion.endpoint)
    bearing = _bearing(assessment).values()
    if not bearing:
        return said
    n, before = len(bearing), sum(all(c.how == "before" for c in own) for own in bearing)
    if 0 < before < n:
        return say("verdicts.line_amended_some", line=said, n=n, before=before)
    return say(f"verdicts.line_amended_{'before' if before else 'after'}", line=said, n=n)


def families(assessment: Assessment, say: Catalogue) -> Iterator[str]:
    """What the rule of each family says."""
    told = set()
    for verdict in assessment.verdicts:
        family = verdict.family
        if family is None or family.name in told:
            continue
        told.add(family.name)
        if family.after:
            opened = f"{'opened' if family.open else 'not_opened'}{'_any' if family.any_opens else ''}"
            after = [named_family(name) for name in family.after]
            yield say(f"verdicts.family_{opened}", family=family.name, n=len(after), after=after)
        if family.size < TOGETHER or not family.open:
            continue
        if family.rule != "co-primary":
            rule = family.rule.replace(" ", "_")
            yield say(f"verdicts.rule.{rule}", family=family.name, n=family.size)
        if family.met is not None:
            own = [v for v in assessment.verdicts if v.family == family]
            unmet = sum(v.word != "pass" for v in own)
            key = "family_met" if family.met else "family_not_met"
            yield say(f"verdicts.{key}", family=family.name, n=unmet)


# ---------------------------------------------------------------- the lock


def fixed(assessment: Assessment, say: Catalogue) -> tuple[tuple[str, ...], Table | None]:
    """How the manifest compares with its lock: sentences, and the fields that differ."""
    status = lock.lock_status(assessment.study, assessment.plan)
    said = (*_lock_sentences(status, assessment.plan, say), *_looks(assessment.study, say))
    return said, _changes(status, say)


def _looks(study: Study, say: Catalogue) -> Iterator[str]:
    """Every use of these data that the register beside the lock has."""
    none = say("word.none")
    items = [
        say(
            "verdicts.lock.look",
            on=look.on or say("word.not_declared"),
            purpose=look.purpose or none,
            lock=look.lock[:HASH_DIGITS] or none,
            results=list(look.results) or [none],
        )
        for look in lock.same_data(lock.read_looks(study.looks), study)
    ]
    if items:
        yield say("verdicts.lock.looks", n=len(items), items=items)


def _lock_sentences(status: lock.LockStatus, plan: Plan, say: Catalogue) -> Iterator[str]:
    moments = (plan.study.sap_locked_at, plan.study.data_opened_at)
    fixed, opened = (day(m, say) if m else say("word.not_declared") for m in moments)
    digest = status.lock.first.sha256[:HASH_DIGITS] if status.lock else ""
    n = len(status.changes)
    if status.late:
        yield say("verdicts.lock.late")
    if status.state == "none":
        if not status.late:
            yield say("verdicts.lock.nothing")
        return
    if status.state == "declared":
        yield say("verdicts.lock.declared", fixed=fixed, opened=opened)
        for document in plan.documents:
            if document.kind == lock.FIXED_BY:
                yield say("verdicts.lock.document", title=document.title or document.id, id=document.id)
        return
    yield say(f"verdicts.lock.{status.state}", hash=digest, n=n)
    if status.older:
        yield say("verdicts.lock.older")
    yield say("verdicts.lock.integrity")
    if any(moments):
        yield say("verdicts.lock.dates", fixed=fixed, opened=opened)
    for key, moment in zip(("clocked", "countersigned"), status.clocked, strict=True):
        if isinstance(moment, datetime):
            yield say(f"verdicts.lock.{key}", time=say.numbers.moment(moment, seconds=True))
    if status.stamp is not None:
        yield say("verdicts.lock.stamped", time=say.numbers.moment(status.stamp.time, seconds=True))
    if status.misplaced:
        yield say("verdicts.lock.misplaced")
    if status.lock and len(status.lock.entries) > 1:
        yield say("verdicts.lock.relocked", n=len(status.lock.entries) - 1)
    gone = lock.removed(status, plan)
    if gone:
        yield say("verdicts.lock.removed", names=gone)


def _changes(status: lock.LockStatus, say: Catalogue) -> Table | None:
    if not status.changes or status.lock is None:
        return None
    lines = []
    for change in status.changes:
        how = say(f"verdicts.lock.{change.why}")
        if change.amendment and change.amendment.reason:
            how = say("verdicts.lock.with_reason", how=how, reason=change.amendment.reason)
        lines.append(line_of(change.field, *_old_and_new(change, say), how))
    columns = heads(say, "verdicts.column", "field old new how")
    return Table(say("verdicts.lock.caption"), columns, tuple(lines))


def _old_and_new(change: lock.Change, say: Catalogue) -> tuple[str, ...]:
    """What was locked and what is declared now, in words."""

    def value(given: Any) -> str:
        if given is None:
            return say("verdicts.lock.absent")
        return say("verdicts.lock.present") if change.whole else declared_text(given, say)

    return value(change.old), value(change.new)


def verdict_overview(
    assessment: Assessment, say: Catalogue
) -> tuple[tuple[str, ...], Sequence[CriterionRow]]:
    """How many verdicts of each kind and what the families say; then a row for each criterion."""
    rows = criterion_rows(assessment, say)
    said = line(assessment, say)
    finding = (said, *families(assessment, say), say("verdicts.no_score")) if said else ()
    return finding if rows else (say("verdicts.none"),), rows

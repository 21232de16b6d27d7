"""The acceptance table: every criterion with estimate, bound and verdict; the lock; what was amended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import Verdict, counted, named_family, worst
from trustreport.assessment.verdicts.entries import entry
from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.assessment.verdicts.risk import rates_in_words
from trustreport.report.declared import label
from trustreport.report.declared import text as declared_text
from trustreport.report.tables import Cell, Head, Line, Table, in_words
from trustreport.report.wording import day
from trustreport.study import criteria, lock
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Catalogue, Message
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
    said = [_amended(c, say) for c in (*own, *beside[:MOST_NAMED])]
    if len(beside) > MOST_NAMED:
        said.append(say("verdicts.lock.amended_more", n=len(beside) - MOST_NAMED))
    key = "changed" if any(c.how == "undeclared" for c in bearing) else "amended"
    aside = say(f"verdicts.lock.{key}_mark") if bearing else ""
    if verdict is not None and verdict.locked is not None:
        bound = locked_bound(verdict, say)
        word = say(f"verdict.{verdict.locked.word.replace(' ', '_')}")
        said.append(say("verdicts.lock.against", bound=bound, word=word))
        aside = say("verdicts.lock.against_mark", mark=aside, bound=bound, word=word)
    return replace(row, amended=tuple(said), aside=aside)


def _bearing(assessment: Assessment) -> dict[str, list[lock.Change]]:
    """Every change since the lock by the criteria that it bears on, those that were taken away too."""
    found: dict[str, list[lock.Change]] = {}
    status = lock.lock_status(assessment.study, assessment.plan)
    for change in status.changes if status.lock else ():
        names = criteria.named(lock.concerned(change, assessment.plan))
        own = [change.criterion] if change.criterion else []
        for name in dict.fromkeys((*own, *names)):
            found.setdefault(name, []).append(change)
    return found


def _amended(change: lock.Change, say: Catalogue) -> str:
    """What was locked, what is declared now, and whether it was changed with the data still closed."""
    field = "" if change.whole else str(change.path[-1])
    name = change.field
    if change.criterion:
        name = say("verdicts.lock.whole") if change.whole else label(f"endpoints.{field}", say)
    if change.criterion and field == "bound_or_margin":
        name = say("verdicts.lock.bound")
    old, new = (_value(value, say, change.whole) for value in (change.old, change.new))
    reason = change.amendment.reason if change.amendment else None
    said = say(f"verdicts.lock.amended_{change.why}", name=name, old=old, new=new)
    return say("verdicts.lock.amended_reason", said=said, reason=reason.rstrip(".")) if reason else said


def locked_bound(verdict: Verdict, say: Catalogue) -> str:
    """The locked bound, as the unit of the result is written; the criterion, where its bound is the same."""
    bound = verdict.locked.bound if verdict.locked else None
    if bound is None or bound == verdict.criterion.bound_or_margin:
        return say("verdicts.lock.criterion")
    if isinstance(bound, tuple):
        low, high = (_written(end, verdict, say) for end in bound)
        return say("word.to", low=low, high=high)
    return _written(bound, verdict, say)


def _written(value: float, verdict: Verdict, say: Catalogue) -> str:
    return declared_amount(value, verdict.criterion, say, verdict.result)


def declared_amount(value: float, criterion: Endpoint, say: Catalogue, result: Result | None = None) -> str:
    """A declared number in the unit of what is measured; as it was typed where no unit is known."""
    row = result.quantity if result else criteria.row_of(criterion)
    return say.numbers.plain(value) if row is None else say(bound_amount(row, value))


def _verdict_row(verdict: Verdict, say: Catalogue) -> CriterionRow:
    return CriterionRow(
        verdict.criterion.endpoint,
        declared_text(verdict.criterion.role or "", say),
        _about(verdict.criterion, say),
        in_words(verdict.result, say, bounds=ends_of(verdict)) if verdict.result else say("table.empty"),
        say.numbers.level(verdict.level) if verdict.level else "",
        bound_text(verdict, say),
        MARKS.get(verdict.word, "none"),
        say(f"verdict.{verdict.word.replace(' ', '_')}"),
        sentence(verdict, say),
        risk=_risk(verdict, say),
    )


def _risk(verdict: Verdict, say: Catalogue) -> tuple[str, ...]:
    """The likelihood ratios that the declared risks need, then the sensitivity and specificity for them."""
    declared = verdict.criterion.risk
    if declared is None or not verdict.risk:
        return ()
    return tuple(say(text) for text in (*(one.text for one in verdict.risk), *rates_in_words(declared)))


def sentence(verdict: Verdict, say: Catalogue) -> str:
    """The reason of a verdict, with a capital where the name of a measure begins it."""
    text = say(verdict.reason)
    return text[:1].upper() + text[1:]


def _estimated(criterion: Endpoint, assessment: Assessment, say: Catalogue) -> CriterionRow:
    """A criterion that asks for an estimate alone; one of the made-up kind without results has none."""
    found = entry(criterion, assessment.study, assessment.plan, assessment.results)
    result, sentence = (None, say(found)) if isinstance(found, Message) else (found, "")
    level = say.numbers.level(result.estimate.level) if result else ""
    word = say("verdict.estimation")
    return CriterionRow(
        criterion.endpoint,
        declared_text(criterion.role or "", say),
        _about(criterion, say),
        in_words(result, say) if result else say("table.empty"),
        level,
        say("verdicts.bound.none"),
        "none",
        word,
        sentence,
    )


def _about(criterion: Endpoint, say: Catalogue) -> str:
    """Role and hypothesis, and what is measured."""
    name = say(quantity_name(criteria.quantity(criterion), criterion.of)) if criterion.measure else ""
    words = (*(declared_text(given or "", say) for given in (criterion.role, criterion.hypothesis)), name)
    return ", ".join(word for word in words if word)


def ends_of(verdict: Verdict) -> tuple[float, ...]:
    """The ends of its bound: an interval written beside them has the decimals that tell it from them."""
    bound = bound_of(verdict)
    return bound.ends if bound else ()


def bound_of(verdict: Verdict) -> criteria.Bound | None:
    """The bound of a verdict; of one that was not tested that which its criterion declares."""
    if verdict.bound is not None or verdict.word != "not tested":
        return verdict.bound
    asked = criteria.bound_of(verdict.criterion)
    return None if isinstance(asked, str) else asked


def bound_text(verdict: Verdict, say: Catalogue) -> str:
    """Where the interval had to lie, as the unit of the result is written."""
    bound = bound_of(verdict)
    if bound is None:
        return say("verdicts.bound.none")
    if bound.low is not None and bound.high is not None:
        return say(
            "verdicts.bound.between",
            low=_written(bound.low, verdict, say),
            high=_written(bound.high, verdict, say),
        )
    if bound.low is not None:
        return say("verdicts.bound.above", value=_written(bound.low, verdict, say))
    return say("verdicts.bound.below", value=_written(bound.high or 0.0, verdict, say))


# ---------------------------------------------------------------- all verdicts in a line


def line(assessment: Assessment, say: Catalogue) -> str:
    """How many verdicts of each kind, and which to look at first; empty without any."""
    found = assessment.verdicts
    if not found:
        return ""
    counts = [
        say("word.share_of_words", n=n, word=say(f"verdict.{word.replace(' ', '_')}"))
        for word, n in counted(found).items()
    ]
    said = _counts(found, counts, say)
    bearing = _bearing(assessment).values()
    if not bearing:
        return said
    n, before = len(bearing), sum(all(c.how == "before" for c in own) for own in bearing)
    if 0 < before < n:
        return say("verdicts.line_amended_some", line=said, n=n, before=before)
    return say(f"verdicts.line_amended_{'before' if before else 'after'}", line=said, n=n)


def _counts(found: Sequence[Verdict], counts: list[str], say: Catalogue) -> str:
    first = worst(found)
    if first is None or len(found) == 1:
        return say("verdicts.line", n=len(found), counts=counts)
    return say("verdicts.line_worst", n=len(found), counts=counts, worst=first.criterion.endpoint)


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
    looks = lock.same_data(lock.read_looks(study.looks), study)
    none = say("word.none")
    items = [
        say(
            "verdicts.lock.look",
            on=look.on or say("word.not_declared"),
            purpose=look.purpose or none,
            lock=look.lock[:HASH_DIGITS] or none,
            results=list(look.results) or [none],
        )
        for look in looks
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
        return
    yield say(f"verdicts.lock.{status.state}", hash=digest, n=n)
    if status.older:
        yield say("verdicts.lock.older")
    yield say("verdicts.lock.integrity")
    if any(moments):
        yield say("verdicts.lock.dates", fixed=fixed, opened=opened)
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
    heads = tuple(Head(say(f"verdicts.column.{name}")) for name in ("field", "old", "new", "how"))
    lines = []
    for change in status.changes:
        how = say(f"verdicts.lock.{change.why}")
        if change.amendment and change.amendment.reason:
            how = say("verdicts.lock.with_reason", how=how, reason=change.amendment.reason)
        old, new = (_value(value, say, change.whole) for value in (change.old, change.new))
        cells = (change.field, old, new, how)
        lines.append(Line(tuple(Cell(cell) for cell in cells)))
    return Table(say("verdicts.lock.caption"), heads, tuple(lines))


def _value(value: Any, say: Catalogue, whole: bool) -> str:
    if value is None:
        return say("verdicts.lock.absent")
    return say("verdicts.lock.present") if whole else declared_text(value, say)


def verdict_overview(
    assessment: Assessment, say: Catalogue
) -> tuple[tuple[str, ...], Sequence[CriterionRow]]:
    """How many verdicts of each kind and what the families say; then a row for each criterion."""
    rows = criterion_rows(assessment, say)
    said = line(assessment, say)
    finding = (said, *families(assessment, say), say("verdicts.no_score")) if said else ()
    return finding if rows else (say("verdicts.none"),), rows

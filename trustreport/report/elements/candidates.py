"""The candidates of a review: what each meets, how they compare in one table, what a contract must say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trustreport.assessment.dimensions.candidates.results import leading_measure, local_prevalences, measures
from trustreport.assessment.dimensions.candidates.words import PATIENTS
from trustreport.assessment.narrative.texts import failed_cases, heading
from trustreport.assessment.verdicts import Requirement, Verdict
from trustreport.report import declared
from trustreport.report.answer.acceptance import verdict_word
from trustreport.report.answer.by_criteria import conclusion
from trustreport.report.answer.review import (
    ACCURACY,
    ID,
    Review,
    compared,
    data_of,
    of_candidate,
    per_patients,
    to_explain,
    utilities,
)
from trustreport.report.elements.acceptance_record import acceptance_record
from trustreport.report.elements.element import Context, Element, numbered
from trustreport.report.tables import Cell, Head, Line, Table, heads, in_words, line_of, number_cells
from trustreport.vocabulary.messages import Catalogue

AT_PREVALENCE = ("ppv", "npv")
RATES = ("missed_rate", "alarm_rate", "false_alarm_rate", "failure_rate", "recall_rate")
WORKLOAD = "recall_rate"


# ---------------------------------------------------------------- who meets what


def grid(context: Context) -> Element | None:
    """Requirement by candidate: the verdict, or why it cannot be said."""
    review, say = Review(context.assessment, context.say), context.say
    if not (review.offers_choice and review.required):
        return None
    columns = (Head(say("procurement.grid.requirement")), *(Head(review.shown(n)) for n in review.names))
    standings = [review.standings[name] for name in review.names]
    words = (_not_required(say) if word == "not required" else _verdict_word(word, say) for word in standings)
    whole = line_of(say("procurement.grid.every"), *words, leads=True)
    lines = [_grid_line(row, review) for row in review.required]
    if _asks_each(review):
        lines.insert(0, whole)
    pairs = any(row.baseline for row in review.required)
    caption = say("procurement.grid.caption_compared" if pairs else "procurement.grid.caption")
    table = Table(caption, columns, tuple(lines))
    finding = tuple(one.text for one in conclusion(context.assessment, say))
    return Element(finding, tables=numbered(context, table))


def _asks_each(review: Review) -> bool:
    """Whether a candidate by itself has to meet something, so that criteria do more than compare."""
    return any(review.standings[name] != "not required" for name in review.names)


def _verdict_word(word: str, say: Catalogue) -> Cell:
    return Cell(verdict_word(word, say), mark=word)


def _not_required(say: Catalogue) -> Cell:
    return Cell(say("procurement.grid.not_required"), mark="none")


def _grid_line(row: Requirement, review: Review) -> Line:
    role = declared.text(row.criterion.role or "", review.say)
    required = review.say("procurement.grid.required", bound=review.bound(row))
    first = Cell(review.about(row), aside=", ".join(filter(None, (required, role))))
    return line_of(first, *(_verdict(row.verdicts.get(name), review) for name in review.names))


def _verdict(verdict: Verdict | None, review: Review) -> Cell:
    """The verdict on one candidate, its estimate, and what it was under the locked criterion."""
    say = review.say
    if verdict is None:
        return _not_required(say)
    row = review.rows[verdict.criterion.endpoint]
    estimate = row.estimate if verdict.result else ""
    aside = review.say.between.join(filter(None, (estimate, row.aside)))
    return Cell(verdict_word(verdict.word, say), aside=aside, mark=row.mark)


# ---------------------------------------------------------------- one table, a column a candidate


def candidate_table(context: Context) -> Element | None:
    """The candidates in one table for each set of common cases: accuracy, rates here, workload."""
    review = Review(context.assessment, context.say)
    own = [r for r in review.results if r.dimension == ID]
    if not (review.offers_choice and own):
        return None
    datasets = list(dict.fromkeys(map(data_of, own)))
    tables = [_side_by_side(dataset, review) for dataset in datasets]
    finding = [text for dataset in datasets for text in compared(review, dataset)]
    return Element(tuple(finding), tables=numbered(context, *tables))


def _side_by_side(dataset: str, review: Review) -> Table:
    say = review.say
    own = [r for r in review.results if r.dimension == ID and data_of(r) == dataset]
    names = [name for name in review.names if any(r.place.candidate == (name or None) for r in own)]
    columns = (Head(say("table.measure")), *(Head(review.shown(name), True) for name in names))
    first = leading_row(review)
    lines = []
    for row in _rows(dataset, review):
        cells = [row.text(name) for name in names]
        if any(cells):
            shown = number_cells(cell or say("table.empty") for cell in cells)
            lines.append(line_of(row.label, *shown, leads=row.key == first))
    values = {"dataset": dataset, "level": own[0].estimate.level, "failed": failed_cases(review.plan)}
    shares = local_prevalences(review.plan)
    if own[0].place.set is not None:
        caption = say("procurement.table.caption_counts", **values)
    elif shares:
        caption = say("procurement.table.caption_at", prevalence=shares[0], **values)
    else:
        caption = say("procurement.table.caption", **values)
    return Table(caption, columns, tuple(lines))


def leading_row(review: Review) -> str:
    """The row that leads: the first utility, else the measure that comes first."""
    return next(iter(utilities(review)), leading_measure(review.plan))


@dataclass(frozen=True)
class _CandidateRow:
    """A row of the table: its label, and how the cell of a candidate is written; empty without a result."""

    key: str
    label: str
    text: Callable[[str], str]


def _rows(dataset: str, review: Review) -> Iterator[_CandidateRow]:
    """Utilities, then measures, those of primary criteria first, then rates at the local prevalence."""
    say, first = review.say, leading_row(review)

    def row(key: str, label: str, id: str, *, per: float = 0, **parameters: object) -> _CandidateRow:
        """A row of one quantity, its cells per patient where `per` is given."""

        def text(name: str) -> str:
            """The cell of a candidate; empty without a result."""
            found = of_candidate(review, id, name, dataset, **parameters)
            if found is None:
                return ""
            return per_patients(found, per, say) if per else in_words(found, say)

        return _CandidateRow(key, label, text)

    for utility in utilities(review):
        label = say("procurement.table.utility", utility=utility)
        yield row(utility, label, f"{ACCURACY}.utility_yield", utility=utility)
    for measure in measures(review.plan):
        if measure != "accuracy" or measure == first:  # it mixes both classes: not unless it was asked for
            yield row(measure, say(heading(measure)), f"{ID}.{measure}")
    volume = review.plan.site_context.annual_volume if review.plan.site_context else None
    for share in local_prevalences(review.plan):
        for measure in AT_PREVALENCE:
            label = say("procurement.table.at_prevalence", measure=heading(measure), prevalence=share)
            yield row(measure, label, f"{ACCURACY}.{measure}", prevalence=share)
        for rate in RATES:
            yield row(
                rate, say(f"procurement.table.rate.{rate}"), f"{ID}.{rate}", per=PATIENTS, prevalence=share
            )
        if volume:
            label = say("procurement.table.a_year", volume=volume)
            yield row("a_year", label, f"{ID}.{WORKLOAD}", per=volume, prevalence=share)


# ---------------------------------------------------------------- what a contract must say


def conditions(context: Context) -> Element | None:
    """What a contract asks of each candidate that no requirement rules out; nothing for one that fails."""
    review, say = Review(context.assessment, context.say), context.say
    if review.plan.report.kind != "procurement" or not review.required or not _asks_each(review):
        return None
    open_to = [n for n in review.names if review.standings[n] in ("pass", "inconclusive")]
    tables = [_contract(name, review) for name in open_to]
    if open_to:
        tables.append(acceptance_record(open_to, review))
    finding = []
    for name in review.names:
        word = review.standings[name]
        if word != "not required":
            finding.append(say(f"procurement.conditions.{word}", name=review.shown(name)))
    return Element(tuple(finding), tables=numbered(context, *tables))


def _contract(name: str, review: Review) -> Table:
    say = review.say
    columns = heads(say, "procurement.conditions", "condition required observed reason", numeric="observed")
    own = [row for row in review.required if row.counts and row.word(name) is not None]
    waiting = [row for row in own if row.word(name) != "pass"]
    lines = [_to_be_shown(row, row.verdicts[name], review) for row in waiting]
    kept = [row for row in own if row not in waiting]
    lines += [line_of(review.about(row), *_numbers(row, row.verdicts[name], review)) for row in kept]
    lines += _explained(name, review)
    key = "caption_inconclusive" if waiting else "caption"
    return Table(say(f"procurement.conditions.{key}", name=review.shown(name)), columns, tuple(lines))


def _to_be_shown(row: Requirement, verdict: Verdict, review: Review) -> Line:
    """A requirement that is open: what has to be shown before a contract."""
    say = review.say
    needed = verdict.reason.values.get("needed")
    label = say("procurement.conditions.to_be_shown", measure=review.about(row))
    first = Cell(label, aside=say(needed) if needed else "")
    return line_of(first, *_numbers(row, verdict, review), leads=True)


def _numbers(row: Requirement, verdict: Verdict, review: Review) -> tuple[Cell, ...]:
    criterion = verdict.criterion
    reason = ". ".join(filter(None, (criterion.margin_rationale, criterion.clinical_severity)))
    (observed,) = number_cells([review.rows[criterion.endpoint].estimate])
    return Cell(review.bound(row)), observed, Cell(reason or review.say("table.empty"))


def _explained(name: str, review: Review) -> Iterator[Line]:
    """What the supplier has to explain."""
    empty = review.say("table.empty")
    for one in to_explain(review, name):
        label = review.say("procurement.conditions.to_explain", measure=one.measure)
        yield line_of(label, one.claimed or empty, *number_cells([one.observed]), one.source or empty)


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "grid": grid,
    "candidate_table": candidate_table,
    "conditions": conditions,
}

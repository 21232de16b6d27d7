"""What forms are made of: tables of declared fields, results, criteria and events, with gaps marked."""

from collections.abc import Iterable, Mapping, Sequence

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report import declared
from trustreport.report.acceptance import criterion_rows
from trustreport.report.exports.chosen import place_of, primary, stated
from trustreport.report.sheets.sheet import Sheet, SheetCell, SheetTable, render
from trustreport.report.tables import in_words, method_text
from trustreport.vocabulary.messages import Catalogue

OF_PERIODS = ("", "sensitivity", "specificity", "auc")  # endpoints of which a form lists every period


class FormParts:
    """Makes the parts of one form from an assessment, in the words of its catalogue."""

    def __init__(self, assessment: Assessment, say: Catalogue) -> None:
        self.assessment, self.plan, self.say = assessment, assessment.plan, say

    def notes(self, *texts: str) -> tuple[str, ...]:
        """What stands above all else: the title and the notice of the study, then these texts."""
        report = self.plan.report
        return (*filter(None, (report.title, report.notice)), *texts)

    def gap(self, key: str) -> SheetCell:
        """A place that somebody has to fill in, with what belongs there."""
        return SheetCell(self.say("form.to_be_completed", what=self.say(f"form.gap.{key}")), gap=True)

    def stated(self, value: object) -> SheetCell:
        """A field of the manifest; a gap where it is not declared."""
        empty = value is None or value in ("", ())
        return SheetCell(self.say("form.not_declared") if empty else stated(value, self.say), gap=empty)

    def fields(self, caption: str, fields: Iterable[str], gaps: Iterable[str] = ()) -> SheetTable:
        """Fields of the manifest by their paths, then what the manifest cannot hold."""
        rows = [
            (SheetCell(declared.label(path, self.say)), self.stated(self._value(path))) for path in fields
        ]
        rows += [(SheetCell(self.say(f"form.gap.{key}")), self.gap(key)) for key in gaps]
        return self.table(caption, ("field", "value"), rows)

    def _value(self, path: str) -> object:
        group, _, name = path.partition(".")
        found = getattr(self.plan, group)
        value = getattr(found, name) if found is not None else None
        return value.description if name == "intended_patient_population" and value else value

    def table(
        self, caption: str, heads: Sequence[str], rows: Sequence[tuple[SheetCell, ...]], gap: str = ""
    ) -> SheetTable:
        """A table of the catalogue's caption and heads; without rows one that is to be filled in."""
        named = tuple(self.say(f"form.head.{head}") for head in heads)
        if not rows and gap:
            rows = [(self.gap(gap), *(SheetCell("") for _ in heads[1:]))]
        return SheetTable(self.say(f"form.caption.{caption}"), named, tuple(rows))

    def results(self, caption: str, *quantities: Mapping[str, tuple[str, ...]]) -> SheetTable:
        """Primary results: what, of what, estimate with interval, denominator, method."""
        say = self.say
        rows = []
        for r in (r for wanted in quantities for r in primary(self.assessment, wanted)):
            if r.dimension == "vigilance" and r.endpoint not in OF_PERIODS:
                continue
            name = say(quantity_name(r.name, r.endpoint or None))
            texts = (name, place_of(r, say), in_words(r, say), say.numbers.count(r.estimate.n))
            rows.append(tuple(map(SheetCell, (*texts, method_text(r.method, say)))))
        return self.table(caption, ("quantity", "of", "estimate", "n", "method"), rows, "no_result")

    def criteria(self) -> SheetTable:
        """Every declared criterion with estimate, bound and verdict."""
        rows = [
            tuple(map(SheetCell, (one.name, one.about, one.estimate, one.bound, one.word)))
            for one in criterion_rows(self.assessment, self.say)
        ]
        heads = ("criterion", "about", "estimate", "bound", "verdict")
        return self.table("criteria", heads, rows, "no_criterion")

    def datasets(self) -> SheetTable:
        """Every declared set of cases: role, source, sampling, dates, and how many cases were read."""
        n = {mix.name: self.say.numbers.count(mix.n) for mix in self.assessment.case_mixes}
        rows = []
        for d in self.plan.datasets:
            dates = " – ".join(stated(day, self.say) for day in (d.start_date, d.end_date) if day)
            first = (SheetCell(d.dataset), SheetCell(stated(d.role, self.say)))
            rest = (d.source, d.sampling, dates, n.get(d.dataset))
            rows.append((*first, *map(self.stated, rest)))
        return self.table(
            "datasets", ("dataset", "role", "source", "sampling", "dates", "cases"), rows, "no_dataset"
        )

    def limitations(self) -> tuple[SheetCell, ...]:
        """What checks found, each as a paragraph."""
        return tuple(
            SheetCell(f"{outcome.check}: {self.say(outcome.message)}") for outcome in self.assessment.fired()
        )

    def document(self, *words: str) -> SheetCell:
        """The declared document of a kind, with version and date; a gap where none is declared."""
        for one in self.plan.documents:
            text = f" {one.kind or ''} {one.title or ''}".casefold()
            if any(f" {word}" in text for word in words):
                return SheetCell(", ".join(filter(None, (one.id, one.version, one.date))))
        return SheetCell(self.say("form.not_declared"), gap=True)


def written(sheet: Sheet, say: Catalogue, suffix: str) -> bytes:
    """The form as a file; its first note says how much is still to be filled in."""
    if suffix == ".docx":
        from trustreport.report.exports import docx_file

        return docx_file.render(sheet)
    return render(sheet, say).encode()

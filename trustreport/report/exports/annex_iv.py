"""The performance section of the technical documentation under Annex IV of the AI Act, in our own layout."""

from collections.abc import Iterable

from trustreport.assessment.assess import Assessment
from trustreport.report.document import canonical, digest, document
from trustreport.report.exports.chosen import FAIRNESS, PERFORMANCE, RELIABILITY
from trustreport.report.exports.form import FormParts, written
from trustreport.report.exports.sheets import Sheet, SheetCell, SheetSection, SheetTable
from trustreport.report.write import provenance
from trustreport.vocabulary.messages import catalogue

SYSTEM = (
    "device.trade_name device.manufacturer device.software_version intended_use.intended_purpose "
    "intended_use.intended_users"
).split()
LIMITS = (
    "intended_use.intended_patient_population intended_use.input_specification "
    "intended_use.out_of_scope_uses intended_use.known_risks"
).split()
MONITORING = (
    "vigilance.plan_id vigilance.plan_version vigilance.observation_period vigilance.recipients".split()
)
OVERSIGHT = {"reliance": RELIABILITY["reliance"]}
STABILITY = {name: RELIABILITY[name] for name in ("advice_value", "potential_robustness")}


def render(assessment: Assessment, suffix: str) -> bytes:
    """The form as HTML or DOCX."""
    say = catalogue(assessment.plan.report.language)
    form = FormParts(assessment, say)
    sections = (
        _section(form, "1a", tables=[form.fields("system", SYSTEM)]),
        _section(form, "2e", [form.gap("oversight")], [form.results("oversight", OVERSIGHT)]),
        _section(form, "2f", tables=[form.fields("changes", ["device.predetermined_changes"])]),
        _section(
            form,
            "2g",
            tables=[
                form.datasets(),
                form.results("results", PERFORMANCE, STABILITY),
                form.criteria(),
                _signed(form),
            ],
        ),
        _section(
            form,
            "3",
            (form.gap("unintended"), *form.limitations()),
            [form.fields("limits", LIMITS), form.results("by_group", FAIRNESS)],
        ),
        _section(form, "4", [form.gap("metrics")], [_rationale(form)]),
        _section(form, "9", tables=[form.fields("monitoring", MONITORING)]),
        _section(form, "others", [form.gap("annex_iv_others")]),
    )
    notes = form.notes(say("form.annex_iv.note"), say("form.annex_iv.layout"))
    return written(Sheet(say("form.annex_iv.title"), notes, sections, say.language), say, suffix)


def _section(
    form: FormParts, key: str, paragraphs: Iterable[SheetCell] = (), tables: Iterable[SheetTable] = ()
) -> SheetSection:
    return SheetSection(form.say(f"form.annex_iv.section.{key}"), tuple(paragraphs), tuple(tables))


def _signed(form: FormParts) -> SheetTable:
    """The test report: its hash and date, and who is named as signing it."""
    results = digest(canonical(document(form.assessment, provenance(form.assessment), form.say)))
    rows = [
        (SheetCell(form.say("form.document.results")), SheetCell(results)),
        (SheetCell(form.say("form.document.date")), form.stated(form.plan.report.date)),
    ]
    for one in form.plan.approvals or ():
        name = ", ".join(filter(None, (one.name, one.role)))
        rows.append((SheetCell(name), form.stated(one.signed_at)))
    return form.table("signed", ("field", "value"), rows)


def _rationale(form: FormParts) -> SheetTable:
    """Why each bound is where it is, as declared."""
    rows = [
        (SheetCell(one.endpoint), *map(form.stated, (one.measure, one.margin_rationale)))
        for one in form.plan.endpoints
    ]
    return form.table("rationale", ("criterion", "measure", "rationale"), rows, "no_criterion")

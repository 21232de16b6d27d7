"""The tables of a report on clinical follow-up after market entry, in the sections A to G of MDCG 2020-8."""

from collections.abc import Iterable

from trustreport.assessment.assess import Assessment
from trustreport.report.exports.chosen import FAIRNESS, PERFORMANCE, RELIABILITY
from trustreport.report.exports.form import FormParts, written
from trustreport.report.exports.sheets import Sheet, SheetCell, SheetSection, SheetTable
from trustreport.vocabulary.messages import catalogue

PLAN = "vigilance.plan_id vigilance.plan_version".split()
MANUFACTURER = "device.manufacturer device.srn device.authorised_representative".split()
DEVICE = (
    "device.trade_name device.model device.software_version intended_use.intended_purpose "
    "intended_use.intended_users device.basic_udi_di intended_use.intended_patient_population "
    "intended_use.medical_condition intended_use.contraindications intended_use.known_risks "
    "device.certificate_no device.emdn_code device.risk_class"
).split()


def render(assessment: Assessment, suffix: str) -> bytes:
    """The form as HTML or DOCX."""
    say = catalogue(assessment.plan.report.language)
    form = FormParts(assessment, say)
    sections = (
        _section(form, "head", tables=[form.fields("plan", PLAN, ("report_number", "report_version"))]),
        _section(form, "a", tables=[form.fields("manufacturer", MANUFACTURER, ("address", "responsible"))]),
        _section(form, "b", tables=[form.fields("devices", DEVICE, ("variants", "lifetime", "novelty"))]),
        _section(
            form,
            "c",
            (form.gap("deviations"), *form.limitations()),
            [
                form.datasets(),
                form.results("results", PERFORMANCE, RELIABILITY),
                form.results("by_group", FAIRNESS),
                form.criteria(),
            ],
        ),
        _section(
            form, "d", tables=[form.table("similar", ("product", "results", "references"), (), "similar")]
        ),
        _section(form, "e", tables=[_impact(form)]),
        _section(
            form, "f", tables=[form.fields("standards", (), ("specifications", "standards", "guidance"))]
        ),
        _section(form, "g", [form.gap("benefit_risk"), form.gap("next_plan")]),
    )
    notes = form.notes(say("form.pmcf.note"), say("form.pmcf.layout"))
    return written(Sheet(say("form.pmcf.title"), notes, sections, say.language), say, suffix)


def _section(
    form: FormParts, key: str, paragraphs: Iterable[SheetCell] = (), tables: Iterable[SheetTable] = ()
) -> SheetSection:
    return SheetSection(form.say(f"form.pmcf.section.{key}"), tuple(paragraphs), tuple(tables))


def _impact(form: FormParts) -> SheetTable:
    """The documents on which the results may bear."""
    say = form.say
    rows = [
        (
            SheetCell(say("form.document.cer")),
            form.document("cer", "clinical evaluation"),
            form.gap("impact"),
        ),
        (SheetCell(say("form.document.risk")), form.document("risk"), form.gap("impact")),
    ]
    return form.table("impact", ("document", "version", "impact"), rows)

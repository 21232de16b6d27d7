"""The tables of a periodic safety update report, in the order of MDCG 2022-21, Annexes I and II."""

from collections import Counter
from collections.abc import Iterable

from trustreport.assessment.assess import Assessment
from trustreport.report.exports.chosen import RELIABILITY
from trustreport.report.exports.form import FormParts, written
from trustreport.report.exports.sheets import Sheet, SheetCell, SheetSection, SheetTable
from trustreport.study.plan import Incident
from trustreport.vocabulary.messages import catalogue

DEVICE = (
    "device.trade_name device.model device.software_version device.basic_udi_di device.emdn_code "
    "device.risk_class device.certificate_no device.market_status intended_use.intended_purpose "
    "intended_use.intended_patient_population intended_use.contraindications"
).split()
COVER = (
    "device.manufacturer device.srn device.notified_body_no vigilance.period_start vigilance.period_end"
).split()
CHANGES = {"vigilance": RELIABILITY["vigilance"]}


def render(assessment: Assessment, suffix: str) -> bytes:
    """The form as HTML or DOCX."""
    say = catalogue(assessment.plan.report.language)
    form = FormParts(assessment, say)
    sections = (
        _section(form, "cover", tables=[form.fields("cover", COVER, ("psur_number", "psur_version"))]),
        _section(form, "summary", [form.gap("summary")]),
        _section(form, "devices", tables=[form.fields("devices", DEVICE)]),
        _section(form, "grouping", [form.gap("grouping")]),
        _section(form, "sales", tables=[form.table("sales", ("region", "devices"), (), "sales")]),
        _section(form, "population", tables=[_exposed(form), _characteristics(form)]),
        _section(form, "serious", [form.gap("serious")], [_by_code(form), _events(form, serious=True)]),
        _section(form, "trend", [form.gap("trend")], [_indicators(form)]),
        _section(
            form, "fsca", tables=[form.table("fsca", ("action", "date", "scope", "status"), (), "fsca")]
        ),
        _section(form, "capa", tables=[_actions(form)]),
        _section(form, "complaints", tables=[_events(form, serious=False)]),
        _section(form, "literature", [form.gap("literature")]),
        _section(form, "registers", [form.gap("registers")]),
        _section(form, "similar", [form.gap("similar")]),
        _section(form, "sources", tables=[form.datasets()]),
        _section(form, "follow_up", tables=[form.results("results", CHANGES), form.criteria()]),
        _section(form, "validity", form.limitations()),
        _section(form, "conclusions", [form.gap("benefit_risk")]),
        _section(form, "actions", tables=[_signals(form)]),
    )
    notes = form.notes(say("form.psur.note"), say("form.psur.layout"))
    return written(Sheet(say("form.psur.title"), notes, sections, say.language), say, suffix)


def _section(
    form: FormParts, key: str, paragraphs: Iterable[SheetCell] = (), tables: Iterable[SheetTable] = ()
) -> SheetSection:
    return SheetSection(form.say(f"form.psur.section.{key}"), tuple(paragraphs), tuple(tables))


def _exposed(form: FormParts) -> SheetTable:
    """Table 2: the cases of each period, as far as the study has them."""
    rows = [
        (SheetCell(mix.name), SheetCell(form.say.numbers.count(mix.n)), form.gap("region"))
        for mix in form.assessment.case_mixes
        if mix.role in ("period", "local")
    ]
    return form.table("exposed", ("period", "cases", "region"), rows, "exposed")


def _characteristics(form: FormParts) -> SheetTable:
    """Table 3: the characteristics of the cases of each period."""
    rows = []
    for mix in form.assessment.case_mixes:
        if mix.role in ("period", "local"):
            names = ", ".join(one.name for one in mix.characteristics)
            shares = (mix.positive, mix.negative, mix.without_truth)
            numbers = (SheetCell(form.say.numbers.count(n)) for n in shares)
            rows.append((SheetCell(mix.name), *numbers, SheetCell(names)))
    heads = ("period", "positive", "negative", "without", "characteristics")
    return form.table("characteristics", heads, rows, "characteristics")


def _chosen(form: FormParts, *, serious: bool) -> list[Incident]:
    """Serious incidents, or everything else that was reported."""
    word = "serious"
    return [i for i in form.plan.incidents if ((i.seriousness or "").casefold() == word) is serious]


def _by_code(form: FormParts) -> SheetTable:
    """Table 4: serious incidents by the code of the device problem; the rate needs the number of devices."""
    codes = Counter(code for i in _chosen(form, serious=True) for code in i.imdrf_codes or ("",))
    rows = [
        (
            SheetCell(code) if code else form.gap("code"),
            SheetCell(form.say.numbers.count(n)),
            form.gap("rate"),
        )
        for code, n in sorted(codes.items())
    ]
    return form.table("by_code", ("code", "n", "rate"), rows, "by_code")


def _events(form: FormParts, *, serious: bool) -> SheetTable:
    rows = [
        (
            SheetCell(i.incident),
            *map(
                form.stated,
                (i.kind, i.event_date, i.description, i.seriousness, i.causality, i.capa_id, i.status),
            ),
        )
        for i in _chosen(form, serious=serious)
    ]
    heads = ("incident", "kind", "date", "description", "seriousness", "causality", "capa", "status")
    return form.table("serious" if serious else "complaints", heads, rows, "no_event")


def _indicators(form: FormParts) -> SheetTable:
    """The indicators of the plan, with the values between which a chart decides."""
    vigilance = form.plan.vigilance
    rows = [
        (SheetCell(one.measure), *map(form.stated, (one.in_control, one.to_detect, one.chart, one.action)))
        for one in (vigilance.indicators if vigilance and vigilance.indicators else ())
    ]
    return form.table(
        "indicators", ("indicator", "in_control", "to_detect", "chart", "action"), rows, "trend"
    )


def _actions(form: FormParts) -> SheetTable:
    """Table 8: the actions that incidents name."""
    named = [i for i in form.plan.incidents if i.capa_id and i.capa_id.casefold() != "none"]
    rows = []
    for capa in dict.fromkeys(i.capa_id for i in named):
        of = [i for i in named if i.capa_id == capa]
        status = "; ".join(dict.fromkeys(i.status for i in of if i.status))
        incidents = ", ".join(i.incident for i in of)
        rows.append(
            (
                SheetCell(capa or ""),
                SheetCell(incidents),
                form.stated(status),
                form.gap("cause"),
                form.gap("effect"),
            )
        )
    return form.table("capa", ("reference", "incidents", "status", "cause", "effect"), rows, "capa")


def _signals(form: FormParts) -> SheetTable:
    rows = [
        (
            SheetCell(one.signal),
            *map(form.stated, (one.description, one.detected, one.action, one.outcome, one.owner)),
        )
        for one in form.plan.signals
    ]
    heads = ("signal", "description", "date", "action", "outcome", "owner")
    return form.table("signals", heads, rows, "no_signal")

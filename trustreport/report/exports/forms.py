"""Forms of regulators, filled in as far as a study goes; what somebody has to complete is marked as a gap.

`psur` has the tables of a periodic safety update report in the order of MDCG 2022-21, Annexes I and II;
`pmcf` those of a report on clinical follow-up after market entry, in the sections A to G of MDCG 2020-8;
`annex_iv` the performance section of the technical documentation under Annex IV of the AI Act, in our own
layout.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report import declared
from trustreport.report.answer.acceptance import criterion_rows
from trustreport.report.exports.chosen import (
    FAIRNESS,
    PERFORMANCE,
    RELIABILITY,
    place_of,
    primary,
    results_digest,
    stated,
)
from trustreport.report.exports.sheets import (
    Sheet,
    SheetCell,
    SheetSection,
    SheetTable,
    sheet_docx,
    sheet_page,
)
from trustreport.report.tables import in_words, method_text
from trustreport.study.plan import Incident
from trustreport.vocabulary.messages import catalogue

OF_PERIODS = ("", "sensitivity", "specificity", "auc")  # endpoints of which a form lists every period
IN_USE = ("period", "local")  # roles of the data sets that come from use

# ---------------------------------------------------------------- what forms are made of


class FormParts:
    """Makes the parts of one form from an assessment, in the words of its catalogue."""

    def __init__(self, assessment: Assessment, name: str) -> None:
        self.assessment, self.plan, self.name = assessment, assessment.plan, name
        self.say = catalogue(self.plan.report.language)

    def file(self, suffix: str, *sections: SheetSection) -> bytes:
        """The form as HTML or DOCX: first the title and the notice of the study, then what the form is."""
        report, key = self.plan.report, f"form.{self.name}"
        said = declared.notice(self.plan, self.say)
        notes = (report.title, said, self.say(f"{key}.note"), self.say(f"{key}.layout"))
        sheet = Sheet(self.say(f"{key}.title"), tuple(filter(None, notes)), sections, self.say.language)
        return sheet_docx(sheet) if suffix == ".docx" else sheet_page(sheet, self.say).encode()

    def section(self, key: str, *parts: str | SheetCell | SheetTable) -> SheetSection:
        """A section of paragraphs, where a key stands for a gap, and of tables."""
        paragraphs = (self.gap(one) if isinstance(one, str) else one for one in parts)
        return SheetSection(
            self.say(f"form.{self.name}.section.{key}"),
            tuple(one for one in paragraphs if isinstance(one, SheetCell)),
            tuple(one for one in parts if isinstance(one, SheetTable)),
        )

    def gap(self, key: str) -> SheetCell:
        """A place that somebody has to fill in, with what belongs there."""
        return SheetCell(self.say("form.to_be_completed", what=self.say(f"form.gap.{key}")), gap=True)

    def row(self, first: str, *values: object) -> tuple[SheetCell, ...]:
        """A row: what it is of, then fields of the manifest, a gap for each that is not declared."""
        cells = (value if isinstance(value, SheetCell) else self._stated(value) for value in values)
        return SheetCell(first), *cells

    def _stated(self, value: object) -> SheetCell:
        empty = value is None or value in ("", ())
        return SheetCell(self.say("form.not_declared") if empty else stated(value, self.say), gap=empty)

    def table(
        self, caption: str, heads: str, rows: Sequence[tuple[SheetCell, ...]] = (), gap: str = ""
    ) -> SheetTable:
        """A table of the catalogue's caption and heads; without rows one that is to be filled in."""
        named = tuple(self.say(f"form.head.{head}") for head in heads.split())
        if not rows and gap:
            rows = [(self.gap(gap), *(SheetCell("") for _ in named[1:]))]
        return SheetTable(self.say(f"form.caption.{caption}"), named, tuple(rows))

    def fields(self, caption: str, paths: str, gaps: str = "") -> SheetTable:
        """Fields of the manifest by their paths, then what the manifest cannot hold."""
        rows = [self.row(declared.label(path, self.say), self._value(path)) for path in paths.split()]
        rows += [self.row(self.say(f"form.gap.{key}"), self.gap(key)) for key in gaps.split()]
        return self.table(caption, "field value", rows)

    def _value(self, path: str) -> object:
        group, _, name = path.partition(".")
        found = getattr(self.plan, group)
        value = getattr(found, name) if found is not None else None
        return value.description if name == "intended_patient_population" and value else value

    def results(self, caption: str, *quantities: Mapping[str, tuple[str, ...]]) -> SheetTable:
        """Primary results: what, of what, estimate with interval, denominator, method."""
        say = self.say
        rows = []
        for r in (r for wanted in quantities for r in primary(self.assessment, wanted)):
            if r.dimension == "vigilance" and r.endpoint not in OF_PERIODS:
                continue
            name = say(quantity_name(r.name, r.endpoint or None))
            texts = (
                name,
                place_of(r, self.assessment, say),
                in_words(r, say),
                say.numbers.count(r.estimate.n),
            )
            rows.append(tuple(map(SheetCell, (*texts, method_text(r.method, say)))))
        return self.table(caption, "quantity of estimate n method", rows, "no_result")

    def criteria(self) -> SheetTable:
        """Every declared criterion with estimate, bound and verdict."""
        rows = [
            tuple(map(SheetCell, (one.name, one.about, one.estimate, one.bound, one.word)))
            for one in criterion_rows(self.assessment, self.say)
        ]
        return self.table("criteria", "criterion about estimate bound verdict", rows, "no_criterion")

    def datasets(self) -> SheetTable:
        """Every declared set of cases: role, source, sampling, dates, and how many cases were read."""
        n = {mix.name: self.say.numbers.count(mix.n) for mix in self.assessment.case_mixes}
        rows = []
        for d in self.plan.datasets:
            dates = " – ".join(stated(day, self.say) for day in (d.start_date, d.end_date) if day)
            role = SheetCell(stated(d.role, self.say))
            rows.append(self.row(d.dataset, role, d.source, d.sampling, dates, n.get(d.dataset)))
        return self.table("datasets", "dataset role source sampling dates cases", rows, "no_dataset")

    def limitations(self) -> Iterable[SheetCell]:
        """What checks found, each as a paragraph."""
        return (
            SheetCell(f"{outcome.check}: {self.say(outcome.message)}") for outcome in self.assessment.fired()
        )

    def document(self, *words: str) -> SheetCell:
        """The declared document of a kind, with version and date; a gap where none is declared."""
        for one in self.plan.documents:
            text = f" {one.kind or ''} {one.title or ''}".casefold()
            if any(f" {word}" in text for word in words):
                return SheetCell(", ".join(filter(None, (one.id, one.version, one.date))))
        return self._stated(None)


# ---------------------------------------------------------------- safety update (PSUR)


def psur(assessment: Assessment, suffix: str) -> bytes:
    """The periodic safety update report."""
    form = FormParts(assessment, "psur")
    cover = (
        "device.manufacturer device.srn device.notified_body_no vigilance.period_start vigilance.period_end"
    )
    device = (
        "device.trade_name device.model device.software_version device.basic_udi_di device.emdn_code "
        "device.risk_class device.certificate_no device.market_status intended_use.intended_purpose "
        "intended_use.intended_patient_population intended_use.contraindications"
    )
    changes = {"vigilance": RELIABILITY["vigilance"]}
    return form.file(
        suffix,
        form.section("cover", form.fields("cover", cover, "psur_number psur_version")),
        form.section("summary", "summary"),
        form.section("devices", form.fields("devices", device)),
        form.section("grouping", "grouping"),
        form.section("sales", form.table("sales", "region devices", gap="sales")),
        form.section("population", _exposed(form), _characteristics(form)),
        form.section("serious", "serious", _by_code(form), _events(form, serious=True)),
        form.section("trend", "trend", _indicators(form)),
        form.section("fsca", form.table("fsca", "action date scope status", gap="fsca")),
        form.section("capa", _actions(form)),
        form.section("complaints", _events(form, serious=False)),
        form.section("literature", "literature"),
        form.section("registers", "registers"),
        form.section("similar", "similar"),
        form.section("sources", form.datasets()),
        form.section("follow_up", form.results("results", changes), form.criteria()),
        form.section("validity", *form.limitations()),
        form.section("conclusions", "benefit_risk"),
        form.section("actions", _signals(form)),
    )


def _exposed(form: FormParts) -> SheetTable:
    """Table 2: the cases of each period, as far as the study has them."""
    rows = [
        form.row(mix.name, SheetCell(form.say.numbers.count(mix.n)), form.gap("region"))
        for mix in form.assessment.case_mixes
        if mix.role in IN_USE
    ]
    return form.table("exposed", "period cases region", rows, "exposed")


def _characteristics(form: FormParts) -> SheetTable:
    """Table 3: the characteristics of the cases of each period."""
    rows = []
    for mix in form.assessment.case_mixes:
        if mix.role in IN_USE:
            counts = map(form.say.numbers.count, (mix.positive, mix.negative, mix.without_truth))
            names = ", ".join(one.name for one in mix.characteristics)
            rows.append(tuple(map(SheetCell, (mix.name, *counts, names))))
    heads = "period positive negative without characteristics"
    return form.table("characteristics", heads, rows, "characteristics")


def _chosen(form: FormParts, *, serious: bool) -> list[Incident]:
    """Serious incidents, or everything else that was reported."""
    return [i for i in form.plan.incidents if i.is_serious is serious]


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
    return form.table("by_code", "code n rate", rows, "by_code")


def _events(form: FormParts, *, serious: bool) -> SheetTable:
    fields = "kind event_date description seriousness causality capa_id status".split()
    rows = [
        form.row(i.incident, *(getattr(i, name) for name in fields)) for i in _chosen(form, serious=serious)
    ]
    heads = "incident kind date description seriousness causality capa status"
    return form.table("serious" if serious else "complaints", heads, rows, "no_event")


def _indicators(form: FormParts) -> SheetTable:
    """The indicators of the plan, with the values between which a chart decides."""
    vigilance = form.plan.vigilance
    rows = [
        form.row(one.measure, one.in_control, one.to_detect, one.chart, one.action)
        for one in (vigilance and vigilance.indicators) or ()
    ]
    return form.table("indicators", "indicator in_control to_detect chart action", rows, "trend")


def _actions(form: FormParts) -> SheetTable:
    """Table 8: the actions that incidents name."""
    incidents_of: dict[str, list[Incident]] = {}
    for i in form.plan.incidents:
        if i.capa_id and i.capa_id.casefold() != "none":
            incidents_of.setdefault(i.capa_id, []).append(i)
    rows = []
    for capa, own in incidents_of.items():
        status = form.say.between.join(dict.fromkeys(form.say.declared(i.status) for i in own if i.status))
        names = SheetCell(", ".join(i.incident for i in own))
        rows.append(form.row(capa, names, status, form.gap("cause"), form.gap("effect")))
    return form.table("capa", "reference incidents status cause effect", rows, "capa")


def _signals(form: FormParts) -> SheetTable:
    rows = [
        form.row(one.signal, one.description, one.detected, one.action, one.outcome, one.owner)
        for one in form.plan.signals
    ]
    return form.table("signals", "signal description date action outcome owner", rows, "no_signal")


# ---------------------------------------------------------------- clinical follow-up (PMCF)


def pmcf(assessment: Assessment, suffix: str) -> bytes:
    """The report on clinical follow-up after market entry."""
    form = FormParts(assessment, "pmcf")
    device = (
        "device.trade_name device.model device.software_version intended_use.intended_purpose "
        "intended_use.intended_users device.basic_udi_di intended_use.intended_patient_population "
        "intended_use.medical_condition intended_use.contraindications intended_use.known_risks "
        "device.certificate_no device.emdn_code device.risk_class"
    )
    plan = form.fields("plan", "vigilance.plan_id vigilance.plan_version", "report_number report_version")
    manufacturer = "device.manufacturer device.srn device.authorised_representative"
    return form.file(
        suffix,
        form.section("head", plan),
        form.section("a", form.fields("manufacturer", manufacturer, "address responsible")),
        form.section("b", form.fields("devices", device, "variants lifetime novelty")),
        form.section(
            "c",
            "deviations",
            *form.limitations(),
            form.datasets(),
            form.results("results", PERFORMANCE, RELIABILITY),
            form.results("by_group", FAIRNESS),
            form.criteria(),
        ),
        form.section("d", form.table("similar", "product results references", gap="similar")),
        form.section("e", _impact(form)),
        form.section("f", form.fields("standards", "", "specifications standards guidance")),
        form.section("g", "benefit_risk", "next_plan"),
    )


def _impact(form: FormParts) -> SheetTable:
    """The documents on which the results may bear."""
    kinds = {"cer": ("cer", "clinical evaluation"), "risk": ("risk",)}
    rows = [
        form.row(form.say(f"form.document.{kind}"), form.document(*words), form.gap("impact"))
        for kind, words in kinds.items()
    ]
    return form.table("impact", "document version impact", rows)


# ---------------------------------------------------------------- technical documentation (Annex IV)


def annex_iv(assessment: Assessment, suffix: str) -> bytes:
    """The performance section of the technical documentation."""
    form = FormParts(assessment, "annex_iv")
    system = (
        "device.trade_name device.manufacturer device.software_version intended_use.intended_purpose "
        "intended_use.intended_users"
    )
    limits = (
        "intended_use.intended_patient_population intended_use.input_specification "
        "intended_use.out_of_scope_uses intended_use.known_risks"
    )
    monitoring = "vigilance.plan_id vigilance.plan_version vigilance.observation_period vigilance.recipients"
    oversight = {"reliance": RELIABILITY["reliance"]}
    stability = {name: RELIABILITY[name] for name in ("advice_value", "potential_robustness")}
    results = form.results("results", PERFORMANCE, stability)
    return form.file(
        suffix,
        form.section("1a", form.fields("system", system)),
        form.section("2e", "oversight", form.results("oversight", oversight)),
        form.section("2f", form.fields("changes", "device.predetermined_changes")),
        form.section("2g", form.datasets(), results, form.criteria(), _signed(form)),
        form.section(
            "3",
            "unintended",
            *form.limitations(),
            form.fields("limits", limits),
            form.results("by_group", FAIRNESS),
        ),
        form.section("4", "metrics", _rationale(form)),
        form.section("9", form.fields("monitoring", monitoring)),
        form.section("others", "annex_iv_others"),
    )


def _signed(form: FormParts) -> SheetTable:
    """The test report: its hash and date, and who is named as signing it."""
    results = SheetCell(results_digest(form.assessment, form.say))
    rows = [
        form.row(form.say("form.document.results"), results),
        form.row(form.say("form.document.date"), form.plan.report.date),
    ]
    rows += [
        form.row(", ".join(filter(None, (one.name, one.role))), one.signed_at)
        for one in form.plan.approvals or ()
    ]
    return form.table("signed", "field value", rows)


def _rationale(form: FormParts) -> SheetTable:
    """Why each bound is where it is, as declared."""
    rows = [form.row(one.endpoint, one.measure, one.margin_rationale) for one in form.plan.endpoints]
    return form.table("rationale", "criterion measure rationale", rows, "no_criterion")

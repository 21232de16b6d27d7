"""A made-up assessment: several sets, long and hostile names, results without value or interval."""
# ruff: noqa: E501 -- one row of a table a line

from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

from matplotlib.figure import Figure as MatplotlibFigure

from trustreport.assessment.assess import Assessment
from trustreport.assessment.case_mix import TaskFlow
from trustreport.assessment.finding import (
    CheckOutcome,
    Column,
    EstimateRow,
    EstimateTable,
    Figure,
    Finding,
    Part,
    PlainTable,
    Unanswered,
)
from trustreport.assessment.verdicts import verdicts
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.report.layout import figures
from trustreport.report.layout.figures import Drawn
from trustreport.study.plan import Plan, undeclared
from trustreport.study.study import ArmCounts, CountsSet, Source, Study
from trustreport.vocabulary.messages import Catalogue, Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

HASH = "9f2c41d7" + "0" * 56
HOSTILE = (
    "<script>alert(1)</script>{{7*7}}{% raw %}=cmd|' /C calc'!A0 \"><img src=http://127.0.0.1:9/x onerror=a>"
)
LONG = (
    "A name of one hundred and twenty characters that somebody typed into a manifest "
    "because nothing told them to be brief at all"
)
RTL, CJK = "جهاز تجريبي للأشعة", "医療機器プログラム試験版"
PROVENANCE = {
    "trustreport": "0.1.0",
    "versions": {"python": "3.11.2", "numpy": "2.4.6", "weasyprint": "70.0"},
    "inputs": [
        {"file": "study.yaml", "table": "manifest", "sha256": "ab" * 32, "bytes": 1234, "rows": 0, "used": 0}
    ],
    "seed": 7,
    "iterations": {"bootstrap": 2000},
}
COMPARED = Place(arms=("aided", "unaided"))


def words(text: str) -> Message:
    """A message that says a text."""
    return say("word.name", name=text)


@dataclass(frozen=True)
class Bars:
    """A stand-in for a figure: points with intervals."""

    rows: tuple[tuple[str, float, float, float], ...]

    def draw(self, say: Catalogue) -> MatplotlibFigure:
        figure = MatplotlibFigure(figsize=(170 / 25.4, 2.2))
        axes = figure.add_axes((0.25, 0.2, 0.7, 0.75))
        for i, (name, value, low, high) in enumerate(self.rows):
            axes.plot([low, high], [i, i], color="#0e7c7b", lw=1.4)
            axes.plot([value], [i], "o", color="#0e7c7b", ms=5)
            axes.text(-0.02, i, name[:30], transform=axes.get_yaxis_transform(), ha="right", va="center")
        axes.axvline(1, color="#1b2733", lw=1)
        axes.set_yticks([])
        axes.set_xlabel("odds ratio of an error")
        return figure

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        return [dict(zip(("analysis", "value", "low", "high"), row, strict=True)) for row in self.rows]


def result(
    name: str,
    value: float,
    low: float,
    high: float,
    n: int,
    method: str,
    *,
    place: Place = COMPARED,
    primary: bool = False,
    **more: Any,
) -> Result:
    """An entry of pragmatic utility."""
    estimate = Estimate(value, low, high, n, 0.95, method, **more)
    analysis = "two_sample" if place.arms else ""
    return Result(f"pragmatic_utility.{name}", place, estimate, analysis=analysis, primary=primary)


def comparison(of: Place) -> tuple[EstimateRow, ...]:
    """The table of one set, in the shapes that occur."""
    arms = of.narrowed(arms=COMPARED.arms)
    unaided, aided = of.narrowed(arm="unaided"), of.narrowed(arm="aided")
    infinite = note("interval_difference_holds_zero_number_needed")
    pieces = {"benefit_from": 25.4, "harm_from": 49.9}
    zero = note("count_zero_this_method_has_no")
    found = (
        ("Error rate, unaided", result("error_rate", 0.2371, 0.2166, 0.2589, 1548, "wilson", place=unaided)),
        ("Error rate, aided", result("error_rate", 0.2274, 0.2072, 0.2489, 1548, "wilson", place=aided)),
        (
            "Absolute risk reduction",
            result("arr", 0.00969, -0.0201, 0.0394, 3096, "newcombe", primary=True, place=arms),
        ),
        (
            "Number of decisions needed",
            result(
                "nnd",
                103.2,
                nan,
                nan,
                3096,
                "newcombe",
                place=arms,
                note=infinite,
                details=pieces,
            ),
        ),
        (
            "Odds ratio of an error",
            result("odds_ratio", 0.947, 0.8015, 1.1191, 3096, "woolf", primary=True, place=arms),
        ),
        (
            "Relative risk of an error",
            result("rr", 0.96, nan, nan, 3096, "koopman", note=zero, place=arms),
        ),
        (
            "Odds ratio with an empty arm",
            result("odds_ratio", inf, 2.4, inf, 60, "baptista_pike", place=arms),
        ),
        (
            "Error rate of nobody",
            result(
                "error_rate", nan, nan, nan, 0, "wilson", note=note("no_case"), place=aided.narrowed(site="x")
            ),
        ),
        ("McNemar's test", result("mcnemar", nan, nan, nan, 260, "mcnemar_exact", p=0.0421, place=arms)),
    )
    return tuple(EstimateRow(words(label), r, r.primary) for label, r in found)


def part(name: str, *, titled: bool = True) -> Part:
    """One set with its finding, figure and tables."""
    rows = comparison(Place(set=name))
    drawing = Bars(tuple((r.label.values["name"], 0.947, 0.80, 1.12) for r in rows[:3]))
    figure = Figure(
        f"odds_ratio-{abs(hash(name)) % 97}",
        drawing,
        words("Odds ratio of an error. The heavier line leads."),
        words(f"Odds ratio of {name}: 0.95, interval 0.80 to 1.12"),
    )
    plain = PlainTable(
        "plain",
        words("Counts of the set."),
        (
            Column(words("Arm")),
            Column(words("Errors"), "count"),
            Column(words("Share"), "percent"),
            Column(words("Size"), "size"),
        ),
        (("aided", 352, 0.2274, 0.5), ("unaided", 1367, 0.2371, None), (words("both"), None, 0.5, 12.25)),
    )
    return Part(
        (
            words("With the aid 22.7% of decisions were wrong, without it 23.7%."),
            words(
                "The interval for the odds ratio of an error (0.80 to 1.12) includes 1: benefit and harm are both compatible with the data."
            ),
        ),
        words(name) if titled else None,
        (EstimateTable("leading", words("The analysis that leads for each quantity."), rows), plain),
        (replace(figure, id=figure.id),),
        Place(set=name),
    )


def manifest(text: str = "", **more: Any) -> dict[str, Any]:
    """A manifest; with a text, that text in every field that takes one."""
    one = text or "DermaScan CADx"
    plain = {
        "report": {
            "kind": "certification",
            "title": text or "Reading skin lesions with and without DermaScan",
            "notice": text or "Illustration · not a real device",
            "rule_packs": [text or "ai-act"],
            "supersedes": text or None,
            "confidentiality": text or "for the notified body",
        },
        "device": {
            "trade_name": one,
            "software_version": text or "2.1",
            "manufacturer": text or "Derma AG",
            "udi_di": text or "0123",
        },
        "intended_use": {
            "intended_purpose": text or "supports the reading of skin lesions",
            "intended_users": text or "dermatologists",
            "claimed_benefits": [text or "fewer errors"],
        },
        "operating_point": {"threshold": 0.5, "threshold_origin": text or "fixed by manufacturer"},
        "study": {
            "study_id": text or "DS-2",
            "design": text or "reader study",
            "sponsor": text or "Derma AG",
        },
        "arms": [{"arm": text or "aided", "aided": True}, {"arm": "unaided", "aided": False}],
        "readers": [
            {"reader": text or f"R{i}", "qualification": text or "dermatologist"} for i in range(1, 4)
        ],
        "reference_standard": {
            "definition": text or "histology",
            "type": text or "pathology",
            "applied_to": "all",
        },
        "datasets": [{"dataset": text or "Heidelberg", "role": "external", "source": text or "clinic"}],
        "approvals": [{"name": text or "A. Author", "role": text or "author", "meaning": text or "author"}],
    }
    return {**plain, **more}


def assessment(
    parts: tuple[Part, ...], plan: Plan, names: tuple[str, ...] = (), *, blocks: bool = True
) -> Assessment:
    """An assessment of one dimension, the others unanswered; `blocks` says whether a check blocks verdicts."""
    finding = Finding(
        "pragmatic_utility",
        parts,
        tuple(row.result for p in parts for t in p.tables if isinstance(t, EstimateTable) for row in t.rows),
        (words("Whether fewer errors lead to better outcomes for patients."),),
    )
    checks = tuple(
        CheckOutcome(check, "pragmatic_utility", severity, status, words(text), Place(set=name or None))
        for name in (names or ("",))
        for check, severity, status, text in (
            (
                "P22",
                "B",
                "fired",
                "Clustering not declared: how many readers and cases are behind the counts is not known.",
            ),
            (
                "P24",
                "W",
                "fired",
                f"The interval for the risk reduction includes zero ({name}), so NND runs from 25 (benefit) through infinity to 50 (harm).",
            ),
            ("P19", "W", "clear", "Every reader read every case."),
            ("P26", "W", "cannot run", "There is only one analysis of the difference."),
        )
        if blocks or severity != "B"
    )
    return Assessment(
        Study(
            arms=("aided", "unaided"),
            counts=tuple(
                CountsSet(name, {"aided": ArmCounts(352, 1196), "unaided": ArmCounts(367, 1181)}, 13, 120)
                for name in names or ("one",)
            ),
            sources=(Source("readings.csv", "readings", "ab" * 32, 12345, 3120, 3096, {"no decision": 24}),),
        ),
        plan,
        (finding,) if parts else (),
        checks,
        tuple(
            Unanswered(name, say(f"{name}.lacking"))
            for name in ("source_reliability", "reliance", "vigilance")
        ),
        (
            TaskFlow(
                "readings", 13, 120, 54, 66, 0, {"aided": 1548, "unaided": 1548}, {"aided": 12, "unaided": 12}
            ),
        ),
        (),
        tuple(undeclared(plan, plan.report.kind)),
        verdicts(Study(), plan, finding.results, checks, lambda dimension, level: finding.results),
    )


_drawn: dict[int, tuple[Assessment, dict[str, Drawn]]] = {}


def about(one: Assessment) -> dict[str, Any]:
    """What a renderer is given beside the assessment; its figures are drawn once."""
    if id(one) not in _drawn:
        _drawn[id(one)] = (one, figures.draw_all(one))
    return {"results_hash": HASH, "provenance": PROVENANCE, "drawn": _drawn[id(one)][1]}

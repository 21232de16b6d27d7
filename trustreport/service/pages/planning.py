"""The sizing of a reader study, asked by a form, answered on the page or as a file; nothing is stored."""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from sqlalchemy import select

from trustreport.errors import StudyError
from trustreport.messages import catalogue
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.editor.run import carried_out, lay_out
from trustreport.service.pages.page_context import Reader, see
from trustreport.service.pages.render import page
from trustreport.service.storage.models import StoredStudy, Version, VersionFile
from trustreport.service.web.faults import Fault, Field
from trustreport.service.web.guard import TheCore

if TYPE_CHECKING:
    from trustreport.sizing import StudySizes

router = APIRouter()
MOST_STUDIES = 50  # stored studies that are offered as a pilot
MOST_SIMULATED = 12_000  # readings of the sizes that are simulated while somebody waits
MOST = 10  # numbers of readers, and of cases: what is answered at once
LONGEST = 60  # characters of a field
LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT = 58, 590, 20, 184, 720, 210
LABEL = 14  # the height of a line of words

CHOICES = {
    "endpoint": (
        ("sensitivity", "Sensitivity"),
        ("specificity", "Specificity"),
        ("accuracy", "Accuracy"),
        ("auc", "AUC"),
    ),
    "design": (
        ("crossed", "Fully crossed"),
        ("split_plot", "Split plot: groups of readers"),
        ("sequential", "Sequential: without, then with"),
        ("sites", "Readers at several sites"),
        ("device", "Device alone against readers"),
    ),
    "hypothesis": (
        ("superiority", "Difference (superiority)"),
        ("non_inferiority", "Non-inferiority"),
        ("equivalence", "Equivalence"),
    ),
    "goal": (("power", "Power"), ("width", "Interval width")),
    "structure": (
        ("HL", "HL: cases alike for readers, readers alike"),
        ("HH", "HH: cases alike for readers, readers differ"),
        ("LL", "LL: cases less alike, readers alike"),
        ("LH", "LH: cases less alike, readers differ"),
    ),
    "simulate": (("100", "100 studies"), ("200", "200 studies")),
}
# Fields of the form: name, label, and what helps to fill them in.
BASIC = (
    ("effect", "True difference", "With the device minus without, such as 0.05"),
    ("margin", "Margin", "Of non-inferiority or equivalence, such as 0.05"),
    ("expected", "Without the device", "The endpoint of the readers, such as 0.8"),
    ("target", "Goal", "A power such as 0.8, or an interval width such as 0.1"),
    ("readers", "Readers", f"Up to {MOST} numbers, such as 5, 8, 12"),
    ("cases", "Cases", "Of the endpoint's class; for accuracy and AUC all"),
)
OF_DESIGN = (
    ("groups", "Groups of readers", "Split plot"),
    ("carry_over", "Carry-over", "Sequential, from 0 to 1"),
    ("sites", "Sites", "Readers at several sites"),
    ("site_share", "Common to a site", "Of what readers differ by, from 0 to 1"),
    ("device_correlation", "Correlation with the device", "Device alone, from 0 to 1"),
    ("cases_per_patient", "Cases per patient", "Such as lesions"),
    ("patient_correlation", "Correlation within a patient", "From 0 to 1"),
    ("positive_share", "Prevalence", "Of the cases, for the AUC"),
)
PUBLISHED = (
    ("published.difference", "Difference", ""),
    ("published.low", "Lower limit", ""),
    ("published.high", "Upper limit", ""),
    ("published.readers", "Readers", ""),
    ("published.cases", "Cases", "Of the endpoint's class"),
)
COMPONENTS = (
    ("components.arm_reader", "Arm by reader", "Variance of what a reader gains by the device"),
    ("components.reader", "Readers", "Variance between readers"),
    ("components.error", "One estimate", "Variance of one reader's estimate, by cases"),
    ("components.cov1", "Same reader, other arm", "Covariance of two estimates"),
    ("components.cov2", "Other reader, same arm", "Covariance of two estimates"),
    ("components.cov3", "Other reader, other arm", "Covariance of two estimates"),
    ("components.cases", "Cases of that study", "Of the endpoint's class; for accuracy and AUC all"),
    ("components.positives", "Positive cases of that study", "For the AUC"),
)
NAMES = (*CHOICES, *(name for part in (BASIC, OF_DESIGN, PUBLISHED, COMPONENTS) for name, _, _ in part))


LABELS = {
    **{name: label for part in (BASIC, OF_DESIGN, PUBLISHED, COMPONENTS) for name, label, _ in part},
    "endpoint": "Endpoint",
    "design": "Design",
    "hypothesis": "Hypothesis",
    "goal": "Goal by",
    "components": "Components",
    "published": "A published study",
    "components.structure": "Structure",
}


@dataclass(frozen=True, slots=True)
class SizeLine:
    """A number of readers in the drawing: its points, and where its words stand."""

    points: str
    word: str
    y: float


@router.get("/planning")
def planning(request: Request, who: Reader, core: TheCore) -> Response:
    """The form, and below it the sizes for what it holds."""
    given = _given(request)
    try:
        if pilot := request.query_params.get("pilot", "").strip()[:LONGEST]:
            return see(f"/planning?{urlencode(_from_pilot(core, who, pilot, given))}")
        return _show(request, core, who, given, _sized(given) if given else None)
    except Fault as fault:
        return _show(request, core, who, given, None, fault)


@router.get("/planning/protocol.{form}")
def protocol_file(form: str, request: Request, who: Reader, core: TheCore) -> Response:
    """The section of the protocol as a file: Markdown or PDF."""
    if form not in ("md", "pdf"):
        raise Fault(404, "Not found", "There is no such file.")
    given = _given(request)
    try:
        sizes = _sized(given)
        if form == "pdf":
            made, kind = _pdf(core, sizes), "application/pdf"
        else:
            from trustreport.sizing import protocol

            made, kind = protocol.to_markdown(sizes).encode(), "text/markdown; charset=utf-8"
    except Fault as fault:
        return _show(request, core, who, given, None, fault)
    attached = {"Content-Disposition": f'attachment; filename="protocol.{form}"'}
    return Response(made, media_type=kind, headers=attached)


def _given(request: Request) -> dict[str, str]:
    return {name: value for name in NAMES if (value := request.query_params.get(name, "").strip()[:LONGEST])}


def _pdf(core: Core, sizes: "StudySizes") -> bytes:
    """Drawn in a limited process, which takes what drawing needs with it."""
    outcome = carried_out(core, _task("section", core, request=_file(sizes)), lambda work: None)
    failed = outcome.reason or outcome.answer.get("failed", "")
    if failed or "pdf" not in outcome.answer:
        raise Fault(503, "No PDF", f"The PDF could not be drawn. {failed} Take the Markdown.")
    return b64decode(outcome.answer["pdf"])


def _task(name: str, core: Core, **values: Any) -> dict[str, Any]:
    return {"task": name, "closed": [str(core.settings.data)], **values}


def _from_pilot(core: Core, who: Principal, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form with the components that a stored reader study gives."""
    with core.store.read() as rows:
        version = who.one(rows, Version, name)
        files = rows.scalars(select(VersionFile).where(VersionFile.version == version.id)).all()
    if version.state != "valid":
        raise Fault(422, "No pilot study", "This version was not read without problems.")
    asked = {"endpoint": given.get("endpoint", "auc"), "design": given.get("design", "crossed")}

    def fill(work: Path) -> None:
        lay_out(core, version, [f for f in files if not f.archive], work / "study")

    outcome = carried_out(core, _task("pilot", core, asked=asked), fill)
    failed = outcome.reason or outcome.answer.get("failed", "")
    problems = outcome.answer.get("problems", [])
    if failed or problems:
        why = " ".join(p["found"] for p in problems) or failed
        raise Fault(422, "No pilot study", f"No components could be estimated: {why}.")
    kept = {
        n: v for n, v in given.items() if n != "structure" and not n.startswith(("published.", "components."))
    }
    found = {f"components.{n}": f"{x:.8g}" for n, x in outcome.answer["components"].items()}
    return {"expected": f"{outcome.answer['expected']:.8g}", **kept, **found}


def _pilots(core: Core, who: Principal) -> list[tuple[str, str]]:
    """Versions that could be a pilot, the newest first, and what they are called."""
    with core.store.read() as rows:
        found = rows.execute(
            select(Version.id, StoredStudy.name, Version.number)
            .join(StoredStudy, StoredStudy.id == Version.study)
            .where(Version.organisation == who.organisation, Version.state == "valid")
            .order_by(Version.created_at.desc())
            .limit(MOST_STUDIES)
        ).all()
    return [(id, f"{name}, version {number}") for id, name, number in found]


def _sized(given: Mapping[str, str]) -> "StudySizes":
    from trustreport.sizing import read_request, size_study  # statistics, once they are asked for

    try:
        request = read_request(None, _options(given))
        if request.simulate:
            _can_be_simulated(size_study(request.model_copy(update={"simulate": 0})))
        return size_study(request)
    except StudyError as error:
        fields = [
            Field(
                _in_words(p.column),
                ", ".join(x for x in (p.found, p.expected and f"expected {p.expected}") if x) + f". {p.mend}",
            )
            for p in error.problems
        ]
        raise Fault(422, "Not as expected", "Please look at what is named here.", fields) from None


def _can_be_simulated(sizes: "StudySizes") -> None:
    readings = sum(one.n_readings for one in sizes.reaching)
    if readings > MOST_SIMULATED:
        detail = (
            f"The sizes have {readings:,} readings together; up to {MOST_SIMULATED:,} are simulated here."
        )
        fields = [
            Field("Simulation", "is too large: fewer numbers of readers, or trustreport plan --simulate")
        ]
        raise Fault(422, "Too large to simulate", detail, fields)


def _in_words(column: str) -> str:
    """A field of the request as the form calls it."""
    name, _, place = column.rstrip("]").partition("[")
    group = {"published": "Published study: ", "components": "Components: "}.get(name.partition(".")[0], "")
    label = group + LABELS.get(name, name) if "." in name else LABELS.get(name, name)
    return f"{label}, number {int(place) + 1}" if place.isdigit() else label


def _options(given: Mapping[str, str]) -> dict[str, Any]:
    """The fields of the request; a structure or components say which model."""
    options: dict[str, Any] = {name: value for name, value in given.items() if name != "structure"}
    for name in ("readers", "cases"):
        if name in options:
            options[name] = [one.strip() for one in options[name].split(",")]
            if len(options[name]) > MOST:
                raise Fault(
                    422, "Too many numbers", f"Up to {MOST} are sized at once.", [Field(name, "is too long")]
                )
    if "structure" in given:
        options |= {"components.model": "roe_metz", "components.structure": given["structure"]}
    elif any(name.startswith("components.") for name in given):
        options["components.model"] = "obuchowski_rockette"
    return options


def _show(
    request: Request,
    core: Core,
    who: Principal,
    given: Mapping[str, str],
    sizes: "StudySizes | None",
    fault: Fault | None = None,
) -> Response:
    shown: dict[str, Any] = {}
    if sizes is not None:
        from trustreport.sizing import protocol

        words = catalogue("en")
        lines, across, up = _drawing(sizes)
        shown = {
            "parts": protocol.protocol_parts(sizes, words),
            "markdown": protocol.to_markdown(sizes, words),
            "file": json.dumps(_file(sizes), indent=1),
            "lines": lines,
            "across": across,
            "up": up,
            "goal_y": _y(sizes.request.wished, up[-1][1]),
            "caption": words(protocol.figure_of(sizes).caption),
        }
    return page(
        request,
        "planning",
        fault=fault,
        typed=given,
        choices=CHOICES,
        basic=BASIC,
        of_design=OF_DESIGN,
        published=PUBLISHED,
        components=COMPONENTS,
        pilots=_pilots(core, who),
        asked=urlencode(given),
        sizes=sizes,
        **shown,
    )


def _file(sizes: "StudySizes") -> dict[str, Any]:
    """The request as a file that `trustreport plan` takes."""
    return sizes.request.model_dump(mode="json", exclude_none=True)


def _drawing(
    sizes: "StudySizes",
) -> tuple[list[SizeLine], list[tuple[float, int]], list[tuple[float, float]]]:
    """The lines of the figure, and the ticks of both axes."""
    from trustreport.sizing import protocol

    chart: Any = protocol.figure_of(sizes).drawing
    words, (first, last), top = catalogue("en"), chart.x_range, chart.y_range[1]

    def x(n: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (n - first) / max(last - first, 1), 1)

    drawn = [line for line in chart.panels[0].lines if line.points]
    lines: list[SizeLine] = []
    for line in sorted(drawn, key=lambda line: -line.points[-1].y):
        points = " ".join(f"{x(p.x)},{_y(p.y, top)}" for p in line.points)
        at = _y(line.points[-1].y, top) + 4
        lines.append(SizeLine(points, words(line.label), max(at, lines[-1].y + LABEL) if lines else at))
    across = [(x(n), round(n)) for n in (first + (last - first) * i / 4 for i in range(5))]
    up = [(_y(top * i / 4, top), top * i / 4) for i in range(5)]
    return lines, across, up


def _y(value: float, top: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * min(value / top, 1.0), 1)

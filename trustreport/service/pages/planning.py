"""The sizing of a reader study, asked by a form and answered on the same page; nothing is stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from trustreport.errors import StudyError
from trustreport.messages import catalogue
from trustreport.service.pages.page_context import Reader
from trustreport.service.pages.render import page
from trustreport.service.web.faults import Fault, Field

if TYPE_CHECKING:
    from trustreport.sizing import StudySizes

router = APIRouter()
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
COMPONENTS = tuple(
    (f"components.{name}", name, "")
    for name in ("arm_reader", "reader", "error", "cov1", "cov2", "cov3", "cases")
)
NAMES = (*CHOICES, *(name for part in (BASIC, OF_DESIGN, PUBLISHED, COMPONENTS) for name, _, _ in part))


@dataclass(frozen=True, slots=True)
class SizeLine:
    """A number of readers in the drawing: its points, and where its words stand."""

    points: str
    word: str
    y: float


@router.get("/planning")
def planning(request: Request, who: Reader) -> Response:
    """The form, and below it the sizes for what it holds."""
    given = {name: value for name in NAMES if (value := request.query_params.get(name, "").strip()[:LONGEST])}
    try:
        sizes = _sized(given) if given else None
        return _show(request, given, sizes)
    except Fault as fault:
        return _show(request, given, None, fault)


def _sized(given: Mapping[str, str]) -> "StudySizes":
    from trustreport.sizing import read_request, size_study  # statistics, once they are asked for

    try:
        return size_study(read_request(None, _options(given)))
    except StudyError as error:
        fields = [
            Field(
                p.column,
                ", ".join(x for x in (p.found, p.expected and f"expected {p.expected}") if x) + f". {p.mend}",
            )
            for p in error.problems
        ]
        raise Fault(422, "Not as expected", "Please look at what is named here.", fields) from None


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
    request: Request, given: Mapping[str, str], sizes: "StudySizes | None", fault: Fault | None = None
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

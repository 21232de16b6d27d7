"""The sizing of a reader study, asked by a form and answered on the same page; nothing is stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from trustreport.errors import StudyError
from trustreport.messages import Catalogue, say
from trustreport.service.pages.page_context import Reader
from trustreport.service.pages.render import page, words_of
from trustreport.service.pages.words import PageWords
from trustreport.service.web.faults import Fault, Field

if TYPE_CHECKING:
    from trustreport.errors import Problem
    from trustreport.sizing import StudySizes

router = APIRouter()
MOST = 10  # numbers of readers, and of cases: what is answered at once
LONGEST = 60  # characters of a field
LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT = 58, 590, 20, 184, 720, 210
LABEL = 14  # the height of a line of words

CHOICES = {
    "endpoint": ("sensitivity", "specificity", "accuracy", "auc"),
    "design": ("crossed", "split_plot", "sequential", "sites", "device"),
    "hypothesis": ("superiority", "non_inferiority", "equivalence"),
    "goal": ("power", "width"),
    "structure": ("HL", "HH", "LL", "LH"),
}
# Fields of the form.
BASIC = ("effect", "margin", "expected", "target", "readers", "cases")
OF_DESIGN = (
    "groups",
    "carry_over",
    "sites",
    "site_share",
    "device_correlation",
    "cases_per_patient",
    "patient_correlation",
    "positive_share",
)
PUBLISHED = tuple(f"published.{name}" for name in ("difference", "low", "high", "readers", "cases"))
COMPONENTS = tuple(
    f"components.{name}" for name in ("arm_reader", "reader", "error", "cov1", "cov2", "cov3", "cases")
)
NAMES = (*CHOICES, *BASIC, *OF_DESIGN, *PUBLISHED, *COMPONENTS)


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
        sizes = _sized(given, words_of(request)) if given else None
        return _show(request, given, sizes)
    except Fault as fault:
        return _show(request, given, None, fault)


def _sized(given: Mapping[str, str], say: PageWords) -> "StudySizes":
    from trustreport.sizing import read_request, size_study  # statistics, once they are asked for

    try:
        return size_study(read_request(None, _options(given)))
    except StudyError as error:
        fields = [Field(p.column, _sentence(p, say)) for p in error.problems]
        raise Fault(
            422,
            say("pages.fault.not_as_expected.title"),
            say("pages.fault.not_as_expected.please_look_at_what"),
            fields,
        ) from None


def _sentence(problem: "Problem", say: PageWords) -> str:
    """What is wrong with a field, and how to mend it."""
    form = "other" if not problem.expected else "expected" if problem.found else "only_expected"
    said = {"found": problem.found, "expected": problem.expected, "fix": problem.mend}
    return say(f"pages.planning.found.{form}", **said)


def _options(given: Mapping[str, str]) -> dict[str, Any]:
    """The fields of the request; a structure or components say which model."""
    options: dict[str, Any] = {name: value for name, value in given.items() if name != "structure"}
    for name in ("readers", "cases"):
        if name in options:
            options[name] = [one.strip() for one in options[name].split(",")]
            if len(options[name]) > MOST:
                raise Fault(
                    422,
                    say("pages.fault.too_many_numbers.title"),
                    say("pages.fault.too_many_numbers.detail", most=MOST),
                    [Field(name, say("pages.fault.field.too_long"))],
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

        words = words_of(request).words
        lines, across, up = _drawing(sizes, words)
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
        most=MOST,
        sizes=sizes,
        **shown,
    )


def _file(sizes: "StudySizes") -> dict[str, Any]:
    """The request as a file that `trustreport plan` takes."""
    return sizes.request.model_dump(mode="json", exclude_none=True)


def _drawing(
    sizes: "StudySizes", words: Catalogue
) -> tuple[list[SizeLine], list[tuple[float, int]], list[tuple[float, float]]]:
    """The lines of the figure, and the ticks of both axes."""
    from trustreport.sizing import protocol

    chart: Any = protocol.figure_of(sizes).drawing
    (first, last), top = chart.x_range, chart.y_range[1]

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

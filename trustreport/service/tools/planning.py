"""The sizing of a reader study, asked by a form and answered on the page or as a file; nothing is stored."""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from sqlalchemy import select

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.editor.run import carried_out, lay_out
from trustreport.service.pages.page_context import Reader, see
from trustreport.service.pages.render import PageWords, page, words_of
from trustreport.service.storage.models import StoredStudy, Version, VersionFile
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import Catalogue, say

if TYPE_CHECKING:
    from trustreport.service.engine import StudySizes
    from trustreport.vocabulary.errors import Problem

router = APIRouter()
MOST_STUDIES = 50  # stored studies that are offered as a pilot
MOST_SIMULATED = 12_000  # readings of the sizes that are simulated while somebody waits
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
    "simulate": ("100", "200"),
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
    f"components.{name}"
    for name in ("arm_reader", "reader", "error", "cov1", "cov2", "cov3", "cases", "positives")
)
NAMES = (*CHOICES, *BASIC, *OF_DESIGN, *PUBLISHED, *COMPONENTS)


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
        return _show(request, core, who, given, _sized(given, words_of(request)) if given else None)
    except Fault as fault:
        return _show(request, core, who, given, None, fault)


@router.get("/planning/protocol.{form}")
def protocol_file(form: str, request: Request, who: Reader, core: TheCore) -> Response:
    """The section of the protocol as a file: Markdown or PDF."""
    if form not in ("md", "pdf"):
        raise Fault(404, say("pages.fault.no_such_form.detail"))
    given = _given(request)
    try:
        sizes = _sized(given, words_of(request))
        if form == "pdf":
            made, kind = _pdf(core, sizes), "application/pdf"
        else:
            from trustreport.service.engine import protocol

            made = protocol.to_markdown(sizes, words_of(request).words).encode()
            kind = "text/markdown; charset=utf-8"
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
        raise Fault(503, say("pages.fault.no_pdf.detail", failed=failed))
    return b64decode(outcome.answer["pdf"])


def _task(name: str, core: Core, **values: Any) -> dict[str, Any]:
    return {"task": name, "closed": [str(core.settings.data)], **values}


def _from_pilot(core: Core, who: Principal, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form with the components that a stored reader study gives."""
    with core.store.read() as rows:
        version = who.row_of(rows, Version, name)
        files = rows.scalars(select(VersionFile).where(VersionFile.version == version.id)).all()
    if version.state != "valid":
        raise Fault(422, say("pages.fault.no_pilot.not_valid"))
    asked = {"endpoint": given.get("endpoint", "auc"), "design": given.get("design", "crossed")}

    def fill(work: Path) -> None:
        lay_out(core, version, [f for f in files if not f.archive], work / "study")

    outcome = carried_out(core, _task("pilot", core, asked=asked), fill)
    failed = outcome.reason or outcome.answer.get("failed", "")
    problems = outcome.answer.get("problems", [])
    if failed or problems:
        why = " ".join(p["found"] for p in problems) or failed
        raise Fault(422, say("pages.fault.no_pilot.detail", why=why))
    others = ("structure", "published.", "components.")
    kept = {name: value for name, value in given.items() if not name.startswith(others)}
    found = {f"components.{name}": f"{x:.8g}" for name, x in outcome.answer["components"].items()}
    return {"expected": f"{outcome.answer['expected']:.8g}", **kept, **found}


def _pilots(core: Core, who: Principal) -> list[tuple[str, str, int]]:
    """Versions that could be a pilot, the newest first: id, name of the study, number."""
    with core.store.read() as rows:
        found = rows.execute(
            select(Version.id, StoredStudy.name, Version.number)
            .join(StoredStudy, StoredStudy.id == Version.study)
            .where(Version.organisation == who.organisation, Version.state == "valid")
            .order_by(Version.created_at.desc())
            .limit(MOST_STUDIES)
        ).all()
    return [(id, name, number) for id, name, number in found]


def _sized(given: Mapping[str, str], say: PageWords) -> "StudySizes":
    from trustreport.api import plan_reader_study

    try:
        options = _options(given)
        if "simulate" in options:
            _can_be_simulated(plan_reader_study(**options | {"simulate": 0}))
        return plan_reader_study(**options)
    except StudyError as error:
        fields = [Field(_in_words(p.column, say), _sentence(p, say)) for p in error.problems]
        raise Fault(422, say("pages.fault.not_as_expected.please_look_at_what"), fields) from None


def _can_be_simulated(sizes: "StudySizes") -> None:
    readings = sum(one.n_readings for one in sizes.reaching)
    if readings > MOST_SIMULATED:
        detail = say("pages.fault.too_large_to_simulate.detail", n=readings, most=MOST_SIMULATED)
        raise Fault(422, detail)


def _in_words(column: str, say: PageWords) -> str:
    """A field of the request as the form calls it."""
    name, _, place = column.rstrip("]").partition("[")
    group, _, own = name.rpartition(".")
    keys = [f"pages.planning.field.{name.replace('.', '_')}", f"pages.planning.{own}"]
    label = next((say(key) for key in keys if key in say), name)
    if group in ("published", "components"):
        label = say("pages.planning.of_group", group=say(f"pages.planning.{group}"), field=label)
    if place.isdigit():
        label = say("pages.planning.numbered", field=label, number=int(place) + 1)
    return label


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
                    say("pages.fault.too_many_numbers.detail", most=MOST),
                    [Field(name, say("pages.fault.field.too_long"))],
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
        from trustreport.service.engine import protocol

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
        pilots=_pilots(core, who),
        asked=urlencode(given),
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
    from trustreport.service.engine import protocol

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

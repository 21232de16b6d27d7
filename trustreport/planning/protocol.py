"""The section of a protocol on sample size: sentences and tables, then Markdown, PDF and plain data."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from trustreport.assessment.finding import Figure
from trustreport.assessment.narrative.texts import endpoint_name
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.planning.origins import TEXT
from trustreport.planning.request import SizingRequest
from trustreport.planning.simulation import Simulated
from trustreport.planning.study_sizes import (
    SizeCell,
    SmallestSize,
    StudySizes,
    cell_of,
    estimate_of,
    step_of,
)
from trustreport.report.document import canonical, digest
from trustreport.vocabulary.messages import Catalogue, Message, catalogue, say
from trustreport.vocabulary.version import __version__

MOST_LINES, POINTS = 6, 48
LIMITATIONS = ("components", "approximate", "dropout")


@dataclass(frozen=True, slots=True)
class SizeTable:
    """A table: its caption, heads, and rows of texts, the first of which heads the row."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ProtocolPart:
    """A heading with its sentences, a list, and tables."""

    heading: str
    sentences: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    tables: tuple[SizeTable, ...] = ()


def protocol_parts(sizes: StudySizes, words: Catalogue | None = None) -> list[ProtocolPart]:
    """The section's parts in order."""
    words = words or catalogue("en")
    request = sizes.request

    def heading(name: str) -> str:
        return words(f"{TEXT}.heading.{name}")

    design, level = request.design, 1 - request.alpha
    # Those of the design stand under its own heading.
    of_design = [m for m in sizes.assumptions if m.key == f"{TEXT}.design.{design}"]
    others = [m for m in sizes.assumptions if m not in of_design]
    return [
        ProtocolPart(heading("objective"), tuple(words(m) for m in _objective(request))),
        ProtocolPart(heading("design"), tuple(words(m) for m in of_design)),
        ProtocolPart(
            heading("size"),
            tuple(words(m) for m in size_sentences(sizes)),
            tables=tuple(tables(sizes, words)),
        ),
        ProtocolPart(heading("analysis"), (words(f"{TEXT}.analysis.{design}", level=level),)),
        ProtocolPart(heading("assumptions"), items=tuple(words(m) for m in others)),
        ProtocolPart(
            heading("limitations"), items=tuple(words(f"{TEXT}.limitation.{name}") for name in LIMITATIONS)
        ),
    ]


def _objective(request: SizingRequest) -> Iterator[Message]:
    device = request.design == "device"
    values: dict[str, Any] = {
        "endpoint": endpoint_name(request.endpoint),
        "contrast": say(f"{TEXT}.contrast.{'device' if device else 'arms'}"),
        "effect": request.true_difference,
        "alpha": request.alpha,
        "half": request.alpha / 2,
        "margin": request.margin or 0.0,
    }
    if request.goal == "power" or request.effect is not None or request.margin is not None:
        yield say(f"{TEXT}.objective.{request.hypothesis}", **values)
    yield say(f"{TEXT}.goal.{request.goal}", target=request.wished, level=1 - request.alpha)


def size_sentences(sizes: StudySizes) -> Iterator[Message]:
    """The size with the fewest readings, and what simulated studies of it showed."""
    request = sizes.request
    if not sizes.reaching:
        yield say(f"{TEXT}.size.none")
        return
    one = min(sizes.reaching, key=lambda size: size.n_readings)
    cell = one.cell
    assert cell is not None
    values: dict[str, Any] = {"n": cell.n_readers, "cases": cell.n_cases, "kind": kind_of(request)}
    yield say(f"{TEXT}.size.{request.goal}", power=cell.power, width=cell.width, **values)
    simulated = one.simulated
    if simulated is None:
        return
    values = {"studies": request.simulate, "seed": str(simulated.seed)}
    if request.goal == "power" and simulated.power is not None:
        e = simulated.power
        yield say(f"{TEXT}.size.simulated", power=e.value, low=e.low, high=e.high, **values)
    elif request.goal == "width" and simulated.width is not None:
        e = simulated.width
        yield say(f"{TEXT}.size.simulated_width", width=e.value, low=e.low, high=e.high, **values)


def kind_of(request: SizingRequest) -> Message:
    """What the cases of the endpoint are called."""
    return say(f"{TEXT}.kind.{request.endpoint}")


def tables(sizes: StudySizes, words: Catalogue) -> Iterator[SizeTable]:
    """The sizes, the grid, and for a published study the sizes under other shares."""
    request, kind = sizes.request, kind_of(sizes.request)
    yield _smallest(sizes, words)
    heads = (words(f"{TEXT}.column.readers"), *(words.numbers.count(c.n_cases) for c in sizes.grid[0]))
    yield SizeTable(
        words(f"{TEXT}.table.grid_{request.goal}", kind=kind, level=1 - request.alpha),
        heads,
        tuple(
            (str(row[0].n_readers), *(_in_grid(cell, request.goal, words) for cell in row))
            for row in sizes.grid
        ),
    )
    if sizes.otherwise:
        columns = (words(f"{TEXT}.column.by_{name}") for name, _ in sizes.otherwise)
        by_readers = zip(*(found for _, found in sizes.otherwise))
        yield SizeTable(
            words(f"{TEXT}.table.other", kind=kind),
            (words(f"{TEXT}.column.readers"), *columns),
            tuple((str(row[0].n_readers), *(_cases(one, words) for one in row)) for row in by_readers),
        )


def _smallest(sizes: StudySizes, words: Catalogue) -> SizeTable:
    request, kind = sizes.request, kind_of(sizes.request)
    heads = ["readers", "power", "width", "readings"]
    columns = [words(f"{TEXT}.column.{name}") for name in heads]
    columns.insert(1, words(kind).capitalize())
    if request.simulate:
        columns.append(words(f"{TEXT}.column.simulated"))
    rows = []
    for one in sizes.smallest:
        cell = one.cell
        row = [str(one.n_readers), _cases(one, words)]
        if cell is None:
            row += [words(f"{TEXT}.text_none")] * (len(columns) - 2)
        else:
            row += [
                _percent(cell.power, words),
                words.numbers.fixed(cell.width, 3),
                words.numbers.count(one.n_readings),
            ]
            if request.simulate:
                row.append(_simulated(request, one.simulated, words))
        rows.append(tuple(row))
    name = "simulated" if request.simulate else "smallest"
    values = {"studies": request.simulate, "seed": str(request.seed)} if request.simulate else {}
    return SizeTable(words(f"{TEXT}.table.{name}", kind=kind, **values), tuple(columns), tuple(rows))


def _cases(one: SmallestSize, words: Catalogue) -> str:
    if one.cell is not None:
        return words.numbers.count(one.cell.n_cases)
    return words(one.reason) if one.reason else words(f"{TEXT}.text_none")


def _simulated(request: SizingRequest, found: Simulated | None, words: Catalogue) -> str:
    if found is None:
        return words(f"{TEXT}.text_none")
    if found.reason is not None:
        return words(found.reason)
    e = found.power if request.goal == "power" else found.width
    if e is None:
        return words(f"{TEXT}.text_none")
    if request.goal == "power":
        return words(
            f"{TEXT}.estimate",
            value=_percent(e.value, words),
            low=_percent(e.low, words),
            high=_percent(e.high, words),
        )
    three = [words.numbers.fixed(x, 3) for x in (e.value, e.low, e.high)]
    return words(f"{TEXT}.estimate", value=three[0], low=three[1], high=three[2])


def _in_grid(cell: SizeCell, goal: str, words: Catalogue) -> str:
    if cell.reason is not None:
        return words(f"{TEXT}.text_none")
    both = [_percent(cell.power, words), words.numbers.fixed(cell.width, 3)]
    if isnan(cell.power):
        return both[1]
    return " / ".join(both if goal == "power" else reversed(both))


def _percent(share: float, words: Catalogue) -> str:
    return words(f"{TEXT}.text_none") if isnan(share) else words.numbers.percent(share, 1)


def figure_of(sizes: StudySizes) -> Figure:
    """A line for each of up to six numbers of readers, over the cases of the grid."""
    request, kind = sizes.request, kind_of(sizes.request)
    goal, step = request.goal, step_of(request)
    cases = [cell.n_cases for cell in sizes.grid[0]]
    least, most = (cases[0], cases[-1]) if len(cases) > 1 else (max(cases[0] // 2, 2), cases[0] * 2)
    places = sorted(
        {max(round((least + (most - least) * i / POINTS) / step), 1) * step for i in range(POINTS + 1)}
    )
    rows = [row[0].n_readers for row in sizes.grid if any(cell.reason is None for cell in row)]
    chosen = (
        sorted({rows[round(i * (len(rows) - 1) / (MOST_LINES - 1))] for i in range(MOST_LINES)})
        if rows
        else []
    )
    lines = []
    for readers in chosen:
        cells = [cell_of(request, sizes.origin, readers, n) for n in places]
        points = [LinePoint(c.n_cases, c.power if goal == "power" else c.width) for c in cells]
        known = tuple(p for p in points if not isnan(p.y))
        lines.append(LineOver(say(f"{TEXT}.figure.readers", n=readers), known))
    top = (
        1.0
        if goal == "power"
        else max([p.y for line in lines for p in line.points] + [request.wished]) * 1.05
    )
    chart = LinesChart(
        (LinesPanel("", tuple(lines)),),
        say("word.heading", text=kind),
        say(f"{TEXT}.figure.{goal}"),
        (float(places[0]), float(places[-1])),
        (0.0, top),
        asked=request.wished,
        asked_label=say(f"{TEXT}.figure.goal"),
    )
    return Figure(
        "sizing", chart, say(f"{TEXT}.figure.caption", kind=kind), say(f"{TEXT}.figure.alt", kind=kind)
    )


def as_data(sizes: StudySizes) -> dict[str, Any]:
    """Everything as plain data, for JSON: numbers that are undefined are null, with their reason."""
    words = catalogue("en")

    def reason(message: Message | None) -> str:
        return words(message) if message is not None else ""

    def cell(one: SizeCell) -> dict[str, Any]:
        return {
            "readers": one.n_readers,
            "cases": one.n_cases,
            "power": one.power,
            "width": one.width,
            "se": one.se,
            "df": one.df,
            "note": reason(one.reason),
        }

    def smallest(one: SmallestSize) -> dict[str, Any]:
        found: dict[str, Any] = {"readers": one.n_readers, "note": reason(one.reason)}
        found["size"] = None if one.cell is None else cell(one.cell)
        if one.simulated is not None:
            s = one.simulated
            found["simulated"] = {
                "power": estimate_of(s.power),
                "width": estimate_of(s.width),
                "studies": sizes.request.simulate,
                "undefined": s.undefined,
                "seed": s.seed,
                "note": reason(s.reason),
            }
        return found

    return {
        "trustreport": __version__,
        "request": sizes.request.model_dump(mode="json", exclude_none=True),
        "origin": sizes.origin.kind,
        "expected": sizes.origin.mean,
        "assumptions": [words(m) for m in sizes.assumptions],
        "grid": [cell(one) for row in sizes.grid for one in row],
        "smallest": [smallest(one) for one in sizes.smallest],
        "other_shares": {name: [smallest(one) for one in found] for name, found in sizes.otherwise},
    }


def to_json(sizes: StudySizes) -> bytes:
    """`as_data` as canonical JSON."""
    return canonical(as_data(sizes))


def to_markdown(sizes: StudySizes, words: Catalogue | None = None) -> str:
    words = words or catalogue("en")
    lines = [f"# {words(f'{TEXT}.title')}", ""]
    for part in protocol_parts(sizes, words):
        lines += [f"## {part.heading}", ""]
        for sentence in part.sentences:
            lines += [sentence, ""]
        if part.items:
            lines += [*(f"- {item}" for item in part.items), ""]
        for table in part.tables:
            lines += [table.caption, "", _row(table.heads), _row(["---", *("---:" for _ in table.heads[1:])])]
            lines += [*(_row(row) for row in table.rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def to_svg(sizes: StudySizes) -> bytes:
    from trustreport.report.layout.figures import saved

    return saved(figure_of(sizes), catalogue("en"), ("svg",))[0]


def to_pdf(sizes: StudySizes) -> bytes:
    """The section as PDF/A-3a and PDF/UA-1, with the numbers attached.

    Raises
    ------
    MissingLibrary : Pango is not installed
    """
    from trustreport.report.layout.figures import saved
    from trustreport.report.pdf import packaged_page

    words, figure = catalogue("en"), figure_of(sizes)
    numbers = to_json(sizes)
    picture = "data:image/svg+xml;base64," + b64encode(saved(figure, words, ("page",))[0]).decode()
    return packaged_page(
        "report/sizing.html.j2",
        digest(numbers),
        [("plan.json", numbers, words("report.attached.results"))],
        title=words(f"{TEXT}.title"),
        parts=protocol_parts(sizes, words),
        picture=picture,
        caption=words(figure.caption),
        alt=words(figure.alt),
        foot=f"trustreport {__version__} · {digest(numbers)[:8]}",
    )

"""The report as one HTML file; `body` builds the same document for the PDF."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from trustreport.assessment import Assessment
from trustreport.messages import catalogue
from trustreport.plan import Kind
from trustreport.report import cover, outline, summary
from trustreport.report.figures import Drawn
from trustreport.report.wording import breakable, shorten, together
from trustreport.resources import folder

HASH_DIGITS = 8
NAME_IN_HEAD, NOTICE_IN_HEAD = 60, 85  # characters

EMPTY = Markup("")

Medium = Literal["screen", "page"]


def render(
    assessment: Assessment, *, results_hash: str, provenance: Mapping[str, Any], drawn: Mapping[str, Drawn]
) -> str:
    """The report as one HTML file that loads nothing from anywhere.

    Parameters
    ----------
    results_hash : sha256 of results.json, in hexadecimal
    provenance : ``inputs`` (file, sha256, bytes), ``versions``, ``seed``, ``iterations``, ``trustreport``
    drawn : figures by id, from `figures.draw_all`
    """
    sheets = style(_faces(), assessment.plan.report.page, "report.css", "page.css", "screen.css") + _margins(
        assessment, results_hash
    )
    return body(
        assessment,
        medium="screen",
        results_hash=results_hash,
        provenance=provenance,
        drawn={name: figure.page for name, figure in drawn.items()},
        sheets=sheets,
        script=_script(),
        policy=_policy(sheets, _script()),
        room=summary.FOR_BROWSERS,
    )


def body(
    assessment: Assessment,
    *,
    medium: Medium,
    results_hash: str,
    provenance: Mapping[str, Any],
    drawn: Mapping[str, bytes],
    sheets: Markup,
    script: Markup = EMPTY,
    policy: str = "",
    room: summary.Room = summary.ROOMS[0],
    summary_only: bool = False,
) -> str:
    """The document as HTML for a medium; nothing in it depends on time or place.

    `drawn` is the SVG of each figure, `room` what the summary may take; `summary_only` leaves out what
    follows it.
    """
    plan = assessment.plan
    say = catalogue(plan.report.language)
    device = summary.device_name(plan, say)
    shown = device if plan.device.trade_name else say("word.not_declared")
    running_head, running_notice, running_foot = _running(assessment, results_hash)
    chapters = (
        ()
        if summary_only
        else outline.chapters(assessment, drawn, say, on_screen=medium == "screen", provenance=provenance)
    )
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            say=say,
            medium=medium,
            style=sheets,
            script=script,
            policy=policy,
            lang=plan.report.language,
            kind=plan.report.kind,
            plan=plan,
            level=plan.report.confidence_level,
            title=plan.report.title or say("report.default_title", device=device),
            device=shown,
            notice=plan.report.notice or "",
            running_head=running_head,
            running_notice=running_notice,
            running_foot=running_foot,
            results_hash=results_hash,
            cover=cover.cover(assessment, results_hash, say),
            approvals=cover.approvals(assessment, say),
            summary=summary.summary(assessment, say, room, _chapter_of("E31", plan.report.kind)),
            summary_only=summary_only,
            chapters=chapters,
        )
    )


def _chapter_of(word: str, kind: Kind) -> str:
    """The number of the chapter in which an element or the answer of a dimension stands; empty: none."""
    chapters = enumerate(outline.OUTLINES[kind].values(), 1)
    return next((str(i) for i, names in chapters if word in names), "")


@cache
def _environment() -> Environment:
    """Packaged templates only: what a study says is data for them, never a template."""
    environment = Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["breakable"] = breakable
    environment.filters["together"] = together
    return environment


# ---------------------------------------------------------------- style


def style(faces: str, paper: str, *sheets: str) -> Markup:
    """The style of the document: faces, packaged sheets, and the paper where it is not A4."""
    text = faces + "".join((folder("templates") / name).read_text(encoding="utf-8") for name in sheets)
    if paper != "A4":
        text += f"@page {{ size: {paper.lower()}; }}\n"
    return Markup(text)  # noqa: S704 -- packaged text only


@cache
def _faces() -> str:
    """The faces of the text within the file, for a browser."""
    faces = []
    for weight, name in ((400, "Regular"), (600, "SemiBold")):
        file = folder("templates") / "assets" / "fonts" / f"Inter-{name}.woff2"
        data = b64encode(file.read_bytes()).decode()
        faces.append(
            f'@font-face {{ font-family: "Report Text"; font-weight: {weight}; '
            f'src: url(data:font/woff2;base64,{data}) format("woff2"); }}\n'
        )
    return "".join(faces)


def _margins(assessment: Assessment, results_hash: str) -> Markup:
    """What stands in the margins of a page that a browser prints, where the PDF has running elements."""
    head, notice, foot = _running(assessment, results_hash)
    text = (
        f'@page {{ @top-left {{ content: "{_quoted(head)}\\a {_quoted(notice)}"; white-space: pre-line; }} '
    )
    text += f'@bottom-left {{ content: "{_quoted(foot)}"; }} }}\n'
    text += "@page :first { @top-left { content: none; } }\n"
    return Markup(text)  # noqa: S704 -- every sign of the manifest that could mean something is escaped


def _quoted(text: str) -> str:
    """Text for a string of CSS: letters, digits and spaces as they are, everything else by its number."""
    return "".join(c if c == " " or (c.isascii() and c.isalnum()) else f"\\{ord(c):x} " for c in text)


def _running(assessment: Assessment, results_hash: str) -> tuple[str, str, str]:
    """What every page says: device and kind of report, the notice, and which results in which status."""
    report = assessment.plan.report
    say = catalogue(report.language)
    named = bool(assessment.plan.device.trade_name)
    device = summary.device_name(assessment.plan, say) if named else say("word.not_declared")
    device = shorten(device, NAME_IN_HEAD, say)
    return (
        say("report.running", device=device, kind=say(f"report.running_kind.{report.kind}")),
        shorten(report.notice or "", NOTICE_IN_HEAD, say),
        say("report.foot", hash=results_hash[:HASH_DIGITS], status=say(f"status.{report.status}")),
    )


@cache
def _script() -> Markup:
    """The script of the page; without it everything is there, and nothing can be sorted or searched."""
    text = (folder("templates") / "report" / "page.js").read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 -- packaged text only


def _policy(sheets: str, script: str) -> str:
    """A content security policy: this style, this script, images and fonts of the file, and nothing else."""
    style, code = (b64encode(sha256(text.encode()).digest()).decode() for text in (sheets, script))
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{code}'; "
        "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )

"""The report as one HTML file; `Documents` makes the same documents for the PDF."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from trustreport.assessment.assess import Assessment
from trustreport.assessment.explored import explored_sets, reader_change
from trustreport.report import contents
from trustreport.report.answer import front, glance
from trustreport.report.answer.row_picture import on_paper
from trustreport.report.declared import breakable, notice, shorten, together
from trustreport.report.elements.about import approvals, cover, device_name
from trustreport.report.elements.intended_use import purpose_line, use_box
from trustreport.report.glossary import terms
from trustreport.report.layout.figures import Drawn, Pages
from trustreport.report.layout.page_ids import with_ids
from trustreport.vocabulary.messages import Catalogue, catalogue, spelled
from trustreport.vocabulary.resources import folder

HASH_DIGITS = 8
LIMIT_PLACES = 6  # of the limits that the page may explore; more than anything prints
# The parts of the script of the page, each of which uses what those before it name.
SCRIPT = ("start", "explore", "search", "links", "tables", "figures", "pictures", "only")
NAME_IN_HEAD, NOTICE_IN_HEAD = 60, 110  # characters

EMPTY = Markup("")
GLOSSARY = Markup("<!-- glossary -->")  # where the terms go that the rest of the page uses
PAIRS = """{% import "report/macros.html.j2" as draw %}
{% if terms %}<h3>{{ title }}</h3>{{ draw.pairs(terms, "terms") }}{% endif %}"""

# What holds all that the report leaves out: annex.pdf, the end of report.html, or results.json alone.
Annexed = Literal["file", "page", "results"]
Medium = Literal["screen", "page"]
Volume = Literal["report", "annex", "both"]


def render(
    assessment: Assessment, *, results_hash: str, provenance: Mapping[str, Any], drawn: Mapping[str, Drawn]
) -> str:
    """The report as one HTML file that loads nothing from anywhere, its annex in sections that open.

    Parameters
    ----------
    results_hash : sha256 of results.json, in hexadecimal
    provenance : ``inputs`` (file, sha256, bytes), ``versions``, ``seed``, ``iterations``, ``trustreport``
    drawn : figures by id, from `figures.draw_all`
    """
    sheets = style(faces(), assessment.plan.report.page, "report.css", "page.css", "screen.css") + _margins(
        assessment, results_hash
    )
    document = Documents(assessment, results_hash, provenance, Pages(drawn), "screen")
    return with_ids(document.text("both", sheets, policy_of(sheets, page_script()), page_script()))


def answered(assessment: Assessment) -> str:
    """The answer and the verdicts as a piece of HTML with its own style, for the output of a notebook."""
    say = catalogue(assessment.plan.report.language)
    return packaged(
        "report/notebook.html.j2",
        say=say,
        front=front.front(assessment, say),
        level=assessment.plan.report.confidence_level,
        style=style("", "A4", "notebook.css"),
    )


def page_one(assessment: Assessment) -> str:
    """The first page of the report by itself: its answer, verdicts and limits, and what the device is for."""
    plan, say = assessment.plan, catalogue(assessment.plan.report.language)
    device = device_name(plan, say)
    return packaged(
        "report/page_one.html.j2",
        say=say,
        medium="screen",
        style=style(faces(), "A4", "report.css", "screen.css"),
        kind=plan.report.kind,
        plan=plan,
        level=plan.report.confidence_level,
        title=plan.report.title or say("report.default_title", device=device),
        device=device if plan.device.trade_name else say("word.not_declared"),
        notice=plan.report.notice or "",
        front=front.front(assessment, say),
        use=use_box(assessment, say),
        purpose=purpose_line(plan, say),
        anchors=(),
    )


@dataclass(frozen=True)
class Documents:
    """What the documents of an assessment are made from, on one medium; `drawn` is the SVG of each figure.

    `annexed` says which file holds what the report leaves out: none is named that was not written.
    """

    assessment: Assessment
    results_hash: str
    provenance: Mapping[str, Any]
    drawn: Mapping[str, bytes]
    medium: Medium
    annexed: Annexed = "file"

    @cached_property
    def chapters(self) -> contents.Chapters:
        """The chapters of report and annex, made once."""
        return contents.chapters(
            self.assessment,
            self.drawn,
            self._say,
            on_screen=self.medium == "screen",
            provenance=self.provenance,
            annexed=self.annexed,
        )

    @cached_property
    def _say(self) -> Catalogue:
        return catalogue(self.assessment.plan.report.language)

    def text(self, volume: Volume, sheets: Markup, policy: str = "", script: Markup = EMPTY) -> str:
        """Report, annex or both as HTML; nothing in it depends on time or place."""
        plan, say = self.assessment.plan, self._say
        device = device_name(plan, say)
        shown = device if plan.device.trade_name else say("word.not_declared")
        running_head, running_notice, running_foot = _running(self.assessment, self.results_hash)
        chapters = self.chapters
        report = chapters.report if volume != "annex" else ()
        annex = chapters.annex if volume != "report" else ()
        everywhere = {m.word: m.place for m in contents.landmarks((*chapters.report, *chapters.annex), say)}
        marks = list(contents.landmarks((*report, *annex), say))
        anchors = _anchors((*report, *annex)) | ({"answer"} if volume != "annex" else set())
        page = packaged(
            "report.html.j2",
            say=say,
            medium=self.medium,
            volume=volume,
            style=sheets,
            script=script,
            policy=policy,
            lang=plan.report.language,
            kind=plan.report.kind,
            plan=plan,
            level=plan.report.confidence_level,
            title=plan.report.title or say("report.default_title", device=device),
            device=shown,
            notice=notice(plan, say),
            running_head=running_head,
            running_notice=running_notice,
            running_foot=running_foot,
            results_hash=self.results_hash,
            cover=cover(self.assessment, self.results_hash, say),
            approvals=approvals(self.assessment, say),
            front=front.front(self.assessment, say),
            glance=glance.glance(self.assessment, {**chapters.standing, **everywhere}, say),
            landmarks=marks,
            annexed=self.annexed,
            use=use_box(self.assessment, say),
            purpose=purpose_line(plan, say),
            choices=_choices(self.assessment) if self.medium == "screen" else {},
            explored=_explored(self.assessment) if self.medium == "screen" else "",
            glossary=GLOSSARY,
            report=report,
            annex=annex,
            anchors=anchors | {mark.place.anchor for mark in marks},
        )
        if volume == "annex":
            return page
        used, title = terms(page, say), say("report.about.terms")
        return page.replace(GLOSSARY, environment().from_string(PAIRS).render(terms=used, title=title))


def _choices(assessment: Assessment) -> dict[str, list[str]]:
    """What the rows of tables may be limited to, by kind, where there are two or more of it."""
    places = [r.place for r in assessment.results]
    found: dict[str, list[str | None]] = {
        "sets": [name for place in places for name in (place.dataset, place.period)],
        "sites": [place.site for place in places],
        "groups": [spelled(place.subgroup or "") for place in places],
        "candidates": [place.candidate for place in places],
    }
    named = {kind: list(dict.fromkeys(filter(None, names))) for kind, names in found.items()}
    return {kind: names for kind, names in named.items() if len(names) > 1}


def _explored(assessment: Assessment) -> str:
    """What the page lets a reader explore, as JSON; empty where there is nothing."""
    sets = [
        {**asdict(one), "points": [astuple(point) for point in one.points]}
        for one in explored_sets(assessment)
    ]
    if not sets:
        return ""
    readers = reader_change(assessment)
    held = {"sets": sets, "readers": readers and asdict(readers)}
    short = json.loads(json.dumps(held), parse_float=lambda text: round(float(text), LIMIT_PLACES))
    return json.dumps(short, ensure_ascii=False, separators=(",", ":"))


def _anchors(chapters: Iterable[contents.Chapter]) -> set[str]:
    """Where a link within a document may point."""
    found = set()
    for chapter in chapters:
        found |= {chapter.anchor, *(item.anchor for item in chapter.items)}
        for item in chapter.items:
            if isinstance(item, contents.ElementView):
                rows = item.element.extra.get("rows", ())
                found |= {row.anchor for row in rows if hasattr(row, "anchor")}
                if item.anchor == "found":
                    found |= {f"check-{limit.check}" for limit in item.element.limits}
    return found


@cache
def environment() -> Environment:
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
    environment.filters["data_url"] = _data_url
    return environment


def packaged(template: str, **values: Any) -> str:
    """A packaged template with its values."""
    return environment().get_template(template).render(**values)


def _data_url(picture: str) -> str:
    """The picture of a row as the address of an image."""
    return "data:image/svg+xml;base64," + b64encode(on_paper(picture).encode()).decode()


# ---------------------------------------------------------------- style


def style(faces: str, paper: str, *sheets: str) -> Markup:
    """The style of the document: faces, packaged sheets, and the paper where it is not A4."""
    text = faces + "".join((folder("templates") / name).read_text(encoding="utf-8") for name in sheets)
    if paper != "A4":
        text += f"@page {{ size: {paper.lower()}; }}\n"
    return Markup(text)  # noqa: S704 -- packaged text only


@cache
def faces() -> str:
    """The faces of the text within the file, for a browser."""
    found = []
    for weight, name in ((400, "Regular"), (600, "SemiBold")):
        file = folder("templates") / "assets" / "fonts" / f"Inter-{name}.woff2"
        data = b64encode(file.read_bytes()).decode()
        found.append(
            f'@font-face {{ font-family: "Report Text"; font-weight: {weight}; '
            f'src: url(data:font/woff2;base64,{data}) format("woff2"); }}\n'
        )
    return "".join(found)


def _margins(assessment: Assessment, results_hash: str) -> Markup:
    """What stands in the margins of a page that a browser prints, where the PDF has running elements."""
    head, said, foot = _running(assessment, results_hash)
    text = (
        f'@page {{ @top-left {{ content: "{_quoted(head)}\\a {_quoted(said)}"; white-space: pre-line; }} '
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
    device = device_name(assessment.plan, say) if named else say("word.not_declared")
    device = shorten(device, NAME_IN_HEAD, say)
    return (
        say("report.running", device=device, kind=say(f"report.running_kind.{report.kind}")),
        shorten(notice(assessment.plan, say), NOTICE_IN_HEAD, say),
        say("report.foot", hash=results_hash[:HASH_DIGITS], status=say(f"status.{report.status}")),
    )


@cache
def page_script() -> Markup:
    """The script of the page; without it everything is there, and nothing can be sorted or searched."""
    parts = (folder("templates") / "report" / "script" / f"{name}.js" for name in SCRIPT)
    text = "".join(part.read_text(encoding="utf-8") for part in parts)
    return Markup(f'"use strict";\n(() => {{\n{text}}})();\n')  # noqa: S704 -- packaged text only


def policy_of(sheets: str, script: str) -> str:
    """A content security policy: this style, this script, images and fonts of the file, and nothing else."""
    style, code = (b64encode(sha256(text.encode()).digest()).decode() for text in (sheets, script))
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{code}'; "
        "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )

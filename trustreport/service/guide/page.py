"""The five steps of a study, each a page; what is typed is kept as a draft until the study is saved."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from markupsafe import Markup
from starlette.datastructures import FormData

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.editor.drafts import keep_draft
from trustreport.service.editor.run import MOST_CHECKED, Check, carried_out, lay_out
from trustreport.service.engine import TABLE_WORDS
from trustreport.service.guide import criteria, steps
from trustreport.service.intake import MANIFESTS
from trustreport.service.pages.blob_responses import SANDBOX
from trustreport.service.pages.page_context import Author, Sent, attempt, see, text, texts
from trustreport.service.pages.render import PageWords, page, words_of
from trustreport.service.storage.models import StoredStudy, Version, VersionFile
from trustreport.service.study.fixing import awaited, fixing_of
from trustreport.service.version import page as uploads
from trustreport.service.version.declarations import label
from trustreport.service.version.editor_page import (
    MOST_TEXT,
    answer,
    findings,
    meaning,
    save_manifest,
    stored,
)
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

MOST_SHOWN_ALONG = 100_000  # bytes of a study whose page 1 is made again with each change

# By person, the last page 1 that was asked for: an earlier one is given up, so that it keeps no turn.
_LATEST: dict[str, object] = {}

router = APIRouter(prefix="/versions")


@router.get("/{version}/guide/{step}")
def show_step(version: Name, step: str, request: Request, who: Author, core: TheCore) -> Response:
    """One step; while the tables are being read, its page asks again by itself."""
    row, files = stored(core, who, version)
    _known(step)
    if request.headers.get("HX-Request"):
        return Response(headers={} if row.state == "checking" else {"HX-Refresh": "true"})
    return attempt(
        lambda: _show(request, core, who, row, files, step),
        lambda fault: _show(request, core, who, row, files, step, fault),
    )


@router.post("/{version}/guide/{step}")
def save_step(
    version: Name, step: str, request: Request, who: Author, core: TheCore, form: Sent
) -> Response:
    """Keep what was typed, and go on; the last step makes the version."""
    _LATEST.pop(who.user, None)
    row, files = stored(core, who, version)
    _known(step)

    def done() -> Response:
        comma = words_of(request).numbers.point == ","
        made = answer(request, core, who, row, files, dict(_typed(form, comma=comma)), "no")["yaml"]
        if named := uploads.named_streams(form):
            if not set(MANIFESTS).isdisjoint(named):
                raise Fault(422, say("pages.fault.a_manifest.detail"))
            return see(f"/versions/{save_manifest(core, who, version, made, named)}/guide/{step}")
        keep_draft(core, who, version, made)
        if text(form, "act") == "finish":
            return see(f"/versions/{save_manifest(core, who, version, made, {})}")
        wanted = text(form, "act").removeprefix("to:")
        return see(f"/versions/{version}/guide/{wanted if wanted in steps.STEPS else step}")

    return attempt(done, lambda fault: _show(request, core, who, row, files, step, fault))


@router.post("/{version}/page-1")
def first_page(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Page 1 of the report of what is typed, for the frame beside the steps: no scripts, nothing is kept."""
    words = words_of(request)
    row, files = stored(core, who, version)
    return attempt(
        lambda: _first_page(request, core, who, row, files, form),
        lambda fault: _framed(_reason(fault.in_words(words.words).detail, words)),
    )


def _first_page(
    request: Request, core: Core, who: Principal, row: Version, files: Sequence[VersionFile], form: FormData
) -> Response:
    words = words_of(request)
    mine = _LATEST[who.user] = object()
    tables = [f for f in files if f.name not in MANIFESTS]
    if sum(f.size for f in tables) > MOST_CHECKED:
        return _framed(_reason(words("guide.too_large"), words))
    with core.store.read() as rows:
        if fixing_of(rows, row.study).opened is None:
            return _framed(_reason(words("guide.no_data_yet"), words))
    comma = words.numbers.point == ","
    manifest = answer(request, core, who, row, files, dict(_typed(form, comma=comma)), "no")["yaml"]
    task = {"task": "first_page", "closed": [str(core.settings.data)], "manifest": manifest}

    def fill(work: Any) -> None:
        (work / "study").mkdir()
        lay_out(core, row, tables, work / "study")

    outcome = carried_out(core, task, fill, lambda: _LATEST.get(who.user) is mine)
    problems = outcome.answer.get("problems", [])
    if html := outcome.answer.get("html", ""):
        return _framed(html)
    why = outcome.reason or " ".join(p["found"] for p in problems[:3])
    return _framed(_reason(words("guide.no_page", reason=why), words))


def _framed(html: str) -> Response:
    headers = {"Content-Security-Policy": f"{SANDBOX}; frame-ancestors 'self'", "Cache-Control": "no-store"}
    return Response(html, 200, headers, "text/html; charset=utf-8")


def _reason(text: str, words: PageWords) -> str:
    """Why there is no page 1, as the page of the frame."""
    page = Markup('<!DOCTYPE html><html lang="{}"><title>{}</title><p>{}</p></html>')
    return page.format(words.language, words("guide.first_page"), text)


def _known(step: str) -> None:
    if step not in steps.STEPS:
        raise Fault(404, say("pages.fault.not_found.there_no_such_2"))


def _typed(form: FormData, *, comma: bool) -> Iterator[tuple[str, str]]:
    """The controls of the form that a step changes: its own, and those that its questions stand for."""
    sent = {name: text(form, name)[:MOST_TEXT] for name, v in form.items() if isinstance(v, str)}
    yield from ((name, value) for name, value in sent.items() if name.startswith("/"))
    yield from steps.kinds_chosen(sent)
    yield from steps.announced(sent)
    yield from steps.shared_texts(sent, texts(form, "@set"))
    yield from criteria.added(sent, comma=comma)
    for name, value in sent.items():
        if name.startswith("@bound/endpoints/"):
            row = name.removeprefix("@bound")
            unit = sent.get(f"@unit{row}", "")
            yield f"{row}/bound_or_margin", criteria.stored(value, unit, comma=comma)


def _show(
    request: Request,
    core: Core,
    who: Principal,
    version: Version,
    files: Sequence[VersionFile],
    step: str,
    fault: Fault | None = None,
) -> Response:
    with core.store.read() as rows:
        study = who.row_of(rows, StoredStudy, version.study)
        fixing = fixing_of(rows, study.id)
    say = words_of(request)
    shown: dict[str, Any] = {}
    if version.state != "checking":
        check: Check = "typing" if fixing.opened else "manifest"
        found = answer(request, core, who, version, files, {}, check, shows_rows=step == "who")
        shown = _of_step(step, found, say)
        if fixing.opened is None and not found["problems"]:
            known = shown["findings"]
            known["summary"] = f"{awaited(found['criteria'], say)} {known['missing']['summary']}".strip()
        there = {file.name for file in files}
        shown["places"] = [line.file for line in shown["parts"].files if line.file and line.file not in there]
    at = steps.STEPS.index(step)
    return page(
        request,
        "guide",
        version=version,
        study=study,
        opened=fixing.opened,
        fixed=fixing.counting,
        step=step,
        steps=steps.STEPS,
        before=steps.STEPS[at - 1] if at else "",
        after=steps.STEPS[at + 1] if at + 1 < len(steps.STEPS) else "",
        parts=shown.get("parts"),
        shown=shown,
        label=lambda path: label(path, say),
        meaning=lambda word: meaning(word, say),
        column=lambda word: f"editor.column.{word}" in say and say(f"editor.column.{word}"),
        anchor=lambda name: quote(name, safe="/+@~"),
        goes_along=sum(f.size for f in files) <= MOST_SHOWN_ALONG,
        most=core.settings.most_body,
        fault=fault,
    )


def _of_step(step: str, found: Mapping[str, Any], say: PageWords) -> dict[str, Any]:
    """What a step shows beside the controls themselves."""
    parts, known = steps.parts_of(found), findings(found, say)
    shown = {"parts": parts, "findings": known, "rows": found["first_rows"], "doubts": found["doubts"]}
    if step == "files":
        shown |= {"kinds": (steps.SCORES, *TABLE_WORDS), "announced": steps.ANNOUNCED}
    if step == "who":
        shown["at_fault"] = {*known["beside"], *found["doubts"]}
        shown |= {"of_sets": steps.OF_SETS, "shared": steps.SHARED, "period": steps.PERIOD}
    if step == "arms":
        shown |= {"reading": steps.OF_READING, "point": steps.POINT, "truth": steps.TRUTH}
    if step == "device":
        shown["device"] = steps.DEVICE
    if step == "criteria":
        rows = parts.groups.get("endpoints", ())
        shown["declared"] = [criteria.declared(row, found, known, say) for row in rows]
        shown["units"] = {row["name"]: unit for row in rows if (unit := criteria.unit_of_row(row))}
        shown["offered"] = list(_offered(parts, say))
        shown["watched"] = _watched(say) if parts.kind == "vigilance" else []
    return shown


def _offered(parts: steps.StepForm, say: PageWords) -> Iterator[tuple[str, str, Any]]:
    """The templates that suit these data: key, title, and the sentence with its bound."""
    aided, unaided = parts.arms
    own = criteria.OF_READERS if parts.has_readings and aided and unaided else ()
    of_device = criteria.OF_DEVICE if parts.tested or not own else ()
    rows = parts.groups.get("endpoints", ())
    there = {(parts.text(f"{r['name']}/measure"), parts.text(f"{r['name']}/of")) for r in rows}
    for one in (*own, *of_device):
        if (one.measure, one.of) in there and len(parts.tested) < 2:
            continue
        title = say(f"guide.template.{one.key}")
        field = criteria.bound_field(
            f"@bound/{one.key}", one.bound.replace(".", say.numbers.point), one.unit, say, title
        )
        key = criteria.KEYS[one.hypothesis]
        values = {"measure": criteria.measure_words(one.measure, one.of, say), "bound": field}
        yield one.key, title, say(f"guide.must.{key}", **values)


def _watched(say: PageWords) -> list[tuple[str, Any]]:
    """The indicators of an audit that are offered, each a sentence with two bounds."""
    found = []
    for key, measure, expected, alarm in criteria.OF_PERIODS:
        name = criteria.measure_words(measure, "", say)
        values = {
            "measure": name,
            "expected": criteria.bound_field(f"@in_control/{key}", expected, "percent", say, name),
            "alarm": criteria.bound_field(f"@to_detect/{key}", alarm, "percent", say, name),
        }
        found.append((key, say("guide.watch", **values)))
    return found

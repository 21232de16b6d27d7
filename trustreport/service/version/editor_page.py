"""The manifest of a version as a form; what is saved is a new version with the same tables."""

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import select

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.editor import run
from trustreport.service.editor.drafts import draft_of, drop_draft
from trustreport.service.editor.form import new_row
from trustreport.service.editor.measures import measure_groups
from trustreport.service.intake import MANIFESTS
from trustreport.service.pages.page_context import Author, Sent, attempt, see, text
from trustreport.service.pages.render import PageWords, page, words_of
from trustreport.service.storage.models import StoredStudy, Version, VersionFile
from trustreport.service.study.fixing import withheld_lines
from trustreport.service.version import page as uploads
from trustreport.service.version.declarations import label, missing
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

# The groups that most studies need, in the order in which one thinks of them; the others follow.
FIRST = (
    "report",
    "device",
    "intended_use",
    "tables",
    "datasets",
    "arms",
    "measurements",
    "endpoints",
    "families",
)
OPENED = ("report", "device", "tables", "datasets", "endpoints")
MOST_TEXT = 20_000  # characters of a control
TRUTHS = {"true": "word.yes", "false": "word.no"}

router = APIRouter(prefix="/versions")


@router.get("/{version}/edit")
def edit(version: Name, request: Request, who: Author, core: TheCore) -> Response:
    """The form; while the tables are being read, its page asks again by itself."""
    row, files = stored(core, who, version)
    if request.headers.get("HX-Request"):
        return Response(headers={} if row.state == "checking" else {"HX-Refresh": "true"})
    return attempt(
        lambda: _show(request, core, who, row, files, {}),
        lambda fault: _show(request, core, who, row, files, {}, fault),
    )


@router.post("/{version}/edit")
def save(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Save a new version, show the form again, or say what is wrong with what was typed so far."""
    row, files = stored(core, who, version)
    texts = {
        n: text(form, n)[:MOST_TEXT] for n, v in form.items() if n.startswith("/") and isinstance(v, str)
    }
    wanted = text(form, "act")
    if wanted == "check":
        found = answer(request, core, who, row, files, texts)
        return JSONResponse(findings(found, words_of(request)))
    if wanted.startswith("add:"):
        section = wanted.removeprefix("add:")
        taken = [int(sign) for name in texts if (sign := new_row(name, section))]
        texts[f"{section}/+{max(taken, default=-1) + 1}/@begun"] = ""

    def done() -> Response:
        if wanted == "yaml":
            made = answer(request, core, who, row, files, texts, "no")["yaml"]
            attached = {"Content-Disposition": 'attachment; filename="study.yaml"'}
            return Response(made, media_type="application/yaml", headers=attached)
        if wanted not in ("save", "tables"):
            return _show(request, core, who, row, files, texts)
        new = uploads.named_streams(form)
        if wanted == "tables" and not new:
            raise Fault(422, say("pages.fault.no_file_came.choose_tables"))
        if not set(MANIFESTS).isdisjoint(new):
            raise Fault(422, say("pages.fault.a_manifest.detail"))
        made = answer(request, core, who, row, files, texts, "no")["yaml"]
        saved = save_manifest(core, who, version, made, new)
        return see(f"/versions/{saved}/edit" if wanted == "tables" else f"/versions/{saved}")

    return attempt(done, lambda fault: _show(request, core, who, row, files, texts, fault))


def answer(
    request: Request,
    core: Core,
    who: Principal,
    version: Version,
    files: Sequence[VersionFile],
    texts: Mapping[str, str],
    check: run.Check = "typing",
    *,
    shows_rows: bool = False,
) -> dict[str, Any]:
    """The form of a version as this person has changed it, in the language of the page."""
    comma = words_of(request).numbers.point == ","
    draft = draft_of(core, who, version.id)
    return run.answer(core, version, files, texts, check, draft=draft, comma=comma, shows_rows=shows_rows)


def save_manifest(core: Core, who: Principal, version: str, made: str, new: dict[str, BinaryIO]) -> str:
    """A new version of other files and this manifest; what was typed is kept there and nowhere else."""
    new["study.yaml"] = io.BytesIO(made.encode())
    saved = uploads.replace_files(core, who, version, new, without=MANIFESTS)
    drop_draft(core, who, version)
    return saved


def stored(core: Core, who: Principal, version: str) -> tuple[Version, Sequence[VersionFile]]:
    """A version with its files."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        _ = row.tables  # not read with the row
        files = rows.scalars(select(VersionFile).where(VersionFile.version == row.id)).all()
        return row, files


def _show(
    request: Request,
    core: Core,
    who: Principal,
    version: Version,
    files: Sequence[VersionFile],
    texts: Mapping[str, str],
    fault: Fault | None = None,
) -> Response:
    """The page: the form as far as one can be made, with what was typed."""
    with core.store.read() as rows:
        study = who.row_of(rows, StoredStudy, version.study)
    found: dict[str, Any] | None = None
    if version.state != "checking":
        try:
            found = answer(request, core, who, version, files, texts)
        except Fault as refused:
            if fault is None:
                raise
            fault = fault if fault.status != 409 else refused
    say = words_of(request)
    sections = sorted(found["form"]["sections"], key=_rank) if found else []
    return page(
        request,
        "editor",
        version=version,
        study=study,
        sections=sections,
        found=found,
        findings=findings(found, say) if found else {},
        texts=texts,
        label=lambda path: label(path, say),
        column=lambda word: f"editor.column.{word}" in say and say(f"editor.column.{word}"),
        meaning=lambda word: meaning(word, say),
        anchor=lambda name: quote(name, safe="/+@~"),
        most=core.settings.most_body,
        opened=OPENED,
        measures=measure_groups(_measured(sections)),
        fault=fault,
    )


def _measured(sections: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the form's controls name as measures."""
    for section in sections:
        for row in section["rows"]:
            yield from (c["text"] for c in row["controls"] if c["suggest"] == "measures")
            yield from _measured(row["parts"])


def _rank(section: Mapping[str, Any]) -> int:
    name = section["name"].removeprefix("/")
    return FIRST.index(name) if name in FIRST else len(FIRST)


def findings(found: Mapping[str, Any], say: PageWords) -> dict[str, Any]:
    """What was found, as the page and its script show it."""
    problems = [{"at": p["at"], "text": _sentence(p, say)} for p in found["problems"]]
    beside: dict[str, list[str]] = {}
    for problem in problems:
        beside.setdefault(problem["at"], []).append(problem["text"])
    n, lacking = len(problems), missing(found["not_declared"], say)
    state = "none" if found["checked"] == "study" else "none_without_tables"
    state = state if found["answers"] else "unanswered"
    summary = say("pages.finding.to_fix", n=n) if n else say(f"pages.finding.{state}")
    return {
        "summary": summary if n else f"{summary} {lacking['summary']}".strip(),
        "missing": lacking,
        "problems": problems,
        "beside": beside,
        "warnings": [
            *(say("pages.finding.unused", file=name) for name in found["unused"]),
            *(say(f"cautions.{key}", **values) for key, values in found["cautions"]),
            *withheld_lines(found["criteria"], say),
        ],
        "bounds": {
            name: bound_words(one, say) for name, one in found["bounds"].items() if name not in beside
        },
        "yaml": found["yaml"],
    }


def bound_words(bound: Mapping[str, Any], say: PageWords) -> str:
    """On which side of its bound the interval of a criterion must be, or why that is not known."""
    if "reason" in bound:
        return say(bound["reason"])
    low, high = (say.numbers.plain(bound[end] or 0) for end in ("low", "high"))
    if bound["low"] is None:
        where = say("verdicts.bound.below", value=high)
    elif bound["high"] is None:
        where = say("verdicts.bound.above", value=low)
    else:
        where = say("verdicts.bound.between", low=low, high=high)
    return say("editor.interval", where=where)


def _sentence(problem: Mapping[str, Any], say: PageWords) -> str:
    """A problem without the line of a manifest, which nobody looks at here."""
    of_table = problem["file"] not in MANIFESTS
    rows = problem["rows"] or ([] if problem["row"] is None else [problem["row"]])
    n = max(problem["n_rows"], len(rows))
    said = {"found": problem["found"], "expected": problem["expected"], "fix": problem["mend"]}
    key = "pages.finding.found_expected" if said["expected"] else "pages.finding.found"
    text = say(key, **said).strip()
    if not of_table:
        return text
    where = {"file": problem["file"], "rows": ", ".join(map(str, rows[:3])), "text": text}
    if n > 3 and rows:
        return say("pages.finding.rows_more", n=n - 3, **where)
    return say(f"pages.finding.{'whole' if not rows else 'row' if n == 1 else 'rows'}", **where)


def meaning(word: str, say: PageWords) -> str:
    """A word to choose, as the language has it; the word itself where the catalogue has none."""
    if word in TRUTHS:
        return say(TRUTHS[word])
    if f"value.{word}" in say:
        return say(f"value.{word}")
    return say(f"editor.choice.{word}") if f"editor.choice.{word}" in say else word

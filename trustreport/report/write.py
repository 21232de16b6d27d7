"""Writes a report into a folder: everything, or nothing at all."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from trustreport.assessment.assess import Assessment
from trustreport.measures.seeds import DEFAULT
from trustreport.report.document import canonical, digest, document
from trustreport.report.layout.processes import DrawingProcess, LayoutProcesses
from trustreport.report.numbering import ROWS_ON_PAPER
from trustreport.report.release import released
from trustreport.report.signatures.bundle import HASHES, hashes
from trustreport.report.spreadsheets import results_csv, results_xlsx
from trustreport.vocabulary.errors import MissingLibrary
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.version import __version__

FORMATS = ("html", "pdf", "annex", "json", "xlsx", "csv", "figures", "questions", "plain")
DEFAULT_FORMATS = ("html", "pdf", "annex", "json")
DRAWING = frozenset({"html", "pdf", "annex", "figures", "questions"})  # formats for which figures are drawn
# What each of the two PDF files holds.
DOCUMENTS: dict[str, Literal["report", "annex"]] = {"pdf": "report", "annex": "annex"}
# What reading and assessing import; a test compares it with the imports.
LIBRARIES = (
    "babel",
    "joblib",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "python-calamine",
    "ruamel.yaml",
    "scipy",
    "statsmodels",
)
Progress = Callable[[str, float], None]


class Written:
    """The files of a report, and what could not be written and why."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Path] = []
        self.failed: dict[str, str] = {}
        self.seconds: dict[str, float] = {}


def write(
    assessment: Assessment,
    out: Path,
    *,
    formats: Iterable[str] | None = None,
    progress: Progress | None = None,
    timed: Mapping[str, float] | None = None,
    drawing: DrawingProcess | None = None,
    layout: LayoutProcesses | None = None,
) -> Written:
    """Write results.json, what else is asked of it, and the list of hashes of all files, into `out`.

    The files are made beside `out` and moved when all are there. Without the libraries that PDF needs the
    others are written, and `Written.failed` says what to install. Figures are drawn by `drawing`, PDF files
    laid out by `layout`. Without these processes it is done here.

    Raises
    ------
    ValueError : an unknown format
    OSError : `out` cannot be written
    """
    wanted = DEFAULT_FORMATS if formats is None else tuple(formats)
    unknown = sorted(set(wanted) - set(FORMATS))
    if unknown:
        raise ValueError(f"unknown format {', '.join(unknown)}; known are {', '.join(FORMATS)}")
    if assessment.only:
        raise ValueError(f"only {', '.join(assessment.only)} was assessed; a report needs every dimension")
    assessment = released(assessment)
    say = catalogue(assessment.plan.report.language)
    written = Written(out)
    written.seconds.update(timed or {})
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    step = _Clock(written, progress or (lambda step, share: None))
    try:
        _Folder(work, assessment, wanted, say, written, step, drawing, layout).fill()
        _move(work, out, written)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return written


def as_data(assessment: Assessment) -> dict[str, Any]:
    """What results.json holds of an assessment, after the way through its bytes."""
    assessment = released(assessment)
    say = catalogue(assessment.plan.report.language)
    data: dict[str, Any] = json.loads(canonical(document(assessment, provenance(assessment), say)))
    return data


def provenance(assessment: Assessment) -> dict[str, Any]:
    """Inputs with their hashes, versions, seed: what a second person needs for the same numbers."""
    return {
        "trustreport": __version__,
        "versions": {
            "python": sys.version.split()[0],
            **{name: metadata.version(name) for name in LIBRARIES},
        },
        "inputs": [
            {
                **{name: getattr(source, name) for name in ("file", "table", "sha256")},
                **{name: getattr(source, f"n_{name}") for name in ("bytes", "rows", "used")},
                "dropped": dict(source.dropped),
                **({"query": asdict(source.query)} if source.query else {}),
                **({"export": asdict(source.export)} if source.export else {}),
                **({"signer": source.signer} if source.signer else {}),
            }
            for source in assessment.study.sources
        ],
        "seed": DEFAULT if (seed := assessment.plan.similarity.seed) is None else seed,
        "iterations": _iterations(assessment),
    }


def _iterations(assessment: Assessment) -> dict[str, int]:
    """How often each method that draws at random drew: the most of its entries."""
    most: dict[str, int] = {}
    for r in assessment.results:
        drawn = r.details.get("iterations") or r.parameters.get("permutations")
        if drawn:
            most[r.method] = max(most.get(r.method, 0), int(drawn))
    return most


def attachments(assessment: Assessment, results: bytes, say: Catalogue) -> list[tuple[str, bytes, str]]:
    """What the PDF carries inside: its numbers (as a table too where one of its own is cut), the manifest."""
    files = [("results.json", results, say("report.attached.results"))]
    tables = [t for finding in assessment.findings for part in finding.parts for t in part.tables]
    if any(len(t.rows) > ROWS_ON_PAPER for t in tables):
        files.append(("results.csv", results_csv(json.loads(results)), say("report.attached.table")))
    study = assessment.study
    if study.manifest:
        files.append((study.sources[0].file, study.manifest, say("report.attached.manifest")))
    return files


class _Clock:
    """Tells the caller which step begins, and notes how long each took."""

    def __init__(self, written: Written, progress: Progress) -> None:
        self._written, self._progress = written, progress
        self._name, self._start = "", 0.0

    def __call__(self, name: str, share: float) -> None:
        now = perf_counter()
        if self._name:
            before = self._written.seconds.get(self._name, 0.0)
            self._written.seconds[self._name] = round(before + now - self._start, 3)
        self._name, self._start = name, now
        self._progress(name, share)


@dataclass
class _Folder:
    """A folder beside the report in which its files are made."""

    work: Path
    assessment: Assessment
    wanted: tuple[str, ...]
    say: Catalogue
    written: Written
    step: Progress
    drawing: DrawingProcess | None
    layout: LayoutProcesses | None

    def fill(self) -> None:
        """Make every file that is wanted."""
        self.step("results", 0.0)
        origin = provenance(self.assessment)
        results = canonical(document(self.assessment, origin, self.say))
        (self.work / "results.json").write_bytes(results)
        for form, rendered in (("xlsx", results_xlsx), ("csv", results_csv)):
            if form in self.wanted:
                self.step(form, 0.05)
                (self.work / f"results.{form}").write_bytes(rendered(json.loads(results)))
        if DRAWING & set(self.wanted):
            self._fill_with_figures(results, origin)
        if "plain" in self.wanted:
            self.step("plain", 0.97)
            self._write_plain(results)
        self.step("done", 1.0)
        (self.work / HASHES).write_bytes(hashes(self.work))
        run = {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": self.written.seconds,
            "not_written": self.written.failed,
        }
        (self.work / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")

    def _fill_with_figures(self, results: bytes, origin: Mapping[str, Any]) -> None:
        self.step("figures", 0.1)
        from trustreport.report.layout import figures

        given, language = self.assessment.figures, self.say.language
        drawn = self.drawing.drawn(given, language) if self.drawing else figures.draw_all(self.assessment)
        about: dict[str, Any] = {"results_hash": digest(results), "provenance": origin, "drawn": drawn}
        pages = self._write_pdfs(about, results)
        self._write_page(about)
        if "questions" in self.wanted:
            self.step("questions", 0.9)
            self._write_questions(about, pages)
        if "figures" in self.wanted:
            self.step("figures", 0.95)
            (self.work / "figures").mkdir()
            for name, figure in drawn.items():
                (self.work / "figures" / f"{name}.svg").write_bytes(figure.svg)
                (self.work / "figures" / f"{name}.png").write_bytes(figure.png)

    def _write_page(self, about: Mapping[str, Any]) -> None:
        if "html" in self.wanted and not (self.work / "report.html").exists():
            self.step("html", 0.5)
            from trustreport.report import html

            (self.work / "report.html").write_text(html.render(self.assessment, **about), encoding="utf-8")

    def _write_pdfs(self, about: Mapping[str, Any], results: bytes) -> dict[str, tuple[str, int]]:
        """The PDF files that are wanted; gives file and page of each anchor, those of the report first.

        With processes that lay them out, the page is written before they are waited for.
        """
        forms = [form for form in DOCUMENTS if form in self.wanted]
        if not forms:
            return {}
        from trustreport.report import html, pdf
        from trustreport.report.layout import pdf_layout

        attached = {"pdf": attachments(self.assessment, results, self.say)}
        annexed: html.Annexed = (
            "file" if "annex" in self.wanted else "page" if "html" in self.wanted else "results"
        )
        volumes = pdf.Volumes(self.assessment, **about, annexed=annexed)
        elsewhere: dict[str, Callable[[], pdf_layout.Printed | None]] = {}
        if self.layout:
            for form in reversed(forms):  # the longer one first
                self.step(form, 0.2)
                sheet = volumes.paper_text(DOCUMENTS[form], attached.get(form, ()))
                elsewhere[form] = self.layout.lay_out(sheet)
            self._write_page(about)
        pages: dict[str, tuple[str, int]] = {}
        for i, form in enumerate(forms):
            self.step(form, 0.5 + 0.2 * i)
            try:
                made = elsewhere[form]() if form in elsewhere else None
                made = made or volumes.printed(DOCUMENTS[form], attached.get(form, ()))
            except MissingLibrary as error:
                self.written.failed[form] = str(error)
                continue
            file = self.work / f"{DOCUMENTS[form]}.pdf"
            file.write_bytes(made.content)
            pages = {anchor: (file.name, page) for anchor, page in made.pages.items()} | pages
        return pages

    def _write_plain(self, results: bytes) -> None:
        """The page in plain words, for a browser and on paper."""
        from trustreport.report.plain import page

        text = page.rendered(self.assessment, digest(results))
        (self.work / "plain.html").write_text(text, encoding="utf-8")
        try:
            made = page.on_paper(self.assessment, digest(results))
        except MissingLibrary as error:
            self.written.failed["plain"] = str(error)
        else:
            (self.work / "plain.pdf").write_bytes(made.content)

    def _write_questions(self, about: Mapping[str, Any], pages: Mapping[str, tuple[str, int]]) -> None:
        """The question list of an assessor, which leads to pages of the PDF files, else into the page."""
        from trustreport.report import html
        from trustreport.report.exports.sheets import frameworks_of, question_sheet, questions_csv, sheet_page
        from trustreport.report.layout import figures

        drawn = figures.Pages(about["drawn"])
        documents = html.Documents(
            self.assessment, about["results_hash"], about["provenance"], drawn, "screen"
        )
        found = frameworks_of(documents.chapters)
        page_file = "report.html" if (self.work / "report.html").is_file() else ""
        listed = question_sheet(found, pages, page_file, self.assessment.plan.report.title or "", self.say)
        (self.work / "questions.html").write_text(sheet_page(listed, self.say), encoding="utf-8")
        (self.work / "questions.csv").write_bytes(questions_csv(found, pages, page_file))


def _move(work: Path, out: Path, written: Written) -> None:
    """Put what was made in place of what an earlier run left; other files of the folder stay."""
    out.mkdir(exist_ok=True)
    old = out / "figures"
    if old.is_dir():
        shutil.rmtree(old)
    results = [f"results.{form}" for form in ("json", "xlsx", "csv")]
    questions = [f"questions.{form}" for form in ("html", "csv")]
    plain = [f"plain.{form}" for form in ("html", "pdf")]
    for name in (*results, *questions, *plain, "report.html", "report.pdf", "annex.pdf", "run.json", HASHES):
        (out / name).unlink(missing_ok=True)
    for item in sorted(work.iterdir()):
        os.replace(item, out / item.name)
    written.files = sorted(p for p in out.rglob("*") if p.is_file())

"""Pictures of the examples' reports: the first page of each, and their figures, with their own captions."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from ruamel.yaml import YAML

from trustreport import assess, read_study, write_report
from trustreport.report.layout.figures import saved
from trustreport.vocabulary.messages import catalogue

DOTS_PER_INCH = 100
PROCESSES = 2


@dataclass(frozen=True)
class Shown:
    """A figure of a report: what kind of drawing it is, and its texts."""

    id: str
    kind: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Gallery:
    """The pictures that there are: titles and figures by example."""

    titles: dict[str, str]
    figures: dict[str, tuple[Shown, ...]]

    def shown(self, what: str, name: str, up: str) -> str:
        """The figure `EXAMPLE ID`, or the first page of `EXAMPLE`; nothing for an example that was not built.

        Raises
        ------
        KeyError : the report of this example has no such figure
        """
        example, _, id = name.partition(" ")
        if example not in self.titles:
            raise KeyError(f"no example {example}")
        if example not in self.figures:
            return ""
        if what == "page":
            return self._page(example, up)
        for figure in self.figures[example]:
            if figure.id == id:
                return _figure(example, figure, up)
        raise KeyError(
            f"{example} has no figure {id}; there are {', '.join(f.id for f in self.figures[example])}"
        )

    def page(self) -> str:
        """The examples with their first pages, then one figure of each kind."""
        parts = []
        for example, title in self.titles.items():
            link = f'<a href="reports/{example}.html">The whole report</a>' if example in self.figures else ""
            parts.append(f"### {example}\n\n{title}.\n\n{self.shown('page', example, '')}\n\n{link}")
        kinds: dict[str, tuple[str, Shown]] = {}
        for example, figures in self.figures.items():
            for figure in figures:
                kinds.setdefault(figure.kind, (example, figure))
        drawn = [_figure(example, figure, "") for example, figure in kinds.values()]
        return "\n\n".join(["## Reports", *parts, "## Figures", *drawn])

    def _page(self, example: str, up: str) -> str:
        alt = f"First page of the report of the example {example}; the whole report has the same as text"
        target = f":class: page\n:target: {up}reports/{example}.html"
        return f"```{{image}} {up}pictures/{example}.png\n:alt: {alt}\n{target}\n```"


def _figure(example: str, figure: Shown, up: str) -> str:
    head = f"```{{figure}} {up}pictures/{example}-{figure.id}.svg\n:alt: {figure.alt}\n:class: drawing\n\n"
    return f"{head}{figure.caption} Example: {example}.\n```"


def draw(root: Path, names: Iterable[str], kept: Path, sources: Path) -> Gallery:
    """Put the first pages, figures and HTML reports of some examples into `sources`.

    What is made stays in the folder `kept`; it is made anew where example, code or templates have changed.
    """
    titles = {file.parent.name: _title(file) for file in sorted((root / "examples").glob("*/study.yaml"))}
    code = _digest(root / "trustreport", root / "templates", Path(__file__))
    # Processes of their own, started afresh: what one study leaves in memory is of no concern to the next.
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        jobs = {name: pool.submit(_figures_of, root / "examples" / name, kept / name, code) for name in names}
        figures = {name: job.result() for name, job in jobs.items()}
    for name in figures:
        shutil.copytree(kept / name / "pictures", sources / "pictures", dirs_exist_ok=True)
        shutil.copytree(kept / name / "reports", sources / "reports", dirs_exist_ok=True)
    return Gallery(titles, figures)


def _digest(*places: Path) -> str:
    """The hash of files and of all files of folders, with their names."""
    found = sha256()
    for file in sorted(f for place in places for f in ([place] if place.is_file() else place.rglob("*"))):
        if file.is_file() and "__pycache__" not in file.parts:
            found.update(f"{file.name}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return found.hexdigest()


def _title(manifest: Path) -> str:
    return str(YAML(typ="safe").load(manifest.read_text("utf-8"))["report"]["title"]).rstrip(".")


def _figures_of(example: Path, kept: Path, code: str) -> tuple[Shown, ...]:
    """The pictures of one report, in `kept`, and what its figures are."""
    state, key = kept / "figures.json", f"{code} {_digest(example)}"
    if state.is_file() and (known := json.loads(state.read_text("utf-8")))["key"] == key:
        return tuple(Shown(**figure) for figure in known["figures"])
    shutil.rmtree(kept, ignore_errors=True)
    for folder in ("pictures", "reports"):
        (kept / folder).mkdir(parents=True)

    assessment = assess(*read_study(example))
    say = catalogue(assessment.plan.report.language)
    with TemporaryDirectory() as folder:
        written = write_report(assessment, Path(folder) / "out", formats=("html", "pdf", "json"))
        if written.failed:
            raise RuntimeError(f"{example.name}: {written.failed}")
        shutil.copyfile(written.folder / "report.html", kept / "reports" / f"{example.name}.html")
        first_page(written.folder / "report.pdf", kept / "pictures" / f"{example.name}.png")
    found = []
    for figure in assessment.figures:
        drawn = saved(figure, say, ("svg",))[0]
        (kept / "pictures" / f"{example.name}-{figure.id}.svg").write_bytes(drawn)
        found.append(Shown(figure.id, type(figure.drawing).__name__, say(figure.caption), say(figure.alt)))
    state.write_text(json.dumps({"key": key, "figures": [asdict(f) for f in found]}), "utf-8")
    return tuple(found)


def first_page(pdf: Path, picture: Path) -> None:
    """The first page of a PDF as PNG."""
    how = ["-png", "-singlefile", "-r", str(DOTS_PER_INCH), "-f", "1", "-l", "1"]
    subprocess.run(["pdftoppm", *how, pdf, picture.with_suffix("")], check=True)

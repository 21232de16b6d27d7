"""The overview of a fleet as data: a line a study, the results of all as one table, and what a page shows.

Records are read one after another; of each study only what it is sorted by is kept.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trustreport.api.fleet.facts import SCHEMA
from trustreport.api.fleet.records import REPORTS, read_record, replaced, results_file
from trustreport.api.fleet.studies import FleetStudy
from trustreport.report import html
from trustreport.report.answer.acceptance import MARKS
from trustreport.report.spreadsheets import escaped
from trustreport.vocabulary.messages import Catalogue, catalogue

ROWS_AT_ONCE = 50_000  # of a row group
VERDICTS = ("fail", "inconclusive", "not assessable", "not tested", "pass")
OF_RECORD = ("device", "version", "site", "period", "kind", "title", "answer")
HEADER = ("study", "path", "status", "reason", *OF_RECORD, *VERDICTS, "report")


@dataclass
class Totals:
    """What is kept of all studies: counts, and the names of those that a page shows in which order."""

    n: int = 0
    criteria: Counter[str] = field(default_factory=Counter)
    studies: Counter[str] = field(default_factory=Counter)  # with at least one criterion of that verdict
    done: list[tuple[tuple[int, ...], str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    series: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, record: Mapping[str, Any] | None) -> None:
        """Count a study."""
        self.n += 1
        if record is None:
            self.waiting.append(name)
            return
        if record["status"] != "done":
            self.failed.append(name)
            return
        verdicts = record["verdicts"]
        self.criteria.update(verdicts)
        self.studies.update(verdicts.keys())
        self.done.append((tuple(-verdicts.get(word, 0) for word in VERDICTS[:-1]), name))
        if record["period"]:
            self.series[record["device"], record["site"]].append((record["period"], name))

    def worst_first(self) -> list[str]:
        """Studies with a report: those with most failed criteria first, then most of the other verdicts."""
        return [name for _, name in sorted(self.done)]

    def several_periods(self) -> Iterator[tuple[tuple[str, str], list[tuple[str, str]]]]:
        """Device and site with several periods: each period with its study, the earliest first."""
        for key, found in sorted(self.series.items()):
            if len({period for period, _ in found}) > 1:
                yield key, sorted(found)


def write_overview(out: Path, studies: Sequence[FleetStudy], language: str) -> None:
    """Write overview.csv, results.parquet and index.html of the studies, from what is kept of each."""
    say, totals = catalogue(language), Totals()
    with replaced(out / "overview.csv") as file, file.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream, lineterminator="\r\n")
        lines.writerow(HEADER)
        for study in studies:
            record = read_record(out, study.name)
            totals.add(study.name, record)
            lines.writerow(escaped(str(cell)) for cell in _line(study, record, say))
    _write_results(out, sorted(name for _, name in totals.done))
    with replaced(out / "index.html") as file:
        file.write_text(render(out, totals, say), encoding="utf-8")


def reason(record: Mapping[str, Any], say: Catalogue) -> str:
    """Why a study has no report."""
    return say(f"fleet.failed.{record['why']}", **record["values"])


def report_link(name: str, files: Sequence[str]) -> str:
    """The file of a report that a page links to: for reading where there is one, else the numbers."""
    wanted = next(file for file in ("report.html", "report.pdf", "results.json") if file in files)
    return f"{REPORTS}/{name}/{wanted}"


def _line(study: FleetStudy, record: Mapping[str, Any] | None, say: Catalogue) -> list[Any]:
    first = [study.name, str(study.path)]
    if record is None:
        return [*first, "waiting", *[""] * (len(HEADER) - 3)]
    if record["status"] != "done":
        return [*first, "failed", reason(record, say), *[""] * (len(HEADER) - 4)]
    counts = (record["verdicts"].get(word, 0) for word in VERDICTS)
    link = report_link(study.name, record["files"])
    return [*first, "done", "", *(record[key] for key in OF_RECORD), *counts, link]


def _write_results(out: Path, names: Sequence[str]) -> None:
    """The results of all studies as one Parquet file, in groups of rows of many studies each."""
    with (
        replaced(out / "results.parquet") as file,
        pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer,
    ):
        waiting: list[pa.Table] = []
        for name in names:
            waiting.append(pq.ParquetFile(results_file(out, name)).read())
            if sum(table.num_rows for table in waiting) >= ROWS_AT_ONCE:
                writer.write_table(pa.concat_tables(waiting))
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting))


MOST_STUDIES = 1000  # rows of the page; overview.csv has all
MOST_TRENDS = 200
MOST_PERIODS = 12  # of a trend, the last ones


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study with a report: its link, what it is of, its answer, and how its criteria ended."""

    name: str
    link: str
    device: str
    site: str
    period: str
    language: str
    answer: str
    failed: tuple[tuple[str, str, str], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TrendCell:
    """A result in one period, and its verdict where it has a criterion."""

    text: str
    mark: str
    word: str


@dataclass(frozen=True, slots=True)
class TrendTable:
    """The results of a device at a site over its periods: a row each, a column a period."""

    title: str
    periods: tuple[tuple[str, str], ...]  # with the link of the report
    rows: tuple[tuple[str, tuple[TrendCell | None, ...]], ...]


def render(out: Path, totals: Totals, say: Catalogue) -> str:
    """The page; a study stands in it by its record in `out`."""
    style = html.style(html.faces(), "A4", "report.css", "screen.css", "fleet.css")
    script = html.page_script()
    names = totals.worst_first()
    words = [word for word in VERDICTS if totals.criteria[word]]
    trends = list(islice(totals.several_periods(), MOST_TRENDS))
    return html.packaged(
        "fleet/index.html.j2",
        say=say,
        style=style,
        script=script,
        policy=html.policy_of(style, script),
        totals=totals,
        sentence=_sentence(totals, say),
        verdicts=[(word, MARKS.get(word, "none")) for word in words],
        studies=list(_studies(out, names[:MOST_STUDIES], words)),
        failures=list(_failures(out, totals.failed[:MOST_STUDIES], say)),
        trends=[_trend(out, key, found, say) for key, found in trends],
        most=MOST_STUDIES,
    )


def _sentence(totals: Totals, say: Catalogue) -> str:
    """The answer of the page: how many studies have a report, and in how many a criterion fails."""
    done = len(totals.done)
    failing = totals.studies["fail"]
    said = [say("fleet.answer.done", n=totals.n, done=done)]
    if totals.criteria:
        said.append(say("fleet.answer.failing", n=failing) if failing else say("fleet.answer.none_fails"))
    if totals.failed:
        said.append(say("fleet.answer.no_report", n=len(totals.failed)))
    if totals.waiting:
        said.append(say("fleet.answer.waiting", n=len(totals.waiting)))
    return " ".join(said)


def _studies(out: Path, names: Sequence[str], words: Sequence[str]) -> Iterator[StudyRow]:
    for name in names:
        record = read_record(out, name)
        if record is None:
            continue
        device = " ".join(filter(None, (record["device"], record["version"])))
        lines = record["lines"]
        yield StudyRow(
            name,
            report_link(name, record["files"]),
            device,
            record["site"],
            record["period"],
            record["language"],
            record["answer"],
            tuple((x["title"], x["estimate"], x["required"]) for x in lines if x["mark"] == "fail"),
            tuple(record["verdicts"].get(word, 0) for word in words),
        )


def _failures(out: Path, names: Sequence[str], say: Catalogue) -> Iterator[tuple[str, str, str]]:
    for name in names:
        record = read_record(out, name)
        if record is not None:
            yield name, record["study"], reason(record, say)


def _trend(out: Path, key: tuple[str, str], found: Sequence[tuple[str, str]], say: Catalogue) -> TrendTable:
    """The lines of each period side by side, by their titles, in the order in which they first appear."""
    device, site = key
    columns: list[tuple[str, str]] = []
    lines: list[Mapping[str, Any]] = []
    for period, name in found[-MOST_PERIODS:]:
        record = read_record(out, name)
        if record is not None:
            columns.append((period, report_link(name, record["files"])))
            lines.append({line["title"]: line for line in record["lines"]})
    titles = dict.fromkeys(title for of_period in lines for title in of_period)
    rows = tuple((title, tuple(_cell(of_period.get(title)) for of_period in lines)) for title in titles)
    title = say("fleet.trends.device_at", device=device, site=site) if site else device
    return TrendTable(title, tuple(columns), rows)


def _cell(line: Mapping[str, Any] | None) -> TrendCell | None:
    return None if line is None else TrendCell(line["estimate"], line["mark"], line["word"])

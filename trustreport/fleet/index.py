"""The overview of a fleet as one HTML file with the style and the tools of the reports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from trustreport.fleet.overview import VERDICTS, Totals, reason, report_link
from trustreport.fleet.records import read_record
from trustreport.messages import Catalogue
from trustreport.report import html
from trustreport.report.acceptance import MARKS

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

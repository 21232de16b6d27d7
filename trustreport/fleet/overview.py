"""The overview of a fleet as data: a line a study, the results of all as one table, and what a page shows.

Records are read one after another; of each study only what it is sorted by is kept.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trustreport.fleet.facts import SCHEMA
from trustreport.fleet.records import REPORTS, read_record, replaced, results_file
from trustreport.fleet.studies import FleetStudy
from trustreport.messages import Catalogue, catalogue
from trustreport.report.cells import escaped

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
    from trustreport.fleet import index

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
        file.write_text(index.render(out, totals, say), encoding="utf-8")


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

"""What a fleet keeps of one report: device, site and period, its answer, its verdicts, its results."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trustreport.api.fleet.records import replaced
from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import heading
from trustreport.report.answer.forest import forest
from trustreport.report.elements.annexes import scope_words
from trustreport.report.release import released
from trustreport.report.spreadsheets import SCOPE, results_frame
from trustreport.report.tables import in_words
from trustreport.study.plan import NOT_DECLARED, Plan
from trustreport.vocabulary.messages import Catalogue, catalogue

MOST_OTHERS = 3  # results that a trend follows where there are no criteria
OF_STUDY = ("study", "device", "site", "period")
NUMBERS = {
    "value": pa.float64(),
    "low": pa.float64(),
    "high": pa.float64(),
    "level": pa.float64(),
    "n": pa.int64(),
    "unit": pa.string(),
    "method": pa.string(),
    "primary": pa.bool_(),
    "note": pa.string(),
}
SCOPE_COLUMNS = tuple(name for name in SCOPE if name not in OF_STUDY)
# Columns of results.parquet: a site or period of the number itself goes before that of the study.
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in (*OF_STUDY, "id", "quantity")),
        *((name, pa.float64() if name == "threshold" else pa.string()) for name in SCOPE_COLUMNS),
        *NUMBERS.items(),
    ]
)


def facts_of(assessment: Assessment, document: Mapping[str, Any], site: str, period: str) -> dict[str, Any]:
    """What the overview says of a study; `site` and `period` of the list go before what it declares."""
    assessment = released(assessment)
    plan = assessment.plan
    say = catalogue(plan.report.language)
    return {
        "device": plan.device.trade_name or NOT_DECLARED,
        "version": plan.device.software_version or "",
        "site": site or _site(plan),
        "period": period or _period(plan),
        "kind": plan.report.kind,
        "language": plan.report.language,
        "title": plan.report.title or "",
        "answer": document["answer"]["sentence"],
        "verdicts": dict(Counter(verdict["verdict"] for verdict in document["verdicts"])),
        "lines": list(_lines(assessment, say)),
        "n_results": len(document["results"]),
    }


def _site(plan: Plan) -> str:
    """The site of a study, where its data sets name one alone."""
    sites = {site for dataset in plan.datasets for site in dataset.sites or ()}
    return sites.pop() if len(sites) == 1 else ""


def _period(plan: Plan) -> str:
    """From which day to which a study has its data, as ISO 8601 writes an interval."""
    declared = plan.vigilance
    first = declared.period_start if declared else None
    last = declared.period_end if declared else None
    first = first or min((d.start_date for d in plan.datasets if d.start_date), default=None)
    last = last or max((d.end_date for d in plan.datasets if d.end_date), default=None)
    return f"{first.isoformat()}/{last.isoformat()}" if first and last else ""


def _lines(assessment: Assessment, say: Catalogue) -> Iterator[dict[str, str]]:
    """Each criterion with its estimate and verdict; without criteria the first primary results."""
    rows = [row for group in forest(assessment, say) for row in group.rows]
    for row in rows:
        yield {
            "title": row.title,
            "estimate": row.estimate,
            "required": row.required,
            "mark": row.mark,
            "word": row.word,
        }
    if rows:
        return
    whole = (r for r in assessment.results if r.primary and r.place.site is None and r.place.subgroup is None)
    for result in islice(whole, MOST_OTHERS):
        title, place = say(heading(result.name)), ", ".join(scope_words(result.scope, say))
        title = say("verdicts.measure_in", measure=title, place=place) if place else title
        estimate = in_words(result, say)
        yield {"title": title, "estimate": estimate, "required": "", "mark": "", "word": ""}


def write_results(document: Mapping[str, Any], facts: Mapping[str, Any], name: str, file: Path) -> int:
    """The results of a report as a Parquet file, a row each; how many bytes it has."""
    rows = results_frame(document["results"]).assign(study=name, device=facts["device"])
    for part in ("site", "period"):
        rows[part] = rows[part].where(rows[part].notna(), facts[part] or None)
    table = pa.Table.from_pandas(rows[SCHEMA.names], SCHEMA, preserve_index=False).replace_schema_metadata()
    with replaced(file) as made:
        pq.write_table(table, made, compression="zstd")
    return file.stat().st_size

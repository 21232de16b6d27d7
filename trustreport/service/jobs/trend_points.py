"""What a report adds to the trend of its device: the points of its charts over time."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trustreport.service.engine import DatasetFacts, Plan

MOST_POINTS = 80
MOST_OTHERS = 6  # where neither criteria nor periods say which numbers matter
PERIOD_VALUE = "vigilance.period_value"
CHARTS = ("vigilance.sprt", "vigilance.cusum")
OF_A_PART = ("reader", "site", "subgroup", "period")  # a scope with one of these is not the whole study

Entry = Mapping[str, Any]


def trend_of(document: Entry, plan: Plan) -> list[dict[str, Any]]:
    """The points that a report adds to the charts of its device.

    They are the values of its periods and those that its criteria were tested on; where there are neither,
    the first primary results.
    """
    results = document["results"]
    points = [*_of_periods(results, plan), *_of_verdicts(document["verdicts"], results)]
    points = (points or list(_of_others(results)))[:MOST_POINTS]
    return [{key: value for key, value in point.items() if value is not None} for point in points]


def _of_periods(results: list[Entry], plan: Plan) -> Iterator[dict[str, Any]]:
    datasets = {dataset.dataset: dataset for dataset in plan.datasets}
    charts = {r["scope"].get("endpoint"): r["details"] for r in reversed(results) if r["id"] in CHARTS}
    for r in results:
        period = r["scope"].get("period")
        if r["id"] != PERIOD_VALUE or set(r["scope"]) != {"endpoint", "period"}:
            continue
        chart = charts.get(r["scope"]["endpoint"], {})
        alert = chart.get("first_alert_date") if chart.get("first_alert_period") == period else None
        yield {
            **_point(r, str(r["scope"]["endpoint"])),
            **_days(datasets.get(period)),
            "period": period,
            "expected": chart.get("in_control"),
            "alarming": chart.get("to_detect"),
            "alert": alert,
        }


def _of_verdicts(verdicts: list[Entry], results: list[Entry]) -> Iterator[dict[str, Any]]:
    known = {_key(r): r for r in results}
    for v in verdicts:
        if v["id"] is None:  # tested on no number
            continue
        unit = known.get(_key(v), {}).get("unit", "")
        point = _point({"unit": unit, "quantity": v["id"].rpartition(".")[2], **v}, str(v["endpoint"]))
        yield {**point, "above": v["above"], "below": v["below"], "verdict": v["verdict"]}


def _of_others(results: list[Entry]) -> Iterator[dict[str, Any]]:
    found = 0
    for r in results:
        whole = not any(part in r["scope"] for part in OF_A_PART)
        if r["primary"] and whole and r["low"] is not None and r["low"] < r["high"]:
            where = ", ".join(str(value) for value in r["scope"].values() if isinstance(value, str))
            yield _point(r, f"{r['quantity']} ({where})" if where else r["quantity"])
            found += 1
        if found == MOST_OTHERS:
            return


def _point(r: Entry, series: str) -> dict[str, Any]:
    keys = ("quantity", "unit", "value", "low", "high", "level", "n")
    return {"series": series, **{key: r.get(key) for key in keys}}


def _days(dataset: DatasetFacts | None) -> dict[str, str | None]:
    start = dataset.start_date if dataset else None
    end = dataset.end_date if dataset else None
    return {"start": start.isoformat() if start else None, "end": end.isoformat() if end else None}


def _key(entry: Entry) -> str:
    return json.dumps([entry["id"], entry["method"], entry["scope"]], sort_keys=True)

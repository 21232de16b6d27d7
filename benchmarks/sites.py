"""Files of many simulated sites: bytes, seconds and memory, and whether their pool gives what all rows give.

Each site is a study of its own under one lock. `exact` builds the report of all files and that of all rows
and compares their primary results. `large` makes the file of one large site, and pools it with copies of
itself under other names: what takes time is the same as of sites that differ.
Every step is a process of its own. Wall time depends on what else the machine does: CPU time is beside it.

    python benchmarks/sites.py FOLDER [--sites 50] [--cases 20000] [--large 1000000] [--out FILE]
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

PLAN = """report: {kind: certification, title: Many sites, date: 2026-11-01}
device: {trade_name: Simulated model, software_version: "1.0", manufacturer: none}
operating_point: {threshold: 0.3, score_range: [0, 1], threshold_origin: fixed by the manufacturer}
utility: {thresholds: [0.1, 0.2, 0.3, 0.5]}
reference_standard: {definition: follow-up, type: follow-up, applied_to: all}
subgroups:
  - {name: age, breaks: [50, 70], prespecified: true}
  - {name: sex, prespecified: true}
datasets:
  - {dataset: external, role: external%s}
endpoints:
  - {endpoint: sensitivity, role: primary, measure: advice_accuracy.sensitivity, dataset: external,
     hypothesis: performance goal, bound_or_margin: 0.55, alpha: 0.025}
"""
BEGIN = """
import json, resource, sys, time
from pathlib import Path
from trustreport.api import assess, read_study, write_report
from trustreport.api.sites import Signers, pool_sites, read_sites, site_bytes, summarise_site
start = time.perf_counter(), time.process_time()

def say(**more):
    spent = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    found = {"seconds": round(spent[0], 1), "cpu_seconds": round(spent[1], 1), "peak_mb": round(peak)}
    print(json.dumps({**found, **more}))
"""
SITE = """
data = site_bytes(summarise_site(sys.argv[1], sys.argv[3]))
Path(sys.argv[2]).write_bytes(data)
say(bytes=len(data))
"""
POOL = """
files = read_sites(sorted(Path(sys.argv[1]).glob("*.site.json")), Signers({}, unverified=True))
assessment = assess(*pool_sites(files))
say(step="read and assess")
write_report(assessment, sys.argv[2], formats=["json", "html"])
say(step="and write")
"""
ROWS = """
write_report(assess(*read_study(sys.argv[1])), sys.argv[2], formats=["json"])
say()
"""


def run(code: str, *words: object) -> list[dict[str, Any]]:
    """What a process of its own printed of itself."""
    command = [sys.executable, "-c", BEGIN + code, *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def draw(folder: Path, cases: int, rng: np.random.Generator) -> Any:
    """The study of a site; scores are risks, from site to site a little too high or too low."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    predictor = rng.normal(-1.2, 1.3, cases)
    risk = 1 / (1 + np.exp(-rng.normal(0, 0.2) - rng.normal(0.95, 0.05) * predictor))
    columns = {
        "truth": (rng.random(cases) < risk).astype(np.int8),
        "score": 1 / (1 + np.exp(-predictor)),
        "age": rng.integers(20, 95, cases),
        "sex": pa.array(["female", "male"]).take(pa.array(rng.integers(0, 2, cases))),
    }
    table = pa.table(columns)
    write_plan(folder)
    pq.write_table(table, folder / "data.parquet")
    return table


def write_plan(folder: Path, columns: str = "") -> None:
    """The lock of the declarations alone, which all sites share, and the manifest that names the file too."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(PLAN % "", encoding="utf-8")
    lock = folder.parent / "criteria.lock.json"
    if not lock.is_file():
        subprocess.run([sys.executable, "-m", "trustreport", "lock", folder], check=True)
        (folder / lock.name).rename(lock)
    if columns == "":
        (folder / lock.name).write_bytes(lock.read_bytes())
    (folder / "study.yaml").write_text(PLAN % f", file: data.parquet{columns}", encoding="utf-8")


def primary(file: Path) -> dict[str, dict[str, Any]]:
    """The primary results of a report by what they are of."""
    said = json.loads(file.read_text(encoding="utf-8"))["results"]
    keys = ("id", "scope", "method", "analysis")
    return {json.dumps([r.get(k) for k in keys], sort_keys=True): r for r in said if r.get("primary")}


def compared(rows: Path, pool: Path) -> dict[str, Any]:
    """How far primary results of the pool are from those of all rows."""
    a, b = primary(rows), primary(pool)
    both = a.keys() & b.keys()
    largest, where, undefined, n = 0.0, "", 0, 0
    for key in both:
        for field in ("value", "low", "high"):
            x, y = a[key].get(field), b[key].get(field)
            if x is None or y is None:
                undefined += x is not None and field == "value"
                continue
            n += 1
            if abs(x - y) > largest * max(abs(x), 1e-12):
                largest, where = abs(x - y) / max(abs(x), 1e-12), f"{key} {field}"
    found = {"results_of_rows": len(a), "in_both": len(both), "numbers": n, "undefined_in_pool": undefined}
    return found | {"largest_relative_difference": largest, "where": where}


def exact(folder: Path, sites: int, cases: int) -> list[dict[str, Any]]:
    """Sites, their pool and the report of all rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"S{i:03}" for i in range(sites)]
    tables, made = [], []
    out = folder / "files"
    out.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate(names):
        table = draw(folder / name, cases, np.random.default_rng(i))
        tables.append(table.append_column("hospital", pa.array([name] * cases)))
        made += run(SITE, folder / name, out / f"{name}.site.json", name)
    every = folder / "all"
    write_plan(every, ", columns: {site: hospital}")
    pq.write_table(pa.concat_tables(tables), every / "data.parquet")
    pooled = run(POOL, out, folder / "pooled")
    rows = run(ROWS, every, folder / "rows")
    one = {
        k: round(float(np.median([m[k] for m in made])), 1)
        for k in ("seconds", "cpu_seconds", "peak_mb", "bytes")
    }
    return [
        {"step": "site", **one},
        *({**found, "step": f"pool: {found['step']}"} for found in pooled),
        {"step": "all rows", **rows[0]},
        {
            "step": "difference",
            **compared(folder / "rows" / "results.json", folder / "pooled" / "results.json"),
        },
    ]


def large(folder: Path, sites: int, cases: int) -> list[dict[str, Any]]:
    """One large site, and the pool of as many that have its counts."""
    draw(folder / "large", cases, np.random.default_rng(1))
    out = folder / "large_files"
    out.mkdir(parents=True, exist_ok=True)
    first = out / "L000.site.json"
    (made,) = run(SITE, folder / "large", first, "L000")
    said = json.loads(first.read_text(encoding="utf-8"))
    for i in range(1, sites):
        own = {**said, "site": f"L{i:03}", "data": [f"{i:064x}"]}
        (out / f"L{i:03}.site.json").write_text(json.dumps(own), encoding="utf-8")
    pooled = run(POOL, out, folder / "large_pooled")
    return [{"step": "site", **made}, *({**found, "step": f"pool: {found['step']}"} for found in pooled)]


def main() -> None:
    """Draw, measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", type=int, default=50)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=1_000_000, help="0: no large sites")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "sites.csv")
    args = parser.parse_args()
    runs = [(args.cases, exact)] + ([(args.large, large)] if args.large else [])
    rows = []
    for cases, measure in runs:
        for row in measure(args.folder / measure.__name__, args.sites, cases):
            rows.append({"sites": args.sites, "cases": cases, **row})
            print(rows[-1], flush=True)
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    with args.out.open("w", newline="", encoding="utf-8") as file:
        fields = list(dict.fromkeys(key for row in rows for key in row))
        writer = csv.DictWriter(file, [*fields, "machine"], lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "machine": machine} for row in rows)


if __name__ == "__main__":
    main()

"""Time and memory of a report on one external set of ten million cases (Parquet, truth, score and site).

The set is drawn, written once into FOLDER and read as any study is, in a process of its own. Steps are timed
one by one; with features, the permutation test runs on a random part of the set (`similarity: most_cases`),
and its own time is separate. Wall time depends on what else the machine does: CPU time and its load are
written beside it.

    python benchmarks/large_external.py FOLDER [--cases 1000000,10000000] [--features 0,8] [--out FILE]
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

SITES = 20
PLAN = """report: {kind: certification, title: Ten million cases}
device: {trade_name: Simulated model, software_version: "1.0"}
datasets:
  - {dataset: training, role: training, file: training.parquet%(features)s}
  - {dataset: registry, role: external, file: registry.parquet%(features)s}
operating_point: {threshold: 0.3, score_range: [0, 1]}
utility: {thresholds: [0.1, 0.2, 0.3, 0.5]}
similarity: {permutations: 9999, seed: 3}
"""
MEASURED = """
import json, resource, sys, time
from trustreport.api import assess, read_study, write_report
from trustreport.assessment.dimensions.potential_robustness import similar
rows, last, tested = [], [time.perf_counter(), time.process_time()], [0.0, 0.0]

def done(step):
    now = [time.perf_counter(), time.process_time()]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    rows.append([step, *(a - b for a, b in zip(now, last)), peak])
    last[:] = now

whole = similar.compared
def timed(*task, **how):
    start = [time.perf_counter(), time.process_time()]
    found = whole(*task, **how)
    tested[:] = [t + a - b for t, a, b in zip(tested, (time.perf_counter(), time.process_time()), start)]
    return found
similar.compared = timed

study, plan = read_study(sys.argv[1])
done("read")
assessment = assess(study, plan)
done("assess")
rows[-1][1] -= tested[0]
rows[-1][2] -= tested[1]
rows.append(["similarity on a part", *tested, rows[-1][3]])
write_report(assessment, sys.argv[2], formats=["json", "html"])
done("write")
print(json.dumps(rows))
"""


def draw(folder: Path, cases: int, features: int) -> None:
    """The study: scores that are risks of four features, in the registry a little too extreme."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(5)
    names = [f"x{i + 1}" for i in range(features)]
    for name, n, shift, slope in (("training", 5000, 0.0, 1.0), ("registry", cases, 0.1, 0.9)):
        x = rng.normal(shift, 1, (n, max(features, 4))).astype(np.float32)
        predictor = -1.5 + 0.6 * x[:, :4].sum(axis=1, dtype=np.float64)
        truth = (rng.random(n) < 1 / (1 + np.exp(-slope * predictor))).astype(np.int8)
        hospitals = pa.array([f"Hospital {i + 1}" for i in range(SITES)])
        site = hospitals.take(pa.array(rng.integers(0, SITES, n)))
        columns = {"truth": truth, "score": 1 / (1 + np.exp(-predictor)), "site": site}
        table = pa.table(columns | {f: x[:, i] for i, f in enumerate(names)})
        pq.write_table(table, folder / f"{name}.parquet")
    plan = PLAN % {"features": f", features: [{', '.join(names)}]" if names else ""}
    (folder / "study.yaml").write_text(plan, encoding="utf-8")


def measured(folder: Path) -> list[list[float | str]]:
    """What each step took: its name, seconds, CPU seconds, and the peak so far in MB."""
    command = [sys.executable, "-c", MEASURED, str(folder), str(folder / "report")]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    rows: list[list[float | str]] = json.loads(done.stdout.splitlines()[-1])
    whole = [sum(r[k] for r in rows if "part" not in str(r[0])) for k in (1, 2)]
    return [*rows, ["all but similarity", *whole, rows[-1][3]]]


def main() -> None:
    """Draw, measure, print and write every size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", default="1000000,10000000")
    parser.add_argument("--features", default="0,8")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "large_external.csv")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        header = ["cases", "features", "step", "seconds", "cpu_seconds", "peak_mb", "load_before", "machine"]
        writer.writerow(header)
        for cases, features in [
            (int(c), int(f)) for c in args.cases.split(",") for f in args.features.split(",")
        ]:
            draw(args.folder, cases, features)
            load = os.getloadavg()[0]
            for step, seconds, cpu, peak in measured(args.folder):
                row = [cases, features, step, f"{seconds:.1f}", f"{cpu:.1f}", f"{peak:.0f}", f"{load:.1f}"]
                writer.writerow([*row, f"{platform.machine()}, {os.cpu_count()} cores"])
                print(*row, flush=True)


if __name__ == "__main__":
    main()

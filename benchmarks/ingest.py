"""Time and peak memory of reading a large table of scores.

    python benchmarks/ingest.py [--rows 10000000] [--kind csv|parquet] [--case] [--datasets 4]

Writes the table into a temporary folder, reads it in a process of its own and prints what that took.

Ten million rows on two busy cores: CSV without case names 8 s, 1.3 GB; with distinct case names 32 to 45 s,
1.8 GB (one data set or four); Parquet with case names 21 s, 1.7 GB.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

CHUNK = 1_000_000
ROLES = ("training", "external", "period", "period")


def write(folder: Path, rows: int, kind: str, case: bool, datasets: int) -> None:
    """A study folder with one table of scores."""
    names = [f"set{i}" for i in range(datasets)]
    declared = "".join(f"  - {{dataset: {n}, role: {ROLES[i % 4]}}}\n" for i, n in enumerate(names))
    manifest = (
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        f"datasets:\n{declared}tables: {{scores: {{file: scores.{kind}}}}}\n"
    )
    (folder / "study.yaml").write_text(manifest, encoding="utf-8")
    rng = np.random.default_rng(1)
    writer = None
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        score = rng.random(n).round(6)
        columns = {"score": score, "truth": (rng.random(n) < score).astype(np.int8)}
        if case:
            columns = {"case": np.char.add("case-", np.arange(start, start + n).astype(str)), **columns}
        if datasets > 1:
            columns["dataset"] = np.array(names)[rng.integers(datasets, size=n)]
        table = pa.table(columns)
        if writer is None:
            make = parquet.ParquetWriter if kind == "parquet" else csv.CSVWriter
            writer = make(str(folder / f"scores.{kind}"), table.schema)
        writer.write(table)
    if writer is not None:
        writer.close()


def measure(folder: Path) -> None:
    """Read the folder and print time and peak memory of this process."""
    from trustreport.study.ingest import read

    start = time.perf_counter()
    study, _ = read(folder)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    cases = sum(len(d.cases) for d in study.datasets)
    print(f"{cases:,} cases in {len(study.datasets)} data sets: {seconds:.1f} s, peak {peak:.2f} GB")


def main() -> None:
    """Write, then read in another process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--kind", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--case", action="store_true", help="a column of distinct case names")
    parser.add_argument("--datasets", type=int, default=1)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        measure(given.read)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, given.rows, given.kind, given.case, given.datasets)
        size = (folder / f"scores.{given.kind}").stat().st_size / 1e6
        print(f"{given.rows:,} rows, {given.kind}, {size:,.0f} MB, case column: {given.case}", flush=True)
        subprocess.run([sys.executable, __file__, "--read", name], check=True)


if __name__ == "__main__":
    main()

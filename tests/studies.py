"""Small studies that several tests are made of."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.plan import Plan
from trustreport.study.study import ArmCounts, Cases, CountsSet, Labels, Readers, Readings, Study


def plan(**groups: Any) -> Plan:
    """A manifest with what every manifest has."""
    return Plan.model_validate({"report": {"kind": "certification"}, "device": {}, **groups})


# A manifest whose criteria were fixed before the data were opened.
FIXED = (
    "report: {kind: certification}\ndevice: {trade_name: X}\n"
    "study: {sap_locked_at: 2026-01-01, data_opened_at: 2026-02-01}\n"
)


# A study that can be locked before its test set, ``test.csv``, is opened.
LOCKABLE = """\
report: {kind: certification, date: 2026-03-01}
device: {trade_name: Example}
operating_point: {threshold: 0.5}
endpoints:
  - {endpoint: finds, measure: sensitivity, hypothesis: performance goal, bound_or_margin: 0.4}
datasets: [{dataset: test, role: internal test, file: test.csv}]
"""
TEST_SET = "case,truth,score\n" + "".join(f"c{i},{i % 2},{(i * 7 % 10) / 10}\n" for i in range(40))


def with_table(folder: Path, manifest: str, header: str, rows: Iterable[Sequence[Any]]) -> Path:
    """A study folder with a manifest, what `FIXED` has before it, and one table, ``table.csv``."""
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split())
        writer.writerows(rows)
    (folder / "study.yaml").write_text(FIXED + manifest)
    return folder


def counts(unaided: tuple[int, int], aided: tuple[int, int], **known: Any) -> Study:
    """A study of one published table, (errors, correct) per arm."""
    arms = {"unaided": ArmCounts(*unaided), "aided": ArmCounts(*aided)}
    return Study(arms=("unaided", "aided"), counts=(CountsSet("table", arms, **known),))


def readings(
    correct: NDArray[np.bool_],
    missing: NDArray[np.bool_] | None = None,
    *,
    readers: tuple[str, ...] = (),
    scores: NDArray[np.float64] | None = None,
) -> Study:
    """A study from right decisions (2, n_readers, n_cases), unaided first; every other case is positive."""
    _, n_readers, n_cases = correct.shape
    truth = (np.arange(n_cases) % 2).astype(np.int8)
    kept = ~missing if missing is not None else np.ones(correct.shape, bool)
    arm, reader, case = (index.astype(np.int32) for index in np.nonzero(kept))
    decision = np.where(correct[arm, reader, case], truth[case], 1 - truth[case]).astype(np.int8)
    table = Readings(
        "",
        ("unaided", "aided"),
        Readers(Labels(readers) if readers else Labels(n=n_readers)),
        Cases(Labels(n=n_cases), truth),
        arm,
        reader,
        case,
        decision,
        scores[arm, reader, case] if scores is not None else None,
    )
    return Study(arms=("unaided", "aided"), readings=(table,))

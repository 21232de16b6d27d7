"""Make the tables of this example: simulated ventricular volumes, the same bytes on each run.

    python examples/measured-volumes/make.py

Five readers contour 60 examinations of 40 patients without and with the device, and the device
measures 120 others of 80 patients by itself. Readers differ in a bias of their own; with the device their
errors are smaller. Two examinations of five are from the scanner beta, on which nothing differs.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 12
HERE = Path(__file__).parent
N_READ, N_TESTED, READERS = 60, 120, "ABCDE"


def volumes(rng: np.random.Generator, n: int, per_patient: float) -> tuple[np.ndarray, np.ndarray]:
    """Reference volumes in millilitres, and the patient of each examination."""
    patient = np.sort(rng.integers(0, round(n * per_patient), n))
    own = rng.lognormal(4.9, 0.3, patient.max() + 1)
    return (own[patient] * rng.lognormal(0, 0.08, n)).round(1), patient


def scanner(k: int) -> str:
    """The scanner of an examination, which decides nothing."""
    return "beta" if k % 5 < 2 else "alpha"


def main() -> None:
    rng = np.random.default_rng(SEED)
    reference, patient = volumes(rng, N_READ, 0.67)
    hard = rng.normal(0, 2.0, N_READ)
    with (HERE / "readings.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("reader", "case", "patient", "scanner", "arm", "volume_ml", "reference_ml"))
        for reader in READERS:
            bias = rng.normal(0, 3.0)
            for arm, spread, pull in (("unaided", 9.0, 1.0), ("aided", 5.0, 0.4)):
                for k in range(N_READ):
                    value = reference[k] + pull * bias + hard[k] + rng.normal(0, spread)
                    whose = (reader, f"E{k:03d}", f"P{patient[k]:03d}", scanner(k), arm)
                    table.writerow((*whose, round(value, 1), reference[k]))
    reference, patient = volumes(rng, N_TESTED, 0.67)
    with (HERE / "device.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("case", "patient", "site", "scanner", "volume_ml", "reference_ml"))
        for k in range(N_TESTED):
            value = reference[k] + 0.8 + rng.normal(0, 5.5)
            site = ("north", "south")[k % 3 == 0]
            whose = (f"T{k:03d}", f"Q{patient[k]:03d}", site, scanner(k))
            table.writerow((*whose, round(value, 1), reference[k]))


if __name__ == "__main__":
    main()

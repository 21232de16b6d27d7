"""Tables of seven studies without decisions, as hospitals export them, and their leading values by numpy.

    python tests/reference/endpoints/make.py

All data are simulated (seed 2026). Headers, languages, decimal signs and separators are those of the exports,
not the words of this package. Run with numpy 2.4.6; expected.json names the version.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
R = np.random.default_rng(2026)
Table = list[Sequence[Any]]


def write(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]], sign: str = ",") -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=sign, lineterminator="\n").writerows([header, *rows])


def ejection_fraction() -> dict[str, float]:
    """Five readers measure 40 patients with and without the device; the reference is cardiac MRI."""
    reference = np.round(R.normal(55, 9, 40), 1)
    spread = {"ohne KI": 6.0, "mit KI": 3.5}
    rows: Table = []
    error: dict[str, list[float]] = {arm: [] for arm in spread}
    for j in range(5):
        shift = R.normal(0, 1)
        for k, x in enumerate(reference):
            for arm, sd in spread.items():
                y = round(float(x + shift + R.normal(0, sd)), 1)
                error[arm].append(abs(y - x))
                rows.append(
                    [f"F{k:04d}", f"Arzt {j + 1}", arm, f"{y}".replace(".", ","), f"{x}".replace(".", ",")]
                )
    header = ["Fallnummer", "Arzt", "Lesung", "EF gemessen (%)", "EF Referenz MRT (%)"]
    write("ejection-fraction/messungen.csv", header, rows, sign=";")
    return {"difference": float(np.mean(error["mit KI"]) - np.mean(error["ohne KI"]))}


def contours() -> dict[str, float]:
    """Dice and the 95th percentile of the surface distances of three models on 36 patients, two organs."""
    quality = {"UNet-A": 0.90, "UNet-B": 0.87, "Atlas": 0.78}
    rows: Table = []
    dice: dict[str, list[float]] = {m: [] for m in quality}
    for k in range(36):
        for organ, shift in (("Liver", 0.03), ("Spleen", 0.0)):
            hard = R.normal(0, 0.03)
            for model, mean in quality.items():
                d = round(float(np.clip(mean + shift + hard + R.normal(0, 0.02), 0, 1)), 4)
                rows.append(
                    [f"PAT{k:03d}", model, organ, d, round(float(40 * (1 - d) * R.uniform(0.7, 1.3)), 2)]
                )
                if organ == "Liver":
                    dice[model].append(d)
    write("contours/auto_contours.csv", ["Patient ID", "Model", "Structure", "DSC", "HD95 (mm)"], rows)
    return {f"mean {m}": float(np.mean(v)) for m, v in dice.items()} | {
        "difference": float(np.mean(dice["UNet-A"]) - np.mean(dice["UNet-B"]))
    }


def image_quality() -> dict[str, float]:
    """Four radiologists rate 30 examinations in two reconstructions, from 1 to 5; nobody knows a truth."""
    rows: Table = []
    given: dict[str, list[int]] = {"FBP": [], "Deep Learning": []}
    for k in range(30):
        hard = R.normal(0, 0.5)
        for j in range(4):
            for method, mean in (("FBP", 3.1), ("Deep Learning", 3.8)):
                note = int(np.clip(round(mean + hard + 0.2 * j - 0.3 + R.normal(0, 0.6)), 1, 5))
                given[method].append(note)
                noise = int(np.clip(round(5.5 - note + R.normal(0, 0.5)), 1, 5))
                rows.append([f"Lecteur {'ABCD'[j]}", f"EX{k:03d}", method, note, noise])
    header = ["Lecteur", "Examen", "Reconstruction", "Qualité d'image (1-5)", "Bruit (1-5)"]
    write("image-quality/notes.csv", header, rows, sign=";")
    return {"difference": float(np.mean(given["Deep Learning"]) - np.mean(given["FBP"]))}


def drafted_reports() -> dict[str, float]:
    """Three radiologists judge 40 reports drafted by a model and 40 written by residents."""
    rows: Table = []
    serious: dict[str, list[int]] = {"AI draft": [], "Resident": []}
    accepted: dict[str, list[int]] = {"AI draft": [], "Resident": []}
    for k in range(40):
        for j in range(3):
            for source, rate in (("AI draft", 0.35), ("Resident", 0.15)):
                critical, minor = int(R.poisson(rate)), int(R.poisson(0.9))
                mark = int(np.clip(5 - critical - round(minor / 2) + R.integers(-1, 1), 1, 5))
                serious[source].append(critical)
                accepted[source].append(mark)
                rows.append([source, f"Radiologist {j + 1}", f"ACC{1000 + k}", critical, minor, mark])
    header = ["Report source", "Radiologist", "Accession No.", "Critical errors", "Minor errors"]
    write("drafted-reports/review.csv", [*header, "Acceptability (1-5)"], rows)
    return {
        "critical": float(np.mean(serious["AI draft"]) - np.mean(serious["Resident"])),
        "acceptability": float(np.mean(accepted["AI draft"]) - np.mean(accepted["Resident"])),
    }


def routine(folder: str, *, audited: bool) -> dict[str, float]:
    """Labels that a language model read from reports, and scores; 300 of the reports were read again."""
    n = 900
    truth = R.random(n) < 0.3
    label = np.where(truth, R.random(n) < 0.93, R.random(n) < 0.04)
    score = np.round(1 / (1 + np.exp(-R.normal(np.where(truth, 1.2, -1.4), 1.1))), 3)
    words = np.where(label, "Yes", "No")
    rows = [[f"A{k:05d}", f"2026-0{1 + k % 6}-{1 + k % 28:02d}", words[k], score[k]] for k in range(n)]
    header = ["Accession", "Exam date", "Finding (NLP of report)", "AI probability"]
    write(f"{folder}/routine.csv", header, rows)
    called = score >= 0.5
    out = {"agreement": float(called[label].mean()), "n": int(label.sum())}
    if not audited:
        return out
    again = np.sort(R.choice(n, 300, replace=False))
    read = np.where(truth[again], "Yes", "No")
    write(
        f"{folder}/audit.csv",
        ["Accession", "Finding (NLP of report)", "Expert consensus"],
        [[f"A{k:05d}", words[k], r] for k, r in zip(again, read, strict=True)],
    )
    own, said = truth[again], label[again]
    right = {"sensitivity": said[own], "specificity": ~said[~own]}
    rates = {name: float(x.mean()) for name, x in right.items()}
    # Staquet et al. (1981): the label's errors are independent of the device's, given the truth.
    p, q = label.mean(), called.mean()
    both = (called & label).mean()
    corrected = (both - q * (1 - rates["specificity"])) / (p - (1 - rates["specificity"]))
    return out | {
        "corrected": float(corrected),
        **{f"{name} right": int(x.sum()) for name, x in right.items()},
        **{f"{name} of": len(x) for name, x in right.items()},
    }


def preferences() -> dict[str, float]:
    """Four readers choose between a drafted and a written report of 36 examinations, shown side by side."""
    rows: Table = []
    won = 0.0
    for k in range(36):
        for j in range(4):
            left, right = ("Draft", "Written") if R.random() < 0.5 else ("Written", "Draft")
            u = R.random()
            choice = "Draft" if u < 0.5 else "Written" if u < 0.85 else "No preference"
            won += 1.0 if choice == "Draft" else 0.5 if choice == "No preference" else 0.0
            rows.append([f"ACC{k:03d}", f"Reader {j + 1}", left, right, choice])
    write("preferences/choices.csv", ["Accession", "Reader", "Left", "Right", "Preferred report"], rows)
    return {"share": won / (36 * 4)}


if __name__ == "__main__":
    expected = {
        "ejection-fraction": ejection_fraction(),
        "contours": contours(),
        "image-quality": image_quality(),
        "drafted-reports": drafted_reports(),
        "labels-known": routine("labels-known", audited=True),
        "labels-unknown": routine("labels-unknown", audited=False),
        "preferences": preferences(),
        "versions": {"numpy": np.__version__},
    }
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")

"""Exports of other programs to the right number, with no edit of what `init --from` writes."""

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from trustreport.api import assess, read_study
from trustreport.study.proposal import manifest
from trustreport.study.proposal.files import propose

CASES, READERS = 40, 4
DRAWN = random.Random(11)
TRUTH = [int(DRAWN.random() < 0.4) for _ in range(CASES)]


def decided(skill: float) -> list[list[int]]:
    return [[t if DRAWN.random() < skill else 1 - t for t in TRUTH] for _ in range(READERS)]


ALONE, AIDED = decided(0.7), decided(0.85)
GAIN = sum(
    (a == t) - (b == t) for aided, alone in zip(AIDED, ALONE) for a, b, t in zip(aided, alone, TRUTH)
) / (CASES * READERS)
SCORES = [round(min(0.99, max(0.01, DRAWN.gauss(0.35 + 0.3 * t, 0.2))), 3) for t in TRUTH]
AREA = sum(
    (a > b) + (a == b) / 2
    for a, s in zip(SCORES, TRUTH) if s
    for b, t in zip(SCORES, TRUTH) if not t
) / (sum(TRUTH) * (CASES - sum(TRUTH)))  # fmt: skip


def write(folder: Path, name: str, rows: list[list[Any]], sign: str = ",", encoding: str = "utf-8") -> Path:
    file = folder / name
    with file.open("w", encoding=encoding, newline="") as out:
        csv.writer(out, delimiter=sign).writerows(rows)
    return file


def redcap(folder: Path) -> list[Path]:
    """A repeated instrument, radios of 1 and 2, times in milliseconds, and their dictionary."""
    head = ["record_id", "redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance",
            "dx", "age", "user", "cond", "call", "conf", "ms", "reading_complete"]  # fmt: skip
    rows: list[list[Any]] = [head]
    for k, t in enumerate(TRUTH):
        rows.append([f"P{k:03}", "visit_arm_1", "", "", 1 if t else 2, 40 + k, "", "", "", "", "", ""])
        number = 0
        for j in range(READERS):
            for arm, own in ((2, ALONE), (1, AIDED)):
                number += 1
                rows.append(
                    [f"P{k:03}", "visit_arm_1", "reading", number, "", "", f"r{j}", arm,
                     1 if own[j][k] else 2, 60 + j, 25_000 + 31 * k, 2]
                )  # fmt: skip
    names = ["Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label",
             "Choices, Calculations, OR Slider Labels"]  # fmt: skip
    told = [
        ["record_id", "base", "", "text", "Record", ""],
        ["dx", "base", "", "radio", "Reference standard", "1, Yes | 2, No"],
        ["age", "base", "", "text", "Age", ""],
        ["user", "reading", "", "text", "Reader", ""],
        ["cond", "reading", "", "radio", "Mode", "1, With AI | 2, Without AI"],
        ["call", "reading", "", "radio", "Decision", "1, Yes | 2, No"],
        ["conf", "reading", "", "slider", "Confidence", ""],
        ["ms", "reading", "", "text", "Reading time", ""],
    ]
    return [write(folder, "export.csv", rows), write(folder, "dictionary.csv", [names, *told])]


def answers(folder: Path) -> list[Path]:
    """A row for each answer, as platforms for reader studies export them, and the truth apart."""
    rows: list[list[Any]] = [["created_at", "user", "image_name", "mode", "question", "answer"]]
    for j in range(READERS):
        for k in range(CASES):
            for arm, own in (("without AI", ALONE), ("with AI", AIDED)):
                at = f"2026-03-02T09:{k:02}:{j:02}"
                rows.append(
                    [at, f"u{j}", f"img{k}", arm, "Is a fracture present?", "Yes" if own[j][k] else "No"]
                )
                rows.append([at, f"u{j}", f"img{k}", arm, "Confidence (0-100)", 50 + (k + j) % 50])
    truth = [["image_name", "fracture"], *([f"img{k}", "yes" if t else "no"] for k, t in enumerate(TRUTH))]
    return [write(folder, "answers.csv", rows), write(folder, "truth.csv", truth)]


def merged(folder: Path) -> list[Path]:
    """A workbook with a title, a header of two rows with merged cells, and a legend on another sheet."""
    book = Workbook()
    sheet = book.active
    sheet.title = "Readings"
    sheet.append(["Reader study 2026, final", *[None] * (1 + 2 * READERS)])
    sheet.append(["Case", "Reference", *(x for j in range(READERS) for x in (f"Reader {'ABCD'[j]}", None))])
    sheet.append([None, None, *["without AI", "with AI"] * READERS])
    for k, t in enumerate(TRUTH):
        sheet.append([f"c{k}", t, *(x for j in range(READERS) for x in (ALONE[j][k], AIDED[j][k]))])
    for j in range(READERS):
        sheet.merge_cells(start_row=2, end_row=2, start_column=3 + 2 * j, end_column=4 + 2 * j)
    for column in (1, 2):
        sheet.merge_cells(start_row=2, end_row=3, start_column=column, end_column=column)
    legend = book.create_sheet("Legend")
    legend.append(["Reference", "histology"])
    legend.append(["1", "malignant"])
    book.save(folder / "study.xlsx")
    return [folder / "study.xlsx"]


def wide(folder: Path) -> list[Path]:
    """A column for each reader and arm."""
    names = ["Smith", "Jones", "Garcia", "Rossi"]
    head = ["case", "truth", *(f"{name}_{arm}" for name in names for arm in ("noAI", "AI"))]
    rows = [
        [f"c{k}", t, *(x for j in range(READERS) for x in (ALONE[j][k], AIDED[j][k]))]
        for k, t in enumerate(TRUTH)
    ]
    return [write(folder, "wide.csv", [head, *rows])]


def french(folder: Path) -> list[Path]:
    """A French export in cp1252 with a decimal comma and a column of times."""
    rows: list[list[Any]] = [["Lecteur", "Cas", "Modalité", "Vérité", "Décision", "Secondes", "Âge"]]
    for j in range(READERS):
        for k, t in enumerate(TRUTH):
            for arm, own in (("sans IA", ALONE), ("avec IA", AIDED)):
                yes = "oui" if own[j][k] else "non"
                rows.append([f"L{j}", f"E{k}", arm, "oui" if t else "non", yes, f"{20 + k},5", 40 + k])
    return [write(folder, "étude.csv", rows, ";", "cp1252")]


def dutch(folder: Path) -> list[Path]:
    """Dutch readings that call cases patients, and a column of remarks that is empty."""
    head = ["Lezer", "Patiëntnummer", "Conditie", "Gouden standaard", "Oordeel lezer", "Leestijd (sec)"]
    head += ["Opmerking"]
    rows: list[list[Any]] = [head]
    for j in range(READERS):
        for k, t in enumerate(TRUTH):
            for arm, own in (("zonder AI", ALONE), ("met AI", AIDED)):
                yes = "ja" if own[j][k] else "nee"
                rows.append([f"L{j}", f"P{k:03}", arm, "ja" if t else "nee", yes, f"{20 + k},5", ""])
    return [write(folder, "lezingen.csv", rows, ";")]


def spanish(folder: Path) -> list[Path]:
    """Answers in rows, in Spanish."""
    rows: list[list[Any]] = [["usuario", "imagen", "modo", "pregunta", "respuesta"]]
    for j in range(READERS):
        for k in range(CASES):
            for arm, own in (("sin IA", ALONE), ("con IA", AIDED)):
                at = [f"U{j}", f"img{k}", arm]
                rows.append([*at, "¿Hay fractura?", "Sí" if own[j][k] else "No"])
                rows.append([*at, "Confianza (0-100)", 50 + (k + j) % 50])
    truth = [["imagen", "fractura"], *([f"img{k}", "Sí" if t else "No"] for k, t in enumerate(TRUTH))]
    return [write(folder, "respuestas.csv", rows), write(folder, "verdad.csv", truth)]


def platform(folder: Path) -> list[Path]:
    """What a platform of challenges exports: id and time of each answer, a question that names a disease."""
    rows: list[list[Any]] = [["pk", "created", "creator", "with_ai", "question", "answer", "image"]]
    for j in range(READERS):
        for k in range(CASES):
            for arm, own in (("no", ALONE), ("yes", AIDED)):
                for question, said in (("Malignant?", str(bool(own[j][k]))), ("Comment", "x")):
                    at = f"2026-03-02T09:{k:02}:{j:02}Z"
                    rows.append([len(rows), at, f"reader{j}", arm, question, said, f"case_{k}.mha"])
    truth = [["image", "ground_truth"], *([f"case_{k}.mha", t] for k, t in enumerate(TRUTH))]
    return [write(folder, "platform.csv", rows), write(folder, "gt.csv", truth)]


def hospital(folder: Path) -> list[Path]:
    """A workbook with title rows and a second sheet: cases with a score of the device."""
    book = Workbook()
    sheet = book.active
    sheet.append(["Export of the registry"])
    sheet.append([])
    sheet.append(["Case ID", "Reference", "AI score", "Hospital", "Exam date"])
    for k, t in enumerate(TRUTH):
        sheet.append(
            [f"A-{k:04}", "positive" if t else "negative", SCORES[k], "NS"[k % 2], f"2026-01-{1 + k % 28:02}"]
        )
    book.create_sheet("Notes").append(["Contact: quality office"])
    book.save(folder / "registry.xlsx")
    return [folder / "registry.xlsx"]


def vendor(folder: Path) -> list[Path]:
    """What a vendor's server exports: accession number, result, score, and the label of the report."""
    rows = [["Accession Number", "Study Date", "Modality", "AI Score", "AI Flag", "Report Label", "Sex"]]
    rows += [
        [f"{20260000 + k}", f"0{1 + k % 9}/03/2026", "CR", SCORES[k], "POS" if SCORES[k] >= 0.5 else "NEG",
         "Positive" if t else "Negative", "MF"[k % 2]]
        for k, t in enumerate(TRUTH)
    ]  # fmt: skip
    return [write(folder, "worklist.csv", rows)]


CHANGES = [redcap, answers, merged, wide, french, dutch, spanish, platform]
AREAS = [hospital, vendor]


def studied(folder: Path, files: list[Path]) -> Any:
    made = propose(files, "certification")
    (folder / "study.yaml").write_text(manifest.text(made, "s"), encoding="utf-8")
    return assess(*read_study(folder))


@pytest.mark.parametrize("export", CHANGES, ids=lambda export: export.__name__)
def test_a_reader_study_gives_its_change_in_accuracy(
    tmp_path: Path, export: Callable[[Path], list[Path]]
) -> None:
    found = studied(tmp_path, export(tmp_path))
    (change,) = [
        r for r in found.results
        if r.id == "decision_benefit.mean_benefit" and r.endpoint == "accuracy" and r.primary
    ]  # fmt: skip
    assert change.estimate.value == pytest.approx(GAIN)


@pytest.mark.parametrize("export", AREAS, ids=lambda export: export.__name__)
def test_scores_give_their_area(tmp_path: Path, export: Callable[[Path], list[Path]]) -> None:
    found = studied(tmp_path, export(tmp_path))
    areas = [r for r in found.results if r.id == "advice_accuracy.auc" and r.primary and not r.place.site]
    assert areas[0].estimate.value == pytest.approx(AREA)


def test_times_and_confidence_are_in_our_units(tmp_path: Path) -> None:
    found = studied(tmp_path, redcap(tmp_path))
    (readings,) = found.study.readings
    assert 25 <= readings.seconds.min() <= readings.seconds.max() < 27
    assert 0.6 <= readings.confidence.min() <= readings.confidence.max() < 0.7

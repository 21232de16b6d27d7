"""Exports as hospitals write them: columns without a header, codes with labels, values by readers."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from click.testing import CliRunner
from openpyxl import Workbook

from tests.test_proposal_of_exports import AIDED, ALONE, AREA, CASES, GAIN, READERS, SCORES, TRUTH, write
from trustreport.api import Assessed, assess, read_study
from trustreport.commands.cli import main

Rows = list[list[Any]]
ARMS = ((0, ALONE), (1, AIDED))


def read(folder: Path, files: Sequence[Path]) -> tuple[Assessed, str]:
    """The assessment of what `init --from` writes, which nobody edits, and what it marks."""
    done = CliRunner().invoke(main, ["init", str(folder / "study"), "--from", *map(str, files)])
    assert done.exit_code == 0, done.output
    lines = (folder / "study" / "study.yaml").read_text(encoding="utf-8").splitlines()
    return assess(*read_study(folder / "study")), "\n".join(line for line in lines if "# UNCERTAIN" in line)


def readings(head: list[str], names: Callable[[int], list[Any]], arms: Sequence[Any], said: Any) -> Rows:
    """A row for each reader, case and arm: what `names` gives of the reader, case, arm, truth, decision."""
    rows = [head]
    for j in range(READERS):
        for k, t in enumerate(TRUTH):
            for arm, own in ARMS:
                rows.append([*names(j), f"E{k:03}", arms[arm], said[t], said[own[j][k]]])
    return rows


def german(folder: Path) -> list[Path]:
    """Both arms in columns; the readers are in a column without a header."""
    said = ("gesund", "krank")
    rows: Rows = [
        ["", "Fall-Nr.", "Geschlecht", "Enddiagnose", "Urteil ohne KI", "Urteil mit KI", "Bemerkung"]
    ]
    for j in range(READERS):
        for k, t in enumerate(TRUTH):
            calls = [said[own[j][k]] for _, own in ARMS]
            note = "unklar" if k % 9 == 0 else ""
            rows.append([f"Dr. {'ABCD'[j]}", f"F{k:03}", "mw"[k % 2], said[t], *calls, note])
    return [write(folder, "befundung.csv", rows, ";", "cp1252")]


def portuguese(folder: Path) -> list[Path]:
    """A row for each reading; the readers are in a column without a header."""
    head = ["", "Exame", "Modo de leitura", "Padrão-ouro", "Parecer"]
    rows = readings(head, lambda j: [f"Dra. {'ABCD'[j]}"], ("sem IA", "com IA"), ("não", "sim"))
    return [write(folder, "leituras.csv", rows, ";", "cp1252")]


def french(folder: Path) -> list[Path]:
    """The same with numbers for readers, and a column that is empty but for its name."""
    head = ["", "Cas", "Modalité", "Vérité", "Décision"]
    rows = readings(head, lambda j: [j + 1], ("sans IA", "avec IA"), ("non", "oui"))
    return [write(folder, "lectures.csv", [[*row, ""] for row in rows], ";", "cp1252")]


def numbered(folder: Path) -> list[Path]:
    """The numbers of rows that a program put first, beside readers without a header."""
    rows = readings(["", "case", "arm", "truth", "decision"], lambda j: [f"R{j}"], ("unaided", "aided"), "01")
    return [write(folder, "df.csv", [[i - 1 if i else "", *row] for i, row in enumerate(rows)])]


def italian(folder: Path) -> list[Path]:
    """A workbook with a title and merged cells: the arms above, the readers below them."""
    book = Workbook()
    sheet = book.active
    said, gap = ("negativo", "positivo"), [None] * (READERS - 1)
    sheet.append(["Studio di lettura, esportazione definitiva"])
    sheet.append([])
    sheet.append(["Caso", "Diagnosi finale", "senza IA", *gap, "con IA", *gap])
    sheet.append([None, None, *[f"Dr. {name}" for name in ("Rossi", "Bianchi", "Verdi", "Neri")] * 2])
    for k, t in enumerate(TRUTH):
        sheet.append([f"C{k:02}", said[t], *(said[own[j][k]] for _, own in ARMS for j in range(READERS))])
    sheet.merge_cells("A1:F1")
    for first in (3, 3 + READERS):
        sheet.merge_cells(start_row=3, end_row=3, start_column=first, end_column=first + READERS - 1)
    for column in (1, 2):
        sheet.merge_cells(start_row=3, end_row=4, start_column=column, end_column=column)
    book.save(folder / "letture.xlsx")
    return [folder / "letture.xlsx"]


def spanish(folder: Path) -> list[Path]:
    """A column for each reader and arm."""
    said = ("No", "Sí")
    names = [f"Lector{j + 1}_{arm}" for j in range(READERS) for arm in ("sinIA", "conIA")]
    rows: Rows = [["Nº estudio", "Patrón oro", *names]]
    for k, t in enumerate(TRUTH):
        rows.append([f"E-{k}", said[t], *(said[own[j][k]] for j in range(READERS) for _, own in ARMS)])
    return [write(folder, "lectores.csv", rows, ";", "cp1252")]


def answers(folder: Path) -> list[Path]:
    """Questions and answers in rows, in German, and the truth apart."""
    said = ("Nein", "Ja")
    rows: Rows = [["Zeitstempel", "Befunder", "Fall", "Lesemodus", "Frage", "Antwort"]]
    for j in range(READERS):
        for k in range(CASES):
            for arm, own in ARMS:
                at = [f"02.03.2026 09:{k:02}", f"B{j}", f"Bild {k}", ("ohne KI", "mit KI")[arm]]
                rows.append([*at, "Fraktur vorhanden?", said[own[j][k]]])
                rows.append([*at, "Sicherheit (0-100)", 40 + (k + j) % 60])
    truth = [["Fall", "Fraktur"], *([f"Bild {k}", said[t]] for k, t in enumerate(TRUTH))]
    return [write(folder, "antworten.csv", rows, ";", "cp1252"), write(folder, "w.csv", truth, ";", "cp1252")]


def spss(folder: Path) -> list[Path]:
    """Codes of 1 and 2 with German labels of values and variables."""
    codes = (2, 1)
    rows = readings([], lambda j: [j + 1], (1, 2), codes)[1:]
    table = pd.DataFrame(rows, columns=["bef", "untnr", "modus", "ref", "urteil"])
    said = {1: "krank", 2: "gesund"}
    pyreadstat.write_sav(
        table,
        str(folder / "studie.sav"),
        column_labels=["Befunder", "Untersuchung", "Lesemodus", "Referenzstandard", "Urteil"],
        variable_value_labels={"modus": {1: "ohne KI", 2: "mit KI"}, "ref": said, "urteil": said},
    )
    return [folder / "studie.sav"]


def castor(folder: Path) -> list[Path]:
    """Dutch data, a repeating form, and the options of both."""
    about = ["Participant Id", "Participant Status", "Site Abbreviation"]
    cases: Rows = [[*about, "Participant Creation Date", "einddiagnose", "leeftijd"]]
    read: Rows = [
        [*about, "Repeating Data Creation Date", "Repeating data Parent", "lezer", "modus", "oordeel"]
    ]
    for k, t in enumerate(TRUTH):
        own = [f"NL-{k:04}", "Not Set", "UMC", "02-03-2026 10:00:00"]
        cases.append([*own, 1 if t else 2, 40 + k])
        for j in range(READERS):
            read += [[*own, "Lezingen", f"L{j}", 1 + arm, 2 - called[j][k]] for arm, called in ARMS]
    options: Rows = [["Option Group Id", "Option Group Name", "Option Id", "Option Name", "Option Value"]]
    options += [["g1", "ja_nee", "1", "Ja", 1], ["g1", "ja_nee", "2", "Nee", 2]]
    options += [["g2", "modus", "3", "Zonder AI", 1], ["g2", "modus", "4", "Met AI", 2]]
    told: Rows = [["Form Type", "Form Collection Name", "Variable name", "Field label", "Field type",
                   "Optiongroup name"]]  # fmt: skip
    told += [["S", "Basis", "einddiagnose", "Gouden standaard", "radio", "ja_nee"]]
    told += [
        ["R", "Lezing", "lezer", "Lezer", "string", ""],
        ["R", "Lezing", "modus", "Leesmodus", "radio", "modus"],
    ]
    told += [["R", "Lezing", "oordeel", "Oordeel", "radio", "ja_nee"]]
    tables = {"studie": cases, "lezingen": read, "opties": options, "variabelen": told}
    return [write(folder, f"{name}.csv", rows, ";") for name, rows in tables.items()]


CHANGES = [german, portuguese, french, numbered, italian, spanish, answers, spss, castor]


@pytest.mark.parametrize("export", CHANGES, ids=lambda export: export.__name__)
def test_a_reader_study_gives_its_change_in_accuracy(
    tmp_path: Path, export: Callable[[Path], list[Path]]
) -> None:
    found, marked = read(tmp_path, export(tmp_path))
    (change,) = [
        r for r in found.results
        if r.id == "decision_benefit.mean_benefit" and r.endpoint == "accuracy" and r.primary
    ]  # fmt: skip
    assert change.estimate.value == pytest.approx(GAIN)
    # A column that no header calls the reader is a guess, and is marked.
    assert ("which column is the reader?" in marked) == (export in (german, portuguese, french, numbered))


def polish(folder: Path) -> list[Path]:
    """A registry in the encoding of Windows for Polish, with decimal commas."""
    rows: Rows = [["Nr przypadku", "Rozpoznanie końcowe", "Wynik AI", "Płeć", "Data badania"]]
    for k, t in enumerate(TRUTH):
        score = f"{SCORES[k]:.3f}".replace(".", ",")
        rows.append(
            [f"{k:04}/26", "chory" if t else "zdrowy", score, "KM"[k % 2], f"{1 + k % 28:02}.03.2026"]
        )
    return [write(folder, "rejestr.csv", rows, ";", "cp1250")]


def cases_first(folder: Path) -> list[Path]:
    """The cases are in a column without a header, as an index is written."""
    rows: Rows = [["", "Reference", "AI score", "Sex"]]
    rows += [[f"P{k}", ("negative", "positive")[t], SCORES[k], "MF"[k % 2]] for k, t in enumerate(TRUTH)]
    return [write(folder, "cases.csv", rows)]


def stata(folder: Path) -> list[Path]:
    """Portuguese labels of the codes 1 and 2."""
    table = pd.DataFrame(
        {"caso": range(CASES), "desfecho": [2 - t for t in TRUTH], "escore": SCORES, "idade": 50}
    )
    labels = ["Número do caso", "Diagnóstico final", "Probabilidade IA", "Idade"]
    said = {"desfecho": {1: "doente", 2: "saudável"}}
    pyreadstat.write_dta(table, str(folder / "base.dta"), column_labels=labels, variable_value_labels=said)
    return [folder / "base.dta"]


def sas(folder: Path) -> list[Path]:
    """Codes without labels of values; the label of the variable says in brackets what they mean."""
    table = pd.DataFrame(
        {"STUDYID": [f"S{k}" for k in range(CASES)], "DIAG": [2 - t for t in TRUTH], "AISCORE": SCORES}
    )
    labels = ["Study ID", "Final diagnosis (1 = disease, 2 = none)", "AI score"]
    pyreadstat.write_xport(table, str(folder / "ai.xpt"), column_labels=labels)
    return [folder / "ai.xpt"]


def fhir(folder: Path) -> list[Path]:
    """Patients and observations, a resource a line; the truth in German words."""
    lines: list[dict[str, Any]] = []
    for k, t in enumerate(TRUTH):
        whose = {"resourceType": "Observation", "status": "final", "subject": {"reference": f"Patient/p{k}"}}
        word = {"text": ("negativ", "positiv")[t]}
        score = {"device": {"reference": "Device/cad"}, "valueQuantity": {"value": SCORES[k]}}
        lines.append({"resourceType": "Patient", "id": f"p{k}"})
        lines.append({**whose, "code": {"text": "Enddiagnose"}, "valueCodeableConcept": word})
        lines.append({**whose, "code": {"text": "KI-Score"}, **score})
    (folder / "export.ndjson").write_text("\n".join(map(json.dumps, lines)))
    return [folder / "export.ndjson"]


AREAS = [polish, cases_first, stata, sas, fhir]


@pytest.mark.parametrize("export", AREAS, ids=lambda export: export.__name__)
def test_scores_give_their_area(tmp_path: Path, export: Callable[[Path], list[Path]]) -> None:
    found, marked = read(tmp_path, export(tmp_path))
    areas = [r for r in found.results if r.id == "advice_accuracy.auc" and r.primary and not r.place.site]
    assert areas[0].estimate.value == pytest.approx(AREA)
    assert ("which value is 1 (positive)?" in marked) == (export is sas)
    assert ("which column is the case?" in marked) == (export is cases_first)


# ---------------------------------------------------------------- measured values and ratings


def value(found: Assessed, id: str, **scope: str) -> float:
    """The one primary result of a quantity at a place."""
    own = [r for r in found.results if r.id == id and r.primary and r.place.scope == scope]
    return own[0].estimate.value


def comma(x: float) -> str:
    return str(x).replace(".", ",")


def test_millimetres_against_a_reference(tmp_path: Path) -> None:
    drawn = random.Random(2)
    pairs = [
        (a, round(a + drawn.gauss(0.4, 1), 1)) for a in (round(drawn.uniform(8, 40), 1) for _ in range(30))
    ]
    head = ["Dossier", "Diamètre IA (mm)", "Diamètre de référence (mm)", "Âge"]
    rows = [[f"D{k}", comma(b), comma(a), 40 + k] for k, (a, b) in enumerate(pairs)]
    found, _ = read(tmp_path, [write(tmp_path, "mesures.csv", [head, *rows], ";", "cp1252")])
    assert value(found, "measurement.bias") == pytest.approx(sum(b - a for a, b in pairs) / len(pairs))


def test_millimetres_by_the_device_and_readers_without_a_reference(tmp_path: Path) -> None:
    drawn = random.Random(3)
    rows = [[f"c{k}", *(round(20 + k % 9 + drawn.gauss(0, 1), 1) for _ in range(3))] for k in range(30)]
    found, marked = read(
        tmp_path, [write(tmp_path, "mm.csv", [["case", "AI_mm", "reader1_mm", "reader2_mm"], *rows])]
    )
    for i, reader in enumerate(("ai", "reader1", "reader2"), 1):
        mean = sum(row[i] for row in rows) / len(rows)
        assert value(found, "reader_measurement.mean_value", reader=reader) == pytest.approx(mean)
    assert "is none of them the reference?" in marked


def test_dice_of_structures_in_rows(tmp_path: Path) -> None:
    drawn = random.Random(4)
    dice = [(k, part, round(drawn.uniform(0.8, 0.95), 3)) for k in range(20) for part in ("lever", "nier")]
    head = ["Casus", "Structuur", "Dice", "Hausdorff95 (mm)"]
    rows = [[f"c{k}", part, comma(x), comma(round(drawn.uniform(1, 9), 1))] for k, part, x in dice]
    found, _ = read(tmp_path, [write(tmp_path, "dice.csv", [head, *rows], ";")])
    means = {r.endpoint: r.estimate.value for r in found.results if r.id == "measurement.mean_score"}
    for part in ("lever", "nier"):
        own = [x for _, name, x in dice if name == part]
        assert means[f"dice, {part}"] == pytest.approx(sum(own) / len(own))


def test_ratings_of_readers_in_columns_are_of_readers(tmp_path: Path) -> None:
    drawn = random.Random(5)
    rows = [[f"E{k}", *(drawn.randint(1, 5) for _ in range(3))] for k in range(30)]
    head = ["Examen", "Qualité R1", "Qualité R2", "Qualité R3"]
    found, marked = read(tmp_path, [write(tmp_path, "qualite.csv", [head, *rows], ";", "cp1252")])
    given = [x for row in rows for x in row[1:]]
    assert value(found, "reader_measurement.mean_score") == pytest.approx(sum(given) / len(given))
    assert "the lowest and the highest rating" in marked
    assert "one for each reader" in marked


def test_ratings_under_readers_alone_are_asked_about(tmp_path: Path) -> None:
    rows = [[f"E{k}", 1 + k % 5, 1 + k * 2 % 5, 1 + k * 3 % 5] for k in range(30)]
    head = ["image", "Reader 1", "Reader 2", "Reader 3"]
    _, marked = read(tmp_path, [write(tmp_path, "q.csv", [head, *rows])])
    assert "do these raters set the reference?" in marked

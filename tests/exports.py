"""The ten data sets of the first reports, in the form in which hospitals export tables."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook

REFERENCE = Path(__file__).resolve().parent / "reference"
TABLES = REFERENCE / "first-reports"
Rows = list[list[str]]


def rows(path: Path) -> Rows:
    """A table as text, its header first."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write_csv(path: Path, table: Sequence[Sequence[str]], sign: str = ",", encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=sign).writerows(table)
    return path


def write_workbook(path: Path, sheets: dict[str, Sequence[Sequence[object]]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, table in sheets.items():
        sheet = book.create_sheet(name)
        for row in table:
            sheet.append(list(row))
    book.save(path)
    return path


def typed(cell: str) -> object:
    """A cell as a spreadsheet holds it: a number where it is one."""
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell or None


def comma(cell: str) -> str:
    return cell.replace(".", ",")


def swap(table: Rows, column: str, words: dict[str, str]) -> Rows:
    """Other words for the cells of a column."""
    at = table[0].index(column)
    return [table[0], *([*r[:at], words.get(r[at], r[at]), *r[at + 1 :]] for r in table[1:])]


def named(table: Rows, header: Sequence[str]) -> Rows:
    return [list(header), *table[1:]]


# ---------------------------------------------------------------- the ten


def heart(folder: Path) -> list[Path]:
    """Four hospitals: Parquet, a workbook with a title and other sheets, CSV in two forms."""
    source = REFERENCE / "contract" / "heart"
    train = rows(source / "heart_train.csv")
    columns = list(zip(*train[1:]))
    arrays = {h: pa.array([typed(c) for c in column]) for h, column in zip(train[0], columns)}
    pq.write_table(pa.table(arrays), folder / "cleveland_train.parquet")
    hungarian = rows(source / "heart_ext_hungarian.csv")
    cover = [["Extraction 2024", "Cardiology"], ["Contact", "data office"]]
    table = [["Heart registry, export of 3 March 2024"], [], hungarian[0]]
    table += [[typed(c) for c in row] for row in hungarian[1:]]
    write_workbook(
        folder / "hungarian.xlsx", {"Cover": cover, "Patients": table, "Codes": [["cp", "1 to 4"]]}
    )
    swiss = rows(source / "heart_ext_switzerland.csv")
    swiss = [[comma(c) if c.replace(".", "").isdigit() else c for c in row] for row in swiss]
    write_csv(folder / "switzerland.csv", swap(swiss, "label", {"1": "oui", "0": "non"}), ";")
    write_csv(folder / "va.csv", rows(source / "heart_ext_va.csv"))
    return [folder / n for n in ("cleveland_train.parquet", "hungarian.xlsx", "switzerland.csv", "va.csv")]


def kundel(folder: Path) -> list[Path]:
    """Three modalities, each with patients of its own, as R writes a data frame."""
    table = rows(TABLES / "kundel_like.csv")
    numbered = [["", *table[0]], *([str(i), *row] for i, row in enumerate(table[1:], 1))]
    return [write_csv(folder / "kundel.csv", numbered)]


def vandyke(folder: Path) -> list[Path]:
    """A French export of Windows: cp1252, semicolons, decimal commas."""
    table = rows(REFERENCE / "contract" / "vandyke" / "vandyke.csv")
    table = swap(
        swap(table, "truth", {"1": "oui", "0": "non"}), "modality", {"1": "Écho simple", "2": "Ciné"}
    )
    table = [table[0], *([*row[:-1], f"{row[-1]},0"] for row in table[1:])]
    table = named(table, ["Lecteur", "Modalité", "Numéro de cas", "Vérité", "Note"])
    return [write_csv(folder / "lectures.csv", table, ";", "cp1252")]


def diagnoses(folder: Path) -> list[Path]:
    return [write_csv(folder / "diagnoses.csv", rows(TABLES / "diagnoses.csv"))]


def anxiety(folder: Path) -> list[Path]:
    return [write_csv(folder / "anxiety.csv", rows(TABLES / "anxiety.csv"))]


def flchain(folder: Path) -> list[Path]:
    """Two periods of sampling; of those followed for less than ten years it is not known (NA)."""
    files = {"train_1995_1996.csv": "flchain_1995_1996.csv", "samples_1997_2003.csv": "flchain_1997_2003.csv"}
    return [write_csv(folder / name, rows(TABLES / source)) for name, source in files.items()]


def covid(folder: Path) -> list[Path]:
    """A workbook with five periods, days as dd/mm/yyyy in text, and results that are invalid."""
    table = rows(TABLES / "covid.csv")
    cells = [[*row[:-1], typed(row[-1])] for row in table]
    return [write_workbook(folder / "covid_testing.xlsx", {"Tests": cells})]


def wisconsin(folder: Path) -> list[Path]:
    """Three models in columns, B and M, decimal commas."""
    table = rows(TABLES / "wisconsin.csv")
    table = [table[0], *([row[0], row[1], *map(comma, row[2:])] for row in table[1:])]
    return [write_csv(folder / "test.csv", table, ";", "cp1252")]


def audit_c(folder: Path) -> list[Path]:
    return [write_csv(folder / "AuditC.csv", rows(TABLES / "audit_c.csv"))]


def iris(folder: Path) -> list[Path]:
    return [write_csv(folder / "classes.csv", rows(TABLES / "iris.csv"))]

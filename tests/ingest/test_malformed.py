"""Inputs that are wrong, and what is said of each: file, row, column, found, expected, how to mend it."""

# ruff: noqa: E501, ISC004 -- a message stands here as it is read

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trustreport.study.ingest import read
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
READINGS = "tables: {readings: {file: readings.csv}}\n"
GOOD = "reader,case,arm,truth,decision\nR1,c1,unaided,0,0\nR1,c1,aided,0,0\n"
SCORES = "datasets: [{dataset: A, role: external, file: a.csv}]\n"


@dataclass
class Bad:
    """A manifest and files, and the messages that must come."""

    name: str
    manifest: str
    messages: tuple[str, ...]
    files: dict[str, str | bytes] = field(default_factory=dict)
    head: str = HEAD
    manifest_name: str = "study.yaml"
    only: bool = True  # no other message


def readings(name: str, body: str, *messages: str, more: str = "", header: str = "", **kw: object) -> Bad:
    """A fault of readings.csv."""
    header = header or "reader,case,arm,truth,decision\n"
    return Bad(name, READINGS + more, messages, {"readings.csv": header + body}, **kw)


def scores(name: str, text: str, *messages: str, manifest: str = SCORES, **kw: object) -> Bad:
    """A fault of a data set in a.csv."""
    return Bad(name, manifest, messages, {"a.csv": text}, **kw)


PAIR = "R1,c1,unaided,0,0\nR1,c1,aided,0,1\n"

CASES = [
    # values
    readings(
        "truth 2",
        PAIR + "R1,c2,aided,2,1\n",
        'readings.csv, row 4, column truth: found "2", expected 0 or 1 (1 = condition present).',
    ),
    readings(
        "decision words",
        PAIR + "R1,c2,aided,1,maybe\nR2,c2,aided,1,maybe\n",
        'readings.csv, rows 4 and 5, column decision: found "maybe", expected 0 or 1.',
    ),
    readings(
        "NA in a 0/1 column",
        PAIR + "R1,c2,aided,1,NA\n",
        'readings.csv, row 4, column decision: found "NA" in 1 cell, expected a value or an empty cell. '
        "Add missing: [NA] to tables.readings in the manifest.",
    ),
    readings(
        "decimal comma",
        'R1,c1,aided,1,"0,5"\n',
        'readings.csv, row 2, column score: found "0,5", expected a finite number. '
        'Add decimal: "," to tables.readings in the manifest.',
        header="reader,case,arm,truth,score\n",
    ),
    readings(
        "infinite score",
        "R1,c1,aided,1,inf\nR1,c2,aided,1,1e999\n",
        'readings.csv, row 2, column score: found "inf", expected a finite number.',
        'readings.csv, row 3, column score: found "1e999", expected a finite number.',
        header="reader,case,arm,truth,score\n",
    ),
    readings(
        "percent sign",
        "R1,c1,aided,1,85%\n",
        'readings.csv, row 2, column score: found "85%", expected a finite number. '
        "Write a share from 0 to 1 without the sign.",
        header="reader,case,arm,truth,score\n",
    ),
    readings(
        "confidence in percent",
        "R1,c1,unaided,0,0,85\nR1,c1,aided,0,0,90\n",
        'readings.csv, rows 2 and 3, column confidence: found "85" or "90", expected numbers from 0 to 1. '
        "Of percentages add scale: {confidence: percent} to tables.readings in the manifest; a column that is "
        "something else goes under ignore: [<column>].",
        header="reader,case,arm,truth,decision,confidence\n",
    ),
    readings(
        "negative seconds",
        "R1,c1,unaided,0,0,-3\nR1,c1,aided,0,0,4\n",
        'readings.csv, row 2, column seconds: found "-3", expected 0 or more.',
        header="reader,case,arm,truth,decision,seconds\n",
    ),
    readings(
        "date of another country",
        "R1,c1,unaided,0,0,31.12.2024\nR1,c1,aided,0,0,2024-02-30\n",
        'readings.csv, row 2, column read_at: found "31.12.2024", expected a date as YYYY-MM-DD, '
        "with a time as YYYY-MM-DDThh:mm:ss.",
        'readings.csv, row 3, column read_at: found "2024-02-30", expected a date as YYYY-MM-DD, '
        "with a time as YYYY-MM-DDThh:mm:ss.",
        header="reader,case,arm,truth,decision,read_at\n",
    ),
    readings(
        "no reader",
        PAIR + ",c2,aided,1,1\n",
        "readings.csv, row 4, column reader: found an empty cell, expected a name in every row. "
        "Fill the cell, or remove the row.",
    ),
    readings(
        "long cell",
        PAIR + f"R1,c2,aided,{'x' * 100},1\n",
        f'readings.csv, row 4, column truth: found "{"x" * 60}…", expected 0 or 1 (1 = condition present).',
    ),
    readings(
        "many rows",
        PAIR + "".join(f"R1,d{i},aided,9,1\n" for i in range(1000)),
        'readings.csv, rows 4, 5, 6 and 997 more, column truth: found "9", expected 0 or 1 '
        "(1 = condition present).",
    ),
    # readings
    readings(
        "two readings",
        PAIR + "R2,c1,aided,0,0\nR1,c1,aided,0,0\n",
        "readings.csv, rows 3 and 5: reader R1 read case c1 twice in arm aided (decisions 1 and 0). "
        "Keep one row for each reader, case and arm.",
    ),
    readings(
        "two truths",
        "R1,c1,unaided,0,0\nR1,c1,aided,1,1\n",
        "readings.csv, rows 2 and 3, column truth: case c1 has two truths (0 in row 2, 1 in row 3). "
        "The reference standard is one value per case.",
    ),
    readings(
        "ids alike",
        "R1,c1,unaided,0,0\nr1,c1,aided,0,1\n",
        'readings.csv, rows 2 and 3, column reader: "R1" and "r1" differ only by blanks or letter case. '
        "Write one reader in one way everywhere, or name different ones more differently.",
    ),
    readings(
        "unknown arm",
        "R1,c1,unaided,0,0\nR1,c1,aide,0,1\n",
        'readings.csv, row 3, column arm: found "aide", expected an arm: "unaided" or "aided". '
        'Did you mean "aided"?',
    ),
    readings(
        "arm typed otherwise",
        "R1,c1,1,0,0\nR1,c1,2.0,0,1\n",
        'readings.csv, row 3, column arm: found "2.0", expected an arm: "unaided", "1", "aided" or "2". '
        "List the cell under arms: values in the manifest.",
        more="arms: [{arm: unaided, values: [1]}, {arm: aided, values: [2]}]\n",
    ),
    readings(
        "no arm column",
        "R1,c1,0,0\n",
        'readings.csv, row 1: no column "arm", expected a column that says "without" or "with". '
        "Add it, or name yours in the manifest: columns: {arm: <your header>}; or map each arm to its column: columns: {decision: {unaided: ..., aided: ...}}.",
        header="reader,case,truth,decision\n",
        more="arms: [{arm: without, aided: false}, {arm: with, aided: true}]\n",
    ),
    readings(
        "no arms at all",
        "R1,c1,0,0\n",
        'readings.csv, row 1: no column "arm", expected a column that says "unaided" or "aided". '
        "Add it, or name yours in the manifest: columns: {arm: <your header>}; or map each arm to its column: columns: {decision: {unaided: ..., aided: ...}}.",
        header="reader,case,truth,decision\n",
    ),
    Bad(
        "wrong delimiter declared",
        'tables: {readings: {file: readings.csv, delimiter: ";"}}\n',
        (
            'readings.csv: found one column only, with the delimiter ";", expected several. '
            "Correct delimiter: in the manifest, or leave it out.",
        ),
        {"readings.csv": GOOD},
    ),
    readings(
        "missing column",
        "R1,unaided,0,0\n",
        'readings.csv, row 1, column case: no column "case". '
        "Add it, or name yours in the manifest: tables.readings.columns: {case: <your header>}.",
        header="reader,arm,truth,decision\n",
    ),
    readings(
        "near miss",
        "R1,c1,unaided,0,0,3\nR1,c1,aided,0,0,4\n",
        'readings.csv, row 1, column secnds: unknown column "secnds". '
        'Did you mean "seconds"? Then add columns: {seconds: secnds} to tables.readings in the manifest, '
        "otherwise ignore: [secnds].",
        header="reader,case,arm,truth,decision,secnds\n",
    ),
    readings(
        "no decision",
        "R1,c1,unaided,0\n",
        'readings.csv, row 1, column decision: none of the columns "decision" or "score". '
        "Add it, or name yours in the manifest: tables.readings.columns: {decision: <your header>}.",
        header="reader,case,arm,truth\n",
    ),
    readings(
        "two columns of one name",
        "R1,c1,unaided,0,0,1\n",
        'readings.csv, row 1, column truth: two columns are named "truth". Rename or remove one of them.',
        header="reader,case,arm,truth,decision,truth\n",
        only=False,
    ),
    readings(
        "sequential with an arm",
        "R1,c1,aided,0,0,1\n",
        "readings.csv, row 1, column arm: a sequential table has a column arm. "
        "Remove the column: the initial decision is the unaided reading, the decision the aided one.",
        header="reader,case,arm,truth,initial_decision,decision\n",
        more="reading: {design: sequential}\n",
    ),
    Bad(
        "wide with one plain column",
        "tables: {readings: {file: r.csv, columns: {decision: {unaided: u, aided: a}}}}\n",
        (
            "r.csv, row 1, column seconds: column seconds gives one value for all arms, expected a column for each "
            "arm, as for the other words. "
            "Map each arm to its column: tables.readings.columns.seconds: {unaided: ...}.",
        ),
        {"r.csv": "reader,case,truth,u,a,seconds\nR1,c1,0,0,1,5\n"},
    ),
    Bad(
        "wide with an unknown arm",
        "arms: [{arm: unaided}, {arm: aided}]\n"
        "tables: {readings: {file: r.csv, columns: {decision: {before: u, aided: a}}}}\n",
        (
            'r.csv, row 1: columns are mapped for before, which is no arm, expected an arm: "unaided" or "aided". '
            "Declare it under arms: in the manifest.",
        ),
        {"r.csv": "reader,case,truth,u,a\nR1,c1,0,0,1\n"},
    ),
    # cases and readers
    Bad(
        "unknown case",
        "tables: {readings: {file: r.csv}, cases: {file: cases.csv}}\n",
        (
            'r.csv, rows 3 and 4, column case: found "C12", expected a case of cases.csv. Did you mean "C1"?',
            'r.csv, row 5, column case: found "zz", expected a case of cases.csv. Add the case there.',
        ),
        {
            "r.csv": "reader,case,arm,decision\nR1,C1,aided,1\nR1,C12,aided,1\nR2,C12,aided,1\nR1,zz,aided,0\n",
            "cases.csv": "case,truth\nC1,0\n",
        },
    ),
    Bad(
        "two truths in two files",
        "tables: {readings: {file: r.csv}, cases: {file: cases.csv}}\n",
        (
            "cases.csv, row 2, column truth: case C1 has two truths (0 in row 2 of cases.csv, 1 in row 2 of r.csv). "
            "The reference standard is one value per case.",
        ),
        {"r.csv": "reader,case,arm,decision,truth\nR1,C1,aided,1,1\n", "cases.csv": "case,truth\nC1,0\n"},
    ),
    Bad(
        "a case twice",
        "tables: {readings: {file: r.csv}, cases: {file: cases.csv}}\n",
        ("cases.csv, rows 2 and 4, column case: case C1 appears in 2 rows. Keep one row for each case.",),
        {"r.csv": "reader,case,arm,decision\nR1,C1,aided,1\n", "cases.csv": "case,truth\nC1,0\nC2,1\nC1,0\n"},
    ),
    Bad(
        "unknown reader",
        "tables: {readings: {file: r.csv}, readers: {file: readers.csv}}\n",
        ('r.csv, row 3, column reader: found "R2", expected a reader of readers.csv. Add the reader there.',),
        {
            "r.csv": "reader,case,arm,decision\nR1,C1,aided,1\nR2,C1,aided,1\n",
            "readers.csv": "reader,years\nR1,3\n",
        },
    ),
    # data sets
    scores(
        "mapped column is not there",
        "case,truth,score\n1,0,.5\n",
        'study.yaml, row 3, column datasets[0].columns.score: no column "scor" in a.csv. Did you mean "score"?',
        manifest="datasets: [{dataset: A, role: external, file: a.csv, columns: {score: scor}}]\n",
    ),
    scores(
        "unknown feature",
        "case,truth,score,age\n1,0,.5,40\n",
        'study.yaml, row 3, column datasets[0].features: no column "agee" in a.csv. Did you mean "age"?',
        manifest="datasets: [{dataset: A, role: external, file: a.csv, features: [agee]}]\n",
    ),
    scores(
        "feature that is broken once",
        "truth,score,age\n0,.5,40\n1,.6,forty\n",
        'a.csv, row 3, column age: found "forty", expected a number, as in other rows. '
        "If it holds words: similarity: categorical: [age].",
        manifest="datasets: [{dataset: A, role: external, file: a.csv, features: [age]}]\n",
    ),
    scores(
        "a mark for no value among words",
        "truth,score,sex\n0,.5,f\n1,.6,NA\n0,.4,m\n1,.9,?\n",
        'a.csv, row 3, column sex: found "NA", expected a word, as in other rows, or an empty cell. '
        "Leave the cell empty where there is no value. "
        "If it is a word like the others: similarity: categorical: [sex].",
        'a.csv, row 5, column sex: found "?"',
        manifest="datasets: [{dataset: A, role: external, file: a.csv, features: [sex]}]\n",
    ),
    scores(
        "a case scored twice",
        "case,truth,score\nk1,0,.5\nk2,1,.5\nk1,0,.6\n",
        "a.csv, rows 2 and 4: case k1 appears in 2 rows. "
        "Keep one row for each case and candidate (add a column candidate).",
    ),
    scores(
        "truth that is no class",
        "truth,p_0,p_1,p_2\n0,.5,.3,.2\n3,.5,.3,.2\n",
        'a.csv, row 3, column truth: found "3", expected a class: "0", "1" or "2".',
        manifest="datasets: [{dataset: A, role: external, file: a.csv, "
        "columns: {class_scores: [p_0, p_1, p_2]}}]\n",
    ),
    scores(
        "hash",
        "truth,score",
        "study.yaml, row 3, column datasets[0].sha256: a.csv has the SHA-256 "
        f"{hashlib.sha256(b'truth,score').hexdigest()}, "
        'expected "00ff". The file is not the one that was declared: restore it, or correct the hash.',
        manifest="datasets: [{dataset: A, role: external, file: a.csv, sha256: 00ff}]\n",
        only=False,
    ),
    scores(
        "data set that is not declared",
        "case,dataset,score\n1,A,.5\n1,Bb,.5\n",
        'a.csv, row 3, column dataset: found "Bb", expected a data set of the manifest: "A" or "B". '
        "Declare it under datasets: with its role.",
        manifest="datasets: [{dataset: A, role: local}, {dataset: B, role: local}]\n"
        "tables: {scores: {file: a.csv}}\n",
    ),
    scores(
        "which data set",
        "case,score\n1,.5\n",
        "a.csv, row 1: the rows do not say to which of 2 data sets they belong. "
        "Add tables.scores.dataset to the manifest, or a column dataset to the file.",
        manifest="datasets: [{dataset: A, role: local}, {dataset: B, role: local}]\n"
        "tables: {scores: {file: a.csv}}\n",
    ),
    scores(
        "different numbers of cases",
        "truth,score\n0,.5\n1,.5\n",
        "a.csv, row 1: data set A has different numbers of cases (1 in b.csv and 2 in a.csv). "
        "Add a column case to each table, so that rows can be joined.",
        manifest=SCORES + "tables: {scores: {file: b.csv, candidate: B, dataset: A}}\n",
        only=False,
    ),
    # published tables
    Bad(
        "one arm only",
        "counts: [{set: S, arm: aided, errors: 1, correct: 2}]\n",
        (
            'study.yaml, row 3, column counts[0]: no counts of arm "unaided" of set "S", '
            'expected one row for each of "unaided" or "aided".',
        ),
    ),
    Bad(
        "an arm twice",
        "counts:\n"
        "  - {set: S, arm: aided, errors: 1, correct: 2}\n"
        "  - {set: S, arm: unaided, errors: 1, correct: 2}\n"
        "  - {set: S, arm: aided, errors: 3, correct: 2}\n",
        (
            'study.yaml, rows 4 and 6, column counts[0]: arm "aided" of set "S" appears twice. '
            "Keep one row for each set and arm.",
        ),
    ),
    Bad(
        "readers disagree",
        "counts:\n"
        "  - {set: S, arm: aided, errors: 1, correct: 2, readers: 3}\n"
        "  - {set: S, arm: unaided, errors: 1, correct: 2, readers: 4}\n",
        (
            'study.yaml, rows 4 and 5, column counts[0]: readers differs between the arms of set "S". '
            "Give one value for the set.",
        ),
    ),
    Bad(
        "count with a fraction",
        "tables: {counts: {file: c.csv}}\n",
        ('c.csv, row 3, column errors: found "2.5", expected a count: 0, 1, 2 ...',),
        {"c.csv": "arm,errors,correct\nunaided,1,2\naided,2.5,3\n"},
        only=False,
    ),
    Bad(
        "figures without totals",
        "tables: {reported: {file: r.csv}}\n",
        ('r.csv, row 2: set "S" is incomplete, expected positives, negatives or total.',),
        {"r.csv": "set,metric,value\nS,sensitivity,0.80\n"},
    ),
    Bad(
        "a set twice",
        "confusion:\n  - {set: S, tp: 1, fp: 1, fn: 1, tn: 1}\n  - {set: S, tp: 1, fp: 1, fn: 1, tn: 1}\n",
        (
            'study.yaml, rows 4 and 5, column confusion[1].set: set "S" appears twice. '
            "Give each set a name of its own.",
        ),
    ),
    # files
    Bad(
        "no such file",
        READINGS,
        (
            'study.yaml, row 3, column tables.readings.file: no file "readings.csv". Did you mean "reading.csv"?',
        ),
        {"reading.csv": GOOD},
    ),
    Bad(
        "absolute path",
        "tables: {readings: {file: /etc/hostname}}\n",
        (
            'study.yaml, row 3, column tables.readings.file: "/etc/hostname" is outside the study folder. '
            "Copy the file into the study folder and name it from there.",
        ),
    ),
    Bad(
        "path that climbs",
        "tables: {readings: {file: ../../x.csv}}\n",
        (
            'study.yaml, row 3, column tables.readings.file: "../../x.csv" is outside the study folder. '
            "Copy the file into the study folder and name it from there.",
        ),
    ),
    Bad(
        "0 bytes",
        READINGS,
        ("readings.csv: the file is empty (0 bytes), expected a header and rows.",),
        {"readings.csv": b""},
    ),
    Bad(
        "header only",
        READINGS,
        ("readings.csv: no rows below the header, expected at least one row.",),
        {"readings.csv": "reader,case,arm,decision"},
    ),
    readings(
        "too many cells",
        PAIR + "R1,c2,aided,1,1,extra\n",
        "readings.csv, row 4: found 6 cells, expected 5, as in the header. "
        'Put cells that contain "," between quotation marks, and close every quotation mark.',
    ),
    Bad(
        "not text",
        READINGS,
        (
            "readings.csv: found bytes that are no text, expected CSV, Parquet or XLSX. Save it as CSV in UTF-8.",
        ),
        {"readings.csv": b"\x00\x01\x02\xff" * 50},
    ),
    Bad(
        "UTF-16 without a mark",
        READINGS,
        (
            "readings.csv: found bytes that are no text, expected CSV, Parquet or XLSX. Declare its encoding in the "
            "manifest (for instance encoding: utf-16-le), or save it as UTF-8.",
        ),
        {"readings.csv": GOOD.encode("utf-16-le")},
    ),
    Bad(
        "wrong encoding declared",
        "tables: {readings: {file: readings.csv, encoding: utf-8}}\n",
        ("readings.csv: found bytes that are not utf-8, expected utf-8. Correct encoding: in the manifest.",),
        {"readings.csv": GOOD.replace("R1", "Rä").encode("cp1252")},
    ),
    Bad(
        "unknown encoding",
        "tables: {readings: {file: readings.csv, encoding: klingon}}\n",
        ('readings.csv: found the encoding "klingon", expected a known one such as utf-8 or cp1252.',),
        {"readings.csv": GOOD},
    ),
    Bad(
        "broken Parquet",
        READINGS,
        ("readings.csv: found a damaged Parquet file, expected Parquet, CSV or XLSX.",),
        {"readings.csv": b"PAR1" + b"x" * 99},
        only=False,
    ),
    Bad(
        "broken XLSX",
        READINGS,
        ("readings.csv: found a damaged workbook, expected an XLSX workbook.",),
        {"readings.csv": b"PK\x03\x04" + b"x" * 99},
        only=False,
    ),
    Bad(
        "old Excel",
        READINGS,
        (
            "readings.csv: found an old Excel or an encrypted workbook, expected CSV, Parquet or XLSX. "
            "Save it as XLSX or CSV.",
        ),
        {"readings.csv": b"\xd0\xcf\x11\xe0" + b"x" * 99},
    ),
    # manifest
    Bad(
        "empty manifest",
        "",
        ("study.yaml, row 1: found no content, expected groups such as report and device.",),
        head="",
    ),
    Bad(
        "a list",
        "- a\n",
        (
            "study.yaml, row 1: found a sequence, expected groups such as report and device. Start with report:.",
        ),
        head="",
    ),
    Bad("no data", "", ("study.yaml: no data are named",), only=False),
    Bad(
        "tab",
        "study:\n\tstudy_id: x\n",
        ("study.yaml, row 4: found not valid YAML", "Indent with spaces, not with tabs."),
        only=False,
    ),
    Bad(
        "open bracket",
        "arms: [{arm: a}\nlimits: {}\n",
        ("study.yaml, row 4: found not valid YAML",),
        only=False,
    ),
    Bad(
        "unknown key",
        READINGS + "devise: {}\n",
        ('study.yaml, row 4, column devise: unknown key "devise". Did you mean "device"?',),
        {"readings.csv": GOOD},
    ),
    Bad(
        "unknown limits",
        READINGS + "limits: {P17_day: 3, P14_least: 1, harmful_switch_rate: 0.2}\n",
        (
            'study.yaml, row 4, column limits.P17_day: unknown limit "P17_day". Did you mean "P17_days"?',
            'column limits.P14_least: unknown limit "P14_least". '
            'Known of it: "P14_agreement" or "P14_single".',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "limits that make a check that withholds verdicts more lenient",
        READINGS
        + "limits: {P13_alpha: 1.0e-300, P12_cases: 31, P20_alpha: 0.049, P33_values: 21, P53_immature: 0.11,"
        " P37_positives: 9, P37_negatives: 0, P10_distance: -1}\n"
        "subgroups: [{name: sex, min_positives: 9}, {name: age, min_negatives: 1}]\n",
        (
            "study.yaml, row 4, column limits.P13_alpha: found 1e-300, expected 0.05 or higher: a limit may make a "
            "check that withholds verdicts stricter, not more lenient",
            "column limits.P12_cases: found 31, expected 30 or lower",
            "column limits.P20_alpha: found 0.049, expected 0.05 or higher",
            "column limits.P33_values: found 21, expected 20 or lower",
            "column limits.P53_immature: found 0.11, expected 0.1 or lower",
            "column limits.P37_positives: found 9, expected 10 or higher",
            "column limits.P37_negatives: found 0, expected 10 or higher",
            "column limits.P10_distance: found -1, expected 0 or higher",
            "study.yaml, row 5, column subgroups[0].min_positives: found 9, expected 10 or higher",
            "column subgroups[1].min_negatives: found 1, expected 10 or higher",
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "key of another group",
        READINGS + "threshold: 0.5\n",
        (
            'study.yaml, row 4, column threshold: unknown key "threshold". '
            'It belongs to the group "operating_point", "endpoints", "candidates" or "published_sites".',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "missing key in a list",
        READINGS + "datasets:\n  - dataset: A\n",
        (
            'study.yaml, row 5, column datasets[0].role: this key is missing, expected "training", "tuning", '
            '"internal test", "external", "local" or "period". Add role: to this group.',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "wrong choice",
        READINGS,
        (
            'study.yaml, row 1, column report.kind: found "ce", expected "certification", "procurement" or '
            '"vigilance".',
        ),
        {"readings.csv": GOOD},
        head="report: {kind: ce}\ndevice: {}\n",
    ),
    Bad(
        "no device",
        READINGS,
        (
            "study.yaml, row 1, column device: this key is missing, expected a value. Add device: to this group.",
        ),
        {"readings.csv": GOOD},
        head="report: {kind: certification}\n",
    ),
    Bad(
        "number in words",
        READINGS + "operating_point: {threshold: half}\n",
        ('study.yaml, row 4, column operating_point.threshold: found "half", expected a number.',),
        {"readings.csv": GOOD},
    ),
    Bad(
        "level in percent",
        READINGS,
        ('study.yaml, row 1, column report.confidence_level: found "95", expected a number below 1.0.',),
        {"readings.csv": GOOD},
        head="report: {kind: certification, confidence_level: 95}\ndevice: {}\n",
    ),
    Bad(
        "a date as a number",
        READINGS + "vigilance: {period_start: 20240101}\n",
        (
            'study.yaml, row 4, column vigilance.period_start: found "20240101", expected a date as YYYY-MM-DD.',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "a union",
        READINGS + "endpoints: [{endpoint: E, bound_or_margin: low}]\n",
        (
            'study.yaml, row 4, column endpoints[0].bound_or_margin: found "low", expected a number or a list.',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "lists of a wrong length",
        READINGS + "operating_point: {score_range: [0, 1, 2]}\nutility: {prevalence_range: [0.1]}\n",
        (
            "study.yaml, row 4, column operating_point.score_range: found a list of 3 values, expected a list of 2 values.",
            "study.yaml, row 5, column utility.prevalence_range: found a list of 1 value, expected a list of at least 2 values.",
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "groups of a wrong shape",
        "arms: {arm: x}\ntables: [1]\n",
        (
            "study.yaml, row 3, column arms: found a group, expected a list.",
            "study.yaml, row 4, column tables: found a list of 1 value, expected a group of keys.",
        ),
    ),
    Bad(
        "figures without totals in the manifest",
        "reported: [{set: S, metrics: {sensitivity: 0.80}}]\n",
        ("study.yaml, row 3, column reported[0]: found a group, expected positives, negatives or total.",),
    ),
    Bad(
        "a key twice",
        READINGS + "device: {}\n",
        (
            'study.yaml, rows 2 and 4, column device: key "device" appears twice in one group. Keep one of the two.',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "a tag",
        READINGS + "study: {study_id: !!python/object:os.system x}\n",
        (
            'study.yaml, row 4, column study.study_id: found a tag "tag:yaml.org,2002:python/object:os.system", '
            "expected plain values. Remove the tag.",
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "an alias that contains itself",
        "limits: &a [*a]\n",
        ("study.yaml, row 3: found an alias that contains itself.",),
    ),
    Bad(
        "aliases of aliases",
        "study:\n  a: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"  k{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)),
        ("more than 500,000 values once aliases are followed",),
        only=False,
    ),
    Bad(
        "deep nesting", "study: " + "[" * 5000 + "]" * 5000, ("study.yaml: found groups nested too deeply.",)
    ),
    Bad(
        "too large",
        "#" + "x" * 5_000_001,
        ("study.yaml: found too large a file, expected at most 5,000,000 bytes. Put data into tables.",),
        only=False,
    ),
    Bad("two documents", READINGS + "---\na: 1\n", ("found not valid YAML",), only=False),
    Bad(
        "no UTF-8",
        "",
        ("study.yaml, row 1: found bytes that are not UTF-8, expected UTF-8. Save the file as UTF-8.",),
        {"study.yaml": b"report: {title: \xe4}\n"},
    ),
    Bad(
        "broken JSON",
        '{"report": {"kind": "certification"},\n "device": {"trade_name": }',
        ("study.json, row 2: found not valid YAML",),
        head="",
        manifest_name="study.json",
        only=False,
    ),
    Bad(
        "no kind of table",
        "tables: {reading: {file: readings.csv}}\n",
        (
            'study.yaml, row 3, column tables.reading: "reading" is no kind of table. Did you mean "readings"?',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "unknown column word",
        "tables: {readings: {file: readings.csv, columns: {desicion: decision}}}\n",
        (
            'study.yaml, row 3, column tables.readings.columns.desicion: unknown column word "desicion". '
            'Did you mean "decision"?',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "all arms aided",
        READINGS + "arms: [{arm: one, aided: true}, {arm: two, aided: true}]\n",
        ("study.yaml, row 4, column arms: all arms are aided, expected one aided and one unaided arm.",),
        {"readings.csv": GOOD.replace("unaided", "one").replace("aided", "two")},
    ),
    Bad(
        "arm without a flag",
        READINGS + "arms: [{arm: one, aided: true}, {arm: two}]\n",
        (
            'study.yaml, row 4, column arms[1]: arm "two" does not say whether it is aided, '
            "expected aided: true or aided: false.",
        ),
        {"readings.csv": GOOD.replace("unaided", "one").replace("aided", "two")},
    ),
    Bad(
        "an arm of two values",
        READINGS + "arms: [{arm: unaided, values: [x]}, {arm: aided, values: [x]}]\n",
        (
            'study.yaml, row 4, column arms[1]: "x" is used for two arms. Give each arm names and values of its own.',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "data set declared twice",
        "datasets:\n  - {dataset: A, role: local, file: a.csv}\n  - {dataset: A, role: local}\n",
        (
            'study.yaml, rows 4 and 5, column datasets[1].dataset: dataset "A" is declared twice. '
            "Give each a name of its own.",
        ),
        {"a.csv": "truth,score\n0,.5\n"},
    ),
    Bad(
        "endpoint of an unknown arm",
        READINGS + "endpoints: [{endpoint: E, arm_or_contrast: [aided, unaid]}]\n",
        (
            'study.yaml, row 4, column endpoints[0].arm_or_contrast: found "unaid", expected an arm: '
            '"aided" or "unaided". Did you mean "unaided"?',
        ),
        {"readings.csv": GOOD},
    ),
    Bad(
        "unknown baseline",
        SCORES + "vigilance: {baseline_dataset: B}\n",
        ('study.yaml, row 4, column vigilance.baseline_dataset: found "B", expected a data set: "A".',),
        {"a.csv": "truth,score\n0,.5\n"},
    ),
]


def put(bad: Bad, folder: Path) -> Path:
    (folder / bad.manifest_name).write_text(bad.head + bad.manifest, encoding="utf-8")
    for name, content in bad.files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.mark.parametrize("bad", CASES, ids=lambda b: b.name)
def test_says_what_is_wrong(bad: Bad, tmp_path: Path) -> None:
    if bad.name == "different numbers of cases":
        bad.files["b.csv"] = "score\n.5\n"
    with pytest.raises(StudyError) as caught:
        read(put(bad, tmp_path))
    said = str(caught.value)
    for message in bad.messages:
        assert message in said
    if bad.only:
        assert len(caught.value.problems) == len(bad.messages), said
    json.dumps([p.as_dict() for p in caught.value.problems])

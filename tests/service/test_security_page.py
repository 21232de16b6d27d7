"""The page on security: all items of OWASP ASVS 5.0.0 up to level 2, shown by tests and code that exist."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from services import API, Client, new_core, world

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.storage.models import ReportFile

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
STATES = ("met", "not met", "does not apply")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | ", 4))
    for line in PAGE.splitlines()
    if re.match(r"\|\s*\d", line)
]

# The numbers of ASVS 5.0.0, from its own list (OWASP/ASVS, 5.0/docs_en), by level.
LEVEL_1 = """
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1 3.4.2
3.5.1 3.5.2 3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7
6.2.8 6.3.1 6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2 8.3.1 9.1.1 9.1.2
9.1.3 9.2.1 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1 12.2.2 13.4.1 14.2.1
14.3.1 15.1.1 15.2.1 15.3.1
""".split()
LEVEL_2 = """
1.1.1 1.1.2 1.2.6 1.2.7 1.2.8 1.2.9 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7 1.3.8 1.3.9 1.3.10 1.3.11 1.4.1 1.4.2
1.4.3 1.5.2 2.1.2 2.1.3 2.2.3 2.3.2 2.3.3 2.3.4 2.4.1 3.3.2 3.3.3 3.3.4 3.4.3 3.4.4 3.4.5 3.4.6 3.5.4
3.5.5 3.7.1 3.7.2 4.1.2 4.1.3 4.2.1 4.3.1 4.3.2 4.4.2 4.4.3 4.4.4 5.1.1 5.2.3 5.4.1 5.4.2 5.4.3 6.1.2
6.1.3 6.2.9 6.2.10 6.2.11 6.2.12 6.3.3 6.3.4 6.4.3 6.4.4 6.5.1 6.5.2 6.5.3 6.5.4 6.5.5 6.6.1 6.6.2 6.6.3
6.8.1 6.8.2 6.8.3 6.8.4 7.1.1 7.1.2 7.1.3 7.3.1 7.3.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2 7.6.1 7.6.2 8.1.2
8.2.3 8.4.1 9.2.2 9.2.3 9.2.4 10.1.1 10.1.2 10.2.1 10.2.2 10.3.1 10.3.2 10.3.3 10.3.4 10.4.6 10.4.7 10.4.8
10.4.9 10.4.10 10.4.11 10.5.1 10.5.2 10.5.3 10.5.4 10.5.5 10.6.1 10.6.2 10.7.1 10.7.2 10.7.3 11.1.1 11.1.2
11.2.1 11.2.2 11.2.3 11.3.3 11.4.2 11.4.3 11.4.4 11.5.1 11.6.1 12.1.2 12.1.3 12.3.1 12.3.2 12.3.3 12.3.4
13.1.1 13.2.1 13.2.2 13.2.3 13.2.4 13.2.5 13.3.1 13.3.2 13.4.2 13.4.3 13.4.4 13.4.5 14.1.1 14.1.2 14.2.2
14.2.3 14.2.4 14.3.2 14.3.3 15.1.2 15.1.3 15.2.2 15.2.3 15.3.2 15.3.3 15.3.4 15.3.5 15.3.6 15.3.7 16.1.1
16.2.1 16.2.2 16.2.3 16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 16.3.4 16.4.1 16.4.2 16.4.3 16.5.1 16.5.2 16.5.3
17.1.1 17.2.1 17.2.2 17.2.3 17.2.4 17.3.1 17.3.2
""".split()


@cache
def names_in(file: str) -> frozenset[str]:
    """The functions of a file, by reading it."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def test_every_item_is_there_once_with_its_level_and_a_state() -> None:
    assert [row for row in ROWS if len(row) != 5 or row[3] not in STATES or not row[4]] == []
    for level, numbers in (("1", LEVEL_1), ("2", LEVEL_2)):
        assert [row[0] for row in ROWS if row[1] == level] == numbers
    assert len(ROWS) == len(LEVEL_1) + len(LEVEL_2) == 70 + 183


def test_every_test_and_file_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 100
    assert [f"{file}::{name}" for file, name in named if name not in names_in(file)] == []
    files = re.findall(r"`((?:trustreport|templates|packaging)/[^`]+)`", PAGE)
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_sums_are_those_of_the_rows() -> None:
    count = Counter((row[0].split(".")[0], row[1], row[3]) for row in ROWS)
    for number in map(str, range(1, 18)):
        (line,) = re.findall(rf"^\| V{number} [^|]+\|(.*)\|$", PAGE, re.MULTILINE)
        wanted = [count[number, level, state] for level in "12" for state in STATES]
        assert [int(cell) for cell in line.split("|")] == wanted, f"V{number}"
    (line,) = re.findall(r"^\| all \|(.*)\|$", PAGE, re.MULTILINE)
    sums = Counter((row[1], row[3]) for row in ROWS)
    assert [int(cell) for cell in line.split("|")] == [sums[level, s] for level in "12" for s in STATES]
    assert "**Not met on level 1:** none." in PAGE
    assert [row[0] for row in ROWS if row[1] == "1" and row[3] == "not met"] == []


@pytest.mark.parametrize("url", ["https://reports.example.org", "http://localhost:8000"])
def test_v3_4_1_browsers_stay_with_https(tmp_path: Path, url: str) -> None:
    core = new_core(tmp_path / "data", public_url=url)
    browser = TestClient(create_app(core), base_url="https://testserver")
    for path in ("/health", "/nothing", "/sign-in", "/static/pages.css", f"{API}/studies"):
        sent = browser.get(path).headers.get("strict-transport-security", "")
        assert sent == ("max-age=31536000" if url.startswith("https:") else ""), path
    core.close()


def test_v3_4_2_no_other_origin_reads_an_answer(anonymous: TestClient) -> None:
    origin = {"Origin": "https://evil.test", "Access-Control-Request-Method": "POST"}
    for method in ("GET", "OPTIONS"):
        for path in ("/sign-in", "/health", f"{API}/session", "/api/openapi.json"):
            answer = anonymous.request(method, path, headers=origin)
            assert not [name for name in answer.headers if name.startswith("access-control-")], path


def test_v13_4_1_and_v13_4_3_no_folder_is_served(anonymous: TestClient) -> None:
    for path in ("/.git/config", "/.git/", "/static/", "/static/../.git/config", "/templates/"):
        assert anonymous.get(path).status_code == 404, path


def test_v13_4_4_trace_is_refused(anonymous: TestClient) -> None:
    for path in ("/", "/health", "/sign-in", f"{API}/studies"):
        assert anonymous.request("TRACE", path).status_code == 405, path


def test_v3_4_6_and_v4_1_1_files_of_a_report_stand_alone_and_name_their_characters(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    names = world(light, anna)
    with light.store.write() as rows:
        file = rows.query(ReportFile).filter_by(report=names["report"]).first()
        assert file is not None
        file.name = "figures/roc.svg"
    answer = anna.get(f"{API}/reports/{names['report']}/files/figures/roc.svg")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert all(part in policy for part in ("sandbox", "base-uri 'none'", "frame-ancestors 'none'"))

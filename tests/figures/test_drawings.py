"""What holds for every figure: legible, whole, reproducible, in words of the catalogue, without pyplot."""

import ast
import logging
import os
import subprocess
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from drawn_curves import CURVES
from drawn_reliability import RELIABILITY
from drawn_studies import DRAWINGS
from looked_at import boxes, svg, texts
from test_froc import DRAWINGS as FROC
from test_lines_and_fields import DRAWN as FIELDS
from test_over_time_figures import OVER_TIME
from test_reader_roc import DRAWINGS as READERS
from test_trust import DIAGRAMS
from test_validation_figures import VALIDATION

from trustreport.figures import style
from trustreport.vocabulary.messages import Catalogue, catalogue

FIGURES = Path(__file__).resolve().parents[2] / "trustreport" / "figures"
MARKS = ("mark-", "unit-", "reader-", "point-", "flow-wrong-", "flow-right-", "site-")
SPOKEN = ("studies", "curves", "validation", "froc", "trust")  # tables whose marks say what they are
LEAVES = ("ridge", "inner", "outer", "naive")  # lines that may leave their panel
SHARED = ("over time", "validation", "fields")  # tables in which parts of one thing share its name


TABLES: dict[str, dict[str, Any]] = {
    "studies": DRAWINGS,
    "curves": CURVES,
    "reliability": RELIABILITY,
    "over time": OVER_TIME,
    "validation": VALIDATION,
    "fields": FIELDS,
    "froc": FROC,
    "readers": READERS,
    "trust": DIAGRAMS,
}
EVERY = [(table, name) for table, found in TABLES.items() for name in found]


@cache
def drawing(table: str, name: str) -> Any:
    """What is drawn; curves are made when a test asks for one."""
    found = TABLES[table][name]
    return found() if table == "curves" else found


@cache
def drawn(table: str, name: str) -> Any:
    """A figure, drawn once for all that look at it."""
    return drawing(table, name).draw(catalogue("en"))


every_figure = pytest.mark.parametrize("table, name", EVERY)


@every_figure
def test_no_text_lies_over_another_or_outside(table: str, name: str) -> None:
    figure = drawn(table, name)
    with style.settings():
        found = boxes(figure)
    sheet = figure.bbox
    for text, box in found:
        assert box.x0 >= sheet.x0 - 0.5, text
        assert box.y0 >= sheet.y0 - 0.5, text
        assert box.x1 <= sheet.x1 + 1.0, text
        assert box.y1 <= sheet.y1 + 0.5, text
    if table == "fields":  # the numbers of utility matrices and of places on a map lie in what they number
        found = [(text, box) for text, box in found if not text.isdigit()]
    for (a, one), (b, other) in combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert wide < 0.5 or high < 0.8, (a, b)


@every_figure
def test_a_mark_of_a_value_says_what_it_is_and_its_number(table: str, name: str) -> None:
    for artist in drawn(table, name).findobj():
        if table in SPOKEN and str(artist.get_gid()).startswith(MARKS):
            said = str(artist.get_label() or "_")
            assert said[0] != "_", artist.get_gid()
            assert any(c.isdigit() for c in said), said


@every_figure
def test_type_is_as_large_as_print_needs_and_the_page_holds_it(table: str, name: str) -> None:
    figure = drawn(table, name)
    width, height = (side * 25.4 for side in figure.get_size_inches())
    assert width == pytest.approx(170)
    assert height <= style.PAGE_HEIGHT or table == "studies"  # made to be too long for a page
    for text in texts(figure):
        assert text.get_size() >= 7.0, text.get_text()


@every_figure
def test_nothing_drawn_is_lost(table: str, name: str) -> None:
    for axes in drawn(table, name).axes:
        (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
        for line in axes.lines:
            if line.get_transform() == axes.transData and not str(line.get_gid()).startswith(LEAVES):
                x, y = line.get_data()
                assert left - 1e-9 <= min(x) <= max(x) <= right + 1e-9, line.get_gid()
                assert low - 1e-9 <= min(y) <= max(y) <= high + 1e-9, line.get_gid()


@pytest.mark.parametrize("table, name", [pair for pair in EVERY if pair[0] not in SHARED])
def test_names_of_marks_are_unique(table: str, name: str) -> None:
    names = [line.get_gid() for axes in drawn(table, name).axes for line in axes.lines if line.get_gid()]
    assert len(names) == len(set(names))


@every_figure
def test_values_are_plain_rows(table: str, name: str, say: Catalogue) -> None:
    rows = drawing(table, name).values(say)
    assert rows
    for row in rows:
        assert {"label", "value"} <= set(row) or table in ("fields", "trust", "over time")
        assert all(isinstance(v, (str, int, float, bool)) for v in row.values())


@pytest.mark.parametrize(
    "table, name",
    [
        *(("studies", n) for n in ("effect-extreme-12", "difference-5", "rates-12", "benefit-12-12")),
        *(("studies", n) for n in ("slope-12", "flow-3-arms")),
        *(("curves", n) for n in ("roc-readers", "roc-6-sets-3-candidates")),
        *(("curves", n) for n in ("decision-3-candidates", "measures-20")),
        *(("reliability", n) for n in ("nomogram-5", "nomogram-raters", "joyplot-8", "joyplot-bins-8")),
        *(("validation", n) for n in ("external-12", "calibration-4", "sizes-8")),
        *(("fields", n) for n in FIELDS),
        ("froc", "several"),
        ("readers", "5 readers"),
    ],
)
def test_a_second_drawing_gives_the_same_bytes(table: str, name: str) -> None:
    assert svg(drawing(table, name)) == svg(drawing(table, name))


def test_another_process_gives_the_same_bytes() -> None:
    code = (
        "from io import BytesIO; import hashlib\n"
        "from drawn_studies import DRAWINGS\n"
        "from trustreport.figures import style\n"
        "from trustreport.vocabulary.messages import catalogue\n"
        "file = BytesIO()\n"
        "with style.settings():\n"
        "    figure = DRAWINGS['benefit-12-2'].draw(catalogue())\n"
        "    figure.savefig(file, format='svg', metadata={'Date': None})\n"
        "print(hashlib.sha256(file.getvalue()).hexdigest())\n"
    )
    assert run(code, PYTHONHASHSEED="1") == run(code, PYTHONHASHSEED="2")


def test_importing_figures_loads_no_matplotlib_and_drawing_no_pyplot() -> None:
    names = sorted(file.stem for file in FIGURES.glob("*.py"))
    modules = [f"trustreport.figures.{name}" for name in names]
    code = (
        f"import sys, importlib\nfor name in {modules!r}: importlib.import_module(name)\n"
        "assert 'matplotlib' not in sys.modules, 'imported early'\n"
        "from drawn_studies import DRAWINGS\n"
        "from trustreport.vocabulary.messages import catalogue\n"
        "for name in ('effect-5', 'rates-5', 'benefit-5-2', 'slope-5', 'flow-2-arms'):\n"
        "    DRAWINGS[name].draw(catalogue())\n"
        "assert 'matplotlib.pyplot' not in sys.modules, 'pyplot'\n"
    )
    run(code)


def test_without_the_bundled_face_figures_are_drawn_in_dejavu(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from drawn_studies import DRAWINGS\n"
        "from trustreport.figures import style\n"
        "from trustreport.vocabulary.messages import catalogue\n"
        "say = catalogue()\n"
        f"style.folder = lambda kind: Path({str(tmp_path)!r})\n"
        "figure = DRAWINGS['effect-5'].draw(say)\n"
        "assert {t.get_fontfamily()[0] for t in figure.axes[0].texts} == {style.SIGNS_FACE}\n"
    )
    run(code)


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    places = os.pathsep.join([str(FIGURES.parents[1]), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": places, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_faces_are_found_without_a_word_in_the_log(say: Catalogue, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), style.settings():
        DRAWINGS["effect-5"].draw(say).canvas.draw()
    assert not caplog.records


def test_a_label_with_signs_of_mathematics_is_drawn_as_it_is(say: Catalogue) -> None:
    with style.settings():
        figure = DRAWINGS["dollars"].draw(say)
        figure.canvas.draw()
    assert any(not text.get_parse_math() and "$5" in text.get_text() for text in texts(figure))


WRITERS = {
    "text",
    "annotate",
    "write",
    "set_xlabel",
    "set_ylabel",
    "set_title",
    "suptitle",
    "set_xticks",
    "legend",
}


@pytest.mark.parametrize("file", sorted(FIGURES.glob("*.py")), ids=lambda file: file.stem)
def test_no_text_is_written_but_from_the_catalogue(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in WRITERS:
            for given in node.args:
                assert not literal(given), f"{file.name}:{node.lineno} writes {literal(given)!r} itself"


def literal(node: ast.expr) -> str:
    """The letters of a text that stands in the code itself."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(value) for value in node.values)
    if isinstance(node, (ast.BinOp,)):
        return literal(node.left) + literal(node.right)
    if isinstance(node, (ast.List, ast.Tuple)):
        return "".join(literal(value) for value in node.elts)
    return ""

"""The curve of accuracy over coverage: what it is ordered by, what failed cases do, what is drawn."""

from pathlib import Path

from trustreport.api import Assessed, assess, read_study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
HEAD = (
    "report: {kind: certification}\ndevice: {trade_name: D}\n"
    "operating_point: {threshold: 0.5, indeterminate_as: negative}\n"
    "datasets: [{dataset: clinic, role: internal test, file: s.csv}]\n"
)


def assessed(folder: Path, *rows: str, header: str = "case,truth,score") -> Assessed:
    (folder / "s.csv").write_text("\n".join([header, *rows]) + "\n")
    (folder / "study.yaml").write_text(HEAD)
    return assess(*read_study(folder))


def by_coverage(found: Assessed) -> dict[float, tuple[float, int]]:
    return {
        r.parameters["coverage"]: (r.estimate.value, r.estimate.n)
        for r in found.results
        if r.name == "accuracy_at_coverage" and r.primary
    }


def said(found: Assessed) -> str:
    return " ".join(
        EN(m) for f in found.findings for p in f.parts for m in p.finding if ".coverage." in m.key
    )


# Right at .3 and more from the threshold, wrong nearer to it: 6 of 10.
ROWS = [
    *(f"a{i},1,{score}" for i, score in enumerate((0.9, 0.8, 0.81, 0.45, 0.4))),
    *(f"b{i},0,{score}" for i, score in enumerate((0.1, 0.2, 0.05, 0.55, 0.6))),
]


def test_near_the_threshold_is_refused_first(tmp_path: Path) -> None:
    found = assessed(tmp_path, *ROWS)
    assert by_coverage(found) == {
        1.0: (0.6, 10),
        0.9: (0.6, 10),
        0.8: (6 / 8, 8),
        0.7: (6 / 8, 8),
        0.5: (1.0, 6),
    }
    assert "accuracy was 60% on the 10 of 10 cases" in said(found)


def test_failed_cases_are_not_decided(tmp_path: Path) -> None:
    found = assessed(tmp_path, *ROWS, *(f"f{i},0," for i in range(10)))
    assert by_coverage(found)[0.5] == (0.6, 10)
    assert by_coverage(found)[0.7][1] == 10
    assert by_coverage(found)[0.7][0] != by_coverage(found)[0.7][0]
    assert "10 cases of 20 without a result are analysed as not decided" in said(found)


def test_declared_confidence_goes_before_the_distance(tmp_path: Path) -> None:
    """The nearest four are those of which the device is most certain, and wrong."""
    rows = [f"{row},{0.9 if row[:2] in ('a3', 'a4', 'b3', 'b4') else 0.5}" for row in ROWS]
    found = assessed(tmp_path, *rows, header="case,truth,score,confidence")
    assert by_coverage(found)[0.5] == (0.6, 10)
    assert "highest confidence" in said(found)
    (first,) = [
        r for r in found.results if r.name == "accuracy_at_coverage" and r.parameters["coverage"] == 1
    ]
    assert first.parameters["by"] == "confidence"


def test_the_figure_has_its_values_and_alternative_text(tmp_path: Path) -> None:
    rows = [f"c{i},{int(i % 3 == 0)},{(37 * i % 89) / 89:.2f}" for i in range(120)]
    found = assessed(tmp_path, *rows)
    (figure,) = [g for f in found.findings for p in f.parts for g in p.figures if g.id == "coverage_1"]
    values = figure.drawing.values(EN)
    marked = {row["at"]: row["value"] for row in values if row["declared"]}
    assert marked[1.0] == by_coverage(found)[1.0][0]
    assert min(row["at"] for row in values) >= 20 / 120
    assert all(row["low"] <= row["value"] <= row["high"] for row in values)
    assert "Accuracy of clinic over the percentage of cases decided" in EN(figure.alt)

"""No small number of people can be computed from a public report: drawn studies, attacked from outside."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.report.inversion import found_by_attack, found_in_page, most_vertices
from trustreport.api import assess, read_study, write_report

MANIFEST = """
report: {{kind: certification, title: Small study, release: {release}}}
device: {{trade_name: Example aid, software_version: "1.0"}}
operating_point: {{threshold: 0.5}}
utility: {{threshold_range: [0.1, 0.6]}}
datasets:
  - {{dataset: outside, role: external, file: outside.csv, eligibility: all}}
  - {{dataset: March, role: period, file: march.csv, end_date: 2026-03-31}}
subgroups:
  - {{name: sex, prespecified: true}}
  - {{name: ward, prespecified: true}}
endpoints:
  - endpoint: Sensitivity
    role: primary
    measure: advice_accuracy.sensitivity
    dataset: outside
    hypothesis: performance goal
    population: cases with the condition
    bound_or_margin: 0.5
    alpha: 0.025
"""


def cases(rng: np.random.Generator, n: int, shift: float, name: str) -> str:
    """A table of cases: a third positive, scores that part the classes more or less."""
    rows = ["case,truth,score,sex,ward,site"]
    for i in range(n):
        truth = int(i % 3 == 0)
        score = float(np.clip(rng.normal(0.35 + shift * truth, 0.17), 0.01, 0.99))
        sex, ward, site = rng.choice(["f", "m"]), rng.choice(list("abc")), rng.choice(["North", "South"])
        rows.append(f"{name}{i},{truth},{score:.3f},{sex},{ward},{site}")
    return "\n".join(rows)


def written(folder: Path, seed: int, n: int, release: str, formats: tuple[str, ...] = ("json",)) -> Path:
    """The report of a drawn study of `n` cases outside and as many of a period."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(MANIFEST.format(release=release))
    (folder / "outside.csv").write_text(cases(rng, n, float(rng.uniform(0.1, 0.4)), "c"))
    (folder / "march.csv").write_text(cases(rng, n, 0.3, "m"))
    out = folder / "out"
    write_report(assess(*read_study(folder)), out, formats=formats)
    return out


def results(out: Path) -> dict:
    return json.loads((out / "results.json").read_bytes())


@pytest.mark.parametrize(("seed", "n"), [(1, 60), (2, 60), (3, 150), (4, 400)])
def test_an_attacker_finds_nothing_in_a_public_report(seed: int, n: int, tmp_path: Path) -> None:
    data = results(written(tmp_path / "study", seed, n, "public"))
    assert found_by_attack(data) == []
    assert any(entry["value"] is not None for entry in data["results"])


def test_the_attacker_finds_small_numbers_in_an_internal_report(tmp_path: Path) -> None:
    found = found_by_attack(results(written(tmp_path / "study", 1, 60, "internal")))
    assert any("between two cuts" in line for line in found)
    assert any("sensitivity" in line for line in found)


def test_a_withheld_number_says_so_and_its_verdict_is_no_pass(tmp_path: Path) -> None:
    for seed in range(1, 40):
        out = written(tmp_path / str(seed), seed, 60, "public", ("json", "html"))
        data = results(out)
        of = [e for e in data["results"] if e["id"] == "advice_accuracy.sensitivity"]
        (whole,) = [e for e in of if e["scope"] == {"dataset": "outside"}]
        if whole["value"] is None:
            break
    assert whole["note"] == "suppressed: fewer than 5"
    (verdict,) = data["verdicts"]
    assert verdict["verdict"] == "not assessable"
    assert verdict["value"] is None
    page = (out / "report.html").read_text()
    assert found_in_page(page) == []
    # A line, or a band there and back, goes through no more places than its table lists.
    listed = max(len(f["values"]) for f in data["figures"])
    assert most_vertices(page) <= 2 * listed + 2


@pytest.mark.parametrize(
    "name", ["certification-dossier", "procurement-triage", "vigilance-audit", "knee-mri"]
)
def test_an_attacker_finds_nothing_in_public_reports_of_examples(name: str, tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "examples" / name
    study, plan = read_study(folder)
    public = plan.model_copy(update={"report": plan.report.model_copy(update={"release": "public"})})
    write_report(assess(study, public), tmp_path / "out", formats=("html", "json"))
    assert found_by_attack(results(tmp_path / "out")) == []
    assert found_in_page((tmp_path / "out" / "report.html").read_text()) == []


def test_internal_reports_withhold_nothing(tmp_path: Path) -> None:
    data = results(written(tmp_path / "study", 1, 60, "internal"))
    assert not any("suppressed" in entry["note"] for entry in data["results"])

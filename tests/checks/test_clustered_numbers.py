"""Where cases come in clusters, every primary number of cases allows for it, or P22 names it."""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.checks.check import Evidence
from trustreport.assessment.checks.pragmatic_utility import clustered_data
from trustreport.vocabulary.results import Result

SETS = (("train", "training", 120), ("ext", "external", 150), ("p1", "period", 120), ("p2", "period", 120))


def rows() -> Iterator[dict[str, Any]]:
    """Three images of each patient, at one of five sites, scored by two candidates; some fail."""
    rng = np.random.default_rng(4)
    for name, _, n in SETS:
        effect = rng.normal(size=n)
        for i in range(n):
            patient, truth = i // 3, int(rng.random() < 1 / (1 + np.exp(0.3 - effect[i // 3])))
            case = {"dataset": name, "case": f"{name}-{i}", "patient": f"{name}-{patient}", "truth": truth}
            group = {"sex": "FM"[patient % 2], "site": f"S{patient % 5}"}
            for candidate, noise in (("A", 0.8), ("B", 1.2)):
                odds = 1.2 * (truth - 0.5) + 0.6 * effect[patient] + noise * rng.normal()
                status = "failed" if rng.random() < 0.03 else "ok"
                score = round(float(1 / (1 + np.exp(-odds))), 4)
                yield {**case, **group, "candidate": candidate, "score": score, "status": status}


@pytest.fixture(scope="module")
def assessed(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    folder = tmp_path_factory.mktemp("clustered")
    found = list(rows())
    with (folder / "scores.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    manifest = {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Drawn"},
        "tables": {"scores": {"file": "scores.csv"}},
        "operating_point": {"threshold": 0.5},
        "datasets": [{"dataset": name, "role": role} for name, role, _ in SETS],
        "subgroups": [{"name": "sex", "prespecified": True}],
        "utility": {"matrices": [{"name": "u", "matrix": [[1, 0], [0.4, 1]]}], "thresholds": [0.3]},
    }
    path = folder / "study.yaml"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return assess(*read_study(path))


def results(of: Assessment) -> list[Result]:
    return [r for finding in of.findings for r in finding.results]


def named(evidence: Evidence) -> set[str]:
    """The quantities that P22 names."""
    return {name for remark in clustered_data(evidence) if remark.message for name in remark.quantities}


def test_every_primary_number_of_clustered_cases_allows_for_it_or_is_named(assessed: Assessment) -> None:
    every = results(assessed)
    said = named(Evidence(assessed.study, assessed.plan, every))
    judged = 0
    for r in every:
        if not (r.primary and r.cases and r.estimate.low < r.estimate.high) or r.unit in ("p", "count"):
            continue
        judged += 1
        of_clusters = "clusters" in r.estimate.details or "cluster" in r.method or "obuchowski" in r.method
        of_clusters |= r.analysis == "clustered"
        assert of_clusters or r.quantity.id in said, (r.id, r.endpoint, r.method)
    assert judged > 200
    shares = "bootstrap_share"  # of resamples: no interval
    missing = [r for r in every if r.primary and r.cases and np.isnan(r.estimate.low) and r.method != shares]
    assert not [(r.id, r.endpoint, r.method) for r in missing if r.unit != "p" and not r.estimate.note]


@pytest.mark.parametrize(
    "id, endpoint",
    [
        ("subgroups.group_performance", "sensitivity"),
        ("subgroups.worst_group", "auc"),
        ("subgroups.subgroup_difference", "accuracy"),
        ("vigilance.period_change", "auc"),
        ("vigilance.mature_share", ""),
        ("potential_robustness.site_performance", "brier"),
        ("potential_robustness.pooled_performance", "specificity"),
        ("advice_value.brier", ""),
    ],
)
def test_a_number_of_independent_cases_is_named(assessed: Assessment, id: str, endpoint: str) -> None:
    """The same entries, one of them by a method that treats cases as independent."""
    every = results(assessed)
    evidence = Evidence(assessed.study, assessed.plan, every)
    assert not named(evidence)
    wrong = next(
        r
        for r in every
        if r.id == id and r.endpoint == endpoint and r.primary and r.estimate.low < r.estimate.high
    )
    plain = replace(wrong, estimate=replace(wrong.estimate, method="wilson", details={}), analysis="")
    others = [r for r in every if r is not wrong]
    assert named(replace(evidence, results=[*others, plain])) == {wrong.quantity.id}

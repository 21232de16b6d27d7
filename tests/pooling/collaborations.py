"""Drawn collaborations: sites with their own cases under one lock, and the study with all their rows."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from trustreport.api.sites import Signers, pool_sites, read_site_file, site_bytes
from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.site_summary.summary import site_summary
from trustreport.study import lock
from trustreport.study.clusters import with_clusters
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import DisclosureRules, SiteFile
from trustreport.study.study import Cases, Coded, Dataset, Labels, Scores, Study

ANYBODY = Signers({}, unverified=True)
BOUNDS = {"sensitivity": 0.7, "specificity": 0.6, "accuracy": 0.65, "ppv": 0.3, "npv": 0.7}


def plan_of(**more: Any) -> Plan:
    """A plan with criteria of every kind that a pool can judge."""
    goals = [
        {
            "endpoint": name, "role": "secondary", "measure": f"advice_accuracy.{name}",
            "dataset": "external", "hypothesis": "performance goal", "bound_or_margin": bound, "alpha": 0.025,
        }
        for name, bound in BOUNDS.items()
    ]  # fmt: skip
    mean = {
        "measure": "potential_robustness.pooled_performance",
        "hypothesis": "performance goal",
        "alpha": 0.025,
    }
    goals += [
        {"endpoint": f"mean {of}", "role": "secondary", "of": of, "bound_or_margin": bound, **mean}
        for of, bound in (("auc", 0.7), ("sensitivity", 0.6), ("specificity", 0.55))
    ]
    goals += [
        {
            "endpoint": f"{of} at a new site", "role": "secondary", "of": of, "bound_or_margin": 0.5,
            "alpha": 0.025, "measure": "potential_robustness.prediction_interval",
            "hypothesis": "performance goal",
        }
        for of in ("sensitivity", "specificity")
    ]  # fmt: skip
    goals.append(
        {**goals[0], "endpoint": "sensitivity in women", "subgroup": "sex: F", "bound_or_margin": 0.6}
    )
    goals.append({**goals[0], "endpoint": "sensitivity at B", "site": "B", "bound_or_margin": 0.6})
    said: dict[str, Any] = {
        "report": {"kind": "certification", "title": "drawn", "confidence_level": 0.95},
        "device": {"trade_name": "D", "software_version": "1", "manufacturer": "M"},
        "operating_point": {"threshold": 0.5, "score_range": [0, 1], "threshold_origin": "fixed by M"},
        "utility": {"thresholds": [0.2, 0.5, 0.7]},
        "reference_standard": {"definition": "biopsy", "type": "histology", "applied_to": "all"},
        "subgroups": [
            {"name": "sex", "prespecified": True},
            {"name": "age", "breaks": [50, 70], "prespecified": True},
        ],
        "datasets": [{"dataset": "external", "role": "external"}],
        "endpoints": goals,
    }
    return Plan.model_validate({**said, **more})


def drawn_rows(rng: np.random.Generator, sites: int, cases: tuple[int, int]) -> dict[str, np.ndarray]:
    """Columns of the cases of all sites, with sites that differ in size, prevalence and accuracy."""
    found: dict[str, list[np.ndarray]] = {}
    for i in range(sites):
        n = int(rng.integers(*cases))
        truth = rng.random(n) < rng.uniform(0.15, 0.5)
        score = 1 / (1 + np.exp(-(rng.normal(size=n) + (truth - 0.5) * rng.uniform(1, 4))))
        if rng.random() < 0.15:
            score = np.round(score, 1)
        score[rng.random(n) < rng.choice([0, 0, 0, 0, 0.05])] = np.nan
        columns = {
            "site": np.full(n, i), "truth": truth.astype(np.int8), "score": score,
            "sex": rng.integers(0, 2, n), "age": rng.integers(30, 90, n),
        }  # fmt: skip
        for name, column in columns.items():
            found.setdefault(name, []).append(column)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def study_of(rows: Mapping[str, np.ndarray], plan: Plan, site: int | None = None) -> Study:
    """The study of one site, or of all with the site of each case, under the lock of the plan."""
    of = slice(None) if site is None else rows["site"] == site
    own = {name: column[of] for name, column in rows.items()}
    n, ages = len(own["truth"]), np.unique(own["age"])
    cases = Cases(
        Labels(tuple(f"{site}-{i}" for i in range(n))),
        own["truth"],
        site=Coded(own["site"].astype(np.int32), Labels(tuple("ABCDEFGHIJ"))) if site is None else None,
        groups={
            "sex": Coded(own["sex"].astype(np.int32), Labels(("F", "M"))),
            "age": Coded(np.searchsorted(ages, own["age"]).astype(np.int32), Labels(tuple(map(str, ages)))),
        },
    )
    if "patient" in own:
        names, codes = np.unique(own["patient"], return_inverse=True)
        cases = replace(cases, patient=Coded(codes.astype(np.int32), Labels(tuple(map(str, names)))))
    dataset = Dataset("external", "external", cases, {"": Scores(score=own["score"])})
    return with_clusters(Study(datasets=(dataset,), lock=lock.written(lock.renewed(plan))), plan)


def summaries(
    rows: Mapping[str, np.ndarray], plan: Plan, rules: DisclosureRules, only: tuple[str, ...] = ()
) -> list[SiteFile]:
    """What every site hands over, of dimensions `only` for speed."""
    return [
        site_summary(assess(study_of(rows, plan, i), plan, only=only), "ABCDEFGHIJ"[i], rules)
        for i in np.unique(rows["site"]).tolist()
    ]


def pooled(files: list[SiteFile], only: tuple[str, ...] = ()) -> Assessment:
    """The assessment of what the sites handed over, after the way through the bytes of their files."""
    received = [read_site_file(f"{one.site}.site.json", site_bytes(one), ANYBODY) for one in files]
    return assess(*pool_sites(received), only=only)


def table_of(rows: Mapping[str, np.ndarray], plan: Plan, site: int) -> Counter[tuple[Any, ...]]:
    """The cases of a site by truth, outcome, sex and group of age: what an attacker looks for."""
    own = {name: column[rows["site"] == site] for name, column in rows.items()}
    silent = "not run" if plan.operating_point.indeterminate_as is None else "failed"
    outcome = np.where(np.isnan(own["score"]), silent, np.where(own["score"] >= 0.5, "positive", "negative"))
    age = np.select([own["age"] < 50, own["age"] < 70], ["49", "60"], "71")
    sex = np.array(["F", "M"])[own["sex"]]
    columns = (own["truth"].tolist(), outcome.tolist(), sex.tolist(), age.tolist())
    table = Counter(zip(*columns))
    return Counter({key: table[key] for key in product(*(sorted(set(c), key=str) for c in columns))})

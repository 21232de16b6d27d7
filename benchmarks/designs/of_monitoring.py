"""Periods compared with a baseline, and groups of cases compared with the others."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from designs.drawn import Drawn, ask_difference, ask_values, chosen, operating_point, study
from designs.of_scores import Risk, drawn_cases, risk_and_threshold, scored, table

OF = ["sensitivity", "specificity", "auc"]


def _two(rng: Generator) -> tuple[Risk, Risk, float]:
    """What the scores are worth in one part and in the other; alike every other time."""
    one, threshold = risk_and_threshold(rng)
    if rng.random() < 0.5:
        return one, one, threshold
    other = replace(one, mean=one.mean + rng.uniform(-0.3, 0.3), spread=one.spread * rng.uniform(0.75, 1.15))
    return one, other, threshold


def periods(rng: Generator) -> Drawn:
    """A baseline and a period, in which some patients may come again."""
    one, other, threshold = _two(rng)
    sizes, several = rng.integers(120, 401, 2), rng.random() < 0.4
    alike = float(rng.uniform(0.1, 0.5)) if several else 0.0
    persons = int(sizes.sum() // 3)
    parts = []
    for name, risk, n in zip(("baseline", "q1"), (one, other), sizes, strict=True):
        patient = rng.integers(0, persons, n) if several else None
        truth, score = drawn_cases(rng, risk, int(n), patient=patient, alike=alike)
        own = [f"P{p}" for p in patient] if patient is not None else [f"{name} P{i}" for i in range(n)]
        parts.append(table(truth, score, name, patient=own))
    drawn = study(
        "vigilance",
        datasets=[
            {"dataset": "baseline", "role": "local", "start_date": "2025-10-01", "end_date": "2025-12-31"},
            {"dataset": "q1", "role": "period", "start_date": "2026-01-01", "end_date": "2026-03-31"},
        ],
        tables={"scores": pd.concat(parts, ignore_index=True)},
        operating_point=operating_point(threshold),
        vigilance={
            "baseline_dataset": "baseline",
            "period_start": "2026-01-01",
            "period_end": "2026-03-31",
            "data_cut": "2026-05-31",
            "observation_period": "3 months",
            "planned_looks": 1,
            "versions_in_use": ["1.0"],
        },
    )
    before, now = one.true(threshold), other.true(threshold)
    for name in chosen(rng, OF, 2):
        where = {"of": name, "period": "q1", "against": "baseline"}
        ask_difference(drawn, rng, "vigilance.period_change", now[name] - before[name], **where)
    of = str(rng.choice(OF))
    ask_values(drawn, rng, {"period_value": now[of]}, "vigilance.", of=of, period="q1")
    return drawn


def groups(rng: Generator) -> Drawn:
    """Two groups of cases, with their own worth of the scores."""
    one, other, threshold = _two(rng)
    sizes = rng.integers(100, 301, 2)
    parts = []
    for sex, risk, n in zip("fm", (one, other), sizes, strict=True):
        truth, score = drawn_cases(rng, risk, int(n))
        cases = table(truth, score, sex=sex)
        parts.append(cases.assign(case=sex + " " + cases["case"]))
    drawn = scored(
        pd.concat(parts, ignore_index=True).sample(frac=1, random_state=np.random.RandomState(1)),
        threshold,
        subgroups=[{"name": "sex", "prespecified": True}],
    )
    of_f, of_m = one.true(threshold), other.true(threshold)
    for name in chosen(rng, OF, 2):
        where = {"of": name, "subgroup": "sex: f"}
        ask_difference(drawn, rng, "subgroups.subgroup_difference", of_f[name] - of_m[name], **where)
    of = str(rng.choice(OF))
    ask_values(drawn, rng, {"group_performance": of_f[of]}, "subgroups.", of=of, subgroup="sex: f")
    return drawn

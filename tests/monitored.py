"""Small studies over time that several tests are made of."""

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Coded, Dataset, Labels, Readers, Readings, Scores, Study

START = dt.date(2026, 1, 1)
DAYS = 30


def first_day(k: int) -> dt.date:
    """The first day of the k-th period of thirty days; the baseline is the 0th."""
    return START + dt.timedelta(DAYS * (k - 1))


def coded(names: list[str]) -> Coded:
    """A column of names."""
    labels = sorted(set(names))
    return Coded(np.array([labels.index(n) for n in names], np.int32), Labels(tuple(labels)))


def period(
    k: int,
    truth: Any,
    score: Any,
    *,
    name: str = "",
    role: str = "period",
    dated: bool = True,
    columns: dict[str, list[str]] | None = None,
    features: NDArray[np.float64] | None = None,
    **scores: Any,
) -> Dataset:
    """The k-th period (0: the baseline) with these truths (-1: unknown) and scores (NaN: none)."""
    truth, score = np.asarray(truth, np.int8), np.asarray(score, np.float64)
    n = len(truth)
    offset = (np.arange(n) * DAYS) // max(n, 1)
    date = np.datetime64(first_day(k)) + offset.astype("timedelta64[D]")
    named = {c: coded(v) for c, v in (columns or {}).items()}
    site = named.pop("site", None)
    cases = Cases(
        Labels(tuple(f"{k}-{i}" for i in range(n))),
        truth,
        site=site,
        date=date if dated else None,
        groups=named,
    )
    names = tuple(f"f{j}" for j in range(features.shape[1])) if features is not None else ()
    title = name or ("baseline" if k == 0 else f"p{k}")
    return Dataset(title, "local" if k == 0 and role == "period" else role, cases,
                   {"": Scores(score, **scores)}, features, names)  # fmt: skip


def drawn(n: int, sensitivity: float, specificity: float, seed: int) -> tuple[Any, Any]:
    """Truths and scores of n cases, about 30 % positive, decided at 0.5."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.3).astype(np.int8)
    right = rng.random(n) < np.where(truth == 1, sensitivity, specificity)
    called = np.where(right, truth, 1 - truth)
    return truth, np.where(called == 1, rng.uniform(0.5, 1, n), rng.uniform(0, 0.5, n))


def over_time(*sensitivity: float, n: int = 200, **more: Any) -> Study:
    """A baseline of sensitivity .9, then periods of these, each of n cases; specificity .9 throughout."""
    sets = [period(0, *drawn(3 * n, 0.9, 0.9, 1), **more)]
    sets += [period(k, *drawn(n, s, 0.9, 10 + k), **more) for k, s in enumerate(sensitivity, 1)]
    return Study(datasets=tuple(sets))


def plan(study: Study, *, indicators: Any = (), vigilance: Any = None, **groups: Any) -> Plan:
    """A manifest of kind vigilance that declares the days of every data set."""
    facts = []
    for d in study.datasets:
        k = 0 if d.name == "baseline" else int(d.name[1:]) if d.name[1:].isdigit() else 1
        end = first_day(k) + dt.timedelta(DAYS - 1)
        facts.append({"dataset": d.name, "role": d.role, "start_date": first_day(k).isoformat(),
                      "end_date": end.isoformat()})  # fmt: skip
    declared: dict[str, Any] = {"baseline_dataset": "baseline", "indicators": list(indicators)}
    declared |= vigilance or {}
    return Plan.model_validate(
        {
            "report": {"kind": "vigilance"},
            "device": {"software_version": "1.0"},
            "operating_point": {"threshold": 0.5},
            "datasets": facts,
            "vigilance": {k: v for k, v in declared.items() if v is not None},
            **groups,
        }
    )


SENSITIVITY = {"measure": "sensitivity", "in_control": 0.9, "to_detect": 0.75, "false_alert_budget": 0.05}


def read(study: Study, *, final: Any, advice: Any, first: Any, truth: Any, k: int = 1) -> Study:
    """The study with sequential readings of one task by four readers, dated within the k-th period."""
    n = len(final)
    cases = Cases(Labels(tuple(f"r{i}" for i in range(n))), np.asarray(truth, np.int8))
    rows = np.arange(n, dtype=np.int32)
    when = np.full(n, np.datetime64(first_day(k)), "datetime64[s]")
    table = Readings(
        "",
        ("unaided", "aided"),
        Readers(Labels(("A", "B", "C", "D"))),
        cases,
        np.repeat([0, 1], n).astype(np.int32),
        np.tile(rows % 4, 2).astype(np.int32),
        np.tile(rows, 2),
        np.concatenate([first, final]).astype(np.int8),
        seconds=np.tile(np.linspace(30, 90, n), 2),
        read_at=np.tile(when, 2),
        advice=np.tile(np.asarray(advice, np.int8), 2),
    )
    return Study(arms=("unaided", "aided"), readings=(table,), datasets=study.datasets)

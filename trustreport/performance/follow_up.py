"""Which cases of a period have been followed up long enough: one rule for every number on performance."""

import datetime as dt
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trustreport.plan import Plan
from trustreport.study import Dataset, Study


def cut_of(datasets: Sequence[Dataset], plan: Plan) -> dt.date | None:
    """The day until which truths are known: declared, else the end of the period, else the last case.

    None where nothing tells it.
    """
    declared = plan.vigilance and (plan.vigilance.data_cut or plan.vigilance.period_end)
    if declared:
        return declared
    ends = [d.end_date for d in plan.datasets if d.role == "period" and d.end_date]
    ends += [day for d in datasets if d.role == "period" and (day := last_day(d))]
    return max(ends, default=None)


def last_day(dataset: Dataset) -> dt.date | None:
    """The day of the latest case; None where no case has one."""
    date = dataset.cases.date
    if date is None or np.isnat(date).all():
        return None
    return dt.date.fromisoformat(str(date[~np.isnat(date)].max().astype("datetime64[D]")))


def is_mature(dataset: Dataset, study: Study, plan: Plan) -> NDArray[np.bool_]:
    """Which cases are at least `maturity_days` old at the data cut-off, (n_cases,).

    Only cases of a period can be too young. Where nothing tells the age of one it is taken as mature; where
    cases have no dates the last day of the period is that of each.
    """
    n = len(dataset.cases)
    days = plan.reference_standard.maturity_days
    if dataset.role != "period" or days is None:
        return np.ones(n, bool)
    cut = cut_of(study.datasets, plan)
    if cut is None:
        return np.ones(n, bool)
    date = dataset.cases.date
    if date is None:
        end = next((d.end_date for d in plan.datasets if d.dataset == dataset.name), None)
        return np.full(n, end is None or (cut - end).days >= days)
    age = (np.datetime64(cut, "D") - date) / np.timedelta64(1, "D")
    return np.asarray(np.isnat(date) | (age >= days))

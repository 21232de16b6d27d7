"""Which cases of a period have been followed up long enough: one rule for every number on performance."""

import datetime as dt
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Study


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

    Only cases of a period can be too young. A case without a date is mature where the declared last day of
    its period lies that long before the cut-off, which is then true of all its cases; else nothing shows its
    age, and it is not.
    """
    n = len(dataset.cases)
    days = plan.reference_standard.maturity_days
    if dataset.role != "period" or not days:
        return np.ones(n, bool)
    cut = cut_of(study.datasets, plan)
    end = next((d.end_date for d in plan.datasets if d.dataset == dataset.name), None)
    whole = cut is not None and end is not None and (cut - end).days >= days
    date = dataset.cases.date
    if cut is None or date is None:
        return np.full(n, whole)
    age = (np.datetime64(cut, "D") - date) / np.timedelta64(1, "D")
    return np.where(np.isnat(date), whole, age >= days)


def has_no_date(dataset: Dataset) -> NDArray[np.bool_]:
    """Which cases have no date, (n_cases,)."""
    date = dataset.cases.date
    return np.ones(len(dataset.cases), bool) if date is None else np.isnat(date)

"""When a part of the data is too small to be shown outside: the groups and sites of a public report."""

from collections.abc import Iterable
from math import nan

from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan

SUPPRESSED = "suppressed: fewer than {k}"


def public_cell(plan: Plan) -> int:
    """The least cell of a public report; 0 in an internal one."""
    return int(plan.limit("P59_cell")) if plan.report.release == "public" else 0


def closed(cells: Iterable[int], least: int) -> bool:
    """Whether any cell holds some cases, but fewer than may be shown."""
    return any(0 < n < least for n in cells)


def suppressed(e: Estimate, least: int) -> Estimate:
    """An entry of which nothing is shown outside."""
    return Estimate(nan, nan, nan, 0, e.level, e.method, SUPPRESSED.format(k=least))

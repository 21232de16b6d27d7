"""Numbers of a report computed a second time, by statsmodels and from results.json alone.

Recomputed are intervals of shares, those of two independent groups whose counts the report gives, and the
exact McNemar test. What needs the data themselves is compared by `trustreport doctor --qualify`. Two
intervals that statsmodels 0.15 has are left out: its limits of Miettinen and Nurminen are not the published
ones, and those of Koopman are others wherever all cases of a group have the event.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from math import isclose
from typing import Any

TOLERANCE = 1e-9  # relative above 1
SHARES = {"wilson": "wilson", "clopper_pearson": "beta", "wald": "normal"}  # ours, and what statsmodels says
DIFFERENCES = {"wald": "wald", "newcombe": "newcomb"}
COUNTED = 1e-11  # of the cases: so near is a share times its cases to whole numbers, written with 13 digits
NO_SHARES = ("f1", "f1_negative")  # limits of a share, turned into those of F1
SHARE_OF_ERRORS, ABSOLUTE, RELATIVE, ODDS = (
    f"pragmatic_utility.{name}" for name in ("error_rate", "arr", "rr", "odds_ratio")
)

Limits = tuple[float, float]
Table = tuple[int, int, int, int]  # events and cases of one group, and of the other


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A number of results.json, and what statsmodels returns for it."""

    id: str
    scope: Mapping[str, Any]
    method: str
    field: str
    reported: float
    found: float

    @property
    def equal(self) -> bool:
        """Whether both agree to the tolerance."""
        return abs(self.reported - self.found) <= TOLERANCE * max(1.0, abs(self.found))

    def __str__(self) -> str:
        where = json.dumps(self.scope, ensure_ascii=False, sort_keys=True)
        return (
            f"{self.id} {where}, {self.method}, {self.field}: reported {self.reported:.13g}, "
            f"{software()} {self.found:.13g}"
        )


def software() -> str:
    """The name and version that the numbers are compared with."""
    return f"statsmodels {metadata.version('statsmodels')}"


def recompute(document: Mapping[str, Any]) -> list[Recomputed]:
    """Each number of results.json that statsmodels can give again, in the order of the file.

    Parameters
    ----------
    document : results.json as data

    Raises
    ------
    ValueError : this is no results.json
    """
    try:
        entries = [e for e in document["results"] if e["method"]]
        counts = {_place(e["scope"]): c for e in entries if _is_of_counts(e) and (c := _counts(e))}
        return [one for e in entries for one in _again(e, counts)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a results.json of this version: {error!r}") from error


def share_limits(x: int, n: int, level: float, method: str) -> Limits:
    """Limits of x / n by one of `SHARES`, kept between 0 and 1."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(x, n, 1 - level, SHARES[method])
    return max(0.0, float(low)), min(1.0, float(high))


def difference_limits(table: Table, level: float, method: str) -> Limits:
    """Limits of the first share less the second by one of `DIFFERENCES`, kept between -1 and 1."""
    from statsmodels.stats.proportion import confint_proportions_2indep

    how = DIFFERENCES[method]
    low, high = confint_proportions_2indep(*table, compare="diff", method=how, alpha=1 - level)
    return max(-1.0, float(low)), min(1.0, float(high))


def ratio_limits(table: Table, level: float, method: str) -> Limits:
    """Limits of the first share over the second (`katz`), or of their odds (`woolf`); no cell is empty."""
    from statsmodels.stats.contingency_tables import Table2x2

    x1, n1, x2, n2 = table
    cross = Table2x2([[x1, n1 - x1], [x2, n2 - x2]], shift_zeros=False)
    of = cross.riskratio_confint if method == "katz" else cross.oddsratio_confint
    low, high = of(1 - level)
    return float(low), float(high)


def mcnemar_p(mended: int, spoiled: int) -> float:
    """p of the exact test that both kinds of discordant pairs are equally frequent."""
    from statsmodels.stats.contingency_tables import mcnemar

    return float(mcnemar([[0, mended], [spoiled, 0]], exact=True).pvalue)


def _again(e: Mapping[str, Any], counts: Mapping[str, tuple[int, int]]) -> Iterator[Recomputed]:
    """The limits of an entry, or the p-value of the test, where statsmodels has them."""
    method, scope, level = e["method"], e["scope"], e["level"]
    if method == "mcnemar_exact":
        if e["p"] is not None and (found := _counts(e)):
            mended, pairs = found
            yield Recomputed(e["id"], scope, method, "p", e["p"], mcnemar_p(mended, pairs - mended))
        return
    if e["low"] is None or e["high"] is None:
        return
    groups = [counts.get(_place(scope, arm)) for arm in scope.get("arms") or ()]
    if method in SHARES and e["unit"] == "proportion" and e["id"].partition(".")[2] not in NO_SHARES:
        limits = (
            share_limits(*c, e["details"].get("level_of_each", level), method) if (c := _counts(e)) else None
        )
    elif len(groups) == 2 and (first := groups[0]) and (second := groups[1]):
        limits = _of_two(e["id"], method, first, second, level)
    else:
        limits = None
    for field, found_limit in zip(("low", "high"), limits or ()):
        yield Recomputed(e["id"], scope, method, field, e[field], found_limit)


def _of_two(
    id: str, method: str, aided: tuple[int, int], unaided: tuple[int, int], level: float
) -> Limits | None:
    """Limits that compare two arms, as the quantity has them: a risk reduction is unaided less aided."""
    if id == ABSOLUTE and method in DIFFERENCES:
        return difference_limits((*unaided, *aided), level, method)
    if (id, method) in ((RELATIVE, "katz"), (ODDS, "woolf")):
        return ratio_limits((*aided, *unaided), level, method)
    return None


def _is_of_counts(e: Mapping[str, Any]) -> bool:
    """Whether an entry gives the errors and readings of an arm."""
    return e["id"] == SHARE_OF_ERRORS and e["method"] == "wilson" and "arm" in e["scope"]


def _counts(e: Mapping[str, Any]) -> tuple[int, int] | None:
    """Events and cases of a share; None where they are no whole numbers."""
    value, n = e["value"], e["n"]
    if value is None or not n:
        return None
    x = round(value * n)
    return (x, n) if 0 <= x <= n and isclose(value * n, x, rel_tol=0, abs_tol=COUNTED * n) else None


def _place(scope: Mapping[str, Any], arm: str = "") -> str:
    """A scope but for what tells arms and comparisons apart, and the arm that it is of."""
    rest = {key: value for key, value in scope.items() if key not in ("arm", "arms")}
    return json.dumps([rest, arm or scope.get("arm")], sort_keys=True)

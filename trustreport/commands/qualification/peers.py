"""Functions of the package on the cases of the reference values, against what statsmodels returns here."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.commands.second_opinion import (
    DIFFERENCES,
    SHARES,
    TOLERANCE,
    difference_limits,
    mcnemar_p,
    ratio_limits,
    share_limits,
    software,
)

Check = dict[str, Any]
Floats = NDArray[np.float64]

SHARE, TWO_GROUPS, MCNEMAR, FLEISS = (
    "proportion.wilson",
    "two_arm.ratios.exact_conditional",
    "paired.ratios.mcnemar_exact",
    "agreement.kappa.fleiss_kappa",
)
HERE = "on this machine"  # in the source of a value, what no file holds
SPAN, POINTS = 0.6, 10  # of the smooth curve, and at how many of its cases it is compared
READERS = 40  # as many scores stand for readers with a value without and with an aid


def source() -> str:
    """Where a value comes from that is computed here and now."""
    return f"{software()}, {HERE}"


def checks(document: Mapping[str, Any]) -> Iterator[Check]:
    """Checks in the form of `functions.json`, their values computed by statsmodels as it is installed.

    Parameters
    ----------
    document : `functions.json`, whose arguments are the cases
    """
    cases: dict[str, list[Check]] = {}
    for one in document["checks"]:
        cases.setdefault(one["function"], []).append(one)
    for one in cases.get(SHARE, ()):
        yield from _share(*one["arguments"])
    for one in cases.get(TWO_GROUPS, ()):
        yield from _two_groups(*one["arguments"])
    discordant = [one["arguments"][0]["arguments"] for one in cases.get(MCNEMAR, ())]
    for table in discordant:
        yield _check("paired.ratios.mcnemar_exact", _pairs(table), [_table(table)], p=mcnemar_p(*table[1:3]))
    if discordant:
        yield _holm([mcnemar_p(*table[1:3]) for table in discordant])
    tables = {str(one["arguments"]): one["arguments"] for one in cases.get(FLEISS, ())}
    for codes, categories in tables.values():
        if min(map(min, codes)) >= 0:
            yield from _agreement(codes, categories)
    data = document["data"]
    for name in ("mgus2", "flchain"):
        if {f"{name} event", f"{name} risk"} <= data.keys():
            yield from _calibration(name, np.array(data[f"{name} event"]) > 0, np.array(data[f"{name} risk"]))
    if {"mgus2 risk", "flchain risk"} <= data.keys():
        yield _line(data["mgus2 risk"][:READERS], data["flchain risk"][:READERS])


def _check(function: str, case: str, arguments: Sequence[Any], **values: float) -> Check:
    return {
        "function": function,
        "case": case,
        "arguments": list(arguments),
        "values": {
            field.replace("__", "."): [float(value), TOLERANCE * max(1.0, abs(float(value)))]
            for field, value in values.items()
        },
        "source": source(),
    }


def _share(x: int, n: int, level: float) -> Iterator[Check]:
    for method in SHARES:
        low, high = share_limits(x, n, level, method)
        inside = method != "wald" or 0 < low <= high < 1  # those of Wald are not cut by the function
        if inside:
            yield _check(
                f"proportion.{method}", f"{x} of {n}, level {level}", [x, n, level], low=low, high=high
            )


def _two_groups(x1: int, n1: int, x2: int, n2: int, level: float) -> Iterator[Check]:
    arguments, table = [x1, n1, x2, n2, level], (x1, n1, x2, n2)
    case = f"{x1} of {n1} and {x2} of {n2}, level {level}"
    for method in DIFFERENCES:
        low, high = difference_limits(table, level, method)
        if -1 < low <= high < 1:
            yield _check(f"two_arm.difference.{method}", case, arguments, low=low, high=high)
    if 0 in (x1, x2, n1 - x1, n2 - x2):
        return
    for method in ("katz", "woolf"):
        low, high = ratio_limits(table, level, method)
        yield _check(f"two_arm.ratios.{method}", case, arguments, low=low, high=high)


def _table(pairs: Sequence[int]) -> Check:
    return {"call": "paired.difference.PairedTable", "arguments": list(pairs)}


def _pairs(table: Sequence[int]) -> str:
    return "{}, {}, {} and {} pairs".format(*table)


def _holm(p: list[float]) -> Check:
    from statsmodels.stats.multitest import multipletests

    adjusted = multipletests(p, method="holm")[1]
    return _check(
        "association.holm", f"{len(p)} p-values", [p], **{str(i): q for i, q in enumerate(adjusted)}
    )


def _agreement(codes: list[list[int]], categories: int) -> Iterator[Check]:
    """Kappas of labels without gaps."""
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table

    raters = len(codes[0])
    case = f"{len(codes)} cases, {raters} raters, {categories} categories"
    counts, _ = aggregate_raters(np.array(codes), n_cat=categories)
    yield _check("agreement.kappa.fleiss_kappa", case, [codes, categories], value=fleiss_kappa(counts))
    if raters == 2:
        cross, _ = to_table(np.array(codes), bins=np.arange(categories + 1) - 0.5)
        first, second = map(list, zip(*codes))
        kappa = cohens_kappa(cross, return_results=False)
        yield _check("agreement.kappa.cohen_kappa", case, [first, second, categories], value=kappa)


def _calibration(name: str, truth: NDArray[np.bool_], score: Floats) -> Iterator[Check]:
    """Logistic recalibration and the smooth curve of a set."""
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.nonparametric.smoothers_lowess import lowess

    order = np.argsort(score, kind="stable")
    truth, score = truth[order], score[order]
    event, one, logit = truth.astype(float), np.ones(len(score)), np.log(score / (1 - score))
    shift = GLM(event, one, offset=logit, family=Binomial()).fit(tol=1e-14)
    line = GLM(event, np.column_stack([one, logit]), family=Binomial()).fit(tol=1e-14)
    arguments, case = [truth.tolist(), score.tolist()], f"{name}, {len(score)} cases"
    yield _check(
        "calibration.logistic.calibration_intercept", case, arguments, value=shift.params[0], se=shift.bse[0]
    )
    yield _check(
        "calibration.logistic.calibration_slope",
        case,
        arguments,
        value=line.params[1],
        se=line.bse[1],
        details__intercept=line.params[0],
    )
    curve = lowess(event, score, frac=SPAN, it=0, delta=0.0, return_sorted=False)
    yield {
        **_check(
            "calibration.local_regression.lowess",
            f"{case}, span {SPAN}",
            [score.tolist(), event.tolist()],
            **{str(i): curve[i] for i in range(0, len(score), len(score) // POINTS)},
        ),
        "options": {"span": SPAN, "skip": 0.0},
    }


def _line(before: list[float], after: list[float]) -> Check:
    """The least squares line of the change on the mean of both values."""
    from statsmodels.regression.linear_model import OLS

    first, second = np.array(before), np.array(after)
    mean = (first + second) / 2
    fit = OLS(second - first, np.column_stack([np.ones(len(mean)), mean])).fit()
    values = {"value": fit.params[1], "se": fit.bse[1], "p": fit.pvalues[1]}
    return _check("mrmc.quarters.oldham_slope", f"{len(mean)} pairs of values", [before, after], **values)

"""Regimes of labels that are ranks: agreement with credit for near ones, and intraclass correlations."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from regimes.regime import LEVEL, Found, Regime
from trustreport.assessment.dimensions.source_reliability.results import ICC_FORMS, leading_agreement
from trustreport.measures.agreement.coefficients import gwet_ac2, icc, krippendorff_alpha
from trustreport.measures.agreement.labels import ordinal

CUTS = (-1.0, 0.0, 1.0)  # four ranks
RATER, REST = 0.3, 0.6  # standard deviations of what a rater always gives more, and of the rest; of cases 1


def ranked(n: int, raters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Ranks (n_cases, n_raters) of cases by raters of whom some always give more."""
    seen = rng.standard_normal((n, 1)) + RATER * rng.standard_normal(raters)
    return np.digitize(seen + REST * rng.standard_normal((n, raters)), CUTS)


def agreeing(n: int, raters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The same by raters who are alike."""
    return np.digitize(rng.standard_normal((n, 1)) + REST * rng.standard_normal((n, raters)), CUTS)


@cache
def _true() -> dict[str, float]:
    """What many cases and many raters show."""
    rng = np.random.default_rng(23)
    table = ranked(2000, 400, rng).astype(float)
    found = {f"icc, {form}": icc(table, form=form).value for form in ICC_FORMS}
    return found | {"gwet_ac2": gwet_ac2(agreeing(300_000, 2, rng), 4, ordinal(4)).value}


SKEWED = {"75/13/6/4/2%": (0.75, 0.13, 0.06, 0.04, 0.02), "90/5/3/2%": (0.9, 0.05, 0.03, 0.02)}


def graded(shares: tuple[float, ...], n: int, raters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Grades of such shares by raters who are alike, (n_cases, n_raters)."""
    seen = rng.standard_normal((n, 1)) + REST * rng.standard_normal((n, raters))
    return np.digitize(seen / np.hypot(1, REST), ndtri(np.cumsum(shares)[:-1]))


@cache
def _alpha(shares: tuple[float, ...]) -> dict[str, float]:
    codes = graded(shares, 400_000, 2, np.random.default_rng(29))
    return {"krippendorff_alpha": krippendorff_alpha(codes, len(shares), metric="ordinal").value}


def ranks() -> Iterator[Regime]:
    """Two to five raters of few and many cases; alpha of grades of which one is usual."""
    for (said, shares), n, raters in product(SKEWED.items(), (20, 50, 100, 200), (2, 3)):

        def skewed(
            rng: np.random.Generator, shares: tuple[float, ...] = shares, n: int = n, raters: int = raters
        ) -> Found:
            codes = graded(shares, n, raters, rng)
            plain = krippendorff_alpha(codes, len(shares), metric="ordinal", level=LEVEL)
            yield (
                "krippendorff_alpha",
                leading_agreement("krippendorff_alpha", plain, codes, len(shares), ranks=True),
            )

        design, due = f"{raters} raters, {n} cases, grades {said}", n * (1 - shares[0]) >= 20
        yield Regime("labels that are ranks", design, partial(_alpha, shares), skewed, due=due, cost=0.002)
    for n, raters in product((20, 50, 100), (2, 3, 5)):

        def study(rng: np.random.Generator, n: int = n, raters: int = raters) -> Found:
            codes = agreeing(n, raters, rng)
            plain = gwet_ac2(codes, 4, ordinal(4), level=LEVEL)
            yield "gwet_ac2", leading_agreement("gwet_ac2", plain, codes, 4)
            labels = ranked(n, raters, rng).astype(float)
            for form in ICC_FORMS:
                yield f"icc, {form}", icc(labels, form=form, level=LEVEL)

        yield Regime(
            "labels that are ranks", f"{raters} raters, {n} cases", partial(_true), study, cost=0.002
        )

"""Regimes of several classes: means over them, the rarest with few cases."""

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from regimes.regime import Found, Regime, plan, primary
from trustreport.assessment.dimensions.advice_accuracy.several import called_classes, class_results
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study

SHARES = (0.6, 0.25, 0.1, 0.03, 0.02)
RIGHT = 0.8  # of each class; wrong calls fall on the others by their shares
NAMES = {f"advice_accuracy.macro_{name}": f"macro_{name}" for name in ("sensitivity", "ppv", "f1")}


def _cells() -> NDArray[np.float64]:
    """The chance of each class, and of each call given it, (n_classes, n_classes)."""
    others = np.array(SHARES) * (1 - np.eye(len(SHARES)))
    return np.array(SHARES)[:, None] * (
        RIGHT * np.eye(len(SHARES)) + (1 - RIGHT) * others / others.sum(axis=1, keepdims=True)
    )


@cache
def _true() -> MappingProxyType[str, float]:
    cells = _cells()
    hit, own, called = np.diagonal(cells), cells.sum(axis=1), cells.sum(axis=0)
    means = {"sensitivity": hit / own, "ppv": hit / called, "f1": 2 * hit / (own + called)}
    return MappingProxyType({f"macro_{name}": float(of.mean()) for name, of in means.items()})


def several_classes() -> Iterator[Regime]:
    """Five classes, 2% of the cases of the rarest: 200 to 2,000 cases."""
    for n in (200, 500, 1000, 2000):

        def study(rng: np.random.Generator, n: int = n) -> Found:
            k = len(SHARES)
            drawn = rng.choice(k * k, n, p=_cells().ravel())
            truth, called = drawn // k, drawn % k
            cases = Cases(Labels(n=n), truth.astype(np.int8), classes=tuple("abcde"))
            scores = Scores(np.full(n, np.nan), class_scores=np.eye(k)[called])
            made = Study(datasets=(Dataset("set", "external", cases, {"": scores}),))
            for one in called_classes(made, plan()):
                yield from primary(class_results(one, plan()), NAMES)

        shares = frozenset(["macro_sensitivity"])  # its limits are made of Wilson's
        yield Regime("several classes", f"{n} cases", _true, study, shares=shares, due=n >= 2000, cost=0.02)

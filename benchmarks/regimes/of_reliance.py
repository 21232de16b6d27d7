"""Regimes of reliance: sequential readings whose patterns have known probabilities."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.special import ndtri

from regimes.regime import ARMS, LEVEL, Found, Regime, primary
from trustreport.dimensions.reliance.results import from_readings
from trustreport.measures.reliance.patterns import PATTERNS
from trustreport.place import Place
from trustreport.study import Cases, Floats, Labels, Readers, Readings

# Chance that the first decision and the advice are right, and the final one by what came before it.
FIRST, ADVICE = 0.75, 0.8
FINAL = {"00": 0.06, "01": 0.45, "10": 0.7, "11": 0.97}
EASIER = 0.25  # by how much more often right advice corrects with the second type of advice
# Shares of the variance, on the normal scale, that readers and cases have.
READER, CASE = 0.1, 0.25
IDS = (
    *("technology_impact", "automation_bias_odds", "automation_bias_odds_published"),
    *("conservatism_bias_odds", "conservatism_bias_odds_published"),
    *("dominance_share", "determination_share", "deference_share"),
    *("dominance_direction", "determination_direction", "deference_direction"),
    *("appropriate_reliance_low_bound", "rair_difference"),
)


def chances(more: float) -> dict[str, float]:
    """The probability of each pattern; `more` is added to the chance of a correction."""
    found = {}
    for pattern in PATTERNS:
        h, a, f = (int(digit) for digit in pattern)
        right = FINAL[pattern[:2]] + (more if pattern[:2] == "01" else 0.0)
        chance = (FIRST if h else 1 - FIRST) * (ADVICE if a else 1 - ADVICE)
        found[pattern] = chance * (right if f else 1 - right)
    return found


def true() -> dict[str, float]:
    """The values of both types of advice together, half of the readings each; and their difference."""
    p = {k: (one + chances(EASIER)[k]) / 2 for k, one in chances(0.0).items()}

    def odds(share: float) -> float:
        return share / (1 - share)

    right = sum(p[k] for k in PATTERNS if k[2] == "1")
    changed, kept, taken = p["001"] + p["011"] + p["100"] + p["110"], p["010"] + p["101"], p["011"] + p["100"]
    return {
        "technology_impact": odds(right) / odds(FIRST),
        "automation_bias_odds": p["100"] / p["101"],
        "automation_bias_odds_published": odds(p["100"]) / odds(p["101"]),
        "conservatism_bias_odds": p["010"] / p["011"],
        "conservatism_bias_odds_published": odds(p["010"]) / odds(p["011"]),
        "dominance_share": changed,
        "determination_share": kept,
        "deference_share": taken,
        "dominance_direction": (p["001"] + p["011"] - p["100"] - p["110"]) / changed,
        "determination_direction": (p["101"] - p["010"]) / kept,
        "deference_direction": (p["011"] - p["100"]) / taken,
        "appropriate_reliance_low_bound": p["011"] + p["101"],
        "rair_difference": EASIER,
    }


def study(rng: np.random.Generator, n_readers: int, n_cases: int) -> Found:
    """One study, its readers and cases drawn."""

    def drawn(chance: Floats | float) -> Floats:
        """1.0 with this chance, alike within readers and within cases."""
        shares = (READER, (n_readers, 1)), (CASE, (1, n_cases)), (1 - READER - CASE, (n_readers, n_cases))
        latent = sum(np.sqrt(share) * rng.standard_normal(shape) for share, shape in shares)
        return np.asarray(latent < ndtri(chance), float)

    truth = (np.arange(n_cases) % 2).astype(np.int8)
    types = (np.arange(n_readers)[:, None] + np.arange(n_cases)) // 2 % 2
    first = drawn(FIRST)
    advice = np.broadcast_to(rng.random(n_cases) < ADVICE, first.shape).astype(float)
    final = np.zeros(first.shape)
    for pair, chance in FINAL.items():
        of_pair = (first == int(pair[0])) & (advice == int(pair[1]))
        final = np.where(of_pair, drawn(chance + EASIER * types * (pair == "01")), final)
    reader, case = (index.ravel().astype(np.int32) for index in np.indices(first.shape))
    n = len(reader)

    def decided(right: Floats) -> Floats:
        return np.where(right == 1, truth, 1 - truth).astype(np.int8).ravel()

    readings = Readings(
        "",
        ARMS,
        Readers(Labels(n=n_readers)),
        Cases(Labels(n=n_cases), truth),
        np.repeat(np.array([0, 1], np.int32), n),
        np.tile(reader, 2),
        np.tile(case, 2),
        np.concatenate([decided(first), decided(final)]),
        advice=np.concatenate([np.full(n, -1, np.int8), decided(advice)]),
        advice_type=np.concatenate([np.full(n, np.nan), types.ravel()]),
        advice_types=("plain", "explained"),
        sequential=True,
    )
    arms = ARMS[1], ARMS[0]
    advised = readings.advice
    assert advised is not None
    found = from_readings(readings, arms, advised, LEVEL, place=Place(task=""))
    whole = (r for r in found.results if r.place.advice_type is None or r.name == "rair_difference")
    yield from primary(whole, {f"reliance.{name}": name for name in IDS})


def reliance() -> Iterator[Regime]:
    """Few and many readers, few and many cases."""
    for n_readers, n_cases in product((5, 10), (60, 120)):
        one = partial(study, n_readers=n_readers, n_cases=n_cases)
        yield Regime("reliance", f"{n_readers} readers, {n_cases} cases", true, one, cost=0.15)

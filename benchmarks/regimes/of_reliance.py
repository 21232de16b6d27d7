"""Regimes of reliance: sequential readings whose patterns have known probabilities."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtri

from regimes.regime import ARMS, LEVEL, Found, Regime
from trustreport.assessment.dimensions.reliance.interaction import BOUNDS, CHANGES, COMPARED, ODDS
from trustreport.assessment.dimensions.reliance.rates import RateEntry
from trustreport.assessment.dimensions.reliance.results import ASKED, from_readings
from trustreport.measures.estimate import Estimate
from trustreport.measures.reliance.patterns import PATTERNS, rate
from trustreport.study.study import Cases, Floats, Labels, Readers, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# Chance that the first decision (by complexity of the case) and the advice are right, and the final one by
# what came before it.
FIRST, ADVICE = (0.85, 0.75, 0.65), 0.8
FINAL = {"00": 0.06, "01": 0.45, "10": 0.7, "11": 0.97}
EASIER = 0.25  # by how much more often right advice corrects with the second type of advice
STEADIER = (0.1, 0.0, -0.1)  # by how much more often a right decision stands against wrong advice
FALLS, RISES = 0.4, 0.35  # chance that the confidence of a reading falls, rises
# Shares of the variance, on the normal scale, that readers and cases have.
READER, CASE = 0.1, 0.25
ENTRIES = (*ASKED, *CHANGES, *ODDS, *BOUNDS)
MANY = 400  # readers and studies by which the true spread between readers is known


def chances(more: float, level: int) -> dict[str, float]:
    """The probability of each pattern; `more` is added to the chance of a correction."""
    found = {}
    for pattern in PATTERNS:
        h, a, f = (int(digit) for digit in pattern)
        right = FINAL[pattern[:2]]
        right += more if pattern[:2] == "01" else STEADIER[level] if pattern[:2] == "10" else 0.0
        chance = (FIRST[level] if h else 1 - FIRST[level]) * (ADVICE if a else 1 - ADVICE)
        found[pattern] = chance * (right if f else 1 - right)
    return found


def _mean(of: list[dict[str, float]]) -> dict[str, float]:
    return {p: sum(one[p] for one in of) / len(of) for p in PATTERNS}


def _value(chance: Mapping[str, float], entry: RateEntry) -> float:
    """What a rate is among endless readings."""
    counts = {pattern: round(1e12 * p) for pattern, p in chance.items()}
    share = rate(counts, entry.rate).value
    return entry.turned(Estimate(share, share, share, 1)).value


def _named(id: str, arm: str | None, advice: str, endpoint: str = "") -> str:
    return ", ".join(filter(None, (id, endpoint, arm, advice and f"after {advice} advice")))


def _arm(entry: RateEntry) -> str | None:
    return entry.of if entry.of in ARMS else None


def true(n_cases: int) -> dict[str, float]:
    """The values of both types of advice together, half of the readings each; and their difference."""
    types = [_mean([chances(more, level) for level in range(3)]) for more in (0.0, EASIER)]
    p = _mean(types)
    found = {_named(e.id, _arm(e), e.advice): _value(p, e) for e in ENTRIES}
    found |= {_named(f"{e.id}_difference", _arm(e), ""): _value(types[1], e) - _value(types[0], e)
              for e in COMPARED}  # fmt: skip
    for advice in ("right", "wrong"):
        change = found[f"accuracy, aided, after {advice} advice"]
        change -= found[f"accuracy, unaided, after {advice} advice"]
        found |= {_named("accuracy_change", None, advice, of): change
                  for of in ("accuracy", "sensitivity", "specificity")}  # fmt: skip

    def odds(share: float) -> float:
        return share / (1 - share)

    right, first = (sum(p[k] for k in PATTERNS if k[at] == "1") for at in (2, 0))
    levels = [_mean([chances(more, level) for more in (0.0, EASIER)]) for level in range(3)]
    given_up, resisted = (
        sum(of[one] / (of[one] + of[other]) for of in levels) / 3
        for one, other in (("100", "101"), ("010", "011"))
    )
    chance = (p["010"] + p["011"] + p["100"] + p["101"]) * right
    chance += (p["000"] + p["001"]) * (1 - right) * FALLS + (p["110"] + p["111"]) * right * RISES
    appropriate = p["011"] + p["101"] + FALLS * p["000"] + RISES * p["111"]
    agreement = found["agreement_with_advice, aided"] - found["agreement_with_advice, unaided"]
    return found | {
        "technology_impact": odds(right) / odds(first),
        "automation_bias_odds_published": odds(p["100"]) / odds(p["101"]),
        "conservatism_bias_odds_published": odds(p["010"]) / odds(p["011"]),
        "automation_bias_odds_adjusted": odds(given_up),
        "conservatism_bias_odds_adjusted": odds(resisted),
        "appropriate_reliance": appropriate,
        "appropriate_reliance_chance_corrected": (appropriate - chance) / (1 - chance),
        # Either decision is positive half the time whatever the reader: kappa is twice the agreement less 1.
        "persuasion": 2 * agreement,
        "reader_spread_ratio": spread(n_cases),
    }


@cache
def spread(n_cases: int) -> float:
    """Standard deviation of the readers' accuracies on the same cases, aided over unaided."""
    rng = np.random.default_rng(n_cases)
    of = [[right.mean(axis=1).var(ddof=1) for right in drawn(rng, MANY, n_cases)[:3:2]] for _ in range(MANY)]
    unaided, aided = np.mean(of, axis=0)
    return float(np.sqrt(aided / unaided))


def drawn(rng: np.random.Generator, n_readers: int, n_cases: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Whether first decision, advice and final decision are right; and the change of confidence."""

    def right(chance: Floats | float) -> Floats:
        """1.0 with this chance, alike within readers and within cases."""
        shares = (READER, (n_readers, 1)), (CASE, (1, n_cases)), (1 - READER - CASE, (n_readers, n_cases))
        latent = sum(np.sqrt(share) * rng.standard_normal(shape) for share, shape in shares)
        return np.asarray(latent < ndtri(chance), float)

    first = right(np.array(FIRST)[complexity(n_cases)])
    advice = np.broadcast_to(rng.random(n_cases) < ADVICE, first.shape).astype(float)
    final = np.zeros(first.shape)
    for pair, chance in FINAL.items():
        more = {"01": EASIER * types(n_readers, n_cases), "10": np.array(STEADIER)[complexity(n_cases)]}
        here = (first == int(pair[0])) & (advice == int(pair[1]))
        final = np.where(here, right(chance + more.get(pair, 0.0)), final)
    falls = right(FALLS)
    return first, advice, final, (1 - falls) * right(RISES / (1 - FALLS)) - falls


def types(n_readers: int, n_cases: int) -> Any:
    """Which of two types of advice a reader has of a case."""
    return (np.arange(n_readers)[:, None] + np.arange(n_cases)) // 2 % 2


def complexity(n_cases: int) -> Any:
    """Which of three levels of complexity a case has, as often with either truth and either type."""
    return np.arange(n_cases) // 4 % 3


def study(rng: np.random.Generator, n_readers: int, n_cases: int) -> Found:
    """One study, its readers and cases drawn."""
    truth = (np.arange(n_cases) % 2).astype(np.int8)
    first, advice, final, surer = drawn(rng, n_readers, n_cases)
    reader, case = (index.ravel().astype(np.int32) for index in np.indices(first.shape))
    n = len(reader)

    def decided(right: Floats) -> Any:
        return np.where(right == 1, truth, 1 - truth).astype(np.int8).ravel()

    readings = Readings(
        "",
        ARMS,
        Readers(Labels(n=n_readers)),
        Cases(Labels(n=n_cases), truth, complexity=complexity(n_cases).astype(np.float64)),
        np.repeat(np.array([0, 1], np.int32), n),
        np.tile(reader, 2),
        np.tile(case, 2),
        np.concatenate([decided(first), decided(final)]),
        confidence=np.concatenate([np.full(n, 0.5), 0.5 + 0.1 * surer.ravel()]),
        advice=np.concatenate([np.full(n, -1, np.int8), decided(advice)]),
        advice_type=np.concatenate([np.full(n, np.nan), types(n_readers, n_cases).ravel()]),
        advice_types=("plain", "explained"),
        sequential=True,
    )
    assert readings.advice is not None
    found = from_readings(readings, (ARMS[1], ARMS[0]), readings.advice, LEVEL, place=Place(task=""))
    for r in found.results:
        if r.primary and _of_everything(r):
            advised = str(r.parameters.get("advice", ""))
            yield _named(r.name, r.place.arm, advised, r.endpoint), r.estimate


def _of_everything(r: Result) -> bool:
    """Whether a number is of all readers, and of all types of advice or of the difference between them."""
    of_types = r.place.advice_type is not None
    return r.place.reader is None and of_types == r.name.endswith("_difference")


def reliance() -> Iterator[Regime]:
    """Few and many readers, few and many cases."""
    for n_readers, n_cases in product((5, 10), (60, 120)):
        one = partial(study, n_readers=n_readers, n_cases=n_cases)
        design = f"{n_readers} readers, {n_cases} cases"
        yield Regime("reliance", design, partial(true, n_cases), one, cost=0.04)
